//! What the work on a store reports to metrics, health and logs.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_api_client::Stats;
use espelho_model::sync::Resource;

use crate::{
    Problem, StoreReport,
    plan::{schedule::Sweep, unreported_changes::LostDeliveries},
};

/// Receives events for metrics, health and logs.
pub trait Observer: Send + Sync {
    /// A complete reconciliation ended.
    fn reconciled(&self, report: &StoreReport);
    /// A sweep succeeded at `at`: its listing was answered, and all that it queued was read and written. Also called
    /// for successes from before the work on the store started.
    fn swept(&self, sweep: Sweep, at: DateTime<Utc>);
    /// A sweep's listing failed, or a refresh that it queued.
    fn sweep_failed(&self, sweep: Sweep, problem: &Problem);
    /// A delivery needs no more work; `what` is its outcome.
    fn handled(&self, what: Handled);
    /// A row was written because of a delivery or a sweep.
    fn changed(&self, resource: Resource);
    /// A sweep found a change that no delivery reported; `event` is the event that should have.
    fn missed(&self, event: &'static str);
    /// The state of webhook arrival changed.
    fn webhook(&self, news: WebhookNews) {
        let _ = news;
    }
    /// A row matches the marketplace, `lag` after the event that reported it, or after the change that a sweep found.
    fn mirrored(&self, lag: Duration) {
        let _ = lag;
    }
    /// How long the oldest entity in the queue has been waiting.
    fn waiting(&self, oldest: Duration) {
        let _ = oldest;
    }
    /// An audit compared `rows` rows with the marketplace; `differing` of them differ.
    fn audited(&self, rows: u64, differing: u64) {
        let _ = (rows, differing);
    }
    /// An effect whose answer was lost was settled by a read.
    fn settled(&self, kind: &str, state: espelho_store::EffectState) {
        let _ = (kind, state);
    }
    /// The client's statistics so far.
    fn stats(&self, stats: Stats);
}

/// Whether webhooks arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebhookNews {
    /// When the last delivery arrived.
    pub heard_at: Option<DateTime<Utc>>,
    /// When the last test delivery arrived.
    pub test_heard_at: Option<DateTime<Utc>>,
    /// Changes that sweeps have found since then and that an event should have reported.
    pub missed: u64,
    /// Since when it is proved that none arrives.
    pub silent_since: Option<DateTime<Utc>>,
    /// True if an earlier owner left open whether deliveries arrive, and none has come since.
    pub is_open: bool,
    /// The evidence that some are lost while others arrive.
    pub lost: Option<LostDeliveries>,
}

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handled {
    /// Its entity was refreshed.
    Read,
    /// Its event-only data was kept.
    EventOnlyData,
    /// It was a test.
    Test,
    /// Its event is unknown.
    Unknown,
    /// It is malformed; it is recorded as a failure.
    Malformed,
    /// It belongs to another store; it is recorded as a failure.
    Foreign,
}

impl Handled {
    /// Returns the word in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::EventOnlyData => "fact",
            Self::Test => "test",
            Self::Unknown => "unknown",
            Self::Malformed => "odd",
            Self::Foreign => "foreign",
        }
    }
}
