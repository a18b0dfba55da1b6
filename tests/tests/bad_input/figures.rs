//! Sums that do not add up, identifiers in odd forms, and a huge order.

use espelho_tests::{Kind, Row, Shop, mirror::number, on_both_databases, shop::Order};
use serde_json::{Value, json};

use super::one_shop;

/// The most memory for a run with a giant order, in MiB: the answer, its lines and their rows exist at once.
const MOST_MEMORY: f64 = 192.0;

on_both_databases![
    totals_that_do_not_add_up_are_kept_as_they_were_sent,
    identifiers_are_texts_whatever_form_and_case_they_come_in,
    a_hundred_thousand_lines_of_one_order_are_mirrored_whole_within_bounded_memory,
];

// withstands: F072
async fn totals_that_do_not_add_up_are_kept_as_they_were_sent(kind: Kind) {
    let mut order = Order::ordinary("P00001");
    let line = &mut order.detail["items"][0];
    (line["quantity"], line["unit_price"], line["price_scale"]) = (json!(3), json!(0.335), json!(3));
    let sent = r#"{"products":1.01,"shipping":7.5,"discounts":0,"order":8.52}"#;
    order.detail["totals"] = serde_json::from_str(sent).unwrap();
    let shop = Shop::open(vec![order]).await;
    let installation = one_shop(kind, &shop).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let row = mirror.rows("orders").await.remove(0);
    let total = |column: &str| number(&row, column).map(|total| total.normalize().to_string());
    assert_eq!(total("total_products").as_deref(), Some("1.01"), "three times 0.335, rounded up");
    assert_eq!(total("total_order").as_deref(), Some("8.52"), "a cent more than its parts");
    let line = mirror.rows("order_items").await.remove(0);
    assert_eq!(number(&line, "unit_price").map(|price| price.to_string()).as_deref(), Some("0.335"));
}

// withstands: F077
async fn identifiers_are_texts_whatever_form_and_case_they_come_in(kind: Kind) {
    let numbers = ["01kn4ryvngcvqx1nnygrwzxrne", "01KN4RYVNGCVQX1NNYGRWZXRNE", "00123", "123"];
    let shop = Shop::open(numbers.map(Order::ordinary).to_vec()).await;
    let installation = one_shop(kind, &shop).await;
    installation.resync(&["--only", "orders"]).await.expect(0);
    let mirror = installation.mirror().await;
    let mut mirrored: Vec<String> =
        mirror.rows("orders").await.into_iter().map(|mut row| row.remove("order_number").unwrap()).collect();
    mirrored.sort();
    let mut expected = numbers;
    expected.sort_unstable();
    assert_eq!(mirrored, expected);
    let keys = async || -> Vec<(String, String, bool)> {
        let key =
            |line: Row| (line["order_number"].clone(), line["id"].clone(), line.contains_key("gone_at"));
        mirror.rows("order_items").await.into_iter().map(key).collect()
    };
    let before = keys().await;
    // The same lines, now with identifiers as text.
    shop.change(|orders| {
        for order in orders {
            order.row["updated_at"] = json!("2026-03-02T10:00:00-03:00");
            let id = order.detail["items"][0]["id"].to_string();
            order.detail["items"][0]["id"] = json!(id);
        }
    });
    installation.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(keys().await, before, "no line left, and none came");
}

// withstands: F076
async fn a_hundred_thousand_lines_of_one_order_are_mirrored_whole_within_bounded_memory(kind: Kind) {
    const LINES: usize = 100_000;
    let mut order = Order::ordinary("GRANDE-1");
    let lines = (1..=LINES).map(|id| json!({"id": id, "quantity": 1, "unit_price": 0.005}));
    order.detail["items"] = lines.collect::<Vec<Value>>().into();
    let shop = Shop::open(vec![order]).await;
    let installation = one_shop(kind, &shop).await;
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    let mirror = installation.mirror().await;
    let sum = "SELECT CAST(count(*) AS TEXT) AS lines, CAST(count(DISTINCT id) AS TEXT) AS ids FROM order_items \
               WHERE gone_at IS NULL AND order_number = 'GRANDE-1'";
    let found = mirror.ask(sum).await.remove(0);
    assert_eq!((found["lines"].as_str(), found["ids"].as_str()), ("100000", "100000"));
    let peak = run.json()["process"]["peak_memory_mib"].as_f64().unwrap();
    println!("{kind:?}: {peak} MiB");
    assert!(peak < MOST_MEMORY, "{peak} MiB");
}
