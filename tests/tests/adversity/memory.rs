//! The memory of a service whose marketplace answers with far more than it should.

use std::fmt::Write as _;

use espelho_tests::{Installation, Kind, Reply, Running, Shop, shop::Order, until};

/// The most memory of the service: some room below the unit's `MemoryMax`, 384 MiB.
const MOST_MIB: u64 = 320;

/// Returns the highest resident memory of a process so far, in MiB.
pub(crate) fn peak_mib(process: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1_024
}

/// An order's detail with this many short lines.
fn with_lines(number: &str, lines: usize) -> String {
    let mut items = String::new();
    for line in 0..lines {
        let comma = if line == 0 { "" } else { "," };
        let _ = write!(items, r#"{comma}{{"id":{line},"sku":"a","quantity":1}}"#);
    }
    format!(r#"{{"success":true,"data":{{"order_number":"{number}","status":"paid","items":[{items}]}}}}"#)
}

/// An order's detail with this many bytes of notes.
fn with_notes(number: &str, bytes: usize) -> String {
    let notes = "n".repeat(bytes);
    format!(r#"{{"success":true,"data":{{"order_number":"{number}","status":"paid","notes":"{notes}"}}}}"#)
}

// withstands: F116
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn details_of_megabytes_are_mirrored_or_refused_one_by_one_within_the_memory_of_a_few() {
    let shop = Shop::with_rule(Order::many(20), |call| {
        let number = call.path.strip_prefix("/api/v1/sellers/orders/BIG-")?.parse::<usize>().ok()?;
        let name = format!("BIG-{number}");
        let body = match number % 4 {
            0 => with_lines(&name, 400_000),
            1 => with_lines(&name, 5_000),
            2 => with_notes(&name, 3 << 20),
            _ => with_notes(&name, 33 << 20),
        };
        Some(Reply::text(200, "application/json", &body))
    })
    .await;
    let installation = Installation::on(Kind::Sqlite).await;
    installation.write_main("[schedule]\nreconcile = \"* * * * * *\"\n");
    shop.join(&installation);
    installation.run(&["migrate"]).await.expect(0);
    let service = installation.start(&["run"]);
    let mirror = installation.mirror().await;
    until("the usual orders are mirrored", async || mirror.live("orders").await == 20).await;
    let usual = peak_mib(&service);
    shop.change(|orders| orders.extend((0..40).map(|n| Order::ordinary(&format!("BIG-{n}")))));
    until("each is mirrored or refused", async || {
        mirror.live("orders").await == 40
            && mirror.try_ask("SELECT key FROM sync_failures WHERE code = 'too_large'").await.len() == 20
    })
    .await;
    let peak = peak_mib(&service);
    assert!(peak <= MOST_MIB, "{peak} MiB, {usual} MiB with usual orders");
    service.terminate().await;
    service.end().await.expect(0);
}
