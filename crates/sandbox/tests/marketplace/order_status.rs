//! The status route: what it grants, what it refuses, and how.

use crate::support::{Bench, unlimited};
use espelho_sandbox::{Control, NewOrder};
use reqwest::Method;
use serde_json::{Value, json};

const STORE: &str = "loja-1";

fn placed(control: &Control, order: NewOrder) -> String {
    let number = control.orders().place(STORE, order);
    assert!(!number.is_empty());
    number
}

/// An order in preparation, with a fiscal document.
async fn invoiced(bench: &Bench, carrier: &str) -> String {
    let order = NewOrder { carrier: carrier.to_owned(), ..NewOrder::default() };
    let number = placed(&bench.control(), order);
    bench.walk(&number, &["preparing"]).await;
    assert!(bench.control().orders().issue_invoice(STORE, &number, "nfe").is_some());
    number
}

/// The targets that an order offers.
async fn offers(bench: &Bench, number: &str) -> Vec<String> {
    let data = bench.get(&format!("/api/v1/sellers/orders/{number}/possible-statuses")).await.data();
    let actions = data["next_actions"].as_array().unwrap().clone();
    actions.iter().map(|action| action["target_status"].as_str().unwrap().to_owned()).collect()
}

// proves: ORD-045, ORD-054, ORD-055, FLO-001, FLO-013, FLO-016, FLO-021, FLO-024, FLO-031, ORD-064
#[tokio::test]
async fn the_seller_takes_a_standard_order_from_paid_to_delivered() {
    let bench = Bench::start(unlimited()).await;
    let number = invoiced(&bench, "seller").await;
    for (from, to) in [("preparing", "ready_to_ship"), ("ready_to_ship", "shipped"), ("shipped", "delivered")]
    {
        assert_eq!(bench.order(&number).await["status"], json!(from));
        let reply = bench.ask(&number, to, Value::Null).await;
        let order = reply.data();
        assert_eq!((&order["order_number"], &order["status"]), (&json!(number), &json!(to)));
        assert_eq!(order, bench.order(&number).await, "the answer is the updated order");
    }
    let events = bench.get(&format!("/api/v1/sellers/orders/{number}/events")).await.data();
    let shipped = events.as_array().unwrap().iter().find(|event| event["new_status"] == "shipped").unwrap();
    assert_eq!(shipped["author_type"], json!("seller"));
}

// proves: FLO-012, ERR-012, ERR-013
#[tokio::test]
async fn a_status_outside_the_next_actions_is_refused_and_changes_nothing() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::default());
    let before = bench.get(&format!("/api/v1/sellers/orders/{number}")).await.bytes;
    for target in ["delivered", "paid", "completed", "available", "ready_for_pickup", "nonsense", "picked_up"]
    {
        let errors = bench.ask(&number, target, Value::Null).await.refused(422, "VALIDATION_ERROR");
        let text = errors["status"][0].as_str().unwrap();
        assert!(text.contains("paid") && text.contains(target), "{text}");
    }
    assert_eq!(bench.get(&format!("/api/v1/sellers/orders/{number}")).await.bytes, before);
}

// proves: FLO-012, FLO-030, FLO-042
#[tokio::test]
async fn every_status_is_granted_exactly_where_it_is_offered() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let enums = bench.get("/api/v1/sellers/orders/enums").await.data();
    let values = |key: &str| -> Vec<String> {
        let list = enums[key].as_array().unwrap().iter();
        list.map(|entry| entry["value"].as_str().unwrap().to_owned()).collect()
    };
    let targets = [values("statuses"), vec!["available".to_owned(), "restocked".to_owned()]].concat();
    for workflow in values("workflow_types") {
        for status in values("statuses") {
            let number = placed(&control, NewOrder::of(&workflow));
            assert!(control.orders().set_status(STORE, &number, &status));
            control.orders().issue_invoice(STORE, &number, "nfe");
            let offered = offers(&bench, &number).await;
            for target in &targets {
                // The order is put back before each request, and has a document where it can have one.
                assert!(control.orders().set_status(STORE, &number, &status));
                let data = json!({"reason": "não há mais estoque", "confirmation_code": "1234"});
                let reply = bench.ask(&number, target, data).await;
                let gated = matches!(&**target, "ready_to_ship" | "shipped") && status == "paid";
                let is_granted = offered.contains(target) && target != "paid" && !gated;
                let context = format!("{workflow} {status} {target}");
                assert_eq!(reply.status == 200, is_granted, "{context}");
                assert!(reply.status == 200 || reply.status == 422, "{context}");
            }
        }
    }
}

// proves: ERR-014, FLO-004, FLO-005
#[tokio::test]
async fn data_that_breaks_its_schema_is_refused_by_field() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::default());
    for data in
        [json!({}), json!({"reason": "curto"}), json!({"reason": 5}), json!({"reason": "x".repeat(501)})]
    {
        let errors = bench.ask(&number, "cancelled", data).await.refused(422, "VALIDATION_ERROR");
        assert!(errors["data.reason"][0].is_string(), "{errors}");
    }
    let errors = bench.ask(&number, "cancelled", Value::Null).await.refused(422, "VALIDATION_ERROR");
    assert!(errors["data.reason"][0].is_string());
    let errors = bench.ask(&number, "cancelled", json!("motivo")).await.refused(422, "VALIDATION_ERROR");
    assert!(errors["data"][0].is_string());
    assert_eq!(bench.order(&number).await["status"], json!("paid"));
    let cancelled = bench.ask(&number, "cancelled", json!({"reason": "ã".repeat(10)})).await.data();
    assert_eq!(cancelled["status"], json!("cancelled"));
}

#[tokio::test]
async fn a_body_of_any_shape_is_answered_with_a_refusal() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::default());
    for path in ["status", "notes"] {
        let method = if path == "notes" { Method::PUT } else { Method::POST };
        for body in
            ["", "[]", "null", "{", "\"x\"", "{\"status\":[]}", "{\"status\":1e400}", &"[".repeat(9000)]
        {
            let request = bench
                .http
                .request(method.clone(), bench.url(&format!("/api/v1/sellers/orders/{number}/{path}")));
            let sent = request.bearer_auth(&bench.token).body(body.to_owned()).send().await.unwrap();
            assert_eq!(sent.status().as_u16(), 422, "{path} {body}");
        }
    }
    bench.ask("nobody", "preparing", Value::Null).await.refused(404, "NOT_FOUND");
}

// proves: FLO-018, FLO-020, ERR-018, ERR-019
#[tokio::test]
async fn without_a_fiscal_document_nothing_leaves_the_preparation() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::default());
    bench.walk(&number, &["preparing"]).await;
    for target in ["ready_to_ship", "shipped"] {
        let errors = bench.ask(&number, target, Value::Null).await.refused(422, "VALIDATION_ERROR");
        assert!(errors["fiscal"][0].is_string(), "{errors}");
        assert_eq!(errors.as_object().unwrap().len(), 1);
    }
    assert_eq!(bench.order(&number).await["status"], json!("preparing"));
}

// proves: FLO-017, FLO-019
#[tokio::test]
async fn a_content_declaration_opens_the_gate_as_an_nfe_does() {
    let bench = Bench::start(unlimited()).await;
    for (kind, target) in [("content_declaration", "ready_to_ship"), ("nfe", "shipped")] {
        let number = placed(&bench.control(), NewOrder::default());
        bench.walk(&number, &["preparing"]).await;
        assert!(bench.control().orders().issue_invoice(STORE, &number, kind).is_some());
        assert_eq!(bench.walk(&number, &[target]).await["status"], json!(target));
    }
}

// proves: FLO-015
#[tokio::test]
async fn paid_goes_straight_to_ready_to_ship_behind_the_gate() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::default());
    let errors = bench.ask(&number, "ready_to_ship", Value::Null).await.refused(422, "VALIDATION_ERROR");
    assert!(errors["fiscal"][0].is_string());
    let number = invoiced(&bench, "seller").await;
    assert!(bench.control().orders().set_status(STORE, &number, "paid"));
    assert_eq!(bench.walk(&number, &["ready_to_ship"]).await["status"], json!("ready_to_ship"));
}

// proves: ERR-020, FLO-065
#[tokio::test]
async fn fiscal_emission_opens_with_the_preparation() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let unpaid = placed(&control, NewOrder::default().unpaid());
    let paid = placed(&control, NewOrder::default());
    let cancelled = placed(&control, NewOrder::default());
    assert!(control.orders().cancel(STORE, &cancelled, "fora de linha"));
    for number in [&unpaid, &paid, &cancelled] {
        assert_eq!(control.orders().issue_invoice(STORE, number, "nfe"), None);
    }
    bench.walk(&paid, &["preparing"]).await;
    assert!(control.orders().issue_invoice(STORE, &paid, "nfe").is_some());
}

// proves: FLO-026, FLO-027, FLO-028, FLO-029, ERR-022
#[tokio::test]
async fn the_seller_cancels_before_the_preparation_and_the_platform_after_it_too() {
    let bench = Bench::start(unlimited()).await;
    let reason = json!({"reason": "cliente desistiu"});
    let number = placed(&bench.control(), NewOrder::default());
    assert!(offers(&bench, &number).await.contains(&"cancelled".to_owned()));
    assert_eq!(bench.ask(&number, "cancelled", reason.clone()).await.data()["status"], json!("cancelled"));
    let number = invoiced(&bench, "seller").await;
    for status in ["preparing", "ready_to_ship", "shipped"] {
        if status != "preparing" {
            bench.walk(&number, &[status]).await;
        }
        assert!(!offers(&bench, &number).await.contains(&"cancelled".to_owned()));
        let errors = bench.ask(&number, "cancelled", reason.clone()).await.refused(422, "VALIDATION_ERROR");
        assert!(errors["status"][0].as_str().unwrap().contains(status));
    }
    assert!(bench.control().orders().cancel(STORE, &number, "endereço inexistente"));
    assert_eq!(bench.order(&number).await["status"], json!("cancelled"));
    assert!(!bench.control().orders().cancel(STORE, &number, "outra vez"));
}

// proves: FLO-032, FLO-033, FLO-034, FLO-035, FLO-036, ERR-023, SHP-012
#[tokio::test]
async fn who_carries_an_order_decides_who_confirms_its_delivery() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let shipped = async |carrier: &str| {
        let number = invoiced(&bench, carrier).await;
        bench.walk(&number, &["shipped"]).await;
        let shipment = control.shipments().of_order(STORE, &number).remove(0);
        (number, shipment)
    };
    let confirms = async |number: &str| {
        let list = bench.get(&format!("/api/v1/sellers/orders/{number}/shipments")).await.data();
        let allowed = list["shipments"][0]["allows_manual_confirmation"].as_bool().unwrap();
        let reply = bench.ask(number, "delivered", Value::Null).await;
        if !allowed {
            assert!(reply.refused(422, "VALIDATION_ERROR")["status"][0].is_string());
            assert_eq!(bench.order(number).await["status"], json!("shipped"));
        }
        assert_eq!(allowed, reply.status == 200);
        allowed
    };
    let (platform, _) = shipped("platform").await;
    assert!(!confirms(&platform).await);
    let (nobody, _) = shipped("none").await;
    assert!(confirms(&nobody).await);
    let (done, shipment) = shipped("driver").await;
    assert!(!confirms(&done).await);
    assert!(control.shipments().driver_done(STORE, &shipment));
    assert!(confirms(&done).await);
    let (failed, shipment) = shipped("driver").await;
    assert!(control.shipments().scan(STORE, &shipment, "failed"));
    assert!(confirms(&failed).await);
    let (changed, shipment) = shipped("platform").await;
    assert!(control.shipments().set_carrier(STORE, &shipment, "seller"));
    assert!(confirms(&changed).await);
}

// proves: FLO-003, FLO-023, SHP-007
#[tokio::test]
async fn the_tracking_code_of_a_dispatch_lands_on_the_shipment() {
    let bench = Bench::start(unlimited()).await;
    let number = invoiced(&bench, "seller").await;
    let path = format!("/api/v1/sellers/orders/{number}");
    let long = json!({"tracking_code": "x".repeat(101)});
    let errors = bench.ask(&number, "shipped", long).await.refused(422, "VALIDATION_ERROR");
    assert!(errors["data.tracking_code"][0].is_string());
    let shipments = bench.get(&format!("{path}/shipments")).await.data();
    assert_eq!(shipments["shipments"][0]["tracking_code"], json!(null));
    let code = "Ç".repeat(100);
    assert_eq!(bench.ask(&number, "shipped", json!({"tracking_code": code})).await.status, 200);
    let shipments = bench.get(&format!("{path}/shipments")).await.data();
    assert_eq!(shipments["shipments"][0]["tracking_code"], json!(code));
    let tracking = bench.get(&format!("{path}/tracking")).await.data();
    assert_eq!(tracking["shipments"][0]["tracking_code"], json!(code));
}

// proves: FLO-064, ORD-072
#[tokio::test]
async fn no_route_sets_a_workflow_deletes_an_order_or_does_a_single_action() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::of("backorder"));
    let path = format!("/api/v1/sellers/orders/{number}");
    bench.delete(&path).await.refused(405, "METHOD_NOT_ALLOWED");
    for method in [Method::PUT, Method::PATCH, Method::POST] {
        let reply = bench.send(method, &path, &json!({"workflow_type": "standard"})).await;
        reply.refused(405, "METHOD_NOT_ALLOWED");
    }
    for action in ["cancel", "ship", "deliver", "prepare"] {
        bench.post(&format!("{path}/{action}"), &json!({})).await.refused(404, "NOT_FOUND");
    }
    let body =
        json!({"status": "restocked", "workflow_type": "standard", "data": {"workflow_type": "standard"}});
    let order = bench.post(&format!("{path}/status"), &body).await.data();
    assert_eq!(order["workflow_type"], json!("backorder"));
}
