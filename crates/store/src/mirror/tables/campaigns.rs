//! Campaigns, and the listings that are enrolled in them or eligible for them.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use espelho_model::{
    CampaignId, StoreKey,
    campaign::{Campaign, EligibleListing, EnrolledListing},
    sync::Counts,
};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{
    Error,
    driver::Row,
    mirror::{Lookups, MirrorWriter},
};

pub(crate) static CAMPAIGNS: Table = Table::new(
    "campaigns",
    "campaign",
    Scope::Store,
    "id",
    &[
        "uid",
        "name",
        "slug",
        "type",
        "status",
        "starts_at",
        "ends_at",
        "opt_in_deadline",
        "primary_color",
        "secondary_color",
        "has_landing_page",
        "landing_page_slug",
        "show_in_menu",
        "discount_type",
        "discount_value",
        "rules",
        "created_at",
        "updated_at",
    ],
);
pub(crate) static LISTINGS: Table = Table::new(
    "campaign_listings",
    "campaign_listing",
    Scope::InKey("campaign_id"),
    "item_id",
    &["title", "image", "price", "discount_preview", "enrolled", "authorized_discount_price", "status"],
);

/// The nearest deadline first; no deadline is the farthest.
pub(crate) const OPEN: &str = "SELECT id, opt_in_deadline FROM campaigns WHERE store = $1 AND gone_at IS NULL \
    AND COALESCE(status, '') NOT IN ('finished', 'cancelled') AND (opt_in_deadline IS NULL OR opt_in_deadline >= $2) \
    ORDER BY CASE WHEN opt_in_deadline IS NULL THEN 1 ELSE 0 END, opt_in_deadline, id";

/// A campaign that accepts more listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCampaign {
    /// The campaign.
    pub id: CampaignId,
    /// The opt-in deadline; `None` for no deadline.
    pub opt_in_deadline: Option<DateTime<Utc>>,
}

/// The live listings of a campaign that a reading has not found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingListings {
    /// Their keys, sorted.
    pub keys: Vec<String>,
    /// The number of all live listings.
    pub live: u64,
    /// The number of those that the reading has found.
    pub listed: u64,
}

impl MirrorWriter<'_, '_> {
    /// Mirrors campaigns (API document, "Campaign"). The calendar omits ended campaigns, so absence here does not
    /// mean gone: see [`MirrorWriter::mark_listed_gone`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_campaigns(&mut self, campaigns: Vec<Campaign>) -> Result<Counts, Error> {
        let records = campaigns.into_iter().map(campaign_record).collect();
        self.page.tables().write_rows(&CAMPAIGNS, None, records).await
    }

    /// The mirrored listings of a campaign that a reading of all of them does not have.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn missing_campaign_listings(
        &mut self,
        campaign: CampaignId,
        eligible: &[EligibleListing],
        enrolled: &[EnrolledListing],
    ) -> Result<MissingListings, Error> {
        let offered = eligible.iter().map(|listing| listing.item_id.as_str().to_owned());
        let listed: HashSet<String> = offered.chain(enrolled.iter().map(enrolled_id)).collect();
        let live_keys = self.page.tables().live_ids(&LISTINGS, Some(&campaign.to_string())).await?;
        let live = live_keys.len() as u64;
        let mut keys: Vec<String> = live_keys.into_iter().filter(|key| !listed.contains(key)).collect();
        keys.sort_unstable();
        Ok(MissingListings { keys, live, listed: listed.len() as u64 })
    }

    /// Mirrors all enrolled and eligible listings of a campaign, one row each (API document, "Eligible listing",
    /// "Enrolled listing"). An enrolled listing has the data of its enrollment; its offered price only if it is
    /// listed as eligible too. `marks_gone` says whether the others are gone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_campaign_listings(
        &mut self,
        campaign: CampaignId,
        eligible: Vec<EligibleListing>,
        enrolled: Vec<EnrolledListing>,
        marks_gone: bool,
    ) -> Result<Counts, Error> {
        let (records, campaign) = (listing_records(eligible, enrolled), campaign.to_string());
        match marks_gone {
            true => self.page.tables().write_whole(&LISTINGS, Some(&campaign), records).await,
            false => self.page.tables().write_rows(&LISTINGS, Some(&campaign), records).await,
        }
    }

    /// Marks the listings of a gone campaign.
    pub(super) async fn mark_listings_of_gone(&mut self, campaign: &str) -> Result<u64, Error> {
        self.page.tables().mark_missing(&LISTINGS, Some(campaign), &HashSet::new()).await
    }
}

impl Lookups<'_> {
    /// The campaigns that a listing can still join, the nearest deadline first (API document, "Campaign status").
    /// The marketplace decides in the end.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn campaigns_open_for_opt_in(self, store: &StoreKey) -> Result<Vec<OpenCampaign>, Error> {
        let values = vec![store.as_str().into(), self.clock.now().into()];
        let rows = self.database.fetch("read open campaigns", OPEN, values).await?;
        let open = |row: &Row| {
            let (id, opt_in_deadline) = (row.text("id")?, row.optional_time("opt_in_deadline")?);
            let unreadable = || Error::Corrupt { column: 0, why: format!("{id:?} is no campaign's id") };
            Ok(OpenCampaign { id: CampaignId::parse(&id).ok_or_else(unreadable)?, opt_in_deadline })
        };
        rows.iter().map(open).collect()
    }
}

/// One row for each listing.
pub(super) fn listing_records(eligible: Vec<EligibleListing>, enrolled: Vec<EnrolledListing>) -> Vec<Record> {
    let enrolled: Vec<(String, EnrolledListing)> =
        enrolled.into_iter().map(|listing| (enrolled_id(&listing), listing)).collect();
    let ids: HashSet<String> = enrolled.iter().map(|(id, _)| id.clone()).collect();
    let (both, only): (Vec<_>, Vec<_>) =
        eligible.into_iter().partition(|listing| ids.contains(listing.item_id.as_str()));
    let mut records: Vec<Record> = only.into_iter().map(eligible_record).collect();
    for (id, listing) in enrolled {
        let offer = both.iter().rfind(|offer| offer.item_id.as_str() == id);
        records.push(enrolled_record(id, listing, offer));
    }
    records
}

/// The key of an enrollment without a listing's id, which the marketplace may omit: made of the enrollment's
/// content.
fn enrolled_id(listing: &EnrolledListing) -> String {
    match &listing.item_id {
        Some(id) => id.as_str().to_owned(),
        None => format!("?{:016x}", listing.raw.content_hash().as_i64()),
    }
}

pub(super) fn campaign_record(campaign: Campaign) -> Record {
    let values = [
        campaign.uid.into(),
        campaign.name.into(),
        campaign.slug.into(),
        campaign.campaign_type.into(),
        campaign.status.into(),
        campaign.starts_at.into(),
        campaign.ends_at.into(),
        campaign.opt_in_deadline.into(),
        campaign.primary_color.into(),
        campaign.secondary_color.into(),
        campaign.has_landing_page.into(),
        campaign.landing_page_slug.into(),
        campaign.show_in_menu.into(),
        campaign.discount_type.into(),
        campaign.discount_value.into(),
        campaign.rules.into(),
        campaign.created_at.into(),
        campaign.updated_at.into(),
    ];
    Record::new(campaign.id.to_string(), values, campaign.raw)
}

fn eligible_record(listing: EligibleListing) -> Record {
    let values = [
        listing.title.into(),
        listing.image.into(),
        listing.price.into(),
        listing.discount_preview.into(),
        Some(false).into(),
        None::<rust_decimal::Decimal>.into(),
        None::<String>.into(),
    ];
    Record::new(listing.item_id.into_string(), values, listing.raw)
}

fn enrolled_record(id: String, listing: EnrolledListing, offer: Option<&EligibleListing>) -> Record {
    let values = [
        listing.title.into(),
        listing.image.into(),
        offer.and_then(|offer| offer.price).into(),
        offer.and_then(|offer| offer.discount_preview).into(),
        Some(true).into(),
        listing.authorized_discount_price.into(),
        listing.status.into(),
    ];
    Record::new(id, values, listing.raw)
}
