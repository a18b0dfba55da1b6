//! The events of orders ("Events" of the document), with the data that each of them carries.

use serde_json::json;

use super::{Order, entry::Document, vocabulary::Status};
use crate::{event::Event, money::Milli, text};

/// `order.created`, `order.paid` and `order.refunded`, by their name.
pub(super) fn of_order(name: &'static str, order: &Order) -> Event {
    let data = json!({
        "order_number": order.number,
        "status": order.status.wire(),
        "total_order": decimal(order.total()),
        "customer_id": u64::from(order.customer) + 1,
        "created_at": text::iso(order.created_at),
    });
    Event::new(name, data)
}

pub(super) fn status_changed(order: &Order, old: Status) -> Event {
    let data = json!({
        "order_number": order.number,
        "old_status": old.wire(),
        "new_status": order.status.wire(),
    });
    Event::new("order.status_changed", data)
}

pub(super) fn cancelled(order: &Order, previous: Status, reason: &str, was_paid: bool) -> Event {
    let data = json!({
        "order_number": order.number,
        "previous_status": previous.wire(),
        "reason": reason,
        "was_paid": was_paid,
    });
    Event::new("order.cancelled", data)
}

pub(super) fn invoiced(order: &Order, document: &Document) -> Event {
    let data = json!({
        "order_number": order.number,
        "invoice_id": document.id,
        "invoice_type": document.kind.wire(),
    });
    Event::new("order.invoiced", data)
}

/// An amount as text with two decimals.
fn decimal(amount: Milli) -> String {
    let cents = amount.ceil_cents().0 / 10;
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: EVT-002
    #[test]
    fn an_amount_is_text_with_two_decimals() {
        for (thousandths, text) in [(0, "0.00"), (1, "0.01"), (58_900, "58.90"), (-1_050, "-1.05")] {
            assert_eq!(decimal(Milli(thousandths)), text);
        }
    }
}
