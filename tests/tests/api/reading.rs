//! Tables and views, page by page and row by row.

use std::collections::BTreeSet;

use espelho_tests::{Kind, on_both_databases, until};
use serde_json::Value;

use crate::client::World;

on_both_databases![
    every_address_of_the_description_is_there_and_every_table_is_read,
    pages_neither_lose_nor_repeat_rows_while_others_are_inserted,
    an_order_is_read_with_what_belongs_to_it,
];

/// The addresses of the description with `method`.
async fn described(world: &World, method: &str) -> Vec<String> {
    let description = world.program.with("").get("/openapi.json").await.body;
    let paths = description["paths"].as_object().unwrap();
    let with_method = paths.iter().filter(|(_, item)| item.get(method).is_some());
    with_method.map(|(path, _)| path.trim_start_matches("/api/v1").to_owned()).collect()
}

async fn every_address_of_the_description_is_there_and_every_table_is_read(kind: Kind) {
    let world = World::on(kind).await;
    let mut tables = 0;
    for path in described(&world, "get").await {
        if path.contains('{') {
            let missing = world.program.get(&path.replace(['{', '}'], "")).await;
            let is_one = path.starts_with("/commands/") || path.starts_with("/sync_runs/");
            assert_eq!(missing.problem(), (404, "no_such_row"), "{path} {is_one}");
            continue;
        }
        let answer = world.program.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        if answer.body["rows"].is_array() {
            tables += 1;
            // Sub-resources are still being read: the table grows beside it.
            let name = path.trim_start_matches('/');
            let counted = async || {
                let sql = format!("SELECT CAST(count(*) AS TEXT) AS n FROM {name}");
                world.mirror.ask(&sql).await[0]["n"].parse::<usize>().unwrap().min(100)
            };
            let before = counted().await;
            let read = world.program.get(&path).await.rows().len();
            let after = counted().await;
            let possible = before.min(after)..=before.max(after);
            assert!(possible.contains(&read), "{path}: {read} of {possible:?}");
        }
    }
    assert!(tables >= 36, "{tables} tables");
    for path in described(&world, "post").await {
        let answer = world.program.post(&path.replace(['{', '}'], ""), &Value::Null).await;
        assert_eq!(answer.problem(), (400, "invalid_json"), "{path}");
    }
    let product = &world.program.get("/products?include=raw").await.rows()[0].clone();
    assert!(product["raw"].is_object() && product["price"].is_number(), "{product}");
    assert!(product["mirrored_at"].as_str().unwrap().ends_with('Z'));
    world.ended().await;
}

async fn pages_neither_lose_nor_repeat_rows_while_others_are_inserted(kind: Kind) {
    let world = World::on(kind).await;
    let insert = async |numbers: std::ops::Range<u32>, step: &str| {
        let row = |n| format!("('loja-9', '{step}{n:05}', 0, 0, '2026-11-20T12:00:00.000000Z', '{{}}')");
        let rows = numbers.map(row).collect::<Vec<_>>().join(", ");
        let columns = "store, order_number, listing_hash, content_hash, mirrored_at, raw";
        world.mirror.execute(&format!("INSERT INTO orders ({columns}) VALUES {rows}")).await;
    };
    insert(0..1_000, "P-").await;
    let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = world.program.get(&format!("/orders?store=loja-9&limit=37{cursor}")).await;
        seen.extend(page.rows().iter().map(|row| row["order_number"].as_str().unwrap().to_owned()));
        let Some(next) = page.body["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
        // Before, among and after those that were read.
        for step in ["A-", "P-0", "Z-"] {
            insert(pages * 5..pages * 5 + 5, step).await;
        }
        pages += 1;
        assert!(pages < 100, "the pages do not end");
    }
    let distinct: BTreeSet<&String> = seen.iter().collect();
    assert_eq!(distinct.len(), seen.len(), "a row was shown twice");
    let lost = (0..1_000).filter(|n| !distinct.contains(&format!("P-{n:05}"))).count();
    assert_eq!(lost, 0);
    world.ended().await;
}

async fn an_order_is_read_with_what_belongs_to_it(kind: Kind) {
    let world = World::on(kind).await;
    let number =
        world.program.get("/order_items").await.rows()[0]["order_number"].as_str().unwrap().to_owned();
    let order = async || world.program.get(&format!("/orders/loja-1/{number}?include=raw")).await.body;
    assert_eq!(order().await["order_number"], number.as_str());
    assert!(order().await["raw"].is_object());
    for table in [
        "order_items",
        "order_invoices",
        "order_events",
        "order_benefits",
        "order_splits",
        "order_commissions",
        "shipments",
        "shipment_labels",
    ] {
        // The mirror goes on reading meanwhile.
        until(table, async || {
            let rows = world.program.get(&format!("/{table}?order_number={number}&include=raw")).await;
            order().await[table].as_array().unwrap() == rows.rows()
        })
        .await;
    }
    let order = order().await;
    assert!(!order["order_items"].as_array().unwrap().is_empty());
    let sku = order["order_items"][0]["sku"].as_str().unwrap();
    let product = world.program.get(&format!("/products?sku={sku}")).await.rows()[0].clone();
    let whole =
        world.program.get(&format!("/products/loja-1/{}", product["id"].as_str().unwrap())).await.body;
    assert!(
        whole["product_prices"].is_array() && whole["product_stock"].is_array() && whole.get("raw").is_none()
    );
    world.ended().await;
}
