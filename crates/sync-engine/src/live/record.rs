//! What the sweeps remember over a restart: when they last ran, and whether webhooks arrive.
//!
//! What runs often is written with the next sign of life, which is a commit anyway: thousands of stores at rest write once a
//! minute each. What runs seldom, and what goes wrong, is written at once.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::ProductId;
use espelho_store::{SweepRecord, WebhookWatch};

use super::{
    Live,
    schedule::{Look, Moment},
};
use crate::Problem;

/// Sweeps that are rarer than this are written down at once.
const SELDOM: Duration = Duration::from_secs(300);
/// Products of changed orders that are remembered; of more, the rotation takes care.
const MOST_SOLD: usize = 10_000;

/// What is remembered, and what of it is not on disk yet.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) succeeded: HashMap<Look, DateTime<Utc>>,
    unwritten: HashMap<Look, SweepRecord>,
    failing: BTreeSet<&'static str>,
    watch: WebhookWatch,
    watch_is_unwritten: bool,
    /// Products of orders that have changed.
    sold: BTreeSet<ProductId>,
}

impl Live<'_> {
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn moment(&self) -> Moment {
        Moment { monotonic: self.context.clock.monotonic(), wall: self.context.clock.now() }
    }

    /// Reads what was remembered.
    pub(super) async fn remember(&self) -> Result<(), Problem> {
        let (store, key) = (&self.context.store, &self.context.key);
        let failed = |e: espelho_store::Error| Problem::from_store(&e);
        let sweeps = store.sweeps(key).await.map_err(failed)?;
        let watch = store.webhook_watch(key).await.map_err(failed)?;
        let mut succeeded = HashMap::new();
        for sweep in sweeps {
            let look = Look::ALL.into_iter().find(|look| look.as_str() == sweep.kind);
            if let Some((look, at)) = look.zip(sweep.succeeded_at) {
                succeeded.insert(look, at);
                self.observer.remembered(look, at);
            }
        }
        let mut memory = self.memory();
        (memory.succeeded, memory.watch) = (succeeded, watch);
        Ok(())
    }

    /// Notes how a sweep ended.
    pub(super) async fn note_look(
        &self,
        look: Look,
        started_at: DateTime<Utc>,
        problem: Option<&Problem>,
    ) -> Result<(), Problem> {
        let now = self.context.clock.now();
        let is_seldom = self.options.intervals.of(look).period(now) >= SELDOM;
        let write = {
            let mut memory = self.memory();
            let is_news = match problem {
                Some(_) => memory.failing.insert(look.as_str()),
                None => memory.failing.remove(look.as_str()),
            };
            if problem.is_none() {
                memory.succeeded.insert(look, now);
            }
            let succeeded_at = memory.succeeded.get(&look).copied();
            let problem = problem.map(|problem| problem.in_one_line(self.context.locale));
            let kind = look.as_str().to_owned();
            memory.unwritten.insert(look, SweepRecord { kind, started_at, succeeded_at, problem });
            is_seldom || is_news
        };
        if write { self.keep_notes().await } else { Ok(()) }
    }

    /// Writes what is not on disk yet, and renews the lease with it, though there may be nothing to write: so the next owner
    /// knows since when nobody was here.
    pub(super) async fn keep_notes(&self) -> Result<(), Problem> {
        let (sweeps, watch) = {
            let mut memory = self.memory();
            let watch = std::mem::take(&mut memory.watch_is_unwritten).then(|| memory.watch.clone());
            (std::mem::take(&mut memory.unwritten), watch)
        };
        let has_watch = watch.is_some();
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.note_sweeps(sweeps.values().cloned().collect()).await?;
            if let Some(watch) = watch {
                tx.note_webhook_watch(watch).await?;
            }
            tx.commit().await
        };
        let written = written.await;
        if written.is_err() {
            let mut memory = self.memory();
            memory.watch_is_unwritten |= has_watch;
            for (look, record) in sweeps {
                memory.unwritten.entry(look).or_insert(record);
            }
        }
        written.map_err(|e| Problem::from_store(&e))
    }

    /// A sweep has found a change that no delivery told.
    pub(super) fn note_missed(&self, event: &'static str) {
        self.observer.missed(event);
        let now = self.context.clock.now();
        let mut memory = self.memory();
        memory.watch.missed += 1;
        memory.watch.missed_since.get_or_insert(now);
        memory.watch_is_unwritten = true;
    }

    /// A delivery has come: those before it that did not are no sign any more that none do.
    pub(super) fn note_heard(&self, at: DateTime<Utc>, is_test: bool) {
        let mut memory = self.memory();
        let watch = &mut memory.watch;
        watch.heard_at = watch.heard_at.max(Some(at));
        if watch.missed_since.is_some_and(|since| at >= since) {
            (watch.missed, watch.missed_since) = (0, None);
        }
        if is_test {
            watch.test_heard_at = watch.test_heard_at.max(Some(at));
        }
        memory.watch_is_unwritten = true;
    }

    /// A test delivery was asked for, or could not be.
    pub(super) fn note_tested(&self, at: DateTime<Utc>, problem: Option<String>) {
        let mut memory = self.memory();
        (memory.watch.tested_at, memory.watch.problem) = (Some(at), problem);
        memory.watch_is_unwritten = true;
    }

    /// Whether a test delivery has come since then.
    pub(super) fn is_test_heard_since(&self, then: DateTime<Utc>) -> bool {
        self.memory().watch.test_heard_at.is_some_and(|heard| heard >= then)
    }

    /// Products are in an order that has changed.
    pub(super) fn note_sold(&self, products: impl IntoIterator<Item = ProductId>) {
        let mut memory = self.memory();
        for product in products {
            if memory.sold.len() < MOST_SOLD {
                memory.sold.insert(product);
            }
        }
    }

    /// Takes some of the products that are in changed orders.
    pub(super) fn take_sold(&self, most: usize) -> Vec<ProductId> {
        let mut memory = self.memory();
        let taken: Vec<ProductId> = memory.sold.iter().take(most).cloned().collect();
        for product in &taken {
            memory.sold.remove(product);
        }
        taken
    }
}
