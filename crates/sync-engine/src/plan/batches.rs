//! Tracks the runs of sweeps until everything that they queued is read and written. Pure.
//!
//! A sweep lists rows and queues refreshes. Its run succeeds when its listing was answered and each refresh that it
//! queued was answered and written; queueing alone proves nothing.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, Utc};

use super::{refresh_request::Entity, schedule::Sweep};

/// Open runs kept for one sweep; older ones are forgotten.
const MOST_OPEN: usize = 8;

/// The open runs.
#[derive(Debug, Default)]
pub struct Batches {
    begun: u64,
    open: Vec<Batch>,
    /// The entities that are not read yet, each with the runs that wait for it: several may. The queue has the same copy of
    /// its name.
    left: HashMap<Arc<Entity>, Vec<Wait>>,
}

/// A run's wait for an entity.
#[derive(Debug)]
struct Wait {
    batch: u64,
    /// The failed refreshes of the entity meanwhile.
    failures: u32,
}

#[derive(Debug)]
struct Batch {
    number: u64,
    sweep: Sweep,
    started_at: DateTime<Utc>,
    /// How many entities it waits for.
    left: usize,
    is_listed: bool,
    has_queued: bool,
    has_failed: bool,
}

/// A run that succeeded, or one with a failed refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which sweep.
    pub sweep: Sweep,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// Whether it has queued anything; if not, only its listing proves it.
    pub has_queued: bool,
}

impl Batches {
    /// Starts a run; returns its number.
    pub fn begin(&mut self, sweep: Sweep, started_at: DateTime<Utc>) -> u64 {
        self.begun += 1;
        if self.open.iter().filter(|batch| batch.sweep == sweep).count() >= MOST_OPEN
            && let Some(oldest) = self.open.iter().position(|batch| batch.sweep == sweep)
        {
            let oldest = self.open.remove(oldest);
            self.forget(oldest.number);
        }
        let (left, number) = (0, self.begun);
        let batch =
            Batch { number, sweep, started_at, left, is_listed: false, has_queued: false, has_failed: false };
        self.open.push(batch);
        number
    }

    /// Adds an entity to the run that is listing now.
    pub fn queued(&mut self, entity: &Arc<Entity>) {
        let Some(batch) = self.open.iter_mut().rev().find(|batch| !batch.is_listed) else { return };
        batch.has_queued = true;
        let wait = Wait { batch: batch.number, failures: 0 };
        match self.left.get_mut(entity) {
            None => {
                self.left.insert(Arc::clone(entity), vec![wait]);
            }
            Some(waits) => match waits.iter_mut().find(|own| own.batch == wait.batch) {
                Some(own) => {
                    *own = wait;
                    return;
                }
                None => waits.push(wait),
            },
        }
        batch.left += 1;
    }

    /// Marks a run's listing as answered; returns the run if nothing is left to read.
    pub fn listed(&mut self, number: u64) -> Option<Run> {
        if let Some(batch) = self.open.iter_mut().find(|batch| batch.number == number) {
            batch.is_listed = true;
        }
        self.take_over().pop()
    }

    /// Drops a run whose listing failed, or that could not queue its refreshes: it proves nothing.
    pub fn abandoned(&mut self, number: u64) {
        self.open.retain(|batch| batch.number != number);
        self.forget(number);
    }

    /// Marks an entity as read and written; returns the runs that this completes.
    pub fn read(&mut self, entity: &Entity) -> Vec<Run> {
        for wait in self.left.remove(entity).unwrap_or_default() {
            if let Some(batch) = self.open.iter_mut().find(|batch| batch.number == wait.batch) {
                batch.left -= 1;
            }
        }
        self.release();
        self.take_over()
    }

    /// Records a failed refresh; returns the runs that fail for the first time, and the most failures of this entity in
    /// one run.
    pub fn failed(&mut self, entity: &Entity) -> (Vec<Run>, u32) {
        let (mut runs, mut most) = (Vec::new(), 0);
        for wait in self.left.get_mut(entity).into_iter().flatten() {
            wait.failures += 1;
            most = most.max(wait.failures);
            let Some(batch) = self.open.iter_mut().find(|batch| batch.number == wait.batch) else { continue };
            if !std::mem::replace(&mut batch.has_failed, true) {
                runs.push(batch.run());
            }
        }
        (runs, most)
    }

    fn forget(&mut self, number: u64) {
        self.left.retain(|_, waits| {
            waits.retain(|wait| wait.batch != number);
            !waits.is_empty()
        });
        self.release();
    }

    /// Releases the memory that a busy hour has taken.
    fn release(&mut self) {
        if self.left.len() * 4 < self.left.capacity() {
            self.left.shrink_to_fit();
        }
    }

    fn take_over(&mut self) -> Vec<Run> {
        let over = self.open.extract_if(.., |batch| batch.is_listed && batch.left == 0);
        over.map(|batch| batch.run()).collect()
    }
}

impl Batch {
    fn run(&self) -> Run {
        Run { sweep: self.sweep, started_at: self.started_at, has_queued: self.has_queued }
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::{OrderNumber, ProductId};

    use super::*;

    fn order(n: u8) -> Entity {
        Entity::Order(OrderNumber::new(n.to_string()))
    }

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 0).unwrap()
    }

    fn sweeps(runs: &[Run]) -> Vec<Sweep> {
        runs.iter().map(|run| run.sweep).collect()
    }

    #[test]
    fn a_run_that_has_queued_nothing_is_over_with_its_listing() {
        let mut batches = Batches::default();
        let run = batches.begin(Sweep::NewOrders, at(7));
        let over = Run { sweep: Sweep::NewOrders, started_at: at(7), has_queued: false };
        assert_eq!(batches.listed(run), Some(over));
        assert!(batches.open.is_empty());
    }

    #[test]
    fn a_run_is_over_when_all_that_it_has_queued_was_read_whatever_failed_before() {
        let mut batches = Batches::default();
        let run = batches.begin(Sweep::OpenOrders, at(0));
        [order(1), order(2), order(2)].into_iter().for_each(|entity| batches.queued(&entity.into()));
        // One is read while the sweep still lists.
        assert!(batches.read(&order(1)).is_empty());
        assert_eq!(batches.listed(run), None);
        assert_eq!(sweeps(&batches.failed(&order(2)).0), [Sweep::OpenOrders]);
        assert_eq!(batches.failed(&order(2)), (Vec::new(), 2), "each run hears of it once");
        assert!(batches.read(&Entity::Product(ProductId::new("2"))).is_empty());
        let over = batches.read(&order(2));
        assert_eq!((sweeps(&over), over[0].has_queued), (vec![Sweep::OpenOrders], true));
    }

    #[test]
    fn one_reading_may_end_several_runs_and_each_waits_for_its_own() {
        let mut batches = Batches::default();
        let first = batches.begin(Sweep::NewOrders, at(0));
        batches.queued(&order(1).into());
        assert_eq!(batches.listed(first), None);
        let second = batches.begin(Sweep::OpenOrders, at(1));
        [order(1), order(2)].into_iter().for_each(|entity| batches.queued(&entity.into()));
        assert_eq!(batches.listed(second), None);
        assert_eq!(sweeps(&batches.read(&order(1))), [Sweep::NewOrders]);
        assert_eq!(sweeps(&batches.read(&order(2))), [Sweep::OpenOrders]);
    }

    #[test]
    fn a_run_whose_listing_failed_is_never_over_and_old_runs_are_forgotten() {
        let mut batches = Batches::default();
        let run = batches.begin(Sweep::Subresources, at(0));
        batches.queued(&order(1).into());
        batches.abandoned(run);
        assert!(batches.read(&order(1)).is_empty());
        for n in 0..20 {
            let run = batches.begin(Sweep::Subresources, at(n));
            batches.queued(&order(1).into());
            assert_eq!(batches.listed(run), None);
        }
        assert_eq!(batches.open.len(), MOST_OPEN);
        assert_eq!(batches.read(&order(1)).len(), MOST_OPEN);
        assert!(batches.open.is_empty() && batches.left.is_empty());
    }

    #[test]
    fn a_run_that_queues_an_entity_again_counts_its_failures_anew_and_waits_for_it_once() {
        let mut batches = Batches::default();
        let run = batches.begin(Sweep::OpenOrders, at(0));
        batches.queued(&order(1).into());
        assert_eq!(batches.failed(&order(1)).1, 1);
        batches.queued(&order(1).into());
        assert_eq!(batches.failed(&order(1)), (Vec::new(), 1));
        assert_eq!(batches.listed(run), None);
        assert_eq!(sweeps(&batches.read(&order(1))), [Sweep::OpenOrders]);
        assert!(batches.read(&order(1)).is_empty());
    }
}
