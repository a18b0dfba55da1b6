//! Kills the service with `kill -9` repeatedly while an ERP writes levels, movements, prices, transitions and labels,
//! buyers place orders, and one answer in ten is lost after the work was done. Compares the marketplace's effects
//! with the rows.
//!
//! `cargo bench -p espelho-tests --bench pushkill -- [--kills 5000] [--seed S] [--database sqlite|postgres] [--round
//! 1000]`, with a PostgreSQL in `ESPELHO_TEST_POSTGRES` for the latter. Each round has an installation of its own.
//! Exits with 1 if something was lost, doubled or settled wrongly, or if more than one command in a thousand is in
//! doubt.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]

mod support;

use std::time::Duration;

use espelho_tests::{
    Kind,
    pushkill::{Plan, run},
};
use support::argument;

fn main() {
    support::espelho();
    let number = |name, otherwise| argument(name).map_or(otherwise, |text: String| text.parse().unwrap());
    let (kills, seed, round): (u64, u64, u64) =
        (number("--kills", 5_000), number("--seed", 20_261_121), number("--round", 1_000));
    let kind = match argument("--database").as_deref() {
        None | Some("sqlite") => Kind::Sqlite,
        Some("postgres") => Kind::Postgres,
        Some(other) => panic!("--database {other}: sqlite or postgres"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (mut done, mut is_clean) = (0, true);
    let mut total = [0; 5];
    while done < kills {
        let plan = Plan {
            kind,
            kills: round.min(kills - done),
            seed: seed + done,
            labels: true,
            longest: Duration::from_secs(600),
        };
        let report = runtime.block_on(run(plan));
        println!("\n{kind:?}, seed {}\n{report}", plan.seed);
        done += report.kills;
        is_clean &= report.is_clean(1);
        let found =
            [&report.lost, &report.doubled, &report.wrong, &report.doubtful].map(|found| found.len() as u64);
        total[0] += report.commands;
        for (sum, found) in total[1..].iter_mut().zip(found) {
            *sum += found;
        }
    }
    let [commands, lost, doubled, wrong, doubtful] = total;
    println!(
        "all: {done} kills, {commands} commands, {lost} lost, {doubled} doubled, {wrong} wrongly settled, {doubtful} doubtful"
    );
    if !is_clean {
        std::process::exit(1);
    }
}
