//! Products with prices, sizes and stock.

use super::names;
use crate::{
    media::drawing,
    money::Milli,
    products::{Dimensions, Location, Product, StockEntry, Tier, Unit},
    random::Random,
};

/// Unit prices in cents by quantile, as measured.
const PRICES: [(u64, i64); 11] = [
    (0, 85),
    (10, 999),
    (50, 1700),
    (100, 2380),
    (250, 3990),
    (500, 7499),
    (750, 13_490),
    (900, 22_980),
    (950, 34_990),
    (990, 89_000),
    (1000, 673_500),
];

/// Weights in grams by quantile.
const WEIGHTS: [(u64, i64); 8] =
    [(0, 50), (50, 105), (250, 300), (500, 700), (750, 1900), (900, 6300), (990, 22_538), (1000, 40_425)];

const UNITS: [(Unit, u32); 9] = [
    (Unit::Un, 80),
    (Unit::Pc, 5),
    (Unit::Cx, 4),
    (Unit::Pct, 3),
    (Unit::Kg, 3),
    (Unit::Lt, 2),
    (Unit::Mt, 1),
    (Unit::M2, 1),
    (Unit::M3, 1),
];

/// Invents the products of a store, and the places where it keeps them.
pub(super) fn catalogue(random: &mut Random, store: u64, count: usize) -> (Vec<Product>, Vec<Location>) {
    let places = 1 + random.position(2) as u32;
    let products = (0..count).map(|at| product(random, store, at, places)).collect();
    (products, locations(store, places))
}

/// The places of a store: a depot, and sometimes a shop.
pub(crate) fn locations(store: u64, count: u32) -> Vec<Location> {
    let depot = Location {
        id: store * 10 + 1,
        name: "Depósito principal",
        kind: "warehouse",
        allows_pickup: false,
        allows_production: true,
    };
    let shop = Location {
        id: store * 10 + 2,
        name: "Loja Centro",
        kind: "store",
        allows_pickup: true,
        allows_production: false,
    };
    [depot, shop].into_iter().take(count as usize).collect()
}

fn product(random: &mut Random, store: u64, at: usize, places: u32) -> Product {
    let goods = random.weighted(&names::GOODS);
    let name = format!("{} {}", random.pick(goods), random.pick(&names::VARIANTS));
    let unit = random.weighted(&UNITS);
    let id = random.ulid();
    Product {
        id,
        sku: format!("L{store}-{:05}-{}", at + 1, random.slug(3).to_uppercase()).into(),
        name: name.into(),
        unit,
        is_available_for_sale: !random.chance(40),
        is_industrializable: random.chance(60),
        allow_sale_without_stock: random.chance(50),
        auto_wholesale_pricing: false,
        dimensions: (!random.chance(15)).then(|| dimensions(random)),
        is_wholesale: false,
        tiers: Vec::new(),
        stock: stock_of(random, unit, places),
        gallery: (!random.chance(80)).then(|| drawing::image_of(id)).into_iter().collect(),
    }
    .priced(random)
}

impl Product {
    fn priced(mut self, random: &mut Random) -> Self {
        if random.chance(10) {
            return self;
        }
        let base = price(random);
        self.tiers.push(Tier { min_quantity: 1, value: base, discount_percent: None, package: None });
        if random.chance(150) {
            self.is_wholesale = true;
            self.auto_wholesale_pricing = random.chance(500);
            let package = self.dimensions.unwrap_or_else(|| dimensions(random));
            for step in 1..=random.below(4) as u32 + 1 {
                self.tiers.push(tier(base, step, self.auto_wholesale_pricing, package));
            }
        }
        self
    }
}

/// A progressive tier; only the first one must carry its measures.
fn tier(base: Milli, step: u32, automatic: bool, package: Dimensions) -> Tier {
    let percent = i64::from(step) * 4;
    Tier {
        min_quantity: step * 10,
        value: Milli(base.0 * (100 - percent) / 100).ceil_cents(),
        discount_percent: automatic.then(|| Milli::whole(percent)),
        package: (step == 1).then_some(package),
    }
}

/// A price with the usual endings; a few have three decimals.
fn price(random: &mut Random) -> Milli {
    let cents = random.quantile(&PRICES);
    let ending =
        random.weighted(&[(Some(90), 356), (Some(0), 291), (Some(99), 182), (Some(50), 24), (None, 147)]);
    let cents = ending.map_or(cents, |ending| cents / 100 * 100 + ending).max(85);
    let thousandths = if random.chance(60) { 1 + random.below(9) as i64 } else { 0 };
    Milli::cents(cents) + Milli(thousandths)
}

fn dimensions(random: &mut Random) -> Dimensions {
    Dimensions {
        height: Milli::whole(2 + random.below(40) as i64),
        width: Milli::whole(11 + random.below(50) as i64),
        length: Milli::whole(16 + random.below(80) as i64),
        // A gram is a thousandth of a kilogram.
        weight: Milli(random.quantile(&WEIGHTS)),
    }
}

/// Stock in each place; goods sold by measure have parts of a unit.
pub(crate) fn stock_of(random: &mut Random, unit: Unit, places: u32) -> Vec<StockEntry> {
    let is_measured = matches!(unit, Unit::Kg | Unit::Lt | Unit::Mt | Unit::M2 | Unit::M3);
    (0..places)
        .map(|location| {
            let whole = if random.chance(80) { 0 } else { random.below(240) as i64 };
            let part = if is_measured && whole > 0 { random.below(1000) as i64 } else { 0 };
            let reserved = (random.below(5) as i64).min(whole);
            StockEntry {
                location,
                quantity: Milli::whole(whole) + Milli(part),
                reserved: Milli::whole(reserved),
            }
        })
        .collect()
}
