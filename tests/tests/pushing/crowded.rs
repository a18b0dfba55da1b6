//! Very much open work at once: memory is that of one page, and what is too large is told so on its row.

use espelho_tests::{Kind, installation::STORE, on_both_databases};
use serde_json::json;

use crate::erp::Erp;

on_both_databases![however_much_is_open_the_memory_is_that_of_a_page_and_what_is_urgent_goes_first];

/// What 100,000 open rows may cost beside 1,000, in KiB; the debug binary has the larger pages of the two.
const MOST_KIB: u64 = 48 * 1_024;

/// Inserts commands that ask for nothing that exists, each with so much data.
async fn insert(erp: &Erp, many: usize, kind: &str, bytes: usize) {
    let text = "x".repeat(bytes);
    let sql = format!(
        "INSERT INTO commands (store, kind, key, data) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {many}) \
         SELECT '{STORE}', '{kind}', 'X-' || n, '{{\"notes\": \"{text}\"}}' FROM numbers"
    );
    erp.mirror.execute(&sql).await;
}

// withstands: F010
async fn however_much_is_open_the_memory_is_that_of_a_page_and_what_is_urgent_goes_first(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    insert(&erp, 1_000, "order.notes", 20).await;
    erp.until("SELECT state AS s FROM commands WHERE state = 'failed'", |failed| failed.len() > 8).await;
    let few = erp.peak_memory();
    let too_large = erp.give("order.notes", "X", &json!({"notes": "x".repeat(1 << 20)})).await;
    // 110 MB of text.
    insert(&erp, 95_000, "order.notes", 20).await;
    insert(&erp, 5_000, "listing.create", 20_000).await;
    let [state, code, error, hint] = erp.outcome(too_large, |state| state == "failed").await;
    assert_eq!((state.as_str(), code.as_str()), ("failed", "too_large"), "{error}");
    assert!(error.contains("1 MiB") && !hint.is_empty(), "{error} {hint}");
    // A level that goes to zero is found behind all of it, and goes ahead of it.
    erp.set_stock(&goods[0], "0").await;
    erp.until("SELECT state AS s FROM erp_stock", |states| states == ["sending"] || states == ["done"]).await;
    let open = erp.ask("SELECT CAST(count(*) AS TEXT) AS n FROM commands WHERE state = 'new'").await;
    assert!(open[0].parse::<u32>().unwrap() > 60_000, "{open:?} commands wait");
    let many = erp.peak_memory();
    assert!(many <= few + MOST_KIB, "{few} KiB with 1,000 open rows, {many} KiB with 101,000");
    println!("{kind:?}: peak {few} KiB with 1,000 open rows, {many} KiB with 101,000 of 110 MB");
    erp.stop().await;
}
