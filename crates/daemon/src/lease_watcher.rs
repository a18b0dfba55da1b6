//! Watches the database for what other programs change: leases that come free ([`LeaseWatcher`]), deliveries that other
//! processes have received ([`hear_of_deliveries`]), and intents that the ERP has written ([`watch_intents`]).
//!
//! One database read serves all stores of the process.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey};
use espelho_store::{Heard, IntentKind, Store};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::http::webhook::WakerRegistry;

/// The interval at which a SQLite lock file is tried again.
const LOCK_FILE_RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// The interval at which the locks of a shared database are read: a fraction of the time within which another owner must take over.
const LOCK_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How often the database is asked whether the ERP has written an intent: three look-ups in small indexes.
const INTENT_POLL_INTERVAL: Duration = Duration::from_millis(250);
/// A poll that took long, because many rows are new, is repeated after this multiple of its duration,
const POLL_SHARE: u32 = 4;
/// but at the latest after this time.
const LONGEST_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The interval between two attempts to listen for deliveries.
const LISTEN_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Reads which stores other processes hold, and waits until one is free.
pub(crate) struct LeaseWatcher {
    store: Store,
    clock: Arc<dyn Clock>,
    /// The monotonic time of the last read, and the stores that were held then.
    last_read: Mutex<Option<(Duration, BTreeSet<String>)>>,
}

impl LeaseWatcher {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, last_read: Mutex::default() }
    }

    /// Resolves when it is worth trying to take a store.
    pub(crate) async fn wait_for(&self, store: &StoreKey) {
        if !self.store.leases().is_shared() {
            return self.clock.sleep(LOCK_FILE_RETRY_INTERVAL).await;
        }
        loop {
            self.clock.sleep(LOCK_POLL_INTERVAL).await;
            if self.is_free(store).await {
                return;
            }
        }
    }

    async fn is_free(&self, store: &StoreKey) -> bool {
        let mut last_read = self.last_read.lock().await;
        let now = self.clock.monotonic();
        if last_read.as_ref().is_none_or(|(at, _)| now >= *at + LOCK_POLL_INTERVAL / 2) {
            match self.store.leases().held_stores().await {
                Ok(held) => *last_read = Some((now, held.unwrap_or_default())),
                // While the locks cannot be read, no store can be taken either.
                Err(error) => tracing::debug!(%error, "cannot read who holds the stores"),
            }
        }
        last_read.as_ref().is_some_and(|(_, held)| !held.contains(store.as_str()))
    }
}

/// Wakes the stores for which another process has received deliveries: PostgreSQL notifies. On SQLite it only waits for
/// `stop`, because one process has the inbox.
pub(crate) async fn hear_of_deliveries(
    store: Store,
    clock: Arc<dyn Clock>,
    wakers: Arc<WakerRegistry>,
    stop: CancellationToken,
) {
    let listening = async {
        loop {
            let ended = wake_on_notifications(&store, &wakers).await;
            if let Err(error) = ended {
                tracing::debug!(%error, "cannot listen for deliveries; polling instead");
            }
            clock.sleep(LISTEN_RETRY_INTERVAL).await;
            wakers.wake_all();
        }
    };
    tokio::select! { () = listening => (), () = stop.cancelled() => () }
}

/// Wakes the stores for which the ERP has written intents. Any program may write them, and none announces it: on
/// PostgreSQL a trigger that notified would make the ERP's transactions commit one after the other.
pub(crate) async fn watch_intents(
    store: Store,
    clock: Arc<dyn Clock>,
    wakers: Arc<WakerRegistry>,
    stop: CancellationToken,
) {
    let polling = async {
        let mut pause = INTENT_POLL_INTERVAL;
        loop {
            clock.sleep(pause).await;
            let began = clock.monotonic();
            for table in [IntentKind::Command, IntentKind::Stock, IntentKind::Price] {
                match store.intents().wanting_stores(table).await {
                    Ok(stores) => wakers.wake_pushers(&stores),
                    Err(error) => tracing::debug!(%error, "cannot read which stores have intents"),
                }
            }
            let took = clock.monotonic().saturating_sub(began);
            pause = (took * POLL_SHARE).clamp(INTENT_POLL_INTERVAL, LONGEST_POLL_INTERVAL);
        }
    };
    tokio::select! { () = polling => (), () = stop.cancelled() => () }
}

async fn wake_on_notifications(store: &Store, wakers: &WakerRegistry) -> Result<(), espelho_store::Error> {
    let Some(mut watch) = store.inbox().watch_inbox().await? else { return std::future::pending().await };
    loop {
        match watch.next().await? {
            Heard::Deliveries(store) => wakers.wake([&store]),
            Heard::Gap => wakers.wake_all(),
        }
    }
}
