//! What the clients of all stores have counted. A store that is given back and taken again goes on counting.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use espelho_api_client::{
    contact::Contact,
    tally::{Counted, Tally},
};
use espelho_model::StoreKey;

/// The counts of the stores that this process has worked on.
#[derive(Default)]
pub(crate) struct Tallies(Mutex<BTreeMap<StoreKey, Arc<Tally>>>);

impl Tallies {
    /// Notes the counts of a store's new client, which goes on where the one before it ended.
    pub(crate) fn note(&self, store: &StoreKey, tally: &Arc<Tally>) {
        let mut tallies = self.tallies();
        if let Some(earlier) = tallies.insert(store.clone(), Arc::clone(tally)) {
            tally.go_on_from(&earlier.counted());
        }
    }

    /// What a store's client has seen of the marketplace.
    pub(crate) fn contact(&self, store: &StoreKey) -> Option<Contact> {
        self.tallies().get(store).map(|tally| tally.counted().contact)
    }

    /// What every store has counted.
    pub(crate) fn all(&self) -> Vec<(StoreKey, Counted)> {
        self.tallies().iter().map(|(store, tally)| (store.clone(), tally.counted())).collect()
    }

    fn tallies(&self) -> MutexGuard<'_, BTreeMap<StoreKey, Arc<Tally>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
