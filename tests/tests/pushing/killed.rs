//! `kill -9` while an ERP writes and buyers place orders: a short run of `cargo bench -p espelho-tests --bench
//! pushkill`.

use std::time::Duration;

use espelho_tests::{
    Kind, on_both_databases,
    pushkill::{Plan, run},
};

on_both_databases![whatever_is_killed_when_nothing_is_lost_and_nothing_done_twice];

// withstands: F002, F003, F010, F115
async fn whatever_is_killed_when_nothing_is_lost_and_nothing_done_twice(kind: Kind) {
    // On PostgreSQL, after a crash the next owner first waits for the takeover grace of the last one.
    let kills = if kind == Kind::Sqlite { 25 } else { 2 };
    let plan = Plan { kind, kills, seed: 20_261_121, labels: false, longest: Duration::from_secs(240) };
    let report = run(plan).await;
    println!("{kind:?}\n{report}");
    assert!(report.is_clean(0), "{report}");
    assert!(report.has_worked(), "nothing was asked for or done: {report}");
    // Two kills may both fall between two calls; twenty-five do not.
    assert!(kills < 25 || report.has_provoked(), "nothing was interrupted: {report}");
}
