//! Discount campaigns and their listings, as the mirror stores them (API document, "Campaign", "Eligible listing",
//! "Enrolled listing").

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;

use crate::{CampaignId, ItemId, RawJson};

/// The `type` values of the document.
pub const TYPES: [&str; 2] = ["standard", "collective_buying"];

/// The `status` values of the document.
pub const STATUSES: [&str; 4] = ["draft", "active", "finished", "cancelled"];

/// The `rules.coupon_config.discount_type` values of the document.
pub const DISCOUNT_TYPES: [&str; 2] = ["percentage", "fixed"];

/// One campaign. `None` means not applicable or not sent.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct Campaign {
    pub id: CampaignId,
    /// The public ULID. No route accepts it.
    pub uid: Option<String>,
    pub name: Option<String>,
    pub slug: Option<String>,
    pub campaign_type: Option<String>,
    pub status: Option<String>,
    pub starts_at: Option<DateTime<Utc>>,
    pub ends_at: Option<DateTime<Utc>>,
    /// `None` means that there is no deadline.
    pub opt_in_deadline: Option<DateTime<Utc>>,
    pub primary_color: Option<String>,
    pub secondary_color: Option<String>,
    pub has_landing_page: Option<bool>,
    pub landing_page_slug: Option<String>,
    pub show_in_menu: Option<bool>,
    /// `rules.coupon_config.discount_type`.
    pub discount_type: Option<String>,
    /// `rules.coupon_config.value`: per cent or BRL, as `discount_type` says.
    pub discount_value: Option<Decimal>,
    /// `rules` as received.
    pub rules: Option<RawJson>,
    pub created_at: Option<DateTime<Utc>>,
    pub updated_at: Option<DateTime<Utc>>,
    /// The campaign as received.
    pub raw: RawJson,
}

/// The summary of all campaigns together.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct CampaignSummary {
    pub active_campaigns: Option<i64>,
    pub joined_campaigns: Option<i64>,
    pub enrolled_products: Option<i64>,
    pub upcoming_deadlines: Vec<UpcomingDeadline>,
    /// The summary as received.
    pub raw: RawJson,
}

/// A campaign that can still be joined, with its deadline.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct UpcomingDeadline {
    pub id: CampaignId,
    pub name: Option<String>,
    pub opt_in_deadline: Option<DateTime<Utc>>,
}

/// A listing that could join a campaign.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; amounts in BRL")]
pub struct EligibleListing {
    pub item_id: ItemId,
    pub title: Option<String>,
    pub image: Option<String>,
    pub price: Option<Decimal>,
    /// The platform's own estimate of the discounted price; never computed here.
    pub discount_preview: Option<Decimal>,
    /// The listing as received.
    pub raw: RawJson,
}

/// A listing that has joined a campaign.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; amounts in BRL")]
pub struct EnrolledListing {
    /// `publication_id`, which may be missing according to the document.
    pub item_id: Option<ItemId>,
    pub title: Option<String>,
    pub image: Option<String>,
    /// Fixed at enrollment; it does not follow the listing's price.
    pub authorized_discount_price: Option<Decimal>,
    pub status: Option<String>,
    /// The listing as received.
    pub raw: RawJson,
}

impl Campaign {
    /// Returns the enum values of this campaign that the document does not list, as (field, value).
    pub fn unknown_values(&self) -> Vec<(&'static str, &str)> {
        let own = [
            ("type", self.campaign_type.as_deref(), &TYPES[..]),
            ("status", self.status.as_deref(), &STATUSES[..]),
            ("rules.coupon_config.discount_type", self.discount_type.as_deref(), &DISCOUNT_TYPES[..]),
        ];
        own.into_iter()
            .filter_map(|(field, value, known)| value.filter(|v| !known.contains(v)).map(|v| (field, v)))
            .collect()
    }

    /// Returns whether the campaign may still accept a listing at `now`: it is neither over nor past its deadline.
    /// The marketplace decides.
    pub fn takes_listings(&self, now: DateTime<Utc>) -> bool {
        let is_over = matches!(self.status.as_deref(), Some("finished" | "cancelled"));
        !is_over && self.opt_in_deadline.is_none_or(|deadline| now <= deadline)
    }
}
