//! Orders whose bodies come from outside.

use super::{
    Order, Raw,
    vocabulary::{Channel, OrderType, PaymentMethod, Status, Workflow},
};
use crate::{money::Milli, text};

/// Returns an order with bodies from outside; only its place in the listing is ours.
pub(super) fn raw_order(number: &str, detail: String, listing: String, now: i64) -> Order {
    let row: serde_json::Value = serde_json::from_str(&listing).unwrap_or_default();
    let text = |name: &str| row.get(name).and_then(serde_json::Value::as_str);
    let created_at = text("created_at").and_then(text::instant).unwrap_or(now);
    Order {
        number: number.into(),
        serial: 0,
        status: text("status").and_then(Status::parse).unwrap_or(Status::Paid),
        workflow: Workflow::Standard,
        kind: OrderType::Standard,
        channel: Channel::Marketplace,
        payment: PaymentMethod::CreditCard,
        customer: u32::MAX,
        lines: Box::default(),
        shipping: Milli(0),
        discounts: Milli(0),
        created_at,
        updated_at: text("updated_at").and_then(text::instant).unwrap_or(created_at),
        release_at: None,
        picked_up_at: None,
        notes: None,
        raw: Some(Box::new(Raw { detail, listing })),
        life: None,
    }
}
