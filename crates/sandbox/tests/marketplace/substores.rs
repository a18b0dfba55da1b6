//! A parent store that reads the orders of its sub-stores, and the endpoints over HTTP.

use crate::support::{Bench, unlimited};
use espelho_sandbox::{NewOrder, Options};
use reqwest::Method;
use serde_json::{Value, json};

async fn family() -> (Bench, String) {
    let bench = Bench::start(Options { stores: 3, ..unlimited() }).await;
    let control = bench.control();
    assert!(control.orders().set_parent("loja-2", Some("loja-1")));
    (bench, control.orders().place("loja-2", NewOrder::default()))
}

const VIEWS: [&str; 8] =
    ["", "/possible-statuses", "/tracking", "/events", "/financial", "/fiscal", "/shipments", ""];

// proves: AUT-039, AUT-040, ORD-075
#[tokio::test]
async fn a_parent_reads_orders_of_its_sub_stores_with_the_ability_for_it() {
    let (bench, number) = family().await;
    let control = bench.control();
    assert!(control.orders().set_status("loja-2", &number, "preparing"));
    let path = |view: &str| format!("/api/v1/sellers/orders/{number}{view}");
    for view in VIEWS {
        bench.get(&path(view)).await.refused(404, "NOT_FOUND");
    }
    assert!(control.credentials().set_abilities("loja-1", &["store_orders_substores"]));
    for view in VIEWS {
        assert_eq!(bench.get(&path(view)).await.status, 200, "{view}");
    }
    let order = bench.order(&number).await;
    assert_eq!((&order["sold_by"]["id"], &order["sold_by"]["is_substore"]), (&json!(2), &json!(true)));
    let stranger = control.orders().place("loja-3", NewOrder::default());
    bench.get(&format!("/api/v1/sellers/orders/{stranger}")).await.refused(404, "NOT_FOUND");
    assert!(control.orders().set_parent("loja-2", None));
    bench.get(&path("")).await.refused(404, "NOT_FOUND");
}

// proves: ORD-020, ORD-047
#[tokio::test]
async fn a_parent_neither_changes_nor_lists_what_is_its_sub_stores() {
    let (bench, number) = family().await;
    assert!(bench.control().credentials().set_abilities("loja-1", &["store_orders_substores"]));
    bench.ask(&number, "preparing", Value::Null).await.refused(404, "NOT_FOUND");
    let notes = format!("/api/v1/sellers/orders/{number}/notes");
    bench.put(&notes, &json!({"notes": "x"})).await.refused(404, "NOT_FOUND");
    let body = json!({"action": "mark-preparing", "order_numbers": [number]});
    let data = bench.post("/api/v1/sellers/orders/bulk/transition", &body).await.data();
    assert_eq!(data["results"][0]["message_code"], json!("NOT_FOUND"));
    assert_eq!(data["results"][0]["status"], json!(null));
    assert!(bench.orders("").await.iter().all(|row| row["order_number"] != json!(number)));
    assert_eq!(bench.order(&number).await["status"], json!("paid"));
}

#[tokio::test]
async fn what_a_sub_store_has_to_tell_is_told_as_its_own() {
    let (bench, number) = family().await;
    assert!(bench.control().orders().announced_events("loja-1").is_empty());
    let told = bench.control().orders().announced_events("loja-2");
    assert!(told.iter().all(|(_, data)| data["order_number"] == json!(number)));
}

#[tokio::test]
async fn a_store_is_never_its_own_parent() {
    let bench = Bench::start(unlimited()).await;
    assert!(!bench.control().orders().set_parent("loja-1", Some("loja-1")));
    assert!(!bench.control().orders().set_parent("loja-1", Some("nobody")));
    assert!(!bench.control().orders().set_parent("nobody", None));
}

/// Pulls a endpoint without a token.
async fn pull(bench: &Bench, path: &str, body: Value) -> (u16, Value) {
    let reply = bench.plain(Method::POST, &format!("/_sandbox/{path}"), &body.to_string()).await;
    (reply.status, reply.json()["data"].clone())
}

#[tokio::test]
async fn the_levers_do_over_http_what_control_does_in_process() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let order = json!({"workflow": "standard", "carrier": "platform", "is_paid": false});
    let (status, data) = pull(&bench, "orders/loja-1/place", order).await;
    assert_eq!(status, 200);
    let number = data["order_number"].as_str().unwrap();
    let at = |what: &str| format!("orders/loja-1/{number}/{what}");
    assert_eq!(pull(&bench, &at("invoices"), json!({})).await.0, 422, "the order is not paid");
    assert_eq!(pull(&bench, &at("pay"), json!({})).await.0, 200);
    assert_eq!(pull(&bench, &at("pay"), json!({})).await.0, 404);
    assert_eq!(pull(&bench, &at("lines/0/stock"), json!({"stock_status": "awaiting_restock"})).await.0, 200);
    bench.walk(number, &["preparing"]).await;
    let (_, first) = pull(&bench, &at("invoices"), json!({"type": "nfe"})).await;
    let (_, second) = pull(&bench, &at("invoices/replace"), json!({})).await;
    assert!(first["invoice_id"].is_u64() && first != second);
    assert_eq!(pull(&bench, &at("invoices/reprocess"), json!({})).await.1, second);
    assert_eq!(pull(&bench, &at("invoices/reject"), json!({})).await.0, 200);
    assert_eq!(pull(&bench, &at("invoices"), json!({})).await.0, 200);
    bench.walk(number, &["ready_to_ship"]).await;
    let list = bench.plain(Method::GET, &format!("/_sandbox/{}", at("shipments")), "").await.data();
    let shipment = |what: &str| format!("shipments/loja-1/{}/{what}", list[0].as_str().unwrap());
    assert_eq!(pull(&bench, &shipment("scan"), json!({"status": "in_transit"})).await.0, 200);
    assert_eq!(bench.order(number).await["status"], json!("shipped"));
    assert_eq!(pull(&bench, &shipment("driver-done"), json!({})).await.0, 404, "no driver carries it");
    assert_eq!(pull(&bench, &shipment("carrier"), json!({"kind": "driver"})).await.0, 200);
    assert_eq!(pull(&bench, &shipment("driver-done"), json!({})).await.0, 200);
    assert_eq!(pull(&bench, &shipment("block-labels"), json!({"blocked": true})).await.0, 200);
    assert_eq!(pull(&bench, &at("refund"), json!({})).await.0, 200);
    assert_eq!(pull(&bench, &at("cancel"), json!({"reason": "extravio"})).await.0, 200);
    assert_eq!(pull(&bench, &at("release"), json!({})).await.0, 404, "it waits for no campaign");
    assert_eq!(pull(&bench, "stores/loja-1/auto-preparation", json!({"enabled": true})).await.0, 200);
    assert_eq!(pull(&bench, "stores/loja-1/parent", json!({"parent": null})).await.0, 200);
    let told = bench.plain(Method::GET, "/_sandbox/stores/loja-1/told", "").await.data();
    assert_eq!(told[0]["event"], json!("order.created"));
    assert_eq!(pull(&bench, "orders/loja-1/place", json!({"workflow": "x"})).await.0, 404);
    assert_eq!(pull(&bench, "orders/loja-1/place", json!({"nonsense": 1})).await.0, 422);
}
