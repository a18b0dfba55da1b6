//! What every task of one store shares.

use std::sync::Arc;

use espelho_api_client::Client;
use espelho_model::{Clock, StoreKey, text::Locale};
use espelho_store::{Known, Lease, Store};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

use crate::{
    BeingRead, Marketplace, Progress, Quarantine, WorkSuspension,
    labels::Labels,
    memory_budget::MemoryBudget,
    plan::gone::GoneGuard,
    plan::{pauses::Activity, retention::Retention},
};

/// What the work on one store needs.
pub struct StoreContext {
    /// The store's name.
    pub key: StoreKey,
    /// Its client of the marketplace.
    pub client: Client,
    /// Its mirror.
    pub store: Store,
    /// The lease that permits the work.
    pub lease: Lease,
    /// The locale of the texts on rows.
    pub locale: Locale,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Receives the progress.
    pub progress: Arc<dyn Progress>,
    /// Cancelled when the operator requests a stop.
    pub stop: CancellationToken,
    /// Limits how many rows may be marked gone at once.
    pub gone_guard: GoneGuard,
    /// The name of the listings' page parameter.
    pub page_parameter: String,
    /// For how long old records are kept.
    pub retention: Retention,
    /// Which label files are fetched, if any.
    pub labels: Option<Labels>,
    /// Held while a task compares what it read with the mirror and writes it, where several tasks read at once: an
    /// earlier read must not overwrite a later one.
    pub writing: Arc<Mutex<()>>,
    /// Notified when a product was mirrored that the mirror did not have: rows of the ERP may wait for its SKU.
    pub new_products: Arc<Notify>,
    /// The memory budget that it shares with the other stores of the process.
    pub memory_budget: Arc<MemoryBudget>,
    /// Its marketplace, which it shares with other stores of the process.
    pub marketplace: Arc<Marketplace>,
    /// The operators' pauses, and whether the database takes writes. The stores of the process share it.
    pub suspension: WorkSuspension,
    /// Its inputs whose work ended in a panic, or with the process.
    pub quarantine: Arc<Quarantine>,
    /// The rows that a pass is reading.
    pub being_read: BeingRead,
}

impl StoreContext {
    /// Notes that a product was written, with the row from before: a new one, or one that was gone, wakes the outbox.
    pub(crate) fn note_product(&self, before: Option<&Known>) {
        if before.is_none_or(|known| known.gone) {
            self.new_products.notify_one();
        }
    }
}

impl StoreContext {
    /// Tells whether an activity must not begin now.
    pub(crate) fn holds(&self, activity: Activity) -> bool {
        self.suspension.holds(&self.key, activity, &*self.clock)
    }

    /// Resolves once nothing holds an activity, or the work stops.
    pub(crate) async fn released(&self, activity: Activity) {
        let _waiting = espelho_model::watch::idle();
        tokio::select! {
            () = self.suspension.released(&self.key, activity, &*self.clock) => (),
            () = self.stop.cancelled() => (),
        }
    }
}
