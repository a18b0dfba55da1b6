//! Rows that the ERP writes again, corrected or unchanged; and rows that are blocked for long, or were forgotten at a
//! restart.

use std::time::Duration;

use espelho_sandbox::{Fault, JournalQuery};
use espelho_store::IntentKind;
use espelho_sync_engine::plan::guards::Guards;
use serde_json::json;

use crate::support::{Decision, Kind, Rig, STORE, Setup, on_both_databases};

on_both_databases![
    numbers_that_the_erp_gives_itself_are_not_given_again,
    a_price_of_zero_is_an_error_whoever_made_it,
    a_price_list_is_mirrored_from_its_answer,
    a_command_that_is_corrected_goes_by_itself,
];

async fn a_command_that_is_corrected_goes_by_itself(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await;
    let id = rig.give("stock.adjust", &goods[0].sku, &json!({"location_id": goods[0].location})).await;
    let [state, code, _, hint] = rig.outcome(id, |state| state == "failed").await;
    assert_eq!((state.as_str(), code.as_str()), ("failed", "invalid_data"));
    assert!(hint.contains("envia de novo sozinho"), "{hint}");
    let data = json!({"location_id": goods[0].location, "delta": 2});
    rig.write(&format!("UPDATE commands SET data = '{data}' WHERE id = {id}")).await;
    assert_eq!(rig.outcome(id, |state| state == "done").await, ["done", "", "", ""]);
    assert_eq!(rig.stock_of(&goods[0]).await, goods[0].quantity + 2);
    // Writing the data of a done command again does not repeat it.
    rig.write(&format!("UPDATE commands SET data = data WHERE id = {id}")).await;
    assert_eq!(rig.command("stock.adjust", &goods[1].sku, &data_of(&goods[1].location, 1)).await[0], "done");
    assert_eq!(rig.stock_of(&goods[0]).await, goods[0].quantity + 2);
    rig.stop().await;
}

fn data_of(location: &str, delta: i64) -> serde_json::Value {
    json!({"location_id": location, "delta": delta})
}

async fn numbers_that_the_erp_gives_itself_are_not_given_again(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let goods = rig.goods().await;
    let insert = |columns: &str, values: &str| {
        let data = data_of(&goods[0].location, 1);
        format!(
            "INSERT INTO commands ({columns}store, kind, key, data) VALUES \
             ({values}'{STORE}', 'stock.adjust', '{}', '{data}')",
            goods[0].sku
        )
    };
    for sql in [insert("id, ", "1, "), insert("id, ", "7, "), insert("", ""), insert("", "")] {
        rig.write(&sql).await;
    }
    rig.shown("SELECT state AS s FROM commands", |states| states == ["done"; 4]).await;
    assert_eq!(rig.stock_of(&goods[0]).await, goods[0].quantity + 4);
    rig.stop().await;
}

// withstands: F010
#[tokio::test]
async fn the_same_level_written_again_while_it_is_looked_at_is_sent_again() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    // The level is set, and another program changes it during the verification. The ERP has counted again, and writes
    // the same value.
    rig.fault("GET /api/products/{id}", None, Fault::Stall(Duration::from_secs(2)));
    rig.set_stock(&goods[0], "3").await;
    rig.until("it is set", async || rig.writes("/stock").len() == 1).await;
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["sending"]).await;
    assert!(rig.control().products().set_stock(&rig.key(), &goods[0].id, 1));
    rig.set_stock(&goods[0], "3").await;
    rig.control().faults().clear();
    rig.until("it is set again", async || rig.stock_of(&goods[0]).await == 3).await;
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!(rig.stock_of(&goods[0]).await, 3);
    rig.stop().await;
}

// withstands: F010
#[tokio::test]
async fn a_level_and_the_dispatch_that_it_counts_are_told_in_their_order() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let number = rig.sell("standard", &goods[0].sku);
    rig.mirror_again().await;
    let prepared = rig.command("order.status", &number, &json!({"status": "preparing"})).await;
    assert_eq!(prepared[0], "done", "{prepared:?}");
    rig.control().orders().issue_invoice(&rig.key(), &number, "nfe").unwrap();
    let left = goods[0].quantity - 1;
    // One transaction of the ERP. The level comes first; it falls and would normally go ahead of every command.
    let sql = format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{}', '{}', {left})",
        goods[0].sku, goods[0].location
    );
    let shipped = format!(
        "INSERT INTO commands (store, kind, key, data, created_at) VALUES ('{STORE}', 'order.status', '{number}', \
         '{{\"status\": \"shipped\"}}', '{}')",
        rig.parts.clock.now().format("%Y-%m-%dT%H:%M:%S%.6fZ")
    );
    rig.write(&format!("BEGIN; {sql}; {shipped}; COMMIT;")).await;
    rig.shown("SELECT state AS s FROM commands", |states| states == ["done", "done"]).await;
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!((rig.stock_of(&goods[0]).await, rig.writes("/stock").len()), (left, 0));
    rig.stop().await;
}

// withstands: F010
#[tokio::test]
async fn what_somebody_else_makes_of_a_level_is_a_conflict_on_its_row() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let wanted = goods[0].quantity + 9;
    // The current level is read, then the new one is set. The marketplace is slow to answer the verification, before
    // which another program makes its change.
    rig.set_stock(&goods[0], &wanted.to_string()).await;
    rig.until("it is set", async || {
        let is_set = rig.writes("/stock").len() == 1;
        is_set && rig.control().products().set_stock(&rig.key(), &goods[0].id, 1)
    })
    .await;
    let code = "SELECT state || ' ' || COALESCE(error_code, '') AS s FROM erp_stock";
    rig.shown(code, |states| states == ["failed stock_conflict"]).await;
    assert_eq!(
        (rig.stock_of(&goods[0]).await, rig.writes("/stock").len()),
        (1, 1),
        "not set again by itself"
    );
    let errors = rig.ask("SELECT error FROM v_errors").await;
    assert!(errors[0].contains("o saldo mudou lá"), "{errors:?}");
    // Writing the same value again is an explicit order of the ERP.
    rig.set_stock(&goods[0], &wanted.to_string()).await;
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!(rig.stock_of(&goods[0]).await, wanted);
    // More units are promised to buyers than exist.
    let other = &goods[1];
    let reserved = other.quantity - 1;
    assert!(rig.control().products().reserve_stock(&rig.key(), &other.id, reserved));
    rig.set_stock(other, "1").await;
    let sql = format!(
        "SELECT state || ' ' || COALESCE(error_code, '') AS s FROM erp_stock WHERE sku = '{}'",
        other.sku
    );
    rig.shown(&sql, |states| states == ["done oversold"]).await;
    rig.stop().await;
}

/// Returns a product with its own prices: id, SKU, its highest tier and that tier's price.
async fn priced(rig: &Rig) -> [String; 4] {
    let sql = "SELECT p.id || '|' || p.sku || '|' || CAST(t.min_quantity AS TEXT) || '|' || CAST(t.value AS TEXT) AS p \
        FROM products p JOIN product_prices t ON t.product_id = p.id WHERE p.gone_at IS NULL AND t.value IS NOT NULL \
        AND p.price_type = 'wholesale' AND NOT p.auto_wholesale_pricing ORDER BY t.min_quantity DESC, p.id LIMIT 1";
    let row = rig.ask(sql).await.remove(0);
    let mut parts = row.split('|').map(str::to_owned);
    std::array::from_fn(|_| parts.next().unwrap())
}

#[tokio::test]
async fn a_tier_that_is_held_costs_nothing_while_it_is() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let [id, sku, quantity, value] = priced(&rig).await;
    rig.stop().await;
    rig.set_price(&sku, 1, "0.01").await;
    rig.set_price(&sku, quantity.parse().unwrap(), &value).await;
    rig.start().await;
    let states = "SELECT state AS s FROM erp_prices ORDER BY min_quantity";
    rig.shown(states, |states| states == ["held", "waiting"]).await;
    let query = || JournalQuery { path: Some(format!("/api/products/{id}")), ..JournalQuery::default() };
    let (before, began) = (rig.control().journal(&query()).len(), rig.elapsed());
    // While other rows are processed.
    let goods = rig.goods().await.into_iter().find(|goods| goods.id != id).unwrap();
    for quantity in 10..16 {
        rig.set_stock(&goods, &quantity.to_string()).await;
        rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    }
    let after = rig.control().journal(&query()).len();
    // It is looked at once a minute, however often other rows are.
    let minutes = (rig.elapsed() - began).as_secs() / 60;
    assert!(after - before <= 2 * (1 + minutes as usize), "{} requests in {minutes} minutes", after - before);
    rig.stop().await;
}

#[tokio::test]
async fn a_price_that_is_withdrawn_on_the_way_is_not_sent() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let [id, sku, quantity, value] = priced(&rig).await;
    let base = format!(
        "SELECT CAST(value AS TEXT) AS v FROM product_prices WHERE product_id = '{id}' AND min_quantity = 1"
    );
    let base: f64 = rig.ask(&base).await[0].parse().unwrap();
    let (more, value): (u32, f64) = (quantity.parse().unwrap(), value.parse().unwrap());
    let times = |price: f64, factor: f64| format!("{:.2}", price * factor);
    // Two steps. While the first is in progress, the value of the second is withdrawn.
    let stall = Fault::Stall(Duration::from_millis(150));
    let route = "PUT /api/products/{id}/prices/{min_quantity}";
    rig.fault(route, 1, stall);
    rig.stop().await;
    rig.set_price(&sku, 1, &times(base, 1.1)).await;
    rig.set_price(&sku, more, &times(value, 1.1)).await;
    rig.start().await;
    let sent = "SELECT key FROM effects WHERE kind = 'price.step' AND state = 'sent'";
    rig.until("the first step is under way", async || !rig.journal.ask(sent).await.is_empty()).await;
    rig.set_price(&sku, 1, &times(base, 1.2)).await;
    rig.set_price(&sku, more, &times(value, 1.2)).await;
    rig.shown("SELECT state AS s FROM erp_prices", |states| states == ["done", "done"]).await;
    let price = |entry: espelho_sandbox::JournalEntry| {
        let body: serde_json::Value = serde_json::from_str(entry.body.as_deref().unwrap()).unwrap();
        body["price"].as_f64().unwrap()
    };
    let said: Vec<f64> = rig.writes("/prices").into_iter().map(price).collect();
    let old: Vec<f64> = [base, value].map(|price| times(price, 1.1).parse().unwrap()).to_vec();
    assert_eq!((said.iter().filter(|price| old.contains(price)).count(), said.len()), (1, 3), "{said:?}");
    rig.stop().await;
}

/// A program that writes Latin-1, bytes, or half a number sees the error on its row, and no other row waits for it.
#[tokio::test]
async fn a_row_that_cannot_be_read_stops_no_other() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let [_, sku, ..] = priced(&rig).await;
    rig.stop().await;
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
        rig.write(&sql).await;
    }
    rig.set_stock(&goods[0], "3").await;
    rig.start().await;
    let own = format!("SELECT state AS s FROM erp_stock WHERE sku = '{}'", goods[0].sku);
    rig.shown(&own, |states| states == ["done"]).await;
    for table in ["erp_prices", "commands"] {
        let sql = format!("SELECT state || ' ' || error_code AS s FROM {table}");
        rig.shown(&sql, |rows| rows == ["failed unreadable"]).await;
    }
    let sql =
        "SELECT count(*) || '' AS n FROM erp_stock WHERE error_code = 'unreadable' AND hint LIKE '%UTF-8%'";
    rig.shown(sql, |rows| rows == ["2"]).await;
    assert_eq!(rig.ask("SELECT code FROM v_errors").await, ["unreadable"; 4]);
    rig.stop().await;
}

// withstands: F013
async fn a_price_of_zero_is_an_error_whoever_made_it(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    let [id, sku, quantity, value] = priced(&rig).await;
    rig.set_price(&sku, quantity.parse().unwrap(), &value).await;
    rig.shown("SELECT state AS s FROM erp_prices", |states| states == ["done"]).await;
    // Whoever caused it: if the mirror shows it, so do the errors.
    rig.write(&format!(
        "UPDATE product_prices SET value = 0 WHERE product_id = '{id}' AND min_quantity = {quantity}"
    ))
    .await;
    let told = "SELECT code AS c FROM v_errors WHERE entity = 'price'";
    rig.shown(told, |codes| codes == ["price_zero"]).await;
    // No row of the ERP is needed, as long as it is for sale.
    rig.write(&format!("UPDATE products SET is_available_for_sale = (1 = 1) WHERE id = '{id}'")).await;
    rig.write("DELETE FROM erp_prices").await;
    rig.shown(told, |codes| codes == ["price_zero"]).await;
    rig.write(&format!("UPDATE products SET is_available_for_sale = (1 = 0) WHERE id = '{id}'")).await;
    rig.shown(told, <[String]>::is_empty).await;
    rig.stop().await;
}

#[tokio::test]
async fn what_was_emptied_before_a_restart_counts_after_it() {
    let guards = Guards { zero_max_rows: 2, zero_max_percent: 10.into(), ..Guards::default() };
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.push.guards = guards).start().await;
    let goods = rig.goods().await;
    for one in &goods[..2] {
        rig.set_stock(one, "0").await;
    }
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done", "done"]).await;
    rig.kill().await;
    rig.start().await;
    rig.set_stock(&goods[2], "0").await;
    let sql = format!(
        "SELECT state || ' ' || COALESCE(hint, '') AS s FROM erp_stock WHERE sku = '{}'",
        goods[2].sku
    );
    let held = rig.shown(&sql, |states| states[0].starts_with("held") || states[0].starts_with("done")).await;
    let command = format!("espelho release stock {}/{} --store {STORE}", goods[2].sku, goods[2].location);
    assert!(held[0].starts_with("held") && held[0].contains(&command), "{held:?}");
    assert_eq!(rig.writes("/stock").len(), 2);
    rig.stop().await;
}

#[tokio::test]
async fn movements_that_empty_levels_count_and_are_held_until_somebody_releases_them() {
    let guards = Guards { zero_max_rows: 2, zero_max_percent: 10.into(), ..Guards::default() };
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.push.guards = guards).start().await;
    let goods = rig.goods().await;
    let all = |at: usize| data_of(&goods[at].location, -goods[at].quantity);
    rig.set_stock(&goods[0], "0").await;
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!(rig.command("stock.adjust", &goods[1].sku, &all(1)).await[0], "done");
    let id = rig.give("stock.adjust", &goods[2].sku, &all(2)).await;
    let [state, code, _, hint] = rig.outcome(id, |state| state == "held").await;
    assert_eq!((state.as_str(), code.as_str()), ("held", "many_to_zero"));
    assert!(hint.contains(&format!("espelho release command {id}")), "{hint}");
    assert_eq!(rig.writes("/stock").len(), 2);
    assert_eq!(rig.command("stock.adjust", &goods[3].sku, &data_of(&goods[3].location, -1)).await[0], "done");
    rig.kill().await;
    rig.start().await;
    rig.decide(IntentKind::Command, &id.to_string(), Decision::Release).await;
    assert_eq!(rig.outcome(id, |state| state == "done").await[0], "done");
    assert_eq!(rig.stock_of(&goods[2]).await, 0);
    rig.set_stock(&goods[4], "0").await;
    let last = format!("SELECT state AS s FROM erp_stock WHERE sku = '{}'", goods[4].sku);
    rig.shown(&last, |states| states == ["held"]).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_level_that_waits_for_its_answer_counts_once() {
    let guards = Guards { zero_max_rows: 2, zero_max_percent: 10.into(), ..Guards::default() };
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.push.guards = guards).start().await;
    let goods = rig.goods().await;
    rig.fault("POST /api/products/{id}/stock", 1, Fault::TooMany(30));
    for one in &goods[..2] {
        rig.set_stock(one, "0").await;
    }
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done", "done"]).await;
    rig.set_stock(&goods[2], "0").await;
    let third = format!("SELECT state AS s FROM erp_stock WHERE sku = '{}'", goods[2].sku);
    rig.shown(&third, |states| states == ["held"]).await;
    rig.stop().await;
}

async fn a_price_list_is_mirrored_from_its_answer(kind: Kind) {
    let mut rig = Rig::on(kind).await;
    rig.control().credentials().set_feature(&rig.key(), "sales_force", true);
    let odd = rig
        .command("price_list.create", "x", &json!({"name": "Revenda", "mode": "manual", "position": "1"}))
        .await;
    assert_eq!(odd[1], "invalid_data", "{odd:?}");
    let made = rig.command("price_list.create", "x", &json!({"name": "Revenda", "mode": "manual"})).await;
    assert_eq!(made[0], "done", "{made:?}");
    let lists = "SELECT name || ' ' || mode AS l FROM price_lists";
    assert_eq!(rig.ask(lists).await, ["Revenda manual"]);
    let id = rig.ask("SELECT id FROM price_lists").await.remove(0);
    let odd = rig.command("price_list.update", &id, &json!({"name": "Atacado", "is_active": "false"})).await;
    assert_eq!(odd[1], "invalid_data", "{odd:?}");
    let changed = rig.command("price_list.update", &id, &json!({"name": "Atacado", "position": "2"})).await;
    assert_eq!(changed[0], "done", "{changed:?}");
    assert_eq!(rig.ask(lists).await, ["Atacado manual"]);
    rig.stop().await;
}

// withstands: F006
#[tokio::test]
async fn who_is_told_to_wait_waits_so_long_and_no_longer() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let route = "POST /api/products/{id}/stock";
    rig.fault(route, 4, Fault::TooMany(1));
    rig.set_stock(&goods[0], "3").await;
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    let sent = rig.writes("/stock");
    assert_eq!((sent.len(), rig.stock_of(&goods[0]).await), (5, 3));
    let refused = "SELECT CAST(count(*) AS TEXT) AS n FROM effects WHERE state = 'refuted'";
    assert_eq!(rig.journal.ask(refused).await, ["4"]);
    assert!(rig.ask("SELECT key FROM v_errors").await.is_empty(), "waiting is no error");
    rig.stop().await;
}

// withstands: F030
#[tokio::test]
async fn what_is_in_the_way_for_long_is_said_on_the_row() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let route = "GET /api/products/{id}";
    rig.fault(route, None, Fault::Html(503));
    rig.set_stock(&goods[0], "3").await;
    let said = "SELECT state || ' ' || COALESCE(error, '') AS s FROM erp_stock";
    let rows = rig.shown(said, |rows| rows[0].starts_with("waiting")).await;
    assert!(rows[0].contains("respondeu 503 com algo que não é da API"), "{rows:?}");
    assert_eq!(rig.writes("/stock").len(), 0);
    rig.control().faults().clear();
    rig.set_stock(&goods[0], "2").await;
    rig.shown("SELECT state AS s FROM erp_stock", |states| states == ["done"]).await;
    assert_eq!(rig.stock_of(&goods[0]).await, 2);
    rig.stop().await;
}

#[tokio::test]
async fn a_row_that_cannot_be_read_costs_itself_and_is_wanted_again_when_it_is_written_again() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    rig.stop().await;
    for one in &goods[..2] {
        rig.set_stock(one, "3").await;
    }
    let sku = &goods[0].sku;
    rig.write(&format!("UPDATE erp_stock SET revision = 9.3e18 WHERE sku = '{sku}'")).await;
    rig.start().await;
    let states =
        "SELECT sku || ' ' || state || ' ' || COALESCE(error_code, '-') AS s FROM erp_stock ORDER BY state";
    let expected = [format!("{} done -", goods[1].sku), format!("{sku} failed unreadable")];
    rig.shown(states, |rows| rows == expected).await;
    // While the service works, too.
    rig.write(&format!(
        "BEGIN; UPDATE erp_stock SET quantity = 4; UPDATE erp_stock SET revision = 9.3e18 WHERE sku = '{sku}'; COMMIT"
    ))
    .await;
    rig.shown(states, |rows| rows == expected).await;
    rig.write(&format!("UPDATE erp_stock SET quantity = 5 WHERE sku = '{sku}'")).await;
    rig.shown(states, |rows| rows.iter().all(|row| row.ends_with("done -"))).await;
    assert_eq!([rig.stock_of(&goods[0]).await, rig.stock_of(&goods[1]).await], [5, 4]);
    rig.stop().await;
}
