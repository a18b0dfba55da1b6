//! The `/metrics` of a running service, and their documentation.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[expect(dead_code, reason = "more can be asked of a service than is asked here")]
#[path = "live/keeping.rs"]
mod keeping;
#[expect(dead_code, reason = "deliveries are made as there, and received by another service")]
#[path = "webhooks/receiving.rs"]
mod receiving;

use std::collections::BTreeSet;

use espelho_sandbox::{DeliveryFault, NewOrder};
use espelho_tests::{Kind, on_both_databases, until};
use keeping::Keeping;

on_both_databases![every_documented_metric_is_there_and_every_metric_is_documented];

/// Finds the names of our metrics, and of those that every process has.
fn names_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let ours = |word: &&str| word.starts_with("espelho_") || word.starts_with("process_");
    words.filter(ours).map(str::to_owned).collect()
}

/// Reads the table of metrics: those that are always present, and those that appear once something happens.
fn documented() -> (BTreeSet<String>, BTreeSet<String>) {
    let text = include_str!("../../docs/OPERATIONS.md");
    let table = text.split("| metric | labels |").nth(1).unwrap().split("\n\n").next().unwrap();
    let (mut always, mut sometimes) = (BTreeSet::new(), BTreeSet::new());
    for line in table.lines() {
        // Only the first column counts: the others may mention further metrics.
        let names = names_in(line.split('|').nth(1).unwrap_or_default());
        if line.contains("once it happens") { sometimes.extend(names) } else { always.extend(names) }
    }
    assert!(always.len() > 25, "{always:?}");
    (always, sometimes)
}

/// Returns the metric names as Prometheus stores them.
fn told(metrics: &str) -> BTreeSet<String> {
    let types = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

// withstands: F101
async fn every_documented_metric_is_there_and_every_metric_is_documented(kind: Kind) {
    let mut keeping = Keeping::with(kind, 10, 4, 1).await;
    let (control, store) = (keeping.control(), keeping.store());
    let number = control.orders().place(&store, NewOrder::default());
    keeping.order_is(&number, "paid").await;
    control.webhooks().deliveries_done().await;
    keeping.inbox_is_handled().await;
    keeping.spoil("", 1_000, DeliveryFault::Lost);
    assert!(control.orders().cancel(&store, &number, "desistência"));
    let (always, sometimes) = documented();
    let only_sqlite = ["espelho_db_wal_bytes", "espelho_disk_free_bytes", "espelho_disk_full"];
    let is_expected = |name: &&String| kind == Kind::Sqlite || !only_sqlite.contains(&name.as_str());
    let (mut metrics, mut missing) = (String::new(), Vec::new());
    let there = until("every documented metric is there", async || {
        metrics = keeping.metrics().await;
        let told = told(&metrics);
        missing = always.iter().filter(is_expected).filter(|name| !told.contains(*name)).cloned().collect();
        missing.is_empty()
    });
    if tokio::time::timeout(std::time::Duration::from_secs(40), there).await.is_err() {
        panic!("no {missing:?} in\n{metrics}");
    }
    let unknown: Vec<_> = told(&metrics)
        .into_iter()
        .filter(|name| !always.contains(name) && !sometimes.contains(name))
        .collect();
    assert!(unknown.is_empty(), "docs/OPERATIONS.md says nothing of {unknown:?}");
    let without_help = |name: &String| !metrics.contains(&format!("# HELP {name} "));
    let mute: Vec<_> = told(&metrics).into_iter().filter(without_help).collect();
    assert!(mute.is_empty(), "no help: {mute:?}");
    for line in [
        "espelho_api_requests_total{store=\"loja-1\",route=\"/api/v1/sellers/orders/{id}\",method=\"GET\",outcome=\"ok\"} ",
        "espelho_api_request_duration_seconds_count{route=\"/api/integration/auth\"} 1",
        "espelho_logins_total{store=\"loja-1\",reason=\"first\"} 1",
        "espelho_ratelimit_wait_seconds_bucket{lane=\"refresh\",le=\"+Inf\"} ",
        "espelho_mirror_lag_seconds_bucket{le=\"120\"} ",
        "espelho_tasks_restarted_total{store=\"loja-1\"} 0",
        "espelho_doubtful_intents{store=\"loja-1\"} 0",
        "espelho_poisoned{store=\"loja-1\"} 0",
        "espelho_doubtful_oldest_age_seconds{store=\"loja-1\"} 0",
        "espelho_missed_hints_total{store=\"loja-1\",event=\"order.invoiced\"} 0",
    ] {
        assert!(metrics.contains(&format!("\n{line}")), "no {line} in\n{metrics}");
    }
    assert!(!metrics.contains(&number), "no order is a label");
    keeping.stop().await;
}

#[test]
fn every_alert_uses_metrics_that_exist() {
    let text = include_str!("../../config/alerts.yml");
    let (always, sometimes) = documented();
    let mut used = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        used.extend(names_in(line).into_iter().map(|name| match name.strip_suffix("_bucket") {
            Some(histogram) => histogram.to_owned(),
            None => name,
        }));
    }
    let unknown: Vec<_> =
        used.iter().filter(|name| !always.contains(*name) && !sometimes.contains(*name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    // Each rule is complete.
    let count = |word: &str| text.lines().filter(|line| line.trim_start().starts_with(word)).count();
    let alerts = count("- alert: ");
    assert!(alerts >= 10);
    assert_eq!((count("expr: "), count("labels: "), count("annotations: ")), (alerts, alerts, alerts));
    for name in [
        "mirror_lag",
        "sweep_last_success",
        "webhooks",
        "token_expires",
        "logins",
        "audit_mismatch",
        "disk_free",
        "doubtful_intents",
        "lane_progress",
    ] {
        assert!(used.iter().any(|used| used.contains(name)), "no alert looks at {name}");
    }
}
