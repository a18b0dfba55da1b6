//! Moving stock: the seller's route, and what buyers and the platform do.

use crate::support::{Bench, Reply, unlimited};
use espelho_sandbox::Options;
use reqwest::Method;
use serde_json::{Value, json};

const STORE: &str = "loja-1";

/// A new product: its SKU and the path of its stock.
async fn product(bench: &Bench) -> (String, String) {
    let count = bench.get("/api/products?per_page=100").await.data().as_array().unwrap().len();
    let sku = format!("S-{count}");
    let body = json!({"name": "Arroz", "sku": sku, "base_unit": "kg"});
    let id = bench.post("/api/products", &body).await.json()["data"]["id"].as_str().unwrap().to_owned();
    let price = json!({"min_quantity": 1, "price": 9.9});
    assert_eq!(bench.post(&format!("/api/products/{id}/prices"), &price).await.status, 201);
    (sku, format!("/api/products/{id}/stock"))
}

async fn location(bench: &Bench, stock: &str) -> u64 {
    bench.get(stock).await.data()["locations"][0]["location_id"].as_u64().unwrap()
}

/// Physical, reserved and available stock of the product.
async fn sums(bench: &Bench, stock: &str) -> [f64; 3] {
    let product = bench.get(stock.trim_end_matches("/stock")).await.data()["product"].clone();
    ["quantity", "reserved_quantity", "available_quantity"].map(|name| product[name].as_f64().unwrap())
}

fn fields(reply: &Reply) -> Vec<String> {
    let errors = reply.refused(422, "VALIDATION_ERROR");
    errors.as_object().unwrap().keys().cloned().collect()
}

// proves: STK-007, STK-009, STK-010, STK-011, STK-012, STK-013, STK-014, STK-015, STK-016
#[tokio::test]
async fn a_movement_sets_adds_or_takes_away() {
    let bench = Bench::start(unlimited()).await;
    let (sku, stock) = product(&bench).await;
    let location_id = location(&bench, &stock).await;
    let steps = [
        (json!({"quantity": 10.5}), 10.5),
        (json!({"quantity": 2, "increment": true}), 12.5),
        (json!({"quantity": 0.125, "decrement": true, "increment": false}), 12.375),
        (json!({"quantity": 7, "increment": false, "decrement": false}), 7.0),
        (json!({"quantity": 7, "decrement": true}), 0.0),
        (json!({"quantity": 3}), 3.0),
    ];
    for (mut body, total) in steps {
        body["location_id"] = json!(location_id);
        let answered = bench.post(&stock, &body).await.data();
        assert_eq!(answered["total"].as_f64(), Some(total), "{body}");
        assert_eq!(answered, bench.get(&stock).await.data());
    }
    let data = bench.get(&stock).await.data();
    let entry = &data["stocks"][0];
    assert!(entry["id"].is_u64());
    assert_eq!((&entry["product_sku"], &entry["location_stock"]), (&json!(sku), &json!(location_id)));
    assert_eq!([&entry["quantity"], &entry["reserved_quantity"], &entry["available_quantity"]], [3, 0, 3]);
    let place = &data["locations"][0];
    assert!(
        place["store_id"].is_u64()
            && place["allows_pickup"].is_boolean()
            && place["allows_production"].is_boolean()
    );
    assert!(["name", "status", "location_type"].iter().all(|name| place[*name].is_string()));
}

// proves: STK-008
#[tokio::test]
async fn the_total_adds_up_every_location_of_the_store() {
    // Whether a generated store has a second location is a matter of its seed.
    for seed in 1..20 {
        let bench = Bench::start(Options { seed, orders: 0, ..unlimited() }).await;
        let (_, stock) = product(&bench).await;
        let locations = bench.get(&stock).await.data()["locations"].as_array().unwrap().clone();
        if locations.len() < 2 {
            continue;
        }
        for (place, quantity) in locations.iter().rev().zip([4, 38]) {
            let body = json!({"location_id": place["location_id"], "quantity": quantity});
            assert_eq!(bench.post(&stock, &body).await.status, 200);
        }
        let data = bench.get(&stock).await.data();
        assert_eq!(data["total"], json!(42));
        let order: Vec<_> =
            data["stocks"].as_array().unwrap().iter().map(|entry| &entry["quantity"]).collect();
        assert_eq!(order, [&json!(38), &json!(4)]);
        return;
    }
    panic!("no seed has two locations");
}

// proves: STK-017, ERR-001
#[tokio::test]
async fn both_flags_together_are_a_bad_request() {
    let bench = Bench::start(unlimited()).await;
    let (_, stock) = product(&bench).await;
    let location_id = location(&bench, &stock).await;
    let body = json!({"location_id": location_id, "quantity": 1, "increment": true, "decrement": true});
    bench.post(&stock, &body).await.refused(400, "BAD_REQUEST");
    assert_eq!(sums(&bench, &stock).await, [0.0, 0.0, 0.0]);
}

// proves: STK-013
#[tokio::test]
async fn each_field_of_a_movement_is_held_to_its_type_and_limit() {
    let bench = Bench::start(unlimited()).await;
    let (_, stock) = product(&bench).await;
    let location_id = location(&bench, &stock).await;
    let good = json!({"location_id": location_id, "quantity": 5});
    let cases = [
        ("location_id", json!(null)),
        ("location_id", json!("11")),
        ("location_id", json!(999_999)),
        ("location_id", json!(-1)),
        ("location_id", json!(1e300)),
        ("quantity", json!(null)),
        ("quantity", json!("5")),
        ("quantity", json!(-0.001)),
        ("quantity", json!(0.0001)),
        ("quantity", json!(1e18)),
        ("increment", json!(1)),
        ("decrement", json!("true")),
    ];
    for (field, wrong) in cases {
        let mut body = good.clone();
        body[field] = wrong;
        assert_eq!(fields(&bench.post(&stock, &body).await), [field], "{body}");
    }
    assert_eq!(fields(&bench.post(&stock, &json!({})).await), ["location_id", "quantity"]);
    bench.post(&stock, &good).await.data();
    let more = json!({"location_id": location_id, "quantity": 5.001, "decrement": true});
    assert_eq!(fields(&bench.post(&stock, &more).await), ["quantity"], "stock is never below zero");
    let most = json!({"location_id": location_id, "quantity": 999_999_999, "increment": true});
    assert_eq!(fields(&bench.post(&stock, &most).await), ["quantity"]);
    assert_eq!(sums(&bench, &stock).await, [5.0, 0.0, 5.0]);
    let absent = "/api/products/01ARZ3NDEKTSV4RRFFQ69G5FAV/stock";
    bench.post(absent, &good).await.refused(404, "NOT_FOUND");
}

// proves: STK-012, STK-018
#[tokio::test]
async fn a_seller_never_moves_what_is_reserved() {
    let bench = Bench::start(unlimited()).await;
    let (sku, stock) = product(&bench).await;
    let location_id = location(&bench, &stock).await;
    bench.post(&stock, &json!({"location_id": location_id, "quantity": 10})).await.data();
    assert!(bench.control().products().reserve_stock(STORE, &sku, 4));
    assert_eq!(sums(&bench, &stock).await, [10.0, 4.0, 6.0]);
    let body = json!({"location_id": location_id, "quantity": 5, "reserved_quantity": 0});
    bench.post(&stock, &body).await.data();
    assert_eq!(sums(&bench, &stock).await, [5.0, 4.0, 1.0]);
    bench.post(&stock, &json!({"location_id": location_id, "quantity": 1})).await.data();
    assert_eq!(
        sums(&bench, &stock).await,
        [1.0, 4.0, -3.0],
        "goods that are gone were promised all the same"
    );
}

// proves: STK-019
#[tokio::test]
async fn what_is_all_reserved_is_closed_to_buyers_until_it_is_released() {
    let bench = Bench::start(unlimited()).await;
    let (sku, stock) = product(&bench).await;
    let control = bench.control();
    assert!(!control.products().can_be_bought(STORE, &sku));
    assert!(control.products().set_stock(STORE, &sku, 3));
    assert!(control.products().can_be_bought(STORE, &sku));
    assert!(!control.products().reserve_stock(STORE, &sku, 4), "there are 3");
    assert!(control.products().reserve_stock(STORE, &sku, 3));
    assert_eq!(sums(&bench, &stock).await, [3.0, 3.0, 0.0]);
    assert!(!control.products().can_be_bought(STORE, &sku));
    assert!(control.products().release_stock(STORE, &sku, 1));
    assert!(control.products().can_be_bought(STORE, &sku));
    assert!(control.products().commit_stock(STORE, &sku, 2));
    assert_eq!(sums(&bench, &stock).await, [1.0, 0.0, 1.0]);
    assert!(control.products().reserve_stock(STORE, &sku, 1));
    let path = stock.trim_end_matches("/stock").to_owned();
    bench.put(&path, &json!({"allow_sale_without_stock": true})).await.data();
    assert!(control.products().can_be_bought(STORE, &sku));
}

#[tokio::test]
async fn the_platform_moves_stock_and_prices_over_http_too() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let (sku, stock) = product(&bench).await;
    let endpoint = async |path: &str, body: Value| {
        bench.plain(Method::POST, &format!("/_sandbox/{path}"), &body.to_string()).await.status
    };
    assert_eq!(endpoint(&format!("products/{STORE}/{sku}/stock"), json!({"quantity": 7.5})).await, 200);
    assert_eq!(endpoint(&format!("products/{STORE}/{sku}/reserve"), json!({"quantity": 3})).await, 200);
    assert_eq!(endpoint(&format!("products/{STORE}/{sku}/reserve"), json!({"quantity": 5})).await, 404);
    assert_eq!(endpoint(&format!("products/{STORE}/{sku}/commit"), json!({"quantity": 2})).await, 200);
    assert_eq!(endpoint(&format!("products/{STORE}/{sku}/release"), json!({"quantity": 1})).await, 200);
    assert_eq!(sums(&bench, &stock).await, [5.5, 0.0, 5.5]);
    assert_eq!(endpoint(&format!("products/{STORE}/{sku}/price"), json!({"price": 19.995})).await, 200);
    let product = bench.get(stock.trim_end_matches("/stock")).await.data()["product"].clone();
    assert_eq!(product["price"], json!(19.995));
    let buyable = format!("/_sandbox/products/{STORE}/{sku}/buyable");
    assert_eq!(bench.plain(Method::GET, &buyable, "").await.data(), json!({"can_be_bought": true}));
    for hostile in [json!({"quantity": 1e300}), json!({"quantity": -1}), json!({"quantity": 1e17})] {
        assert_eq!(endpoint(&format!("products/{STORE}/{sku}/stock"), hostile).await, 404);
    }
    assert_eq!(endpoint(&format!("products/{STORE}/nada/stock"), json!({"quantity": 1})).await, 404);
    assert_eq!(endpoint(&format!("stores/{STORE}/mirror"), json!({"active": true})).await, 200);
    let removed = bench.plain(Method::DELETE, &format!("/_sandbox/products/{STORE}/{sku}"), "").await;
    assert_eq!(removed.status, 200);
    bench.get(&stock).await.refused(404, "NOT_FOUND");
}
