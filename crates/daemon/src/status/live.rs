//! The state that only the running service knows: which stores it works on, and how its budgets are spent.

use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use chrono::{DateTime, Utc};
use espelho_api_client::limit::{Lane, RateLimiter};
use espelho_model::StoreKey;
use espelho_store::Store;
use espelho_sync_engine::plan::schedule::Intervals;

use super::{Budget, ServiceState, StoreSnapshot, reading};
use crate::{
    handover::AdminQueue,
    health::{Health, StoreHealth},
    store_metrics::StoreMetrics,
};

/// The budgets of the stores that this process works on. A released store's budget goes with it.
#[derive(Default)]
pub(crate) struct RateLimiters(Mutex<BTreeMap<StoreKey, Weak<RateLimiter>>>);

impl RateLimiters {
    /// Notes the budget of a store that was taken.
    pub(crate) fn note(&self, store: &StoreKey, limiter: &Arc<RateLimiter>) {
        let mut limiters = self.0.lock();
        limiters.insert(store.clone(), Arc::downgrade(limiter));
    }

    /// Returns the budget of a store.
    pub(crate) fn of(&self, store: &StoreKey) -> Option<Arc<RateLimiter>> {
        self.0.lock().get(store)?.upgrade()
    }
}

/// The sweep plan of a store.
#[derive(Clone, Debug)]
pub(crate) struct SweepPlan {
    /// True if it has a webhook.
    pub receives: bool,
    pub intervals: Intervals,
}

/// A store of the configuration, as it is shown.
#[derive(Clone, Debug)]
pub(crate) struct ShownStore {
    pub key: StoreKey,
    /// Requests a minute.
    pub per_minute: u32,
    pub plan: SweepPlan,
    /// The marketplace's address.
    pub base_url: String,
    /// Where the password is.
    pub password_place: String,
    /// The address for deliveries; absent: polling only.
    pub webhook_address: Option<String>,
}

/// The shown stores; they change when the configuration is reloaded.
#[derive(Default)]
pub(crate) struct ShownStores(Mutex<Arc<[ShownStore]>>);

impl ShownStores {
    /// Returns the stores that are shown now.
    pub(crate) fn get(&self) -> Arc<[ShownStore]> {
        Arc::clone(&self.0.lock())
    }

    /// Shows these stores from now on.
    pub(crate) fn set(&self, shown: Vec<ShownStore>) {
        *self.0.lock() = shown.into();
    }
}

/// The state of the answering service.
#[derive(Clone)]
pub(crate) struct Live {
    pub health: Arc<Health>,
    pub limiters: Arc<RateLimiters>,
    pub store_metrics: Arc<StoreMetrics>,
    /// Knows how far each pass is.
    pub admin_queue: Arc<AdminQueue>,
    /// Gives access to the database's disk.
    pub store: Store,
    pub started_at: DateTime<Utc>,
    /// The identity of the installation, if its database has one.
    pub installation: Option<String>,
    /// The channels by which people hear of alarms.
    pub notice_channels: Vec<&'static str>,
}

impl Live {
    pub(crate) fn service(&self) -> ServiceState {
        ServiceState {
            running: true,
            version: env!("CARGO_PKG_VERSION").into(),
            process: Some(std::process::id()),
            started_at: Some(self.started_at),
            installation: self.installation.clone(),
            file: self.store.file().map(|file| file.display().to_string()),
            webhook_socket: self.health.webhook_socket.get().map(ToString::to_string),
            reload: self.health.reload(),
        }
    }

    pub(super) fn add(
        &self,
        store: &StoreKey,
        per_minute: u32,
        health: Option<&StoreHealth>,
        snapshot: &mut StoreSnapshot,
    ) {
        if let Some(health) = health {
            (snapshot.ours, snapshot.unverified) = (Some(health.is_held()), health.unverified);
        }
        reading::take_in(&mut snapshot.reading, self.admin_queue.read_so_far(store));
        snapshot.budget = self.limiters.of(store).map(|limiter| {
            let waiting = Lane::ALL.map(|lane| (lane.name().to_owned(), limiter.waiting(lane)));
            Budget { per_minute, held: limiter.held(), waiting: waiting.into() }
        });
    }

    /// Returns the free bytes on the database's disk, if it is on this machine.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        crate::http::free(&self.store)
    }
}
