//! Records that the marketplace denies an order, or that it lists it again.

use espelho_model::{OrderNumber, sync::Resource};
use espelho_store::Error as StoreError;

use crate::{
    StoreContext,
    plan::missing::{Denied, MASS_DENIAL, denied},
};

/// What the marketplace denies of a store.
pub(super) struct Denials<'c> {
    context: &'c StoreContext,
}

impl<'c> Denials<'c> {
    /// Returns the record of a store's denials.
    pub(super) fn new(context: &'c StoreContext) -> Self {
        Self { context }
    }

    /// Records that the marketplace answered 404 for a mirrored order; the last denial that it takes marks the order
    /// gone.
    pub(super) async fn record(&self, number: &OrderNumber) -> Result<(), StoreError> {
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
    pub(super) async fn clear_listed(&self, resource: Resource, keys: Vec<String>) -> Result<(), StoreError> {
        let missing = self.context.store.mirror().missing_among(&self.context.key, resource, keys).await?;
        if missing.is_empty() {
            return Ok(());
        }
        let _writing = self.context.writing.lock().await;
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        tx.staleness().forget_missing(resource, missing).await?;
        tx.commit().await
    }
}
