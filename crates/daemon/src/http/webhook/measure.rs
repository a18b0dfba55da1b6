//! The receiver's metrics (`docs/OPERATIONS.md`). Labels are bounded: configured stores, documented events.

use std::time::Duration;

use espelho_model::StoreKey;
use metrics::{counter, gauge, histogram};

pub(crate) const ACK_DURATION: &str = "espelho_webhook_ack_duration_seconds";
/// Upper bounds of [`ACK_DURATION`]'s buckets.
pub(crate) const ACK_BUCKETS: [f64; 10] = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0, 10.0];

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Stored,
    Duplicate,
    BadSignature,
    Overloaded,
}

impl Outcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Duplicate => "duplicate",
            Self::BadSignature => "bad_signature",
            Self::Overloaded => "shed",
        }
    }
}

pub(super) fn delivery(store: &StoreKey, event: &'static str, outcome: Outcome) {
    let labels = [("store", store.to_string()), ("event", event.into()), ("result", outcome.as_str().into())];
    counter!("espelho_webhooks_total", &labels).increment(1);
}

pub(super) fn acknowledged_after(duration: Duration) {
    histogram!(ACK_DURATION).record(duration.as_secs_f64());
}

pub(super) fn connections(open: usize) {
    gauge!("espelho_webhook_connections").set(open as f64);
}

pub(super) fn inbox_age(store: &StoreKey, age: Duration) {
    gauge!("espelho_inbox_oldest_age_seconds", "store" => store.to_string()).set(age.as_secs_f64());
}
