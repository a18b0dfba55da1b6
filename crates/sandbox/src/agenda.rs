//! What the marketplace does by itself, later: releases, expiries, label jobs, clean-ups, deliveries.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, AtomicU64, Ordering::SeqCst},
    },
};

use crate::world::World;

/// Something to do at an instant. It runs while no lock is held.
type Job = Box<dyn FnOnce(&Arc<World>) + Send>;

/// Jobs by the millisecond they are due at, then in the order they were added.
pub(crate) struct Agenda {
    jobs: Mutex<BTreeMap<(i64, u64), Job>>,
    added: AtomicU64,
    /// When the next job is due: spares the lock on the usual path.
    next: AtomicI64,
}

impl Default for Agenda {
    fn default() -> Self {
        Self { jobs: Mutex::default(), added: AtomicU64::new(0), next: AtomicI64::new(i64::MAX) }
    }
}

impl Agenda {
    /// Adds a job.
    pub(crate) fn at(&self, millis: i64, job: impl FnOnce(&Arc<World>) + Send + 'static) {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.insert((millis, self.added.fetch_add(1, SeqCst)), Box::new(job));
        self.next.fetch_min(millis, SeqCst);
    }

    fn take_due(&self, now: i64) -> Option<Job> {
        if self.next.load(SeqCst) > now {
            return None;
        }
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let due = jobs.first_key_value().is_some_and(|((at, _), _)| *at <= now);
        let job = if due { jobs.pop_first().map(|(_, job)| job) } else { None };
        self.next.store(jobs.first_key_value().map_or(i64::MAX, |((at, _), _)| *at), SeqCst);
        job
    }
}

impl World {
    /// Has a job done `seconds` from now.
    pub(crate) fn later(&self, seconds: i64, job: impl FnOnce(&Arc<World>) + Send + 'static) {
        self.agenda.at(self.clock.millis() + seconds * 1000, job);
    }

    /// Does everything that is due, in order.
    pub(crate) fn settle(self: &Arc<Self>) {
        while let Some(job) = self.agenda.take_due(self.clock.millis()) {
            job(self);
        }
    }
}
