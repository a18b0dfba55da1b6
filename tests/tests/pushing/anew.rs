//! Rows that the ERP writes again, corrected or unchanged; and rows that are blocked for long, or were forgotten at a
//! restart.

use std::time::Duration;

use espelho_sandbox::{Fault, FaultRule, JournalQuery};
use espelho_tests::{Kind, installation::STORE, on_both_databases, until};
use serde_json::json;

use crate::erp::Erp;

on_both_databases![
    a_command_that_is_corrected_goes_by_itself,
    numbers_that_the_erp_gives_itself_are_not_given_again,
    the_same_level_written_again_while_it_is_looked_at_is_sent_again,
    a_level_and_the_dispatch_that_it_counts_are_told_in_their_order,
    what_somebody_else_makes_of_a_level_is_a_conflict_on_its_row,
    a_tier_that_is_held_costs_nothing_while_it_is,
    a_price_that_is_withdrawn_on_the_way_is_not_sent,
    a_price_of_zero_is_an_error_whoever_made_it,
    what_was_emptied_before_a_restart_counts_after_it,
    a_price_list_is_mirrored_from_its_answer,
    who_is_told_to_wait_waits_so_long_and_no_longer,
    what_is_in_the_way_for_long_is_said_on_the_row,
];

async fn a_command_that_is_corrected_goes_by_itself(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let id = erp.give("stock.adjust", &goods[0].sku, &json!({"location_id": goods[0].location})).await;
    let [state, code, _, hint] = erp.outcome(id, |state| state == "failed").await;
    assert_eq!((state.as_str(), code.as_str()), ("failed", "invalid_data"));
    assert!(hint.contains("envia de novo sozinho"), "{hint}");
    let data = json!({"location_id": goods[0].location, "delta": 2});
    erp.mirror.execute(&format!("UPDATE commands SET data = '{data}' WHERE id = {id}")).await;
    assert_eq!(erp.outcome(id, |state| state == "done").await, ["done", "", "", ""]);
    assert_eq!(erp.stock_of(&goods[0]).await, goods[0].quantity + 2);
    // Writing the data of a done command again does not repeat it.
    erp.mirror.execute(&format!("UPDATE commands SET data = data WHERE id = {id}")).await;
    assert_eq!(erp.command("stock.adjust", &goods[1].sku, &data_of(&goods[1].location, 1)).await[0], "done");
    assert_eq!(erp.stock_of(&goods[0]).await, goods[0].quantity + 2);
    erp.stop().await;
}

fn data_of(location: &str, delta: i64) -> serde_json::Value {
    json!({"location_id": location, "delta": delta})
}

async fn numbers_that_the_erp_gives_itself_are_not_given_again(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let insert = |columns: &str, values: &str| {
        let data = data_of(&goods[0].location, 1);
        format!(
            "INSERT INTO commands ({columns}store, kind, key, data) VALUES \
             ({values}'{STORE}', 'stock.adjust', '{}', '{data}')",
            goods[0].sku
        )
    };
    for sql in [insert("id, ", "1, "), insert("id, ", "7, "), insert("", ""), insert("", "")] {
        erp.mirror.execute(&sql).await;
    }
    erp.until("SELECT state AS s FROM commands", |states| states == ["done"; 4]).await;
    assert_eq!(erp.stock_of(&goods[0]).await, goods[0].quantity + 4);
    let given = erp.installation.run(&["orders", "notes", "MP-0", "x"]).await;
    assert_eq!(given.code, 0, "{}", given.stderr);
    erp.stop().await;
}

// withstands: F010
async fn the_same_level_written_again_while_it_is_looked_at_is_sent_again(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    // The level is set, and another program changes it during the verification. The ERP has counted again, and writes
    // the same value.
    let route = "GET /api/products/{id}".to_owned();
    erp.set_stock(&goods[0], "3").await;
    until("it is set", async || erp.writes("/stock").len() == 1).await;
    erp.control().faults().add(FaultRule {
        route,
        times: Some(2),
        kind: Fault::Stall(Duration::from_millis(700)),
    });
    erp.until("SELECT state AS s FROM erp_stock", |states| states == ["sending"] || states == ["done"]).await;
    assert!(erp.control().products().set_stock(&erp.key(), &goods[0].id, 1));
    erp.set_stock(&goods[0], "3").await;
    until("it is set again", async || erp.stock_of(&goods[0]).await == 3).await;
    erp.until("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!(erp.stock_of(&goods[0]).await, 3);
    erp.stop().await;
}

// withstands: F010
async fn a_level_and_the_dispatch_that_it_counts_are_told_in_their_order(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let number = erp.sell("standard", &goods[0].sku);
    erp.until(&format!("SELECT status AS s FROM orders WHERE order_number = '{number}'"), |s| s == ["paid"])
        .await;
    let prepared = erp.command("order.status", &number, &json!({"status": "preparing"})).await;
    assert_eq!(prepared[0], "done", "{prepared:?}");
    erp.control().orders().issue_invoice(&erp.key(), &number, "nfe").unwrap();
    let left = goods[0].quantity - 1;
    // One transaction of the ERP. The level comes first; it falls and would normally go ahead of every command.
    let sql = format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{}', '{}', {left})",
        goods[0].sku, goods[0].location
    );
    let shipped = format!(
        "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', 'order.status', '{number}', '{{\"status\": \"shipped\"}}')"
    );
    erp.transaction(&[sql, shipped], "COMMIT").await;
    erp.until("SELECT state AS s FROM commands", |states| states == ["done", "done"]).await;
    erp.until("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!((erp.stock_of(&goods[0]).await, erp.writes("/stock").len()), (left, 0));
    erp.stop().await;
}

// withstands: F010
async fn what_somebody_else_makes_of_a_level_is_a_conflict_on_its_row(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let route = "GET /api/products/{id}".to_owned();
    let wanted = goods[0].quantity + 9;
    // The current level is read, then the new one is set. The verification comes late, after another program's
    // change.
    erp.set_stock(&goods[0], &wanted.to_string()).await;
    until("it is set", async || erp.writes("/stock").len() == 1).await;
    erp.control().faults().add(FaultRule { route, times: Some(1), kind: Fault::Html(502) });
    assert!(erp.control().products().set_stock(&erp.key(), &goods[0].id, 1));
    let states = erp
        .until("SELECT state || ' ' || COALESCE(error_code, '') AS s FROM erp_stock", |states| {
            states[0].starts_with("failed") || states[0].starts_with("done")
        })
        .await;
    // A verification before the other program's change reports no conflict.
    if states == ["failed stock_conflict"] {
        assert_eq!(
            (erp.stock_of(&goods[0]).await, erp.writes("/stock").len()),
            (1, 1),
            "not set again by itself"
        );
        let errors = erp.installation.run_in_portuguese(&["errors"]).await;
        assert!(errors.stdout.contains("o saldo mudou lá"), "{}", errors.stdout);
        // Writing the same value again is an explicit order of the ERP.
        erp.set_stock(&goods[0], &wanted.to_string()).await;
        erp.until("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
        assert_eq!(erp.stock_of(&goods[0]).await, wanted);
    }
    // More units are promised to buyers than exist.
    let other = &goods[1];
    let reserved = other.quantity - 1;
    assert!(erp.control().products().reserve_stock(&erp.key(), &other.id, reserved));
    erp.set_stock(other, "1").await;
    let sql = format!(
        "SELECT state || ' ' || COALESCE(error_code, '') AS s FROM erp_stock WHERE sku = '{}'",
        other.sku
    );
    erp.until(&sql, |states| states == ["done oversold"]).await;
    erp.stop().await;
}

/// Returns a product with its own prices: id, SKU, its highest tier and that tier's price.
async fn priced(erp: &Erp) -> [String; 4] {
    let sql = "SELECT p.id || '|' || p.sku || '|' || CAST(t.min_quantity AS TEXT) || '|' || CAST(t.value AS TEXT) AS p \
        FROM products p JOIN product_prices t ON t.product_id = p.id WHERE p.gone_at IS NULL AND t.value IS NOT NULL \
        AND p.price_type = 'wholesale' AND NOT p.auto_wholesale_pricing ORDER BY t.min_quantity DESC, p.id LIMIT 1";
    let row = erp.ask(sql).await.remove(0);
    let mut parts = row.split('|').map(str::to_owned);
    std::array::from_fn(|_| parts.next().unwrap())
}

async fn a_tier_that_is_held_costs_nothing_while_it_is(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let [id, sku, quantity, value] = priced(&erp).await;
    erp.stop().await;
    erp.set_price(&sku, 1, "0.01").await;
    erp.set_price(&sku, quantity.parse().unwrap(), &value).await;
    erp.start();
    let states = "SELECT state AS s FROM erp_prices ORDER BY min_quantity";
    erp.until(states, |states| states == ["held", "waiting"]).await;
    let query = || JournalQuery { path: Some(format!("/api/products/{id}")), ..JournalQuery::default() };
    let before = erp.control().journal(&query()).len();
    // While other rows are processed.
    let goods = erp.goods().await.into_iter().find(|goods| goods.id != id).unwrap();
    for quantity in 10..16 {
        erp.set_stock(&goods, &quantity.to_string()).await;
        erp.until("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    }
    let after = erp.control().journal(&query()).len();
    assert!(after - before <= 2, "{} requests for what is held", after - before);
    erp.stop().await;
}

async fn a_price_that_is_withdrawn_on_the_way_is_not_sent(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let [id, sku, quantity, value] = priced(&erp).await;
    let base = format!(
        "SELECT CAST(value AS TEXT) AS v FROM product_prices WHERE product_id = '{id}' AND min_quantity = 1"
    );
    let base: f64 = erp.ask(&base).await[0].parse().unwrap();
    let (more, value): (u32, f64) = (quantity.parse().unwrap(), value.parse().unwrap());
    let times = |price: f64, factor: f64| format!("{:.2}", price * factor);
    // Two steps. While the first is in progress, the value of the second is withdrawn.
    let stall = Fault::Stall(Duration::from_millis(1_500));
    let route = "PUT /api/products/{id}/prices/{min_quantity}".to_owned();
    erp.control().faults().add(FaultRule { route, times: Some(1), kind: stall });
    erp.stop().await;
    erp.set_price(&sku, 1, &times(base, 1.1)).await;
    erp.set_price(&sku, more, &times(value, 1.1)).await;
    erp.start();
    let journal = erp.installation.journal().await;
    let sent = "SELECT key FROM effects WHERE kind = 'price.step' AND state = 'sent'";
    until("the first step is under way", async || !journal.try_ask(sent).await.is_empty()).await;
    erp.set_price(&sku, 1, &times(base, 1.2)).await;
    erp.set_price(&sku, more, &times(value, 1.2)).await;
    erp.until("SELECT state AS s FROM erp_prices", |states| states == ["done", "done"]).await;
    let price = |entry: espelho_sandbox::JournalEntry| {
        let body: serde_json::Value = serde_json::from_str(entry.body.as_deref().unwrap()).unwrap();
        body["price"].as_f64().unwrap()
    };
    let said: Vec<f64> = erp.writes("/prices").into_iter().map(price).collect();
    let old: Vec<f64> = [base, value].map(|price| times(price, 1.1).parse().unwrap()).to_vec();
    assert_eq!((said.iter().filter(|price| old.contains(price)).count(), said.len()), (1, 3), "{said:?}");
    erp.stop().await;
}

/// A program that writes Latin-1, bytes, or half a number sees the error on its row, and no other row waits for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_cannot_be_read_stops_no_other() {
    let mut erp = Erp::with(Kind::Sqlite, "").await;
    let goods = erp.goods().await;
    let [_, sku, ..] = priced(&erp).await;
    erp.stop().await;
    for sql in [
        format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', CAST(x'434146C9' AS TEXT), '1', '5')"
        ),
        format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', 'A', '1', x'35')"
        ),
        format!(
            "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('{STORE}', '{sku}', 2.5, '10')"
        ),
        format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', 'order.notes', CAST(x'C9' AS TEXT), '{{}}')"
        ),
    ] {
        erp.mirror.execute(&sql).await;
    }
    erp.set_stock(&goods[0], "3").await;
    erp.start();
    let own = format!("SELECT state AS s FROM erp_stock WHERE sku = '{}'", goods[0].sku);
    erp.until(&own, |states| states == ["done"]).await;
    for table in ["erp_prices", "commands"] {
        let sql = format!("SELECT state || ' ' || error_code AS s FROM {table}");
        erp.until(&sql, |rows| rows == ["failed unreadable"]).await;
    }
    let sql =
        "SELECT count(*) || '' AS n FROM erp_stock WHERE error_code = 'unreadable' AND hint LIKE '%UTF-8%'";
    erp.until(sql, |rows| rows == ["2"]).await;
    let errors = erp.installation.run_in_portuguese(&["errors", "--all"]).await.expect(0);
    assert_eq!(errors.stdout.matches("[unreadable]").count(), 4, "{}", errors.stdout);
    erp.stop().await;
}

// withstands: F013
async fn a_price_of_zero_is_an_error_whoever_made_it(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let [id, sku, quantity, value] = priced(&erp).await;
    erp.set_price(&sku, quantity.parse().unwrap(), &value).await;
    erp.until("SELECT state AS s FROM erp_prices", |states| states == ["done"]).await;
    // Whoever caused it: if the mirror shows it, so do the errors.
    erp.mirror
        .execute(&format!(
            "UPDATE product_prices SET value = 0 WHERE product_id = '{id}' AND min_quantity = {quantity}"
        ))
        .await;
    erp.until("SELECT code AS c FROM v_errors WHERE entity = 'price'", |codes| codes == ["price_zero"]).await;
    erp.stop().await;
}

async fn what_was_emptied_before_a_restart_counts_after_it(kind: Kind) {
    let more = "[guards]\nzero_max_rows = 2\nzero_max_percent = 10.0\n";
    let mut erp = Erp::with(kind, more).await;
    let goods = erp.goods().await;
    for one in &goods[..2] {
        erp.set_stock(one, "0").await;
    }
    erp.until("SELECT state AS s FROM erp_stock", |states| states == ["done", "done"]).await;
    erp.kill().await;
    erp.start();
    erp.set_stock(&goods[2], "0").await;
    let sql = format!(
        "SELECT state || ' ' || COALESCE(hint, '') AS s FROM erp_stock WHERE sku = '{}'",
        goods[2].sku
    );
    let held = erp.until(&sql, |states| states[0].starts_with("held") || states[0].starts_with("done")).await;
    let command = format!("espelho release stock {}/{} --store {STORE}", goods[2].sku, goods[2].location);
    assert!(held[0].starts_with("held") && held[0].contains(&command), "{held:?}");
    assert_eq!(erp.writes("/stock").len(), 2);
    erp.stop().await;
}

async fn a_price_list_is_mirrored_from_its_answer(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    erp.control().credentials().set_feature(&erp.key(), "sales_force", true);
    let odd = erp
        .command("price_list.create", "x", &json!({"name": "Revenda", "mode": "manual", "position": "1"}))
        .await;
    assert_eq!(odd[1], "invalid_data", "{odd:?}");
    let made = erp.command("price_list.create", "x", &json!({"name": "Revenda", "mode": "manual"})).await;
    assert_eq!(made[0], "done", "{made:?}");
    let lists = "SELECT name || ' ' || mode AS l FROM price_lists";
    assert_eq!(erp.ask(lists).await, ["Revenda manual"]);
    let id = erp.ask("SELECT id FROM price_lists").await.remove(0);
    let odd = erp.command("price_list.update", &id, &json!({"name": "Atacado", "is_active": "false"})).await;
    assert_eq!(odd[1], "invalid_data", "{odd:?}");
    let changed = erp.command("price_list.update", &id, &json!({"name": "Atacado", "position": "2"})).await;
    assert_eq!(changed[0], "done", "{changed:?}");
    assert_eq!(erp.ask(lists).await, ["Atacado manual"]);
    erp.stop().await;
}

// withstands: F006
async fn who_is_told_to_wait_waits_so_long_and_no_longer(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let route = "POST /api/products/{id}/stock".to_owned();
    erp.control().faults().add(FaultRule { route, times: Some(4), kind: Fault::TooMany(1) });
    erp.set_stock(&goods[0], "3").await;
    erp.until("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    let sent = erp.writes("/stock");
    assert_eq!((sent.len(), erp.stock_of(&goods[0]).await), (5, 3));
    let refused = "SELECT CAST(count(*) AS TEXT) AS n FROM effects WHERE state = 'refuted'";
    assert_eq!(erp.installation.journal().await.ask(refused).await[0]["n"], "4");
    assert!(
        !erp.installation.run_in_portuguese(&["errors"]).await.stdout.contains("stock"),
        "waiting is no error"
    );
    erp.stop().await;
}

// withstands: F030
async fn what_is_in_the_way_for_long_is_said_on_the_row(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let route = "GET /api/products/{id}".to_owned();
    erp.control().faults().add(FaultRule { route, times: None, kind: Fault::Html(503) });
    erp.set_stock(&goods[0], "3").await;
    let said = "SELECT state || ' ' || COALESCE(error, '') AS s FROM erp_stock";
    let rows = erp.until(said, |rows| rows[0].starts_with("waiting")).await;
    assert!(rows[0].contains("respondeu 503 com algo que não é da API"), "{rows:?}");
    assert_eq!(erp.writes("/stock").len(), 0);
    erp.control().faults().clear();
    erp.set_stock(&goods[0], "2").await;
    erp.until("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!(erp.stock_of(&goods[0]).await, 2);
    erp.stop().await;
}
