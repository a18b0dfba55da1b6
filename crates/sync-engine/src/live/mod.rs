//! Keeps a store in step while the service runs: deliveries become refreshes, sweeps find what no delivery reported,
//! and the complete reconciliation runs behind them.
//!
//! Reading order: [`refresh_request`], [`queue`], [`batches`], [`event_routing`] and [`schedule`] decide, purely.
//! `ingest` moves the inbox into the queue, `event_only_data` writes what only deliveries carry, `worker_pool`
//! dispatches the queue, and `refresh` reads its entities. `sweeps`, `rotation_sweeps`, `missing_subresources`,
//! `counts`, `campaigns` and `profile` are the sweeps; `record` keeps their state. `run` runs everything side by side
//! in one task. `probe` requests an answer while the marketplace gives none.

pub mod batches;
mod campaigns;
mod counts;
mod event_only_data;
pub mod event_routing;
mod ingest;
mod inquiries;
mod labels;
mod missing;
mod missing_subresources;
mod outbox;
mod probe;
pub(crate) mod profile;
pub mod queue;
mod record;
mod refresh;
mod refresh_errors;
pub mod refresh_request;
mod rotation_sweeps;
mod run;
pub mod schedule;
mod silence;
mod spot;
pub(crate) mod subresources;
mod sweeps;
pub(crate) mod whole;
mod worker_pool;

pub(crate) use refresh::put;

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_api_client::{Client, Stats, limit::Lane};
use espelho_model::sync::Resource;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use crate::{Problem, StoreContext, StoreReport, Trouble};
use batches::Batches;
use queue::Queue;
use record::SweepState;
use refresh_request::{Entity, RefreshRequest, Urgency};
use schedule::{Intervals, Sweep};
use sweeps::CROWDED;

pub use run::run;

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
    /// The budget, which limits each sweep to its share.
    pub per_minute: u32,
    /// When the store's last owner was seen.
    pub last_seen: Option<DateTime<Utc>>,
    /// How the ERP's intents are executed.
    pub push: crate::push::PushOptions,
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookNews {
    /// When the last delivery arrived.
    pub heard_at: Option<DateTime<Utc>>,
    /// Changes that sweeps have found since then and that an event should have reported.
    pub missed: u64,
    /// Since when it is proved that none arrives.
    pub silent_since: Option<DateTime<Utc>>,
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

/// What the workers of a store share.
struct Live<'c> {
    context: &'c StoreContext,
    options: &'c Options,
    observer: &'c dyn Observer,
    queue: Mutex<Queue>,
    batches: Mutex<Batches>,
    /// Notified whenever the queue has changed.
    queued: Notify,
    /// Notified when shipments were written.
    shipped: Notify,
    /// Notified when campaigns and their eligible listings were read.
    campaigns_read: Notify,
    /// Notified when a sweep found a change that no delivery reported, or a test delivery was requested.
    untold: Notify,
    /// Notified when the marketplace answers again after it did not.
    recovered: Notify,
    known: Mutex<KnownStore>,
    memory: Mutex<SweepState>,
}

/// What is known about the store since the work on it started.
#[derive(Default)]
struct KnownStore {
    /// Its identifier, if the marketplace reports it.
    id: Option<String>,
    /// Whether the identifier was requested.
    asked: bool,
    /// Whether the mirror was complete once: only then does a new row count as missed.
    mirrored: bool,
    /// The inbox position up to which it was scanned.
    inbox: i64,
    /// Whether a delivery named an unknown product.
    has_unknown_product: bool,
    /// When the listing of products was last walked for it.
    walked: Option<Duration>,
    /// Campaigns that have ended: they no longer change.
    ended_campaigns: HashSet<String>,
    /// Whether the marketplace counts more orders, so that the next sweep of new orders does not end at a page with
    /// nothing new.
    is_behind: bool,
    /// Sweeps to run as soon as possible.
    woken: Vec<Sweep>,
    /// Whether a sweep for orders is running.
    is_sweeping_orders: bool,
    /// Listing pages that the current sweep has read.
    pages: u64,
    /// Whether the current sweep queues nothing, because too much is waiting already.
    is_crowded: bool,
    /// Whether the last reconciliation ended early, so that it resumes as soon as the marketplace answers again.
    is_cut_short: bool,
}

impl<'c> Live<'c> {
    fn new(context: &'c StoreContext, options: &'c Options, observer: &'c dyn Observer) -> Self {
        Self {
            context,
            options,
            observer,
            queue: Mutex::default(),
            batches: Mutex::default(),
            queued: Notify::new(),
            shipped: Notify::new(),
            campaigns_read: Notify::new(),
            recovered: Notify::new(),
            untold: Notify::new(),
            known: Mutex::default(),
            memory: Mutex::default(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, KnownStore> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, requests: impl IntoIterator<Item = (Entity, RefreshRequest)>) {
        self.push_later(Duration::ZERO, requests);
    }

    /// Queues requests that are due after `delay`.
    fn push_later(&self, delay: Duration, requests: impl IntoIterator<Item = (Entity, RefreshRequest)>) {
        let due = self.context.clock.monotonic() + delay;
        {
            let mut queue = self.queue();
            requests.into_iter().for_each(|(entity, request)| queue.push(due, entity, request));
        }
        self.queued.notify_waiters();
    }

    /// Queues the requests of the current sweep, which succeeds when all of them are done.
    fn push_swept(&self, requests: impl IntoIterator<Item = (Entity, RefreshRequest)>) {
        let requests: Vec<_> = requests.into_iter().collect();
        {
            let mut batches = self.batches();
            requests.iter().for_each(|(entity, _)| batches.queued(entity));
        }
        self.push(requests);
    }

    /// Whether so much is waiting that a sweep adds nothing; its run then proves nothing.
    fn is_crowded(&self) -> bool {
        let is_crowded = self.queue().waiting(Urgency::Swept) >= CROWDED;
        self.known().is_crowded |= is_crowded;
        is_crowded
    }

    fn batches(&self) -> MutexGuard<'_, Batches> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        self.context.stop.is_cancelled()
    }

    /// Returns the client for sweeps.
    fn poll(&self) -> Client {
        self.context.client.in_lane(Lane::Poll)
    }
}

impl Urgency {
    fn lane(self) -> Lane {
        match self {
            Self::Hinted => Lane::Refresh,
            Self::Found | Self::Swept => Lane::Poll,
        }
    }
}

/// Whether a problem ends the work on a store until it is woken: nothing else would succeed after it.
fn ends_all(problem: &Problem) -> bool {
    matches!(problem.trouble, Trouble::Authentication | Trouble::Held | Trouble::Configuration)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The work on a store must be able to run as its own task. If it cannot, the reason is easier to find here than in
    /// the daemon.
    #[expect(dead_code, reason = "compiling it is the test")]
    fn the_work_on_a_store_may_be_a_task<'a>(
        context: &'a StoreContext,
        wakers: Wakers<'a>,
        options: &'a Options,
        observer: &'a dyn Observer,
    ) -> impl Future + Send {
        run(context, wakers, options, observer)
    }
}
