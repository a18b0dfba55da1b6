//! How many requests a minute the sweeps take, by what a store has. Pure: status and `docs/OPERATIONS.md` show it.

use std::time::Duration;

use crate::live::schedule::{SHARE, Sweep, stretched};

/// Rows of a listing page.
const PAGE: u64 = 100;
/// Products that the rotation reads at once.
pub const PRODUCTS_AT_ONCE: u32 = 10;
/// Products of changed orders that are read at once.
pub const SOLD_AT_ONCE: usize = 30;
/// Orders that are read again by their age at once.
pub const AGED_AT_ONCE: u32 = 5;
/// Open orders whose shipments are read again at once.
pub const SHIPPED_AT_ONCE: u32 = 10;
/// What an order's shipments are with their way, in requests.
const WITH_TRACKING: u64 = 2;
/// What an order is with all its sides, in requests.
pub const WHOLE_ORDER: u64 = 6;

/// What a store has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Orders that may still change.
    pub open_orders: u64,
    /// All orders.
    pub orders: u64,
    /// Products.
    pub products: u64,
    /// Campaigns that have not ended.
    pub campaigns: u64,
    /// Listings in them or fit for them, of all campaigns.
    pub campaign_listings: u64,
    /// Images.
    pub images: u64,
    /// Whether it has a webhook.
    pub receives: bool,
}

/// What a sweep takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepLoad {
    /// Which.
    pub sweep: Sweep,
    /// How often it runs: as it was told, or less often where it would take more than its share.
    pub every: Duration,
    /// Whether it runs less often than it was told.
    pub is_stretched: bool,
    /// What it takes at most, in requests a minute.
    pub per_minute: f64,
}

/// What each sweep takes at most, in a store that has so much, with a budget of `per_minute` requests; `every` is how often
/// each was told to run. What depends on how much happens (sides of orders, products in changed orders) is not in it: it goes
/// behind, as far as the budget reaches.
pub fn load(has: &Holdings, per_minute: u32, every: impl Fn(Sweep) -> Duration) -> Vec<SweepLoad> {
    let of = |sweep: Sweep| {
        let (requests, told) = (requests(sweep, has), every(sweep));
        let every = told.max(stretched(requests, per_minute));
        let rate = requests as f64 * 60.0 / every.as_secs_f64().max(1.0);
        SweepLoad { sweep, every, is_stretched: every > told, per_minute: rate }
    };
    Sweep::ALL.into_iter().map(of).collect()
}

/// Whether the sweeps leave the rest of the budget to everybody else: two thirds of it are theirs at most.
pub fn fits(loads: &[SweepLoad], per_minute: u32) -> bool {
    let sum: f64 = loads.iter().map(|load| load.per_minute).sum();
    loads.iter().all(|load| !load.is_stretched) && sum <= f64::from(per_minute) * 2.0 / SHARE as f64
}

/// What one run of a sweep takes.
fn requests(sweep: Sweep, has: &Holdings) -> u64 {
    let pages = |rows: u64| rows.div_ceil(PAGE).max(1);
    match sweep {
        Sweep::NewOrders => 1,
        Sweep::OpenOrders => pages(has.open_orders),
        Sweep::Products => has.products.min(PRODUCTS_AT_ONCE.into()),
        Sweep::SoldProducts => 0,
        Sweep::Subresources => has.open_orders.min(SHIPPED_AT_ONCE.into()) * WITH_TRACKING,
        Sweep::AgedOrders => has.orders.min(AGED_AT_ONCE.into()) * WHOLE_ORDER,
        Sweep::Counts => 3,
        // Of each campaign the eligible and the enrolled listings are a listing of their own.
        Sweep::Campaigns => pages(has.campaigns) + 2 * has.campaigns + has.campaign_listings / PAGE,
        Sweep::Media => pages(has.images),
        Sweep::Profile => 2,
        Sweep::Enums => 1,
        Sweep::WebhookTest => u64::from(has.receives),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `config/espelho.toml` says by default.
    fn every(sweep: Sweep) -> Duration {
        Duration::from_secs(match sweep {
            Sweep::SoldProducts | Sweep::Subresources => 30,
            Sweep::NewOrders | Sweep::OpenOrders | Sweep::AgedOrders => 60,
            Sweep::Products => 45,
            Sweep::Counts => 300,
            Sweep::Campaigns => 900,
            Sweep::Media | Sweep::Profile => 3_600,
            Sweep::Enums | Sweep::WebhookTest => 86_400,
        })
    }

    /// A store with much of everything.
    const LARGE: Holdings = Holdings {
        open_orders: 5_000,
        orders: 100_000,
        products: 50_000,
        campaigns: 5,
        campaign_listings: 2_500,
        images: 20_000,
        receives: true,
    };

    fn of(loads: &[SweepLoad], sweep: Sweep) -> SweepLoad {
        *loads.iter().find(|load| load.sweep == sweep).unwrap()
    }

    #[test]
    fn the_table_of_the_handbook_has_these_figures() {
        let loads = load(&LARGE, 300, every);
        let book = include_str!("../../../../docs/OPERATIONS.md");
        for sweep in &loads {
            let name = sweep.sweep.as_str();
            let row = book.lines().find(|line| line.starts_with(&format!("| `{name}` ")));
            let row = row.unwrap_or_else(|| panic!("no row of {name}"));
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells[2], format!("{} s", sweep.every.as_secs()), "{row}");
            assert_eq!(cells[3], format!("{:.1}", sweep.per_minute), "{row}");
        }
        let sum: f64 = loads.iter().map(|load| load.per_minute).sum();
        assert!(book.contains(&format!("together {sum:.0} of 300")), "{sum}");
    }

    #[test]
    fn five_thousand_open_orders_and_fifty_thousand_products_fit_the_budget() {
        let loads = load(&LARGE, 300, every);
        assert!(fits(&loads, 300), "{loads:?}");
        assert!((of(&loads, Sweep::OpenOrders).per_minute - 50.0).abs() < 0.01);
    }

    #[test]
    fn what_does_not_fit_is_stretched_and_said() {
        let many = Holdings { open_orders: 100_000, ..LARGE };
        let loads = load(&many, 300, every);
        let open = of(&loads, Sweep::OpenOrders);
        assert!(open.is_stretched && !fits(&loads, 300));
        assert_eq!((open.every.as_secs(), open.per_minute.round()), (600, 100.0));
        assert!(!fits(&load(&LARGE, 60, every), 60));
    }

    #[test]
    fn a_small_store_takes_next_to_nothing() {
        let loads = load(&Holdings::default(), 300, every);
        let sum: f64 = loads.iter().map(|load| load.per_minute).sum();
        assert!(sum < 4.0, "{sum}");
    }
}
