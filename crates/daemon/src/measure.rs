//! Turns the reports of the work on a store into metrics, health and log lines. Names as in `docs/OPERATIONS.md`.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_api_client::Stats;
use espelho_model::{
    Clock, StoreKey,
    sync::{Resource, RunState},
    text::Text,
};
use espelho_store::EffectState;
use espelho_sync_engine::{
    Problem, StoreReport, Trouble,
    live::{Handled, Observer, WebhookNews, schedule::Sweep},
};

use crate::health::{Health, WebhookHealth};

/// The delay from an event, or a change, to the row.
pub(crate) const LAG: &str = "espelho_mirror_lag_seconds";
/// Upper bounds of [`LAG`]'s buckets. It has no store label: three thousand stores would make thirty thousand lines of
/// it.
pub(crate) const LAG_BUCKETS: [f64; 9] = [0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 120.0, 600.0, 3_600.0];

/// The events that a sweep may find before a delivery has reported them.
const MISSED: [&str; 6] = [
    "order.created",
    "order.status_changed",
    "order.invoiced",
    "shipment.status_changed",
    "product.stock_updated",
    "product.price_updated",
];

/// Listens to the work on one store.
pub(crate) struct Measure {
    store: StoreKey,
    health: Arc<Health>,
    clock: Arc<dyn Clock>,
    /// The counts so far.
    counted: Mutex<Stats>,
}

impl Measure {
    /// Starts to listen.
    pub(crate) fn new(store: StoreKey, health: Arc<Health>, clock: Arc<dyn Clock>) -> Self {
        // The lines exist from the start, so that an alert on their growth sees the first event.
        for name in ["espelho_audit_rows_total", "espelho_audit_mismatch_total"] {
            metrics::counter!(name, "store" => store.to_string()).absolute(0);
        }
        for event in MISSED {
            let labels = [("store", store.to_string()), ("event", event.to_owned())];
            metrics::counter!("espelho_missed_hints_total", &labels).absolute(0);
        }
        Self { store, health, clock, counted: Mutex::default() }
    }

    fn label(&self) -> String {
        self.store.to_string()
    }
}

impl Observer for Measure {
    fn reconciled(&self, report: &StoreReport) {
        let (key, counts, now) = (&self.store, report.counts(), self.clock.now());
        let problem = report.problems().next();
        let state = report.state.as_str();
        match problem {
            None => tracing::info!(
                store = %key, state, requests = report.requests, seen = counts.seen, changed = counts.changed,
                gone = counts.gone, failed = counts.failed, duration_ms = (report.seconds * 1000.0) as u64, "reconciled"
            ),
            // Nobody needs to act: the next start resumes it.
            Some(problem) if problem.trouble == Trouble::Stopped => {
                tracing::info!(store = %key, state, "reconciliation stopped before its end");
            }
            Some(problem) => tracing::error!(
                store = %key, state, code = problem.code, error = problem.error, next_step = problem.hint(), "not reconciled"
            ),
        }
        let own = problem.filter(|problem| has_own_cause(problem)).map(words);
        self.health.change(key, |health| (health.last, health.problem) = (Some((now, report.state)), own));
        measure(report, now);
    }

    fn swept(&self, sweep: Sweep, at: DateTime<Utc>) {
        let labels = [("store", self.label()), ("kind", sweep.as_str().to_owned())];
        metrics::gauge!("espelho_sweep_last_success_timestamp_seconds", &labels).set(at.timestamp() as f64);
    }

    fn sweep_failed(&self, sweep: Sweep, _: &Problem) {
        let labels = [("store", self.label()), ("kind", sweep.as_str().to_owned())];
        metrics::counter!("espelho_sweep_failures_total", &labels).increment(1);
    }

    fn handled(&self, what: Handled) {
        let labels = [("store", self.label()), ("as", what.as_str().to_owned())];
        metrics::counter!("espelho_deliveries_handled_total", &labels).increment(1);
    }

    fn changed(&self, resource: Resource) {
        let labels = [("store", self.label()), ("kind", resource.to_string())];
        metrics::counter!("espelho_rows_changed_total", &labels).increment(1);
    }

    fn missed(&self, event: &'static str) {
        let labels = [("store", self.label()), ("event", event.to_owned())];
        metrics::counter!("espelho_missed_hints_total", &labels).increment(1);
    }

    fn webhook(&self, news: WebhookNews) {
        let WebhookNews { heard_at, missed, silent_since } = news;
        self.health.change(&self.store, |health| {
            health.webhook = Some(WebhookHealth { heard_at, missed, silent_since });
        });
    }

    fn mirrored(&self, lag: Duration) {
        metrics::histogram!(LAG).record(lag.as_secs_f64());
    }

    fn audited(&self, rows: u64, differing: u64) {
        metrics::counter!("espelho_audit_rows_total", "store" => self.label()).increment(rows);
        metrics::counter!("espelho_audit_mismatch_total", "store" => self.label()).increment(differing);
    }

    fn waiting(&self, oldest: Duration) {
        metrics::gauge!("espelho_mirror_oldest_waiting_seconds", "store" => self.label())
            .set(oldest.as_secs_f64());
    }

    fn settled(&self, kind: &str, state: EffectState) {
        let labels = [("store", self.label()), ("kind", kind.to_owned()), ("as", state.as_str().to_owned())];
        metrics::counter!("espelho_effects_settled_total", &labels).increment(1);
    }

    fn stats(&self, stats: Stats) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let store = self.label();
        let count = |name: &'static str, now: u64, before: u64| {
            metrics::counter!(name, "store" => store.clone()).increment(now.saturating_sub(before));
        };
        count("espelho_rate_limited_total", stats.rate_limited, counted.rate_limited);
        *counted = stats;
    }
}

/// Whether a problem is reported by itself: the marketplace's and the credential's trouble have their own alarms, and a
/// stop and another owner are no problems.
pub(crate) fn has_own_cause(problem: &Problem) -> bool {
    matches!(problem.trouble, Trouble::Guard | Trouble::Configuration)
}

/// Returns a problem in words for people.
pub(crate) fn words(problem: &Problem) -> Text {
    problem.text.clone()
}

/// Records the metrics of one run.
fn measure(report: &StoreReport, now: DateTime<Utc>) {
    let store = report.store.to_string();
    for resource in &report.resources {
        let labels = [("store", store.clone()), ("kind", resource.resource.to_string())];
        let counts = resource.counts;
        metrics::counter!("espelho_rows_changed_total", &labels).increment(counts.changed);
        metrics::gauge!("espelho_rows_failed", &labels).set(counts.failed as f64);
        if resource.state == RunState::Complete {
            metrics::gauge!("espelho_sweep_last_success_timestamp_seconds", &labels)
                .set(now.timestamp() as f64);
        }
    }
}
