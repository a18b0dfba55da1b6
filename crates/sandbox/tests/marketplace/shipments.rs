//! The shipments of an order.

use std::collections::BTreeSet;

use crate::support::{Bench, unlimited};
use espelho_sandbox::NewOrder;
use serde_json::{Value, json};

const STORE: &str = "loja-1";

async fn shipments(bench: &Bench, number: &str) -> Vec<Value> {
    let data = bench.get(&format!("/api/v1/sellers/orders/{number}/shipments")).await.data();
    data["shipments"].as_array().unwrap().clone()
}

// proves: SHP-001, SHP-002, SHP-003, SHP-004, SHP-005, SHP-006, SHP-008, SHP-009, SHP-010, SHP-011, SHP-013
#[tokio::test]
async fn generated_orders_have_the_shipments_that_their_status_asks_for() {
    let bench = Bench::start(unlimited()).await;
    let enums = bench.get("/api/v1/sellers/orders/enums").await.data();
    let known = |key: &str, value: &Value| {
        enums[key].as_array().unwrap().iter().any(|entry| entry["value"] == *value)
    };
    let (mut ids, mut carriers, mut most) = (BTreeSet::new(), BTreeSet::new(), 0);
    for row in bench.orders("").await {
        let number = row["order_number"].as_str().unwrap();
        let status = row["status"].as_str().unwrap();
        let reply = bench.get(&format!("/api/v1/sellers/orders/{number}/shipments")).await;
        let is_sent =
            ["preparing", "ready", "shipped", "delivered", "completed", "picked_up", "pickup_expired"];
        if !is_sent.iter().any(|start| status.starts_with(start)) {
            reply.refused(404, "NOT_FOUND");
            continue;
        }
        let list = shipments(&bench, number).await;
        most = most.max(list.len());
        for shipment in list {
            let id = shipment["id"].as_str().unwrap();
            assert!(
                id.len() == 26 && id.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
            );
            assert!(ids.insert(id.to_owned()));
            assert!(
                known("shipment_types", &shipment["type"]) && known("shipment_statuses", &shipment["status"])
            );
            let is_pickup = row["delivery_method"] == "pickup";
            assert_eq!(shipment["is_pickup"], json!(is_pickup));
            assert_eq!(shipment["type"], json!(if is_pickup { "pickup" } else { "sales_order" }));
            if is_pickup {
                assert_eq!((&shipment["carrier"], &shipment["tracking_code"]), (&json!(null), &json!(null)));
            } else {
                assert!(shipment["carrier"]["id"].is_u64());
                carriers.insert(shipment["carrier"]["name"].as_str().unwrap().to_owned());
                assert_eq!(
                    shipment["carrier"]["name"],
                    bench.order(number).await["shipping"]["carrier_name"]
                );
            }
            assert!(shipment["labels"].is_array() && shipment["labels_ready"].is_u64());
            assert!(shipment["labels_total"].is_u64());
            assert!(shipment["label_generation_blocked"].is_boolean());
            assert!(shipment["allows_manual_confirmation"].is_boolean());
        }
    }
    assert!(carriers.len() >= 4 && most == 2, "{carriers:?} {most}");
}

// proves: SHP-002, SHP-013
#[tokio::test]
async fn shipments_come_into_being_with_the_preparation() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.control().orders().place(STORE, NewOrder { shipments: 3, ..NewOrder::default() });
    bench.get(&format!("/api/v1/sellers/orders/{number}/shipments")).await.refused(404, "NOT_FOUND");
    bench.walk(&number, &["preparing"]).await;
    let list = shipments(&bench, &number).await;
    assert_eq!(list.len(), 3);
    assert!(list.iter().all(|shipment| shipment["status"] == "pending"));
    let ids: BTreeSet<_> = list.iter().map(|shipment| shipment["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn shipments_follow_their_order() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder { shipments: 2, ..NewOrder::default() });
    bench.walk(&number, &["preparing"]).await;
    control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    for (status, expected) in
        [("ready_to_ship", "ready_to_ship"), ("shipped", "in_transit"), ("delivered", "delivered")]
    {
        bench.walk(&number, &[status]).await;
        let list = shipments(&bench, &number).await;
        assert!(list.iter().all(|shipment| shipment["status"] == expected), "{status}: {list:?}");
    }
}

#[tokio::test]
async fn what_a_carrier_tells_shows_on_the_shipment() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder { carrier: "driver".into(), ..NewOrder::default() });
    bench.walk(&number, &["preparing"]).await;
    let id = control.shipments().of_order(STORE, &number).remove(0);
    for (scan, expected) in [
        ("in_transit", "in_transit"),
        ("out_for_delivery", "in_transit"),
        ("failed", "failed"),
        ("cancelled", "cancelled"),
    ] {
        assert!(control.shipments().scan(STORE, &id, scan));
        assert_eq!(shipments(&bench, &number).await[0]["status"], json!(expected));
    }
    assert!(!control.shipments().scan(STORE, &id, "in_transit"), "it was cancelled");
    assert!(!control.shipments().scan(STORE, &id, "lost") && !control.shipments().scan(STORE, "x", "failed"));
    assert!(control.shipments().block_labels(STORE, &id, true));
    assert_eq!(shipments(&bench, &number).await[0]["label_generation_blocked"], json!(true));
}

// proves: SHP-012
#[tokio::test]
async fn a_pickup_is_nobodys_to_confirm_by_hand() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.control().orders().place(STORE, NewOrder::of("in_store_pickup"));
    bench.walk(&number, &["preparing", "ready_for_pickup"]).await;
    let shipment = shipments(&bench, &number).await.remove(0);
    assert_eq!(shipment["allows_manual_confirmation"], json!(false));
    assert_eq!((&shipment["is_pickup"], &shipment["carrier"]), (&json!(true), &json!(null)));
    bench.ask(&number, "delivered", Value::Null).await.refused(422, "VALIDATION_ERROR");
    assert!(!bench.control().shipments().set_carrier(STORE, shipment["id"].as_str().unwrap(), "seller"));
}

#[tokio::test]
async fn a_generated_shipment_is_known_by_its_id_before_anybody_listed_it() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.orders("status=shipped&workflow=standard").await[0]["order_number"]
        .as_str()
        .unwrap()
        .to_owned();
    let id = bench.control().shipments().of_order(STORE, &number).remove(0);
    let fresh = Bench::start(unlimited()).await;
    assert!(fresh.control().shipments().scan(STORE, &id, "delivered"));
    assert_eq!(shipments(&fresh, &number).await[0]["status"], json!("delivered"));
}

// proves: SHP-035
#[tokio::test]
async fn the_lines_of_an_order_are_all_of_its_own_store() {
    let bench = Bench::start(unlimited()).await;
    for row in bench.orders("").await {
        let order = bench.order(row["order_number"].as_str().unwrap()).await;
        for item in order["items"].as_array().unwrap() {
            let id = item["product_id"].as_str().unwrap();
            assert_eq!(bench.get(&format!("/api/products/{id}")).await.status, 200);
        }
    }
}
