//! The worker pools: how many workers refresh queued entities at once, and what a pool waits for.

use std::time::Duration;

use espelho_model::watch;
use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};

use super::{refresh_queue::RefreshQueue, refresher::Refresher, unchanged_readings::UnchangedReadings};
use crate::{
    Error, StoreContext, memory_budget::Permit, plan::pauses::Activity, plan::refresh_queue::Work,
    plan::refresh_request::Urgency,
};

/// Workers of a pool: at five requests a second, more would only wait.
const WORKERS: usize = 4;

/// A worker, which does one refresh.
type Worker<'s> = BoxFuture<'s, Result<(), Error>>;

/// What a pool waits for, besides its workers and its stop.
#[derive(Clone, Copy)]
enum Next {
    /// The time when something is due.
    In(Duration),
    /// A memory permit for what is due.
    Permit,
    /// The end of what holds the pool.
    Release,
    /// Something new in the queue; or a free worker, if none is free.
    Change,
}

/// A pool of workers that refresh entities of one urgency.
pub(super) struct WorkerPool<'c> {
    context: &'c StoreContext,
    queue: &'c RefreshQueue<'c>,
    refresher: &'c Refresher<'c>,
    unchanged: &'c UnchangedReadings<'c>,
    urgency: Urgency,
}

impl<'c> WorkerPool<'c> {
    /// Returns a pool for what `queue` has of this urgency.
    pub(super) fn new(
        context: &'c StoreContext,
        queue: &'c RefreshQueue<'c>,
        refresher: &'c Refresher<'c>,
        unchanged: &'c UnchangedReadings<'c>,
        urgency: Urgency,
    ) -> Self {
        Self { context, queue, refresher, unchanged, urgency }
    }

    /// Refreshes what is queued for the pool, several entities side by side, until the work stops.
    ///
    /// A worker exists only while it refreshes, a sweep's worker only with a memory permit: thousands of stores wait
    /// with eight workers each, and a worker takes 7 KiB.
    pub(super) async fn run(&self) -> Result<(), Error> {
        let (mut workers, mut problem) = (FuturesUnordered::new(), None);
        // Kept between iterations: a dropped permit request would be last in line again.
        let (mut line, mut permit) = (None, None);
        while !self.context.stop.is_cancelled() {
            // Before the queue is checked, so that no push goes unnoticed.
            let mut queued = std::pin::pin!(self.queue.changed());
            queued.as_mut().enable();
            let next = self.dispatch(&workers, &mut permit);
            let is_quiet = workers.is_empty() && !matches!(next, Next::Permit);
            self.note_unchanged(&workers, is_quiet);
            if let Next::Permit = next
                && line.is_none()
            {
                line = Some(self.boxed_refresh_permit());
            }
            let due = async {
                match next {
                    Next::In(wait) => self.context.clock.sleep(wait).await,
                    Next::Release => Box::pin(self.context.released(self.activity())).await,
                    Next::Permit | Next::Change => std::future::pending().await,
                }
            };
            let _waiting = watch::idle();
            tokio::select! {
                Some(ended) = workers.next() => if let Err(ended) = ended {
                    self.context.stop.cancel();
                    problem = Some(ended);
                },
                Some(free) = next_in(&mut line) => (line, permit) = (None, Some(free)),
                () = queued => (),
                () = due => (),
                () = self.unchanged.aged(), if self.notes_unchanged() => (),
                () = self.context.stop.cancelled() => (),
            }
        }
        // Work in progress is written.
        let _waiting = watch::idle();
        loop {
            while let Some(ended) = workers.next().await {
                problem = problem.or(ended.err());
            }
            self.note_unchanged(&workers, true);
            if workers.is_empty() {
                break;
            }
        }
        problem.map_or(Ok(()), Err)
    }

    /// True for the pool of the sweeps: unchanged readings are in rotation, and only it reads those.
    fn notes_unchanged(&self) -> bool {
        self.urgency != Urgency::Hinted
    }

    /// Has the readings that changed nothing noted, once they are to be: by a worker more.
    fn note_unchanged<'s>(&'s self, workers: &FuturesUnordered<Worker<'s>>, is_quiet: bool) {
        if !self.notes_unchanged() {
            return;
        }
        let readings = self.unchanged.take(is_quiet);
        if !readings.is_empty() {
            workers.push(Box::pin(watch::lane("swept", self.refresher.note_unchanged(readings))));
        }
    }

    /// The activity that a pause of the pool holds.
    fn activity(&self) -> Activity {
        match self.urgency {
            Urgency::Hinted => Activity::Webhooks,
            Urgency::Found | Urgency::Swept => Activity::Pull,
        }
    }

    fn boxed_refresh_permit(&self) -> BoxFuture<'_, Permit<'_>> {
        Box::pin(self.context.memory_budget.reading())
    }

    /// Gives due work to each free worker, and the held permit to a sweep's worker; returns what to wait for next.
    fn dispatch<'s>(
        &'s self,
        workers: &FuturesUnordered<Worker<'s>>,
        permit: &mut Option<Permit<'s>>,
    ) -> Next {
        if self.context.holds(self.activity()) {
            *permit = None;
            return Next::Release;
        }
        let now = self.context.clock.monotonic();
        while workers.len() < WORKERS {
            let Some(due) = self.queue.next_due(self.urgency) else {
                *permit = None;
                return Next::Change;
            };
            if due > now {
                *permit = None;
                return Next::In(due - now);
            }
            if self.urgency != Urgency::Hinted && permit.is_none() {
                return Next::Permit;
            }
            if let Some(work) = self.queue.take(self.urgency) {
                workers.push(self.worker(work, permit.take()));
            }
        }
        Next::Change
    }

    /// Not `async`: the future of an `async` function would also reserve space for the boxed value.
    fn worker<'s>(&'s self, work: Work, permit: Option<Permit<'s>>) -> Worker<'s> {
        let name = match work.request.urgency {
            Urgency::Hinted => "hinted",
            Urgency::Found | Urgency::Swept => "swept",
        };
        let reading = async move {
            let ended = self.refresher.refresh(work).await;
            drop(permit);
            ended
        };
        Box::pin(watch::lane(name, reading))
    }
}

/// Waits for the requested permit, if one is requested.
async fn next_in<'r>(line: &mut Option<BoxFuture<'_, Permit<'r>>>) -> Option<Permit<'r>> {
    Some(line.as_mut()?.await)
}
