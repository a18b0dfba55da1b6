//! The campaigns of a new sandbox: every status and type, deadlines behind and ahead.

use super::{
    Campaign,
    CampaignStatus::{self, Active, Cancelled, Draft, Finished},
    CampaignType::{self, CollectiveBuying, Standard},
    Discount, DiscountType,
};
use crate::{money::Milli, random::Random};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// A campaign; days are counted from the midnight before the start of the sandbox.
struct Plan {
    name: &'static str,
    kind: CampaignType,
    status: CampaignStatus,
    starts: Option<i64>,
    ends: Option<i64>,
    deadline: Option<i64>,
    /// Percent.
    percentage: Option<i64>,
    /// Reais.
    fixed: Option<i64>,
}

const fn plan(
    name: &'static str,
    kind: CampaignType,
    status: CampaignStatus,
    days: [Option<i64>; 3],
) -> Plan {
    let [starts, ends, deadline] = days;
    Plan { name, kind, status, starts, ends, deadline, percentage: None, fixed: None }
}

impl Plan {
    const fn percent(mut self, thousandths: i64) -> Self {
        self.percentage = Some(thousandths);
        self
    }

    const fn fixed(mut self, thousandths: i64) -> Self {
        self.fixed = Some(thousandths);
        self
    }

    fn discount(&self) -> Option<Discount> {
        let discount = |kind| move |value| Discount { kind, value: Milli(value) };
        let percentage = self.percentage.map(discount(DiscountType::Percentage));
        percentage.or(self.fixed.map(discount(DiscountType::Fixed)))
    }
}

const PLANS: [Plan; 13] = [
    plan("Semana do Consumidor", Standard, Active, [Some(-3), Some(11), Some(4)]).percent(10_000),
    plan("Compra Coletiva de Cafés", CollectiveBuying, Active, [Some(-2), Some(12), Some(6)]).percent(15_000),
    plan("Dia das Mães", Standard, Draft, [Some(20), Some(34), Some(15)]).percent(12_500),
    plan("Festival do Frete", Standard, Active, [Some(-1), Some(8), None]),
    plan("Liquida Verão", Standard, Finished, [Some(-40), Some(-10), Some(-41)]).percent(20_000),
    plan("Queima de Estoque", Standard, Cancelled, [Some(-5), Some(9), Some(2)]).fixed(5_000),
    plan("Coletiva de Ferramentas", CollectiveBuying, Draft, [Some(7), Some(21), Some(5)]).fixed(20_000),
    plan("Outlet Relâmpago", Standard, Active, [Some(-6), Some(3), Some(-1)]).fixed(10_000),
    plan("Coletiva de Enxovais", CollectiveBuying, Finished, [Some(-30), Some(-2), Some(-31)]).percent(8_000),
    plan("Black Friday Antecipada", Standard, Draft, [None, None, Some(40)]).percent(30_000),
    plan("Coletiva de Papelaria", CollectiveBuying, Cancelled, [Some(-8), Some(6), None]).percent(5_000),
    plan("Aniversário do Marketplace", Standard, Active, [Some(-1), Some(29), Some(9)]).fixed(2_500),
    plan("Volta às Aulas", Standard, Active, [Some(1), Some(18), Some(1)]).percent(7_250),
];

const COLORS: [&str; 5] = ["#C62828", "#1565C0", "#2E7D32", "#F9A825", "#6A1B9A"];

/// The campaigns, dated around a midnight.
pub(super) fn campaigns(seed: u64, midnight: i64) -> Vec<Campaign> {
    (0..).zip(&PLANS).map(|(at, plan)| campaign(seed, at, plan, midnight)).collect()
}

fn campaign(seed: u64, at: u64, plan: &Plan, midnight: i64) -> Campaign {
    let mut random = Random::of(&[seed, at, 0xCA3B]);
    let on = |days: i64| midnight + days * DAY;
    let created_at = on(plan.starts.or(plan.deadline).unwrap_or(0).min(0) - 30) + 10 * HOUR;
    Campaign {
        id: 101 + at,
        uid: random.ulid(),
        name: plan.name.to_owned(),
        kind: plan.kind,
        status: plan.status,
        starts_at: plan.starts.map(on),
        // The last second of the day before.
        ends_at: plan.ends.map(|days| on(days) - 1),
        opt_in_deadline: plan.deadline.map(|days| on(days) + 18 * HOUR),
        primary_color: (at % 4 != 3).then(|| *random.pick(&COLORS)),
        secondary_color: at.is_multiple_of(3).then(|| *random.pick(&COLORS)),
        has_landing_page: at.is_multiple_of(2),
        show_in_menu: at % 3 != 2,
        discount: plan.discount(),
        created_at,
        updated_at: created_at + at as i64 * HOUR,
    }
}
