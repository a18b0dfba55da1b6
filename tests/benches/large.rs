//! A large shop: what an order costs beside a small shop's, memory, and how long its people wait.
//!
//! `cargo bench -p espelho-tests --bench large -- [--orders 1000000] [--few 10000] [--binary FILE]`. SQLite, and
//! PostgreSQL if `ESPELHO_TEST_POSTGRES` names a server. The marketplace has no limit while the mirror is filled.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures with the system's clock")]

use std::{
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

mod support;
use support::{Database, Marketplace, Shop, argument, cpu_seconds, databases, service::Service};

/// The service does its start-up work meanwhile; the second look at the pages comes after it.
const SETTLES: Duration = Duration::from_secs(60);

fn main() {
    let [few, many] = [("--few", "10000"), ("--orders", "1000000")]
        .map(|(name, otherwise)| argument(name).unwrap_or_else(|| otherwise.to_owned()));
    let scratch = tempfile::tempdir().unwrap();
    let marketplaces = [&few, &many]
        .map(|orders| Marketplace::start(&["--orders", orders, "--products", "1000", "--rate", "off"]));
    for database in databases(scratch.path()) {
        let [of_few, of_many] =
            [(&few, &marketplaces[0]), (&many, &marketplaces[1])].map(|(orders, marketplace)| {
                database.empty();
                mirror(orders, marketplace, scratch.path(), &database)
            });
        println!("  {}: an order of many costs {:.3} times one of few\n", database.name, of_many / of_few);
        live(&marketplaces[1], scratch.path(), &database);
    }
}

/// Mirrors all orders; returns the CPU seconds for each.
fn mirror(orders: &str, marketplace: &Marketplace, scratch: &Path, database: &Database) -> f64 {
    let shop = Shop::write(scratch, marketplace, &database.url, 10_000_000);
    let output = shop.resync().args(["--only", "orders"]).stderr(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "the reconciliation did not end well");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |of: &Value| of.as_f64().unwrap();
    let (seconds, cpu) = (number(&report["stores"][0]["seconds"]), number(&report["process"]["cpu_seconds"]));
    let each = cpu / orders.parse::<f64>().unwrap();
    println!(
        "  {}, {orders} orders: {seconds:.1} s, {cpu:.1} CPU s, {:.1} µs of CPU for each, peak {:.1} MiB",
        database.name,
        each * 1e6,
        number(&report["process"]["peak_memory_mib"]),
    );
    each
}

/// Starts the service on the full mirror, at the marketplace's own pace, and asks it what people ask.
fn live(marketplace: &Marketplace, scratch: &Path, database: &Database) {
    Shop::write(scratch, marketplace, &database.url, 300);
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let installation = format!("[database]\nurl = \"{}\"\n[http]\nlisten = \"{address}\"\n", database.url);
    std::fs::write(scratch.join("espelho.toml"), installation).unwrap();
    for look in ["first start", "second start"] {
        println!("{}, {look}", database.name);
        let service = Service::start(scratch, address);
        service.report("answers");
        pages(&service, scratch, address);
        let (cpu, begun) = (cpu_seconds(service.id()), Instant::now());
        std::thread::sleep(SETTLES);
        let busy = (cpu_seconds(service.id()) - cpu) / begun.elapsed().as_secs_f64() * 100.0;
        println!("  live for {:.0} s: {busy:.1} % of one core", begun.elapsed().as_secs_f64());
        pages(&service, scratch, address);
        service.report("asked");
        service.stop();
    }
}

fn pages(service: &Service, scratch: &Path, address: SocketAddr) {
    let store = std::fs::read_dir(scratch.join("stores")).unwrap().next().unwrap().unwrap().path();
    let store = format!("/lojas/{}", store.file_stem().unwrap().display());
    for path in ["/", &store, "/status", "/metrics", "/readyz"] {
        service.ask_and_tell(path);
    }
    let begun = Instant::now();
    let mut status = Command::new(support::espelho());
    let ended = status
        .arg("--config")
        .arg(scratch)
        .arg("status")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    println!("  espelho status {:>6} ms  {ended}, service at {address}", begun.elapsed().as_millis());
}
