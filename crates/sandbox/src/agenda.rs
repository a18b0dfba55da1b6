//! The scheduled jobs of the marketplace: releases, expiries, label jobs, clean-ups, deliveries.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering::SeqCst},
    },
};

use parking_lot::Mutex;

/// Something to do to a world `W` at an instant. It runs while no lock is held.
type Job<W> = Box<dyn FnOnce(&Arc<W>) + Send>;

/// Jobs by the millisecond they are due at, then in the order they were added.
pub(crate) struct Agenda<W> {
    jobs: Mutex<BTreeMap<(i64, u64), Job<W>>>,
    added: AtomicU64,
    /// When the next job is due: spares the lock on the usual path.
    next: AtomicI64,
}

impl<W> Default for Agenda<W> {
    fn default() -> Self {
        Self { jobs: Mutex::default(), added: AtomicU64::new(0), next: AtomicI64::new(i64::MAX) }
    }
}

impl<W> Agenda<W> {
    /// Adds a job.
    pub(crate) fn at(&self, millis: i64, job: impl FnOnce(&Arc<W>) + Send + 'static) {
        let mut jobs = self.jobs.lock();
        jobs.insert((millis, self.added.fetch_add(1, SeqCst)), Box::new(job));
        self.next.fetch_min(millis, SeqCst);
    }

    /// Takes the first job that is due, if any is.
    pub(crate) fn take_due(&self, now: i64) -> Option<Job<W>> {
        if self.next.load(SeqCst) > now {
            return None;
        }
        let mut jobs = self.jobs.lock();
        let due = jobs.first_key_value().is_some_and(|((at, _), _)| *at <= now);
        let job = if due { jobs.pop_first().map(|(_, job)| job) } else { None };
        self.next.store(jobs.first_key_value().map_or(i64::MAX, |((at, _), _)| *at), SeqCst);
        job
    }
}
