//! Resources that the marketplace lists for the whole store: live ids, and rows that are gone.

use chrono::{DateTime, Utc};
use espelho_model::{CampaignId, StoreKey};

use super::{
    campaigns::CAMPAIGNS, listings::LISTINGS, media::IMAGES, price_lists::PRICE_LISTS, table::Table,
};
use crate::{
    Error,
    mirror::{Mirror, MirrorWriter},
};

/// Up to 1,000 live ids after `$2`.
pub(crate) const LIVE_CAMPAIGNS: &str =
    "SELECT id FROM campaigns WHERE store = $1 AND id > $2 AND gone_at IS NULL ORDER BY id LIMIT 1000";
pub(crate) const LIVE_IMAGES: &str =
    "SELECT id FROM media_images WHERE store = $1 AND id > $2 AND gone_at IS NULL ORDER BY id LIMIT 1000";
pub(crate) const LIVE_LISTINGS: &str =
    "SELECT id FROM listings WHERE store = $1 AND id > $2 AND gone_at IS NULL ORDER BY id LIMIT 1000";
pub(crate) const LIVE_PRICE_LISTS: &str =
    "SELECT id FROM price_lists WHERE store = $1 AND id > $2 AND gone_at IS NULL ORDER BY id LIMIT 1000";
pub(crate) const CAMPAIGN_END: &str = "SELECT ends_at FROM campaigns WHERE store = $1 AND id = $2";

/// A resource of the whole store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// `campaigns`, with their listings.
    Campaigns,
    /// `listings`.
    Listings,
    /// `media_images`.
    MediaImages,
    /// `price_lists`.
    PriceLists,
}

impl Listed {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Campaigns, Self::Listings, Self::MediaImages, Self::PriceLists];

    fn table(self) -> &'static Table {
        match self {
            Self::Campaigns => &CAMPAIGNS,
            Self::Listings => &LISTINGS,
            Self::MediaImages => &IMAGES,
            Self::PriceLists => &PRICE_LISTS,
        }
    }

    fn live(self) -> &'static str {
        match self {
            Self::Campaigns => LIVE_CAMPAIGNS,
            Self::Listings => LIVE_LISTINGS,
            Self::MediaImages => LIVE_IMAGES,
            Self::PriceLists => LIVE_PRICE_LISTS,
        }
    }
}

impl Mirror<'_> {
    /// Up to 1,000 ids after `after`, in order, of rows that are not gone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn live_ids(self, store: &StoreKey, listed: Listed, after: &str) -> Result<Vec<String>, Error> {
        let values = vec![store.as_str().into(), after.into()];
        let rows = self.database.fetch("read ids", listed.live(), values).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// When a campaign ends, as it was mirrored last.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn campaign_end(
        self,
        store: &StoreKey,
        campaign: CampaignId,
    ) -> Result<Option<DateTime<Utc>>, Error> {
        let values = vec![store.as_str().into(), campaign.to_string().into()];
        let rows = self.database.fetch("read the end of a campaign", CAMPAIGN_END, values).await?;
        rows.first().map_or(Ok(None), |row| row.optional_time(0))
    }
}

impl MirrorWriter<'_, '_> {
    /// Marks rows as gone and appends that to the change feed; a campaign takes its listings along. Returns how many
    /// of `ids` were live.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mark_listed_gone(&mut self, listed: Listed, ids: Vec<String>) -> Result<u64, Error> {
        let marked = self.page.tables().mark_listed(listed.table(), ids).await?;
        if listed == Listed::Campaigns {
            for campaign in &marked {
                self.mark_listings_of_gone(campaign).await?;
            }
        }
        Ok(u64::try_from(marked.len()).unwrap_or(u64::MAX))
    }
}
