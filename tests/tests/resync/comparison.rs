//! Compares the mirror's tables with the marketplace's contents, column by column.

use std::collections::BTreeMap;

use espelho_tests::{
    Mirror, Row,
    mirror::{number, raw},
    truth::{self, Truth},
};
use serde_json::Value;

/// Compares a column with the API's value, both as text; `None` is NULL.
#[track_caller]
fn same(row: &Row, column: &str, expected: Option<&str>) {
    assert_eq!(row.get(column).map(String::as_str), expected, "{column} of {row:?}");
}

#[track_caller]
fn same_number(row: &Row, column: &str, expected: &Value) {
    assert_eq!(number(row, column), truth::number(expected), "{column} of {row:?}");
}

fn text(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| truth::text(value))
}

fn truth_value(value: &Value) -> Option<String> {
    value.as_bool().map(|yes| u8::from(yes).to_string())
}

pub(crate) async fn compare_orders(mirror: &Mirror, truth: &Truth) {
    let rows = mirror.rows("orders").await;
    let mut lines: BTreeMap<String, BTreeMap<String, Row>> = BTreeMap::new();
    for line in mirror.rows("order_items").await {
        lines.entry(line["order_number"].clone()).or_default().insert(line["id"].clone(), line);
    }
    assert_eq!(rows.len(), truth.orders.len());
    for row in rows {
        let order = &truth.orders[&row["order_number"]];
        assert_eq!(raw(&row), *order);
        assert!(!row.contains_key("gone_at") && row.contains_key("mirrored_at"));
        for column in [
            "status",
            "workflow_type",
            "type",
            "channel",
            "delivery_method",
            "checkout_group_id",
            "payment_method",
            "payment_status",
            "notes",
        ] {
            same(&row, column, text(&order[column]).as_deref());
        }
        same(&row, "customer_id", text(&order["customer"]["id"]).as_deref());
        same(&row, "customer_name", text(&order["customer"]["name"]).as_deref());
        same(&row, "customer_city", text(&order["customer"]["city"]).as_deref());
        same(&row, "customer_state", text(&order["customer"]["state"]).as_deref());
        same(&row, "status_label", text(&order["status_label"]).as_deref());
        same(&row, "ship_by", truth::time(&order["shipping"]["deadline"]).as_deref());
        for total in ["products", "shipping", "discounts", "order"] {
            same_number(&row, &format!("total_{total}"), &order["totals"][total]);
        }
        for column in ["items_count", "lines_count"] {
            same_number(&row, column, &order[column]);
        }
        for column in ["payment_expires_at", "release_at", "picked_up_at", "created_at", "updated_at"] {
            same(&row, column, truth::time(&order[column]).as_deref());
        }
        for column in ["is_collective", "is_awaiting_campaign"] {
            same(&row, column, truth_value(&order[column]).as_deref());
        }
        compare_lines(order, lines.remove(&row["order_number"]).unwrap_or_default());
    }
    assert!(lines.is_empty(), "lines of no order: {lines:?}");
}

fn compare_lines(order: &Value, mut lines: BTreeMap<String, Row>) {
    for item in order["items"].as_array().unwrap() {
        let row = lines.remove(&truth::text(&item["id"])).unwrap_or_else(|| panic!("{item} is not mirrored"));
        assert_eq!(raw(&row), *item);
        for column in ["product_id", "sku", "name", "stock_status"] {
            same(&row, column, text(&item[column]).as_deref());
        }
        for column in ["quantity", "unit_price", "net_value", "price_scale"] {
            same_number(&row, column, &item[column]);
        }
        same(&row, "is_blocking_stock", truth_value(&item["is_blocking_stock"]).as_deref());
    }
    assert!(lines.is_empty(), "lines that the order does not have: {lines:?}");
}

pub(crate) async fn compare_products(mirror: &Mirror, truth: &Truth) {
    let rows = mirror.rows("products").await;
    let (mut tiers, mut levels) = (mirror.rows("product_prices").await, mirror.rows("product_stock").await);
    assert_eq!(rows.len(), truth.products.len());
    for row in rows {
        let detail = &truth.products[&row["id"]];
        let product = &detail["product"];
        for column in ["sku", "name", "base_unit", "price_type"] {
            same(&row, column, text(&product[column]).as_deref());
        }
        for column in ["is_available_for_sale", "auto_wholesale_pricing"] {
            same(&row, column, truth_value(&product[column]).as_deref());
        }
        for column in ["height", "width", "length", "weight"] {
            same_number(&row, column, &product["dimensions"][column]);
        }
        for column in ["price", "quantity", "reserved_quantity", "available_quantity"] {
            same_number(&row, column, &product[column]);
        }
        for tier in detail["prices"].as_array().unwrap() {
            let is_it = |t: &Row| {
                t["product_id"] == row["id"]
                    && number(t, "min_quantity") == truth::number(&tier["min_quantity"])
            };
            let row = take(&mut tiers, is_it, tier);
            assert_eq!(raw(&row), *tier);
            for column in [
                "value",
                "discount_percent",
                "package_weight",
                "package_height",
                "package_width",
                "package_length",
            ] {
                same_number(&row, column, &tier[column]);
            }
        }
        for level in detail["stock"].as_array().unwrap() {
            let place = truth::text(&level["location_stock"]);
            let is_it = |l: &Row| l["sku"] == level["product_sku"] && l["location_id"] == place;
            let level_row = take(&mut levels, is_it, level);
            assert_eq!((raw(&level_row), &level_row["product_id"]), (level.clone(), &row["id"]));
            for column in ["quantity", "reserved_quantity", "available_quantity"] {
                same_number(&level_row, column, &level[column]);
            }
        }
    }
    assert!(tiers.is_empty() && levels.is_empty(), "nobody's: {tiers:?} {levels:?}");
}

fn take(rows: &mut Vec<Row>, is_it: impl Fn(&Row) -> bool, what: &Value) -> Row {
    let at = rows.iter().position(is_it).unwrap_or_else(|| panic!("{what} is not mirrored"));
    rows.swap_remove(at)
}

pub(crate) async fn compare_locations(mirror: &Mirror, truth: &Truth) {
    let rows = mirror.rows("stock_locations").await;
    assert_eq!(rows.len(), truth.locations.len());
    for row in rows {
        let location = &truth.locations[&row["location_id"]];
        assert_eq!(raw(&row), *location);
        for column in ["name", "status", "location_type"] {
            same(&row, column, text(&location[column]).as_deref());
        }
        for column in ["allows_pickup", "allows_production"] {
            same(&row, column, truth_value(&location[column]).as_deref());
        }
    }
}
