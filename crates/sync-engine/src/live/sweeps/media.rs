//! Sweeps the store's images: nothing reports their changes.

use espelho_api_client::limit::Lane;

use crate::{Error, StoreContext, pull::FullReader};

/// Mirrors the store's images.
pub(super) async fn sweep_media(context: &StoreContext) -> Result<(), Error> {
    let client = context.client.in_lane(Lane::Poll);
    FullReader { context, client: &client }.images().await.map(drop)
}
