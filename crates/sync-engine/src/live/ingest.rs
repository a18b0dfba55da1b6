//! Moves deliveries from the inbox into the queue.
//!
//! A delivery is marked as handled only when its work is done: its event-only data is written, or its entity was read
//! and written. Whatever happens before that, the inbox returns it again.

use std::time::Duration;

use chrono::TimeDelta;
use espelho_api_client::webhook::{Delivery, EventOnlyData};
use espelho_model::{
    text,
    text::{Locale, Text},
    watch,
};
use espelho_store::{Delivery as Kept, Failure};
use futures_util::future::BoxFuture;

use super::{
    Handled, Live, ends_all,
    event_routing::{Routing, route},
    refresh_request::{Entity, RefreshRequest},
};
use crate::{Problem, report::failure};

/// Deliveries read from the inbox at once.
const AT_ONCE: i64 = 200;
/// Deliveries that may wait in the queue; the others wait on disk.
const MOST_WAITING: usize = 10_000;
/// One change of an order often causes two or three events: after this wait, one refresh serves them all.
const GATHER: Duration = Duration::from_millis(250);
/// How often the whole inbox is scanned: PostgreSQL may commit a lower id after a higher one.
const WHOLE_EVERY: Duration = Duration::from_secs(5);
/// How often the whole inbox of a store without a webhook is scanned.
const WHOLE_SELDOM: Duration = Duration::from_secs(300);
/// How long a handled delivery is kept for inspection.
const KEPT_FOR: TimeDelta = TimeDelta::days(7);
/// How long certainly settled effects stay in the journal, which identifies images that were uploaded before.
const JOURNAL_KEPT_FOR: TimeDelta = TimeDelta::days(90);
/// Pause between two attempts to identify the store.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// Deliveries, sorted by what they require.
#[derive(Default)]
struct Sorted {
    locale: Locale,
    reads: Vec<(Entity, RefreshRequest)>,
    event_only_data: Vec<(String, EventOnlyData)>,
    malformed: Vec<Failure>,
    /// Deliveries that are handled once event-only data and failures are written.
    handled: Vec<(i64, Handled)>,
}

impl Live<'_> {
    /// Ingests deliveries until the work stops.
    pub(super) async fn ingest(&self, inbox: &tokio::sync::Notify) -> Result<(), Problem> {
        // A store without a webhook has at most the deliveries from when it had one.
        let every = if self.options.receives { WHOLE_EVERY } else { WHOLE_SELDOM };
        if self.options.receives {
            self.boxed_identify_store().await?;
        }
        let mut whole = true;
        while !self.is_stopping() {
            match self.boxed_take_in(whole).await {
                Ok(()) => (),
                Err(problem) if ends_all(&problem) => return Err(problem),
                Err(problem) => {
                    tracing::warn!(store = %self.context.key, error = problem.error, "the inbox cannot be ingested; will retry");
                }
            }
            let _waiting = watch::idle();
            tokio::select! {
                () = inbox.notified() => {
                    whole = false;
                    self.context.clock.sleep(GATHER).await;
                }
                () = self.context.clock.sleep(every) => whole = true,
                () = self.context.stop.cancelled() => (),
            }
        }
        Ok(())
    }

    // Not `async`: the future of an `async` function would also reserve space for the boxed value.
    fn boxed_identify_store(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(self.identify_store())
    }

    fn boxed_take_in(&self, whole: bool) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(self.take_in(whole))
    }

    /// Reads the store's identifier: a delivery may be meant for another store.
    async fn identify_store(&self) -> Result<(), Problem> {
        while !self.is_stopping() && !self.known().asked {
            match self.sweep_profile().await {
                Ok(()) => return Ok(()),
                Err(problem) if ends_all(&problem) => return Err(problem),
                Err(_) if self.known().asked => return Ok(()),
                // If it cannot be read yet, nothing else can be read either: the deliveries may wait.
                Err(_) => tokio::select! {
                    () = self.context.clock.sleep(ASK_AGAIN) => (),
                    () = self.context.stop.cancelled() => (),
                },
            }
        }
        Ok(())
    }

    /// Ingests the inbox: all of it, or what arrived after the last scan.
    pub(super) async fn take_in(&self, whole: bool) -> Result<(), Problem> {
        let (store, key) = (&self.context.store, &self.context.key);
        let mut after = if whole { 0 } else { self.known().inbox };
        while self.queue().deliveries() < MOST_WAITING && !self.is_stopping() {
            let kept =
                store.inbox().unhandled(key, after, AT_ONCE).await.map_err(|e| Problem::from_store(&e))?;
            let Some(last) = kept.last() else { break };
            after = last.id;
            let read = kept.len();
            self.process(kept).await?;
            let mut known = self.known();
            known.inbox = known.inbox.max(after);
            if (read as i64) < AT_ONCE {
                break;
            }
        }
        Ok(())
    }

    /// Deletes deliveries that were handled long ago, and old effects of the journal.
    pub(super) async fn forget_handled(&self) -> Result<(), Problem> {
        let before = self.context.clock.now() - KEPT_FOR;
        let (store, journal) = (&self.context.store, self.context.clock.now() - JOURNAL_KEPT_FOR);
        let pruned = async {
            store.inbox().prune_inbox(before).await.and(store.journal().prune_effects(journal).await)
        };
        pruned.await.map(drop).map_err(|e| Problem::from_store(&e))
    }

    async fn process(&self, kept: Vec<Kept>) -> Result<(), Problem> {
        let new: Vec<Kept> = {
            let queue = self.queue();
            kept.into_iter().filter(|kept| !queue.has(kept.id)).collect()
        };
        let own = self.known().id.clone();
        let naive = self.context.client.naive_offset();
        let mut sorted = Sorted { locale: self.context.locale, ..Sorted::default() };
        for kept in new {
            self.record_delivery(kept.received_at, kept.event.as_deref() == Some("webhook.test"));
            match Delivery::parse(&kept.body, naive) {
                Ok(delivery) => sorted.add(&kept, &delivery, own.as_deref()),
                Err(error) => {
                    let problem = crate::report::with_causes(&error);
                    let text = text!("run-unreadable-delivery", problem = problem);
                    sorted.note(&kept, Handled::Malformed, "unreadable", text);
                }
            }
        }
        let Sorted { reads, event_only_data, malformed, handled, .. } = sorted;
        let failed = |e: espelho_store::Error| Problem::from_store(&e);
        self.keep_event_only_data(event_only_data, &malformed).await.map_err(failed)?;
        self.push(reads);
        if !handled.is_empty() {
            let ids = handled.iter().map(|(id, _)| *id).collect();
            self.context.store.inbox().mark_handled(ids).await.map_err(failed)?;
            handled.into_iter().for_each(|(_, what)| self.observer.handled(what));
        }
        Ok(())
    }
}

impl Sorted {
    fn add(&mut self, kept: &Kept, delivery: &Delivery, own: Option<&str>) {
        if let (Some(told), Some(own)) = (delivery.store_id.as_deref(), own)
            && told != own
        {
            let text = text!("run-foreign-store", told = told, own = own);
            return self.note(kept, Handled::Foreign, "foreign_store", text);
        }
        match route(delivery) {
            Routing::Read(entity, request) => {
                let reported_at = delivery.timestamp.or(Some(kept.received_at));
                self.reads.push((entity, RefreshRequest { ids: vec![kept.id], reported_at, ..request }));
            }
            Routing::EventOnlyData => match delivery.event_only_data(kept.received_at) {
                Some(fact) => {
                    self.event_only_data.push((key_of(kept), fact));
                    self.handled.push((kept.id, Handled::EventOnlyData));
                }
                None => self.note(kept, Handled::Malformed, "aimless", unaddressed(delivery)),
            },
            Routing::Nothing => self.handled.push((kept.id, Handled::Test)),
            Routing::Unknown => self.handled.push((kept.id, Handled::Unknown)),
            Routing::Unaddressed => self.note(kept, Handled::Malformed, "aimless", unaddressed(delivery)),
        }
    }

    fn note(&mut self, kept: &Kept, what: Handled, code: &str, text: Text) {
        self.malformed.push(failure(key_of(kept), code.into(), text, self.locale));
        self.handled.push((kept.id, what));
    }
}

/// Returns the key of a failure: equal bodies are one failure, however often they arrive.
fn key_of(kept: &Kept) -> String {
    kept.digest.chars().take(32).collect()
}

fn unaddressed(delivery: &Delivery) -> Text {
    text!("run-aimless-delivery", event = delivery.event.to_string())
}
