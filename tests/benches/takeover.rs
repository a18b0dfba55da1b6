//! Measures the takeover: the time from `kill -9` of the active service until the standby calls all stores.
//!
//! `cargo bench -p espelho-tests --bench takeover -- --stores 50 --kills 5`, with a PostgreSQL in
//! `ESPELHO_TEST_POSTGRES`; `--binary FILE` uses another binary than the installed one.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

#[path = "support/mod.rs"]
mod support;

use std::{
    process::Command,
    time::{Duration, Instant},
};

use espelho_tests::{
    Installation, Kind, Shop,
    shop::{Order, PASSWORD, USERNAME},
};
use support::argument;

#[tokio::main]
async fn main() {
    let number = |name, otherwise| argument(name).map_or(otherwise, |text: String| text.parse().unwrap());
    let (stores, kills): (usize, usize) = (number("--stores", 20), number("--kills", 5));
    let installation = Installation::on(Kind::Postgres).await;
    let mut shops = Vec::new();
    for store in 1..=stores {
        let shop = Shop::open(Order::many(2)).await;
        installation.write_store(&format!("loja-{store}"), &shop.base_url(), USERNAME, PASSWORD);
        shops.push(shop);
    }
    let binary = support::espelho();
    let start = || {
        let mut command = Command::new(&binary);
        command.arg("--config").arg(installation.dir()).arg("run");
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let mut owner = start();
    called_by(&shops, owner.id()).await;
    let mut slowest = Duration::ZERO;
    for kill in 1..=kills {
        let next = start();
        tokio::time::sleep(Duration::from_secs(3)).await;
        shops.iter().for_each(|shop| drop(shop.take_calls()));
        owner.kill().unwrap();
        let killed = Instant::now();
        called_by(&shops, next.id()).await;
        let took = killed.elapsed();
        println!("kill {kill}: {stores} stores called by the next service after {:.1} s", took.as_secs_f64());
        slowest = slowest.max(took);
        owner.wait().unwrap();
        owner = next;
    }
    owner.kill().unwrap();
    owner.wait().unwrap();
    println!("slowest of {kills}: {:.1} s (at most 15)", slowest.as_secs_f64());
}

async fn called_by(shops: &[Shop], process: u32) {
    for shop in shops {
        while shop.count(|call| call.process == Some(process)) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
