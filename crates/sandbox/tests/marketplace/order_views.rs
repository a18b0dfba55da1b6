//! What can be read of an order besides itself: tracking, timeline, money, notes, fiscal documents.

use crate::support::{Bench, unlimited};
use espelho_sandbox::NewOrder;
use serde_json::{Value, json};

const STORE: &str = "loja-1";

async fn view(bench: &Bench, number: &str, view: &str) -> Value {
    bench.get(&format!("/api/v1/sellers/orders/{number}/{view}")).await.data()
}

async fn numbers(bench: &Bench, query: &str) -> Vec<String> {
    let rows = bench.orders(query).await;
    rows.iter().map(|row| row["order_number"].as_str().unwrap().to_owned()).collect()
}

fn cents(value: &Value) -> i64 {
    (value.as_f64().unwrap() * 100.0).round() as i64
}

// proves: ORD-059, ORD-060, ORD-061
#[tokio::test]
async fn tracking_gathers_the_shipments_and_leaves_the_order_level_null() {
    let bench = Bench::start(unlimited()).await;
    let mut coded = 0;
    for number in numbers(&bench, "status=shipped,delivered,paid,picked_up").await {
        let (order, tracking) = (bench.order(&number).await, view(&bench, &number, "tracking").await);
        assert_eq!(tracking["status"], order["status"]);
        assert_eq!(tracking["delivered_at"].is_string(), order["status"] == "delivered");
        let was_picked_up = order.get("picked_up_at").is_some_and(Value::is_string);
        assert_eq!(tracking["picked_up_at"].is_string(), was_picked_up);
        for field in ["tracking_code", "tracking_url", "estimated_delivery_at"] {
            assert_eq!(tracking[field], json!(null));
        }
        for shipment in tracking["shipments"].as_array().unwrap() {
            assert_eq!(shipment["tracking_url"].is_string(), shipment["tracking_code"].is_string());
            coded += usize::from(shipment["tracking_code"].is_string());
            let steps = shipment["steps"].as_array().unwrap();
            assert_eq!(steps.last().unwrap()["status"], shipment["status"]);
            let times: Vec<_> = steps.iter().map(|step| step["occurred_at"].as_str().unwrap()).collect();
            assert!(times.is_sorted(), "{times:?}");
            let is_pickup = order["delivery_method"] == "pickup";
            assert_eq!(shipment["estimated_delivery_at"].is_string(), !is_pickup);
        }
        assert_eq!(tracking["shipments"] == json!([]), order["status"] == "paid");
    }
    assert!(coded > 0);
}

// proves: ORD-062, ORD-063
#[tokio::test]
async fn every_generated_order_has_a_past_that_ends_in_its_status() {
    let bench = Bench::start(unlimited()).await;
    for number in numbers(&bench, "").await {
        let (order, events) = (bench.order(&number).await, view(&bench, &number, "events").await);
        let events = events.as_array().unwrap();
        let changes: Vec<_> = events.iter().filter(|event| event["type"] == "status_change").collect();
        assert_eq!(changes.first().unwrap()["old_status"], json!(null));
        assert_eq!(changes.last().unwrap()["new_status"], order["status"], "{number}");
        for pair in changes.windows(2) {
            assert_eq!(pair[1]["old_status"], pair[0]["new_status"]);
        }
        for event in events {
            assert!(["seller", "system", "admin"].contains(&event["author_type"].as_str().unwrap()));
            assert!(!event["author_name"].as_str().unwrap().is_empty());
            assert!(event["metadata"].is_null() || event["metadata"].is_object());
        }
        let is_noted = events.iter().any(|event| event["type"] == "note");
        assert_eq!(is_noted, order["notes"].is_string());
        let is_invoiced = events.iter().any(|event| event["type"] == "fiscal");
        assert_eq!(is_invoiced, order["invoices"] != json!([]));
        let times: Vec<_> = events.iter().map(|event| event["created_at"].as_str().unwrap()).collect();
        assert!(times.is_sorted(), "{times:?}");
    }
}

// proves: ORD-062, ORD-064
#[tokio::test]
async fn the_timeline_says_who_did_what_and_why() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.control().orders().place(STORE, NewOrder::default());
    bench.walk(&number, &["preparing"]).await;
    bench.control().orders().issue_invoice(STORE, &number, "nfe").unwrap();
    bench.ask(&number, "shipped", json!({"tracking_code": "AN1"})).await.data();
    bench.control().orders().cancel(STORE, &number, "extraviado");
    let events = view(&bench, &number, "events").await;
    let told: Vec<_> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| json!([event["type"], event["new_status"], event["author_type"]]))
        .collect();
    let expected = [
        json!(["status_change", "waiting_payment", "system"]),
        json!(["status_change", "paid", "system"]),
        json!(["status_change", "preparing", "seller"]),
        json!(["fiscal", null, "seller"]),
        json!(["status_change", "shipped", "seller"]),
        json!(["status_change", "cancelled", "admin"]),
    ];
    assert_eq!(told, expected);
    assert_eq!(events[4]["metadata"], json!({"tracking_code": "AN1"}));
    assert_eq!(events[5]["metadata"], json!({"reason": "extraviado"}));
    let ids: std::collections::BTreeSet<_> =
        events.as_array().unwrap().iter().map(|event| event["id"].to_string()).collect();
    assert_eq!(ids.len(), 6);
}

// proves: ORD-066, ORD-067, ORD-068
#[tokio::test]
async fn the_splits_of_every_order_add_up_to_its_total_to_the_cent() {
    let bench = Bench::start(unlimited()).await;
    let mut agents = 0;
    for number in numbers(&bench, "").await {
        let (order, money) = (bench.order(&number).await, view(&bench, &number, "financial").await);
        let splits = money["splits"].as_array().unwrap();
        let kinds: Vec<_> = splits.iter().map(|split| split["type"].as_str().unwrap()).collect();
        let has_agent = order["channel"] == "store_seller";
        agents += usize::from(has_agent);
        let expected: &[&str] =
            if has_agent { &["seller", "marketplace", "sales_agent"] } else { &["seller", "marketplace"] };
        assert_eq!(kinds, expected);
        let sum: i64 = splits.iter().map(|split| cents(&split["amount"])).sum();
        assert_eq!(sum, cents(&order["totals"]["order"]), "{number}");
        let audit = money["commission_audit"].as_array().unwrap();
        let lines: Vec<_> = order["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
        assert_eq!(audit.iter().map(|line| &line["order_item_id"]).collect::<Vec<_>>(), lines);
        let commission: i64 = audit.iter().map(|line| cents(&line["commission_value"])).sum();
        assert_eq!(commission, cents(&splits[1]["amount"]));
        assert_eq!(money["applied_benefits"], order["applied_benefits"]);
    }
    assert!(agents > 0);
}

// proves: ORD-065, ORD-069, ORD-070, ORD-105
#[tokio::test]
async fn notes_are_replaced_as_a_whole_and_cleared_by_null() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.control().orders().place(STORE, NewOrder::default());
    let path = format!("/api/v1/sellers/orders/{number}/notes");
    let before = view(&bench, &number, "events").await.as_array().unwrap().len();
    let long = "observação – 📦\n".repeat(200);
    for notes in [json!("primeira"), json!(long), json!(""), json!(null)] {
        let order = bench.put(&path, &json!({"notes": notes})).await.data();
        assert_eq!(order["notes"], notes);
        assert_eq!(bench.order(&number).await["notes"], notes);
    }
    let events = view(&bench, &number, "events").await;
    let events = events.as_array().unwrap();
    assert_eq!(events.len(), before + 4);
    assert!(events[before..].iter().all(|event| event["type"] == "note" && event["author_type"] == "seller"));
    for body in [json!({}), json!({"notes": 5}), json!({"notes": ["x"]})] {
        let errors = bench.put(&path, &body).await.refused(422, "VALIDATION_ERROR");
        assert!(errors["notes"][0].is_string());
    }
    bench.put("/api/v1/sellers/orders/nobody/notes", &json!({"notes": "x"})).await.refused(404, "NOT_FOUND");
}

// proves: ORD-071, ORD-097, ORD-098
#[tokio::test]
async fn a_replaced_note_is_told_from_the_current_one_by_the_fiscal_route_alone() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder::default());
    assert_eq!(view(&bench, &number, "fiscal").await["documents"], json!([]));
    bench.walk(&number, &["preparing"]).await;
    assert_eq!(control.orders().replace_invoice(STORE, &number), None, "there is none to replace");
    let first = control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    let second = control.orders().replace_invoice(STORE, &number).unwrap();
    assert_ne!(first, second);
    let documents = view(&bench, &number, "fiscal").await["documents"].clone();
    assert_eq!((&documents[0]["id"], &documents[1]["id"]), (&json!(first), &json!(second)));
    assert!(documents[0]["replaced_at"].is_string());
    assert_eq!(documents[1]["replaced_at"], json!(null));
    let invoices = bench.order(&number).await["invoices"].clone();
    assert_eq!(invoices.as_array().unwrap().len(), 2);
    for (invoice, document) in invoices.as_array().unwrap().iter().zip(documents.as_array().unwrap()) {
        let fields: Vec<_> = invoice.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["invoice_number", "pdf_url", "status", "type"]);
        assert_eq!(invoice["invoice_number"], document["invoice_number"]);
    }
}

#[tokio::test]
async fn a_rejected_document_opens_no_gate() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder::default());
    bench.walk(&number, &["preparing"]).await;
    assert!(!control.orders().reject_invoice(STORE, &number), "there is none to reject");
    control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    assert!(control.orders().reject_invoice(STORE, &number));
    let documents = view(&bench, &number, "fiscal").await["documents"].clone();
    assert_eq!((&documents[0]["status"], &documents[0]["replaced_at"]), (&json!("rejected"), &json!(null)));
    assert_eq!(bench.order(&number).await["invoices"][0]["status"], json!("rejected"));
    assert_eq!(bench.ask(&number, "ready_to_ship", Value::Null).await.status, 422);
    control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    bench.walk(&number, &["ready_to_ship"]).await;
}

// proves: ORD-071
#[tokio::test]
async fn the_fiscal_route_agrees_with_the_order_everywhere() {
    let bench = Bench::start(unlimited()).await;
    for number in numbers(&bench, "").await {
        let invoices = bench.order(&number).await["invoices"].clone();
        let documents = view(&bench, &number, "fiscal").await["documents"].clone();
        let brief = |list: &Value| -> Vec<Value> {
            let list = list.as_array().unwrap().iter();
            list.map(|entry| json!([entry["type"], entry["status"], entry["invoice_number"]])).collect()
        };
        assert_eq!(brief(&invoices), brief(&documents));
        assert!(documents.as_array().unwrap().iter().all(|document| document.get("replaced_at").is_some()));
    }
}

// proves: ORD-046, ERR-007
#[tokio::test]
async fn no_view_knows_an_order_that_does_not_exist() {
    let bench = Bench::start(unlimited()).await;
    for view in ["tracking", "events", "financial", "fiscal", "shipments", "possible-statuses"] {
        bench.get(&format!("/api/v1/sellers/orders/nobody/{view}")).await.refused(404, "NOT_FOUND");
    }
}
