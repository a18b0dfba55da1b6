//! Who works, who waits, and who no longer moves.
//!
//! Code waits by sleeping on the [`Clock`], or says so with [`idle`]; whatever it does in between looks at the clock again and
//! again. So the clock itself can tell: a [`lane`] that neither waits nor has looked at the clock for long hangs in
//! something that does not end. A timer that fires beside the work would go on firing.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use chrono::{DateTime, Utc};
use tokio::task::futures::TaskLocalFuture;

use crate::{
    StoreKey,
    clock::{Clock, Sleep},
};

tokio::task_local! {
    static HERE: Option<Here>;
}

/// Where the code that runs now belongs.
#[derive(Clone)]
struct Here {
    watch: Arc<Watch>,
    store: Option<StoreKey>,
    lane: Option<Arc<Lane>>,
}

/// A clock that sees who uses it.
pub struct Watch {
    clock: Arc<dyn Clock>,
    lanes: Mutex<BTreeMap<u64, Arc<Lane>>>,
    next: AtomicU64,
}

struct Lane {
    store: Option<StoreKey>,
    name: &'static str,
    steps: Mutex<Steps>,
}

#[derive(Default)]
struct Steps {
    moved: Duration,
    /// Until when somebody in the lane waits, each by a number. One or two at once, mostly.
    waits: Vec<(u64, Duration)>,
    next: u64,
}

/// A lane that does not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// Whose; `None` is the service's own.
    pub store: Option<StoreKey>,
    /// Its name.
    pub lane: &'static str,
    /// For how long.
    pub stalled: Duration,
}

impl Watch {
    /// Watches over who uses this clock.
    pub fn over(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { clock, lanes: Mutex::default(), next: AtomicU64::new(0) })
    }

    /// Runs work whose lanes are a store's, or the service's own.
    pub fn scope<F: Future>(
        self: &Arc<Self>,
        store: Option<&StoreKey>,
        work: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        let here = Here { watch: Arc::clone(self), store: store.cloned(), lane: None };
        HERE.scope(Some(here), work)
    }

    /// Begins lanes that are a store's, or the service's own, without running them yet.
    pub fn within<T>(self: &Arc<Self>, store: Option<&StoreKey>, begin: impl FnOnce() -> T) -> T {
        let here = Here { watch: Arc::clone(self), store: store.cloned(), lane: None };
        HERE.sync_scope(Some(here), begin)
    }

    /// The lanes that have not moved for longer than this, the longest first.
    pub fn stalled(&self, longest: Duration) -> Vec<Stalled> {
        let now = self.clock.monotonic();
        let lanes = self.lanes();
        let mut stalled: Vec<Stalled> = lanes
            .values()
            .map(|lane| Stalled { store: lane.store.clone(), lane: lane.name, stalled: lane.stalled(now) })
            .filter(|lane| lane.stalled > longest)
            .collect();
        stalled.sort_by_key(|lane| std::cmp::Reverse(lane.stalled));
        stalled
    }

    /// When the lanes of each name moved last: of several the one that did so first. Who waits moves.
    pub fn moved(&self) -> BTreeMap<&'static str, DateTime<Utc>> {
        let (now, wall) = (self.clock.monotonic(), self.clock.now());
        let mut moved = BTreeMap::new();
        for lane in self.lanes().values() {
            let at = wall - lane.stalled(now);
            moved
                .entry(lane.name)
                .and_modify(|first: &mut DateTime<Utc>| *first = at.min(*first))
                .or_insert(at);
        }
        moved
    }

    fn lanes(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    fn moves(&self, now: Duration) {
        self.steps().moved = now;
    }

    fn waits(self: Arc<Self>, until: Duration) -> Idle {
        let id = {
            let mut steps = self.steps();
            steps.next += 1;
            let id = steps.next;
            steps.waits.push((id, until));
            id
        };
        Idle(Some((self, id)))
    }

    fn stalled(&self, now: Duration) -> Duration {
        let steps = self.steps();
        // Whoever does not wake when the time has come hangs as well.
        let waits = steps.waits.iter().map(|(_, until)| *until).max().unwrap_or_default();
        now.saturating_sub(steps.moved.max(waits))
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lane of this task waits for as long as this lives.
#[must_use]
pub struct Idle(Option<(Arc<Lane>, u64)>);

impl Drop for Idle {
    fn drop(&mut self) {
        if let Some((lane, id)) = self.0.take() {
            lane.steps().waits.retain(|(waiting, _)| *waiting != id);
            if let Some(here) = here() {
                lane.moves(here.watch.clock.monotonic());
            }
        }
    }
}

/// Says that this task waits for something that may rightly take for ever: a signal, an empty queue, its turn.
pub fn idle() -> Idle {
    match here().and_then(|here| here.lane) {
        Some(lane) => lane.waits(Duration::MAX),
        None => Idle(None),
    }
}

/// The name of this task's lane.
pub fn name() -> Option<&'static str> {
    current().map(|lane| lane.name)
}

/// Says that this task has got on, where it does not look at the clock.
pub fn moved() {
    drop(idle());
}

/// Runs work as a lane of whoever runs it, which is watched until it ends. Outside of a [`Watch::scope`] nobody watches.
pub fn lane<F: Future>(name: &'static str, work: F) -> Watched<F> {
    let Some(mut here) = here() else {
        return Watched { work: Box::pin(HERE.scope(None, work)), _registered: None };
    };
    let steps = Steps { moved: here.watch.clock.monotonic(), ..Steps::default() };
    let lane = Arc::new(Lane { store: here.store.clone(), name, steps: Mutex::new(steps) });
    let registered =
        Registered { watch: Arc::clone(&here.watch), id: here.watch.next.fetch_add(1, Ordering::Relaxed) };
    registered.watch.lanes().insert(registered.id, Arc::clone(&lane));
    here.lane = Some(lane);
    Watched { work: Box::pin(HERE.scope(Some(here), work)), _registered: Some(registered) }
}

/// Runs work, in a task of its own, as a part of the lane that begins it.
pub fn inherited<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
    HERE.scope(here(), work)
}

/// A lane at work.
pub struct Watched<F: Future> {
    // In a box, because these are large, and an async block around one would hold it twice.
    work: Pin<Box<TaskLocalFuture<Option<Here>, F>>>,
    _registered: Option<Registered>,
}

impl<F: Future> Future for Watched<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.work.as_mut().poll(context)
    }
}

struct Registered {
    watch: Arc<Watch>,
    id: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.watch.lanes().remove(&self.id);
    }
}

fn here() -> Option<Here> {
    HERE.try_with(Clone::clone).ok().flatten()
}

/// The lane that looks at the clock now.
fn current() -> Option<Arc<Lane>> {
    HERE.try_with(|here| here.as_ref()?.lane.clone()).ok().flatten()
}

impl Clock for Watch {
    fn now(&self) -> DateTime<Utc> {
        if let Some(lane) = current() {
            lane.moves(self.clock.monotonic());
        }
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        let now = self.clock.monotonic();
        if let Some(lane) = current() {
            lane.moves(now);
        }
        now
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let Some(lane) = current() else { return self.clock.sleep(duration) };
        let idle = lane.waits(self.clock.monotonic().saturating_add(duration));
        let sleep = self.clock.sleep(duration);
        Box::pin(async move {
            sleep.await;
            drop(idle);
        })
    }
}

#[cfg(test)]
mod tests;
