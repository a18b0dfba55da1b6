//! Pages, sort orders and the variants of `meta`.

use crate::support::{Bench, unlimited};
use espelho_sandbox::{ListShape, Options};
use serde_json::{Value, json};

const ORDERS: &str = "/api/v1/sellers/orders";

// proves: ORD-001, ORD-002, ORD-003
#[tokio::test]
async fn orders_come_newest_first_in_twenties_and_products_in_fifteens() {
    let bench = Bench::start(unlimited()).await;
    let orders = bench.get(ORDERS).await.json();
    assert_eq!(orders["data"].as_array().unwrap().len(), 20);
    assert_eq!(orders["meta"], json!({"page": 1, "limit": 20, "last_page": 10, "total": 200}));
    assert_eq!(orders["data"], bench.get(&format!("{ORDERS}?sort=-created_at")).await.data());
    let products = bench.get("/api/products").await.json();
    assert_eq!(products["data"].as_array().unwrap().len(), 15);
    assert_eq!(products["meta"], json!({"page": 1, "limit": 15, "last_page": 4, "total": 60}));
}

// proves: ORD-004, ORD-005
#[tokio::test]
async fn every_sort_order_holds_over_all_pages() {
    let bench = Bench::start(unlimited()).await;
    let key = |row: &Value, field: &str| match field {
        "total_order" => format!("{:020}", (row["totals"]["order"].as_f64().unwrap() * 100.0).round()),
        _ => row[field].as_str().unwrap().to_owned(),
    };
    for field in ["created_at", "updated_at", "order_number", "total_order"] {
        for (sign, rising) in [("", true), ("-", false)] {
            let rows = bench.orders(&format!("sort={sign}{field}")).await;
            assert_eq!(rows.len(), 200);
            for pair in rows.windows(2) {
                let (a, b) = (key(&pair[0], field), key(&pair[1], field));
                assert!(a == b || (a < b) == rising, "{sign}{field}: {a} {b}");
                let (first, second) = (key(&pair[0], "order_number"), key(&pair[1], "order_number"));
                assert!(a != b || (first < second) == rising);
            }
        }
    }
}

#[tokio::test]
async fn a_changed_order_moves_to_its_place_in_every_sort_order() {
    let bench = Bench::start(unlimited()).await;
    let first = |rows: Vec<Value>| rows[0]["order_number"].as_str().unwrap().to_owned();
    let oldest = first(bench.orders("sort=updated_at").await);
    assert_ne!(first(bench.orders("sort=-updated_at").await), oldest);
    assert!(bench.control().orders().set_notes("loja-1", &oldest, Some("mudou 📦")));
    assert_eq!(first(bench.orders("sort=-updated_at").await), oldest);
    let new = bench.control().orders().insert("loja-1");
    assert_eq!(first(bench.orders("").await), new);
    assert!(bench.control().orders().remove("loja-1", &new));
    assert_ne!(first(bench.orders("").await), new);
    assert_eq!(bench.orders("").await.len(), 200);
}

#[tokio::test]
async fn a_page_beyond_the_last_is_empty_but_whole() {
    let bench = Bench::start(unlimited()).await;
    for path in [format!("{ORDERS}?page=99"), format!("{ORDERS}?page=18446744073709551615&status=paid")] {
        let reply = bench.get(&path).await;
        assert_eq!(reply.data(), json!([]));
        assert!(reply.json()["meta"]["total"].as_u64().unwrap() > 0);
    }
}

#[tokio::test]
async fn too_large_a_page_of_products_is_refused() {
    let bench = Bench::start(unlimited()).await;
    for query in ["per_page=101", "per_page=0", "page=0", "per_page=x"] {
        let errors = bench.get(&format!("/api/products?{query}")).await.refused(422, "VALIDATION_ERROR");
        assert!(errors[query.split('=').next().unwrap()][0].is_string());
    }
}

#[tokio::test]
async fn the_laravel_shape_names_its_meta_as_laravel_does() {
    let bench = Bench::start(Options { list_shape: ListShape::Laravel, ..unlimited() }).await;
    let body = bench.get(&format!("{ORDERS}?page=2&limit=50")).await.json();
    assert_eq!(body["meta"], json!({"current_page": 2, "per_page": 50, "last_page": 4, "total": 200}));
    assert_eq!(body["data"].as_array().unwrap().len(), 50);
}

#[tokio::test]
async fn the_envelope_shape_is_the_documented_paginated_envelope() {
    let bench = Bench::start(Options { list_shape: ListShape::Envelope, ..unlimited() }).await;
    let body = bench.get(&format!("{ORDERS}?page=10&limit=21")).await.json();
    assert_eq!(body["data"]["data"].as_array().unwrap().len(), 11);
    let meta = &body["data"]["meta"];
    assert_eq!((&meta["search_query"], &meta["filters"]), (&json!(""), &json!([])));
    let expected = json!({
        "page": 10, "per_page": 21, "last_page": 10, "has_prev_page": true, "has_next_page": false,
        "records": {"from": 190, "to": 200, "records": 200},
    });
    assert_eq!(meta["pagination"], expected);
    let filtered = bench.get(&format!("{ORDERS}?status=paid&search=a")).await.json();
    assert_eq!(filtered["data"]["meta"]["filters"], json!({"status": "paid"}));
    assert_eq!(filtered["data"]["meta"]["search_query"], json!("a"));
}

#[tokio::test]
async fn numbers_may_be_strings_while_identifiers_stay() {
    let bench = Bench::start(Options { numbers_as_strings: true, ..unlimited() }).await;
    let body = bench.get(ORDERS).await.json();
    assert_eq!(body["meta"]["total"], json!("200"));
    let row = &body["data"][0];
    assert!(row["totals"]["order"].is_string() && row["items_count"].is_string());
    assert!(row["customer"]["id"].is_u64());
    let products = bench.get("/api/products").await.data();
    assert!(products[0]["quantity"].is_string());
}

#[tokio::test]
async fn a_server_that_ignores_page_or_sort_answers_all_the_same() {
    let bench = Bench::start(Options { ignore_page: true, ignore_sort: true, ..unlimited() }).await;
    let first = bench.get(ORDERS).await.bytes;
    assert_eq!(bench.get(&format!("{ORDERS}?page=3")).await.bytes, first);
    assert_eq!(bench.get(&format!("{ORDERS}?sort=total_order")).await.bytes, first);
    assert_eq!(bench.get("/api/products?page=2").await.bytes, bench.get("/api/products").await.bytes);
}
