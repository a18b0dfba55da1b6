//! Sweeps the marketplace's enumerations for orders.

use espelho_api_client::limit::Lane;

use crate::{Error, StoreContext, plan::enum_words::words, pull::is_final};

/// Mirrors the marketplace's enumerations for orders.
pub(super) async fn sweep_enums(context: &StoreContext) -> Result<(), Error> {
    let client = context.client.in_lane(Lane::Poll);
    let told = match client.orders().enums().await {
        Ok(told) => told,
        Err(error) if is_final(&error) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let written = async {
        let mut tx = context.store.begin(&context.lease).await?;
        tx.sweeps().note_enums(words(&told)).await?;
        tx.commit().await
    };
    written.await.map_err(Error::from)
}
