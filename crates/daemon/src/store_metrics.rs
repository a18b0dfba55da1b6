//! The counts of all stores' clients. A store that is released and taken again continues its counts.

use parking_lot::{Mutex, MutexGuard};
use std::{collections::BTreeMap, sync::Arc};

use espelho_api_client::client_metrics::{ClientMetrics, Counted};
use espelho_model::StoreKey;
use tokio::sync::Notify;

/// The counts of the stores that this process has worked on.
#[derive(Default)]
pub(crate) struct StoreMetrics {
    stores: Mutex<BTreeMap<StoreKey, Arc<ClientMetrics>>>,
    credential_news: Arc<Notify>,
}

impl StoreMetrics {
    /// Registers the counts of a store's new client, which continues the counts of the previous one.
    pub(crate) fn note(&self, store: &StoreKey, metrics: &Arc<ClientMetrics>) {
        let mut store_metrics = self.store_metrics();
        if let Some(earlier) = store_metrics.insert(store.clone(), Arc::clone(metrics)) {
            metrics.go_on_from(&earlier.counted());
            metrics.keep_unreadable_of(&earlier);
        }
        metrics.tell_credential_news(&self.credential_news);
    }

    /// Waits until trouble with the credential of any store begins, changes or ends.
    pub(crate) async fn credential_news(&self) {
        self.credential_news.notified().await;
    }

    /// Returns the counts of one store's client.
    pub(crate) fn of(&self, store: &StoreKey) -> Option<Arc<ClientMetrics>> {
        self.store_metrics().get(store).cloned()
    }

    /// Returns the counts of every store.
    pub(crate) fn all(&self) -> Vec<(StoreKey, Counted)> {
        self.store_metrics().iter().map(|(store, metrics)| (store.clone(), metrics.counted())).collect()
    }

    fn store_metrics(&self) -> MutexGuard<'_, BTreeMap<StoreKey, Arc<ClientMetrics>>> {
        self.stores.lock()
    }
}
