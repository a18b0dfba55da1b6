//! Sweeps campaigns with their listings: nothing reports their changes.

use std::collections::HashSet;

use espelho_api_client::limit::Lane;

use crate::{Error, StoreContext, live::signals::Signals, plan::gone::LostListings, pull::WholeReader};

/// The sweep of campaigns.
pub(super) struct CampaignSweep<'c> {
    context: &'c StoreContext,
    signals: &'c Signals,
    /// Campaigns that were read once more since they ended: they no longer change.
    ended: HashSet<String>,
    /// The listings that the last sweep missed and did not believe to be gone.
    lost: LostListings,
}

impl<'c> CampaignSweep<'c> {
    /// Returns a sweep that knows of no campaign that has ended.
    pub(super) fn new(context: &'c StoreContext, signals: &'c Signals) -> Self {
        Self { context, signals, ended: HashSet::new(), lost: LostListings::default() }
    }

    /// Mirrors the campaigns that have not ended, with their enrolled and eligible listings.
    pub(super) async fn sweep(&mut self) -> Result<(), Error> {
        let client = self.context.client.in_lane(Lane::Poll);
        let reader = WholeReader { context: self.context, client: &client };
        let read = reader.campaigns(&self.ended, &mut self.lost).await?;
        self.ended.extend(read.ended);
        self.signals.note_campaigns_read();
        Ok(())
    }
}
