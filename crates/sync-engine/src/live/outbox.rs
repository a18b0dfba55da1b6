//! Executes the ERP's intents while the service runs, as soon as they are written.

use std::{collections::BTreeSet, time::Duration};

use espelho_model::{OrderNumber, watch};
use espelho_store::{EffectState, Subresource};
use tokio::sync::Notify;

use super::{
    Live,
    refresh_request::{Entity, RefreshRequest, Urgency},
    schedule::Sweep,
};
use crate::{
    Problem,
    push::{ChangeListener, Pusher},
};

/// The code of a problem with the database.
const DATABASE: &str = "database";
/// Pause before the outbox is read again after a database error.
const AFTER_REFUSAL: Duration = Duration::from_secs(5);

impl ChangeListener for Live<'_> {
    fn order(&self, number: &OrderNumber) {
        let subresources = BTreeSet::from([Subresource::Order, Subresource::Shipments]);
        let request = RefreshRequest { subresources, urgency: Urgency::Hinted, ..RefreshRequest::default() };
        self.push([(Entity::Order(number.clone()), request)]);
    }

    fn campaigns(&self) {
        self.known().woken.push(Sweep::Campaigns);
    }

    fn settled(&self, kind: &str, state: EffectState) {
        self.observer.settled(kind, state);
    }
}

impl Live<'_> {
    /// Executes intents, now and whenever there are new ones.
    pub(super) async fn push_out(&self, outbox: &Notify) -> Result<(), Problem> {
        let mut pusher = Pusher::new(self.context, &self.options.push, self);
        while !self.is_stopping() {
            // Boxed: thousands of stores have nothing to do.
            match Box::pin(self.push_until_idle(&pusher, outbox)).await {
                // An ERP locks its own tables: reading from the marketplace continues, and the outbox is read again
                // later.
                Err(problem) if problem.code == DATABASE => {
                    tracing::warn!(store = %self.context.key, error = problem.error, "the outbox cannot be read; will retry");
                    pusher = Pusher::new(self.context, &self.options.push, self);
                    self.pause(AFTER_REFUSAL).await;
                    continue;
                }
                ended => ended?,
            }
            let _waiting = watch::idle();
            tokio::select! {
                () = outbox.notified() => (),
                () = self.campaigns_read.notified() => pusher.campaigns_were_read(),
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

    async fn push_until_idle(&self, pusher: &Pusher<'_>, outbox: &Notify) -> Result<(), Problem> {
        while !self.is_stopping() {
            let Some(wait) = pusher.work(outbox).await? else { return Ok(()) };
            tokio::select! {
                () = self.context.clock.sleep(wait) => (),
                () = outbox.notified() => (),
                () = self.campaigns_read.notified() => pusher.campaigns_were_read(),
                () = self.context.stop.cancelled() => (),
            }
        }
        Ok(())
    }
}
