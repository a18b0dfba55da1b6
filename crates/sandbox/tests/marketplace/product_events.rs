//! The events of stock, prices and listings, as a receiver is sent them.

use crate::support::{Bench, receiver::Receiver, unlimited};
use espelho_sandbox::NewWebhook;
use serde_json::{Value, json};

const STORE: &str = "loja-1";

/// A bench with a receiver of everything, and a new product: its `id`.
async fn listening() -> (Bench, Receiver, String) {
    let (bench, receiver) = (Bench::start(unlimited()).await, Receiver::start().await);
    let body = json!({"name": "Arroz", "sku": "ARROZ", "base_unit": "kg", "price_type": "wholesale"});
    let created = bench.post("/api/products", &body).await;
    assert_eq!(created.status, 201);
    let id = created.json()["data"]["id"].as_str().unwrap().to_owned();
    let (url, events) = (Some(receiver.url.clone()), Some(vec!["*".to_owned()]));
    bench.control().webhooks().create(STORE, NewWebhook { url, events, ..NewWebhook::default() }).unwrap();
    (bench, receiver, id)
}

/// The next delivery must be this event with this data, beside `store_id`.
async fn expect(receiver: &mut Receiver, event: &str, mut data: Value) {
    let delivered = receiver.next().await;
    data["store_id"] = json!(1);
    assert_eq!((delivered.event().as_str(), delivered.data()), (event, data));
}

// proves: EVT-029, EVT-030, EVT-031, EVT-040
#[tokio::test]
async fn movements_of_stock_are_told_and_so_are_its_end_and_return() {
    let (bench, mut receiver, id) = listening().await;
    let path = format!("/api/products/{id}/stock");
    let location = bench.get(&path).await.data()["locations"][0]["location_id"].clone();
    let moved = |old: f64, new: f64| {
        let number = |value: f64| if value.fract() == 0.0 { json!(value as i64) } else { json!(value) };
        json!({
            "product_sku_id": id, "old_quantity": number(old), "new_quantity": number(new), "location_id": location,
        })
    };
    bench.post(&path, &json!({"location_id": location, "quantity": 2.5})).await.data();
    expect(&mut receiver, "product.stock_updated", moved(0.0, 2.5)).await;
    let restored = json!({"product_sku_id": id, "new_quantity": 2.5, "location_id": location});
    expect(&mut receiver, "stock.restored", restored).await;
    let body = json!({"location_id": location, "quantity": 0.5, "decrement": true});
    bench.post(&path, &body).await.data();
    expect(&mut receiver, "product.stock_updated", moved(2.5, 2.0)).await;
    bench.post(&path, &json!({"location_id": location, "quantity": 2})).await.data();
    assert!(bench.control().products().set_stock(STORE, "ARROZ", 0));
    expect(&mut receiver, "product.stock_updated", moved(2.0, 0.0)).await;
    let depleted = json!({"product_sku_id": id, "previous_quantity": 2, "location_id": location});
    expect(&mut receiver, "stock.depleted", depleted).await;
}

// proves: EVT-032, EVT-040
#[tokio::test]
async fn changes_of_prices_are_told_tier_by_tier() {
    let (bench, mut receiver, id) = listening().await;
    let path = format!("/api/products/{id}/prices");
    let changed = |at: u32, old: Value, new: Value| json!({"product_sku_id": id, "old_price": old, "new_price": new, "min_quantity": at});
    assert_eq!(bench.post(&path, &json!({"min_quantity": 1, "price": 19.995})).await.status, 201);
    expect(&mut receiver, "product.price_updated", changed(1, json!(0), json!(19.995))).await;
    let tier = json!({
        "min_quantity": 10, "price": 18.5,
        "package_weight": 1, "package_height": 1, "package_width": 1, "package_length": 1,
    });
    assert_eq!(bench.post(&path, &tier).await.status, 201);
    expect(&mut receiver, "product.price_updated", changed(10, json!(19.995), json!(18.5))).await;
    bench.put(&format!("{path}/1"), &json!({"price": 19.995})).await.data();
    assert!(bench.control().products().edit_price(STORE, "ARROZ", 21));
    expect(&mut receiver, "product.price_updated", changed(1, json!(19.995), json!(21))).await;
    assert_eq!(bench.delete(&format!("{path}/10")).await.status, 204);
    expect(&mut receiver, "product.price_updated", changed(10, json!(18.5), json!(21))).await;
}

// proves: EVT-033, EVT-034, EVT-040
#[tokio::test]
async fn the_outcome_of_a_review_is_told() {
    let (bench, mut receiver, _) = listening().await;
    let created = bench.post("/api/items/create", &json!({"title": "Arroz 5 kg"})).await.json();
    let item_id = created["data"]["item_id"].as_str().unwrap().to_owned();
    let publish = format!("/api/items/{item_id}/publish");
    bench.put(&publish, &json!({})).await.data();
    assert!(bench.control().listings().reject(STORE, &item_id, "Sem fotos"));
    expect(&mut receiver, "publication.rejected", json!({"item_id": item_id, "reason": "Sem fotos"})).await;
    bench.put(&publish, &json!({})).await.data();
    assert!(bench.control().listings().approve(STORE, &item_id));
    expect(&mut receiver, "publication.approved", json!({"item_id": item_id, "title": "Arroz 5 kg"})).await;
}
