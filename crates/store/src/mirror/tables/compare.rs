//! Compares the marketplace's rows with the mirrored ones; writes nothing.

use std::collections::{BTreeMap, HashSet};

use espelho_model::{
    CampaignId,
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
use crate::{
    Error,
    mirror::{MirrorWriter, TableWriter, rows::last_of_each},
};

/// How a row differs from the marketplace's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlike {
    /// It is not mirrored.
    Missing,
    /// Only the mirror has it.
    Surplus,
    /// Its content differs.
    Content,
    /// Its columns are not those of the content that was mirrored: somebody has edited them.
    Edited,
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

impl MirrorWriter<'_, '_> {
    /// Compares campaigns.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compare_campaigns(&mut self, said: Vec<Campaign>) -> Result<Compared, Error> {
        let records = said.into_iter().map(campaigns::campaign_record).collect();
        self.page.tables().compare(&CAMPAIGNS, None, records).await
    }

    /// Compares the listings of a campaign.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compare_campaign_listings(
        &mut self,
        campaign: CampaignId,
        eligible: Vec<EligibleListing>,
        enrolled: Vec<EnrolledListing>,
    ) -> Result<Compared, Error> {
        let records = campaigns::listing_records(eligible, enrolled);
        self.page.tables().compare(&LISTINGS, Some(&campaign.to_string()), records).await
    }

    /// Compares images.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compare_media_images(&mut self, said: Vec<MediaImage>) -> Result<Compared, Error> {
        let records = said.into_iter().map(media::record).collect();
        self.page.tables().compare(&IMAGES, None, records).await
    }

    /// Compares the store's profile.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compare_profile(
        &mut self,
        session: StoreSession,
        page: Option<&StorePage>,
    ) -> Result<Compared, Error> {
        let records = vec![profile::whole_record(self.page.store_key(), session, page)];
        self.page.tables().compare(&PROFILES, None, records).await
    }
}

impl TableWriter<'_, '_> {
    async fn compare(
        &mut self,
        table: &'static Table,
        parent: Option<&str>,
        records: Vec<Record>,
    ) -> Result<Compared, Error> {
        let records = last_of_each(records, |record| record.id.clone());
        let live = self.live_ids(table, parent).await?;
        let known = self.known_rows(table, parent, records.iter()).await?;
        let hash =
            |record: &Record| known.get(&record.id).filter(|(_, is_gone)| !is_gone).map(|(hash, _)| *hash);
        let same = records.iter().filter(|record| hash(record) == Some(record.hash));
        let edited = self.edited(table, parent, same).await?;
        let mut unlike = BTreeMap::new();
        for record in &records {
            let how = match hash(record) {
                None => Unlike::Missing,
                Some(hash) if hash != record.hash => Unlike::Content,
                Some(_) if edited.contains(&record.id) => Unlike::Edited,
                Some(_) => continue,
            };
            unlike.insert(Scope::feed_key(parent, &record.id), how);
        }
        let said: HashSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
        let surplus = live.iter().filter(|id| !said.contains(id.as_str()));
        unlike.extend(surplus.map(|id| (Scope::feed_key(parent, id), Unlike::Surplus)));
        let count = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
        Ok(Compared { said: count(said.len()), mirrored: count(live.len()), unlike })
    }
}
