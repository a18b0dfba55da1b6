//! Orders and their lines, as the mirror stores them (API document, "Order").
//!
//! Enum values stay text. An unknown value is stored like any other and only counted, because a new status must never
//! stop an order from arriving.

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;

use crate::{LineId, OrderNumber, RawJson};

/// The `workflow_type` values of the document.
pub const WORKFLOW_TYPES: [&str; 6] =
    ["standard", "production", "in_store_pickup", "pre_order", "backorder", "collective"];

/// The order statuses that the document mentions, in all workflows.
pub const STATUSES: [&str; 19] = [
    "waiting_payment",
    "paid",
    "preparing",
    "ready_to_ship",
    "shipped",
    "delivered",
    "cancelled",
    "completed",
    "payment_expired",
    "ready_for_pickup",
    "picked_up",
    "pickup_expired",
    "awaiting_campaign_conclusion",
    "awaiting_availability",
    "awaiting_restock",
    "production_started",
    "awaiting_materials",
    "production_in_progress",
    "production_finished",
];

/// The statuses that an order never leaves. `pickup_expired` is not one of them: it changes to `cancelled`.
pub const TERMINAL_STATUSES: [&str; 4] = ["delivered", "cancelled", "completed", "payment_expired"];

/// The line `stock_status` values of the document.
pub const STOCK_STATUSES: [&str; 7] = [
    "reserved",
    "sold_reserved",
    "awaiting_restock",
    "in_production",
    "committed",
    "released",
    "not_applicable",
];

/// One order with its lines. `None` means not applicable or not sent; the API does not distinguish the two.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; units: amounts in BRL, times in UTC")]
pub struct Order {
    pub number: OrderNumber,
    pub status: Option<String>,
    pub workflow_type: Option<String>,
    pub order_type: Option<String>,
    pub channel: Option<String>,
    pub delivery_method: Option<String>,
    pub checkout_group_id: Option<String>,
    pub customer_id: Option<String>,
    pub customer_name: Option<String>,
    pub total_products: Option<Decimal>,
    pub total_shipping: Option<Decimal>,
    pub total_discounts: Option<Decimal>,
    pub total_order: Option<Decimal>,
    pub items_count: Option<Decimal>,
    pub lines_count: Option<i64>,
    pub payment_method: Option<String>,
    pub payment_status: Option<String>,
    pub payment_expires_at: Option<DateTime<Utc>>,
    pub is_collective: Option<bool>,
    pub is_awaiting_campaign: Option<bool>,
    pub release_at: Option<DateTime<Utc>>,
    pub picked_up_at: Option<DateTime<Utc>>,
    pub notes: Option<String>,
    pub created_at: Option<DateTime<Utc>>,
    pub updated_at: Option<DateTime<Utc>>,
    pub status_label: Option<String>,
    pub customer_city: Option<String>,
    pub customer_state: Option<String>,
    /// The deadline for handing over the goods.
    pub ship_by: Option<DateTime<Utc>>,
    /// The deadline for issuing a fiscal document.
    pub invoice_by: Option<DateTime<Utc>>,
    /// The deadline for having the order ready.
    pub pick_by: Option<DateTime<Utc>>,
    pub items: Vec<OrderItem>,
    /// The order as received.
    pub raw: RawJson,
}

/// One line of an order.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; amounts in BRL")]
pub struct OrderItem {
    pub id: LineId,
    pub product_id: Option<String>,
    pub sku: Option<String>,
    pub quantity: Option<Decimal>,
    /// Up to three decimals, according to `price_scale`.
    pub unit_price: Option<Decimal>,
    pub net_value: Option<Decimal>,
    pub price_scale: Option<i64>,
    pub stock_status: Option<String>,
    pub is_blocking_stock: Option<bool>,
    pub name: Option<String>,
    /// The line as received.
    pub raw: RawJson,
}

impl Order {
    /// An order of which only the number is known.
    pub fn bare(number: OrderNumber, raw: RawJson) -> Self {
        Self {
            number,
            status: None,
            workflow_type: None,
            order_type: None,
            channel: None,
            delivery_method: None,
            checkout_group_id: None,
            customer_id: None,
            customer_name: None,
            total_products: None,
            total_shipping: None,
            total_discounts: None,
            total_order: None,
            items_count: None,
            lines_count: None,
            payment_method: None,
            payment_status: None,
            payment_expires_at: None,
            is_collective: None,
            is_awaiting_campaign: None,
            release_at: None,
            picked_up_at: None,
            notes: None,
            created_at: None,
            updated_at: None,
            status_label: None,
            customer_city: None,
            customer_state: None,
            ship_by: None,
            invoice_by: None,
            pick_by: None,
            items: Vec::new(),
            raw,
        }
    }

    /// Returns the enum values of this order that the document does not list, as (field, value).
    pub fn unknown_values(&self) -> Vec<(&'static str, &str)> {
        let own = [
            ("status", self.status.as_deref(), &STATUSES[..]),
            ("workflow_type", self.workflow_type.as_deref(), &WORKFLOW_TYPES[..]),
        ];
        let lines =
            self.items.iter().map(|item| ("stock_status", item.stock_status.as_deref(), &STOCK_STATUSES[..]));
        own.into_iter()
            .chain(lines)
            .filter_map(|(field, value, known)| value.filter(|v| !known.contains(v)).map(|v| (field, v)))
            .collect()
    }
}
