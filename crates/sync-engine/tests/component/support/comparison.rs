//! Compares the mirror's rows with what the marketplace answers for each of them.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde_json::Value;

use super::{Rig, truth::text};

/// Words of an order that have a column of the same name.
const WORDS: [&str; 9] = [
    "status",
    "status_label",
    "workflow_type",
    "type",
    "channel",
    "delivery_method",
    "payment_method",
    "payment_status",
    "notes",
];

/// A value as its column shows it; what is absent is empty.
fn word(value: &Value) -> String {
    if value.is_null() { String::new() } else { text(value) }
}

fn decimal(value: &str) -> Option<Decimal> {
    (!value.is_empty()).then(|| value.parse().unwrap_or_else(|_| panic!("{value:?} is no number")))
}

/// Returns SQL for columns as one text, parted by tabs.
fn columns(names: &[&str]) -> String {
    let column = |name: &&str| format!("COALESCE(CAST({name} AS TEXT), '')");
    names.iter().map(column).collect::<Vec<_>>().join(" || '\t' || ")
}

impl Rig {
    /// Returns the rows of a table that are not gone: the key, and the columns.
    pub(crate) async fn live_rows(&self, table: &str, names: &[&str]) -> Vec<Vec<String>> {
        let sql = format!("SELECT {} FROM {table} WHERE gone_at IS NULL", columns(names));
        self.ask(&sql).await.iter().map(|row| row.split('\t').map(str::to_owned).collect()).collect()
    }

    /// Returns how many rows of a table are not gone.
    pub(crate) async fn live(&self, table: &str) -> usize {
        let sql = format!("SELECT CAST(count(*) AS TEXT) FROM {table} WHERE gone_at IS NULL");
        self.ask(&sql).await[0].parse().unwrap()
    }

    /// Returns all rows of a listing of the marketplace.
    pub(crate) async fn listing(&self, path: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        for page in 1.. {
            let mut data = self.truth.data(&format!("{path}&page={page}")).await;
            let list = if data.is_array() { &mut data } else { &mut data["data"] };
            let found = list.as_array_mut().unwrap();
            if found.is_empty() {
                break;
            }
            rows.append(found);
        }
        rows
    }

    /// Asserts that the orders with their lines are those of the marketplace, field by field.
    pub(crate) async fn orders_are_the_marketplaces(&self) {
        let names = [&["order_number", "raw", "total_order"][..], &WORDS[..]].concat();
        let rows = self.live_rows("orders", &names).await;
        let mut rows: BTreeMap<String, Vec<String>> =
            rows.into_iter().map(|row| (row[0].clone(), row)).collect();
        let mut lines = BTreeMap::<String, Vec<Vec<String>>>::new();
        for line in self.live_rows("order_items", &["order_number", "id", "raw", "sku", "quantity"]).await {
            lines.entry(line[0].clone()).or_default().push(line);
        }
        for listed in self.listing("/api/v1/sellers/orders?limit=100").await {
            let number = text(&listed["order_number"]);
            let order = self.truth.data(&format!("/api/v1/sellers/orders/{number}")).await;
            let row = rows.remove(&number).unwrap_or_else(|| panic!("{number} is not mirrored"));
            assert_eq!(serde_json::from_str::<Value>(&row[1]).unwrap(), order, "{number}");
            assert_eq!(decimal(&row[2]), decimal(&text(&order["totals"]["order"])), "{number}");
            for (name, shown) in WORDS.iter().zip(&row[3..]) {
                assert_eq!(*shown, word(&order[name]), "{name} of {number}");
            }
            let of_it = lines.remove(&number).unwrap_or_default();
            let items = order["items"].as_array().unwrap();
            assert_eq!(of_it.len(), items.len(), "lines of {number}");
            for item in items {
                let line = of_it.iter().find(|line| line[1] == text(&item["id"])).unwrap();
                assert_eq!(serde_json::from_str::<Value>(&line[2]).unwrap(), *item, "{number}");
                assert_eq!(line[3], word(&item["sku"]), "{number}");
                assert_eq!(decimal(&line[4]), decimal(&text(&item["quantity"])), "{number}");
            }
        }
        assert!(rows.is_empty(), "the marketplace does not have {:?}", rows.keys());
        assert!(lines.is_empty(), "lines of no order: {:?}", lines.keys());
    }

    /// Asserts that the products with their tiers and their stock are those of the marketplace.
    pub(crate) async fn products_are_the_marketplaces(&self) {
        let names = ["id", "sku", "name", "base_unit", "price_type", "price", "quantity"];
        let rows = self.live_rows("products", &names).await;
        let mut rows: BTreeMap<String, Vec<String>> =
            rows.into_iter().map(|row| (row[0].clone(), row)).collect();
        let tiers = self.live_rows("product_prices", &["product_id", "min_quantity", "raw", "value"]).await;
        let stock = ["product_id", "location_id", "raw", "quantity", "reserved_quantity"];
        let stock = self.live_rows("product_stock", &stock).await;
        let (mut tiers_found, mut levels_found) = (0, 0);
        for listed in self.listing("/api/products?per_page=100").await {
            let id = text(&listed["id"]);
            let answer = self.truth.data(&format!("/api/products/{id}")).await;
            let product = &answer["product"];
            let row = rows.remove(&id).unwrap_or_else(|| panic!("{id} is not mirrored"));
            for (name, shown) in names[..5].iter().zip(&row) {
                assert_eq!(*shown, word(&product[name]), "{name} of {id}");
            }
            assert_eq!(decimal(&row[5]), decimal(&word(&product["price"])), "price of {id}");
            assert_eq!(decimal(&row[6]), decimal(&word(&product["quantity"])), "quantity of {id}");
            for tier in answer["prices"].as_array().unwrap() {
                let is_it = |t: &&Vec<String>| t[0] == id && t[1] == text(&tier["min_quantity"]);
                let found = tiers.iter().find(is_it).unwrap_or_else(|| panic!("{tier} is not mirrored"));
                assert_eq!(serde_json::from_str::<Value>(&found[2]).unwrap(), *tier);
                assert_eq!(decimal(&found[3]), decimal(&word(&tier["value"])));
                tiers_found += 1;
            }
            for level in answer["stock"].as_array().unwrap() {
                let is_it = |l: &&Vec<String>| l[0] == id && l[1] == text(&level["location_stock"]);
                let found = stock.iter().find(is_it).unwrap_or_else(|| panic!("{level} is not mirrored"));
                assert_eq!(serde_json::from_str::<Value>(&found[2]).unwrap(), *level);
                assert_eq!(decimal(&found[3]), decimal(&text(&level["quantity"])));
                assert_eq!(decimal(&found[4]), decimal(&text(&level["reserved_quantity"])));
                levels_found += 1;
            }
        }
        assert!(rows.is_empty(), "the marketplace does not have {:?}", rows.keys());
        assert_eq!((tiers_found, levels_found), (tiers.len(), stock.len()), "tiers and levels of nobody");
    }
}
