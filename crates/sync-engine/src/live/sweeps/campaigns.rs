//! Sweeps campaigns with their listings: nothing reports their changes.

use espelho_api_client::limit::Lane;

use crate::{
    Error, StoreContext,
    live::signals::Signals,
    pull::{CampaignMemory, FullReader},
};

/// The sweep of campaigns.
pub(super) struct CampaignSweep<'c> {
    context: &'c StoreContext,
    signals: &'c Signals,
    /// The state of the campaigns since the last sweep.
    memory: CampaignMemory,
}

impl<'c> CampaignSweep<'c> {
    /// Returns a sweep that knows of no campaign that has ended.
    pub(super) fn new(context: &'c StoreContext, signals: &'c Signals) -> Self {
        Self { context, signals, memory: CampaignMemory::default() }
    }

    /// Mirrors the campaigns that have not ended, with their enrolled and eligible listings.
    pub(super) async fn sweep(&mut self) -> Result<(), Error> {
        let client = self.context.client.in_lane(Lane::Poll);
        let reader = FullReader { context: self.context, client: &client };
        reader.campaigns(&mut self.memory).await?;
        self.signals.note_campaigns_read();
        Ok(())
    }
}
