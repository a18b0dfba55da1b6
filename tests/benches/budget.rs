//! Runs three minutes at the marketplace's limit, for each way of counting a minute, side by side.
//!
//! `cargo bench -p espelho-tests --bench budget`
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]

use std::{process::Stdio, thread, time::Duration};

mod support;
use support::{Marketplace, Shop};

fn main() {
    let runs: Vec<_> =
        ["fixed", "sliding", "first-hit"].map(|window| thread::spawn(move || run(window))).into();
    println!(
        "{:<10} {:>10} {:>10} {:>10} {:>12} {:>6} {:>16}",
        "window", "at 60 s", "at 120 s", "at 180 s", "used after", "429s", "most in any 60 s"
    );
    for run in runs {
        println!("{}", run.join().unwrap());
    }
}

fn run(window: &str) -> String {
    let marketplace = Marketplace::start(&[
        "--orders",
        "1300",
        "--products",
        "0",
        "--rate",
        "300",
        "--rate-window",
        window,
    ]);
    let scratch = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", scratch.path().join("bench.db").display());
    let shop = Shop::write(scratch.path(), &marketplace, &database, 300);
    let mut child =
        shop.resync().args(["--only", "orders"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let counts = [60, 120, 180].map(|_| {
        thread::sleep(Duration::from_secs(60));
        marketplace.stats()["requests"].as_u64().unwrap()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let stats = marketplace.stats();
    let used = (counts[2] - counts[0]) as f64 / 6.0;
    let [a, b, c] = counts;
    let (refused, most) = (&stats["rate_limited"], &stats["max_in_60s"]);
    format!("{window:<10} {a:>10} {b:>10} {c:>10} {used:>11.1}% {refused:>6} {most:>16}")
}
