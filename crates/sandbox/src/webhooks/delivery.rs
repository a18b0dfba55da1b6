//! Deliveries: built once, attempted up to three times, and spoiled on demand.
//!
//! The document names waits of 1, 5 and 30 minutes but three attempts in all: the third wait would belong to a fourth
//! attempt, so that it never comes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
};

use hyper::body::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::{hook::Webhook, iso};
use crate::world::World;

/// Seconds to wait after each failed attempt but the last.
pub(super) const WAITS: [i64; 2] = [60, 300];

/// How long a delivery is held back at most, should nothing follow it.
const MAX_HELD: i64 = 60;

/// What happens to a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryFault {
    /// It is never sent.
    Lost,
    /// It is sent twice.
    Doubled,
    /// It is held back until the next one to the same webhook has gone, or for a minute.
    HeldBack,
    /// It is sent so many seconds late.
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
    /// What happens to them.
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

/// The body of a delivery, in the order of the document.
#[derive(Serialize)]
struct Body<'a> {
    event: &'a str,
    data: &'a Value,
    timestamp: String,
    webhook_id: &'a str,
}

/// Deliveries that wait for another one to go first, by webhook.
#[derive(Default)]
pub(super) struct Held(Mutex<HashMap<String, Vec<Delivery>>>);

impl Held {
    fn put(&self, delivery: Delivery) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.entry(delivery.webhook.clone()).or_default().push(delivery);
    }

    /// Those that were built before a delivery that has gone now.
    pub(super) fn take_before(&self, webhook: &str, number: u64) -> Vec<Delivery> {
        self.take(webhook, |held| held.number < number)
    }

    fn take(&self, webhook: &str, is_due: impl Fn(&Delivery) -> bool) -> Vec<Delivery> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(waiting) = held.get_mut(webhook) else { return Vec::new() };
        let (due, rest) = std::mem::take(waiting).into_iter().partition(|delivery| is_due(delivery));
        *waiting = rest;
        due
    }
}

impl World {
    /// Builds a delivery and sends it, or does what a fault does to it.
    pub(super) fn dispatch(self: &Arc<Self>, webhook: &Webhook, event: &'static str, data: &Value) {
        let timestamp = iso(self.clock.seconds());
        let body = Body { event, data, timestamp, webhook_id: &webhook.id };
        let delivery = Delivery {
            webhook: webhook.id.clone(),
            number: self.webhooks.built.fetch_add(1, Relaxed),
            event,
            body: serde_json::to_vec(&body).unwrap_or_default().into(),
            attempt: 1,
            forged_with: None,
        };
        let forged = |with| Delivery { forged_with: Some(with), ..delivery.clone() };
        let outbox = &self.webhooks.outbox;
        match self.webhooks.faults.take(|part| event.contains(part)) {
            Some(DeliveryFault::Lost) => return,
            Some(DeliveryFault::HeldBack) => return self.hold_back(delivery),
            Some(DeliveryFault::Delayed(seconds)) => {
                return self.later(i64::from(seconds), |world| world.webhooks.outbox.put(delivery));
            }
            Some(DeliveryFault::Doubled) => outbox.put(delivery.clone()),
            Some(DeliveryFault::WrongSignature) => outbox.put(forged("")),
            Some(DeliveryFault::OtherSecret) => outbox.put(forged("whsec_of_somebody_else")),
            None => {}
        }
        outbox.put(delivery);
    }

    fn hold_back(self: &Arc<Self>, delivery: Delivery) {
        let (webhook, number) = (delivery.webhook.clone(), delivery.number);
        self.webhooks.held.put(delivery);
        self.later(MAX_HELD, move |world| {
            for delivery in world.webhooks.held.take(&webhook, |held| held.number == number) {
                world.webhooks.outbox.put(delivery);
            }
        });
    }
}
