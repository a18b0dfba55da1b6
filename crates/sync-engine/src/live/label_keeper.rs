//! Keeps label files while the service runs: fetches ready labels, and polls labels in progress.
//!
//! No delivery reports that a label was started or is ready (API document, "Events"). Labels that the mirror shows as
//! in progress are polled at a pace that slows down, a few orders at a time, however many there are; orders with
//! shipments and without labels, rarely. What a poll finds is queued like what sweeps find.

use std::{collections::HashSet, time::Duration};

use chrono::TimeDelta;
use espelho_api_client::limit::Lane;
use espelho_model::{OrderNumber, watch};
use espelho_store::{ReadyLabel, Subresource};
use futures_util::future::BoxFuture;

use super::{label_files::LabelFiles, observer::Observer, refresh_queue::RefreshQueue, signals::Signals};
use crate::{
    Error, StoreContext,
    labels::{
        Fault, Fetched, Labels, PAGE, WORKERS, fetch_some, note,
        pace::{Failing, due},
    },
    plan::pauses::Activity,
    plan::refresh_request::{Entity, RefreshRequest},
    plan::{interval::is_due, label_files::ReadyWalk},
};

/// Pause between two polls, with and without pending work.
const EAGER: Duration = Duration::from_secs(5);
const PATIENT: Duration = Duration::from_secs(60);
/// Wait this long for more shipments before a poll: those that were just read may have labels.
const GATHER: Duration = Duration::from_secs(1);
/// Orders with labels in progress in one poll: sixty a minute, a fifth of the budget.
const POLLED_AT_ONCE: usize = 5;
/// Orders considered for it.
const CONSIDERED: u32 = 200;
/// How often orders without labels are polled: some each minute, none more often than every ten.
const MINUTE: Duration = Duration::from_secs(60);
const UNLABELLED: u32 = 5;
const UNLABELLED_EVERY: TimeDelta = TimeDelta::minutes(10);

/// The keeper of a store's label files.
pub(super) struct LabelKeeper<'c> {
    context: &'c StoreContext,
    labels: &'c Labels,
    observer: &'c dyn Observer,
    queue: &'c RefreshQueue<'c>,
    signals: &'c Signals,
    files: LabelFiles<'c>,
    failing: Failing,
    ready: ReadyWalk,
    hosts: HashSet<String>,
    polled: Option<Duration>,
    is_making: bool,
    polled_unlabelled: Option<Duration>,
}

/// Keeps the label files until the work stops, if the store has any.
pub(super) async fn keep_labels(
    context: &StoreContext,
    observer: &dyn Observer,
    queue: &RefreshQueue<'_>,
    signals: &Signals,
) -> Result<(), Error> {
    let Some(labels) = &context.labels else {
        let _waiting = watch::idle();
        context.stop.cancelled().await;
        return Ok(());
    };
    // Boxed: most stores have none.
    let mut keeper = Box::new(LabelKeeper::new(context, labels, observer, queue, signals));
    keeper.run().await
}

impl<'c> LabelKeeper<'c> {
    /// Returns a keeper that has polled nothing yet; orders to poll go to `queue`.
    fn new(
        context: &'c StoreContext,
        labels: &'c Labels,
        observer: &'c dyn Observer,
        queue: &'c RefreshQueue<'c>,
        signals: &'c Signals,
    ) -> Self {
        Self {
            context,
            labels,
            observer,
            queue,
            signals,
            files: LabelFiles::new(context, labels),
            failing: Failing::default(),
            ready: ReadyWalk::default(),
            hosts: HashSet::new(),
            polled: None,
            is_making: false,
            polled_unlabelled: None,
        }
    }

    async fn run(&mut self) -> Result<(), Error> {
        self.boxed_remove_orphans().await;
        while !self.context.stop.is_cancelled() {
            if self.context.holds(Activity::Pull) {
                self.context.released(Activity::Pull).await;
                continue;
            }
            let busy = match self.boxed_poll().await {
                Err(problem) if problem.ends_all() => return Err(problem),
                Err(problem) => {
                    let problem = problem.problem();
                    let (error, next_step) = (&problem.error, problem.hint());
                    tracing::warn!(store = %self.context.key, error, next_step, "label poll failed; will retry");
                    false
                }
                Ok(busy) => busy,
            };
            let _waiting = watch::idle();
            tokio::select! {
                () = self.context.clock.sleep(if busy { EAGER } else { PATIENT }) => (),
                () = self.signals.shipped() => self.context.clock.sleep(GATHER).await,
                () = self.context.stop.cancelled() => (),
            }
        }
        Ok(())
    }

    // Not `async`: the future of an `async` function would also reserve space for the boxed value.
    fn boxed_remove_orphans(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.files.remove_orphans())
    }

    fn boxed_poll(&mut self) -> BoxFuture<'_, Result<bool, Error>> {
        Box::pin(self.poll())
    }

    /// Polls once; returns whether the next poll should follow soon.
    async fn poll(&mut self) -> Result<bool, Error> {
        self.files.tidy_when_due(!self.failing.is_empty()).await?;
        self.files.find_lost_when_due().await?;
        let fetched = self.fetch().await?;
        let making = self.poll_in_progress().await?;
        Ok(fetched || making || !self.failing.is_empty())
    }

    /// Fetches what is ready; returns whether there was anything.
    async fn fetch(&mut self) -> Result<bool, Error> {
        let (context, labels) = (self.context, self.labels);
        let client = context.client.in_lane(Lane::Poll);
        if !self.failing.may_try_any(context.clock.monotonic()) {
            return Ok(false);
        }
        let wanted = labels.wanted(context.clock.now());
        let files = context.store.label_files();
        let ready = files.labels_to_fetch(&context.key, &wanted, self.ready.after(), PAGE).await;
        let ready = ready?;
        let is_whole = self.ready.advance(&ready, PAGE as usize);
        let may_try = |label: &ReadyLabel| self.failing.may_try(context.clock.monotonic(), label);
        let due: Vec<ReadyLabel> = ready.into_iter().filter(may_try).collect();
        for some in due.chunks(WORKERS) {
            for (label, result) in fetch_some(context, &client, labels, some).await {
                self.after_fetch(label, result).await?;
            }
            self.observer.stats(context.client.stats());
            if context.stop.is_cancelled() || !self.failing.may_try_any(context.clock.monotonic()) {
                return Ok(true);
            }
        }
        if is_whole {
            let seen = self.ready.end();
            self.failing.keep_only(|label| seen.contains(label.as_str()));
        }
        Ok(!due.is_empty() || !is_whole)
    }

    async fn after_fetch(&mut self, label: &ReadyLabel, result: Result<Fetched, Fault>) -> Result<(), Error> {
        match result {
            Ok(Fetched::Kept { host }) => {
                self.failing.went_well(&label.id);
                if !self.hosts.contains(&host) {
                    tracing::info!(store = %self.context.key, host, "files of labels come from this host");
                    self.hosts.insert(host);
                }
            }
            Ok(Fetched::Overtaken) => (),
            Err(fault) if fault.ends_all() => return Err(fault.into()),
            Err(fault) => {
                if fault.is_stale() {
                    self.queue.push([order_to_poll(label.order.clone())]);
                }
                if self.failing.failed(self.context.clock.monotonic(), label, &fault) {
                    note(self.context, label, &fault).await;
                }
            }
        }
        Ok(())
    }

    /// Polls some of the labels in progress; returns whether there are any.
    async fn poll_in_progress(&mut self) -> Result<bool, Error> {
        let (context, now) = (self.context, self.context.clock.now());
        let monotonic = context.clock.monotonic();
        // The wake-up may be the answer to the last poll.
        if !is_due(self.polled, monotonic, EAGER) {
            return Ok(self.is_making);
        }
        self.polled = Some(monotonic);
        let making = context.store.label_files().labels_in_the_making(&context.key, CONSIDERED).await;
        let making = making?;
        self.is_making = !making.is_empty();
        let mut orders = due(now, &making, POLLED_AT_ONCE);
        if is_due(self.polled_unlabelled, monotonic, MINUTE) {
            self.polled_unlabelled = Some(monotonic);
            let before = now - UNLABELLED_EVERY;
            let files = context.store.label_files();
            let without = files.orders_without_labels(&context.key, before, UNLABELLED).await;
            orders.extend(without?);
        }
        if self.queue.has_room() {
            self.queue.push(orders.into_iter().map(order_to_poll));
        }
        Ok(self.is_making)
    }
}

/// Returns a request to refresh the shipments of an order.
fn order_to_poll(number: OrderNumber) -> (Entity, RefreshRequest) {
    (Entity::Order(number), RefreshRequest::swept([Subresource::Shipments]))
}
