//! `kill -9` while an ERP writes and buyers buy: a short run of `cargo bench -p espelho-tests --bench pushkill`.

use std::time::Duration;

use espelho_tests::{
    Kind, on_both_databases,
    pushkill::{Plan, run},
};

on_both_databases![whatever_is_killed_when_nothing_is_lost_and_nothing_done_twice];

// withstands: F002, F003, F010
async fn whatever_is_killed_when_nothing_is_lost_and_nothing_done_twice(kind: Kind) {
    let plan = Plan { kind, kills: 25, seed: 20_261_121, labels: false, longest: Duration::from_secs(120) };
    let report = run(plan).await;
    assert!(report.is_clean(0), "{report}");
}
