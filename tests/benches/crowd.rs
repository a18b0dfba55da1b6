//! Very much open work at once: what it costs while the budget is spent, and how soon something urgent is done.
//!
//! `cargo bench -p espelho-tests --bench crowd -- [--rows 1000000] [--only commands|unknown] [--database sqlite|postgres]`.
//! `commands` opens as many commands of 1.2 kB with 300 requests a minute, lets one minute go by, measures the next, and
//! then writes a level of zero and a status of an order. `unknown` writes a tenth as many levels of SKUs that nobody
//! knows, and waits until each is answered.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

#[path = "support/mod.rs"]
mod support;

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use espelho_sandbox::{Options, Sandbox, start};
use espelho_tests::{Installation, Kind, Mirror, installation::STORE};
use support::{argument, cpu_seconds, memory};
use tokio::net::TcpListener;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let rows: u64 = argument("--rows").map_or(1_000_000, |text| text.parse().unwrap());
    for (name, kind) in [("sqlite", Kind::Sqlite), ("postgres", Kind::Postgres)] {
        if argument("--database").is_some_and(|only| only != name) {
            continue;
        }
        if argument("--only").is_none_or(|only| only == "commands") {
            println!("{name}, {rows} commands: {}", commands(kind, rows).await);
        }
        if argument("--only").is_none_or(|only| only == "unknown") {
            println!("{name}, {} unknown SKUs: {}", rows / 10, unknown_skus(kind, rows / 10).await);
        }
    }
}

/// A shop whose products and orders are mirrored, and the service that works on it.
struct Shop {
    installation: Installation,
    sandbox: Sandbox,
    mirror: Mirror,
}

impl Shop {
    async fn open(kind: Kind) -> Self {
        let installation = Installation::on(kind).await;
        installation.write_main("[schedule]\nreconcile = \"0 0 0 1 1 *\"\n");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let options = Options { orders: 200, products: 300, rate: None, ..Options::default() };
        let sandbox = start(listener, options).await.unwrap();
        let access = sandbox.stores().remove(0);
        let within = |budget| {
            let (url, user, password) = (sandbox.base_url(), &access.username, &access.password);
            installation.write_store_within(budget, STORE, &url, user, password, "");
        };
        within(1_000_000);
        installation.resync(&[]).await.expect(0);
        within(300);
        let mirror = installation.mirror().await;
        Self { installation, sandbox, mirror }
    }

    fn start(&self) -> tokio::process::Child {
        let mut command = tokio::process::Command::new(support::espelho());
        command.arg("--config").arg(self.installation.dir()).arg("run").current_dir(self.installation.dir());
        command.env("ESPELHO__LOG__LEVEL", "error").stdout(Stdio::null()).kill_on_drop(true).spawn().unwrap()
    }

    async fn number(&self, sql: &str) -> u64 {
        self.text(sql).await.parse().unwrap()
    }

    async fn text(&self, sql: &str) -> String {
        self.mirror.ask(sql).await[0]["n"].clone()
    }

    /// Writes a row, and returns how long its state stayed `new`.
    async fn seconds_new(&self, insert: &str, state: &str) -> f64 {
        let begun = Instant::now();
        self.mirror.execute(insert).await;
        while self.text(state).await == "new" && begun.elapsed() < MINUTE {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        begun.elapsed().as_secs_f64()
    }
}

async fn commands(kind: Kind, rows: u64) -> String {
    const OPEN: &str = "SELECT CAST(count(*) AS TEXT) AS n FROM commands WHERE state = 'new'";
    let shop = Shop::open(kind).await;
    let text = "x".repeat(1_150);
    let insert = format!(
        "INSERT INTO commands (store, kind, key, data) WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 \
         FROM numbers WHERE n < {rows}) SELECT '{STORE}', 'order.notes', 'X-' || n, '{{\"notes\": \"{text}\"}}' FROM numbers"
    );
    shop.mirror.execute(&insert).await;
    let service = shop.start();
    let process = service.id().unwrap();
    tokio::time::sleep(MINUTE).await;
    let (cpu, open) = (cpu_seconds(process), shop.number(OPEN).await);
    shop.sandbox.control().reset_stats();
    tokio::time::sleep(MINUTE).await;
    let (cpu, done) = (cpu_seconds(process) - cpu, open - shop.number(OPEN).await);
    let requests = shop.sandbox.control().stats().requests;
    let sku = "SELECT min(sku) AS n FROM product_stock WHERE quantity > 0 AND gone_at IS NULL";
    let sku = shop.text(sku).await;
    let of_sku = format!("FROM product_stock WHERE sku = '{sku}' AND quantity > 0 AND gone_at IS NULL");
    let level = shop.text(&format!("SELECT min(location_id) AS n {of_sku}")).await;
    let zero = shop
        .seconds_new(
            &format!("INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('{STORE}', '{sku}', '{level}', 0)"),
            "SELECT state AS n FROM erp_stock",
        )
        .await;
    let order = shop.text("SELECT min(order_number) AS n FROM orders").await;
    let status = shop
        .seconds_new(
            &format!("INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', 'order.status', '{order}', '{{\"status\": \"preparing\"}}')"),
            "SELECT state AS n FROM commands WHERE kind = 'order.status'",
        )
        .await;
    format!(
        "{cpu:.1} CPU seconds in a minute, {done} done of {requests} requests, zero after {zero:.1} s, status after \
         {status:.1} s, peak {:.0} MiB",
        memory(process, "VmHWM")
    )
}

async fn unknown_skus(kind: Kind, rows: u64) -> String {
    const OPEN: &str =
        "SELECT CAST(count(*) AS TEXT) AS n FROM erp_stock WHERE state IN ('new', 'waiting', 'sending')";
    let shop = Shop::open(kind).await;
    let insert = format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL \
         SELECT n + 1 FROM numbers WHERE n < {rows}) SELECT '{STORE}', 'U-' || n, '1', 5 FROM numbers"
    );
    shop.mirror.execute(&insert).await;
    let (service, begun) = (shop.start(), Instant::now());
    let process = service.id().unwrap();
    while shop.number(OPEN).await > 0 {
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    format!(
        "all answered after {:.1} s, {:.1} CPU seconds, peak {:.0} MiB",
        begun.elapsed().as_secs_f64(),
        cpu_seconds(process),
        memory(process, "VmHWM")
    )
}
