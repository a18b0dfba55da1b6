//! Products: their state, their rules, and their routes.

mod catalogue;
mod control;
mod edit;
mod events;
mod move_stock;
mod prices;
pub(crate) mod routes;
mod show;
mod stock;
mod tiers;
mod write;

pub(crate) use self::{catalogue::Catalogue, control::ENDPOINTS};
use crate::{
    money::Milli,
    vocabulary::{Word, vocabulary},
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
    /// Whether more than one tier is allowed (`price_type`).
    pub(crate) is_wholesale: bool,
    /// By ascending `min_quantity`; none leaves the product without a price.
    pub(crate) tiers: Vec<Tier>,
    /// One entry for each location that holds it.
    pub(crate) stock: Vec<StockEntry>,
    /// The images that show it, at most 6; the first is the thumbnail.
    pub(crate) gallery: Vec<u128>,
}

/// Size and weight, all at least 0.001.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The stock of a product in one location.
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
    /// The price of a single unit.
    pub(crate) fn base_price(&self) -> Option<Milli> {
        self.tiers.first().map(|tier| tier.value)
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

    /// The stock that is left to sell in all locations; below zero where more is reserved than is there.
    pub(crate) fn available(&self) -> Milli {
        let (quantity, reserved) = self.stock_sums();
        quantity - reserved
    }
}
