//! Keeps the state of the sweeps over a restart: when they last ran, and whether webhooks arrive.
//!
//! Frequent runs are written with the next heartbeat, which is a commit anyway: thousands of idle stores write once a
//! minute each. Rare runs and failures are written at once.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::ProductId;
use espelho_store::{SweepRecord, WebhookWatch};
use futures_util::future::BoxFuture;

use super::{
    Live, WebhookNews,
    batches::Run,
    ends_all,
    queue::BUSY,
    refresh_request::{Entity, RefreshRequest, Urgency},
    schedule::{Moment, Sweep},
};
use crate::Problem;

/// Sweeps that are rarer than this are recorded at once.
const SELDOM: Duration = Duration::from_secs(300);
/// A refresh that failed this often, while others do not, is shown on its row.
const SHOWN_AFTER: u32 = 6;
/// Orders of one product that arrive within this time share one refresh of it.
const GATHERED_FOR: Duration = Duration::from_secs(3);
/// Products of changed orders that are remembered; the rotation sweep covers the rest.
const MAX_SOLD: usize = 10_000;

/// The state of the sweeps, and what of it is not on disk yet.
#[derive(Default)]
pub(super) struct SweepState {
    pub(super) succeeded: HashMap<Sweep, DateTime<Utc>>,
    unwritten: HashMap<Sweep, SweepRecord>,
    failing: BTreeSet<&'static str>,
    watch: WebhookWatch,
    watch_is_unwritten: bool,
    /// Products of orders that have changed.
    sold: BTreeSet<ProductId>,
}

impl Live<'_> {
    pub(super) fn memory(&self) -> MutexGuard<'_, SweepState> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn moment(&self) -> Moment {
        Moment { monotonic: self.context.clock.monotonic(), wall: self.context.clock.now() }
    }

    /// Loads the recorded state.
    pub(super) async fn remember(&self) -> Result<(), Problem> {
        let (store, key) = (&self.context.store, &self.context.key);
        let failed = |e: espelho_store::Error| Problem::from_store(&e);
        let sweeps = store.runs().sweeps(key).await.map_err(failed)?;
        let watch = store.runs().webhook_watch(key).await.map_err(failed)?;
        let mut succeeded = HashMap::new();
        for record in sweeps {
            let sweep = Sweep::ALL.into_iter().find(|sweep| sweep.as_str() == record.kind);
            if let Some((sweep, at)) = sweep.zip(record.succeeded_at) {
                succeeded.insert(sweep, at);
                self.observer.swept(sweep, at);
            }
        }
        let mut memory = self.memory();
        (memory.succeeded, memory.watch) = (succeeded, watch);
        Ok(())
    }

    /// Records how a sweep's own calls ended. If it has queued refreshes, nothing is reported until they are done.
    pub(super) async fn note_run(
        &self,
        number: u64,
        run: Run,
        problem: Option<&Problem>,
    ) -> Result<(), Problem> {
        let is_crowded = self.known().is_crowded;
        let over = match problem {
            None if !is_crowded => self.batches().listed(number),
            _ => {
                self.batches().abandoned(number);
                None
            }
        };
        match (problem, over) {
            (Some(problem), _) => self.boxed_note_failure(run, problem).await,
            (None, Some(run)) => self.boxed_note_success(run).await,
            (None, None) => Ok(()),
        }
    }

    /// Records that an entity was read and written: the runs that this completes have succeeded.
    pub(super) async fn note_read(&self, entity: &Entity) -> Result<(), Problem> {
        let over = self.batches().read(entity);
        for run in over {
            self.boxed_note_success(run).await?;
        }
        Ok(())
    }

    /// Records a failed refresh: the sweeps that requested it have not succeeded yet. If the marketplace answers
    /// everything else, they do not wait for it for ever: the failure is shown on its row.
    pub(super) async fn note_unread(&self, entity: &Entity, problem: &Problem) -> Result<(), Problem> {
        let (runs, times) = self.batches().failed(entity);
        for run in runs {
            self.boxed_note_failure(run, problem).await?;
        }
        if times >= SHOWN_AFTER && !self.context.client.metrics().is_lost() {
            self.boxed_note_unreadable(entity, problem).await;
            self.note_read(entity).await?;
        }
        Ok(())
    }

    // Not `async`, like all boxes here.
    fn boxed_note_success(&self, run: Run) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(self.note_success(run))
    }

    fn boxed_note_failure<'s>(
        &'s self,
        run: Run,
        problem: &'s Problem,
    ) -> BoxFuture<'s, Result<(), Problem>> {
        Box::pin(self.note_sweep(run, None, Some(problem)))
    }

    /// Records a success. A run that had nothing to read, and perhaps nothing to list, is proved by the marketplace's
    /// last useful answer.
    async fn note_success(&self, run: Run) -> Result<(), Problem> {
        let metrics = self.context.client.metrics();
        let at = match run.has_queued {
            true => Some(self.context.clock.now()),
            false => metrics.answered_at().filter(|_| !metrics.is_lost()),
        };
        match at {
            Some(at) => self.note_sweep(run, Some(at), None).await,
            None => Ok(()),
        }
    }

    /// Records a sweep's success at that time, or its failure. An unrecorded run is only repeated after a restart.
    async fn note_sweep(
        &self,
        Run { sweep, started_at, .. }: Run,
        succeeded_at: Option<DateTime<Utc>>,
        problem: Option<&Problem>,
    ) -> Result<(), Problem> {
        let is_seldom = self.options.intervals.of(sweep).period(self.context.clock.now()) >= SELDOM;
        problem.into_iter().for_each(|problem| self.observer.sweep_failed(sweep, problem));
        succeeded_at.into_iter().for_each(|at| self.observer.swept(sweep, at));
        let write = {
            let mut memory = self.memory();
            let is_news = match problem {
                Some(_) => memory.failing.insert(sweep.as_str()),
                None => memory.failing.remove(sweep.as_str()),
            };
            if let Some(at) = succeeded_at {
                memory.succeeded.insert(sweep, at);
            }
            let succeeded_at = memory.succeeded.get(&sweep).copied();
            let problem = problem.map(|problem| problem.in_one_line(self.context.locale));
            let kind = sweep.as_str().to_owned();
            memory.unwritten.insert(sweep, SweepRecord { kind, started_at, succeeded_at, problem });
            is_seldom || is_news
        };
        let written = if write { self.save_state().await } else { Ok(()) };
        written.or_else(|problem| if ends_all(&problem) { Err(problem) } else { Ok(()) })
    }

    /// Returns the sweeps that have failed and not succeeded since.
    pub(super) fn failing(&self) -> Vec<Sweep> {
        let memory = self.memory();
        Sweep::ALL.into_iter().filter(|sweep| memory.failing.contains(sweep.as_str())).collect()
    }

    /// Writes what is not on disk yet, and renews the lease with it, even if there is nothing to write: so the next
    /// owner knows since when the store had none.
    pub(super) async fn save_state(&self) -> Result<(), Problem> {
        let (sweeps, watch) = {
            let mut memory = self.memory();
            let watch = std::mem::take(&mut memory.watch_is_unwritten).then(|| memory.watch.clone());
            (std::mem::take(&mut memory.unwritten), watch)
        };
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
            let mut memory = self.memory();
            memory.watch_is_unwritten |= has_watch;
            for (sweep, record) in sweeps {
                memory.unwritten.entry(sweep).or_insert(record);
            }
        }
        written.map_err(|e| Problem::from_store(&e))
    }

    /// Records that a sweep found a change that no delivery reported.
    pub(super) fn note_missed(&self, event: &'static str) {
        self.observer.missed(event);
        let now = self.context.clock.now();
        let mut memory = self.memory();
        memory.watch.missed += 1;
        memory.watch.missed_since.get_or_insert(now);
        memory.watch_is_unwritten = true;
        drop(memory);
        self.untold.notify_one();
    }

    /// Records an arrived delivery: missed ones before it no longer suggest that none arrive.
    pub(super) fn record_delivery(&self, at: DateTime<Utc>, is_test: bool) {
        let mut memory = self.memory();
        let watch = &mut memory.watch;
        watch.heard_at = watch.heard_at.max(Some(at));
        if watch.missed_since.is_some_and(|since| at >= since) {
            (watch.missed, watch.missed_since) = (0, None);
        }
        if is_test {
            watch.test_heard_at = watch.test_heard_at.max(Some(at));
        }
        // Whatever prevented the last test, deliveries arrive.
        if watch.tested_at.is_none_or(|tested| at >= tested) {
            watch.problem = None;
        }
        watch.silent = false;
        memory.watch_is_unwritten = true;
        drop(memory);
        self.tell_of_webhooks(None);
    }

    /// Returns what is known about the arrival of webhooks.
    pub(super) fn webhook_watch(&self) -> WebhookWatch {
        self.memory().watch.clone()
    }

    /// Records since when it is proved that no delivery arrives; `None` if it is not proved.
    pub(super) fn note_silence(&self, since: Option<DateTime<Utc>>) {
        self.memory().watch.silent = since.is_some();
        self.tell_of_webhooks(since);
    }

    fn tell_of_webhooks(&self, silent_since: Option<DateTime<Utc>>) {
        let news = {
            let watch = &self.memory().watch;
            WebhookNews { heard_at: watch.heard_at, missed: watch.missed, silent_since }
        };
        self.observer.webhook(news);
    }

    /// Records that a test delivery was requested, or why it could not be.
    pub(super) fn note_tested(&self, at: DateTime<Utc>, problem: Option<String>) {
        let mut memory = self.memory();
        (memory.watch.tested_at, memory.watch.problem) = (Some(at), problem);
        memory.watch_is_unwritten = true;
        drop(memory);
        self.untold.notify_one();
    }

    /// Whether a test delivery has arrived since then.
    pub(super) fn is_test_heard_since(&self, then: DateTime<Utc>) -> bool {
        self.memory().watch.test_heard_at.is_some_and(|heard| heard >= then)
    }

    /// Requests products of a changed order: their reserved stock has changed with it. They are read within seconds; if
    /// much waits to be read already, the sweep reads them in its turn.
    pub(super) fn note_sold(&self, products: Vec<ProductId>) {
        let is_busy = !self.known().mirrored || self.queue().waiting(Urgency::Swept) >= BUSY;
        if !is_busy {
            let request = || RefreshRequest { urgency: Urgency::Found, ..RefreshRequest::default() };
            let requests = products.into_iter().map(|id| (Entity::Product(id), request()));
            return self.push_later(GATHERED_FOR, requests);
        }
        let mut memory = self.memory();
        for product in products {
            if memory.sold.len() < MAX_SOLD {
                memory.sold.insert(product);
            }
        }
    }

    /// Takes some of the products of changed orders.
    pub(super) fn take_sold(&self, most: usize) -> Vec<ProductId> {
        let mut memory = self.memory();
        let taken: Vec<ProductId> = memory.sold.iter().take(most).cloned().collect();
        for product in &taken {
            memory.sold.remove(product);
        }
        taken
    }
}
