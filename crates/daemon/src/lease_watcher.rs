//! Waits for stores that other processes hold. If many are waiting, one database read serves all of them.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey};
use espelho_store::{Heard, IntentKind, Store};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::http::webhook::WakerRegistry;

/// How often a lock file is tried again.
const TRY: Duration = Duration::from_secs(5);
/// How often the locks of a shared database are read: a fraction of the time within which another owner must take over.
const LOOK: Duration = Duration::from_secs(1);
/// How often the database is asked whether the ERP has written an intent: three look-ups in small indexes.
const INTENT_POLL_INTERVAL: Duration = Duration::from_millis(250);
/// A question that took long, because many rows are new, is asked again after this multiple of its duration,
const POLL_SHARE: u32 = 4;
/// but at the latest after this time.
const LONGEST_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The interval between two attempts to listen for deliveries.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// Checks which stores are held.
pub(crate) struct LeaseWatcher {
    store: Store,
    clock: Arc<dyn Clock>,
    /// The time and result of the last check.
    seen: Mutex<Option<(Duration, BTreeSet<String>)>>,
}

impl LeaseWatcher {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, seen: Mutex::default() }
    }

    /// Resolves when it is worth trying to take a store.
    pub(crate) async fn wait_for(&self, store: &StoreKey) {
        if !self.store.leases().is_shared() {
            return self.clock.sleep(TRY).await;
        }
        loop {
            self.clock.sleep(LOOK).await;
            if self.is_free(store).await {
                return;
            }
        }
    }

    async fn is_free(&self, store: &StoreKey) -> bool {
        let mut seen = self.seen.lock().await;
        let now = self.clock.monotonic();
        if seen.as_ref().is_none_or(|(at, _)| now >= *at + LOOK / 2) {
            match self.store.leases().held_stores().await {
                Ok(held) => *seen = Some((now, held.unwrap_or_default())),
                // While the locks cannot be read, no store can be taken either.
                Err(error) => tracing::debug!(%error, "cannot read who holds the stores"),
            }
        }
        seen.as_ref().is_some_and(|(_, held)| !held.contains(store.as_str()))
    }
}

/// Wakes the stores for which another process has received deliveries.
pub(crate) async fn hear_of_deliveries(
    store: Store,
    clock: Arc<dyn Clock>,
    wakers: Arc<WakerRegistry>,
    stop: CancellationToken,
) {
    let hearing = async {
        loop {
            let ended = hear(&store, &wakers).await;
            if let Err(error) = ended {
                tracing::debug!(%error, "cannot listen for deliveries; polling instead");
            }
            clock.sleep(LISTEN_AGAIN).await;
            wakers.wake_all();
        }
    };
    tokio::select! { () = hearing => (), () = stop.cancelled() => () }
}

/// Wakes the stores for which the ERP has written intents. Any program may write them, and none announces it: on
/// PostgreSQL a trigger that notified would make the ERP's transactions commit one after the other.
pub(crate) async fn watch_intents(
    store: Store,
    clock: Arc<dyn Clock>,
    wakers: Arc<WakerRegistry>,
    stop: CancellationToken,
) {
    let looking = async {
        let mut pause = INTENT_POLL_INTERVAL;
        loop {
            clock.sleep(pause).await;
            let began = clock.monotonic();
            for table in [IntentKind::Command, IntentKind::Stock, IntentKind::Price] {
                match store.intents().wanting_stores(table).await {
                    Ok(wanting) => wakers.wake_pushers(&wanting),
                    Err(error) => tracing::debug!(%error, "cannot read which stores have intents"),
                }
            }
            let took = clock.monotonic().saturating_sub(began);
            pause = (took * POLL_SHARE).clamp(INTENT_POLL_INTERVAL, LONGEST_POLL_INTERVAL);
        }
    };
    tokio::select! { () = looking => (), () = stop.cancelled() => () }
}

async fn hear(store: &Store, wakers: &WakerRegistry) -> Result<(), espelho_store::Error> {
    let Some(mut watch) = store.inbox().watch_inbox().await? else { return std::future::pending().await };
    loop {
        match watch.next().await? {
            Heard::Deliveries(store) => wakers.wake([&store]),
            Heard::Gap => wakers.wake_all(),
        }
    }
}
