//! The fate of intents when something intervenes: a rolled back transaction, a kill, another command, a lock, a
//! restart; and the exit codes of `plan --apply`.

use espelho_sandbox::{CampaignDiscount, Fault, FaultRule, JournalQuery, NewCampaign};
use espelho_tests::{Kind, Mirror, installation::STORE, on_both_databases, until};
use serde_json::json;
use sqlx::AssertSqlSafe;

use crate::erp::Erp;

on_both_databases![
    what_is_rolled_back_is_not_wanted_and_what_is_committed_survives_a_kill,
    movements_of_one_place_go_one_after_the_other,
    an_order_waits_for_its_invoice_over_a_restart_and_no_longer_than_it_can,
    what_comes_to_nothing_each_time_is_given_up_and_seen,
    plan_apply_says_by_its_exit_code_what_is_left,
    a_price_that_was_frozen_for_a_campaign_and_does_not_fit_any_more_is_shown,
    a_row_of_a_store_that_nobody_has_is_answered_and_returns_when_it_is_corrected,
];

const STATES: &str = "SELECT state AS s FROM erp_stock ORDER BY sku";

// withstands: F029
async fn what_is_rolled_back_is_not_wanted_and_what_is_committed_survives_a_kill(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let level = |at: usize, quantity: i64| {
        let (sku, location) = (&goods[at].sku, &goods[at].location);
        format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{sku}', '{location}', {quantity})"
        )
    };
    let command = |at: usize| {
        let (sku, location) = (&goods[at].sku, &goods[at].location);
        format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', 'stock.adjust', '{sku}', \
             '{{\"location_id\": \"{location}\", \"delta\": 2}}')"
        )
    };
    // The ERP's change and its intent are one transaction.
    erp.transaction(&[level(0, 3), command(1)], "ROLLBACK").await;
    erp.transaction(&[level(2, 3), command(3)], "COMMIT").await;
    erp.kill().await;
    erp.start();
    erp.until("SELECT state AS s FROM commands", |states| states == ["done"]).await;
    erp.until(STATES, |states| states == ["done"]).await;
    assert_eq!((erp.stock_of(&goods[2]).await, erp.stock_of(&goods[3]).await), (3, goods[3].quantity + 2));
    let untouched = (erp.stock_of(&goods[0]).await, erp.stock_of(&goods[1]).await);
    assert_eq!(untouched, (goods[0].quantity, goods[1].quantity));
    erp.stop().await;
}

// withstands: F009
async fn movements_of_one_place_go_one_after_the_other(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let route = "POST /api/products/{id}/stock".to_owned();
    let slow = Fault::Stall(std::time::Duration::from_millis(150));
    erp.control().faults().add(FaultRule { route: route.clone(), times: None, kind: slow });
    erp.control().faults().add_sometimes(FaultRule { route, times: None, kind: Fault::ResetAfter }, 200);
    let deltas = [5, -1, 4, -2, 3, 1];
    for delta in deltas {
        for one in &goods[..3] {
            erp.give("stock.adjust", &one.sku, &json!({"location_id": one.location, "delta": delta})).await;
        }
    }
    erp.until("SELECT state AS s FROM commands", |states| states.iter().all(|state| state == "done")).await;
    let sum: i64 = deltas.iter().sum();
    for one in &goods[..3] {
        assert_eq!(erp.stock_of(one).await, one.quantity + sum);
        let sent: Vec<i64> = erp
            .writes(&format!("/products/{}/stock", one.id))
            .iter()
            .map(|entry| {
                let body: serde_json::Value = serde_json::from_str(entry.body.as_deref().unwrap()).unwrap();
                let quantity = body["quantity"].as_f64().unwrap() as i64;
                if body["decrement"] == true { -quantity } else { quantity }
            })
            .collect();
        assert_eq!(sent, deltas, "in the order in which they were given");
    }
    // By the journal: the next effect of a key was planned when the previous one was settled.
    let overlaps = "SELECT CAST(count(*) AS TEXT) AS n FROM effects a JOIN effects b ON b.key = a.key AND b.id > a.id \
        WHERE a.kind = 'stock.adjust' AND b.planned_at < a.settled_at";
    let journal = erp.installation.journal().await;
    assert_eq!(journal.ask(overlaps).await[0]["n"], "0");
    erp.stop().await;
}

// withstands: F018
async fn an_order_waits_for_its_invoice_over_a_restart_and_no_longer_than_it_can(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let mut waiting = Vec::new();
    for one in &goods[..2] {
        let number = erp.sell("standard", &one.sku);
        let prepared = erp.command("order.status", &number, &json!({"status": "preparing"})).await;
        assert_eq!(prepared[0], "done", "{prepared:?}");
        let id = erp.give("order.status", &number, &json!({"status": "ready_to_ship"})).await;
        assert_eq!(erp.outcome(id, |state| state == "waiting").await[1], "waiting_invoice");
        waiting.push((number, id));
    }
    let asked = erp.writes("/status").len();
    erp.stop().await;
    erp.start();
    let [(first, id), (second, other)] = &waiting[..] else { panic!("two") };
    until("the documents are read", async || {
        let query = JournalQuery { path: Some("/fiscal".into()), ..JournalQuery::default() };
        !erp.control().journal(&query).is_empty()
    })
    .await;
    assert_eq!(erp.writes("/status").len(), asked, "not asked for again without an invoice");
    erp.control().orders().issue_invoice(&erp.key(), first, "nfe").unwrap();
    assert_eq!(erp.outcome(*id, |state| state == "done").await[0], "done");
    assert_eq!(erp.writes("/status").len(), asked + 1);
    // A cancelled order needs no invoice any more.
    assert!(erp.control().orders().cancel(&erp.key(), second, "cliente desistiu"));
    let over = erp.outcome(*other, |state| state == "failed").await;
    assert!(over[1] == "impossible_transition" && over[2].contains("Cancelado"), "{over:?}");
    assert_eq!(erp.writes("/status").len(), asked + 1);
    erp.stop().await;
}

// withstands: F030
async fn what_comes_to_nothing_each_time_is_given_up_and_seen(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    let route = "POST /api/products/{id}/stock".to_owned();
    erp.control().faults().add(FaultRule { route, times: Some(1), kind: Fault::ResetBefore });
    let data = json!({"location_id": goods[0].location, "delta": 2});
    let id = erp.give("stock.adjust", &goods[0].sku, &data).await;
    until("it was sent", async || !erp.writes("/stock").is_empty()).await;
    erp.kill().await;
    // Three hours later, according to the journal: sixteen attempts, each proved not to have happened.
    let journal = erp.installation.journal().await;
    journal.execute("UPDATE effects SET state = 'refuted' WHERE kind = 'stock.adjust'").await;
    for _ in 1..16 {
        journal
            .execute(
                "INSERT INTO effects (store, key, kind, command_id, fingerprint, request, evidence, state, planned_at, \
                 sent_at, settled_at) SELECT store, key, kind, command_id, fingerprint, request, evidence, state, planned_at, \
                 sent_at, planned_at FROM effects WHERE kind = 'stock.adjust' ORDER BY id LIMIT 1",
            )
            .await;
    }
    let sent = erp.writes("/stock").len();
    erp.start();
    let [state, code, error, hint] = erp.outcome(id, |state| state == "failed").await;
    assert_eq!((state.as_str(), code.as_str()), ("failed", "gave_up"));
    assert!(error.contains("16 tentativas") && hint.contains("espelho retry"), "{error} {hint}");
    assert_eq!(erp.writes("/stock").len(), sent);
    let errors = erp.installation.run_in_portuguese(&["errors"]).await;
    assert!(errors.stdout.contains("gave_up"), "{}", errors.stdout);
    erp.installation.run(&["retry", "command", &id.to_string()]).await.expect(0);
    assert_eq!(erp.outcome(id, |state| state == "done").await[0], "done");
    assert_eq!(erp.stock_of(&goods[0]).await, goods[0].quantity + 2);
    erp.stop().await;
}

// withstands: F104
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_since_a_backup_is_not_done_again_when_the_backup_is_put_back() {
    let mut erp = Erp::with(Kind::Sqlite, "").await;
    let goods = erp.goods().await;
    let data = |delta: i64| json!({"location_id": goods[0].location, "delta": delta});
    assert_eq!(erp.command("stock.adjust", &goods[0].sku, &data(3)).await[0], "done");
    // Intents that are not done when the backup is made; one is in progress.
    erp.stop().await;
    let open = erp.give("stock.adjust", &goods[0].sku, &data(-2)).await;
    let other =
        erp.give("stock.adjust", &goods[1].sku, &json!({"location_id": goods[1].location, "delta": 4})).await;
    let backup = erp.dir().join("backup").display().to_string();
    erp.installation.run(&["backup", &backup]).await.expect(0);
    erp.start();
    for id in [open, other] {
        assert_eq!(erp.outcome(id, |state| state == "done").await[0], "done");
    }
    erp.stop().await;
    let (sent, stock) = (erp.writes("/stock").len(), erp.stock_of(&goods[0]).await);
    let Mirror::Sqlite(pool) = &erp.mirror else { unreachable!("it is SQLite") };
    pool.close().await;
    erp.installation.run(&["restore", "--replace", &backup]).await.expect(0);
    erp.mirror = erp.installation.mirror().await;
    let states = "SELECT state AS s FROM commands ORDER BY id";
    assert_eq!(erp.ask(states).await, ["done", "new", "new"]);
    erp.start();
    erp.until(states, |states| states == ["done", "done", "done"]).await;
    assert_eq!((erp.writes("/stock").len(), erp.stock_of(&goods[0]).await), (sent, stock));
    erp.stop().await;
}

/// A row that the ERP has locked delays only what concerns it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_the_erp_has_locked_does_not_hold_up_the_others() {
    let mut erp = Erp::with(Kind::Postgres, "").await;
    let goods = erp.goods().await;
    erp.stop().await;
    for one in &goods[..3] {
        erp.set_stock(one, "3").await;
    }
    let Mirror::Postgres(pool) = erp.installation.mirror().await else { unreachable!("it is PostgreSQL") };
    #[expect(clippy::disallowed_methods, reason = "it is PostgreSQL, and what an ERP does")]
    let mut locking = pool.begin().await.unwrap();
    let lock = format!("SELECT 1 FROM erp_stock WHERE sku = '{}' FOR UPDATE", goods[0].sku);
    sqlx::query(AssertSqlSafe(lock)).execute(&mut *locking).await.unwrap();
    erp.start();
    let others = format!("SELECT state AS s FROM erp_stock WHERE sku <> '{}'", goods[0].sku);
    erp.until(&others, |states| states == ["done", "done"]).await;
    assert_eq!(erp.stock_of(&goods[0]).await, 3, "it is sent, and only its row cannot be answered");
    locking.rollback().await.unwrap();
    erp.until(STATES, |states| states == ["done", "done", "done"]).await;
    assert_eq!(erp.writes("/stock").len(), 3, "and not sent again for that");
    erp.stop().await;
}

async fn plan_apply_says_by_its_exit_code_what_is_left(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await;
    erp.stop().await;
    erp.set_stock(&goods[0], "4").await;
    let applied = erp.installation.run_in_portuguese(&["plan", "--apply"]).await.expect(0);
    assert!(applied.stdout.contains("✓ 0 abertos, 0 retidos, 0 com erro"), "{}", applied.stdout);
    erp.set_price(&goods[1].sku, 1, "0").await;
    let held = erp.installation.run_in_portuguese(&["plan", "--apply"]).await.expect(5);
    assert!(held.stdout.contains("1 retido"), "{}", held.stdout);
    erp.set_stock(&goods[2], "-4").await;
    let failed = erp.installation.run_in_portuguese(&["plan", "--apply"]).await.expect(3);
    assert!(failed.stdout.contains("1 com erro"), "{}", failed.stdout);
    assert_eq!(erp.stock_of(&goods[0]).await, 4);
}

async fn a_price_that_was_frozen_for_a_campaign_and_does_not_fit_any_more_is_shown(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let (sku, key) = (erp.goods().await[0].sku.clone(), erp.key());
    let item = erp.control().listings().create(&key, "Caneca", &[&sku]).unwrap();
    assert!(erp.control().listings().set_status(&key, &item, "active"));
    let discount = Some(CampaignDiscount { kind: "percentage".into(), value: "10".into() });
    let campaign = NewCampaign { discount, ..NewCampaign::default() };
    let [joined, other] = [(); 2].map(|()| erp.control().campaigns().create(&campaign).unwrap().to_string());
    let opted = erp.command("campaign.opt_in", &joined, &json!({"publication_ids": [item]})).await;
    assert_eq!(opted[0], "done", "{opted:?}");
    let frozen = format!(
        "SELECT item_id AS i FROM campaign_listings WHERE campaign_id = '{joined}' AND authorized_discount_price IS NOT NULL"
    );
    erp.until(&frozen, |items| items == [item.clone()]).await;
    let drift = format!("SELECT item_id AS i FROM v_campaign_drift WHERE campaign_id = '{joined}'");
    assert_eq!(erp.ask(&drift).await, Vec::<String>::new(), "what was agreed on fits");
    // The price falls below the frozen one, so that buyers in the campaign would pay more. The other campaign shows
    // it.
    assert!(erp.control().products().edit_price(&key, &sku, rust_decimal::Decimal::ONE));
    let seller = erp.control().listings().active(&key);
    let third = seller.iter().find(|listing| listing["item_id"] != json!(item)).unwrap();
    let again = erp.command("campaign.opt_in", &other, &json!({"publication_ids": [third["item_id"]]})).await;
    assert_eq!(again[0], "done", "{again:?}");
    assert_eq!(erp.until(&drift, |items| !items.is_empty()).await, std::slice::from_ref(&item));
    let shown =
        erp.ask("SELECT key || ': ' || error || hint AS e FROM v_errors WHERE code = 'campaign_price'").await;
    assert!(shown[0].starts_with(&format!("{joined}/{item}: O preço congelado")), "{shown:?}");
    erp.stop().await;
}

// withstands: F141
async fn a_row_of_a_store_that_nobody_has_is_answered_and_returns_when_it_is_corrected(kind: Kind) {
    let mut erp = Erp::with(kind, "").await;
    let goods = erp.goods().await.remove(0);
    let wrong = STORE.to_uppercase();
    let level = format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{wrong}', '{}', '{}', '7.0')",
        goods.sku, goods.location
    );
    erp.mirror.execute(&level).await;
    let answered = "SELECT state || ' ' || error_code || ': ' || error || ' ' || hint AS s FROM erp_stock";
    let words = erp.until(answered, |rows| rows.len() == 1).await.remove(0);
    assert!(words.starts_with(&format!("failed unknown_store: Não existe a loja “{wrong}”")), "{words}");
    assert!(words.contains(&format!("Troque store para {STORE},")), "{words}");
    erp.mirror.execute(&format!("UPDATE erp_stock SET store = '{STORE}'")).await;
    erp.until(STATES, |states| states == ["done"]).await;
    erp.stop().await;
}
