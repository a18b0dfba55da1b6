//! What health checks are made from.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::RunState};

/// The code of the one problem that people are told of by its name.
pub(crate) const FOREIGN_LOGIN: &str = "foreign_login";

/// How all stores are.
#[derive(Default)]
pub(crate) struct Health {
    stores: Mutex<BTreeMap<StoreKey, StoreHealth>>,
}

/// How a store is.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoreHealth {
    /// Whether this process works on it.
    pub held: bool,
    /// When its last reconciliation ended, and how.
    pub last: Option<(DateTime<Utc>, RunState)>,
    /// What went wrong last, until it goes well.
    pub problem: Option<String>,
    /// Whether that is another program's use of the credential.
    pub foreign_login: bool,
    /// Deliveries in a row whose signature none of the known secrets has made.
    pub unverified: u64,
}

impl Health {
    /// All stores, by name.
    pub(crate) fn snapshot(&self) -> BTreeMap<StoreKey, StoreHealth> {
        self.stores().clone()
    }

    /// Changes what is known of a store.
    pub(crate) fn change(&self, store: &StoreKey, change: impl FnOnce(&mut StoreHealth)) {
        change(self.stores().entry(store.clone()).or_default());
    }

    /// Forgets a store that is no longer configured.
    pub(crate) fn forget(&self, store: &StoreKey) {
        self.stores().remove(store);
    }

    fn stores(&self) -> MutexGuard<'_, BTreeMap<StoreKey, StoreHealth>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
