//! The erasure of all people of a store, beside live work.
//!
//! `cargo bench -p espelho-tests --bench erase -- [--orders 1000000] [--database sqlite|postgres] [--binary FILE]`. The
//! orders are mirrored without a limit. Then the service runs within 300 requests a minute, a delivery announces a
//! change every two seconds, and `espelho forget --everyone` runs until it ends. Times are taken from outside: from
//! the change to the row that shows it.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures with the system's clock")]

mod support;

use std::{collections::BTreeMap, process::Stdio, time::Duration};

use espelho_sandbox::{Options, Sandbox, start};
use espelho_tests::{Installation, Kind, Mirror, installation::STORE};
use support::{argument, memory};
use tokio::{
    net::TcpListener,
    process::{Child, Command},
    time::Instant,
};

/// How often an order changes, and how often the mirror is asked.
const CHANGES_EVERY: Duration = Duration::from_secs(2);
const ASKS_EVERY: Duration = Duration::from_millis(50);
/// How long the service runs before the erasure.
const SETTLES: Duration = Duration::from_secs(90);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let orders: usize = argument("--orders").map_or(1_000_000, |text| text.parse().unwrap());
    for (name, kind) in [("sqlite", Kind::Sqlite), ("postgres", Kind::Postgres)] {
        if argument("--database").is_none_or(|only| only == name) {
            println!("{name}, {orders} orders: {}", erase(kind, orders).await);
        }
    }
}

async fn erase(kind: Kind, orders: usize) -> String {
    let installation = Installation::on(kind).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = Options { orders, products: 100, rate: None, ..Options::default() };
    let sandbox = start(listener, options).await.unwrap();
    let access = sandbox.stores().remove(0);
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    installation.write_main(&format!(
        "[webhooks]\nlisten = \"{socket}\"\n[schedule]\nreconcile = \"0 0 0 1 1 *\"\n[log]\nlevel = \"error\"\n"
    ));
    let webhook = format!("[webhook]\npublic_url = \"http://{socket}/webhooks/{STORE}\"\n");
    let within = |budget, more: &str| {
        let (url, user, password) = (sandbox.base_url(), &access.username, &access.password);
        installation.write_store_within(budget, STORE, &url, user, password, more);
    };
    within(10_000_000, "");
    command(&installation, &["--resync", "--only", "orders"]).status().await.unwrap();
    within(300, &webhook);
    let mut service = command(&installation, &["run"]).spawn().unwrap();
    // The mirroring has spent the budget of the minute, and the first sweeps are part of the start.
    tokio::time::sleep(SETTLES).await;
    let mirror = installation.mirror().await;
    let began = Instant::now();
    let arguments = ["forget", "--everyone", "--store", STORE, "--yes", "--json"];
    let mut forget = command(&installation, &arguments).spawn().unwrap();
    let lags = change_meanwhile(&sandbox, &access.key, &mirror, &mut forget).await;
    let status = forget.wait().await.unwrap();
    let took = began.elapsed().as_secs_f64();
    let peak = memory(service.id().unwrap(), "VmHWM");
    let left = "SELECT CAST(count(*) AS TEXT) AS n FROM orders WHERE customer_name IS NOT NULL";
    let left = mirror.ask(left).await[0]["n"].clone();
    service.kill().await.unwrap();
    let at =
        |share: f64| lags.get((lags.len() as f64 * share) as usize).map_or(f64::NAN, Duration::as_secs_f64);
    format!(
        "{took:.0} s ({status}), {left} names left; {} changes seen after p50 {:.2} s, p99 {:.2} s; service peak \
         {peak:.0} MiB",
        lags.len(),
        at(0.5),
        at(0.99),
    )
}

/// Changes one order after the other until the erasure ends; returns the sorted times until the mirror showed each.
async fn change_meanwhile(
    sandbox: &Sandbox,
    store: &str,
    mirror: &Mirror,
    forget: &mut Child,
) -> Vec<Duration> {
    let paid =
        "SELECT order_number AS n FROM orders WHERE status = 'paid' ORDER BY order_number DESC LIMIT 2000";
    let mut numbers = mirror.ask(paid).await.into_iter().map(|mut row| row.remove("n").unwrap());
    let (mut pending, mut lags) = (BTreeMap::<String, Instant>::new(), Vec::new());
    let mut next = Instant::now();
    while forget.try_wait().unwrap().is_none() || !pending.is_empty() {
        if next <= Instant::now()
            && forget.try_wait().unwrap().is_none()
            && let Some(number) = numbers.next()
        {
            next += CHANGES_EVERY;
            sandbox.control().orders().set_status(store, &number, "preparing");
            pending.insert(number, Instant::now());
        }
        let keys: Vec<String> = pending.keys().map(|key| format!("'{key}'")).collect();
        if !keys.is_empty() {
            let keys = keys.join(",");
            let sql = format!(
                "SELECT order_number AS n FROM orders WHERE status = 'preparing' AND order_number IN ({keys})"
            );
            for row in mirror.ask(&sql).await {
                lags.extend(pending.remove(&row["n"]).map(|since| since.elapsed()));
            }
        }
        tokio::time::sleep(ASKS_EVERY).await;
    }
    lags.sort();
    lags
}

fn command(installation: &Installation, arguments: &[&str]) -> Command {
    let mut command = Command::new(support::espelho());
    command.arg("--config").arg(installation.dir()).args(arguments).current_dir(installation.dir());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    command
}
