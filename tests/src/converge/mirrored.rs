//! Reads the whole mirror with plain SQL.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Contents, row};
use crate::{Mirror, Row, mirror::raw};

/// The mirrored tables, with the columns that identify a row's owner.
const TABLES: [(&str, &[&str]); 20] = [
    ("orders", &["order_number", "status"]),
    ("order_items", &["order_number", "id"]),
    ("order_invoices", &["order_number"]),
    ("order_events", &["order_number"]),
    ("order_benefits", &["order_number"]),
    ("order_splits", &["order_number"]),
    ("order_commissions", &["order_number"]),
    ("shipments", &["order_number", "id", "status"]),
    ("shipment_labels", &["order_number", "shipment_id", "id", "status"]),
    ("products", &["id", "sku"]),
    ("product_prices", &["product_id"]),
    ("product_stock", &["product_id", "sku", "location_id"]),
    ("stock_locations", &["location_id"]),
    ("campaigns", &["id", "status"]),
    ("campaign_listings", &["campaign_id", "item_id", "enrolled"]),
    ("price_lists", &["id"]),
    ("media_images", &["id"]),
    ("occurrences", &["id", "status"]),
    ("conversations", &["id", "status", "reason"]),
    ("conversation_messages", &["conversation_id", "id", "body"]),
];

/// Returns all rows that are not gone. The listings of campaigns that are not `open` are left out, because no route
/// lists them any more.
pub async fn contents(mirror: &Mirror, open: &BTreeSet<String>) -> Contents {
    let mut contents = Contents::new();
    for (table, owners) in TABLES {
        let rows = mirror.rows(table).await;
        let rows = rows.iter().filter(|row| !row.contains_key("gone_at"));
        let rows = rows.filter(|row| table != "campaign_listings" || open.contains(&row["campaign_id"]));
        contents.insert(table, rows.map(|found| row(&owner(found, owners), &object(table, found))).collect());
    }
    let listings = mirror.rows("listings").await;
    contents.insert("listings", listings.iter().map(|found| owner(found, REVIEWED)).collect());
    let ways = mirror.rows("shipments").await;
    let ways = ways.iter().filter(|row| !row.contains_key("gone_at"));
    let ways = ways.filter_map(|found| Some((found, found.get("tracking")?)));
    let ways = ways.map(|(found, way)| {
        row(&found["order_number"], &serde_json::from_str(way).expect("the way of a shipment is JSON"))
    });
    contents.insert("tracking", ways.collect());
    let profile = mirror.rows("store_profiles").await;
    contents.insert("store_profiles", profile.iter().map(|found| row("", &raw(found))).collect());
    contents
}

/// The columns that a review sets on a listing.
const REVIEWED: &[&str] = &["id", "title", "status", "rejection_reason"];

/// Deliveries are compared by their columns: of two deliveries about the same object, either one may be the stored
/// one.
fn object(table: &str, found: &Row) -> Value {
    match table {
        "occurrences" | "conversations" | "conversation_messages" => Value::Null,
        _ => raw(found),
    }
}

fn owner(found: &Row, columns: &[&str]) -> String {
    let cells: Vec<&str> =
        columns.iter().map(|column| found.get(*column).map_or("", String::as_str)).collect();
    cells.join(" ")
}
