//! Orders and products to write.

use chrono::{DateTime, Utc};
use espelho_model::{
    LineId, LocationId, OrderNumber, ProductId, RawJson, Sku,
    order::{Order, OrderItem},
    product::{PriceTier, Product, StockLevel, StockLocation},
};
use rust_decimal::Decimal;
use serde_json::json;

/// An exact number from its text.
pub(crate) fn decimal(text: &str) -> Decimal {
    Decimal::from_str_exact(text).unwrap()
}

pub(crate) fn time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn amount(text: &str) -> Option<Decimal> {
    Some(decimal(text))
}

/// An order with a number and nothing else.
pub(crate) fn bare_order(number: &str) -> Order {
    Order::bare(OrderNumber::new(number), RawJson::new(&json!({"order_number": number}).to_string()))
}

/// An order with something in every column, and no lines.
pub(crate) fn order(number: &str, status: &str) -> Order {
    Order {
        number: OrderNumber::new(number),
        status: text(status),
        workflow_type: text("standard"),
        order_type: text("sale"),
        channel: text("marketplace"),
        delivery_method: text("shipping"),
        checkout_group_id: text("G-1"),
        customer_id: text("42"),
        customer_name: text("João da Conceição"),
        total_products: amount("199.90"),
        total_shipping: amount("15.10"),
        total_discounts: amount("5.00"),
        total_order: amount("210.00"),
        items_count: amount("3"),
        lines_count: Some(2),
        payment_method: text("pix"),
        payment_status: text("approved"),
        payment_expires_at: Some(time("2026-11-27T09:00:00Z")),
        is_collective: Some(false),
        is_awaiting_campaign: Some(true),
        release_at: Some(time("2026-11-28T00:00:00Z")),
        picked_up_at: Some(time("2026-11-29T12:00:00Z")),
        notes: text("portão azul"),
        created_at: Some(time("2026-11-27T06:00:00Z")),
        updated_at: Some(time("2026-11-27T06:00:01Z")),
        status_label: text("Pago"),
        customer_city: text("Ji-Paraná"),
        customer_state: text("RO"),
        ship_by: Some(time("2026-11-28T21:00:00Z")),
        invoice_by: Some(time("2026-11-28T02:59:59Z")),
        pick_by: Some(time("2026-11-28T18:00:00Z")),
        items: Vec::new(),
        raw: RawJson::new(&json!({"order_number": number, "status": status}).to_string()),
    }
}

/// An order with these lines.
pub(crate) fn order_of(number: &str, status: &str, lines: &[&str]) -> Order {
    let raw = json!({"order_number": number, "status": status, "items": lines});
    let items = lines.iter().map(|id| line(id)).collect();
    Order { items, raw: RawJson::new(&raw.to_string()), ..order(number, status) }
}

/// A line with something in every column.
pub(crate) fn line(id: &str) -> OrderItem {
    OrderItem {
        id: LineId::new(id),
        product_id: text("P-1"),
        sku: text("CAMISA-P"),
        quantity: amount("2"),
        unit_price: amount("12.345"),
        net_value: amount("24.69"),
        price_scale: Some(3),
        stock_status: text("reserved"),
        is_blocking_stock: Some(true),
        name: text("Camisa de algodão"),
        raw: RawJson::new(&json!({"id": id}).to_string()),
    }
}

/// A product with an id and nothing else.
pub(crate) fn bare_product(id: &str) -> Product {
    Product {
        id: ProductId::new(id),
        sku: None,
        name: None,
        base_unit: None,
        price_type: None,
        is_available_for_sale: None,
        auto_wholesale_pricing: None,
        height: None,
        width: None,
        length: None,
        weight: None,
        price: None,
        quantity: None,
        reserved_quantity: None,
        available_quantity: None,
        prices: Vec::new(),
        stock: Vec::new(),
        raw: RawJson::new(&json!({"id": id}).to_string()),
    }
}

/// A product with something in every column, and neither tiers nor stock.
pub(crate) fn product(id: &str, name: &str) -> Product {
    Product {
        id: ProductId::new(id),
        sku: Some(Sku::new(format!("SKU-{id}"))),
        name: text(name),
        base_unit: text("un"),
        price_type: text("tiered"),
        is_available_for_sale: Some(true),
        auto_wholesale_pricing: Some(false),
        height: amount("10.5"),
        width: amount("20"),
        length: amount("30.25"),
        weight: amount("0.350"),
        price: amount("19.90"),
        quantity: amount("100"),
        reserved_quantity: amount("1.5"),
        available_quantity: amount("98.5"),
        prices: Vec::new(),
        stock: Vec::new(),
        raw: RawJson::new(&json!({"id": id, "name": name}).to_string()),
    }
}

/// A price tier with something in every column.
pub(crate) fn tier(min_quantity: i64, value: &str) -> PriceTier {
    PriceTier {
        min_quantity,
        value: amount(value),
        discount_percent: amount("7.5"),
        package_weight: amount("1.250"),
        package_height: amount("10"),
        package_width: amount("20"),
        package_length: amount("30"),
        raw: RawJson::new(&json!({"min_quantity": min_quantity, "value": value}).to_string()),
    }
}

/// The stock of a SKU at a location.
pub(crate) fn level(sku: &str, location: &str, quantity: &str) -> StockLevel {
    StockLevel {
        sku: Sku::new(sku),
        location_id: LocationId::new(location),
        quantity: amount(quantity),
        reserved_quantity: amount("0"),
        available_quantity: amount(quantity),
        raw: RawJson::new(&json!({"sku": sku, "location_id": location, "quantity": quantity}).to_string()),
    }
}

/// A location with something in every column.
pub(crate) fn location(id: &str, name: &str) -> StockLocation {
    StockLocation {
        id: LocationId::new(id),
        name: text(name),
        status: text("active"),
        location_type: text("warehouse"),
        allows_pickup: Some(true),
        allows_production: Some(false),
        raw: RawJson::new(&json!({"id": id, "name": name}).to_string()),
    }
}
