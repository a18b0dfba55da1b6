//! Executes the ERP's intents while the service runs, as soon as they are written.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_model::{OrderNumber, watch};
use espelho_store::{EffectState, Subresource};
use tokio::sync::Notify;

use super::{observer::Observer, refresh_queue::RefreshQueue, signals::Signals, webhook_watch::WebhookWatch};
use crate::{
    Error, StoreContext,
    plan::pauses::Activity,
    plan::refresh_request::{Entity, RefreshRequest},
    plan::schedule::Sweep,
    push::{ChangeListener, PushOptions, Pusher},
};

/// The code of a problem with the database.
const DATABASE: &str = "database";
/// Pause before the outbox is read again after a database error.
const DATABASE_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// What executes the ERP's intents of a store.
pub(super) struct Outbox<'c> {
    context: &'c StoreContext,
    options: &'c PushOptions,
    signals: &'c Signals,
    listener: Listener<'c>,
}

/// Makes the mirror read again what an intent changed.
struct Listener<'c> {
    observer: &'c dyn Observer,
    queue: &'c RefreshQueue<'c>,
    signals: &'c Signals,
    watch: &'c WebhookWatch<'c>,
}

impl ChangeListener for Listener<'_> {
    fn order(&self, number: &OrderNumber) {
        self.watch.note_caused(number);
        let request = RefreshRequest::hinted([Subresource::Order, Subresource::Shipments]);
        self.queue.push([(Entity::Order(number.clone()), request)]);
    }

    fn campaigns(&self) {
        self.signals.wake(Sweep::Campaigns);
    }

    fn tested(&self, at: DateTime<Utc>) {
        self.watch.note_tested(at);
    }

    fn settled(&self, kind: &str, state: EffectState) {
        self.observer.settled(kind, state);
    }
}

impl<'c> Outbox<'c> {
    /// Returns what executes a store's intents; what they change is queued in `queue`, and `watch` hears of it.
    pub(super) fn new(
        context: &'c StoreContext,
        options: &'c PushOptions,
        observer: &'c dyn Observer,
        queue: &'c RefreshQueue<'c>,
        signals: &'c Signals,
        watch: &'c WebhookWatch<'c>,
    ) -> Self {
        Self { context, options, signals, listener: Listener { observer, queue, signals, watch } }
    }

    /// Executes intents, now and whenever there are new ones.
    pub(super) async fn run(&self, outbox: &Notify) -> Result<(), Error> {
        let mut pusher = Pusher::new(self.context, self.options, &self.listener);
        while !self.context.stop.is_cancelled() {
            // Boxed: thousands of stores have nothing to do.
            match Box::pin(self.push_until_idle(&pusher, outbox)).await {
                // An ERP locks its own tables: reading from the marketplace continues, and the outbox is read again
                // later.
                Err(problem) if problem.problem().code == DATABASE => {
                    tracing::warn!(store = %self.context.key, error = problem.problem().error, "the outbox cannot be read; will retry");
                    pusher = Pusher::new(self.context, self.options, &self.listener);
                    self.pause(DATABASE_RETRY_INTERVAL).await;
                    continue;
                }
                ended => ended?,
            }
            let _waiting = watch::idle();
            tokio::select! {
                () = outbox.notified() => (),
                () = self.signals.campaigns_read() => pusher.campaigns_were_read(),
                () = self.context.new_products.notified() => pusher.products_were_mirrored(),
                () = self.context.stop.cancelled() => (),
            }
        }
        Ok(())
    }

    async fn pause(&self, duration: Duration) {
        let _waiting = watch::idle();
        tokio::select! {
            () = self.context.clock.sleep(duration) => (),
            () = self.context.stop.cancelled() => (),
        }
    }

    async fn push_until_idle(&self, pusher: &Pusher<'_>, outbox: &Notify) -> Result<(), Error> {
        while !self.context.stop.is_cancelled() {
            if self.context.holds(Activity::Push) {
                self.context.released(Activity::Push).await;
                continue;
            }
            let Some(wait) = pusher.work(outbox).await? else { return Ok(()) };
            tokio::select! {
                () = self.context.clock.sleep(wait) => (),
                () = outbox.notified() => (),
                () = self.signals.campaigns_read() => pusher.campaigns_were_read(),
                () = self.context.new_products.notified() => pusher.products_were_mirrored(),
                () = self.context.stop.cancelled() => (),
            }
        }
        Ok(())
    }
}
