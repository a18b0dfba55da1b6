//! Keeping a store in step while the service runs: deliveries become reads, sweeps find what no delivery told, and the
//! complete reconciliation goes on behind them.
//!
//! Reading order: [`refresh_request`], [`queue`], [`batches`], [`event_routing`], [`schedule`] decide, purely. `ingest` takes the inbox into the queue,
//! `event_only_data` writes what only deliveries tell, `worker_pool` dispatches what is queued and `refresh` reads it, `sweeps`, `rotation_sweeps`, `missing_subresources`,
//! `counts`, `campaigns` and `profile` are the sweeps, `record` is what they remember, `run` lets them all work side by
//! side in one task; `probe` asks for a sign of life while there is none.

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
use record::SweepMemory;
use refresh_request::{Entity, RefreshRequest, Urgency};
use schedule::{Intervals, Sweep};
use sweeps::CROWDED;

pub use run::run;

/// What somebody else asks for, and waits for; whoever asked hears how it went, once.
pub enum AdminRequest {
    /// A complete reconciliation.
    Reconcile(crate::Options, Box<dyn FnOnce(&StoreReport) + Send>),
    /// A comparison of mirror and marketplace.
    Audit(crate::AuditOptions, Box<dyn FnOnce(&crate::Audit) + Send>),
}

/// A question about the store that somebody waits for a few seconds to be answered.
pub struct Inquiry {
    /// The question.
    pub question: crate::Question,
    /// Receives the answer.
    pub answer: Box<dyn FnOnce(&crate::Examination) + Send>,
}

/// Where others ask for something.
pub trait AdminRequests: Send + Sync {
    /// The next one, as soon as somebody asks for it.
    fn next(&self) -> BoxFuture<'_, AdminRequest>;
    /// The next question, as soon as somebody asks one. It is answered beside whatever is under way.
    fn next_inquiry(&self) -> BoxFuture<'_, Inquiry>;
}

/// What wakes the work on a store. Signals carry no data; errands carry what somebody wants done.
#[derive(Clone, Copy)]
pub struct Wakers<'s> {
    /// What others ask for.
    pub admin_requests: &'s dyn AdminRequests,
    /// Something is in the inbox.
    pub inbox: &'s Notify,
    /// Deliveries were refused for want of room: what they told has to be looked for.
    pub gap: &'s Notify,
    /// The ERP wants something.
    pub outbox: &'s Notify,
    /// It is time for a complete reconciliation.
    pub reconcile: &'s Notify,
}

/// How a store is kept in step.
#[derive(Clone, Debug)]
pub struct Options {
    /// How often each sweep runs.
    pub intervals: Intervals,
    /// Whether deliveries come at all: without them a change that a sweep finds is not one that was missed.
    pub receives: bool,
    /// The budget, so that no sweep takes more of it than its share.
    pub per_minute: u32,
    /// When the store's last owner was seen.
    pub last_seen: Option<DateTime<Utc>>,
    /// How what the ERP wants is carried out.
    pub push: crate::push::PushOptions,
}

/// Hears how it goes: for metrics, health and logs.
pub trait Observer: Send + Sync {
    /// A complete reconciliation has ended.
    fn reconciled(&self, report: &StoreReport);
    /// A sweep went well then: its listing was answered, and all that it queued was read and written. Also told of what went
    /// well before the work on the store began.
    fn swept(&self, sweep: Sweep, at: DateTime<Utc>);
    /// A sweep's listing failed, or a reading that it queued did.
    fn sweep_failed(&self, sweep: Sweep, problem: &Problem);
    /// A delivery needs nothing more; what it was.
    fn handled(&self, what: Handled);
    /// A row was written because of a delivery or a sweep.
    fn changed(&self, resource: Resource);
    /// A sweep has found a change that no delivery told; which event should have.
    fn missed(&self, event: &'static str);
    /// Whether webhooks arrive has changed.
    fn webhook(&self, news: WebhookNews) {
        let _ = news;
    }
    /// A row is as the marketplace has it, so long after the event that told of it, or after the change that a sweep found.
    fn mirrored(&self, lag: Duration) {
        let _ = lag;
    }
    /// For how long the oldest thing has been waiting that is to be read.
    fn waiting(&self, oldest: Duration) {
        let _ = oldest;
    }
    /// So many rows were held against the marketplace, and so many of them differ.
    fn audited(&self, rows: u64, differing: u64) {
        let _ = (rows, differing);
    }
    /// An effect whose answer was lost was settled by what was read.
    fn settled(&self, kind: &str, state: espelho_store::EffectState) {
        let _ = (kind, state);
    }
    /// What the client has done so far.
    fn stats(&self, stats: Stats);
}

/// Whether webhooks arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookNews {
    /// When the last delivery came.
    pub heard_at: Option<DateTime<Utc>>,
    /// Changes that sweeps have found since then, and an event should have told.
    pub missed: u64,
    /// Since when it is proved that none comes.
    pub silent_since: Option<DateTime<Utc>>,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handled {
    /// What it is about was read again.
    Read,
    /// What it tells was kept.
    EventOnlyData,
    /// It was a test.
    Test,
    /// Its event is unknown.
    Unknown,
    /// Nothing can be made of it; it is noted as a failure.
    Malformed,
    /// It is another store's; it is noted as a failure.
    Foreign,
}

impl Handled {
    /// The word in metrics.
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

/// What those who work on a store share.
struct Live<'c> {
    context: &'c StoreContext,
    options: &'c Options,
    observer: &'c dyn Observer,
    queue: Mutex<Queue>,
    batches: Mutex<Batches>,
    /// Told whenever the queue has changed.
    queued: Notify,
    /// Told when shipments were written.
    shipped: Notify,
    /// Told when campaigns and who could join them were read.
    campaigns_read: Notify,
    /// Told when a change was found that no delivery told, or a test delivery was asked for.
    untold: Notify,
    /// Told when the marketplace answers again after it did not.
    recovered: Notify,
    known: Mutex<KnownStore>,
    memory: Mutex<SweepMemory>,
}

/// What was found out about the store since the work on it began.
#[derive(Default)]
struct KnownStore {
    /// Its identifier, where the marketplace says it.
    id: Option<String>,
    /// Whether it was asked for.
    asked: bool,
    /// Whether the mirror was complete once, so that something new is something that was missed.
    mirrored: bool,
    /// The place in the inbox up to which it was looked through.
    inbox: i64,
    /// Whether a delivery spoke of a product that nobody knows.
    strange_product: bool,
    /// When the listing of products was last walked through for that.
    walked: Option<Duration>,
    /// Campaigns that have ended: nothing changes about them any more.
    ended_campaigns: HashSet<String>,
    /// Whether the marketplace counts more orders, so that the next look at the newest does not end where nothing is new.
    is_behind: bool,
    /// Sweeps that another sweep asks for.
    woken: Vec<Sweep>,
    /// Whether a sweep for orders is under way.
    walks_orders: bool,
    /// Listing pages that the sweep under way has read.
    pages: u64,
    /// Whether the sweep under way queues nothing, because so much waits already.
    is_crowded: bool,
    /// Whether the last reconciliation ended early, so that it goes on as soon as the marketplace answers again.
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

    /// Queues what is to be read after a while.
    fn push_later(&self, delay: Duration, requests: impl IntoIterator<Item = (Entity, RefreshRequest)>) {
        let due = self.context.clock.monotonic() + delay;
        {
            let mut queue = self.queue();
            requests.into_iter().for_each(|(entity, request)| queue.push(due, entity, request));
        }
        self.queued.notify_waiters();
    }

    /// Queues what the sweep under way wants read: it has gone well when all of it was.
    fn push_swept(&self, requests: impl IntoIterator<Item = (Entity, RefreshRequest)>) {
        let requests: Vec<_> = requests.into_iter().collect();
        {
            let mut batches = self.batches();
            requests.iter().for_each(|(entity, _)| batches.queued(entity));
        }
        self.push(requests);
    }

    /// Whether so much waits to be read that a sweep adds nothing; its run proves nothing then.
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

    /// The client of those who sweep.
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

/// Problems after which nothing else would go better: they end the work on a store until somebody wakes it.
fn ends_all(problem: &Problem) -> bool {
    matches!(problem.trouble, Trouble::Authentication | Trouble::Held | Trouble::Configuration)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is to be a task of its own; the compiler says why it cannot be where that is easier to find than in the daemon.
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
