//! Many changes of stock at once: their cost in requests, time and memory, and how soon a sold-out level is sent.
//!
//! `cargo bench -p espelho-tests --bench pushload -- [--skus 5000] [--zeroes 200] [--only at-once|stream|limited]
//! [--database sqlite|postgres]`. The ERP writes each SKU twice: in one transaction (`at-once`), statement by
//! statement over 20 s (`stream`), or in one transaction with 300 requests a minute (`limited`), where only the first
//! minute is measured.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

#[path = "support/mod.rs"]
mod support;

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use espelho_sandbox::{Options, Sandbox, start};
use espelho_tests::{
    Installation, Kind,
    installation::STORE,
    levels::{Asked, Changes, levels, statement},
};
use support::argument;
use tokio::{net::TcpListener, process::Child};

/// How long the ERP takes to write everything in a stream.
const STREAM: Duration = Duration::from_secs(20);
const OPEN: &str = "SELECT sku AS s FROM erp_stock WHERE state IN ('new', 'waiting', 'sending') LIMIT 1";

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let number = |name, otherwise| argument(name).map_or(otherwise, |text: String| text.parse().unwrap());
    let (skus, zeroes): (usize, usize) = (number("--skus", 5_000), number("--zeroes", 200));
    for (name, kind) in [("sqlite", Kind::Sqlite), ("postgres", Kind::Postgres)] {
        if argument("--database").is_some_and(|only| only != name) {
            continue;
        }
        for case in ["at-once", "stream", "limited"] {
            if argument("--only").is_none_or(|only| only == case) {
                println!("{name} {case}: {}", measure(case, kind, skus, zeroes).await);
            }
        }
    }
}

async fn measure(case: &str, kind: Kind, skus: usize, zeroes: usize) -> String {
    let installation = Installation::on(kind).await;
    installation.write_main("[schedule]\nreconcile = \"0 0 0 1 1 *\"\n");
    // Products with several locations are not used.
    let products = skus + skus / 2;
    let full = marketplace(&installation, products, None, 1_000_000).await;
    let mut filling = command(&installation, &["--resync", "--only", "products"]);
    assert!(filling.status().await.unwrap().success());
    let sandbox = match case {
        "limited" => {
            drop(full);
            marketplace(&installation, products, Some(300), 300).await
        }
        _ => full,
    };
    let mirror = installation.mirror().await;
    let levels = levels(&mirror, skus).await;
    let changes = Changes::of(&levels, zeroes);
    let mut service = command(&installation, &["run"]).spawn().unwrap();
    // The checks of the start are done, and the minute's budget is free again.
    tokio::time::sleep(Duration::from_secs(if case == "limited" { 65 } else { 10 })).await;
    let (process, control) = (service.id().unwrap(), sandbox.control());
    let (mut asked, cpu, began) = (Asked::from_now(&control), support::cpu_seconds(process), Instant::now());
    control.reset_stats();
    match case {
        "stream" => {
            let changes = changes.clone().shuffled(7);
            let count = changes.writes.len() as u32;
            for (at, write) in changes.writes.iter().enumerate() {
                tokio::time::sleep_until((began + STREAM * at as u32 / count).into()).await;
                mirror.execute(&statement(std::slice::from_ref(write))).await;
                if at % 100 == 0 {
                    asked.count(&control);
                }
            }
        }
        _ => changes.write_at_once(&mirror).await,
    }
    let written = began.elapsed().as_secs_f64();
    let mut emptied = None;
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        asked.count(&control);
        if emptied.is_none() && asked.missing(&changes.emptied) == 0 {
            emptied = Some(began.elapsed().as_secs_f64());
        }
        let is_over = case == "limited" && emptied.is_some() || mirror.ask(OPEN).await.is_empty();
        if is_over || began.elapsed() > Duration::from_secs(900) {
            break;
        }
    }
    let took = began.elapsed().as_secs_f64();
    asked.count(&control);
    let drift = mirror.ask("SELECT key FROM v_drift WHERE entity = 'stock'").await.len();
    let failed = mirror.ask("SELECT key FROM v_errors").await.len();
    let (cpu, peak) = (support::cpu_seconds(process) - cpu, support::memory(process, "VmHWM"));
    let told = format!(
        "{} writes of {} SKUs in {written:.1} s, {} levels end different, {} at zero; {} set requests, {} levels set more than once, \
         {} not set, {} reads, {} others, {} refused; last zero sent after {:.1} s; all after {took:.1} s, {} in drift, {failed} errors; \
         CPU {cpu:.1} s, peak {peak:.0} MiB; most in 60 s {}, 429s {}",
        changes.writes.len(),
        levels.len(),
        changes.different.len(),
        changes.emptied.len(),
        asked.writes(),
        asked.repeated(),
        asked.missing(&changes.different),
        asked.reads,
        asked.others,
        asked.refused,
        emptied.unwrap_or(f64::NAN),
        drift,
        control.stats().max_in_60s,
        control.stats().rate_limited
    );
    end(&mut service).await;
    told
}

async fn marketplace(
    installation: &Installation,
    products: usize,
    rate: Option<u32>,
    budget: u32,
) -> Sandbox {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let sandbox = start(listener, Options { orders: 0, products, rate, ..Options::default() }).await.unwrap();
    let access = sandbox.stores().remove(0);
    installation.write_store_within(
        budget,
        STORE,
        &sandbox.base_url(),
        &access.username,
        &access.password,
        "",
    );
    sandbox
}

fn command(installation: &Installation, arguments: &[&str]) -> tokio::process::Command {
    let log = installation.dir().join("log");
    let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
    let mut command = tokio::process::Command::new(support::espelho());
    command.arg("--config").arg(installation.dir()).args(arguments).current_dir(installation.dir());
    command.env_remove("ESPELHO_TEST_POSTGRES").stdout(Stdio::null()).stderr(log).kill_on_drop(true);
    command
}

async fn end(service: &mut Child) {
    service.kill().await.unwrap();
}
