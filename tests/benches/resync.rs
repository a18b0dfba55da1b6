//! A full reconciliation of the Olist data set, from the sandbox with its limit off, into SQLite and PostgreSQL.
//!
//! `cargo bench -p espelho-tests --bench resync -- --olist DIR [--kills N]`. PostgreSQL is used if
//! `ESPELHO_TEST_POSTGRES` names a server. Each database is filled from empty, read again without changes, and its
//! sums are compared with the data set's. With `--kills`, it is filled once more under `kill -9`.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

mod support;
use support::{Database, Marketplace, Shop, argument, databases};

/// Facts of the data set: `sum(price)` and `sum(freight_value)` over all lines.
const TOTAL_PRODUCTS: &str = "13591643.70";
const TOTAL_SHIPPING: &str = "2251909.54";
const ORDERS: u64 = 99_441;

fn main() {
    let Some(olist) = argument("--olist").map(PathBuf::from) else {
        println!("nothing measured: name the folder of the Olist data set with --olist DIR");
        return;
    };
    let kills: u32 = argument("--kills").map_or(0, |n| n.parse().unwrap());
    let marketplace = Marketplace::start(&["--olist", olist.to_str().unwrap(), "--rate", "off"]);
    let scratch = tempfile::tempdir().unwrap();
    println!(
        "{:<34} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9}",
        "", "seconds", "orders/s", "CPU s", "MiB", "requests", "over floor"
    );
    for database in databases(scratch.path()) {
        measure(&marketplace, scratch.path(), &database);
        if kills > 0 {
            kill_loop(&marketplace, scratch.path(), &database, kills);
        }
    }
}

/// Returns `sum(total_products)|sum(total_shipping)|count(*)` to the cent.
fn sums(database: &Database) -> String {
    match &database.server {
        Some(_) => {
            let sql =
                "SELECT sum(total_products), sum(total_shipping), count(*) FROM orders WHERE gone_at IS NULL";
            let output = Command::new("psql").args([&database.url, "-Atc", sql]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        }
        None => {
            let sql = "SELECT printf('%.2f', sum(total_products)), printf('%.2f', sum(total_shipping)), count(*) FROM orders WHERE gone_at IS NULL";
            support::ask_sqlite(database.url.trim_start_matches("sqlite:"), sql)
        }
    }
}

fn check(database: &Database, what: &str) {
    let expected = format!("{TOTAL_PRODUCTS}|{TOTAL_SHIPPING}|{ORDERS}");
    let sums = sums(database);
    println!(
        "{:<34} {sums} {}",
        format!("  {what}: sums"),
        if sums == expected { "as the data set" } else { "WRONG" }
    );
    assert_eq!(sums, expected);
}

fn measure(marketplace: &Marketplace, scratch: &Path, database: &Database) {
    for (what, only) in [("orders", Some("orders")), ("orders and products", None)] {
        for _ in 0..3 {
            database.empty();
            let report = run(marketplace, scratch, database, only);
            line(&format!("{}, {what}", database.name), &report);
        }
        let again = run(marketplace, scratch, database, only);
        line("  the same again", &again);
        let changed: u64 = resources(&again).map(|(_, r)| r["changed"].as_u64().unwrap()).sum();
        let details: u64 = resources(&again).map(|(_, r)| r["details"].as_u64().unwrap()).sum();
        println!("{:<34} {changed} rows changed, {details} details read", "  the same again");
        assert_eq!((changed, details), (0, 0));
        check(database, database.name);
    }
}

fn run(marketplace: &Marketplace, scratch: &Path, database: &Database, only: Option<&str>) -> Value {
    let shop = Shop::write(scratch, marketplace, &database.url, 10_000_000);
    let mut command = shop.resync();
    if let Some(only) = only {
        command.args(["--only", only]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn resources(report: &Value) -> impl Iterator<Item = (&String, &Value)> {
    report["stores"][0]["resources"].as_object().unwrap().iter()
}

fn line(what: &str, report: &Value) {
    let store = &report["stores"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let (seconds, requests) = (number(&store["seconds"]), store["requests"].as_u64().unwrap());
    let floor: u64 =
        resources(report).map(|(_, r)| r["pages"].as_u64().unwrap() + r["details"].as_u64().unwrap()).sum();
    let process = &report["process"];
    println!(
        "{what:<34} {seconds:>9.1} {:>9.0} {:>8.1} {:>8.1} {requests:>9} {:>9}",
        ORDERS as f64 / seconds,
        number(&process["cpu_seconds"]),
        number(&process["peak_memory_mib"]),
        requests - floor
    );
}

/// Kills a run repeatedly, then lets it finish; counts the requests that were repeated because of it.
fn kill_loop(marketplace: &Marketplace, scratch: &Path, database: &Database, kills: u32) {
    database.empty();
    marketplace.reset_stats();
    let shop = Shop::write(scratch, marketplace, &database.url, 10_000_000);
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    for kill in 1..=kills {
        // xorshift: the moments differ, and are the same in each run.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let share = ORDERS / u64::from(kills + 1);
        let at = share * u64::from(kill - 1) + 1 + seed % share;
        let mut child = shop
            .resync()
            .args(["--only", "orders"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while marketplace.count("GET /api/v1/sellers/orders/{id}") < at {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    run(marketplace, scratch, database, Some("orders"));
    let stats = marketplace.stats();
    let (pages, details) =
        (stats["repeated_list_pages"].as_u64().unwrap(), stats["repeated_details"].as_u64().unwrap());
    println!(
        "{:<34} {kills} kills: {pages} pages and {details} details fetched twice",
        format!("{}, killed", database.name)
    );
    assert!(pages <= u64::from(kills) && details <= u64::from(kills) * 100);
    check(database, "after the kills");
}
