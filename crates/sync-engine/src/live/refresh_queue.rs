//! What is to be refreshed, with the runs of sweeps that wait for it, and the wake-ups of those that refresh it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    plan::batches::{Batches, Run},
    plan::denied_orders::{Admission, DenialStreak},
    plan::refresh_queue::{BUSY, Ended, Queue, Work},
    plan::refresh_request::{Entity, RefreshRequest, Urgency},
    plan::schedule::Sweep,
};
use chrono::{DateTime, Utc};
use espelho_model::Clock;
use tokio::sync::{Notify, futures::Notified};

/// The queue length at which a sweep adds nothing more.
const CROWDED: usize = 200;
/// The longest wait of rotation work for one sweep for orders. A listing that does not answer is requested until it
/// does, and details may answer meanwhile.
const LONGEST_ROTATION_WAIT: Duration = Duration::from_secs(60);
/// Deliveries that may wait in the queue; the others wait on disk.
const MOST_DELIVERIES: usize = 10_000;

/// The queue of a store, shared by what fills it and what empties it.
pub(super) struct RefreshQueue<'c> {
    clock: &'c dyn Clock,
    state: Mutex<State>,
    /// Notified whenever the queue has changed.
    changed: Notify,
}

#[derive(Default)]
struct State {
    queue: Queue,
    batches: Batches,
    /// The denials of listed orders.
    denials: DenialStreak,
    /// Until when rotation work waits, because a sweep for orders is running.
    rotation_waits_until: Duration,
    /// Whether the current sweep queues nothing, because too much is waiting already.
    is_crowded: bool,
}

impl<'c> RefreshQueue<'c> {
    /// Returns an empty queue that runs on `clock`.
    pub(super) fn new(clock: &'c dyn Clock) -> Self {
        Self { clock, state: Mutex::default(), changed: Notify::new() }
    }

    /// Queues requests that are due now.
    pub(super) fn push(&self, requests: impl IntoIterator<Item = (Entity, RefreshRequest)>) {
        self.push_later(Duration::ZERO, requests);
    }

    /// Queues requests that are due after `delay`.
    pub(super) fn push_later(
        &self,
        delay: Duration,
        requests: impl IntoIterator<Item = (Entity, RefreshRequest)>,
    ) {
        let due = self.clock.monotonic() + delay;
        {
            let mut state = self.state();
            requests.into_iter().for_each(|(entity, request)| state.queue.push(due, entity, request));
        }
        self.changed.notify_waiters();
    }

    /// Queues the requests of the current sweep, which succeeds when all of them are done.
    pub(super) fn push_swept(&self, requests: impl IntoIterator<Item = (Entity, RefreshRequest)>) {
        let due = self.clock.monotonic();
        {
            let mut state = self.state();
            for (entity, request) in requests {
                let entity = Arc::new(entity);
                state.batches.queued(&entity);
                state.queue.push(due, entity, request);
            }
        }
        self.changed.notify_waiters();
    }

    /// Whether so much is waiting that a sweep adds nothing; its run then proves nothing.
    pub(super) fn is_crowded(&self) -> bool {
        let now = self.clock.monotonic();
        let mut state = self.state();
        let is_crowded = state.queue.has_soon(now, Urgency::Swept, CROWDED);
        state.is_crowded |= is_crowded;
        is_crowded
    }

    /// Whether the queue has room for what no sweep accounts for.
    pub(super) fn has_room(&self) -> bool {
        !self.state().queue.has_soon(self.clock.monotonic(), Urgency::Swept, CROWDED)
    }

    /// Whether so much is waiting that what can wait is not added.
    pub(super) fn is_busy(&self) -> bool {
        self.state().queue.has_soon(self.clock.monotonic(), Urgency::Swept, BUSY)
    }

    /// Starts the run of a sweep; returns its number.
    pub(super) fn begin_sweep(&self, sweep: Sweep, started_at: DateTime<Utc>) -> u64 {
        let mut state = self.state();
        state.is_crowded = false;
        if matches!(sweep, Sweep::NewOrders | Sweep::OpenOrders) {
            state.denials.begin_sweep();
        }
        state.batches.begin(sweep, started_at)
    }

    /// Decides if a request is carried out now: an order that only a listing shows is left to the next sweep where the
    /// marketplace denies all that it lists.
    pub(super) fn admit(&self, request: &RefreshRequest) -> Admission {
        match is_only_listed(request) {
            true => self.state().denials.admit(),
            false => Admission::Read,
        }
    }

    /// Records that a listed order was denied; returns whether it is a new one, and the marketplace denies all of those.
    /// The denial of an order that a sweep asks for again is on record already.
    pub(super) fn note_denied(&self, request: &RefreshRequest) -> bool {
        let is_new = request.is_unknown && request.urgency == Urgency::Found;
        let mut state = self.state();
        state.denials.denied(is_new);
        is_new && state.denials.denies_new()
    }

    /// Records what was read: an order that only a listing showed ends the denials.
    pub(super) fn note_answered(&self, request: &RefreshRequest) {
        if is_only_listed(request) {
            self.state().denials.answered();
        }
    }

    /// Ends the listing of a run; returns the run if nothing is left to read. A run whose listing failed, or that could
    /// not queue its refreshes, proves nothing.
    pub(super) fn end_listing(&self, number: u64, is_answered: bool) -> Option<Run> {
        let mut state = self.state();
        if is_answered && !state.is_crowded {
            return state.batches.listed(number);
        }
        state.batches.abandoned(number);
        None
    }

    /// Keeps rotation work waiting while a sweep for orders runs, but not for ever: they share the rate, and none of it
    /// is urgent.
    pub(super) fn keep_rotation_waiting(&self, is_sweeping_orders: bool) {
        let until = match is_sweeping_orders {
            true => self.clock.monotonic() + LONGEST_ROTATION_WAIT,
            false => Duration::ZERO,
        };
        self.state().rotation_waits_until = until;
        if !is_sweeping_orders {
            self.changed.notify_waiters();
        }
    }

    /// Records that an entity was read and written; returns the runs that this completes.
    pub(super) fn note_read(&self, entity: &Entity) -> Vec<Run> {
        self.state().batches.read(entity)
    }

    /// Records a failed refresh; returns the runs that fail for the first time, and the most failures of this entity in
    /// one run.
    pub(super) fn note_failed(&self, entity: &Entity) -> (Vec<Run>, u32) {
        self.state().batches.failed(entity)
    }

    /// Returns when the next entity of a worker pool is due.
    pub(super) fn next_due(&self, urgency: Urgency) -> Option<Duration> {
        let now = self.clock.monotonic();
        let state = self.state();
        let served = state.served(urgency, now);
        let due = state.queue.next_due(served);
        let waiting = state.queue.next_due(urgency).filter(|_| served != urgency);
        let waiting = waiting.map(|at| at.max(state.rotation_waits_until));
        due.into_iter().chain(waiting).min()
    }

    /// Returns the next work of a worker pool, if any is due.
    pub(super) fn take(&self, urgency: Urgency) -> Option<Work> {
        let now = self.clock.monotonic();
        let mut state = self.state();
        let served = state.served(urgency, now);
        state.queue.take(now, served)
    }

    /// Records how a refresh ended; returns the deliveries that no longer need to wait for it.
    pub(super) fn done(&self, entity: &Entity, ended: Ended) -> Vec<i64> {
        let ids = self.state().queue.done(self.clock.monotonic(), entity, ended);
        self.changed.notify_waiters();
        ids
    }

    /// Waits until the queue changes.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Waits until a delivery reports an entity.
    pub(super) async fn hinted(&self, entity: &Entity) {
        loop {
            let mut changed = std::pin::pin!(self.changed());
            changed.as_mut().enable();
            if self.state().queue.is_hinted(entity) {
                return;
            }
            changed.await;
        }
    }

    /// Whether an entity waits to be read again.
    pub(super) fn is_waiting(&self, entity: &Entity) -> bool {
        self.state().queue.is_waiting(entity)
    }

    /// Whether an entity waits to be read, or is being read.
    pub(super) fn has_entity(&self, entity: &Entity) -> bool {
        self.state().queue.has_entity(entity)
    }

    /// Whether a delivery waits here already.
    pub(super) fn has(&self, delivery: i64) -> bool {
        self.state().queue.has(delivery)
    }

    /// Whether more deliveries may wait here.
    pub(super) fn takes_deliveries(&self) -> bool {
        self.state().queue.deliveries() < MOST_DELIVERIES
    }

    /// Whether nothing is being read, and nothing is due.
    pub(super) fn is_quiet(&self) -> bool {
        self.state().queue.is_quiet(self.clock.monotonic())
    }

    /// Returns the age of the oldest request that waits or is in progress.
    pub(super) fn oldest(&self) -> Duration {
        self.state().queue.oldest(self.clock.monotonic())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the urgency that a worker pool serves now.
    fn served(&self, urgency: Urgency, now: Duration) -> Urgency {
        match urgency {
            Urgency::Swept if now < self.rotation_waits_until => Urgency::Found,
            other => other,
        }
    }
}

/// Tells if only a listing shows an order: the mirror does not have it, and no delivery reported it.
fn is_only_listed(request: &RefreshRequest) -> bool {
    request.is_unknown && request.urgency != Urgency::Hinted
}

#[cfg(test)]
mod tests;
