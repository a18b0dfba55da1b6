//! Deliveries: built once, attempted up to three times, and spoiled on demand.
//!
//! The document names waits of 1, 5 and 30 minutes but three attempts in all: the third wait would belong to a fourth
//! attempt, so that it never comes.

use std::collections::HashMap;

use hyper::body::Bytes;
use parking_lot::Mutex;

/// Seconds to wait after each failed attempt but the last.
pub(super) const WAITS: [i64; 2] = [60, 300];

/// A fault of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryFault {
    /// It is never sent.
    Lost,
    /// It is sent twice.
    Doubled,
    /// It is held back until the next one to the same webhook has gone, or for a minute.
    HeldBack,
    /// It is sent this number of seconds late.
    Delayed(u32),
    /// Ahead of it goes one with a signature that is no signature of anything.
    WrongSignature,
    /// Ahead of it goes one that is signed with another secret.
    OtherSecret,
}

/// A rule that spoils some deliveries.
#[derive(Clone, Debug)]
pub struct DeliveryRule {
    /// A part of the event's name, such as `order.`; the empty text is part of all.
    pub event: String,
    /// How many deliveries it spoils before it is spent; `None` spoils until the rules are cleared.
    pub times: Option<u32>,
    /// The probability in thousandths; 1000 spoils each one that matches.
    pub of_thousand: u32,
    /// The fault.
    pub kind: DeliveryFault,
}

/// An event on its way to one webhook.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(super) webhook: String,
    pub(super) number: u64,
    pub(super) event: &'static str,
    /// Signed as it is; a later attempt sends the same bytes.
    pub(super) body: Bytes,
    /// From 1.
    pub(super) attempt: u8,
    /// The secret it is signed with in place of the webhook's; empty for a signature that is none.
    pub(super) forged_with: Option<&'static str>,
}

/// Deliveries that wait for another one to go first, by webhook.
#[derive(Default)]
pub(super) struct Held(Mutex<HashMap<String, Vec<Delivery>>>);

impl Held {
    pub(super) fn put(&self, delivery: Delivery) {
        let mut held = self.0.lock();
        held.entry(delivery.webhook.clone()).or_default().push(delivery);
    }

    /// Those that were built before a delivery that has gone now.
    pub(super) fn take_before(&self, webhook: &str, number: u64) -> Vec<Delivery> {
        self.take(webhook, |held| held.number < number)
    }

    pub(super) fn take(&self, webhook: &str, is_due: impl Fn(&Delivery) -> bool) -> Vec<Delivery> {
        let mut held = self.0.lock();
        let Some(waiting) = held.get_mut(webhook) else { return Vec::new() };
        let (due, rest) = std::mem::take(waiting).into_iter().partition(|delivery| is_due(delivery));
        *waiting = rest;
        due
    }
}
