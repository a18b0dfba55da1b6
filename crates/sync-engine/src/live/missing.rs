//! Tracks orders that the marketplace denies: each denial is recorded, and the order is checked again until the denial
//! is believed or refuted.

use std::collections::BTreeSet;

use espelho_model::{OrderNumber, sync::Resource};
use espelho_store::{Error as StoreError, Subresource};

use super::{
    Live,
    refresh_request::{Entity, RefreshRequest},
};
use crate::{
    Problem,
    plan::missing::{Denied, EVERY, MASS_DENIAL, denied},
};

/// Missing orders checked at once.
const AT_ONCE: u32 = 50;

impl Live<'_> {
    /// Records that the marketplace answered 404 for a mirrored order; the last denial that it takes marks the order
    /// gone.
    pub(super) async fn record_denial(&self, number: &OrderNumber) -> Result<(), StoreError> {
        let (store, key) = (&self.context.store, number.as_str());
        let _writing = self.context.writing.lock().await;
        let known = store.mirror().known(&self.context.key, Resource::Orders, vec![key.to_owned()]).await?;
        if known.get(key).is_none_or(|known| known.gone) {
            return Ok(());
        }
        let missing = store.mirror().missing(&self.context.key, Resource::Orders, key).await?;
        let denied = denied(missing, self.context.clock.now());
        if denied == Denied::Gone {
            let count = store.mirror().missing_count(&self.context.key, Resource::Orders).await?;
            if count > MASS_DENIAL {
                let next_step =
                    "look whether the credential lost a scope; `espelho --resync` decides, under its guard";
                tracing::error!(store = %self.context.key, count, next_step, "the marketplace denies too many orders; none is marked gone");
                return Ok(());
            }
        }
        let mut tx = store.begin(&self.context.lease).await?;
        match denied {
            Denied::TooSoon => return Ok(()),
            Denied::Kept(missing) => {
                tracing::info!(store = %self.context.key, order = key, times = missing.confirmations, "the marketplace denies an order");
                tx.staleness().note_missing(Resource::Orders, key, missing).await?;
            }
            Denied::Gone => {
                tracing::info!(store = %self.context.key, order = key, "the order is gone");
                tx.mirror().mark_gone(Resource::Orders, vec![key.to_owned()]).await?;
                tx.failures().clear_failures(Resource::Orders, vec![key.to_owned()]).await?;
            }
        }
        tx.commit().await
    }

    /// Clears the denials of rows that a listing shows.
    pub(super) async fn note_listed(&self, resource: Resource, keys: Vec<String>) -> Result<(), StoreError> {
        let missing = self.context.store.mirror().missing_among(&self.context.key, resource, keys).await?;
        if missing.is_empty() {
            return Ok(());
        }
        let _writing = self.context.writing.lock().await;
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        tx.staleness().forget_missing(resource, missing).await?;
        tx.commit().await
    }

    /// Queues the missing orders whose next denial would count.
    pub(super) async fn sweep_missing_orders(&self) -> Result<(), Problem> {
        let until = self.context.clock.now() - EVERY;
        let due = self
            .context
            .store
            .mirror()
            .missing_until(&self.context.key, Resource::Orders, until, AT_ONCE)
            .await;
        let due = due.map_err(|e| Problem::from_store(&e))?;
        let request = || RefreshRequest {
            subresources: BTreeSet::from([Subresource::Order]),
            ..RefreshRequest::default()
        };
        self.push_swept(due.into_iter().map(|key| (Entity::Order(OrderNumber::new(key)), request())));
        Ok(())
    }
}
