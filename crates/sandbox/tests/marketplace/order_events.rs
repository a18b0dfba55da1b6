//! What orders and shipments tell: which event, when, and with which fields.

use crate::support::{Bench, unlimited};
use espelho_sandbox::{Control, NewOrder};
use serde_json::{Value, json};

const STORE: &str = "loja-1";

/// The events told since `from` were.
fn since(control: &Control, from: usize) -> Vec<(String, Value)> {
    control.orders().announced_events(STORE).split_off(from)
}

fn names(told: &[(String, Value)]) -> Vec<&str> {
    told.iter().map(|(event, _)| event.as_str()).collect()
}

fn fields(data: &Value) -> Vec<&str> {
    data.as_object().unwrap().keys().map(String::as_str).collect()
}

fn of<'a>(told: &'a [(String, Value)], event: &str) -> Vec<&'a Value> {
    told.iter().filter(|(name, _)| name == event).map(|(_, data)| data).collect()
}

const WHOLE: [&str; 5] = ["created_at", "customer_id", "order_number", "status", "total_order"];

// proves: EVT-001, EVT-002, EVT-003, EVT-005, EVT-038, STK-001, STK-002, EVT-014
#[tokio::test]
async fn an_order_is_told_when_it_is_placed_and_when_it_is_paid() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder::default().unpaid());
    let order = bench.order(&number).await;
    assert!(order["items"].as_array().unwrap().iter().all(|item| item["stock_status"] == "reserved"));
    let told = since(&control, 0);
    assert_eq!(names(&told), ["order.created"]);
    let created = &told[0].1;
    assert_eq!(fields(created), WHOLE);
    assert_eq!((&created["order_number"], &created["status"]), (&json!(number), &json!("waiting_payment")));
    let total = created["total_order"].as_str().unwrap();
    assert_eq!(total, format!("{:.2}", order["totals"]["order"].as_f64().unwrap()));
    assert_eq!(
        (&created["customer_id"], &created["created_at"]),
        (&order["customer"]["id"], &order["created_at"])
    );
    assert!(control.orders().pay(STORE, &number));
    let told = since(&control, 1);
    assert_eq!(names(&told), ["order.paid", "order.status_changed"], "no line told of its move");
    assert_eq!((fields(&told[0].1), &told[0].1["status"]), (WHOLE.to_vec(), &json!("paid")));
    let changed = json!({"order_number": number, "old_status": "waiting_payment", "new_status": "paid"});
    assert_eq!(told[1].1, changed);
    let order = bench.order(&number).await;
    assert!(order["items"].as_array().unwrap().iter().all(|item| item["stock_status"] == "sold_reserved"));
}

// proves: EVT-004
#[tokio::test]
async fn a_refund_is_told_once() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder::default());
    let before = control.orders().announced_events(STORE).len();
    assert!(control.orders().refund(STORE, &number));
    assert!(!control.orders().refund(STORE, &number));
    let told = since(&control, before);
    assert_eq!(names(&told), ["order.refunded"]);
    assert_eq!(fields(&told[0].1), WHOLE);
    assert_eq!(bench.order(&number).await["payment_status"], json!("refunded"));
}

// proves: EVT-005, EVT-015, STK-003, EVT-017, EVT-019
#[tokio::test]
async fn every_change_of_status_is_told_and_a_dispatch_tells_of_no_line() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder::default());
    bench.walk(&number, &["preparing"]).await;
    control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    let before = control.orders().announced_events(STORE).len();
    bench.ask(&number, "shipped", json!({"tracking_code": "AN9"})).await.data();
    let told = since(&control, before);
    assert!(of(&told, "order.item_stock_status_changed").is_empty());
    let change = json!({"order_number": number, "old_status": "preparing", "new_status": "shipped"});
    assert_eq!(of(&told, "order.status_changed"), [&change]);
    let id = control.shipments().of_order(STORE, &number).remove(0);
    let posted = json!({"shipment_id": id, "order_number": number, "tracking_code": "AN9"});
    assert_eq!(of(&told, "shipment.dispatched"), [&posted]);
    let moved = json!({"shipment_id": id, "order_number": number, "from": "pending", "to": "in_transit"});
    assert_eq!(of(&told, "shipment.status_changed"), [&moved]);
    let order = bench.order(&number).await;
    assert!(order["items"].as_array().unwrap().iter().all(|item| item["stock_status"] == "committed"));
}

fn cancellation(number: &str, previous: &str, reason: &str, was_paid: bool) -> Value {
    json!({"order_number": number, "previous_status": previous, "reason": reason, "was_paid": was_paid})
}

// proves: EVT-006, EVT-020, STK-005
#[tokio::test]
async fn a_cancellation_tells_what_was_before_why_and_whether_it_was_paid() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let paid = control.orders().place(STORE, NewOrder::default());
    let unpaid = control.orders().place(STORE, NewOrder::default().unpaid());
    let sent = control.orders().place(STORE, NewOrder::default());
    bench.walk(&sent, &["preparing"]).await;
    let before = control.orders().announced_events(STORE).len();
    bench.ask(&paid, "cancelled", json!({"reason": "cliente desistiu"})).await.data();
    assert!(control.orders().cancel(STORE, &unpaid, "fraude"));
    assert!(control.orders().cancel(STORE, &sent, "endereço inexistente"));
    let told = since(&control, before);
    let expected = [
        cancellation(&paid, "paid", "cliente desistiu", true),
        cancellation(&unpaid, "waiting_payment", "fraude", false),
        cancellation(&sent, "preparing", "endereço inexistente", true),
    ];
    assert_eq!(of(&told, "order.cancelled"), expected.iter().collect::<Vec<_>>());
    let id = control.shipments().of_order(STORE, &sent).remove(0);
    let shipment = json!({"shipment_id": id, "order_number": sent, "reason": "endereço inexistente"});
    assert_eq!(of(&told, "shipment.cancelled"), [&shipment]);
    let order = bench.order(&paid).await;
    assert!(order["items"].as_array().unwrap().iter().all(|item| item["stock_status"] == "released"));
}

// proves: EVT-007, EVT-008, EVT-009, EVT-010
#[tokio::test]
async fn each_fiscal_document_is_told_once_and_again_when_it_is_replaced_or_processed_anew() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder::default());
    bench.walk(&number, &["preparing"]).await;
    let before = control.orders().announced_events(STORE).len();
    let first = control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    let declared = control.orders().issue_invoice(STORE, &number, "content_declaration").unwrap();
    let second = control.orders().replace_invoice(STORE, &number).unwrap();
    assert_eq!(control.orders().reprocess_invoice(STORE, &number), Some(second));
    let told = since(&control, before);
    let entry = |id: u64, kind: &str| json!({"order_number": number, "invoice_id": id, "invoice_type": kind});
    let expected = [
        entry(first, "nfe"),
        entry(declared, "content_declaration"),
        entry(second, "nfe"),
        entry(second, "nfe"),
    ];
    assert_eq!(of(&told, "order.invoiced"), expected.iter().collect::<Vec<_>>());
    assert!(first != second && told.len() == 4);
}

// proves: EVT-011, EVT-012, EVT-013, ORD-093, ORD-115
#[tokio::test]
async fn a_line_tells_when_it_begins_or_ceases_to_block_the_dispatch() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder::default());
    let before = control.orders().announced_events(STORE).len();
    for status in ["awaiting_restock", "in_production", "sold_reserved", "reserved"] {
        assert!(control.orders().set_line_stock(STORE, &number, 0, status));
    }
    let told = since(&control, before);
    let lines = of(&told, "order.item_stock_status_changed");
    assert_eq!((told.len(), lines.len()), (2, 2), "from one blocking state to the other is no change");
    let order = bench.order(&number).await;
    let item = &order["items"][0];
    let expected = json!({
        "order_number": number,
        "order_status": "paid",
        "order_item_id": item["id"],
        "product_id": item["product_id"],
        "sku": item["sku"],
        "quantity": item["quantity"],
        "old_stock_status": "sold_reserved",
        "new_stock_status": "awaiting_restock",
        "is_blocking_stock": true,
    });
    assert_eq!(*lines[0], expected);
    assert_eq!(
        json!([lines[1]["new_stock_status"], lines[1]["is_blocking_stock"]]),
        json!(["sold_reserved", false])
    );
    assert!(!control.orders().set_line_stock(STORE, &number, 99, "reserved"));
}

// proves: EVT-012, EVT-013
#[tokio::test]
async fn a_backorder_tells_of_the_line_that_it_lacks_and_of_its_arrival() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number = control.orders().place(STORE, NewOrder::of("backorder"));
    let told = control.orders().announced_events(STORE);
    let lines = of(&told, "order.item_stock_status_changed");
    assert_eq!(lines.len(), 1);
    assert_eq!(
        json!([lines[0]["old_stock_status"], lines[0]["new_stock_status"]]),
        json!(["reserved", "awaiting_restock"])
    );
    bench.walk(&number, &["restocked"]).await;
    let told = since(&control, told.len());
    let lines = of(&told, "order.item_stock_status_changed");
    assert_eq!(
        json!([lines[0]["order_status"], lines[0]["new_stock_status"]]),
        json!(["paid", "sold_reserved"])
    );
    assert!(of(&told, "order.paid").is_empty(), "it was paid before");
}

// proves: EVT-016, EVT-017, EVT-018, EVT-019, EVT-020, EVT-039
#[tokio::test]
async fn a_shipment_tells_of_its_way() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let number =
        control.orders().place(STORE, NewOrder { carrier: "platform".into(), ..NewOrder::default() });
    let before = control.orders().announced_events(STORE).len();
    bench.walk(&number, &["preparing"]).await;
    let list = bench.get(&format!("/api/v1/sellers/orders/{number}/shipments")).await.data();
    let shipment = &list["shipments"][0];
    let id = shipment["id"].as_str().unwrap();
    let told = since(&control, before);
    let event =
        json!({"shipment_id": id, "order_number": number, "tracking_code": shipment["tracking_code"]});
    assert_eq!(of(&told, "shipment.created"), [&event]);
    let before = control.orders().announced_events(STORE).len();
    for scan in ["in_transit", "out_for_delivery", "cancelled"] {
        assert!(control.shipments().scan(STORE, id, scan));
    }
    let told = since(&control, before);
    let expected = [
        "shipment.dispatched",
        "shipment.status_changed",
        "shipment.out_for_delivery",
        "shipment.status_changed",
        "shipment.cancelled",
    ];
    assert_eq!(names(&told), expected);
    assert_eq!(told[0].1, event);
    assert_eq!(fields(&told[2].1), ["order_number", "shipment_id", "status", "tracking_code"]);
    assert_eq!(fields(&told[1].1), ["from", "order_number", "shipment_id", "to"]);
    assert_eq!(fields(&told[4].1), ["order_number", "reason", "shipment_id"]);
}

// proves: STK-001, STK-003, STK-005
#[tokio::test]
async fn the_shelf_follows_an_order_that_a_buyer_placed() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let product = bench.get("/api/products?per_page=1").await.data()[0].clone();
    let sku = product["sku"].as_str().unwrap();
    assert!(control.products().set_stock(STORE, sku, 10));
    let shelf = async || {
        let path = format!("/api/products/{}", product["id"].as_str().unwrap());
        let data = bench.get(&path).await.data();
        json!([data["product"]["quantity"], data["product"]["reserved_quantity"]])
    };
    let reserved = shelf().await[1].as_u64().unwrap();
    let order = || NewOrder { lines: vec![(sku.to_owned(), 2)], ..NewOrder::default() };
    let number = control.orders().place(STORE, order());
    assert_eq!(bench.order(&number).await["items"][0]["quantity"], json!(2));
    assert_eq!(shelf().await, json!([10, reserved + 2]));
    assert!(control.orders().cancel(STORE, &number, "desistência"));
    assert_eq!(shelf().await, json!([10, reserved]));
    let number = control.orders().place(STORE, order());
    bench.walk(&number, &["preparing"]).await;
    control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    bench.walk(&number, &["shipped"]).await;
    assert_eq!(shelf().await, json!([8, reserved]));
    let told = control.orders().announced_events(STORE);
    let balance =
        told.iter().any(|(event, data)| event == "product.stock_updated" && data["new_quantity"] == 8);
    assert!(balance, "a dispatch changes the balance");
    let expired = control.orders().place(STORE, order().unpaid());
    assert_eq!(shelf().await, json!([8, reserved + 2]));
    control.forward(3 * 86_400);
    assert_eq!(bench.order(&expired).await["items"][0]["stock_status"], json!("released"));
    assert_eq!(shelf().await, json!([8, reserved]));
}

#[tokio::test]
async fn reading_tells_nothing() {
    let bench = Bench::start(unlimited()).await;
    for row in bench.orders("limit=50").await {
        let number = row["order_number"].as_str().unwrap();
        for view in ["shipments", "tracking", "events"] {
            bench.get(&format!("/api/v1/sellers/orders/{number}/{view}")).await;
        }
    }
    assert_eq!(bench.control().orders().announced_events(STORE), []);
}
