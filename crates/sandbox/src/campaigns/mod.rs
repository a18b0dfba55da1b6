//! Discount campaigns: the platform makes them, and stores enroll their listings ("Campaign" of the document).
//!
//! Reading order: this file (what a campaign is), [`seed`] (the campaigns of a new
//! sandbox), [`routes`] and [`opt_in`] (the API), [`mod@write`] (campaigns as JSON), [`control`] and
//! [`control_endpoints`] (the platform).

pub(crate) mod control;
pub(crate) mod control_endpoints;
mod opt_in;
pub(crate) mod routes;
mod seed;
mod write;

use std::collections::BTreeMap;

use parking_lot::{Mutex, MutexGuard};

pub use self::control::{CampaignDiscount, NewCampaign};
use crate::{
    money::Milli,
    vocabulary::{Word, vocabulary},
};

vocabulary! {
    /// The type of a campaign ("Campaign types").
    CampaignType {
        Standard = "standard", "Desconto", "";
        CollectiveBuying = "collective_buying", "Compra coletiva", "";
    }
}

vocabulary! {
    /// The status of a campaign ("Campaign status").
    CampaignStatus {
        Draft = "draft", "Rascunho", "";
        Active = "active", "Ativa", "";
        Finished = "finished", "Encerrada", "";
        Cancelled = "cancelled", "Cancelada", "";
    }
}

vocabulary! {
    /// How a discount is counted.
    DiscountType {
        Percentage = "percentage", "Percentual", "";
        Fixed = "fixed", "Valor fixo", "";
    }
}

/// The discount that the platform applies to enrolled listings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Discount {
    pub(crate) kind: DiscountType,
    /// Percent, or reais.
    pub(crate) value: Milli,
}

impl Discount {
    /// The price after the discount, rounded up to cents like every total, never below nothing.
    fn applied_to(self, price: Milli) -> Milli {
        // Thousandths of a thousandth of a percent of the price, so that it is rounded in one step.
        let left = match self.kind {
            DiscountType::Percentage => {
                i128::from(price.0) * i128::from(100_000 - self.value.0.clamp(0, 100_000))
            }
            DiscountType::Fixed => (i128::from(price.0) - i128::from(self.value.0)).max(0) * 100_000,
        };
        let cents = (left + 999_999).div_euclid(1_000_000);
        Milli(i64::try_from(cents * 10).unwrap_or(i64::MAX))
    }
}

/// A campaign.
#[derive(Clone, Debug)]
pub(crate) struct Campaign {
    /// The identifier that routes take.
    pub(crate) id: u64,
    /// A ULID, which no route takes.
    pub(crate) uid: u128,
    pub(crate) name: String,
    pub(crate) kind: CampaignType,
    /// As the platform set it; see [`Campaign::status`].
    status: CampaignStatus,
    pub(crate) starts_at: Option<i64>,
    pub(crate) ends_at: Option<i64>,
    pub(crate) opt_in_deadline: Option<i64>,
    pub(crate) primary_color: Option<&'static str>,
    pub(crate) secondary_color: Option<&'static str>,
    pub(crate) has_landing_page: bool,
    pub(crate) show_in_menu: bool,
    pub(crate) discount: Option<Discount>,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl Campaign {
    /// An active campaign is finished once its end has passed.
    fn status(&self, now: i64) -> CampaignStatus {
        match self.status {
            CampaignStatus::Active if self.has_ended(now) => CampaignStatus::Finished,
            status => status,
        }
    }

    fn has_ended(&self, now: i64) -> bool {
        self.ends_at.is_some_and(|end| end <= now)
    }

    /// Whether the calendar lists it: not ended, not cancelled.
    fn is_open(&self, now: i64) -> bool {
        !self.has_ended(now) && self.status != CampaignStatus::Cancelled
    }

    /// Whether the deadline to join has passed.
    fn is_too_late(&self, now: i64) -> bool {
        self.opt_in_deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Whether the campaign takes no listings any more, before its deadline too.
    fn is_over(&self, now: i64) -> bool {
        let is_closed = matches!(self.status, CampaignStatus::Finished | CampaignStatus::Cancelled);
        is_closed || self.has_ended(now)
    }
}

/// A listing that takes part.
#[derive(Clone, Debug)]
pub(crate) struct Enrollment {
    pub(crate) item_id: String,
    pub(crate) title: String,
    pub(crate) image: Option<String>,
    /// As it was computed at enrollment.
    pub(crate) price: Option<Milli>,
}

/// Every campaign of the marketplace, and who takes part.
pub(crate) struct Campaigns(Mutex<CampaignState>);

/// The state behind the lock.
#[derive(Default)]
pub(crate) struct CampaignState {
    campaigns: BTreeMap<u64, Campaign>,
    /// By campaign and store identifier.
    enrolled: BTreeMap<(u64, u64), Vec<Enrollment>>,
}

impl Campaigns {
    /// The campaigns of a new sandbox, dated around the day of its start: the calendar must not be empty.
    pub(crate) fn seeded(seed: u64, now: i64) -> Self {
        let campaigns = seed::campaigns(seed, crate::text::day_of(now));
        let campaigns = campaigns.into_iter().map(|campaign| (campaign.id, campaign)).collect();
        Self(Mutex::new(CampaignState { campaigns, ..CampaignState::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, CampaignState> {
        self.0.lock()
    }
}

impl CampaignState {
    /// A campaign, by the plain decimal of its identifier.
    fn find(&self, id: &str) -> Option<&Campaign> {
        let is_plain = id.bytes().all(|byte| byte.is_ascii_digit()) && !id.starts_with('0');
        let id = id.parse::<u64>().ok().filter(|_| is_plain);
        self.campaigns.get(&id?)
    }

    fn enrolled(&self, campaign: u64, store: u64) -> &[Enrollment] {
        self.enrolled.get(&(campaign, store)).map_or(&[], Vec::as_slice)
    }

    /// The campaigns of the calendar, by their beginning; those without one come last.
    fn calendar(&self, now: i64) -> Vec<&Campaign> {
        let mut open: Vec<_> = self.campaigns.values().filter(|campaign| campaign.is_open(now)).collect();
        open.sort_by_key(|campaign| (campaign.starts_at.unwrap_or(i64::MAX), campaign.id));
        open
    }

    /// The campaigns with a deadline ahead, the nearest deadline first.
    fn deadlines(&self, now: i64) -> Vec<(i64, &Campaign)> {
        let open = self.campaigns.values().filter(|campaign| !campaign.is_over(now));
        let dated = open.filter_map(|campaign| Some((campaign.opt_in_deadline?, campaign)));
        let mut ahead: Vec<_> = dated.filter(|(deadline, _)| *deadline > now).collect();
        ahead.sort_by_key(|(deadline, campaign)| (*deadline, campaign.id));
        ahead
    }
}

#[cfg(test)]
mod tests {
    use super::{Discount, DiscountType};
    use crate::money::Milli;

    fn discounted(kind: DiscountType, value: i64, price: i64) -> i64 {
        Discount { kind, value: Milli(value) }.applied_to(Milli(price)).0
    }

    #[test]
    fn a_percentage_is_taken_off_and_the_rest_rounded_up_to_cents() {
        assert_eq!(discounted(DiscountType::Percentage, 10_000, 58_900), 53_010);
        assert_eq!(discounted(DiscountType::Percentage, 12_500, 9_990), 8_750);
        assert_eq!(discounted(DiscountType::Percentage, 33_333, 10), 10);
        assert_eq!(discounted(DiscountType::Percentage, 100_000, 58_900), 0);
    }

    #[test]
    fn a_fixed_discount_never_leads_below_nothing() {
        assert_eq!(discounted(DiscountType::Fixed, 5_000, 58_901), 53_910);
        assert_eq!(discounted(DiscountType::Fixed, 60_000, 58_900), 0);
    }

    #[test]
    fn amounts_at_the_edge_do_not_overflow() {
        discounted(DiscountType::Percentage, i64::MIN, i64::MAX);
        discounted(DiscountType::Fixed, i64::MAX, i64::MAX);
    }
}
