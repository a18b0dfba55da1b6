//! `espelho --resync`: the mirror equals the marketplace, with no more requests than necessary.
//!
//! This file has a run from nothing and one without changes. `differences` has changes in between, `doubts` rejected
//! results and restricted runs, `shapes` the possible forms of a marketplace's answers, `targets` the names for
//! `--only`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod comparison;
mod differences;
mod doubts;
mod shapes;
mod targets;

use std::collections::BTreeMap;

use espelho_sandbox::Sandbox;
use espelho_tests::{Installation, Kind, on_both_databases, sandbox, truth::Truth};
use serde_json::json;

use self::comparison::{compare_locations, compare_orders, compare_products};

on_both_databases![
    a_first_run_mirrors_all_that_the_marketplace_holds,
    a_second_run_changes_nothing_and_asks_for_listing_pages_only,
];

const LIST: &str = "GET /api/v1/sellers/orders";
const DETAIL: &str = "GET /api/v1/sellers/orders/{id}";
const PRODUCTS: &str = "GET /api/products";
const PRODUCT: &str = "GET /api/products/{id}";

async fn joined(kind: Kind, sandbox: &Sandbox) -> Installation {
    let installation = Installation::on(kind).await;
    installation.join(sandbox);
    installation
}

fn routes(sandbox: &Sandbox) -> BTreeMap<String, u64> {
    sandbox.stats().by_route
}

fn asked(wanted: &[(&str, u64)]) -> BTreeMap<String, u64> {
    wanted.iter().map(|(route, times)| ((*route).to_owned(), *times)).collect()
}

async fn a_first_run_mirrors_all_that_the_marketplace_holds(kind: Kind) {
    let sandbox = sandbox(330, 120).await;
    let installation = joined(kind, &sandbox).await;
    let truth = Truth::of(&sandbox).await;
    assert_eq!((truth.orders.len(), truth.products.len()), (330, 120));
    sandbox.reset_stats();
    let run = installation.resync(&[]).await.expect(0);
    let report = run.json();
    assert_eq!(report["state"], "complete");
    for (resource, rows) in [("orders", 330), ("products", 120)] {
        assert_eq!(run.resource(resource)["state"], "complete");
        for (name, count) in [("seen", rows), ("changed", rows), ("gone", 0), ("failed", 0)] {
            assert_eq!(run.count(resource, name), count, "{resource} {name}");
        }
    }
    let stats = sandbox.stats();
    assert_eq!(run.store()["requests"], stats.requests - 1, "every request but the login");
    assert_eq!((&run.store()["logins"], &run.store()["rate_limited"]), (&json!(1), &json!(0)));
    assert!(run.store()["seconds"].is_number());
    let floor =
        asked(&[(LIST, 4), (DETAIL, 330), (PRODUCTS, 2), (PRODUCT, 120), ("POST /api/integration/auth", 1)]);
    for (route, times) in floor {
        assert_eq!(stats.by_route[&route], times, "{route}");
    }
    let mirror = installation.mirror().await;
    compare_orders(&mirror, &truth).await;
    compare_products(&mirror, &truth).await;
    compare_locations(&mirror, &truth).await;
    let runs = mirror.rows("sync_runs").await;
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0]["state"].as_str(), runs[0]["seen"].as_str()), ("complete", "450"));
    assert_eq!(mirror.rows("changes").await.len(), 450);
}

async fn a_second_run_changes_nothing_and_asks_for_listing_pages_only(kind: Kind) {
    let sandbox = sandbox(250, 30).await;
    let installation = joined(kind, &sandbox).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.everything().await;
    sandbox.reset_stats();
    let run = installation.resync(&[]).await.expect(0);
    assert_eq!(routes(&sandbox), asked(&[(LIST, 3), (PRODUCTS, 1)]));
    for (resource, seen) in [("orders", 250), ("products", 30)] {
        let counts = ["seen", "changed", "gone", "failed", "details"].map(|name| run.count(resource, name));
        assert_eq!(counts, [seen, 0, 0, 0, 0], "{resource}");
    }
    assert_eq!((&run.store()["requests"], &run.store()["logins"]), (&json!(4), &json!(0)));
    let mut after = mirror.everything().await;
    assert_eq!(after.insert("sync_runs", before["sync_runs"].clone()).unwrap().len(), 2);
    assert_eq!(before, after);
}
