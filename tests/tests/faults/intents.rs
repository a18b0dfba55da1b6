//! Intents of the ERP that cannot succeed by themselves.

use std::time::Duration;

use espelho_sandbox::{Fault, FaultRule, NewOrder};
use espelho_tests::{Kind, installation::STORE, on_both_databases, until};
use serde_json::json;

use crate::stage::{Setting, Stage};

on_both_databases![
    a_row_for_a_store_that_nobody_has_is_named,
    a_row_that_failed_is_named_and_the_printed_command_settles_it,
    a_price_that_a_guard_holds_is_named_and_released_by_the_printed_command,
    an_outcome_that_cannot_be_proved_is_named_until_somebody_decides,
    a_command_that_waits_for_an_invoice_is_shown_at_once_and_an_alarm_after_an_hour,
    an_order_whose_time_runs_out_is_named_until_it_is_on_its_way,
    work_that_stays_behind_is_named_with_by_how_much,
];

// Exercises F134, F141
async fn a_row_for_a_store_that_nobody_has_is_named(kind: Kind) {
    let stage = Stage::on(kind).await;
    let mirror = stage.mirror().await;
    mirror
        .execute(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('LOJA-1', 'CAN-001', '1', 3)",
        )
        .await;
    let mut watch = stage.watch("row of an unknown store", "unknown_store");
    watch.raised().await;
    let row = mirror
        .ask("SELECT state, COALESCE(error_code, '') AS code, error || ' ' || hint AS words FROM erp_stock")
        .await;
    assert_eq!((row[0]["state"].as_str(), row[0]["code"].as_str()), ("failed", "unknown_store"));
    assert!(row[0]["words"].contains(STORE), "the names that exist are told: {row:?}");
    mirror.execute("DELETE FROM erp_stock WHERE store = 'LOJA-1'").await;
    watch.ends();
    watch.cleared().await;
}

// Exercises F134
async fn a_row_that_failed_is_named_and_the_printed_command_settles_it(kind: Kind) {
    let stage = Stage::on(kind).await;
    let mirror = stage.mirror().await;
    mirror
        .execute(&format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', 'NADA-1', '1', 3)"
        ))
        .await;
    let mut watch = stage.watch("row that failed", "failed");
    shows(&stage, "SELECT state FROM erp_stock", "failed").await;
    let alarm = watch.raised().await;
    stage.types_printed(&alarm, "errors").await;
    stage.types(&["ignore", "stock", "NADA-1/1"]).await;
    watch.ends();
    watch.cleared().await;
}

// Exercises F134
async fn a_price_that_a_guard_holds_is_named_and_released_by_the_printed_command(kind: Kind) {
    let stage = Stage::on(kind).await;
    let mirror = stage.mirror().await;
    let sku = priced(&stage).await;
    mirror
        .execute(&format!(
            "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('{STORE}', '{sku}', 1, 0.01)"
        ))
        .await;
    let mut watch = stage.watch("price guard", "held");
    shows(&stage, "SELECT state FROM erp_prices", "held").await;
    let alarm = watch.raised().await;
    stage.types_printed(&alarm, "release").await;
    watch.ends();
    watch.cleared().await;
    shows(&stage, "SELECT state FROM erp_prices", "done").await;
}

// Exercises F134
async fn an_outcome_that_cannot_be_proved_is_named_until_somebody_decides(kind: Kind) {
    let stage = Stage::on(kind).await;
    let (mirror, control) = (stage.mirror().await, stage.control());
    let sql = "SELECT p.id, p.sku, s.location_id, CAST(s.quantity AS TEXT) AS quantity FROM products p \
        JOIN product_stock s ON s.store = p.store AND s.sku = p.sku WHERE p.gone_at IS NULL AND p.base_unit IN ('un', 'pc', 'cx')";
    let goods = mirror.ask(sql).await.remove(0);
    // The answer is lost, and before the verification the portal changes the same stock by another amount.
    let lost = |route: &str, kind| FaultRule { route: route.to_owned(), times: Some(1), kind };
    control.faults().add(lost("POST /api/products/{id}/stock", Fault::ResetAfter));
    control.faults().add(lost("GET /api/products/{id}/stock", Fault::Stall(Duration::from_millis(1_500))));
    let data = json!({"location_id": goods["location_id"], "delta": 3});
    mirror
        .execute(&format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', 'stock.adjust', '{}', '{data}')",
            goods["sku"]
        ))
        .await;
    let route = "POST /api/products/{id}/stock";
    until("it was sent", async || control.stats().by_route.get(route).is_some_and(|sent| *sent > 0)).await;
    assert!(control.products().set_stock(STORE, &goods["id"], rust_decimal::Decimal::from(4_000)));
    // The verification is repeated before it is given up.
    shows(&stage, "SELECT state FROM commands", "doubtful").await;
    let mut watch = stage.watch("outcome in doubt", "doubtful");
    let alarm = watch.raised().await;
    stage.types_printed(&alarm, "ignore").await;
    watch.ends();
    watch.cleared().await;
}

// Exercises F018, F134
async fn a_command_that_waits_for_an_invoice_is_shown_at_once_and_an_alarm_after_an_hour(kind: Kind) {
    let stage = Stage::on(kind).await;
    let (mirror, control) = (stage.mirror().await, stage.control());
    let number = control.orders().place(STORE, NewOrder::default());
    shows(&stage, &format!("SELECT status FROM orders WHERE order_number = '{number}'"), "paid").await;
    give(&stage, &number, "preparing").await;
    shows(&stage, "SELECT state FROM commands", "done").await;
    give(&stage, &number, "ready_to_ship").await;
    shows(&stage, "SELECT state FROM commands WHERE id = (SELECT max(id) FROM commands)", "waiting").await;
    // Every command that shows the state reports it at once.
    let errors = stage.installation.run(&["errors"]).await;
    assert!(errors.stdout.contains(&number) || errors.stderr.contains(&number), "{errors}");
    let explained = stage.installation.run(&["explain", "order", &number]).await;
    assert!(format!("{}{}", explained.stdout, explained.stderr).contains("NF-e"), "{explained}");
    // An hour passes for the row.
    let aged = format!(
        "UPDATE commands SET {}, {} WHERE state = 'waiting'",
        hours_ago(kind, "created_at"),
        hours_ago(kind, "updated_at")
    );
    mirror.execute(&aged).await;
    // Its order has a day for its invoice.
    let mut watch = stage.watch("fiscal gate", "waiting").beside(&["deadline"]);
    let alarm = watch.raised().await;
    assert!(alarm.text("text").contains("NF-e") || alarm.text("text").contains("nota fiscal"), "{alarm:?}");
    control.orders().issue_invoice(STORE, &number, "nfe").unwrap();
    watch.ends();
    shows(&stage, "SELECT state FROM commands WHERE id = (SELECT max(id) FROM commands)", "done").await;
    on_its_way(&stage, &number);
    watch.cleared().await;
}

// Exercises F134
async fn an_order_whose_time_runs_out_is_named_until_it_is_on_its_way(kind: Kind) {
    let stage = Stage::on(kind).await;
    let urgent = NewOrder { promised_after: Some(6 * 3_600), ..NewOrder::default() };
    let number = stage.control().orders().place(STORE, urgent);
    let mut watch = stage.watch("order within a day of its deadline", "deadline");
    watch.raised().await;
    on_its_way(&stage, &number);
    watch.ends();
    watch.cleared().await;
}

// Exercises F134
async fn work_that_stays_behind_is_named_with_by_how_much(kind: Kind) {
    let stage = Stage::on(kind).await;
    // One request a minute is too little for anything.
    stage.write_store(&Setting { requests_per_minute: Some(1), ..Setting::default() });
    stage.reload();
    let mirror = stage.mirror().await;
    let goods = "SELECT sku, location_id FROM product_stock";
    for row in mirror.ask(goods).await {
        let (sku, location) = (&row["sku"], &row["location_id"]);
        let sql = format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{sku}', '{location}', 77)"
        );
        mirror.execute(&sql).await;
    }
    let ago = hours_ago(kind, "updated_at");
    mirror.execute(&format!("UPDATE erp_stock SET {ago} WHERE state <> 'done'")).await;
    let mut watch = stage.watch("work that stays behind", "late");
    let alarm = watch.raised().await;
    assert!(alarm.text("text").contains(|c: char| c.is_ascii_digit()), "by how much: {alarm:?}");
    stage.write_store(&Setting::default());
    stage.reload();
    watch.ends();
    watch.cleared().await;
}

/// Returns the SQL that sets a time to two hours ago.
fn hours_ago(kind: Kind, column: &str) -> String {
    match kind {
        Kind::Sqlite => format!("{column} = strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours') || '000Z'"),
        Kind::Postgres => format!("{column} = now() - interval '2 hours'"),
    }
}

/// Ships and delivers the order.
fn on_its_way(stage: &Stage, number: &str) {
    assert!(stage.control().orders().set_status(STORE, number, "delivered"));
}

/// Writes the command that moves an order to a status.
async fn give(stage: &Stage, number: &str, status: &str) {
    let data = json!({ "status": status });
    let sql = format!(
        "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', 'order.status', '{number}', '{data}')"
    );
    stage.mirror().await.execute(&sql).await;
}

/// Returns a product with a price of its own.
async fn priced(stage: &Stage) -> String {
    let sql = "SELECT p.sku AS sku FROM products p JOIN product_prices t ON t.store = p.store AND t.product_id = p.id \
        WHERE p.price_type = 'default' AND t.min_quantity = 1 AND CAST(t.value AS NUMERIC) > 5";
    stage.mirror().await.ask(sql).await.remove(0).remove("sku").unwrap()
}

/// Waits until a query returns one row with one text.
async fn shows(stage: &Stage, sql: &str, expected: &str) {
    let mirror = stage.mirror().await;
    let mut found = Vec::new();
    let shown = until("the tables show it", async || {
        found = mirror.ask(sql).await.into_iter().flat_map(std::collections::BTreeMap::into_values).collect();
        found == [expected]
    });
    if tokio::time::timeout(Duration::from_secs(110), shown).await.is_err() {
        panic!("{sql}: {found:?} in place of {expected}");
    }
}
