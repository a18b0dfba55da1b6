//! Compares the marketplace's rows with the mirrored ones; writes nothing.

use std::collections::{BTreeMap, HashMap};

use espelho_model::{
    CampaignId, ContentHash, StoreKey,
    campaign::{Campaign, EligibleListing, EnrolledListing},
    media::MediaImage,
    store_profile::{StorePage, StoreSession},
};

use super::{
    campaigns::{self, CAMPAIGNS, LISTINGS},
    media::{self, IMAGES},
    profile::{self, PROFILES},
    record::Record,
    table::{Scope, Table},
};
use crate::{Error, driver::Value, mirror::Mirror};

/// How a row differs from the marketplace's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlike {
    /// It is not mirrored.
    Missing,
    /// Only the mirror has it.
    Surplus,
    /// Its content differs.
    Content,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Rows of the marketplace.
    pub said: u64,
    /// Rows of the mirror that are not gone.
    pub mirrored: u64,
    /// Differing rows, by their key in the change feed.
    pub unlike: BTreeMap<String, Unlike>,
}

impl Mirror<'_> {
    /// Compares campaigns.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compare_campaigns(self, store: &StoreKey, said: Vec<Campaign>) -> Result<Compared, Error> {
        let records = said.into_iter().map(campaigns::campaign_record).collect();
        self.compare(store, &CAMPAIGNS, None, records).await
    }

    /// Compares the listings of a campaign.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compare_campaign_listings(
        self,
        store: &StoreKey,
        campaign: CampaignId,
        eligible: Vec<EligibleListing>,
        enrolled: Vec<EnrolledListing>,
    ) -> Result<Compared, Error> {
        let records = campaigns::listing_records(eligible, enrolled);
        self.compare(store, &LISTINGS, Some(&campaign.to_string()), records).await
    }

    /// Compares images.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compare_media_images(
        self,
        store: &StoreKey,
        said: Vec<MediaImage>,
    ) -> Result<Compared, Error> {
        let records = said.into_iter().map(media::record).collect();
        self.compare(store, &IMAGES, None, records).await
    }

    /// Compares the store's profile.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compare_profile(
        self,
        store: &StoreKey,
        session: StoreSession,
        page: Option<&StorePage>,
    ) -> Result<Compared, Error> {
        self.compare(store, &PROFILES, None, vec![profile::whole_record(store, session, page)]).await
    }

    async fn compare(
        self,
        store: &StoreKey,
        table: &'static Table,
        parent: Option<&str>,
        records: Vec<Record>,
    ) -> Result<Compared, Error> {
        let mut first: Vec<Value> = vec![store.as_str().into()];
        if !matches!(table.scope, Scope::Store) {
            first.push(parent.unwrap_or_default().into());
        }
        let live = self.database.fetch("read what is live", table.statements().live, first.clone()).await?;
        let live: Vec<String> = live.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        let said: HashMap<String, ContentHash> =
            records.into_iter().map(|record| (record.id, record.hash)).collect();
        let known = table.statements().known;
        let ids = said.keys().cloned().collect();
        let mut unlike = BTreeMap::new();
        let mut missing = said.clone();
        for row in self.database.fetch_in("look up rows", known, &first, ids).await? {
            let (id, hash, is_gone) = (row.text(0)?, ContentHash::from_i64(row.int(1)?), row.truth(2)?);
            if is_gone {
                continue;
            }
            if missing.remove(&id).is_some_and(|said| said != hash) {
                unlike.insert(Scope::feed_key(parent, &id), Unlike::Content);
            }
        }
        unlike.extend(missing.into_keys().map(|id| (Scope::feed_key(parent, &id), Unlike::Missing)));
        let surplus = live.iter().filter(|id| !said.contains_key(*id));
        unlike.extend(surplus.map(|id| (Scope::feed_key(parent, id), Unlike::Surplus)));
        let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
        Ok(Compared { said: count(said.len()), mirrored: count(live.len()), unlike })
    }
}
