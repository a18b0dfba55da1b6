//! The requests a minute that the sweeps take, by the size of a store. Pure: status and `docs/OPERATIONS.md` show it.

use std::time::Duration;

use crate::plan::schedule::{SHARE, Sweep, stretched};

/// Rows of a listing page.
const PAGE: u64 = 100;
/// Products that one run of the rotation sweep reads.
pub const PRODUCTS_AT_ONCE: u32 = 10;
/// Products of changed orders that one run reads.
pub const SOLD_AT_ONCE: usize = 30;
/// Orders that one run reads again by their age.
pub const AGED_AT_ONCE: u32 = 5;
/// Open orders whose shipments one run reads again.
pub const SHIPPED_AT_ONCE: u32 = 10;
/// Requests for an order's shipments with their tracking.
const WITH_TRACKING: u64 = 2;
/// Requests for an order with all its sub-resources.
pub const WHOLE_ORDER: u64 = 6;

/// The size of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreSize {
    /// Orders that may still change.
    pub open_orders: u64,
    /// All orders.
    pub orders: u64,
    /// Products.
    pub products: u64,
    /// Campaigns that have not ended.
    pub campaigns: u64,
    /// Listings that are enrolled in them or eligible for them, of all campaigns.
    pub campaign_listings: u64,
    /// Images.
    pub images: u64,
    /// Whether the store has a webhook.
    pub receives: bool,
}

/// The load of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepLoad {
    /// The sweep.
    pub sweep: Sweep,
    /// The interval between two runs: as configured, or longer where the sweep would take more than its share.
    pub every: Duration,
    /// Whether the interval is longer than configured.
    pub is_stretched: bool,
    /// The most requests a minute.
    pub per_minute: f64,
}

/// Returns the load of each sweep, at most, in a store of this size with a budget of `per_minute` requests; `every` is
/// the configured interval. Work that depends on how much happens (sub-resources of orders, products in changed orders)
/// is not included: it comes last, as far as the budget reaches.
pub fn load(has: &StoreSize, per_minute: u32, every: impl Fn(Sweep) -> Duration) -> Vec<SweepLoad> {
    let of = |sweep: Sweep| {
        let (requests, told) = (requests(sweep, has), every(sweep));
        let every = told.max(stretched(requests, per_minute));
        let rate = requests as f64 * 60.0 / every.as_secs_f64().max(1.0);
        SweepLoad { sweep, every, is_stretched: every > told, per_minute: rate }
    };
    Sweep::ALL.into_iter().map(of).collect()
}

/// Says whether the sweeps leave the rest of the budget to all other work: they may take two thirds of it at most.
pub fn fits(loads: &[SweepLoad], per_minute: u32) -> bool {
    let sum: f64 = loads.iter().map(|load| load.per_minute).sum();
    loads.iter().all(|load| !load.is_stretched) && sum <= f64::from(per_minute) * 2.0 / SHARE as f64
}

/// Returns the requests of one run of a sweep.
fn requests(sweep: Sweep, has: &StoreSize) -> u64 {
    let pages = |rows: u64| rows.div_ceil(PAGE).max(1);
    match sweep {
        Sweep::NewOrders => 1,
        Sweep::OpenOrders => pages(has.open_orders),
        Sweep::Products => has.products.min(PRODUCTS_AT_ONCE.into()),
        Sweep::SoldProducts => 0,
        Sweep::Subresources => has.open_orders.min(SHIPPED_AT_ONCE.into()) * WITH_TRACKING,
        Sweep::AgedOrders => has.orders.min(AGED_AT_ONCE.into()) * WHOLE_ORDER,
        Sweep::Counts => 3,
        // Each campaign has two listings of its own: the eligible and the enrolled items.
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

    /// The default intervals in `config/espelho.toml`.
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
    const LARGE: StoreSize = StoreSize {
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
        let many = StoreSize { open_orders: 100_000, ..LARGE };
        let loads = load(&many, 300, every);
        let open = of(&loads, Sweep::OpenOrders);
        assert!(open.is_stretched && !fits(&loads, 300));
        assert_eq!((open.every.as_secs(), open.per_minute.round()), (600, 100.0));
        assert!(!fits(&load(&LARGE, 60, every), 60));
    }

    #[test]
    fn a_small_store_takes_next_to_nothing() {
        let loads = load(&StoreSize::default(), 300, every);
        let sum: f64 = loads.iter().map(|load| load.per_minute).sum();
        assert!(sum < 4.0, "{sum}");
    }
}
