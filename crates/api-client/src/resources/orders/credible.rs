//! Decides whether the detail of an order can be believed (API document, "Order"). Pure.

use espelho_model::order::Order;
use rust_decimal::Decimal;

use super::order_wire::OrderWire;
use crate::{resources::Read, wire::fields::Field};

/// The parts of a line without which the ERP would take wrong goods or a wrong price.
const OF_A_LINE: [&str; 4] = ["items[]", "items[].id", "items[].quantity", "items[].unit_price"];

/// Returns a reason not to believe an order's detail, if there is one. `wire` is the order that was read.
///
/// Null and absent fields are no reason ("not applicable, not error"), nor are words that the document does not list.
/// An order that counts its lines has some, however.
pub(super) fn reason_for_doubt(wire: &OrderWire<'_>, read: &Read<Order>) -> Option<String> {
    let order = &read.value;
    if !is_null_or(wire.status, '"') {
        return Some("an order whose status is no text".to_owned());
    }
    if !is_null_or(wire.items, '[') {
        return Some("an order whose items are no list".to_owned());
    }
    if let Some(field) = OF_A_LINE.into_iter().find(|field| read.unreadable.contains(field)) {
        return Some(format!("an order with an unreadable {field}"));
    }
    if order.items.iter().any(|item| item.quantity.is_some_and(|quantity| quantity < Decimal::ZERO)) {
        return Some("an order with a negative items[].quantity".to_owned());
    }
    let mut ids: Vec<&str> = order.items.iter().map(|item| item.id.as_str()).collect();
    ids.sort_unstable();
    if ids.windows(2).any(|pair| pair[0] == pair[1]) {
        return Some("an order with two lines of one id".to_owned());
    }
    let counts = [("lines_count", order.lines_count.map(Decimal::from)), ("items_count", order.items_count)];
    let counted = counts.into_iter().find(|(_, count)| count.is_some_and(|count| count > Decimal::ZERO));
    match (order.items.is_empty(), counted) {
        (true, Some((field, Some(count)))) => {
            Some(format!("an order without items where {field} is {count}"))
        }
        _ => None,
    }
}

fn is_null_or(field: Field<'_>, first: char) -> bool {
    field.is_none_or(|json| json.get() == "null" || json.get().starts_with(first))
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use espelho_model::OrderNumber;
    use serde_json::{Value, json};

    use crate::{resources::orders::read::parse_detail, wire::envelope::BodyError};

    /// Returns the reason not to believe a detail.
    fn doubt(detail: &Value) -> Option<String> {
        let utc = FixedOffset::east_opt(0).unwrap();
        match parse_detail(&detail.to_string(), &OrderNumber::new("1"), utc) {
            Ok(_) => None,
            Err(BodyError::Shape(problem)) => Some(problem),
            Err(error) => panic!("{detail}: {error:?}"),
        }
    }

    /// Returns a paid order with one line, changed.
    fn order(changes: &Value) -> Value {
        let line = json!({"id": 5, "quantity": 2, "unit_price": "9.90"});
        let mut order = json!({"order_number": "1", "status": "paid", "items": [line], "lines_count": 1,
            "items_count": 2, "totals": {"order": "19.80"}});
        for (name, value) in changes.as_object().unwrap() {
            order[name.as_str()] = value.clone();
        }
        order
    }

    #[test]
    fn a_detail_that_the_document_allows_is_believed() {
        for changes in [
            json!({}),
            json!({"status": "teleported"}),
            json!({"lines_count": null, "items_count": null, "totals": null}),
            json!({"lines_count": "1", "items_count": "2"}),
            json!({"lines_count": "many", "items_count": {}}),
            json!({"lines_count": 0}),
            json!({"lines_count": 5}),
            json!({"status": null}),
            json!({"items": null, "lines_count": null, "items_count": null, "totals": null}),
            json!({"items_count": 99}),
            json!({"items": [], "lines_count": 0, "items_count": 0}),
            json!({"items": [], "lines_count": null, "items_count": null}),
            json!({"items": [null, {"id": 5}]}),
            json!({"items": [{}, {"id": null, "quantity": null, "unit_price": null}]}),
            json!({"items": [{"id": "5", "quantity": "1.5", "unit_price": "12.345"}, {"id": 6}]}),
            json!({"items": [{"id": 5, "quantity": 0, "unit_price": 0}]}),
            json!({"items": [{"id": 5, "quantity": "", "price": ""}]}),
            json!({"items": [{"id": 5, "net_value": "a combinar", "stock_status": "in_orbit"}]}),
        ] {
            assert_eq!(doubt(&order(&changes)), None, "{changes}");
            assert_eq!(doubt(&json!({"order": order(&changes)})), None, "{changes}");
        }
    }

    #[test]
    fn a_detail_that_contradicts_itself_or_whose_lines_cannot_be_read_is_not_believed() {
        for (changes, expected) in [
            (json!({"status": 3}), "an order whose status is no text"),
            (json!({"status": {"value": "paid", "label": "Pago"}}), "an order whose status is no text"),
            (json!({"items": null}), "an order without items where lines_count is 1"),
            (json!({"items": {"data": [{"id": 5}]}}), "an order whose items are no list"),
            (json!({"items": []}), "an order without items where lines_count is 1"),
            (json!({"items": [], "lines_count": null}), "an order without items where items_count is 2"),
            (json!({"items": [{"id": 5}, {"id": "5", "quantity": 7}]}), "an order with two lines of one id"),
            (json!({"items": [null]}), "an order without items where lines_count is 1"),
            (json!({"items": [{"id": 5}, []]}), "an order with an unreadable items[]"),
            (json!({"items": [{"id": {"value": 5}}]}), "an order with an unreadable items[].id"),
            (json!({"items": [{"quantity": "two"}]}), "an order with an unreadable items[].quantity"),
            (json!({"items": [{"quantity": -3}]}), "an order with a negative items[].quantity"),
            (json!({"items": [{"unit_price": "12,50"}]}), "an order with an unreadable items[].unit_price"),
            (json!({"items": [{"price": {}}]}), "an order with an unreadable items[].unit_price"),
        ] {
            assert_eq!(doubt(&order(&changes)).as_deref(), Some(expected), "{changes}");
            assert_eq!(doubt(&json!({"order": order(&changes)})).as_deref(), Some(expected), "{changes}");
        }
    }
}
