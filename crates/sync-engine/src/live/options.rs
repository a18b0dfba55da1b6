//! What the work on a store is given: its options, what wakes it, and what is asked of it.

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use crate::{StoreReport, plan::schedule::Intervals};

/// An on-demand request. The callback receives the result exactly once.
pub enum AdminRequest {
    /// A complete reconciliation.
    Reconcile(crate::Options, Box<dyn FnOnce(&StoreReport) + Send>),
    /// A comparison of mirror and marketplace.
    Audit(crate::AuditOptions, Box<dyn FnOnce(&crate::Audit) + Send>),
}

/// A question about the store; the caller waits a few seconds for the answer.
pub struct Inquiry {
    /// The question.
    pub question: crate::Question,
    /// Receives the answer.
    pub answer: Box<dyn FnOnce(&crate::Examination) + Send>,
}

/// The source of admin requests.
pub trait AdminRequests: Send + Sync {
    /// Waits for the next request.
    fn next(&self) -> BoxFuture<'_, AdminRequest>;
    /// Waits for the next question. It is answered beside all other work.
    fn next_inquiry(&self) -> BoxFuture<'_, Inquiry>;
}

/// What wakes the work on a store. Signals carry no data; admin requests carry their work.
#[derive(Clone, Copy)]
pub struct Wakers<'s> {
    /// The source of admin requests.
    pub admin_requests: &'s dyn AdminRequests,
    /// The inbox has a delivery.
    pub inbox: &'s Notify,
    /// Deliveries were refused for overload: sweeps must find what they reported.
    pub gap: &'s Notify,
    /// The outbox has an intent.
    pub outbox: &'s Notify,
    /// A complete reconciliation is due.
    pub reconcile: &'s Notify,
}

/// How a store is kept in step.
#[derive(Clone, Debug)]
pub struct Options {
    /// How often each sweep runs.
    pub intervals: Intervals,
    /// Whether deliveries arrive at all: without them, a change that a sweep finds was not missed.
    pub receives: bool,
    /// True if the webhook has the events of new orders and of new statuses. Without them, an order that a sweep finds
    /// changed says nothing about lost deliveries.
    pub has_order_events: bool,
    /// True if the webhook has the events of shipments, levels and prices, which the rotation reads. Without them, only the
    /// rotation finds their changes, and rows never rest.
    pub has_rotation_events: bool,
    /// When the webhook's address was registered; `None` where the next login registers it. Only a delivery since then
    /// shows that deliveries arrive.
    pub address_since: Option<DateTime<Utc>>,
    /// The budget, which limits each sweep to its share.
    pub per_minute: u32,
    /// When the store's last owner was seen.
    pub last_seen: Option<DateTime<Utc>>,
    /// How the ERP's intents are executed.
    pub push: crate::push::PushOptions,
}
