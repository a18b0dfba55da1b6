//! The price tier planner: random pairs of current and desired tiers, executed on the sandbox over HTTP.
//!
//! `cargo bench -p espelho-tests --bench tiers -- --pairs 100000 --seed 1`
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

#[path = "support/mod.rs"]
mod support;

use std::time::Instant;

use espelho_tests::{sandbox, tiers};
use support::argument;

#[tokio::main]
async fn main() {
    let number = |name, otherwise| argument(name).map_or(otherwise, |text: String| text.parse().unwrap());
    let (pairs, seed) = (number("--pairs", 100_000), number("--seed", 1));
    let sandbox = sandbox(0, 0).await;
    let began = Instant::now();
    let executed = tiers::execute(&sandbox, pairs as usize, seed).await;
    let took = began.elapsed().as_secs_f64();
    println!(
        "{executed}\n{took:.1} s, {:.0} pairs/s, {:.0} writes/s",
        pairs as f64 / took,
        executed.requests as f64 / took
    );
    assert!(executed.is_flawless());
}
