//! Campaigns as the platform makes and moves them.

use rust_decimal::Decimal;
use serde::Deserialize;

use super::{Campaign, CampaignStatus, CampaignType, Discount, DiscountType};
use crate::{control::handles::CampaignsControl, money::Milli, random::Random};

/// A campaign to make; its times are counted in seconds from now.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewCampaign {
    /// The name.
    pub name: String,
    /// `standard` or `collective_buying`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `draft`, `active`, `finished` or `cancelled`.
    pub status: String,
    /// When it begins; negative where it has begun.
    pub starts_in: Option<i64>,
    /// When it ends.
    pub ends_in: Option<i64>,
    /// Until when listings may join.
    pub opt_in_closes_in: Option<i64>,
    /// The discount.
    pub discount: Option<CampaignDiscount>,
}

/// The discount of a campaign.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignDiscount {
    /// `percentage` or `fixed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Percent, or reais: a decimal as text.
    pub value: String,
}

impl Default for NewCampaign {
    fn default() -> Self {
        Self {
            name: "Campanha".to_owned(),
            kind: "standard".to_owned(),
            status: "active".to_owned(),
            starts_in: None,
            ends_in: None,
            opt_in_closes_in: None,
            discount: None,
        }
    }
}

impl CampaignDiscount {
    fn parse(&self) -> Option<Discount> {
        let kind = DiscountType::parse(&self.kind)?;
        let value = Milli::from_decimal(self.value.parse::<Decimal>().ok()?)?;
        (value >= Milli(0)).then_some(Discount { kind, value })
    }
}

impl CampaignsControl<'_> {
    /// Makes a campaign; its `id`, unless a word or the discount is unknown.
    pub fn create(self, new: &NewCampaign) -> Option<u64> {
        let world = self.world();
        let (kind, status) = (CampaignType::parse(&new.kind)?, CampaignStatus::parse(&new.status)?);
        let discount = match &new.discount {
            Some(discount) => Some(discount.parse()?),
            None => None,
        };
        let now = world.clock.seconds();
        let at = |seconds: Option<i64>| seconds.map(|seconds| moved(now, seconds));
        let mut state = world.campaigns.lock();
        let id = state.campaigns.last_key_value().map_or(101, |(id, _)| id + 1);
        let campaign = Campaign {
            id,
            uid: Random::of(&[world.options.seed, id, 0xCA3C]).ulid(),
            name: new.name.clone(),
            kind,
            status,
            starts_at: at(new.starts_in),
            ends_at: at(new.ends_in),
            opt_in_deadline: at(new.opt_in_closes_in),
            primary_color: None,
            secondary_color: None,
            has_landing_page: false,
            show_in_menu: true,
            discount,
            created_at: now,
            updated_at: now,
        };
        state.campaigns.insert(id, campaign);
        Some(id)
    }

    /// Moves a campaign from any status to this one.
    pub fn set_status(self, id: u64, status: &str) -> bool {
        let Some(status) = CampaignStatus::parse(status) else { return false };
        self.edit_campaign(id, |campaign, _| campaign.status = status)
    }

    /// Sets until when listings may join, in seconds from now; `None` for ever.
    pub fn set_deadline(self, id: u64, seconds: Option<i64>) -> bool {
        self.edit_campaign(id, |campaign, now| {
            campaign.opt_in_deadline = seconds.map(|seconds| moved(now, seconds));
        })
    }

    fn edit_campaign(self, id: u64, edit: impl FnOnce(&mut Campaign, i64)) -> bool {
        let now = self.world().clock.seconds();
        let mut state = self.world().campaigns.lock();
        let Some(campaign) = state.campaigns.get_mut(&id) else { return false };
        edit(campaign, now);
        campaign.updated_at = now;
        true
    }
}

/// No further than a century: the dates must stay readable.
fn moved(now: i64, seconds: i64) -> i64 {
    const CENTURY: i64 = 3_155_760_000;
    now.min(2 * CENTURY) + seconds.clamp(-now.clamp(0, CENTURY), CENTURY)
}
