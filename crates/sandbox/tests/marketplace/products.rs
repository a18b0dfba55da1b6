//! The product routes.

use std::collections::BTreeSet;

use crate::support::{Bench, unlimited};
use espelho_sandbox::Options;
use reqwest::Method;
use serde_json::{Value, json};

async fn all(bench: &Bench) -> Vec<Value> {
    bench.get("/api/products?per_page=100").await.data().as_array().unwrap().clone()
}

// proves: PRD-003, PRD-004, PRD-017, PRD-018, PRD-019, PRC-001, PRC-005, STK-007, STK-008, STK-012
#[tokio::test]
async fn the_parts_of_a_product_agree_on_every_route() {
    let bench = Bench::start(unlimited()).await;
    for row in all(&bench).await {
        let path = format!("/api/products/{}", row["id"].as_str().unwrap());
        let detail = bench.get(&path).await.data();
        assert_eq!(detail["product"], row);
        assert_eq!(detail["prices"], bench.get(&format!("{path}/prices")).await.data());
        let stock = bench.get(&format!("{path}/stock")).await.data();
        assert_eq!(detail["stock"], stock["stocks"]);
        assert_eq!(stock["total"], row["quantity"]);
        check_prices(&row, &detail["prices"]);
        check_quantities(&row, stock["stocks"].as_array().unwrap());
        check_thumbnail(&row["thumbnail"]);
        for entry in stock["stocks"].as_array().unwrap() {
            assert_eq!(entry["product_sku"], row["sku"]);
            let locations = stock["locations"].as_array().unwrap();
            assert!(locations.iter().any(|location| location["location_id"] == entry["location_stock"]));
        }
    }
}

/// A product has what its locations have in all, and available is what is not reserved.
fn check_quantities(product: &Value, stocks: &[Value]) {
    let thousandths = |value: &Value| (value.as_f64().unwrap() * 1000.0).round() as i64;
    for name in ["quantity", "reserved_quantity", "available_quantity"] {
        let sum: i64 = stocks.iter().map(|entry| thousandths(&entry[name])).sum();
        assert_eq!(thousandths(&product[name]), sum);
    }
    for entry in stocks.iter().chain([product]) {
        let free = thousandths(&entry["quantity"]) - thousandths(&entry["reserved_quantity"]);
        assert_eq!(thousandths(&entry["available_quantity"]), free);
    }
}

fn check_thumbnail(thumbnail: &Value) {
    if thumbnail.is_null() {
        return;
    }
    assert_eq!(thumbnail["id"].as_str().unwrap().len(), 26);
    let resources = thumbnail["resources"].as_array().unwrap();
    assert!(!resources.is_empty());
    assert!(resources.iter().all(|one| ["name", "size", "url"].iter().all(|name| one[*name].is_string())));
}

/// Tiers ascend; the base tier is the price and has no measures, the first tier after it has them all.
fn check_prices(product: &Value, tiers: &Value) {
    let tiers = tiers.as_array().unwrap();
    let quantities: Vec<_> = tiers.iter().map(|tier| tier["min_quantity"].as_u64().unwrap()).collect();
    assert!(quantities.is_sorted() && quantities.len() <= 5);
    assert_eq!(product["price_type"], json!(if tiers.len() > 1 { "wholesale" } else { "default" }));
    match tiers.first() {
        Some(base) => {
            assert_eq!((&base["min_quantity"], &base["value"]), (&json!(1), &product["price"]));
            assert!(base["package_weight"].is_null());
        }
        None => assert!(product["price"].is_null()),
    }
    if let Some(tier) = tiers.get(1) {
        for measure in ["package_weight", "package_height", "package_width", "package_length"] {
            assert!(tier[measure].as_f64().unwrap() > 0.0);
        }
    }
}

#[tokio::test]
async fn the_default_world_has_prices_missing_wholesale_and_fine_ones() {
    let bench = Bench::start(Options { products: 300, ..unlimited() }).await;
    let mut types = BTreeSet::new();
    let (mut priceless, mut fine) = (false, false);
    for page in 1..=3 {
        let rows = bench.get(&format!("/api/products?per_page=100&page={page}")).await;
        for row in rows.data().as_array().unwrap() {
            types.insert(row["price_type"].as_str().unwrap().to_owned());
            priceless |= row["price"].is_null();
            fine |= row["price"].to_string().split_once('.').is_some_and(|(_, decimals)| decimals.len() == 3);
        }
    }
    assert_eq!(types.len(), 2);
    assert!(priceless && fine);
}

// proves: PRD-001, PRD-012
#[tokio::test]
async fn units_are_listed_for_whoever_has_a_token() {
    let bench = Bench::start(unlimited()).await;
    let path = "/api/global/enums/product/units";
    assert_eq!(bench.plain(Method::GET, path, "").await.status, 401);
    let units = bench.get(path).await.data();
    let values: Vec<_> =
        units.as_array().unwrap().iter().map(|unit| unit["value"].as_str().unwrap()).collect();
    assert_eq!(values, ["un", "pc", "cx", "pct", "kg", "lt", "mt", "m2", "m3"]);
}

// proves: PRD-005
#[tokio::test]
async fn a_product_that_does_not_exist_is_not_found() {
    let bench = Bench::start(unlimited()).await;
    for path in ["x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "x/prices", "x/stock"] {
        bench.get(&format!("/api/products/{path}")).await.refused(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn the_platform_can_change_price_and_stock_and_remove_a_product() {
    let bench = Bench::start(unlimited()).await;
    let row = all(&bench).await.remove(0);
    let (id, sku) = (row["id"].as_str().unwrap(), row["sku"].as_str().unwrap());
    let price = "19.995".parse::<rust_decimal::Decimal>().unwrap();
    assert!(bench.control().products().edit_price("loja-1", sku, price));
    assert!(bench.control().products().set_stock("loja-1", sku, 7));
    let changed = bench.get(&format!("/api/products/{id}")).await.data()["product"].clone();
    assert_eq!((changed["price"].to_string().as_str(), &changed["quantity"]), ("19.995", &json!(7)));
    assert!(bench.control().products().remove("loja-1", sku));
    assert!(!bench.control().products().remove("loja-1", sku));
    bench.get(&format!("/api/products/{id}")).await.refused(404, "NOT_FOUND");
    assert!(all(&bench).await.iter().all(|other| other["id"] != row["id"]));
    assert_eq!(bench.orders("").await.len(), 200, "orders keep their removed products");
}
