//! Reconciliations that end early: repeated by themselves, less and less often, until one goes to its end.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_sandbox::Fault;

use crate::support::{Kind, Rig, Setup, live::only, refused_with};

const HOUR: Duration = Duration::from_secs(3_600);
/// Runs that have ended, in their order.
const RUNS: &str = "SELECT state FROM sync_runs WHERE finished_at IS NOT NULL ORDER BY id";

async fn store(orders: usize) -> Rig {
    let setup = Setup::on(Kind::Sqlite);
    setup.with(|setup| (setup.world.orders, setup.world.products) = (orders, 4)).open().await
}

/// Returns the pauses between the end of a run and the start of the next one.
async fn pauses(rig: &Rig) -> Vec<Duration> {
    let sql = "SELECT CAST(started_at AS TEXT) || '|' || CAST(finished_at AS TEXT) FROM sync_runs \
               WHERE finished_at IS NOT NULL ORDER BY id";
    let times: Vec<[DateTime<Utc>; 2]> = rig
        .ask(sql)
        .await
        .iter()
        .map(|row| row.split_once('|').unwrap())
        .map(|(started, finished)| [started, finished].map(|time| time.parse().unwrap()))
        .collect();
    times.windows(2).map(|two| (two[1][0] - two[0][1]).to_std().unwrap()).collect()
}

/// Ways in which a run cannot go to its end, while the marketplace answers other requests: no outage ends.
fn begin(rig: &Rig, trouble: &str) {
    match trouble {
        "a listing that is down" => rig.fault("GET /api/v1/sellers/orders", None, Fault::Html(503)),
        "a proxy before the orders" => rig.fault("GET /api/v1/sellers/orders/{id}", None, Fault::Html(404)),
        "answers that break off" => rig.fault("GET /api/products", None, Fault::TruncateBody),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_run_that_ends_early_is_repeated_less_and_less_often_until_it_goes_to_its_end() {
    for trouble in ["a listing that is down", "a proxy before the orders", "answers that break off"] {
        let mut rig = store(30).await;
        begin(&rig, trouble);
        rig.keep_in_step(only(&[], HOUR), false).await;
        rig.until("it was repeated twice", async || rig.ask(RUNS).await.len() >= 3).await;
        assert!(rig.ask(RUNS).await.iter().all(|state| state != "complete"), "{trouble}");
        rig.control().faults().clear();
        rig.until("it goes to its end", async || {
            rig.ask(RUNS).await.last().is_some_and(|last| last == "complete")
        })
        .await;
        assert_eq!((rig.live("orders").await, rig.live("products").await), (30, 4), "{trouble}");
        // What went to its end is repeated by the schedule alone, which is the daemon's.
        let runs = rig.ask(RUNS).await.len();
        rig.pass(HOUR * 3).await;
        assert_eq!(rig.ask(RUNS).await.len(), runs, "{trouble}");
        rig.kill().await;
    }
}

/// A full disk refuses what a run writes.
#[tokio::test]
async fn a_run_that_the_database_refuses_is_repeated_when_it_takes_rows_again() {
    let mut rig = store(30).await;
    rig.tables
        .execute(
            "CREATE TRIGGER refusal BEFORE INSERT ON sync_passes BEGIN SELECT RAISE(ABORT, 'disk full'); END",
        )
        .await;
    rig.keep_in_step(only(&[], HOUR), false).await;
    rig.until("it was repeated", async || rig.ask(RUNS).await.len() >= 5).await;
    assert!(rig.ask(RUNS).await.iter().all(|state| state == "failed"));
    for (pause, least) in pauses(&rig).await.into_iter().zip([60, 120, 240, 480]) {
        assert!(pause >= Duration::from_secs(least), "{pause:?}, not {least} s");
    }
    assert_eq!(rig.live("orders").await, 0);
    rig.tables.execute("DROP TRIGGER refusal").await;
    rig.until("it goes to its end", async || {
        rig.ask(RUNS).await.last().is_some_and(|last| last == "complete")
    })
    .await;
    rig.orders_are_the_marketplaces().await;
    rig.kill().await;
}

/// What only a person or the marketplace's own word ends is not repeated.
#[tokio::test]
async fn a_run_that_a_guard_ends_or_a_refused_row_makes_partial_is_not_repeated() {
    for trouble in ["a guard", "a refused row", "nothing"] {
        let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.world.orders = 30).start().await;
        rig.stop().await;
        let numbers = rig.ask("SELECT order_number FROM orders ORDER BY order_number").await;
        let expected = match trouble {
            "a guard" => {
                for number in &numbers[..10] {
                    assert!(rig.control().orders().remove(&rig.key(), number));
                }
                "partial"
            }
            "a refused row" => {
                assert!(rig.control().orders().set_notes(&rig.key(), &numbers[0], Some("mudou")));
                rig.fault(&format!("/orders/{}", numbers[0]), None, refused_with(422, "VALIDATION_ERROR"));
                "partial"
            }
            _ => "complete",
        };
        let outside = rig.keep_in_step(only(&[], HOUR), false).await;
        rig.until("it was reconciled", async || outside.told().reconciled > 0).await;
        let runs = rig.ask(RUNS).await;
        assert_eq!(runs.last().map(String::as_str), Some(expected), "{trouble}");
        rig.pass(HOUR * 2).await;
        assert_eq!(rig.ask(RUNS).await.len(), runs.len(), "{trouble}");
        rig.kill().await;
    }
}

/// A run that somebody asks for changes nothing about when the scheduled one is repeated.
#[tokio::test]
async fn a_run_on_demand_between_two_repetitions_does_not_end_them() {
    let mut rig = store(10).await;
    rig.fault("GET /api/products", None, Fault::TruncateBody);
    let outside = rig.keep_in_step(only(&[], HOUR), false).await;
    rig.until("the first one ended", async || outside.told().reconciled == 1).await;
    let orders = espelho_sync_engine::Options {
        only: vec![espelho_model::sync::Resource::Orders.into()],
        kind: "manual",
        ..espelho_sync_engine::Options::default()
    };
    rig.request_reconciliation(&outside, orders).await;
    rig.control().faults().clear();
    let scheduled = "SELECT state FROM sync_runs WHERE kind = 'scheduled' AND state = 'complete'";
    rig.shown(scheduled, |rows| rows == ["complete"]).await;
    rig.kill().await;
}
