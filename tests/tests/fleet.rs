//! The cost of an idle store: thousands of them share one process.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use espelho_tests::{Installation, Kind, pages, sandbox_of};

/// Returns the resident memory of a process, in KiB.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Returns the resident memory of a service with this many stores, all mirrored.
async fn at_rest(stores: usize) -> u64 {
    let options = espelho_sandbox::Options { stores, orders: 2, products: 2, ..Default::default() };
    let sandbox = sandbox_of(options).await;
    let installation = Installation::on(Kind::Sqlite).await;
    let base = installation.write_main_with_known_port();
    installation.join(&sandbox);
    let mut service = installation.start(&["run"]);
    pages::ready(&mut service, &base).await;
    let resident = resident(service.id());
    pages::stopped(service).await;
    resident
}

/// For the debug binary; the release binary's is smaller. Memory kept by SQLite and the allocator does not grow with
/// the stores.
const KIB_OF_A_STORE: u64 = 130;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_waits_costs_little_memory_however_many_there_are() {
    let (few, many) = (at_rest(20).await, at_rest(220).await);
    let each = many.saturating_sub(few) / 200;
    assert!(
        each <= KIB_OF_A_STORE,
        "{each} KiB for each store: {few} KiB with 20 of them, {many} KiB with 220"
    );
}
