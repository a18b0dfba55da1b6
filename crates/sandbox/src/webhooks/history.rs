//! The delivery history: every attempt, what came back, and how long it took.

use std::collections::VecDeque;

use parking_lot::Mutex;
use serde::Serialize;

/// How many attempts the history keeps.
const KEPT: usize = 10_000;

/// One attempt to deliver an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryAttempt {
    /// The store's name in [`crate::Control`].
    pub store: String,
    /// The webhook, a UUID.
    pub webhook_id: String,
    /// The number of the delivery, which all its attempts share.
    pub delivery: u64,
    /// The event's name.
    pub event: String,
    /// From 1 to 3.
    pub attempt: u8,
    /// When it began, on the sandbox's clock, in ISO 8601.
    pub at: String,
    /// The receiver's HTTP status, where it answered.
    pub status: Option<u16>,
    /// How long it took in real time.
    pub duration_ms: u64,
    /// The error, where the attempt failed.
    pub error: Option<String>,
    /// Whether it was an extra delivery with a signature that is none, which a fault asked for.
    pub forged: bool,
}

/// The last attempts, oldest first.
#[derive(Default)]
pub(super) struct History(Mutex<VecDeque<DeliveryAttempt>>);

impl History {
    pub(super) fn add(&self, attempt: DeliveryAttempt) {
        let mut attempts = self.0.lock();
        if attempts.len() == KEPT {
            attempts.pop_front();
        }
        attempts.push_back(attempt);
    }

    /// The attempts for a store.
    pub(super) fn of_store(&self, store: &str) -> Vec<DeliveryAttempt> {
        let attempts = self.0.lock();
        attempts.iter().filter(|attempt| attempt.store == store).cloned().collect()
    }
}
