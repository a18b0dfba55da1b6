//! Checks that the mirror of the installed binary converges to the marketplace, whatever happens to the deliveries.
//!
//! `ESPELHO_TEST_POSTGRES=URL cargo bench -p espelho-tests --bench converge -- [--seconds 60]`: 20 new orders and 50
//! changes a second, without a limit, then half an order and a change a second within 300 requests a minute; both
//! databases. Exits with 1 if the mirror stays different.
#![allow(dead_code, reason = "what keeps a service busy is shared with the tests")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]

#[path = "../tests/live/driving.rs"]
mod driving;
#[path = "../tests/live/keeping.rs"]
mod keeping;
#[path = "../tests/webhooks/receiving.rs"]
mod receiving;
mod support;

use driving::{Plan, run};
use espelho_sandbox::DeliveryFault::{Delayed, Doubled, HeldBack, Lost};
use espelho_tests::Kind;

/// The default sweeps, with shorter intervals for what no delivery reports.
const WITHIN_BUDGET: &str = "campaigns = 120\nmedia = 300\nprofile = 300\n";

fn main() {
    support::espelho();
    let seconds = support::argument("--seconds").map_or(60, |text| text.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    println!(
        "{:<34} {:<9} {:>7} {:>8} {:>9} {:>9} {:>7} {:>8}  differing",
        "deliveries", "database", "orders", "changes", "received", "requests", "rows", "took s"
    );
    let mixed = [(300, Doubled), (300, HeldBack), (300, Delayed(5))];
    let half: Vec<_> = [(500, Lost)].into_iter().chain(mixed).collect();
    let budget = Plan {
        orders_per_second: 0.5,
        changes_per_second: 1.0,
        requests_per_minute: Some(300),
        schedule: WITHIN_BUDGET,
        looks: 3_000,
        ..Plan::busy(seconds, &half)
    };
    let plans = [
        ("as they should be", Plan::busy(seconds, &[])),
        ("doubled", Plan::busy(seconds, &[(1_000, Doubled)])),
        ("doubled, reordered, late", Plan::busy(seconds, &mixed)),
        ("half lost, others so", Plan::busy(seconds, &half)),
        ("all lost", Plan::busy(seconds, &[(1_000, Lost)])),
        ("half lost, others so; 300 a minute", budget),
    ];
    let mut differs = false;
    for (name, plan) in &plans {
        for kind in [Kind::Sqlite, Kind::Postgres] {
            let done = runtime.block_on(run(kind, plan));
            differs |= !done.differing.is_empty();
            println!(
                "{name:<34} {:<9} {:>7} {:>8} {:>9} {:>9} {:>7} {:>8.1}  {:?}",
                format!("{kind:?}"),
                done.orders,
                done.changes,
                done.received,
                done.requests,
                done.rows,
                done.took.as_secs_f64(),
                done.differing
            );
        }
    }
    if differs {
        std::process::exit(1);
    }
}
