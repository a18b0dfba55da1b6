//! The order routes: what a row and a detail hold, and that the world is the same every time.

use std::collections::BTreeSet;

use crate::support::{Bench, unlimited};
use espelho_sandbox::Options;
use serde_json::{Value, json};

#[tokio::test]
async fn a_listing_row_is_a_summary_without_items() {
    let bench = Bench::start(unlimited()).await;
    for row in bench.orders("").await {
        let row = row.as_object().unwrap();
        for field in [
            "order_number",
            "status",
            "status_label",
            "status_color",
            "workflow_type",
            "type",
            "channel",
            "delivery_method",
            "customer",
            "totals",
            "items_count",
            "lines_count",
            "items_preview",
            "payment_method",
            "payment_method_label",
            "payment_status",
            "payment_status_label",
            "is_collective",
            "is_awaiting_campaign",
            "release_at",
            "created_at",
            "updated_at",
        ] {
            assert!(row.contains_key(field), "{field} in {row:?}");
        }
        assert!(!row.contains_key("items"));
        assert!(row["items_preview"].as_array().unwrap().len() <= 3);
    }
}

// proves: ORD-044, ORD-045, ORD-082, ORD-083, ORD-084, ORD-094, ORD-101
#[tokio::test]
async fn a_detail_agrees_with_its_row() {
    let bench = Bench::start(unlimited()).await;
    for row in bench.orders("").await {
        let detail = bench.order(row["order_number"].as_str().unwrap()).await;
        for field in
            ["status", "status_label", "totals", "items_count", "lines_count", "created_at", "updated_at"]
        {
            assert_eq!(row[field], detail[field]);
        }
        let items = detail["items"].as_array().unwrap();
        assert_eq!(json!(items.len()), detail["lines_count"]);
        let units: u64 = items.iter().map(|item| item["quantity"].as_u64().unwrap()).sum();
        assert_eq!(json!(units), detail["items_count"]);
        check_shortcuts(&detail);
    }
}

/// The fields that the document defines by other fields.
fn check_shortcuts(detail: &Value) {
    assert_eq!(detail["is_collective"], json!(detail["workflow_type"] == "collective"));
    assert_eq!(detail["is_awaiting_campaign"], json!(detail["status"] == "awaiting_campaign_conclusion"));
    assert_eq!(detail["is_production_order"], json!(detail["workflow_type"] == "production"));
    assert_eq!(detail.get("payment_expires_at").is_some(), detail["status"] == "waiting_payment");
    assert_eq!(detail.get("pickup_address").is_some(), detail["delivery_method"] == "pickup");
    for item in detail["items"].as_array().unwrap() {
        let blocking = matches!(item["stock_status"].as_str().unwrap(), "awaiting_restock" | "in_production");
        assert_eq!(item["is_blocking_stock"], json!(blocking));
    }
}

// proves: ORD-021, ORD-022, ORD-079
#[tokio::test]
async fn every_status_and_workflow_occurs_in_the_default_world() {
    let bench = Bench::start(unlimited()).await;
    let enums = bench.get("/api/v1/sellers/orders/enums").await.data();
    let rows = bench.orders("").await;
    for (key, field) in [("statuses", "status"), ("workflow_types", "workflow_type")] {
        let published: BTreeSet<_> = values(&enums[key]).collect();
        let seen: BTreeSet<_> = rows.iter().map(|row| row[field].as_str().unwrap()).collect();
        assert_eq!(seen, published);
    }
}

fn values(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().unwrap().iter().map(|entry| entry["value"].as_str().unwrap())
}

// proves: ORD-086, ORD-087
#[tokio::test]
async fn totals_have_exactly_two_decimals_and_add_up() {
    let bench = Bench::start(unlimited()).await;
    let listing = bench.get("/api/v1/sellers/orders?limit=100").await;
    let text = String::from_utf8(listing.bytes).unwrap();
    let totals: Vec<_> =
        text.split("\"totals\":{").skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
    assert_eq!(totals.len(), 100);
    for total in totals {
        let cents: Vec<i64> = total.split(',').map(|pair| cents(pair.split_once(':').unwrap().1)).collect();
        let [products, shipping, discounts, order] = cents[..] else { panic!("{total}") };
        assert_eq!(products + shipping - discounts, order);
    }
}

fn cents(text: &str) -> i64 {
    let (whole, fraction) = text.split_once('.').unwrap();
    assert_eq!(fraction.len(), 2, "{text}");
    format!("{whole}{fraction}").parse().unwrap()
}

// proves: ORD-089, ORD-090
#[tokio::test]
async fn some_lines_have_three_decimals_and_say_so() {
    let bench = Bench::start(unlimited()).await;
    let mut scales = BTreeSet::new();
    for row in bench.orders("").await {
        let path = format!("/api/v1/sellers/orders/{}", row["order_number"].as_str().unwrap());
        let text = String::from_utf8(bench.get(&path).await.bytes).unwrap();
        for item in text.split("\"unit_price\":").skip(1) {
            let decimals = item.split([',', '}']).next().unwrap().split_once('.').unwrap().1.len();
            assert!(item.contains(&format!("\"price_scale\":{decimals}")), "{item}");
            scales.insert(decimals);
        }
    }
    assert_eq!(scales, BTreeSet::from([2, 3]));
}

// proves: ORD-046, ORD-047, ERR-007
#[tokio::test]
async fn an_order_of_another_store_or_of_nobody_is_not_found() {
    let bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    let other = bench.sandbox.stores().remove(1);
    let token = bench.login_to(&other).await;
    let theirs = bench.get_with(&format!("Bearer {token}"), "/api/v1/sellers/orders?limit=1").await;
    let number = theirs.data()[0]["order_number"].as_str().unwrap().to_owned();
    for path in [number.clone(), format!("{number}/possible-statuses"), "nobody".to_owned()] {
        let reply = bench.get(&format!("/api/v1/sellers/orders/{path}")).await;
        assert_eq!(reply.refused(404, "NOT_FOUND"), json!([]));
    }
}

/// A body without the address of the object storage, whose port is another each time.
async fn body(bench: &Bench, path: &str) -> String {
    String::from_utf8(bench.get(path).await.bytes).unwrap().replace(&bench.sandbox.storage_origin(), "")
}

#[tokio::test]
async fn the_same_seed_and_counts_give_the_same_bytes_on_any_day() {
    let options = Options { stores: 2, orders: 50, products: 10, seed: 7, ..unlimited() };
    let first = Bench::start(options.clone()).await;
    let second = Bench::start(options.clone()).await;
    let other = Bench::start(Options { seed: 8, ..options }).await;
    second.hands.forward(90 * 86_400);
    let second = Bench { token: second.login().await, ..second };
    assert_eq!(first.sandbox.stores(), second.sandbox.stores());
    let mut paths =
        vec!["/api/v1/sellers/orders?limit=100".to_owned(), "/api/products?per_page=100".to_owned()];
    for row in first.orders("").await {
        paths.push(format!("/api/v1/sellers/orders/{}", row["order_number"].as_str().unwrap()));
    }
    for path in &paths {
        assert_eq!(body(&first, path).await, body(&second, path).await, "{path}");
    }
    assert_ne!(first.get(&paths[0]).await.bytes, other.get(&paths[0]).await.bytes);
}

// proves: ORD-027, ORD-028, ORD-029, ORD-030
#[tokio::test]
async fn the_summary_counts_the_current_day() {
    let bench = Bench::start(unlimited()).await;
    let summary = bench.get("/api/v1/sellers/orders/summary").await.data();
    assert_eq!(summary["orders_received"], json!(0), "the generated orders are older than today");
    let number = bench.control().orders().insert("loja-1");
    let order = bench.order(&number).await;
    let summary = bench.get("/api/v1/sellers/orders/summary").await.data();
    assert_eq!(summary["orders_received"], json!(1));
    assert_eq!(summary["revenue"], order["totals"]["order"]);
    assert_eq!(summary["average_ticket"], order["totals"]["order"]);
    assert_eq!(summary["by_channel"][order["channel"].as_str().unwrap()], json!(1));
    for status in ["preparing", "ready_to_ship", "shipped"] {
        let count = bench.orders(&format!("status={status}")).await.len();
        assert!(count > 0, "{status}");
        assert_eq!(summary["by_status"][status], json!(count), "{status}");
    }
    assert_eq!(summary["late"]["boleto"], json!(bench.orders("late=boleto").await.len()));
}

// proves: ORD-029
#[tokio::test]
async fn delivered_today_counts_deliveries_of_the_day_and_no_other_change() {
    let bench = Bench::start(unlimited()).await;
    let delivered_today = async || {
        let summary = bench.get("/api/v1/sellers/orders/summary").await.data();
        summary["by_status"]["delivered_today"].as_u64().unwrap()
    };
    assert_eq!(delivered_today().await, 0);
    let old = bench.orders("status=delivered").await.remove(0);
    let notes = format!("/api/v1/sellers/orders/{}/notes", old["order_number"].as_str().unwrap());
    bench.put(&notes, &json!({"notes": "devolver a caixa"})).await.data();
    assert_eq!(delivered_today().await, 0, "an old order that was written on");
    let sent = bench.orders("status=shipped").await.remove(0);
    let number = sent["order_number"].as_str().unwrap();
    for status in ["delivered", "completed"] {
        assert!(bench.control().orders().set_status("loja-1", number, status));
        assert_eq!(delivered_today().await, 1, "{status}");
    }
    bench.control().forward(86_400);
    bench.put(&notes, &json!({"notes": null})).await.data();
    assert_eq!(delivered_today().await, 0, "the next day");
}

// proves: ORD-025, ORD-026
#[tokio::test]
async fn statuses_are_public_and_grouped_by_workflow() {
    let bench = Bench::start(unlimited()).await;
    let reply = bench.plain(reqwest::Method::GET, "/api/global/enums/order/status", "").await;
    let groups = reply.data();
    assert_eq!(groups.as_object().unwrap().len(), 6);
    assert!(values(&groups["collective"]).any(|value| value == "awaiting_campaign_conclusion"));
    assert!(!values(&groups["standard"]).any(|value| value == "ready_for_pickup"));
    assert_eq!(groups["standard"][0]["label"], json!("Aguardando pagamento"));
}
