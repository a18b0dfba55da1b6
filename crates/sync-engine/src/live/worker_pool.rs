//! The hands of a crew: who reads what is queued, how many things at once, and what they wait for.

use std::time::Duration;

use espelho_model::watch;
use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};

use super::{Live, queue::Work, refresh_request::Urgency};
use crate::{Problem, memory_budget::Permit};

/// Readings of a crew at once: at five requests a second more would only wait.
const WORKERS: usize = 4;

/// One that reads.
type Worker<'s> = BoxFuture<'s, Result<(), Problem>>;

/// What a crew waits for, beside its hands and its end.
#[derive(Clone, Copy)]
enum Next {
    /// The time when something is due.
    In(Duration),
    /// Room for what is due.
    MemoryBudget,
    /// Something new in the queue; or a free hand, where none is.
    Change,
}

impl Live<'_> {
    /// Reads what is queued for a crew, several things side by side, until the work stops.
    ///
    /// A hand is there only while it reads, one of a sweep only when there is room for what it reads: thousands of stores
    /// wait with eight hands each, and a hand takes 7 KiB.
    pub(super) async fn work(&self, urgency: Urgency) -> Result<(), Problem> {
        let (mut workers, mut problem) = (FuturesUnordered::new(), None);
        // Whoever leaves the line is last in it again.
        let (mut line, mut permit) = (None, None);
        while !self.is_stopping() {
            // Before the queue is looked at, so that nothing is put into it unnoticed.
            let queued = self.queued.notified();
            let mut queued = std::pin::pin!(queued);
            queued.as_mut().enable();
            let next = self.dispatch(urgency, &workers, &mut permit);
            if let Next::MemoryBudget = next
                && line.is_none()
            {
                line = Some(self.boxed_reading());
            }
            let due = async {
                match next {
                    Next::In(wait) => self.context.clock.sleep(wait).await,
                    Next::MemoryBudget | Next::Change => std::future::pending().await,
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
                () = self.context.stop.cancelled() => (),
            }
        }
        // What is under way is written.
        let _waiting = watch::idle();
        while let Some(ended) = workers.next().await {
            problem = problem.or(ended.err());
        }
        problem.map_or(Ok(()), Err)
    }

    fn boxed_reading(&self) -> BoxFuture<'_, Permit<'_>> {
        Box::pin(self.context.memory_budget.reading())
    }

    /// Gives each free hand what is due, and a sweep's the place that is held for it; what there is to wait for then.
    fn dispatch<'s>(
        &'s self,
        urgency: Urgency,
        workers: &FuturesUnordered<Worker<'s>>,
        permit: &mut Option<Permit<'s>>,
    ) -> Next {
        let now = self.context.clock.monotonic();
        // The pages of a sweep for orders share the pace with what is read in its turn, and nothing of it is urgent.
        let urgency = match urgency {
            Urgency::Swept if self.known().walks_orders => Urgency::Found,
            other => other,
        };
        let mut queue = self.queue();
        while workers.len() < WORKERS {
            let Some(due) = queue.next_due(urgency) else {
                *permit = None;
                return Next::Change;
            };
            if due > now {
                *permit = None;
                return Next::In(due - now);
            }
            if urgency != Urgency::Hinted && permit.is_none() {
                return Next::MemoryBudget;
            }
            if let Some(work) = queue.take(now, urgency) {
                workers.push(self.worker(work, permit.take()));
            }
        }
        Next::Change
    }

    /// Not `async`: there, what is put into the box would be given a place beside it too.
    fn worker<'s>(&'s self, work: Work, permit: Option<Permit<'s>>) -> Worker<'s> {
        let name = match work.request.urgency {
            Urgency::Hinted => "hinted",
            Urgency::Found | Urgency::Swept => "swept",
        };
        let reading = async move {
            let ended = self.refresh(work).await;
            drop(permit);
            ended
        };
        Box::pin(watch::lane(name, reading))
    }
}

/// The place that somebody is in line for, if anybody is.
async fn next_in<'r>(line: &mut Option<BoxFuture<'_, Permit<'r>>>) -> Option<Permit<'r>> {
    Some(line.as_mut()?.await)
}
