//! Watches whether webhooks arrive: remembers what was heard and what was missed, and proves silence as soon as a sweep
//! finds what no delivery reported.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_api_client::{Client, limit::Lane};
use espelho_model::{OrderNumber, time::is_future, watch};
use espelho_store::WebhookWatch as Watch;
use futures_util::future::join;
use tokio::sync::Notify;

use super::{
    observer::{Observer, WebhookNews},
    options::Options,
};
use crate::{
    Error, Refusal, RoundTrip, StoreContext,
    plan::{
        schedule::{FIRST_TEST, Sweep, first_test},
        silence::{as_recorded, is_address_new, silence, was_open, was_proved},
        unreported_changes::UnreportedChanges,
        webhook_news,
    },
    pull::is_final,
};

/// How often a suspicion is checked.
const EVERY: Duration = Duration::from_secs(3);
/// The first and the longest wait before the test of a start is requested again, if it could not be.
const FIRST_TEST_RETRY: Duration = Duration::from_secs(10);
const LONGEST_RETRY: Duration = Duration::from_secs(120);
/// How long to wait for a test delivery that a user requested; users wait five seconds for each answer.
const ROUND_TRIP: Duration = Duration::from_secs(4);
/// How often its arrival is checked.
const GLANCE: Duration = Duration::from_millis(50);

/// The watch over a store's webhook.
pub(super) struct WebhookWatch<'c> {
    context: &'c StoreContext,
    observer: &'c dyn Observer,
    /// Whether deliveries arrive at all: without them, a change that a sweep finds was not missed.
    receives: bool,
    /// True if deliveries should report each new order and each new status.
    has_order_events: bool,
    /// True if the webhook has the events of shipments, levels and prices.
    has_rotation_events: bool,
    /// When the webhook's address was registered, or when this watch began, where the next login registers it: earlier
    /// deliveries came to another address.
    address_since: DateTime<Utc>,
    state: Mutex<State>,
    /// Notified when a sweep found a change that no delivery reported, or a test delivery was requested.
    suspected: Notify,
}

#[derive(Default)]
struct State {
    watch: Watch,
    is_unwritten: bool,
    /// True if an earlier owner left open whether deliveries arrive, and none has come since.
    was_open: bool,
    /// True if no delivery has come to the webhook's address yet.
    is_address_new: bool,
    /// The orders that sweeps found changed, and what deliveries reported.
    unreported: UnreportedChanges,
}

/// The result of a request for a test delivery.
enum Asked {
    /// It was requested.
    Yes,
    /// The marketplace has no active webhook; the text says so.
    Refused(String),
}

impl<'c> WebhookWatch<'c> {
    /// Returns a watch that remembers nothing yet.
    pub(super) fn new(context: &'c StoreContext, observer: &'c dyn Observer, options: &Options) -> Self {
        let now = context.clock.now();
        let unreported = UnreportedChanges::starting(now);
        Self {
            context,
            observer,
            receives: options.receives,
            has_order_events: options.receives && options.has_order_events,
            has_rotation_events: options.receives && options.has_rotation_events,
            // A clock that was ahead then has been corrected since.
            address_since: options.address_since.unwrap_or(now).min(now),
            state: Mutex::new(State { unreported, ..State::default() }),
            suspected: Notify::new(),
        }
    }

    /// Whether deliveries arrive at all.
    pub(super) fn receives(&self) -> bool {
        self.receives
    }

    /// Says if deliveries tell of what the rotation reads, by what was heard and missed lately.
    pub(super) fn tells_of_rotation(&self) -> bool {
        let now = self.context.clock.now();
        let state = self.state();
        let is_open = state.was_open || state.is_address_new || state.unreported.is_pending();
        self.has_rotation_events && !is_open && webhook_news::is_trusted(&state.watch, now)
    }

    /// Takes over what an earlier owner has recorded: what it had proved stands, what it had left open is settled now.
    pub(super) fn remember(&self, recorded: &Watch) {
        let now = self.context.clock.now();
        let silence = {
            let mut state = self.state();
            let known = webhook_news::of_address(&webhook_news::as_known(recorded, now), self.address_since);
            state.is_unwritten |= known != *recorded;
            let mut watch = webhook_news::resumed(known, &state.watch);
            watch.silent = was_proved(&watch);
            state.was_open = was_open(&watch, now);
            state.watch = watch;
            state.is_address_new = is_address_new(&state.watch, self.address_since);
            silence(&state.watch, now)
        };
        if self.receives {
            self.report(silence.proved_since);
        }
        if self.receives && silence.is_suspected {
            self.suspected.notify_one();
        }
    }

    /// Takes what is not on disk yet.
    pub(super) fn take_unwritten(&self) -> Option<Watch> {
        let mut state = self.state();
        std::mem::take(&mut state.is_unwritten).then(|| as_recorded(&state.watch))
    }

    /// Records that what was taken could not be written.
    pub(super) fn note_unwritten(&self) {
        self.state().is_unwritten = true;
    }

    /// Records that the marketplace answers again.
    pub(super) fn note_outage(&self, began: DateTime<Utc>) {
        let now = self.context.clock.now();
        self.state().unreported.note_outage(began, now);
    }

    /// Records that our receiver has refused deliveries: that explains what sweeps find now.
    pub(super) fn note_refused(&self) {
        let now = self.context.clock.now();
        self.state().unreported = UnreportedChanges::starting(now);
    }

    /// Records that a sweep found a change that no delivery reported.
    pub(super) fn note_missed(&self, event: &'static str) {
        self.observer.missed(event);
        let now = self.context.clock.now();
        self.change(|watch| webhook_news::missed(watch, now));
        self.suspected.notify_one();
    }

    /// Records that a sweep found an order changed of which no delivery has reported a change with an event.
    pub(super) fn note_unreported(&self, order: &OrderNumber, changed_at: Option<DateTime<Utc>>) {
        if self.has_order_events {
            let now = self.context.clock.now();
            self.state().unreported.found(order, changed_at, now);
            self.suspected.notify_one();
        }
    }

    /// Records that a delivery reports a change of an order, with the time of its event.
    pub(super) fn note_reported(&self, order: &OrderNumber, event_at: DateTime<Utc>) {
        if self.has_order_events {
            let now = self.context.clock.now();
            self.state().unreported.heard(order, event_at, now);
        }
    }

    /// Records that an effect of ours changed an order.
    pub(super) fn note_caused(&self, order: &OrderNumber) {
        if self.has_order_events {
            let now = self.context.clock.now();
            self.state().unreported.caused(order, now);
        }
    }

    /// Records that a command of the ERP has requested a test delivery, after this time, and has its answer now.
    pub(super) fn note_tested(&self, begun: DateTime<Utc>) {
        if self.receives {
            let answered = self.context.clock.now();
            self.change(|watch| webhook_news::accepted(watch, begun, answered));
            self.suspected.notify_one();
        }
    }

    /// Records an arrived delivery.
    pub(super) fn note_heard(&self, at: DateTime<Utc>, is_test: bool) {
        let now = self.context.clock.now();
        // It came before the clock was set back, nobody knows when, or to an earlier address: it proves nothing.
        if is_future(at, now) || at < self.address_since {
            return;
        }
        {
            let mut state = self.state();
            if state.watch.silent {
                // The changes of the silence are explained by it.
                state.unreported = UnreportedChanges::starting(now);
            }
            webhook_news::heard(&mut state.watch, at.min(now), is_test);
            state.is_address_new = is_address_new(&state.watch, self.address_since);
            state.is_unwritten = true;
        }
        self.report(None);
    }

    /// Requests the start's test, and settles every suspicion until the work stops.
    pub(super) async fn run(&self) -> Result<(), Error> {
        // Boxed: it is over soon, and thousands of stores wait here.
        let ((), settled) = join(Box::pin(self.test_after_start()), self.settle_suspicions()).await;
        settled
    }

    /// Requests a test delivery soon after the start, whatever the store has to catch up with.
    async fn test_after_start(&self) {
        let clock = &self.context.clock;
        if !self.receives {
            return;
        }
        let begun = clock.now();
        // The record is read by then: a new address waits no longer, the others have their lot.
        self.pause(FIRST_TEST).await;
        let is_new = self.state().is_address_new;
        let mut wait = if is_new { Duration::ZERO } else { first_test(&self.context.key) - FIRST_TEST };
        loop {
            self.pause(wait).await;
            if self.is_stopping() {
                return;
            }
            if self.state().watch.tested_at.is_some_and(|tested| tested >= begun) {
                return;
            }
            // A marketplace in trouble proves nothing about its webhooks.
            if !self.context.client.metrics().is_lost() && self.request_test().await.is_ok() {
                self.observer.swept(Sweep::WebhookTest, clock.now());
                return;
            }
            wait = LONGEST_RETRY.min(FIRST_TEST_RETRY.max(wait * 2));
        }
    }

    /// Waits, or until the work stops.
    async fn pause(&self, wait: Duration) {
        tokio::select! {
            () = self.context.clock.sleep(wait) => (),
            () = self.context.stop.cancelled() => (),
        }
    }

    async fn settle_suspicions(&self) -> Result<(), Error> {
        while !self.is_stopping() {
            let waiting = watch::idle();
            tokio::select! {
                () = self.suspected.notified() => (),
                () = self.context.stop.cancelled() => return Ok(()),
            }
            drop(waiting);
            while !self.is_stopping() && Box::pin(self.settle()).await {
                self.pause(EVERY).await;
            }
        }
        Ok(())
    }

    /// Requests a test delivery if one is due, and records what is proved; returns whether something is left to settle,
    /// or an order that a sweep found may still be told.
    async fn settle(&self) -> bool {
        if !self.receives || self.context.client.metrics().is_lost() {
            return self.receives;
        }
        let silence = silence(&self.state().watch, self.context.clock.now());
        if silence.asks {
            // A marketplace in trouble proves nothing about its webhooks: the request is repeated.
            if let Err(problem) = self.request_test().await {
                tracing::debug!(store = %self.context.key, error = problem.problem().error, "a test delivery could not be requested");
            }
        }
        {
            let mut state = self.state();
            let is_news = webhook_news::judged(&mut state.watch, silence.proved_since);
            state.is_unwritten |= is_news;
        }
        self.report(silence.proved_since);
        silence.is_suspected || self.state().unreported.is_pending()
    }

    /// Requests a test delivery. [`Self::note_heard`] records its arrival; the status shows when it did not arrive.
    pub(super) async fn request_test(&self) -> Result<(), Error> {
        if !self.receives {
            return Ok(());
        }
        let client = self.context.client.in_lane(Lane::Poll);
        self.ask(&client, self.context.clock.now()).await.map(drop)
    }

    /// Requests a test delivery, and waits until it arrives.
    pub(super) async fn round_trip(&self, client: &Client) -> RoundTrip {
        let clock = &self.context.clock;
        let (at, begun) = (clock.now(), clock.monotonic());
        match self.ask(client, at).await {
            Ok(Asked::Yes) => (),
            Ok(Asked::Refused(problem)) => return RoundTrip::Refused { problem },
            // A marketplace in trouble proves nothing about its webhooks.
            Err(problem) => return RoundTrip::NotAsked(Refusal::from(&problem.problem())),
        }
        let since_then = || clock.monotonic() - begun;
        while !self.is_stopping() && since_then() < ROUND_TRIP {
            if webhook_news::is_test_heard_since(&self.state().watch, at) {
                let milliseconds = u64::try_from(since_then().as_millis()).unwrap_or(u64::MAX);
                return RoundTrip::Arrived { milliseconds };
            }
            clock.sleep(GLANCE).await;
        }
        RoundTrip::Unanswered
    }

    async fn ask(&self, client: &Client, at: DateTime<Utc>) -> Result<Asked, Error> {
        let asked = match client.auth().test_webhook().await {
            Ok(()) => Asked::Yes,
            Err(error) if is_final(&error) => Asked::Refused(error.text().message(self.context.locale)),
            Err(error) => return Err(error.into()),
        };
        let answered = self.context.clock.now();
        self.change(|watch| match &asked {
            // The request may have waited for a login, or for its turn: the delivery is no later for that.
            Asked::Yes => webhook_news::accepted(watch, at, answered),
            Asked::Refused(problem) => webhook_news::tested(watch, at, Some(problem.clone())),
        });
        self.suspected.notify_one();
        Ok(asked)
    }

    fn report(&self, silent_since: Option<DateTime<Utc>>) {
        let now = self.context.clock.now();
        let news = {
            let mut state = self.state();
            state.was_open = state.was_open && silent_since.is_none() && was_open(&state.watch, now);
            // A proved silence says more than that nothing has come yet.
            let is_open = state.was_open || state.is_address_new && silent_since.is_none();
            let Watch { heard_at, test_heard_at, missed, .. } = state.watch;
            let lost = state.unreported.judge(now);
            WebhookNews { heard_at, test_heard_at, missed, silent_since, is_open, lost }
        };
        self.observer.webhook(news);
    }

    fn change(&self, change: impl FnOnce(&mut Watch)) {
        let mut state = self.state();
        change(&mut state.watch);
        state.is_unwritten = true;
    }

    /// Returns the state without what a clock that was ahead has recorded.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let has_future = webhook_news::forget_future(&mut state.watch, self.context.clock.now());
        state.is_unwritten |= has_future;
        state
    }

    fn is_stopping(&self) -> bool {
        self.context.stop.is_cancelled()
    }
}
