//! How long a change takes from the marketplace to the mirror, within 300 requests a minute.
//!
//! `cargo bench -p espelho-tests --bench latency -- [--seconds 300] [--only hints|backfill|sweeps] [--database
//! sqlite|postgres] [--open 2000] [--closed 1000]`. With `hints`, deliveries announce changes, five events a second,
//! to a store that is mirrored with all sub-resources. With `backfill`, the sub-resources are read for the first time
//! meanwhile. With `sweeps`, no delivery announces anything, and one open order changes a second. The store is filled
//! from a marketplace without a limit; the measurement uses another one of the same seed, with the limit on. Times
//! are taken from outside: from the change to the row that shows it or a later state.
#![allow(dead_code, reason = "what keeps a store is shared with the tests")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures with the system's clock")]

#[path = "latency/changing.rs"]
mod changing;
#[path = "latency/watching.rs"]
mod watching;

mod support;

use std::{
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use changing::Changing;
use espelho_sandbox::{Options, Sandbox, start};
use espelho_tests::{Installation, Kind, installation::STORE};
use support::argument;
use tokio::{net::TcpListener, process::Child, time::Instant};
use watching::Watching;

/// A measurement and the size of its store.
struct Case {
    name: &'static str,
    /// Whether deliveries are sent.
    hints: bool,
    /// Whether every sub-resource of every order is mirrored beforehand.
    sides: bool,
    open: usize,
    closed: usize,
    seconds: u64,
    made: chrono::DateTime<chrono::Utc>,
}

fn number(name: &str, default: usize) -> usize {
    argument(name).map_or(default, |text| text.parse().unwrap())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    support::espelho();
    let seconds = |default| number("--seconds", default) as u64;
    let made = chrono::Utc::now() - chrono::TimeDelta::hours(1);
    let small =
        |name, sides| Case { name, hints: true, sides, open: 800, closed: 0, seconds: seconds(300), made };
    let (open, closed) = (number("--open", 2_000), number("--closed", 1_000));
    let sweeps =
        Case { name: "sweeps", hints: false, sides: false, open, closed, seconds: seconds(900), made };
    println!(
        "{:<9} {:<9} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>6} {:>9} {:>5} {:>7}",
        "case",
        "database",
        "changes",
        "events",
        "p50 s",
        "p99 s",
        "max s",
        "unseen",
        "events/s",
        "requests",
        "429s",
        "most/60"
    );
    for case in [small("hints", true), small("backfill", false), sweeps] {
        if argument("--only").is_some_and(|only| only != case.name) {
            continue;
        }
        for (name, kind) in [("sqlite", Kind::Sqlite), ("postgres", Kind::Postgres)] {
            if argument("--database").is_none_or(|only| only == name) {
                measure(&case, name, kind).await;
            }
        }
    }
}

async fn measure(case: &Case, database: &str, kind: Kind) {
    let installation = Installation::on(kind).await;
    fill(case, &installation).await;
    let sandbox = marketplace(case, Some(300)).await;
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (main, webhook) = match case.hints {
        true => (
            format!("[webhooks]\nlisten = \"{socket}\"\n"),
            format!("[webhook]\npublic_url = \"http://{socket}/webhooks/{STORE}\"\n"),
        ),
        false => (String::new(), String::new()),
    };
    installation.write_main(&format!("{main}[log]\nlevel = \"info\"\n"));
    write_store(&installation, &sandbox, 300, &webhook);
    let watching = Watching::of(installation.mirror().await);
    let mut service = run(&installation);
    let mut changing = Changing::of(&sandbox, case.hints).await;
    settle(case, &installation, &changing).await;
    sandbox.control().reset_stats();
    let (before, began) = (changing.events(), Instant::now());
    let measured = watching.watch(&mut changing, Duration::from_secs(case.seconds)).await;
    let took = began.elapsed().as_secs_f64();
    let (stats, events) = (sandbox.control().stats(), changing.events() - before);
    println!(
        "{:<9} {database:<9} {:>7} {events:>7} {:>8.2} {:>8.2} {:>8.2} {:>8} {:>6.1} {:>9} {:>5} {:>7}",
        case.name,
        measured.changes,
        measured.at(0.5),
        measured.at(0.99),
        measured.at(1.0),
        measured.unseen,
        events as f64 / case.seconds as f64,
        stats.requests,
        stats.rate_limited,
        stats.max_in_60s
    );
    println!("  {took:.0} s; load {}; by route {:?}", load(), stats.by_route);
    println!("  slowest: {:?}", measured.slowest);
    service.kill().await.unwrap();
}

/// Mirrors the store completely, without a limit.
async fn fill(case: &Case, installation: &Installation) {
    let began = Instant::now();
    let sandbox = marketplace(case, None).await;
    installation.write_main("[schedule]\nparts = 1\n");
    write_store(installation, &sandbox, 1_000_000, "");
    let mut service = run(installation);
    let mirror = installation.mirror().await;
    let mut ticks = tokio::time::interval(Duration::from_millis(500));
    let missing = "SELECT order_number FROM orders WHERE (SELECT count(*) FROM order_parts \
        WHERE order_parts.order_number = orders.order_number AND part <> 'order') < 5";
    loop {
        ticks.tick().await;
        let done = mirror.try_ask("SELECT 'x' AS x FROM sync_runs WHERE state = 'complete'").await;
        if !done.is_empty() && (!case.sides || mirror.try_ask(missing).await.is_empty()) {
            break;
        }
    }
    // Stopped as systemd does: everything that was read is stored.
    espelho_tests::signals::send(service.id().unwrap(), "TERM");
    service.wait().await.unwrap();
    println!("  filled in {:.0} s", began.elapsed().as_secs_f64());
}

/// Waits until the service has caught up, receives deliveries, and has its whole request budget again.
async fn settle(case: &Case, installation: &Installation, changing: &Changing) {
    let log = installation.dir().join("log");
    let mut ticks = tokio::time::interval(Duration::from_millis(500));
    let said = || std::fs::read_to_string(&log).unwrap_or_default();
    while !said().contains("caught up") || case.hints && !changing.is_heard() {
        ticks.tick().await;
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
}

async fn marketplace(case: &Case, rate: Option<u32>) -> Sandbox {
    let orders = case.open + case.closed;
    // Both are created for the same moment, so that both show the same data.
    let (live, made) = (Arc::new(AtomicBool::new(false)), case.made);
    let is_live = Arc::clone(&live);
    let now = Arc::new(move || if is_live.load(SeqCst) { chrono::Utc::now() } else { made });
    let options = Options { orders, products: 60, rate, now: Some(now), ..Options::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let sandbox = start(listener, options).await.unwrap();
    // The same on both: the first orders are open, the others have ended.
    changing::open_and_close(&sandbox, case.open).await;
    live.store(true, SeqCst);
    sandbox
}

fn write_store(installation: &Installation, sandbox: &Sandbox, budget: u32, webhook: &str) {
    let access = sandbox.stores().remove(0);
    let (username, password) = (&access.username, &access.password);
    installation.write_store_within(budget, STORE, &sandbox.base_url(), username, password, webhook);
}

fn run(installation: &Installation) -> Child {
    let log = installation.dir().join("log");
    let log = std::fs::File::options().create(true).write(true).truncate(true).open(log).unwrap();
    let mut command = tokio::process::Command::new(support::espelho());
    command.arg("--config").arg(installation.dir()).arg("run").current_dir(installation.dir());
    command.env_remove("ESPELHO_TEST_POSTGRES").stdout(Stdio::null()).stderr(log).kill_on_drop(true);
    command.spawn().unwrap()
}

fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}
