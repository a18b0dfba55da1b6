//! What only the running service knows: which stores it works on, and how its budgets are spent.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use chrono::{DateTime, Utc};
use espelho_api_client::limit::{Gate, Lane};
use espelho_model::StoreKey;

use super::{Budget, ServiceState, Shown, StorePicture};
use crate::health::{Health, StoreHealth};

/// The budgets of the stores that this process works on. A store that is given back takes its budget along.
#[derive(Default)]
pub(crate) struct Gates(Mutex<BTreeMap<StoreKey, Weak<Gate>>>);

impl Gates {
    /// Notes the budget of a store that was taken.
    pub(crate) fn note(&self, store: &StoreKey, gate: &Arc<Gate>) {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.insert(store.clone(), Arc::downgrade(gate));
    }

    /// The budget of a store.
    pub(crate) fn of(&self, store: &StoreKey) -> Option<Arc<Gate>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(store)?.upgrade()
    }
}

/// The stores that are shown; they change when the configuration is read again.
#[derive(Default)]
pub(crate) struct ShownStores(Mutex<Arc<[Shown]>>);

impl ShownStores {
    /// As they are now.
    pub(crate) fn get(&self) -> Arc<[Shown]> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows these.
    pub(crate) fn set(&self, shown: Vec<Shown>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = shown.into();
    }
}

/// The service that answers.
#[derive(Clone)]
pub(crate) struct Live {
    pub health: Arc<Health>,
    pub gates: Arc<Gates>,
    pub started_at: DateTime<Utc>,
}

impl Live {
    pub(super) fn service(&self) -> ServiceState {
        ServiceState {
            running: true,
            version: env!("CARGO_PKG_VERSION").into(),
            process: Some(std::process::id()),
            started_at: Some(self.started_at),
        }
    }

    pub(super) fn add(
        &self,
        store: &StoreKey,
        per_minute: u32,
        health: Option<&StoreHealth>,
        picture: &mut StorePicture,
    ) {
        if let Some(health) = health {
            (picture.ours, picture.problem) = (Some(health.held), health.problem.clone());
            (picture.foreign_login, picture.unverified) = (health.foreign_login, health.unverified);
        }
        picture.budget = self.gates.of(store).map(|gate| {
            let waiting = Lane::ALL.map(|lane| (lane.name().to_owned(), gate.waiting(lane)));
            Budget { per_minute, held: gate.held(), waiting: waiting.into() }
        });
    }
}
