//! Products: what is kept of them, and how they are listed and written.

mod catalogue;
pub(crate) mod routes;
mod write;

pub(crate) use self::catalogue::Catalogue;
use crate::{
    money::Milli,
    orders::vocabulary::{Word, vocabulary},
};

vocabulary! {
    /// The unit that a product is sold by.
    Unit {
        Un = "un", "Unidade", "";
        Pc = "pc", "Peça", "";
        Cx = "cx", "Caixa", "";
        Pct = "pct", "Pacote", "";
        Kg = "kg", "Quilograma", "";
        Lt = "lt", "Litro", "";
        Mt = "mt", "Metro", "";
        M2 = "m2", "Metro quadrado", "";
        M3 = "m3", "Metro cúbico", "";
    }
}

/// A product of a store.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    /// A ULID.
    pub(crate) id: u128,
    pub(crate) sku: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) unit: Unit,
    pub(crate) is_available_for_sale: bool,
    pub(crate) is_industrializable: bool,
    pub(crate) allow_sale_without_stock: bool,
    pub(crate) auto_wholesale_pricing: bool,
    pub(crate) dimensions: Option<Dimensions>,
    /// By ascending `min_quantity`; more than one makes the product a wholesale one, none leaves it without a price.
    pub(crate) tiers: Vec<Tier>,
    /// One entry for each location that holds it.
    pub(crate) stock: Vec<StockEntry>,
    pub(crate) has_thumbnail: bool,
}

/// Size and weight, all at least 0.001.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dimensions {
    /// Centimetres.
    pub(crate) height: Milli,
    /// Centimetres.
    pub(crate) width: Milli,
    /// Centimetres.
    pub(crate) length: Milli,
    /// Kilograms.
    pub(crate) weight: Milli,
}

/// A price from a quantity on.
#[derive(Clone, Debug)]
pub(crate) struct Tier {
    pub(crate) min_quantity: u32,
    pub(crate) value: Milli,
    pub(crate) discount_percent: Option<Milli>,
    pub(crate) package: Option<Dimensions>,
}

/// What one location holds of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StockEntry {
    /// Position in the store's locations.
    pub(crate) location: u32,
    pub(crate) quantity: Milli,
    pub(crate) reserved: Milli,
}

/// A place where a store keeps goods.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) id: u64,
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) allows_pickup: bool,
    pub(crate) allows_production: bool,
}

impl Product {
    fn is_wholesale(&self) -> bool {
        self.tiers.len() > 1
    }

    /// The price of a single unit.
    pub(crate) fn base_price(&self) -> Option<Milli> {
        self.tiers.first().map(|tier| tier.value)
    }

    /// Sets the price of a single unit; automatic wholesale tiers follow it.
    pub(crate) fn set_base_price(&mut self, price: Milli) {
        let Some((base, others)) = self.tiers.split_first_mut() else {
            self.tiers.push(Tier { min_quantity: 1, value: price, discount_percent: None, package: None });
            return;
        };
        base.value = price;
        for tier in others.iter_mut().filter(|_| self.auto_wholesale_pricing) {
            let percent = tier.discount_percent.unwrap_or_default();
            tier.value = Milli(price.0 * (100_000 - percent.0) / 100_000).ceil_cents();
        }
    }

    /// Puts the whole physical stock into the first location.
    pub(crate) fn set_stock(&mut self, quantity: Milli) {
        if self.stock.is_empty() {
            self.stock.push(StockEntry { location: 0, quantity, reserved: Milli(0) });
        }
        for (at, entry) in self.stock.iter_mut().enumerate() {
            entry.quantity = if at == 0 { quantity } else { Milli(0) };
            entry.reserved = entry.reserved.min(entry.quantity);
        }
    }

    /// Physical and reserved stock over all locations.
    fn stock_sums(&self) -> (Milli, Milli) {
        self.stock.iter().fold(Default::default(), |(quantity, reserved), entry| {
            (quantity + entry.quantity, reserved + entry.reserved)
        })
    }
}
