//! Sweeps campaigns with their listings, and the store's images: nothing reports their changes.

use super::Live;
use crate::{Problem, pull::WholeReader};

impl Live<'_> {
    /// Mirrors the campaigns that have not ended, with their enrolled and eligible listings.
    pub(super) async fn sweep_campaigns(&self) -> Result<(), Problem> {
        let client = self.poll();
        let settled = self.known().ended_campaigns.clone();
        let reader = WholeReader { context: self.context, client: &client };
        let read = reader.campaigns(&settled).await?;
        self.known().ended_campaigns.extend(read.ended);
        self.campaigns_read.notify_one();
        Ok(())
    }

    /// Mirrors the store's images.
    pub(super) async fn sweep_media(&self) -> Result<(), Problem> {
        let client = self.poll();
        WholeReader { context: self.context, client: &client }.images().await.map(drop)
    }
}
