//! The events of orders ("Events" of the document), as they are gathered during a change and told after it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Order, life::Document, vocabulary::Status};
use crate::{money::Milli, store::Store, text, world::World};

/// Events in the order in which they happened.
pub(crate) type Told = Vec<(&'static str, Value)>;

impl World {
    /// Emits what was gathered, with no lock held.
    pub(crate) fn announce(self: &Arc<Self>, store: &Store, told: Told) {
        store.note_told(&told);
        for (event, data) in told {
            self.emit(store, event, data);
        }
    }
}

/// The fields of `order.created`, `order.paid` and `order.refunded`.
pub(super) fn whole(order: &Order) -> Value {
    json!({
        "order_number": order.number,
        "status": order.status.wire(),
        "total_order": decimal(order.total()),
        "customer_id": u64::from(order.customer) + 1,
        "created_at": time(order.created_at),
    })
}

pub(super) fn status_changed(order: &Order, old: Status) -> Value {
    json!({
        "order_number": order.number,
        "old_status": old.wire(),
        "new_status": order.status.wire(),
    })
}

pub(super) fn cancelled(order: &Order, previous: Status, reason: &str, was_paid: bool) -> Value {
    json!({
        "order_number": order.number,
        "previous_status": previous.wire(),
        "reason": reason,
        "was_paid": was_paid,
    })
}

pub(super) fn invoiced(order: &Order, document: &Document) -> Value {
    json!({
        "order_number": order.number,
        "invoice_id": document.id,
        "invoice_type": document.kind.wire(),
    })
}

/// An amount as text with two decimals.
fn decimal(amount: Milli) -> String {
    let cents = amount.ceil_cents().0 / 10;
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

fn time(seconds: i64) -> String {
    let mut text = Vec::new();
    text::push_time(&mut text, seconds);
    String::from_utf8(text).unwrap_or_default()
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
