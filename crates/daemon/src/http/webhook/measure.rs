//! The receiver's metrics (`docs/OPERATIONS.md`). Labels are bounded: configured stores, documented events.

use std::time::Duration;

use espelho_model::StoreKey;

use crate::metric::list;

/// Upper bounds of the buckets of [`list::WEBHOOK_ACK`].
pub(crate) const ACK_BUCKETS: [f64; 10] = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0, 10.0];

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Outcome {
    Stored,
    Duplicate,
    BadSignature,
    #[strum(serialize = "shed")]
    Overloaded,
}

pub(super) fn delivery(store: &StoreKey, event: &'static str, outcome: Outcome) {
    list::WEBHOOKS.counter(&[store.as_str(), event, outcome.into()]).increment(1);
}

pub(super) fn acknowledged_after(duration: Duration) {
    list::WEBHOOK_ACK.histogram(&[]).record(duration.as_secs_f64());
}

pub(super) fn connections(open: usize) {
    list::WEBHOOK_CONNECTIONS.gauge(&[]).set(open as f64);
}

pub(super) fn inbox_age(store: &StoreKey, age: Duration) {
    list::INBOX_OLDEST_AGE.set(store, "", age.as_secs_f64());
}
