//! Decides whether the detail of an order has lost a value that was known.
//!
//! Null and absent fields mean "not applicable" (API document, "Order"). A status, a total and lines apply
//! to every order that had them, however: without its status a paid order would be invisible to the ERP, and it would
//! stay so, because its listing does not change when the detail is right again. So such a detail is not believed.

use espelho_model::order::Order;
use espelho_store::KnownOrder;

/// Everything that can be known.
const ALL: KnownOrder = KnownOrder { has_status: true, has_total: true, has_lines: true };

/// Tells whether a detail lacks a value, so that the known values of the order decide.
pub fn may_have_lost_one(order: &Order) -> bool {
    lost_value(order, ALL).is_some()
}

/// Returns the field that a detail lacks although its value was known, if there is one. Lines are lost where nothing
/// counts them either: an order that says that it has none has none.
pub fn lost_value(order: &Order, known: KnownOrder) -> Option<&'static str> {
    let says_nothing_of_lines =
        order.items.is_empty() && order.lines_count.is_none() && order.items_count.is_none();
    let lost = [
        ("status", known.has_status && order.status.is_none()),
        ("totals.order", known.has_total && order.total_order.is_none()),
        ("items", known.has_lines && says_nothing_of_lines),
    ];
    lost.into_iter().find_map(|(field, is_lost)| is_lost.then_some(field))
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::*;
    use crate::plan::push::order_status::tests::{line, order};

    const NOTHING: KnownOrder = KnownOrder { has_status: false, has_total: false, has_lines: false };

    #[test]
    fn a_value_that_was_known_is_not_replaced_by_null() {
        let whole =
            || Order { total_order: Some(Decimal::TEN), items: vec![line("CAN-1", 1)], ..order("paid") };
        let without_status = || Order { status: None, ..whole() };
        let without_total = || Order { total_order: None, ..whole() };
        let without_lines = || Order { items: Vec::new(), ..whole() };
        let counted = || Order { lines_count: Some(0), ..without_lines() };
        let known = |has_status, has_total, has_lines| KnownOrder { has_status, has_total, has_lines };
        for (order, known, expected, why) in [
            (whole(), ALL, None, "nothing is missing"),
            (without_status(), NOTHING, None, "nobody knew the status"),
            (without_status(), known(false, true, true), None, "only the status is unknown"),
            (without_status(), known(true, false, false), Some("status"), "the status was known"),
            (without_total(), NOTHING, None, "nobody knew the total"),
            (without_total(), known(false, true, false), Some("totals.order"), "the total was known"),
            (without_lines(), NOTHING, None, "it never had lines"),
            (without_lines(), known(true, true, false), None, "it never had lines"),
            (without_lines(), known(false, false, true), Some("items"), "its lines were known"),
            (counted(), ALL, None, "it says that it has none"),
        ] {
            assert_eq!(lost_value(&order, known), expected, "{why}");
        }
        let details = [whole(), without_status(), without_total(), without_lines(), counted()];
        assert_eq!(details.map(|order| may_have_lost_one(&order)), [false, true, true, true, false]);
    }
}
