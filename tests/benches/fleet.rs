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
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

mod support;
use support::{Marketplace, argument, cpu_seconds, memory, of_process};

/// The interval between two reads of the service.
const GLANCE: Duration = Duration::from_millis(250);
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

/// `espelho run`, killed when this is dropped.
struct Service {
    child: Child,
    address: SocketAddr,
    begun: Instant,
}

impl Service {
    /// Starts it, and waits until it serves its health page.
    fn start(dir: &Path, address: SocketAddr) -> Self {
        let mut command = Command::new(support::espelho());
        command.arg("--config").arg(dir).arg("run").current_dir(dir);
        command.env("ESPELHO__LOG__LEVEL", argument("--log").unwrap_or_else(|| "warn".to_owned()));
        let begun = Instant::now();
        let mut service = Self { child: command.stdout(Stdio::null()).spawn().unwrap(), address, begun };
        // The socket is bound before anything else, but served only after every store was requested.
        while service.try_ask("/livez").is_none() {
            assert!(service.child.try_wait().unwrap().is_none(), "the service has ended");
            std::thread::sleep(GLANCE);
        }
        service
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    fn try_ask(&self, path: &str) -> Option<(String, String)> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.to_owned(), body.to_owned()))
    }

    fn is_ready(&self) -> bool {
        self.try_ask("/readyz").is_some_and(|(head, _)| head.contains(" 200 "))
    }

    fn ask_and_tell(&self, path: &str) {
        let begun = Instant::now();
        let (head, body) = self.try_ask(path).unwrap();
        let (ms, status) = (begun.elapsed().as_millis(), head.lines().next().unwrap_or_default().to_owned());
        println!("  GET {path:<10} {ms:>6} ms {:>8} KiB  {status}", body.len() / 1_024);
    }

    /// Waits until requests stop falling. The sweeps that follow the first reconciliation are part of the start, so
    /// idle begins here.
    fn settle(&self) {
        let quiet = Duration::from_secs(argument("--settle").map_or(60, |seconds| seconds.parse().unwrap()));
        let begun = Instant::now();
        while begun.elapsed() < quiet {
            std::thread::sleep(GLANCE);
        }
        self.report("settled");
    }

    fn report(&self, when: &str) {
        let id = self.id();
        let files = fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
        let status = of_process(id, "status");
        let threads =
            status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap_or_default().trim();
        println!(
            "  {when:<14} after {:>6.1} s  {:>7.1} MiB now  {:>7.1} MiB peak  {:>7.1} CPU s  {files} descriptors  \
             {threads} threads",
            self.begun.elapsed().as_secs_f64(),
            memory(id, "VmRSS"),
            memory(id, "VmHWM"),
            cpu_seconds(id)
        );
    }

    fn stop(mut self) {
        let begun = Instant::now();
        espelho_tests::signals::send(self.id(), "TERM");
        let status = self.child.wait().unwrap();
        println!("  SIGTERM: {status} after {:.1} s", begun.elapsed().as_secs_f64());
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
