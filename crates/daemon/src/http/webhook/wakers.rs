//! Whom the receiver wakes.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, PoisonError, RwLock},
};

use espelho_model::StoreKey;
use tokio::sync::Notify;

/// Whom to wake when something is in a store's inbox, or could not get there. The signal carries nothing.
#[derive(Default)]
pub(crate) struct WakerRegistry(RwLock<HashMap<StoreKey, StoreWakers>>);

/// What wakes the work on a store.
#[derive(Clone, Default)]
pub(crate) struct StoreWakers {
    /// Something is in its inbox.
    pub inbox: Arc<Notify>,
    /// Deliveries were refused for want of room, and there is room again.
    pub gap: Arc<Notify>,
    /// The ERP wants something.
    pub outbox: Arc<Notify>,
}

impl WakerRegistry {
    /// Has a store's deliveries wake whoever waits for these.
    pub(crate) fn put(&self, store: &StoreKey, store_wakers: &StoreWakers) {
        let mut wakers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        wakers.insert(store.clone(), store_wakers.clone());
    }

    /// The stores that are configured.
    pub(crate) fn stores(&self) -> BTreeSet<StoreKey> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Forgets a store.
    pub(crate) fn forget(&self, store: &StoreKey) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(store);
    }

    /// Wakes these.
    pub(crate) fn wake<'s>(&self, stores: impl IntoIterator<Item = &'s StoreKey>) {
        let wakers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        stores
            .into_iter()
            .filter_map(|store| wakers.get(store))
            .for_each(|store_wakers| store_wakers.inbox.notify_one());
    }

    /// Wakes those for which the ERP wants something.
    pub(crate) fn wake_pushers<'s>(&self, stores: impl IntoIterator<Item = &'s StoreKey>) {
        let wakers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        stores
            .into_iter()
            .filter_map(|store| wakers.get(store))
            .for_each(|store_wakers| store_wakers.outbox.notify_one());
    }

    /// Wakes all.
    pub(crate) fn wake_all(&self) {
        let wakers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        wakers.values().for_each(|store_wakers| store_wakers.inbox.notify_one());
    }

    /// Has these look for what refused deliveries would have told.
    pub(super) fn wake_for_gap<'s>(&self, stores: impl IntoIterator<Item = &'s StoreKey>) {
        let wakers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        stores
            .into_iter()
            .filter_map(|store| wakers.get(store))
            .for_each(|store_wakers| store_wakers.gap.notify_one());
    }
}
