//! Products, their price tiers and their stock, as the mirror stores them (API document, "Product").

use rust_decimal::Decimal;

use crate::{LocationId, ProductId, RawJson, Sku};

/// One product with its tiers and stock. `None` means not applicable or not sent.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; cm, kg and BRL")]
pub struct Product {
    pub id: ProductId,
    pub sku: Option<Sku>,
    pub name: Option<String>,
    pub base_unit: Option<String>,
    pub price_type: Option<String>,
    pub is_available_for_sale: Option<bool>,
    pub auto_wholesale_pricing: Option<bool>,
    pub height: Option<Decimal>,
    pub width: Option<Decimal>,
    pub length: Option<Decimal>,
    pub weight: Option<Decimal>,
    pub price: Option<Decimal>,
    pub quantity: Option<Decimal>,
    pub reserved_quantity: Option<Decimal>,
    pub available_quantity: Option<Decimal>,
    pub prices: Vec<PriceTier>,
    pub stock: Vec<StockLevel>,
    /// The `product` object as received.
    pub raw: RawJson,
}

/// One price tier; `min_quantity` is its key.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; cm, kg and BRL")]
pub struct PriceTier {
    pub min_quantity: i64,
    pub value: Option<Decimal>,
    pub discount_percent: Option<Decimal>,
    pub package_weight: Option<Decimal>,
    pub package_height: Option<Decimal>,
    pub package_width: Option<Decimal>,
    pub package_length: Option<Decimal>,
    /// The tier as received.
    pub raw: RawJson,
}

/// The stock of one SKU at one location. `available = quantity - reserved`, as computed by the platform.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct StockLevel {
    pub sku: Sku,
    pub location_id: LocationId,
    pub quantity: Option<Decimal>,
    pub reserved_quantity: Option<Decimal>,
    pub available_quantity: Option<Decimal>,
    /// The row as received.
    pub raw: RawJson,
}

/// A stock location.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct StockLocation {
    pub id: LocationId,
    pub name: Option<String>,
    pub status: Option<String>,
    pub location_type: Option<String>,
    pub allows_pickup: Option<bool>,
    pub allows_production: Option<bool>,
    /// The location as received.
    pub raw: RawJson,
}
