//! The price routes: the numbered rules as a seller meets them.

use crate::support::{Bench, Reply, unlimited};
use serde_json::{Value, json};

const MEASURES: [&str; 4] = ["package_weight", "package_height", "package_width", "package_length"];

/// A new product and the path of its prices.
async fn product(bench: &Bench, price_type: &str, automatic: bool) -> String {
    let count = bench.get("/api/products?per_page=100").await.data().as_array().unwrap().len();
    let body = json!({
        "name": "Parafuso", "sku": format!("P-{count}"), "base_unit": "un", "price_type": price_type,
        "auto_wholesale_pricing": automatic,
    });
    let id = bench.post("/api/products", &body).await.json()["data"]["id"].as_str().unwrap().to_owned();
    format!("/api/products/{id}/prices")
}

/// A body with all four measures.
fn packed(mut body: Value) -> Value {
    for measure in MEASURES {
        body[measure] = json!(1.5);
    }
    body
}

async fn put_up(bench: &Bench, prices: &str, body: &Value) -> Value {
    let reply = bench.post(prices, body).await;
    assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.bytes));
    reply.json()["data"].clone()
}

fn fields(reply: &Reply) -> Vec<String> {
    let errors = reply.refused(422, "VALIDATION_ERROR");
    errors.as_object().unwrap().keys().cloned().collect()
}

async fn values(bench: &Bench, prices: &str) -> Vec<(u64, f64)> {
    let tiers = bench.get(prices).await.data();
    let tier = |tier: &Value| (tier["min_quantity"].as_u64().unwrap(), tier["value"].as_f64().unwrap());
    tiers.as_array().unwrap().iter().map(tier).collect()
}

// proves: PRC-001, PRC-002, PRC-003, PRC-004, PRC-005, PRC-006, PRC-010, PRD-019
#[tokio::test]
async fn a_default_product_has_one_tier_and_it_is_the_price() {
    let bench = Bench::start(unlimited()).await;
    let prices = product(&bench, "default", false).await;
    let tier = put_up(&bench, &prices, &packed(json!({"min_quantity": 1, "price": 12.345}))).await;
    assert_eq!((&tier["min_quantity"], &tier["value"]), (&json!(1), &json!(12.345)));
    assert!(tier["discount_percent"].is_null());
    assert!(MEASURES.iter().all(|measure| tier[measure].is_null()));
    assert_eq!(bench.get(&prices).await.data(), json!([tier]));
    let detail = bench.get(prices.trim_end_matches("/prices")).await.data();
    assert_eq!(detail["product"]["price"], json!(12.345));
    assert_eq!(
        fields(&bench.post(&prices, &packed(json!({"min_quantity": 2, "price": 9}))).await),
        ["min_quantity"]
    );
    assert_eq!(fields(&bench.post(&prices, &json!({"min_quantity": 1, "price": 9})).await), ["min_quantity"]);
    assert_eq!(fields(&bench.delete(&format!("{prices}/1")).await), ["min_quantity"]);
}

// proves: PRC-005, PRC-006, PRC-009, PRC-011, PRC-012
#[tokio::test]
async fn a_wholesale_product_has_one_to_five_ascending_tiers_and_loses_them_one_by_one() {
    let bench = Bench::start(unlimited()).await;
    let prices = product(&bench, "wholesale", false).await;
    assert_eq!(
        fields(&bench.post(&prices, &packed(json!({"min_quantity": 10, "price": 9}))).await),
        ["min_quantity"]
    );
    for (at, price) in [(1, 10.0), (10, 9.0), (40, 6.0), (30, 7.0), (20, 8.0)] {
        put_up(&bench, &prices, &packed(json!({"min_quantity": at, "price": price}))).await;
    }
    let all = [(1, 10.0), (10, 9.0), (20, 8.0), (30, 7.0), (40, 6.0)];
    assert_eq!(values(&bench, &prices).await, all);
    assert_eq!(
        fields(&bench.post(&prices, &packed(json!({"min_quantity": 50, "price": 5}))).await),
        ["min_quantity"]
    );
    let removed = bench.delete(&format!("{prices}/20")).await;
    assert_eq!((removed.status, removed.bytes.len()), (204, 0));
    assert_eq!(values(&bench, &prices).await.len(), 4);
    for absent in ["20", "0", "x", "-1", "4294967297", "1.0"] {
        bench.delete(&format!("{prices}/{absent}")).await.refused(404, "NOT_FOUND");
        bench.put(&format!("{prices}/{absent}"), &json!({"price": 1})).await.refused(404, "NOT_FOUND");
    }
}

// proves: PRC-015
#[tokio::test]
async fn measures_have_no_effect_on_the_base_tier_whatever_they_are() {
    let bench = Bench::start(unlimited()).await;
    let prices = product(&bench, "wholesale", false).await;
    let tier = put_up(&bench, &prices, &json!({"min_quantity": 1, "price": 10, "package_weight": 0})).await;
    assert!(tier["package_weight"].is_null());
    let changed = bench.put(&format!("{prices}/1"), &packed(json!({"price": 11}))).await.data();
    assert!(MEASURES.iter().all(|measure| changed[measure].is_null()));
    assert_eq!(changed["value"], json!(11.0));
}

// proves: PRC-016, PRC-017, PRC-018, PRC-019, PRC-020, ERR-026, ERR-029
#[tokio::test]
async fn the_first_wholesale_tier_carries_the_measures_that_later_ones_inherit() {
    let bench = Bench::start(unlimited()).await;
    let prices = product(&bench, "wholesale", false).await;
    put_up(&bench, &prices, &json!({"min_quantity": 1, "price": 10})).await;
    let bare = json!({"min_quantity": 10, "price": 9});
    assert_eq!(fields(&bench.post(&prices, &bare).await).len(), 4);
    for measure in MEASURES {
        for wrong in [Value::Null, json!(0), json!(-1)] {
            let mut body = packed(bare.clone());
            body[measure] = wrong;
            assert_eq!(fields(&bench.post(&prices, &body).await), [measure]);
        }
    }
    put_up(&bench, &prices, &packed(bare)).await;
    let later = put_up(&bench, &prices, &json!({"min_quantity": 20, "price": 8})).await;
    assert!(later["package_weight"].is_null());
    let partial = json!({"min_quantity": 30, "price": 7, "package_weight": 1});
    assert_eq!(fields(&bench.post(&prices, &partial).await).len(), 3);
    assert_eq!(
        fields(&bench.put(&format!("{prices}/20"), &json!({"price": 8, "package_width": 2})).await).len(),
        3
    );
    assert_eq!(fields(&bench.delete(&format!("{prices}/10")).await).len(), 4);
    assert_eq!(bench.delete(&format!("{prices}/20")).await.status, 204);
    assert_eq!(bench.delete(&format!("{prices}/10")).await.status, 204, "nobody depends on it any more");
}

// proves: PRC-008, PRC-021, PRC-023, PRC-024
#[tokio::test]
async fn a_change_without_price_zeroes_it_and_keeps_the_measures() {
    let bench = Bench::start(unlimited()).await;
    let prices = product(&bench, "wholesale", false).await;
    put_up(&bench, &prices, &json!({"min_quantity": 1, "price": 10})).await;
    put_up(&bench, &prices, &packed(json!({"min_quantity": 10, "price": 9}))).await;
    let changed =
        bench.put(&format!("{prices}/10"), &json!({"price": 8.999, "package_weight": 2})).await.data();
    assert_eq!((&changed["value"], &changed["package_weight"]), (&json!(8.999), &json!(2.0)));
    assert_eq!(changed["package_height"], json!(1.5));
    let zeroed = bench.put(&format!("{prices}/10"), &json!({"package_length": 3})).await.data();
    assert_eq!(
        (&zeroed["value"], &zeroed["package_weight"], &zeroed["package_length"]),
        (&json!(0.0), &json!(2.0), &json!(3.0))
    );
    assert_eq!(bench.put(&format!("{prices}/1"), &json!({})).await.data()["value"], json!(0.0));
    assert_eq!(values(&bench, &prices).await, [(1, 0.0), (10, 0.0)]);
}

// proves: PRC-007, PRC-022, PRC-024, PRC-025, PRC-026, PRC-027, PRC-028, PRC-029, ERR-027, ERR-028
#[tokio::test]
async fn automatic_wholesale_derives_every_tier_from_the_base_price() {
    let bench = Bench::start(unlimited()).await;
    let prices = product(&bench, "wholesale", true).await;
    let tier = |at: u32, percent: f64| packed(json!({"min_quantity": at, "discount_percent": percent}));
    assert_eq!(fields(&bench.post(&prices, &tier(10, 5.0)).await), ["min_quantity"]);
    assert_eq!(
        fields(&bench.post(&prices, &json!({"min_quantity": 1, "discount_percent": 5})).await),
        ["price"]
    );
    put_up(&bench, &prices, &json!({"min_quantity": 1, "price": 200})).await;
    for percent in [100.0, -0.01, 250.0] {
        assert_eq!(fields(&bench.post(&prices, &tier(10, percent)).await), ["discount_percent"], "{percent}");
    }
    assert_eq!(
        fields(&bench.post(&prices, &packed(json!({"min_quantity": 10, "price": 9}))).await),
        ["discount_percent"]
    );
    let derived = put_up(&bench, &prices, &tier(10, 0.0)).await;
    assert_eq!((&derived["value"], &derived["discount_percent"]), (&json!(200.0), &json!(0.0)));
    put_up(&bench, &prices, &tier(30, 99.99)).await;
    for (at, percent) in [(20, 0.0), (20, 99.99), (40, 50.0)] {
        assert_eq!(
            fields(&bench.post(&prices, &tier(at, percent)).await),
            ["discount_percent"],
            "{at} {percent}"
        );
    }
    assert_eq!(values(&bench, &prices).await, [(1, 200.0), (10, 200.0), (30, 0.02)]);
    let fine = bench.put(&format!("{prices}/10"), &json!({"discount_percent": 5.005})).await.data();
    assert_eq!((&fine["value"], &fine["discount_percent"]), (&json!(189.99), &json!(5.005)));
    bench.put(&format!("{prices}/10"), &json!({"discount_percent": 12.5})).await.data();
    bench.put(&format!("{prices}/1"), &json!({"price": 80})).await.data();
    assert_eq!(values(&bench, &prices).await, [(1, 80.0), (10, 70.0), (30, 0.01)]);
    let kept = bench.put(&format!("{prices}/10"), &json!({"package_weight": 4, "price": 1})).await.data();
    assert_eq!((&kept["value"], &kept["discount_percent"]), (&json!(70.0), &json!(12.5)));
    bench.put(&format!("{prices}/1"), &json!({})).await.data();
    assert_eq!(values(&bench, &prices).await, [(1, 0.0), (10, 0.0), (30, 0.0)]);
}

// proves: PRC-030
#[tokio::test]
async fn a_discount_is_ignored_in_manual_mode_and_never_stands_in_for_a_price() {
    let bench = Bench::start(unlimited()).await;
    let prices = product(&bench, "wholesale", false).await;
    put_up(&bench, &prices, &json!({"min_quantity": 1, "price": 10, "discount_percent": 50})).await;
    let body = packed(json!({"min_quantity": 10, "price": 9, "discount_percent": 150}));
    let tier = put_up(&bench, &prices, &body).await;
    assert_eq!((&tier["value"], &tier["discount_percent"]), (&json!(9.0), &Value::Null));
    let body = packed(json!({"min_quantity": 20, "discount_percent": 20}));
    assert_eq!(fields(&bench.post(&prices, &body).await), ["price"]);
}

#[tokio::test]
async fn each_field_of_a_tier_is_held_to_its_type() {
    let bench = Bench::start(unlimited()).await;
    let prices = product(&bench, "wholesale", false).await;
    let cases = [
        (json!({"price": 1}), "min_quantity"),
        (json!({"min_quantity": 0, "price": 1}), "min_quantity"),
        (json!({"min_quantity": 1.5, "price": 1}), "min_quantity"),
        (json!({"min_quantity": "1", "price": 1}), "min_quantity"),
        (json!({"min_quantity": 1e30, "price": 1}), "min_quantity"),
        (json!({"min_quantity": 1, "price": "1"}), "price"),
        (json!({"min_quantity": 1, "price": null}), "price"),
        (json!({"min_quantity": 1, "price": -1}), "price"),
        (json!({"min_quantity": 1, "price": 1.2345}), "price"),
        (json!({"min_quantity": 1, "price": 1e12}), "price"),
        (json!({"min_quantity": 1}), "price"),
        (json!({"min_quantity": 1, "price": 1, "discount_percent": "5"}), "discount_percent"),
        (json!({"min_quantity": 1, "price": 1, "package_weight": []}), "package_weight"),
    ];
    for (body, field) in cases {
        assert_eq!(fields(&bench.post(&prices, &body).await), [field], "{body}");
    }
    assert_eq!(bench.get(&prices).await.data(), json!([]));
    let absent = "/api/products/01ARZ3NDEKTSV4RRFFQ69G5FAV/prices";
    bench.post(absent, &json!({"min_quantity": 1, "price": 1})).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn switching_automatic_wholesale_on_needs_growing_discounts_and_off_keeps_the_prices() {
    let bench = Bench::start(unlimited()).await;
    let prices = product(&bench, "wholesale", false).await;
    let path = prices.trim_end_matches("/prices");
    put_up(&bench, &prices, &json!({"min_quantity": 1, "price": 10})).await;
    put_up(&bench, &prices, &packed(json!({"min_quantity": 10, "price": 9}))).await;
    let switch = |on: bool| json!({"auto_wholesale_pricing": on});
    assert_eq!(fields(&bench.put(path, &switch(true)).await), ["auto_wholesale_pricing"]);
    bench.delete(&format!("{prices}/10")).await;
    bench.put(path, &switch(true)).await.data();
    put_up(&bench, &prices, &packed(json!({"min_quantity": 10, "discount_percent": 25}))).await;
    bench.put(path, &switch(false)).await.data();
    assert_eq!(values(&bench, &prices).await, [(1, 10.0), (10, 7.5)]);
    bench.put(&format!("{prices}/10"), &json!({"price": 9})).await.data();
    bench.put(path, &switch(true)).await.data();
    assert_eq!(values(&bench, &prices).await, [(1, 10.0), (10, 7.5)]);
}
