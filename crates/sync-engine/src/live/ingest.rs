//! Moves deliveries from the inbox into the queue.
//!
//! A delivery is marked as handled only when its work is done: its event-only data is written, or its entity was read
//! and written. Whatever happens before that, the inbox returns it again.

use std::time::Duration;

use espelho_api_client::webhook::{Delivery, EventOnlyData};
use espelho_model::{containment::contained, fault, watch};
use espelho_store::{Failure, StoredDelivery};
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use super::{
    event_only_data,
    identity::StoreIdentity,
    inbox_sorting::{Sorted, key_of},
    observer::Observer,
    refresh_queue::RefreshQueue,
    sweeps::profile::sweep_profile,
    webhook_watch::WebhookWatch,
};
use crate::{
    Error, Input, StoreContext,
    plan::{pauses::Activity, refresh_request::Entity},
    quarantine::Attempt,
};

/// Deliveries that one read of the inbox returns.
const PAGE_ROWS: i64 = 200;
/// One change of an order often causes two or three events: after this wait, one refresh serves them all.
const COALESCE_DELAY: Duration = Duration::from_millis(250);
/// How often the whole inbox is scanned: PostgreSQL may commit a lower id after a higher one.
const FULL_SCAN_INTERVAL: Duration = Duration::from_secs(4);
/// How old the look at the inboxes of all stores may be that says whether a scan would find anything.
const LOOK_AGE: Duration = Duration::from_secs(1);
/// How often the whole inbox of a store without a webhook is scanned.
const FULL_SCAN_INTERVAL_WITHOUT_WEBHOOK: Duration = Duration::from_secs(300);
/// The pause between two attempts to read the store's identifier.
const IDENTIFY_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The part of the inbox that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scan {
    /// The deliveries that arrived after the last scan.
    New,
    /// All of it.
    Whole,
    /// All of it, if the look at all stores found any delivery of this one, or failed.
    WholeIfUnhandled,
}

impl Scan {
    /// Returns the scan after a wake, some time after the last whole one. Where deliveries come without a pause, the whole
    /// inbox is scanned nevertheless; without the look, which may be older than the delivery that woke the store.
    fn on_wake(since_whole: Duration, every: Duration) -> Self {
        if since_whole < every { Self::New } else { Self::Whole }
    }
}

/// Moves a store's deliveries from its inbox into the refresh queue.
pub(super) struct Ingest<'c> {
    context: &'c StoreContext,
    observer: &'c dyn Observer,
    queue: &'c RefreshQueue<'c>,
    identity: &'c StoreIdentity,
    watch: &'c WebhookWatch<'c>,
    /// The inbox position up to which it was scanned.
    position: i64,
}

impl<'c> Ingest<'c> {
    /// Returns the ingest of a store's deliveries; it reports each of them to `watch`.
    pub(super) fn new(
        context: &'c StoreContext,
        observer: &'c dyn Observer,
        queue: &'c RefreshQueue<'c>,
        identity: &'c StoreIdentity,
        watch: &'c WebhookWatch<'c>,
    ) -> Self {
        Self { context, observer, queue, identity, watch, position: 0 }
    }

    /// Ingests deliveries until the work stops.
    pub(super) async fn run(&mut self, inbox: &Notify) -> Result<(), Error> {
        // A store without a webhook has at most the deliveries from when it had one.
        let every =
            if self.watch.receives() { FULL_SCAN_INTERVAL } else { FULL_SCAN_INTERVAL_WITHOUT_WEBHOOK };
        if self.watch.receives() {
            self.boxed_identify_store().await?;
        }
        let (mut scan, mut last_whole) = (Scan::Whole, self.context.clock.monotonic());
        while !self.is_stopping() {
            // The inbox keeps the deliveries that come in meanwhile.
            if self.context.holds(Activity::Webhooks) {
                Box::pin(self.context.released(Activity::Webhooks)).await;
                scan = Scan::Whole;
                continue;
            }
            match self.boxed_ingest_inbox(scan).await {
                Ok(()) => (),
                Err(problem) if problem.ends_all() => return Err(problem),
                Err(problem) => {
                    tracing::warn!(store = %self.context.key, error = problem.problem().error, "the inbox cannot be ingested; will retry");
                }
            }
            if scan != Scan::New {
                last_whole = self.context.clock.monotonic();
            }
            let since_whole = || self.context.clock.monotonic().saturating_sub(last_whole);
            let _waiting = watch::idle();
            tokio::select! {
                () = inbox.notified() => {
                    self.context.clock.sleep(COALESCE_DELAY).await;
                    scan = Scan::on_wake(since_whole(), every);
                }
                () = self.context.clock.sleep(every.saturating_sub(since_whole())) => scan = Scan::WholeIfUnhandled,
                () = self.context.stop.cancelled() => (),
            }
        }
        Ok(())
    }

    // Not `async`: the future of an `async` function would also reserve space for the boxed value.
    fn boxed_identify_store(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.identify_store())
    }

    fn boxed_ingest_inbox(&mut self, scan: Scan) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.ingest_inbox(scan))
    }

    /// Reads the store's identifier: a delivery may be meant for another store.
    async fn identify_store(&self) -> Result<(), Error> {
        while !self.is_stopping() && !self.identity.is_settled() {
            match sweep_profile(self.context, self.identity).await {
                Ok(()) => return Ok(()),
                Err(problem) if problem.ends_all() => return Err(problem),
                Err(_) if self.identity.is_settled() => return Ok(()),
                // If it cannot be read yet, nothing else can be read either: the deliveries may wait.
                Err(_) => tokio::select! {
                    () = self.context.clock.sleep(IDENTIFY_RETRY_INTERVAL) => (),
                    () = self.context.stop.cancelled() => (),
                },
            }
        }
        Ok(())
    }

    async fn ingest_inbox(&mut self, scan: Scan) -> Result<(), Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        if scan == Scan::WholeIfUnhandled && !store.inbox().has_unhandled(key, LOOK_AGE).await {
            return Ok(());
        }
        let mut after = if scan == Scan::New { self.position } else { 0 };
        while self.queue.takes_deliveries() && !self.is_stopping() {
            let kept = store.inbox().unhandled(key, after, PAGE_ROWS).await?;
            let Some(last) = kept.last() else { break };
            after = last.id;
            let read = kept.len();
            self.process(kept).await?;
            self.position = self.position.max(after);
            if (read as i64) < PAGE_ROWS {
                break;
            }
        }
        Ok(())
    }

    async fn process(&self, kept: Vec<StoredDelivery>) -> Result<(), Error> {
        let own = self.identity.id();
        let naive = self.context.client.naive_offset();
        let mut sorted = Sorted { locale: self.context.locale, ..Sorted::default() };
        for kept in kept.into_iter().filter(|kept| !self.queue.has(kept.id)) {
            self.watch.note_heard(kept.received_at, kept.event.as_deref() == Some("webhook.test"));
            let sorting = |sorted: &mut Sorted| {
                fault::point("delivery", &kept.body);
                sorted.add(&kept, Delivery::parse(&kept.body, naive), own.as_deref());
            };
            self.sort_contained(&kept, &mut sorted, sorting).await;
        }
        let Sorted { reads, event_only_data, malformed, handled, .. } = sorted;
        self.keep_event_only_data(event_only_data, &malformed).await?;
        for (entity, request) in &reads {
            if let (Entity::Order(number), Some(at)) = (entity, request.reported_at) {
                self.watch.note_reported(number, at);
            }
        }
        self.queue.push(reads);
        if !handled.is_empty() {
            let ids = handled.iter().map(|(id, _)| *id).collect();
            self.context.store.inbox().mark_handled(ids).await?;
            handled.into_iter().for_each(|(_, what)| self.observer.handled(what));
        }
        Ok(())
    }

    /// Sorts a delivery; one that panics is sorted once more, and then set aside.
    async fn sort_contained(
        &self,
        kept: &StoredDelivery,
        sorted: &mut Sorted,
        sorting: impl Fn(&mut Sorted) + Copy + Send,
    ) {
        let (input, key) = (Input::Delivery, key_of(kept));
        loop {
            match self.context.attempt_now(input, &key, || sorting(sorted)).await {
                Attempt::Ended(()) => return,
                Attempt::Panicked(_) => (),
                Attempt::SetAside(poison) => {
                    let store = self.context.key.as_str();
                    return sorted.set_aside(kept, poison.failure(input, &key, store, self.context.locale));
                }
            }
        }
    }

    /// Writes event-only data; where that panics, one item after the other, so that one of them is set aside.
    async fn keep_event_only_data(
        &self,
        data: Vec<(String, EventOnlyData)>,
        malformed: &[Failure],
    ) -> Result<(), Error> {
        if let Ok(kept) = contained(event_only_data::keep(self.context, data.clone(), malformed)).await {
            return Ok(kept?);
        }
        event_only_data::keep(self.context, Vec::new(), malformed).await?;
        for (key, item) in data {
            loop {
                let item = vec![(key.clone(), item.clone())];
                let keeping = event_only_data::keep(self.context, item, &[]);
                match self.context.attempt(Input::Delivery, &key, keeping).await {
                    Attempt::Ended(kept) => break kept?,
                    Attempt::Panicked(_) => (),
                    Attempt::SetAside(poison) => {
                        break self.context.show_poison(Input::Delivery, &key, &poison).await;
                    }
                }
            }
        }
        Ok(())
    }

    fn is_stopping(&self) -> bool {
        self.context.stop.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_reads_what_is_new_until_a_whole_scan_is_due() {
        for (since_whole, expected) in
            [(0, Scan::New), (3_999, Scan::New), (4_000, Scan::Whole), (60_000, Scan::Whole)]
        {
            let since_whole = Duration::from_millis(since_whole);
            assert_eq!(Scan::on_wake(since_whole, FULL_SCAN_INTERVAL), expected, "after {since_whole:?}");
        }
    }
}
