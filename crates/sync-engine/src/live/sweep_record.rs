//! Keeps the state of the sweeps over a restart: when they last ran, and whether webhooks arrive.
//!
//! Frequent runs are written with the next heartbeat, which is a commit anyway: thousands of idle stores write once a
//! minute each. Rare runs and failures are written at once.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;

use super::{
    observer::Observer,
    refresh_queue::RefreshQueue,
    row_writer::RowWriter,
    sweep_log::{Outcome, SweepLog},
    webhook_watch::WebhookWatch,
};
use crate::{
    Error, Problem, StoreContext,
    plan::batches::Run,
    plan::refresh_request::Entity,
    plan::schedule::{Intervals, Sweep},
};

/// Sweeps that are rarer than this are recorded at once.
const SELDOM: Duration = Duration::from_secs(300);
/// A refresh that failed this often, while others do not, is shown on its row.
const SHOWN_AFTER: u32 = 6;

/// The record of a store's sweeps.
pub(super) struct SweepRecord<'c> {
    context: &'c StoreContext,
    intervals: &'c Intervals,
    observer: &'c dyn Observer,
    queue: &'c RefreshQueue<'c>,
    watch: &'c WebhookWatch<'c>,
    rows: RowWriter<'c>,
    log: Mutex<SweepLog>,
}

impl<'c> SweepRecord<'c> {
    /// Returns a record that remembers nothing yet; it writes what `watch` has to write too.
    pub(super) fn new(
        context: &'c StoreContext,
        intervals: &'c Intervals,
        observer: &'c dyn Observer,
        queue: &'c RefreshQueue<'c>,
        watch: &'c WebhookWatch<'c>,
    ) -> Self {
        let (rows, log) = (RowWriter::new(context), Mutex::default());
        Self { context, intervals, observer, queue, watch, rows, log }
    }

    /// Loads the recorded state.
    pub(super) async fn remember(&self) -> Result<(), Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        let log = SweepLog::of_records(store.runs().sweeps(key).await?, self.context.clock.now());
        let watch = store.runs().webhook_watch(key).await?;
        log.succeeded().into_iter().for_each(|(sweep, at)| self.observer.swept(sweep, at));
        *self.log() = log;
        self.watch.remember(&watch);
        Ok(())
    }

    /// Records how a sweep's own calls ended. If it has queued refreshes, nothing is reported until they are done.
    pub(super) async fn note_run(
        &self,
        number: u64,
        run: Run,
        problem: Option<&Problem>,
    ) -> Result<(), Error> {
        let over = self.queue.end_listing(number, problem.is_none());
        match (problem, over) {
            (Some(problem), _) => self.boxed_note_failure(run, problem).await,
            (None, Some(run)) => self.boxed_note_success(run).await,
            (None, None) => Ok(()),
        }
    }

    /// Records that an entity was read and written: the runs that this completes have succeeded.
    pub(super) async fn note_read(&self, entity: &Entity) -> Result<(), Error> {
        for run in self.queue.note_read(entity) {
            self.boxed_note_success(run).await?;
        }
        Ok(())
    }

    /// Records a failed refresh: the sweeps that requested it have not succeeded yet. If the marketplace answers
    /// everything else, they do not wait for it for ever: the failure is shown on its row.
    pub(super) async fn note_unread(&self, entity: &Entity, problem: &Problem) -> Result<(), Error> {
        let (runs, times) = self.queue.note_failed(entity);
        for run in runs {
            self.boxed_note_failure(run, problem).await?;
        }
        if times >= SHOWN_AFTER && !self.context.client.metrics().is_lost() {
            self.boxed_note_unreadable(entity, problem).await;
            self.note_read(entity).await?;
        }
        Ok(())
    }

    /// Returns when each sweep last succeeded.
    pub(super) fn succeeded(&self) -> HashMap<Sweep, DateTime<Utc>> {
        self.log().succeeded()
    }

    /// Returns the sweeps that have failed and not succeeded since.
    pub(super) fn failing(&self) -> Vec<Sweep> {
        self.log().failing()
    }

    /// Writes what is not on disk yet, and renews the lease with it, even if there is nothing to write: so the next
    /// owner knows since when the store had none.
    pub(super) async fn save(&self) -> Result<(), Error> {
        let (sweeps, watch) = (self.log().take_unwritten(), self.watch.take_unwritten());
        let has_watch = watch.is_some();
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.sweeps().note_sweeps(sweeps.values().cloned().collect()).await?;
            if let Some(watch) = watch {
                tx.sweeps().note_webhook_watch(watch).await?;
            }
            tx.commit().await
        };
        let written = written.await;
        if written.is_err() {
            self.log().put_back(sweeps);
            if has_watch {
                self.watch.note_unwritten();
            }
        }
        written.map_err(Error::from)
    }

    // Not `async`, like all boxes here.
    fn boxed_note_success(&self, run: Run) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.note_success(run))
    }

    fn boxed_note_failure<'s>(&'s self, run: Run, problem: &'s Problem) -> BoxFuture<'s, Result<(), Error>> {
        self.observer.sweep_failed(run.sweep, problem);
        Box::pin(self.note(run, Outcome::Failed(problem.in_one_line(self.context.locale))))
    }

    /// Shows on its row that an entity cannot be read although everything else can.
    fn boxed_note_unreadable<'s>(&'s self, entity: &'s Entity, problem: &Problem) -> BoxFuture<'s, ()> {
        Box::pin(self.rows.note_failure(entity, problem.code.clone(), problem.text.clone()))
    }

    /// Records a success. A run that had nothing to read, and perhaps nothing to list, is proved by the marketplace's
    /// last useful answer.
    async fn note_success(&self, run: Run) -> Result<(), Error> {
        let metrics = self.context.client.metrics();
        let at = match run.has_queued {
            true => Some(self.context.clock.now()),
            false => metrics.answered_at().filter(|_| !metrics.is_lost()),
        };
        let Some(at) = at else { return Ok(()) };
        self.observer.swept(run.sweep, at);
        self.note(run, Outcome::Succeeded(at)).await
    }

    /// Records how a run ended. An unrecorded run is only repeated after a restart.
    async fn note(&self, Run { sweep, started_at, .. }: Run, outcome: Outcome) -> Result<(), Error> {
        let is_seldom = self.intervals.of(sweep).period(self.context.clock.now()) >= SELDOM;
        let is_news = self.log().note(sweep, started_at, outcome);
        if !is_seldom && !is_news {
            return Ok(());
        }
        self.save().await.or_else(|problem| if problem.ends_all() { Err(problem) } else { Ok(()) })
    }

    fn log(&self) -> MutexGuard<'_, SweepLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
