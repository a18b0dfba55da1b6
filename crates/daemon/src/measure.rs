//! Turns the reports of the work on a store into metrics, health and log lines. Names as in `docs/OPERATIONS.md`.

use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};

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
    live::{Handled, Observer, WebhookNews},
    plan::schedule::Sweep,
};

use crate::{health::Health, metric::list};

/// Upper bounds of the buckets of [`list::MIRROR_LAG`]. It has no store label: three thousand stores would make thirty thousand lines of
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
        for metric in [&list::AUDIT_ROWS, &list::AUDIT_MISMATCH] {
            metric.add(&store, "", 0);
        }
        for event in MISSED {
            list::MISSED_HINTS.add(&store, event, 0);
        }
        Self { store, health, clock, counted: Mutex::default() }
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
        list::SWEEP_LAST_SUCCESS.set(&self.store, sweep.as_str(), at.timestamp() as f64);
    }

    fn sweep_failed(&self, sweep: Sweep, _: &Problem) {
        list::SWEEP_FAILURES.add(&self.store, sweep.as_str(), 1);
    }

    fn handled(&self, what: Handled) {
        list::DELIVERIES_HANDLED.add(&self.store, what.as_str(), 1);
    }

    fn changed(&self, resource: Resource) {
        list::ROWS_CHANGED.add(&self.store, resource.as_str(), 1);
    }

    fn missed(&self, event: &'static str) {
        list::MISSED_HINTS.add(&self.store, event, 1);
    }

    fn webhook(&self, news: WebhookNews) {
        self.health.change(&self.store, |health| health.webhook = Some(news));
    }

    fn mirrored(&self, lag: Duration) {
        list::MIRROR_LAG.histogram(&[]).record(lag.as_secs_f64());
    }

    fn audited(&self, rows: u64, differing: u64) {
        list::AUDIT_ROWS.add(&self.store, "", rows);
        list::AUDIT_MISMATCH.add(&self.store, "", differing);
    }

    fn waiting(&self, oldest: Duration) {
        list::MIRROR_OLDEST_WAITING.set(&self.store, "", oldest.as_secs_f64());
    }

    fn settled(&self, kind: &str, state: EffectState) {
        list::EFFECTS_SETTLED.counter(&[self.store.as_str(), kind, state.as_str()]).increment(1);
    }

    fn stats(&self, stats: Stats) {
        let mut counted = self.counted.lock();
        let more = stats.rate_limited.saturating_sub(counted.rate_limited);
        list::RATE_LIMITED.add(&self.store, "", more);
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
    for resource in &report.resources {
        let (store, word, counts) = (&report.store, resource.resource.as_str(), resource.counts);
        list::ROWS_CHANGED.add(store, word, counts.changed);
        list::ROWS_FAILED.set(store, word, counts.failed as f64);
        if resource.state == RunState::Complete {
            list::SWEEP_LAST_SUCCESS.set(store, word, now.timestamp() as f64);
        }
    }
}
