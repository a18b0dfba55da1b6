//! The six workflows from their first status to their last, and what moves by itself on the way.

use crate::support::{Bench, unlimited};
use espelho_sandbox::{Control, NewOrder};
use serde_json::{Value, json};

const STORE: &str = "loja-1";
/// Longer than a round of the marketplace's jobs.
const ROUND: u32 = 60;

fn placed(control: &Control, order: NewOrder) -> String {
    let number = control.orders().place(STORE, order);
    assert!(!number.is_empty());
    number
}

async fn status(bench: &Bench, number: &str) -> String {
    bench.order(number).await["status"].as_str().unwrap().to_owned()
}

async fn events(bench: &Bench, number: &str) -> Vec<Value> {
    let data = bench.get(&format!("/api/v1/sellers/orders/{number}/events")).await.data();
    data.as_array().unwrap().clone()
}

/// Takes an order in preparation to its delivery by the seller.
async fn follows_the_standard_track(bench: &Bench, number: &str) {
    assert!(bench.control().orders().issue_invoice(STORE, number, "nfe").is_some());
    let order = bench.walk(number, &["ready_to_ship", "shipped", "delivered"]).await;
    assert_eq!(order["status"], json!("delivered"));
}

// proves: FLO-014
#[tokio::test]
async fn auto_preparation_moves_what_is_paid_after_it_was_switched_on() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let before = placed(&control, NewOrder::default());
    control.forward(ROUND);
    assert!(control.orders().set_auto_preparation(STORE, true));
    let after = placed(&control, NewOrder::default());
    assert_eq!(status(&bench, &after).await, "paid");
    control.forward(ROUND);
    assert_eq!((&*status(&bench, &before).await, &*status(&bench, &after).await), ("paid", "preparing"));
    let last = events(&bench, &after).await.pop().unwrap();
    assert_eq!((&last["author_type"], &last["new_status"]), (&json!("system"), &json!("preparing")));
    let production = placed(&control, NewOrder::of("production"));
    control.forward(ROUND);
    assert_eq!(status(&bench, &production).await, "paid", "a production begins with its start");
}

// proves: FLO-022, FLO-025
#[tokio::test]
async fn the_carriers_scans_ship_and_deliver_an_order() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number =
        placed(&control, NewOrder { carrier: "platform".into(), shipments: 2, ..NewOrder::default() });
    bench.walk(&number, &["preparing"]).await;
    let shipments = control.shipments().of_order(STORE, &number);
    assert_eq!(shipments.len(), 2);
    control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    bench.walk(&number, &["ready_to_ship"]).await;
    assert!(control.shipments().scan(STORE, &shipments[0], "in_transit"));
    assert_eq!(status(&bench, &number).await, "shipped");
    assert!(control.shipments().scan(STORE, &shipments[0], "delivered"));
    assert_eq!(status(&bench, &number).await, "shipped", "the other one is not there yet");
    assert!(control.shipments().scan(STORE, &shipments[1], "in_transit"));
    assert!(control.shipments().scan(STORE, &shipments[1], "delivered"));
    let order = bench.order(&number).await;
    assert_eq!(order["status"], json!("delivered"));
    let last = events(&bench, &number).await.pop().unwrap();
    assert_eq!(last["author_type"], json!("system"));
    assert!(!control.shipments().scan(STORE, &shipments[1], "failed"), "it has arrived");
}

#[tokio::test]
async fn a_scan_of_the_sellers_own_carrier_does_not_ship_an_order() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = placed(&control, NewOrder::default());
    bench.walk(&number, &["preparing"]).await;
    control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    bench.walk(&number, &["ready_to_ship"]).await;
    assert!(control.shipments().scan(STORE, &control.shipments().of_order(STORE, &number)[0], "in_transit"));
    assert_eq!(status(&bench, &number).await, "ready_to_ship");
}

// proves: FLO-037, FLO-038, FLO-039, FLO-041, FLO-042, ORD-104
#[tokio::test]
async fn a_pickup_ends_delivered_by_itself() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::of("in_store_pickup"));
    let ready = bench.walk(&number, &["preparing", "ready_for_pickup"]).await;
    assert_eq!((&ready["delivery_method"], &ready["picked_up_at"]), (&json!("pickup"), &json!(null)));
    let errors = bench.ask(&number, "picked_up", json!({})).await.refused(422, "VALIDATION_ERROR");
    assert!(errors["data.confirmation_code"][0].is_string());
    let order = bench.ask(&number, "picked_up", json!({"confirmation_code": "4711"})).await.data();
    assert_eq!(order["status"], json!("picked_up"));
    assert!(order["picked_up_at"].is_string() && order["pickup_address"].is_object());
    bench.ask(&number, "delivered", Value::Null).await.refused(422, "VALIDATION_ERROR");
    bench.control().forward(ROUND);
    assert_eq!(status(&bench, &number).await, "delivered");
    for row in bench.orders("").await {
        let order = bench.order(row["order_number"].as_str().unwrap()).await;
        let is_pickup = order["delivery_method"] == json!("pickup");
        assert_eq!(order["pickup_address"].is_object(), is_pickup, "{order}");
        assert!(is_pickup || order["picked_up_at"].is_null(), "{order}");
    }
}

// proves: FLO-010, FLO-011, FLO-040, FLO-043
#[tokio::test]
async fn an_expired_pickup_moves_on_to_cancelled() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::of("in_store_pickup"));
    bench.walk(&number, &["preparing", "ready_for_pickup"]).await;
    let errors = bench.ask(&number, "pickup_expired", json!({"reason": "tarde"})).await;
    assert!(errors.refused(422, "VALIDATION_ERROR")["data.reason"][0].is_string());
    let reason = json!({"reason": "ninguém veio buscar"});
    assert_eq!(
        bench.ask(&number, "pickup_expired", reason.clone()).await.data()["status"],
        json!("pickup_expired")
    );
    assert_eq!(bench.ask(&number, "cancelled", reason).await.data()["status"], json!("cancelled"));
}

// proves: FLO-044, FLO-046, FLO-047, FLO-048, FLO-049, FLO-050, FLO-057, ORD-085
#[tokio::test]
async fn a_collective_order_waits_for_the_end_of_its_campaign_and_is_released() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = placed(&control, NewOrder { release_after: 3600, ..NewOrder::of("collective") });
    assert_eq!(status(&bench, &number).await, "paid");
    control.forward(ROUND);
    let waiting = bench.order(&number).await;
    assert_eq!(waiting["status"], json!("awaiting_campaign_conclusion"));
    assert!(waiting["release_at"].as_str().unwrap() > waiting["created_at"].as_str().unwrap());
    let entered = events(&bench, &number).await.pop().unwrap();
    assert_eq!(entered["author_type"], json!("system"));
    assert_eq!(entered["new_status"], json!("awaiting_campaign_conclusion"));
    control.forward(3600 - ROUND - 1);
    assert_eq!(status(&bench, &number).await, "awaiting_campaign_conclusion", "a second is left");
    control.forward(1);
    assert_eq!(status(&bench, &number).await, "preparing", "nobody counted how many had bought");
    let released = events(&bench, &number).await.pop().unwrap();
    assert_eq!(released["author_type"], json!("system"));
    assert!(released["description"].as_str().unwrap().contains("automática"), "{released}");
    assert_eq!(released["metadata"], json!({"automatic_release": true}));
    follows_the_standard_track(&bench, &number).await;
}

/// A collective order that waits.
async fn waiting(bench: &Bench) -> String {
    let number = placed(&bench.control(), NewOrder::of("collective"));
    bench.control().forward(ROUND);
    assert_eq!(status(bench, &number).await, "awaiting_campaign_conclusion");
    number
}

// proves: FLO-045, FLO-051, FLO-052, FLO-053, FLO-054, FLO-055, FLO-056, ERR-021, ERR-024
#[tokio::test]
async fn during_the_collective_wait_the_seller_releases_or_cancels_and_nothing_else() {
    let bench = Bench::start(unlimited()).await;
    let (released, cancelled) = (waiting(&bench).await, waiting(&bench).await);
    let order = bench.order(&released).await;
    assert_eq!(order["status_label"], json!("Aguardando Campanha"));
    assert_eq!(order["customer_data_released"], json!(true));
    let path = format!("/api/v1/sellers/orders/{released}/possible-statuses");
    let actions = bench.get(&path).await.data()["next_actions"].clone();
    assert!(actions.as_array().unwrap().iter().any(|action| action["target_status"] == "paid"));
    let errors = bench.ask(&released, "paid", Value::Null).await.refused(422, "VALIDATION_ERROR");
    assert!(errors["status"][0].as_str().unwrap().contains("awaiting_campaign_conclusion"));
    assert_eq!(bench.control().orders().issue_invoice(STORE, &released, "nfe"), None);
    let reason = json!({"reason": "dez letras"});
    let short = bench.ask(&cancelled, "cancelled", json!({"reason": "nove letr"})).await;
    short.refused(422, "VALIDATION_ERROR");
    assert_eq!(bench.ask(&cancelled, "cancelled", reason.clone()).await.status, 200);
    assert_eq!(bench.walk(&released, &["preparing"]).await["status"], json!("preparing"));
    bench.ask(&released, "cancelled", reason).await.refused(422, "VALIDATION_ERROR");
    bench.control().forward(2 * 86_400);
    assert_eq!(status(&bench, &released).await, "preparing", "the release finds nothing to do");
    assert_eq!(status(&bench, &cancelled).await, "cancelled");
}

// proves: FLO-058, FLO-059
#[tokio::test]
async fn a_pre_order_becomes_paid_when_it_is_available() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::of("pre_order"));
    assert_eq!(status(&bench, &number).await, "awaiting_availability");
    assert_eq!(bench.walk(&number, &["available"]).await["status"], json!("paid"));
    bench.walk(&number, &["preparing"]).await;
    follows_the_standard_track(&bench, &number).await;
}

// proves: FLO-060, FLO-061, ORD-116, STK-004
#[tokio::test]
async fn a_backorder_becomes_paid_when_it_is_restocked() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::of("backorder"));
    let order = bench.order(&number).await;
    assert_eq!((&order["status"], &order["type"]), (&json!("awaiting_restock"), &json!("standard")));
    assert_eq!(order["items"][0]["stock_status"], json!("awaiting_restock"));
    let order = bench.walk(&number, &["restocked"]).await;
    assert_eq!(
        (&order["status"], &order["items"][0]["stock_status"]),
        (&json!("paid"), &json!("sold_reserved"))
    );
    bench.walk(&number, &["preparing"]).await;
    follows_the_standard_track(&bench, &number).await;
}

// proves: FLO-002, FLO-006, FLO-007, FLO-062, FLO-063
#[tokio::test]
async fn a_production_order_takes_the_standard_track_after_its_production() {
    let bench = Bench::start(unlimited()).await;
    let number = placed(&bench.control(), NewOrder::of("production"));
    let errors = bench.ask(&number, "production_started", json!({"estimated_days": 0})).await;
    assert!(errors.refused(422, "VALIDATION_ERROR")["data.estimated_days"][0].is_string());
    let started = bench.ask(&number, "production_started", json!({"estimated_days": 3})).await.data();
    assert_eq!(started["items"][0]["stock_status"], json!("in_production"));
    let errors = bench.ask(&number, "awaiting_materials", json!({"materials": [1]})).await;
    assert!(errors.refused(422, "VALIDATION_ERROR")["data.materials.0"][0].is_string());
    bench.ask(&number, "awaiting_materials", json!({"materials": ["tecido"]})).await.data();
    let order = bench.walk(&number, &["production_in_progress", "production_finished"]).await;
    assert_eq!(order["items"][0]["is_blocking_stock"], json!(false));
    bench.walk(&number, &["preparing"]).await;
    follows_the_standard_track(&bench, &number).await;
}

#[tokio::test]
async fn an_order_that_nobody_pays_expires() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = placed(&control, NewOrder::default().unpaid());
    let paid_late = placed(&control, NewOrder::default().unpaid());
    control.forward(3 * 86_400 - 1);
    assert_eq!(status(&bench, &number).await, "waiting_payment");
    assert!(control.orders().pay(STORE, &paid_late));
    control.forward(1);
    let order = bench.order(&number).await;
    assert_eq!((&order["status"], &order["payment_status"]), (&json!("payment_expired"), &json!("expired")));
    assert_eq!(status(&bench, &paid_late).await, "paid");
    assert!(!control.orders().pay(STORE, &number));
}

#[tokio::test]
async fn generated_orders_stand_still_until_somebody_touches_them() {
    let bench = Bench::start(unlimited()).await;
    let before = bench.orders("").await;
    bench.control().forward(40 * 86_400);
    let bench = Bench { token: bench.login().await, ..bench };
    assert_eq!(bench.orders("").await, before);
    let number = bench.orders("status=waiting_payment").await[0]["order_number"].as_str().unwrap().to_owned();
    assert!(bench.control().orders().set_status(STORE, &number, "waiting_payment"));
    bench.control().forward(ROUND);
    assert_eq!(status(&bench, &number).await, "payment_expired", "it was touched, and long due");
}

#[tokio::test]
async fn the_money_of_a_cancelled_order_goes_back_by_itself() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let (paid, unpaid) =
        (placed(&control, NewOrder::default()), placed(&control, NewOrder::default().unpaid()));
    for number in [&paid, &unpaid] {
        assert!(control.orders().cancel(STORE, number, "sem estoque"));
    }
    assert_eq!(bench.order(&paid).await["payment_status"], json!("approved"));
    control.forward(ROUND);
    assert_eq!(bench.order(&paid).await["payment_status"], json!("refunded"));
    assert_eq!(bench.order(&unpaid).await["payment_status"], json!("expired"));
    assert!(!control.orders().refund(STORE, &paid) && !control.orders().refund(STORE, &unpaid));
}
