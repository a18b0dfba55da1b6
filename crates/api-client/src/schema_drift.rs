//! Schema drift: once an hour, one answer of each route is compared with the fields of the document.
//!
//! Nothing depends on the result. New fields are kept in `raw`, and vanished fields are read as absent, but people
//! must hear of both before they miss something.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::client_metrics::ClientMetrics;

/// Larger answers are not checked.
const LARGEST: usize = 1 << 20;
/// The number of rows of a listing that are checked.
const ROWS: usize = 5;

/// The fields in the answers of a route.
struct Shape {
    route: &'static str,
    /// Fields that are always present.
    always: &'static [&'static str],
    /// Fields that may be present.
    sometimes: &'static [&'static str],
}

/// Fields of an order and of its row (API document, "Orders"). The document does not say which of them a row has.
const ORDER: [&str; 56] = [
    "order_number",
    "status",
    "status_label",
    "status_color",
    "workflow_type",
    "type",
    "type_label",
    "channel",
    "channel_label",
    "delivery_method",
    "delivery_method_label",
    "checkout_group_id",
    "is_production_order",
    "store",
    "store_id",
    "store_uid",
    "sold_by",
    "sold_by_id",
    "sold_by_uid",
    "is_substore",
    "sales_agent_id",
    "sales_agent_uid",
    "physical_store_id",
    "physical_store_uid",
    "customer",
    "customer_id",
    "customer_uid",
    "physical_store",
    "customer_data_released",
    "is_collective",
    "is_awaiting_campaign",
    "release_at",
    "totals",
    "items_count",
    "lines_count",
    "items",
    "items_preview",
    "applied_benefits",
    "invoices",
    "shipping",
    "payment_method",
    "payment_method_label",
    "payment_status",
    "payment_status_label",
    "notes",
    "metadata",
    "occurrences",
    "created_at",
    "updated_at",
    "sales_agent",
    "payment_expires_at",
    "payment_url",
    "payment_link_target",
    "payment_link_target_label",
    "picked_up_at",
    "pickup_address",
];

/// The routes that the mirror reads most.
const SHAPES: [Shape; 6] = [
    Shape {
        route: "/api/v1/sellers/orders",
        always: &["order_number", "status", "updated_at"],
        sometimes: &ORDER,
    },
    Shape {
        route: "/api/v1/sellers/orders/{id}",
        always: &["order_number", "status", "items", "updated_at"],
        sometimes: &ORDER,
    },
    Shape {
        route: "/api/v1/sellers/orders/{id}/shipments",
        always: &["id", "status", "type"],
        sometimes: &[
            "status_label",
            "type_label",
            "tracking_code",
            "carrier",
            "labels",
            "labels_ready",
            "labels_total",
            "is_pickup",
            "label_generation_blocked",
            "allows_manual_confirmation",
            "created_at",
        ],
    },
    Shape {
        route: "/api/seller/discounts/campaigns/calendar",
        always: &["id", "name", "type", "status"],
        sometimes: &[
            "uid",
            "slug",
            "starts_at",
            "ends_at",
            "opt_in_deadline",
            "primary_color",
            "secondary_color",
            "has_landing_page",
            "landing_page_slug",
            "show_in_menu",
            "rules",
            "created_at",
            "updated_at",
        ],
    },
    Shape {
        route: "/api/products",
        always: &["id", "name", "sku"],
        sometimes: &[
            "base_unit",
            "price_type",
            "is_available_for_sale",
            "is_industrializable",
            "allow_sale_without_stock",
            "auto_wholesale_pricing",
            "dimensions",
            "quantity",
            "reserved_quantity",
            "available_quantity",
            "thumbnail",
            "price",
        ],
    },
    Shape {
        route: "/api/media",
        always: &["id", "urls"],
        sometimes: &[
            "original_source",
            "in_use",
            "reference_id",
            "reference_model",
            "created_at",
            "updated_at",
        ],
    },
];

/// Returns whether the answers of a route are checked.
pub(crate) fn knows(route: &str) -> bool {
    SHAPES.iter().any(|shape| shape.route == route)
}

/// Compares an answer with the fields of its route.
pub(crate) fn look(metrics: &ClientMetrics, route: &'static str, body: &[u8]) {
    let Some(shape) = SHAPES.iter().find(|shape| shape.route == route) else { return };
    if body.len() > LARGEST {
        return;
    }
    let Ok(answer) = serde_json::from_slice::<Value>(body) else { return };
    let rows = rows(&answer);
    if rows.is_empty() {
        return;
    }
    let (mut unknown, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let is_known = |name: &&String| {
            shape.always.contains(&name.as_str()) || shape.sometimes.contains(&name.as_str())
        };
        unknown.extend(row.keys().filter(|name| !is_known(name)).map(|name| presentable(name)));
        missing.extend(shape.always.iter().filter(|name| !row.contains_key(**name)));
    }
    if !unknown.is_empty() || !missing.is_empty() {
        tracing::warn!(route, ?unknown, ?missing, "schema drift: the answer differs from the document");
        let missing: Vec<&str> = missing.into_iter().collect();
        metrics.drift(route, unknown.into_iter().collect(), &missing);
    }
}

/// Makes a field's name safe to display: it comes from the marketplace.
fn presentable(name: &str) -> String {
    name.chars().take(40).map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '?' }).collect()
}

/// Returns the rows of an answer: those of `data`, of a list inside it, or the answer itself.
fn rows(answer: &Value) -> Vec<&Map<String, Value>> {
    let data = answer.get("data").unwrap_or(answer);
    let data = match data {
        Value::Object(fields) if !fields.contains_key("order_number") => {
            ["data", "orders", "shipments", "items", "order"]
                .iter()
                .find_map(|name| fields.get(*name))
                .unwrap_or(data)
        }
        _ => data,
    };
    match data {
        Value::Array(rows) => rows.iter().take(ROWS).filter_map(Value::as_object).collect(),
        Value::Object(row) => vec![row],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn drift(route: &'static str, body: &Value) -> Option<(u64, u64, Vec<String>)> {
        let metrics = ClientMetrics::default();
        look(&metrics, route, body.to_string().as_bytes());
        let drift = metrics.counted().drift.remove(route)?;
        Some((drift.unknown, drift.missing, drift.names))
    }

    fn order(change: impl FnOnce(&mut Map<String, Value>)) -> Value {
        let Value::Object(mut order) =
            json!({"order_number": "1", "status": "paid", "items": [], "updated_at": "x"})
        else {
            panic!("an object")
        };
        change(&mut order);
        Value::Object(order)
    }

    // withstands: F081
    #[test]
    fn a_field_that_is_new_and_one_that_is_gone_are_named_wherever_the_rows_are() {
        let route = "/api/v1/sellers/orders/{id}";
        let odd = order(|order| {
            order.remove("updated_at");
            order.insert("colour<".into(), json!(1));
        });
        for body in [json!({"success": true, "data": odd}), odd.clone(), json!({"data": {"order": odd}})] {
            let found = drift(route, &body);
            assert_eq!(found, Some((1, 1, vec!["colour?".into(), "-updated_at".into()])), "{body}");
        }
        assert_eq!(drift(route, &order(|_| ())), None);
        assert_eq!(drift("/api/v1/sellers/orders", &json!({"data": [odd]})).map(|found| found.1), Some(1));
    }

    #[test]
    fn every_recorded_answer_has_the_shape_of_the_document() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
        let mut looked = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let Ok(recorded) = serde_json::from_str::<Value>(&text) else { continue };
            let request = recorded["request"].as_str().unwrap_or_default();
            let Some(path) = request.strip_prefix("GET ").and_then(|rest| rest.split('?').next()) else {
                continue;
            };
            let is_of = |shape: &&Shape| {
                let (path, route): (Vec<_>, Vec<_>) =
                    (path.split('/').collect(), shape.route.split('/').collect());
                let is_id = |part: &str| part.chars().all(|c| c.is_ascii_digit());
                let alike = |(a, b): (&&str, &&str)| a == b || b.starts_with('{') && is_id(a);
                path.len() == route.len() && path.iter().zip(&route).all(alike)
            };
            let Some(shape) = SHAPES.iter().find(is_of).filter(|_| recorded["status"] == 200) else {
                continue;
            };
            looked += 1;
            assert_eq!(drift(shape.route, &recorded["body"]), None, "{request}");
        }
        assert!(looked >= 20, "only {looked} recorded answers");
    }
}
