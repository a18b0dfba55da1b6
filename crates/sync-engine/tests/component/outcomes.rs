//! The fate of intents when something intervenes: another command, a lock, a restart.

use espelho_sandbox::{Fault, FaultRule, JournalQuery};
use espelho_store::IntentKind;
use serde_json::json;
use sqlx::AssertSqlSafe;

use crate::support::{Decision, Kind, Rig, database::Tables};

const STATES: &str = "SELECT state AS s FROM erp_stock ORDER BY sku";

// withstands: F009
#[tokio::test]
async fn movements_of_one_place_go_one_after_the_other() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let route = "POST /api/products/{id}/stock";
    let slow = Fault::Stall(std::time::Duration::from_millis(15));
    rig.fault(route, None, slow);
    rig.control()
        .faults()
        .add_sometimes(FaultRule { route: route.into(), times: None, kind: Fault::ResetAfter }, 200);
    let deltas = [5, -1, 4, -2, 3, 1];
    for delta in deltas {
        for one in &goods[..3] {
            rig.give("stock.adjust", &one.sku, &json!({"location_id": one.location, "delta": delta})).await;
        }
    }
    rig.shown("SELECT state AS s FROM commands", |states| states.iter().all(|state| state == "done")).await;
    let sum: i64 = deltas.iter().sum();
    for one in &goods[..3] {
        assert_eq!(rig.stock_of(one).await, one.quantity + sum);
        let sent: Vec<i64> = rig
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
    assert_eq!(rig.journal.ask(overlaps).await, ["0"]);
    rig.stop().await;
}

// withstands: F018
#[tokio::test]
async fn an_order_waits_for_its_invoice_over_a_restart_and_no_longer_than_it_can() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let mut waiting = Vec::new();
    for one in &goods[..2] {
        let number = rig.sell("standard", &one.sku);
        let prepared = rig.command("order.status", &number, &json!({"status": "preparing"})).await;
        assert_eq!(prepared[0], "done", "{prepared:?}");
        let id = rig.give("order.status", &number, &json!({"status": "ready_to_ship"})).await;
        assert_eq!(rig.outcome(id, |state| state == "waiting").await[1], "waiting_invoice");
        waiting.push((number, id));
    }
    let asked = rig.writes("/status").len();
    rig.stop().await;
    rig.start().await;
    let [(first, id), (second, other)] = &waiting[..] else { panic!("two") };
    rig.until("the documents are read", async || {
        let query = JournalQuery { path: Some("/fiscal".into()), ..JournalQuery::default() };
        !rig.control().journal(&query).is_empty()
    })
    .await;
    assert_eq!(rig.writes("/status").len(), asked, "not asked for again without an invoice");
    rig.control().orders().issue_invoice(&rig.key(), first, "nfe").unwrap();
    assert_eq!(rig.outcome(*id, |state| state == "done").await[0], "done");
    assert_eq!(rig.writes("/status").len(), asked + 1);
    // A cancelled order needs no invoice any more.
    assert!(rig.control().orders().cancel(&rig.key(), second, "cliente desistiu"));
    let over = rig.outcome(*other, |state| state == "failed").await;
    assert!(over[1] == "impossible_transition" && over[2].contains("Cancelado"), "{over:?}");
    assert_eq!(rig.writes("/status").len(), asked + 1);
    rig.stop().await;
}

// withstands: F030
#[tokio::test]
async fn what_comes_to_nothing_each_time_is_given_up_and_seen() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let goods = rig.goods().await;
    let route = "POST /api/products/{id}/stock";
    rig.fault(route, 1, Fault::ResetBefore);
    let data = json!({"location_id": goods[0].location, "delta": 2});
    let id = rig.give("stock.adjust", &goods[0].sku, &data).await;
    rig.until("it was sent", async || !rig.writes("/stock").is_empty()).await;
    rig.kill().await;
    // Three hours later, according to the journal: sixteen attempts, each proved not to have happened.
    rig.journal.execute("UPDATE effects SET state = 'refuted' WHERE kind = 'stock.adjust'").await;
    for _ in 1..16 {
        rig.journal.execute(
                "INSERT INTO effects (store, key, kind, command_id, fingerprint, request, evidence, state, planned_at, \
                 sent_at, settled_at) SELECT store, key, kind, command_id, fingerprint, request, evidence, state, planned_at, \
                 sent_at, planned_at FROM effects WHERE kind = 'stock.adjust' ORDER BY id LIMIT 1",
            )
            .await;
    }
    let sent = rig.writes("/stock").len();
    rig.start().await;
    let [state, code, error, hint] = rig.outcome(id, |state| state == "failed").await;
    assert_eq!((state.as_str(), code.as_str()), ("failed", "gave_up"));
    assert!(error.contains("16 tentativas") && hint.contains("espelho retry"), "{error} {hint}");
    assert_eq!(rig.writes("/stock").len(), sent);
    assert_eq!(rig.ask("SELECT code FROM v_errors").await, ["gave_up"]);
    rig.decide(IntentKind::Command, &id.to_string(), Decision::Retry).await;
    assert_eq!(rig.outcome(id, |state| state == "done").await[0], "done");
    assert_eq!(rig.stock_of(&goods[0]).await, goods[0].quantity + 2);
    rig.stop().await;
}

/// A row that the ERP has locked delays only what concerns it.
#[tokio::test]
async fn a_row_that_the_erp_has_locked_does_not_hold_up_the_others() {
    let mut rig = Rig::on(Kind::Postgres).await;
    let goods = rig.goods().await;
    rig.stop().await;
    for one in &goods[..3] {
        rig.set_stock(one, "3").await;
    }
    let Tables::Postgres(pool) = rig.second_connection().await else { unreachable!("it is PostgreSQL") };
    #[expect(clippy::disallowed_methods, reason = "it is PostgreSQL, and what an ERP does")]
    let mut locking = pool.begin().await.unwrap();
    let lock = format!("SELECT 1 FROM erp_stock WHERE sku = '{}' FOR UPDATE", goods[0].sku);
    sqlx::query(AssertSqlSafe(lock)).execute(&mut *locking).await.unwrap();
    rig.start().await;
    let others = format!("SELECT state AS s FROM erp_stock WHERE sku <> '{}'", goods[0].sku);
    rig.shown(&others, |states| states == ["done", "done"]).await;
    assert_eq!(rig.stock_of(&goods[0]).await, 3, "it is sent, and only its row cannot be answered");
    locking.rollback().await.unwrap();
    rig.shown(STATES, |states| states == ["done", "done", "done"]).await;
    assert_eq!(rig.writes("/stock").len(), 3, "and not sent again for that");
    rig.stop().await;
}
