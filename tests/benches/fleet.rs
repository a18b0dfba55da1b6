//! Thousands of stores in one service: their cost at the start, during the first mirroring, and idle.
//!
//! `cargo bench -p espelho-tests --bench fleet -- [--olist DIR | --stores 3095 --orders 20 --products 10] [--idle 60]
//! [--per-minute N] [--database sqlite|postgres]`. With `--olist`, each of the data set's sellers is a store.
//! PostgreSQL is measured if `ESPELHO_TEST_POSTGRES` names a server. `--per-minute 300` works at the marketplace's
//! own pace.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures with the system's clock")]

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

mod support;
use support::{
    Marketplace, argument, cpu_seconds, memory,
    service::{GLANCE, Service},
};

/// No step takes this long unless it is stuck.
const LONGEST: Duration = Duration::from_secs(3_600);

fn main() {
    let number = |name: &str, default: &str| argument(name).unwrap_or_else(|| default.to_owned());
    let per_minute = number("--per-minute", "1000000");
    let rate = if per_minute == "300" { "300" } else { "off" };
    let counts = ["--stores", "--orders", "--products"];
    let defaults = ["3095", "20", "10"];
    let generated: Vec<String> =
        counts.iter().zip(defaults).flat_map(|(name, n)| [(*name).to_owned(), number(name, n)]).collect();
    let content = match argument("--olist") {
        Some(dir) => ["--olist", &dir, "--olist-split", "per-seller"].map(str::to_owned).to_vec(),
        None => generated,
    };
    let mut arguments: Vec<&str> = content.iter().map(String::as_str).collect();
    arguments.extend(["--rate", rate]);
    let idle = Duration::from_secs(number("--idle", "60").parse().unwrap());
    let only = argument("--database");
    for (name, url) in databases() {
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let marketplace = Marketplace::start(&arguments);
        measure(name, &url, &marketplace, &per_minute, idle);
    }
}

fn databases() -> Vec<(&'static str, String)> {
    let mut all = vec![("sqlite", "sqlite:fleet.db".to_owned())];
    match std::env::var("ESPELHO_TEST_POSTGRES") {
        Ok(server) => all.push(("postgres", format!("{server}/espelho_fleet"))),
        Err(_) => println!("PostgreSQL is left out: ESPELHO_TEST_POSTGRES names no server"),
    }
    all
}

fn measure(name: &str, url: &str, marketplace: &Marketplace, per_minute: &str, idle: Duration) {
    let scratch = tempfile::tempdir().unwrap();
    if name == "postgres" {
        create_database(url);
    }
    let address = write_configuration(scratch.path(), url, marketplace, per_minute);
    let stores = marketplace.stores().len();
    println!("{name}, {stores} stores, {per_minute} requests a minute each; load {}", load());
    let service = Service::start(scratch.path(), address);
    service.report("ready");
    while !service.is_ready() {
        assert!(service.begun.elapsed() < LONGEST, "not all stores are mirrored");
        std::thread::sleep(GLANCE);
    }
    service.report("all mirrored");
    tell_stats("  first mirror", marketplace);
    service.settle();
    marketplace.reset_stats();
    let cpu = cpu_seconds(service.id());
    let mut most: f64 = 0.0;
    let begun = Instant::now();
    while begun.elapsed() < idle {
        most = most.max(memory(service.id(), "VmRSS"));
        std::thread::sleep(GLANCE);
    }
    let busy = (cpu_seconds(service.id()) - cpu) / begun.elapsed().as_secs_f64() * 100.0;
    service.report("idle");
    println!(
        "  idle for {:.0} s: at most {most:.1} MiB, {busy:.1} % of one core",
        begun.elapsed().as_secs_f64()
    );
    tell_stats("  idle", marketplace);
    for path in ["/status", "/", "/metrics", "/readyz"] {
        service.ask_and_tell(path);
    }
    service.report("asked");
    println!("  logins by store: {}", logins(name, url, scratch.path()));
    service.stop();
}

/// Writes the whole configuration; returns the address of the pages.
fn write_configuration(dir: &Path, url: &str, marketplace: &Marketplace, per_minute: &str) -> SocketAddr {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let main = format!("[database]\nurl = \"{url}\"\n[http]\nlisten = \"{address}\"\n");
    fs::write(dir.join("espelho.toml"), main).unwrap();
    fs::create_dir(dir.join("stores")).unwrap();
    for [store, username, password] in marketplace.stores() {
        let text = format!(
            "environment = \"sandbox\"\nbase_url = \"{}\"\n[credentials]\nusername = \"{username}\"\n\
             password = \"{password}\"\n[limits]\nrequests_per_minute = {per_minute}\n",
            marketplace.base_url()
        );
        fs::write(dir.join(format!("stores/{store}.toml")), text).unwrap();
    }
    address
}

fn tell_stats(what: &str, marketplace: &Marketplace) {
    let stats = marketplace.stats();
    println!(
        "{what}: {} requests, {} logins, {} refused (429), most of one token in 60 s {}, by status {}",
        stats["requests"], stats["logins"], stats["rate_limited"], stats["max_in_60s"], stats["by_status"]
    );
}

/// Returns the number of stores, the fewest and most logins of one store, the orders, and the stores whose newest run
/// is complete.
fn logins(name: &str, url: &str, dir: &Path) -> String {
    const SQL: &str = "SELECT CAST(count(*) AS TEXT), CAST(min(n) || ' to ' || max(n) AS TEXT), \
        (SELECT count(*) FROM orders) FROM (SELECT count(*) AS n FROM logins GROUP BY store) AS each";
    match name {
        "postgres" => {
            let output = Command::new("psql").args([url, "-Atc", SQL]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        }
        _ => support::ask_sqlite(dir.join("fleet.db").to_str().unwrap(), SQL),
    }
}

fn create_database(url: &str) {
    let (server, database) = url.rsplit_once('/').unwrap();
    let admin = format!("{server}/postgres");
    let drop = format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)");
    for sql in [drop, format!("CREATE DATABASE {database}")] {
        let done = Command::new("psql").args([&admin, "-qc", &sql]).stderr(Stdio::null()).status().unwrap();
        assert!(done.success(), "psql could not run {sql}");
    }
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}
