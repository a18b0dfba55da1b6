//! One owner for each store: only the lease holder calls the marketplace. Each call is traced to its process.
//!
//! `ESPELHO_STARTS=100` sets the number of started pairs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod calls;
mod rolling;

#[expect(dead_code, reason = "more can be asked of a receiver than is asked here")]
#[path = "../webhooks/receiving.rs"]
mod receiving;

use calls::{callers, calling_in_turn, logins};
use espelho_tests::{
    Installation, Kind, Reply, Running, Shop,
    installation::STORE,
    on_both_databases,
    shop::{LOGIN, NEW_PASSWORD, ORDERS, Order, USERNAME},
    until,
};
use serde_json::{Value, json};

on_both_databases![
    of_two_that_start_at_once_one_calls_and_the_other_makes_no_call,
    an_owner_that_was_stopped_for_a_while_goes_on_and_nobody_called_meanwhile,
    a_foreign_login_is_named_and_not_answered_with_more_logins,
];

/// Returns a store that is reconciled every second, so that calls never stop.
async fn busy(kind: Kind, orders: usize) -> (Shop, Installation) {
    let shop = Shop::open(Order::many(orders)).await;
    let installation = Installation::on(kind).await;
    installation.write_main("[schedule]\nreconcile = \"* * * * * *\"\n");
    shop.join(&installation);
    (shop, installation)
}

async fn runs(installation: &Installation) -> usize {
    let mirror = installation.mirror().await;
    mirror.try_ask("SELECT CAST(id AS TEXT) AS id FROM sync_runs WHERE state = 'complete'").await.len()
}

async fn is_at_work(installation: &Installation) {
    let before = runs(installation).await;
    until("the store is reconciled", async || runs(installation).await > before).await;
}

// withstands: F083, F111
async fn of_two_that_start_at_once_one_calls_and_the_other_makes_no_call(kind: Kind) {
    let starts: usize = std::env::var("ESPELHO_STARTS").map_or(10, |text| text.parse().unwrap());
    for start in 0..starts {
        let (shop, installation) = busy(kind, 3).await;
        // Every other time the second process is a one-shot run. The tables must exist, or both would create them.
        installation.run(&["migrate"]).await.expect(0);
        let second: &[&str] = if start % 2 == 0 { &["run"] } else { &["--resync", "--json"] };
        let mut pair = [installation.start(&["run"]), installation.start(second)];
        if start % 4 > 1 {
            pair.reverse();
        }
        let ids = [pair[0].id(), pair[1].id()];
        // The second reconciliation is a second later: the other process has decided by then.
        until("somebody works", async || {
            runs(&installation).await > 1 || pair.iter_mut().all(Running::has_ended)
        })
        .await;
        let calls = shop.take_calls();
        assert_eq!(logins(&calls), 1, "start {start}: {:?}", callers(&calls));
        // A run that was first may have ended, and the service then continues; never both at the same time.
        assert!(calling_in_turn(&calls), "start {start}: {:?}", callers(&calls));
        for (process, id) in pair.into_iter().zip(ids) {
            end(process, id, &calls).await;
        }
    }
}

/// Ends one process of a pair. A refused process must not have called the marketplace.
async fn end(mut process: Running, id: u32, calls: &[espelho_tests::Call]) {
    if !process.has_ended() {
        return process.kill().await;
    }
    let ended = process.end().await;
    assert!([0, 6].contains(&ended.code), "{ended}");
    if ended.code == 6 {
        assert!(!callers(calls).contains(&id), "the loser has called");
    }
}

// withstands: F111
async fn an_owner_that_was_stopped_for_a_while_goes_on_and_nobody_called_meanwhile(kind: Kind) {
    let (shop, installation) = busy(kind, 3).await;
    let owner = installation.start(&["run"]);
    is_at_work(&installation).await;
    // It is stopped while it waits for an answer: within a transaction it would block SQLite for everyone.
    shop.rule(|call| (call.path == ORDERS).then(|| Reply::refusal(503, "", "", &json!([])).held()));
    let asked = shop.count(|call| call.path == ORDERS);
    until("it waits for an answer", async || shop.count(|call| call.path == ORDERS) > asked).await;
    owner.signal("STOP").await;
    let elsewhere = installation.beside();
    shop.join(&elsewhere);
    let second = elsewhere.start(&["run"]);
    elsewhere.resync(&[]).await.expect(6).says(&owner.id().to_string());
    elsewhere.resync(&[]).await.expect(6);
    if kind == Kind::Sqlite {
        second.end().await.expect(6);
    } else {
        // It stands by, for longer than a running owner could be silent.
        for _ in 0..5 {
            elsewhere.resync(&[]).await.expect(6);
        }
        second.terminate().await;
        second.end().await.expect(0);
    }
    shop.change(|orders| orders.push(Order::ordinary("P99999")));
    shop.rule(|_| None);
    shop.release();
    owner.signal("CONT").await;
    let mirror = installation.mirror().await;
    until("the owner goes on", async || mirror.live("orders").await == 4).await;
    let calls = shop.take_calls();
    assert_eq!(callers(&calls), [owner.id()]);
    assert_eq!(logins(&calls), 1);
    owner.terminate().await;
    owner.end().await.expect(0);
}

// withstands: F082
async fn a_foreign_login_is_named_and_not_answered_with_more_logins(kind: Kind) {
    let (shop, installation) = busy(kind, 3).await;
    // Another program ends each token that we get before we use it.
    shop.rule(|call| {
        (call.path != LOGIN).then(|| Reply::refusal(401, "UNAUTHORIZED", "Token inválido.", &json!([])))
    });
    let base = installation.write_main_with_known_port();
    let toml = std::fs::read_to_string(installation.dir().join("espelho.toml")).unwrap();
    installation.write("espelho.toml", &format!("{toml}[schedule]\nreconcile = \"* * * * * *\"\n"));
    let service = installation.start(&["run"]);
    until("it is named", async || {
        let told = installation.run_in_portuguese(&["status", "--json"]).await;
        told.stdout.contains("\"foreign_login\"") && told.stdout.contains("uma credencial própria")
    })
    .await;
    assert!(!base.is_empty());
    // The schedule keeps trying, without a login.
    let tried = shop.count(|call| call.path.starts_with(ORDERS));
    until("it tries again", async || shop.count(|call| call.path.starts_with(ORDERS)) > tried + 2).await;
    assert_eq!(shop.count(|call| call.path == LOGIN), 3, "the first, and two that were forced");
    // A new password may keep the other program out: one login tries it, and no more follow where it does not.
    installation.write_store(STORE, &shop.base_url(), USERNAME, NEW_PASSWORD);
    installation.run(&["reload"]).await.expect(0);
    until("the new password is tried", async || shop.count(|call| call.path == LOGIN) == 4).await;
    let tried = shop.count(|call| call.path.starts_with(ORDERS));
    until("it tries again", async || shop.count(|call| call.path.starts_with(ORDERS)) > tried + 2).await;
    assert_eq!(shop.count(|call| call.path == LOGIN), 4, "it did not keep it out");
    // Once the other program is gone, the next attempt succeeds, without a login.
    shop.rule(|_| None);
    until("the store is mirrored", async || runs(&installation).await > 0).await;
    until("it is no longer named", async || {
        let told = installation.run_in_portuguese(&["status", "--json"]).await;
        let status: Value = serde_json::from_str(&told.stdout).unwrap_or_default();
        let alarms = status["alarms"].as_array();
        alarms.is_some_and(|alarms| alarms.iter().all(|alarm| alarm["code"] != "foreign_login"))
    })
    .await;
    assert_eq!(shop.count(|call| call.path == LOGIN), 4);
    service.terminate().await;
    service.end().await.expect(0);
    installation.run(&["reload"]).await.expect(1);
}

#[tokio::test]
async fn the_stores_of_a_killed_service_are_taken_by_the_one_that_stands_by_without_a_login() {
    let installation = Installation::on(Kind::Postgres).await;
    installation.write_main("[schedule]\nreconcile = \"* * * * * *\"\n");
    let elsewhere = installation.beside();
    elsewhere.write_main("[schedule]\nreconcile = \"* * * * * *\"\n");
    let mut shops = Vec::new();
    for store in 1..=5 {
        let shop = Shop::open(Order::many(store)).await;
        for installation in [&installation, &elsewhere] {
            let (username, password) = (USERNAME, espelho_tests::shop::PASSWORD);
            installation.write_store(&format!("loja-{store}"), &shop.base_url(), username, password);
        }
        shops.push(shop);
    }
    let first = installation.start(&["run"]);
    let mirror = installation.mirror().await;
    let reconciled = "SELECT DISTINCT store AS s FROM sync_runs WHERE state = 'complete'";
    until("all are reconciled", async || mirror.try_ask(reconciled).await.len() == 5).await;
    let second = elsewhere.start(&["run"]);
    let (old, new) = (first.id(), second.id());
    is_at_work(&installation).await;
    first.kill().await;
    for shop in &shops {
        until("the other one calls", async || shop.count(|call| call.process == Some(new)) > 0).await;
        let calls = shop.take_calls();
        assert_eq!(callers(&calls), [old, new]);
        assert!(calling_in_turn(&calls));
        assert_eq!(logins(&calls), 1, "the token is shared");
    }
    second.terminate().await;
    second.end().await.expect(0);
}

#[tokio::test]
async fn an_owner_whose_lock_connection_is_cut_never_calls_beside_the_next_one() {
    let (shop, installation) = busy(Kind::Postgres, 3).await;
    let elsewhere = installation.beside();
    elsewhere.write_main("[schedule]\nreconcile = \"* * * * * *\"\n");
    shop.join(&elsewhere);
    let pair = [installation.start(&["run"]), elsewhere.start(&["run"])];
    is_at_work(&installation).await;
    let mirror = installation.mirror().await;
    let fence = async || mirror.ask("SELECT CAST(fence AS TEXT) AS f FROM leases").await[0]["f"].clone();
    for _ in 0..4 {
        let before = fence().await;
        mirror
            .execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted \
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
                 AND ((CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT)) \
                 = hashtextextended('espelho.' || current_schema() || '.loja-1', 0)",
            )
            .await;
        until("somebody takes the store", async || fence().await != before).await;
        let calls = shop.count(|_| true);
        until("somebody calls", async || shop.count(|_| true) > calls + 5).await;
    }
    let calls = shop.take_calls();
    // Each time the store is taken over, one process begins and the other has stopped.
    let turns = calls::turns(&calls).len();
    let taken: usize = fence().await.parse().unwrap();
    assert!(turns <= taken, "{turns} turns of {taken} owners: {:?}", calls::turns(&calls));
    assert_eq!(logins(&calls), 1);
    for process in pair {
        process.terminate().await;
        process.end().await.expect(0);
    }
}
