//! The wakers that the receiver notifies.

use parking_lot::RwLock;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use espelho_model::StoreKey;
use tokio::sync::Notify;

/// The wakers to notify when a delivery is in a store's inbox, or could not get there. The signal carries no data.
#[derive(Default)]
pub(crate) struct WakerRegistry(RwLock<HashMap<StoreKey, StoreWakers>>);

/// The wakers for the work on one store.
#[derive(Clone, Default)]
pub(crate) struct StoreWakers {
    /// A delivery is in its inbox.
    pub inbox: Arc<Notify>,
    /// Deliveries were refused because the queue was full or the database failed, and writes succeed again.
    pub gap: Arc<Notify>,
    /// The ERP has written an intent.
    pub outbox: Arc<Notify>,
}

impl WakerRegistry {
    /// Registers the wakers of a store.
    pub(crate) fn put(&self, store: &StoreKey, store_wakers: &StoreWakers) {
        let mut wakers = self.0.write();
        wakers.insert(store.clone(), store_wakers.clone());
    }

    /// Returns the configured stores.
    pub(crate) fn stores(&self) -> BTreeSet<StoreKey> {
        self.0.read().keys().cloned().collect()
    }

    /// Forgets a store.
    pub(crate) fn forget(&self, store: &StoreKey) {
        self.0.write().remove(store);
    }

    /// Wakes these stores.
    pub(crate) fn wake<'s>(&self, stores: impl IntoIterator<Item = &'s StoreKey>) {
        let wakers = self.0.read();
        stores
            .into_iter()
            .filter_map(|store| wakers.get(store))
            .for_each(|store_wakers| store_wakers.inbox.notify_one());
    }

    /// Wakes the stores for which the ERP has written intents.
    pub(crate) fn wake_pushers<'s>(&self, stores: impl IntoIterator<Item = &'s StoreKey>) {
        let wakers = self.0.read();
        stores
            .into_iter()
            .filter_map(|store| wakers.get(store))
            .for_each(|store_wakers| store_wakers.outbox.notify_one());
    }

    /// Wakes all stores.
    pub(crate) fn wake_all(&self) {
        let wakers = self.0.read();
        wakers.values().for_each(|store_wakers| store_wakers.inbox.notify_one());
    }

    /// Makes these stores search for the changes that refused deliveries would have reported.
    pub(super) fn wake_for_gap<'s>(&self, stores: impl IntoIterator<Item = &'s StoreKey>) {
        let wakers = self.0.read();
        stores
            .into_iter()
            .filter_map(|store| wakers.get(store))
            .for_each(|store_wakers| store_wakers.gap.notify_one());
    }
}
