//! The fields of an order, one by one, over a whole generated world.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Bench, unlimited};
use espelho_sandbox::NewOrder;
use serde_json::{Value, json};

const STORE: &str = "loja-1";

async fn details(bench: &Bench) -> Vec<Value> {
    let mut details = Vec::new();
    for row in bench.orders("").await {
        details.push(bench.order(row["order_number"].as_str().unwrap()).await);
    }
    details
}

/// The labels that the enums give to the values of a key.
async fn labels(bench: &Bench, key: &str) -> BTreeMap<String, Value> {
    let enums = bench.get("/api/v1/sellers/orders/enums").await.data();
    let entries = enums[key].as_array().unwrap().iter();
    entries.map(|entry| (entry["value"].as_str().unwrap().to_owned(), entry.clone())).collect()
}

// proves: ORD-074, ORD-075, ORD-076, ORD-107
#[tokio::test]
async fn the_parties_of_an_order_are_objects_with_their_ids_beside_them() {
    let bench = Bench::start(unlimited()).await;
    let (mut agents, mut shops) = (0, 0);
    for order in details(&bench).await {
        let named = |party: &Value| party["id"].is_u64() && party["name"].is_string();
        for party in ["store", "sold_by", "customer"] {
            assert!(named(&order[party]), "{party}");
            assert_eq!(order[party]["id"], order[format!("{party}_id")], "{party}");
        }
        assert!(order["store_uid"].is_string() && order["customer_uid"].is_string());
        assert_eq!(order["sold_by"]["is_substore"], json!(false));
        if order["channel"] == "store_seller" {
            agents += 1;
            assert!(named(&order["sales_agent"]));
            assert_eq!(order["sales_agent"]["id"], order["sales_agent_id"]);
        } else {
            assert!(order.get("sales_agent").is_none_or(Value::is_null));
        }
        let is_pickup = order["delivery_method"] == "pickup";
        shops += usize::from(is_pickup);
        assert_eq!(named(&order["physical_store"]), is_pickup);
        assert_eq!(order["physical_store"].is_null(), !is_pickup);
    }
    assert!(agents > 0 && shops > 0);
}

// proves: ORD-024, ORD-077, ORD-078, ORD-080, ORD-081, ORD-100
#[tokio::test]
async fn every_enum_of_an_order_comes_with_the_label_that_is_published() {
    let bench = Bench::start(unlimited()).await;
    let orders = details(&bench).await;
    for (key, field) in [
        ("statuses", "status"),
        ("types", "type"),
        ("channels", "channel"),
        ("delivery_methods", "delivery_method"),
        ("payment_methods", "payment_method"),
        ("payment_statuses", "payment_status"),
    ] {
        let published = labels(&bench, key).await;
        let mut seen = BTreeSet::new();
        for order in &orders {
            let entry = &published[order[field].as_str().unwrap()];
            assert_eq!(order[format!("{field}_label")], entry["label"]);
            seen.insert(order[field].as_str().unwrap());
        }
        assert!(seen.len() > 1, "{field}: {seen:?}");
    }
    let statuses = labels(&bench, "statuses").await;
    for order in &orders {
        let color = order["status_color"].as_str().unwrap();
        assert!(color.len() == 7 && color.starts_with('#'));
        assert_eq!(statuses[order["status"].as_str().unwrap()]["color"], json!(color));
    }
    assert!(!labels(&bench, "channels").await["direct"].as_object().unwrap().contains_key("color"));
}

// proves: ORD-023, ORD-093, ORD-108, ORD-109, ORD-110, ORD-111, ORD-112, ORD-113, ORD-114, ORD-115, ORD-117
#[tokio::test]
async fn the_stock_statuses_of_lines_have_their_own_labels() {
    let bench = Bench::start(unlimited()).await;
    let table = [
        ("reserved", "Reservado", false),
        ("sold_reserved", "Reservado vendido", false),
        ("awaiting_restock", "Aguardando reposição", true),
        ("in_production", "Em produção", true),
        ("committed", "Baixado", false),
        ("released", "Liberado", false),
        ("not_applicable", "Sem controle de estoque", false),
    ];
    let published = labels(&bench, "item_stock_statuses").await;
    assert_eq!(published.len(), table.len());
    for (value, label, blocks) in table {
        assert_eq!(published[value]["label"], json!(label));
        // What is final stays, so that each value has an order of its own.
        let number = bench.control().orders().place(STORE, NewOrder::default());
        assert!(bench.control().orders().set_line_stock(STORE, &number, 0, value));
        let order = bench.order(&number).await;
        let item = &order["items"][0];
        assert_eq!((&item["stock_status"], &item["stock_status_label"]), (&json!(value), &json!(label)));
        assert_eq!(item["is_blocking_stock"], json!(blocks));
        assert_eq!(order["status"], json!("paid"), "a line has a state of its own");
    }
}

// proves: ORD-088, ORD-089, ORD-091, ORD-095, ORD-096
#[tokio::test]
async fn lines_previews_and_benefits_have_their_fields() {
    let bench = Bench::start(unlimited()).await;
    let mut benefits = 0;
    for row in bench.orders("").await {
        let path = format!("/api/v1/sellers/orders/{}", row["order_number"].as_str().unwrap());
        let reply = bench.get(&path).await;
        let text = String::from_utf8(reply.bytes.clone()).unwrap();
        for subtotal in text.split("\"subtotal\":").skip(1) {
            let decimals = subtotal.split(',').next().unwrap().split_once('.').unwrap().1;
            assert_eq!(decimals.len(), 2, "{subtotal}");
        }
        let order = reply.data();
        let items = order["items"].as_array().unwrap();
        for item in items {
            assert!(item["id"].is_u64() && item["product_id"].is_string() && item["quantity"].is_u64());
            assert!(item["unit_price"].is_f64() && item["net_value"].is_f64());
            assert!([2, 3].contains(&item["price_scale"].as_u64().unwrap()));
        }
        let preview = order["items_preview"].as_array().unwrap();
        assert_eq!(preview.len(), items.len().min(3));
        for (shown, item) in preview.iter().zip(items) {
            assert_eq!(shown["product_id"], item["product_id"]);
            assert!(shown["thumbnail"].is_null() || shown["thumbnail"].is_string());
        }
        let has_discount = order["totals"]["discounts"].as_f64().unwrap() > 0.0;
        assert_eq!(order["applied_benefits"].as_array().unwrap().len(), usize::from(has_discount));
        benefits += usize::from(has_discount);
    }
    assert!(benefits > 0);
}

// proves: ORD-087, ORD-090, ORD-091, ORD-092
#[tokio::test]
async fn a_line_keeps_the_price_scale_that_it_was_bought_with() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let sku = bench.get("/api/products?per_page=1").await.data()[0]["sku"].as_str().unwrap().to_owned();
    let order = || NewOrder { lines: vec![(sku.clone(), 1)], ..NewOrder::default() };
    let price = |thousandths: i64| rust_decimal::Decimal::new(thousandths, 3);
    assert!(control.products().edit_price(STORE, &sku, price(10_500)));
    let before = control.orders().place(STORE, order());
    assert!(control.products().edit_price(STORE, &sku, price(10_505)));
    let after = control.orders().place(STORE, order());
    for (number, scale, unit_price) in [(&before, 2, 10.5), (&after, 3, 10.505)] {
        let item = bench.order(number).await["items"][0].clone();
        assert_eq!((&item["price_scale"], &item["unit_price"]), (&json!(scale), &json!(unit_price)));
    }
    let order = bench.order(&after).await;
    assert_eq!(order["items"][0]["subtotal"], json!(10.51), "half a cent is rounded up");
    assert_eq!(order["totals"]["products"], json!(10.51));
}

// proves: ORD-073
#[tokio::test]
async fn orders_of_one_checkout_share_its_id_and_others_do_not() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let first = control.orders().place(STORE, NewOrder::default());
    let second = NewOrder { same_checkout_as: Some(first.clone()), ..NewOrder::default() };
    let second = control.orders().place(STORE, second);
    let group = |order: Value| order["checkout_group_id"].as_str().unwrap().to_owned();
    assert_eq!(group(bench.order(&first).await), group(bench.order(&second).await));
    let groups: BTreeSet<_> = details(&bench).await.into_iter().map(group).collect();
    assert_eq!(groups.len(), 201, "202 orders, two of them of one checkout");
    let nobody = NewOrder { same_checkout_as: Some("nobody".to_owned()), ..NewOrder::default() };
    assert_eq!(control.orders().place(STORE, nobody), "");
}

// proves: ORD-101, ORD-102, ORD-103
#[tokio::test]
async fn a_payment_link_leads_somewhere_only_while_a_direct_sale_awaits_payment() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    for (channel, target, label) in [
        ("marketplace", None, None),
        ("direct", Some("platform"), Some("Plataforma")),
        ("store_seller", Some("store"), Some("Loja")),
    ] {
        let new = NewOrder { channel: channel.to_owned(), ..NewOrder::default() };
        let number = control.orders().place(STORE, new.unpaid());
        let order = bench.order(&number).await;
        let text = |field: &str| order.get(field).and_then(Value::as_str);
        assert_eq!(text("payment_url").is_some(), target.is_some(), "{channel}");
        assert_eq!((text("payment_link_target"), text("payment_link_target_label")), (target, label));
        assert!(text("payment_expires_at").is_some());
        assert!(control.orders().pay(STORE, &number));
        let order = bench.order(&number).await;
        assert!(order.get("payment_url").is_none_or(Value::is_null));
        assert!(order.get("payment_expires_at").is_none());
    }
}

// proves: ORD-099, ORD-106
#[tokio::test]
async fn shipping_metadata_and_occurrences_have_their_shapes() {
    let bench = Bench::start(unlimited()).await;
    let mut occurrences = 0;
    for order in details(&bench).await {
        if order["delivery_method"] == "shipping" {
            let shipping = &order["shipping"];
            assert!(shipping["carrier_name"].is_string() && shipping["display_name"].is_string());
            assert!(shipping["deadline"].as_str().unwrap() > order["created_at"].as_str().unwrap());
            assert!(shipping["nfe_requirements"].is_null() || shipping["nfe_requirements"].is_array());
        } else {
            assert_eq!(order["shipping"], json!(null));
        }
        assert!(order.get("metadata").is_some());
        occurrences += order["occurrences"].as_array().unwrap().len();
        assert!(order["updated_at"].as_str().unwrap() >= order["created_at"].as_str().unwrap());
    }
    assert!(occurrences > 0);
}

// proves: ORD-031, ORD-032
#[tokio::test]
async fn the_summary_counts_what_is_late_whatever_the_listing_is_filtered_by() {
    let bench = Bench::start(unlimited()).await;
    bench.control().forward(10 * 86_400);
    let plain = bench.get("/api/v1/sellers/orders/summary").await;
    let summary = plain.data();
    for reason in ["nfe", "picking", "production", "boleto"] {
        let late = bench.orders(&format!("late={reason}")).await.len();
        assert!(late > 0, "{reason}");
        assert_eq!(summary["late"][reason], json!(late), "{reason}");
    }
    let filters = "status=cancelled&search=zzzz&date_to=2020-01-01&late=0&channel=direct";
    let filtered = bench.get(&format!("/api/v1/sellers/orders/summary?{filters}")).await;
    assert_eq!(filtered.bytes, plain.bytes);
}
