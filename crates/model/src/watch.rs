//! Detects stalled tasks: which lanes work, which wait, and which no longer progress.
//!
//! Code waits by sleeping on the [`Clock`], or announces its wait with [`idle`]; between waits it reads the clock
//! again and again. So the clock itself can detect a stall: a [`lane`] that neither waits nor has read the clock for
//! long is stuck. A separate timer beside the work would keep firing and prove nothing.

use std::{
    collections::BTreeMap,
    fmt,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
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

/// The lane and store of the running task.
#[derive(Clone)]
struct Here {
    watch: Arc<Watch>,
    store: Option<StoreKey>,
    lane: Option<Arc<Lane>>,
}

/// A clock that records which lanes use it.
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
    /// The waits of the lane, each with an id. Mostly one or two at once.
    waits: Vec<(u64, Wait)>,
    next: u64,
}

enum Wait {
    /// It lasts until this time at most.
    Until(Duration),
    /// It began then, and lasts for as long as the line moves.
    InLine(Duration, Arc<Line>),
}

/// A line of those that wait for the same thing, which is handed from one to the next. Long lines are no stall, but a line
/// in which nobody gets a turn is one for everybody in it: whoever has the turn may wait for somebody in the line.
#[derive(Default)]
pub struct Line {
    /// The clock of the watch over those that wait in it, once somebody has.
    clock: OnceLock<Arc<dyn Clock>>,
    /// When somebody in it last got a turn, watched or not: milliseconds of that clock.
    moved: AtomicU64,
}

/// A stalled lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// Its store; `None` for the service itself.
    pub store: Option<StoreKey>,
    /// Its name.
    pub lane: &'static str,
    /// How long it has been stalled.
    pub stalled: Duration,
}

impl Watch {
    /// Creates a watch over the users of this clock.
    pub fn over(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { clock, lanes: Mutex::default(), next: AtomicU64::new(0) })
    }

    /// Runs work whose lanes belong to a store, or to the service itself.
    pub fn scope<F: Future>(
        self: &Arc<Self>,
        store: Option<&StoreKey>,
        work: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        let here = Here { watch: Arc::clone(self), store: store.cloned(), lane: None };
        HERE.scope(Some(here), work)
    }

    /// Creates lanes that belong to a store, or to the service itself, without running them yet.
    pub fn within<T>(self: &Arc<Self>, store: Option<&StoreKey>, begin: impl FnOnce() -> T) -> T {
        let here = Here { watch: Arc::clone(self), store: store.cloned(), lane: None };
        HERE.sync_scope(Some(here), begin)
    }

    /// Returns the lanes without progress for more than `longest`, the longest stall first.
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

    /// Returns the last progress of the lanes of each name; for several lanes, that of the slowest. A waiting lane
    /// counts as progressing, unless it is in a line that stands still.
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

    fn waits(self: Arc<Self>, wait: Wait) -> Idle {
        let id = {
            let mut steps = self.steps();
            steps.next += 1;
            let id = steps.next;
            steps.waits.push((id, wait));
            id
        };
        Idle(Some((self, id)))
    }

    fn stalled(&self, now: Duration) -> Duration {
        let steps = self.steps();
        let (mut in_line, mut moved) = (None, steps.moved);
        for (_, wait) in &steps.waits {
            match wait {
                // A task that does not wake up on time is stalled as well.
                Wait::Until(until) => moved = moved.max(*until),
                Wait::InLine(since, line) => {
                    let stands = now.saturating_sub(line.moved().max(*since));
                    in_line = in_line.max(Some(stands));
                }
            }
        }
        // A line comes first: the lane's other work may wait for something behind the lane's own place in it.
        in_line.unwrap_or_else(|| now.saturating_sub(moved))
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks the task's lane as waiting until dropped.
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

/// Announces that this task waits for something that may legitimately take for ever: a signal, an empty queue, its
/// queue ticket.
pub fn idle() -> Idle {
    match here().and_then(|here| here.lane) {
        Some(lane) => lane.waits(Wait::Until(Duration::MAX)),
        None => Idle(None),
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("moved", &self.moved).finish_non_exhaustive()
    }
}

impl Line {
    /// Announces that this task waits in the line, until dropped.
    pub fn wait(self: &Arc<Self>) -> Idle {
        match here() {
            Some(Here { watch, lane: Some(lane), .. }) => {
                let clock = self.clock.get_or_init(|| Arc::clone(&watch.clock));
                lane.waits(Wait::InLine(clock.monotonic(), Arc::clone(self)))
            }
            _ => Idle(None),
        }
    }

    /// Reports that somebody in the line got a turn.
    pub fn moves(&self) {
        if let Some(clock) = self.clock.get() {
            let now = u64::try_from(clock.monotonic().as_millis()).unwrap_or(u64::MAX);
            self.moved.fetch_max(now, Ordering::Relaxed);
        }
    }

    fn moved(&self) -> Duration {
        Duration::from_millis(self.moved.load(Ordering::Relaxed))
    }
}

/// Returns the name of this task's lane.
pub fn name() -> Option<&'static str> {
    current().map(|lane| lane.name)
}

/// Reports progress of this task without reading the clock.
pub fn moved() {
    drop(idle());
}

/// Runs work as a lane of the current scope, which is watched until it ends. Outside of a [`Watch::scope`] nothing is
/// watched.
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

/// Runs work of a separate task as part of the lane that starts it.
pub fn inherited<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
    HERE.scope(here(), work)
}

/// A running lane.
pub struct Watched<F: Future> {
    // Boxed, because these futures are large, and an async block around one would hold it twice.
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

/// Returns the lane of the running task.
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
        let idle = lane.waits(Wait::Until(self.clock.monotonic().saturating_add(duration)));
        let sleep = self.clock.sleep(duration);
        Box::pin(async move {
            sleep.await;
            drop(idle);
        })
    }
}

#[cfg(test)]
mod tests;
