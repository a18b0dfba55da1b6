//! Waiting for stores that others hold. Where many are, one look at the database serves all that wait.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey};
use espelho_store::{Heard, Store};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::http::webhook::WakerRegistry;

/// How often a lock file is tried again.
const TRY: Duration = Duration::from_secs(5);
/// How often the locks of a shared database are looked at: a part of the time in which another owner must be there.
const LOOK: Duration = Duration::from_secs(1);
/// How often SQLite is asked whether the ERP has written something: three look-ups in small indexes.
const INTENT_POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The same where triggers tell it.
const NOTIFIED_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Between two attempts to hear of deliveries.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// Looks which stores are held.
pub(crate) struct LeaseWatcher {
    store: Store,
    clock: Arc<dyn Clock>,
    /// When it was looked last, and what was held then.
    seen: Mutex<Option<(Duration, BTreeSet<String>)>>,
}

impl LeaseWatcher {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, seen: Mutex::default() }
    }

    /// Ends when it is worth trying to take a store.
    pub(crate) async fn wait_for(&self, store: &StoreKey) {
        if !self.store.is_shared() {
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
            match self.store.held_stores().await {
                Ok(held) => *seen = Some((now, held.unwrap_or_default())),
                // Where nobody can look, nobody can take either.
                Err(error) => tracing::debug!(%error, "who holds the stores is not known"),
            }
        }
        seen.as_ref().is_some_and(|(_, held)| !held.contains(store.as_str()))
    }
}

/// Wakes the stores for whose inbox another process has received something.
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
                tracing::debug!(%error, "deliveries are heard of by looking only");
            }
            clock.sleep(LISTEN_AGAIN).await;
            wakers.wake_all();
        }
    };
    tokio::select! { () = hearing => (), () = stop.cancelled() => () }
}

/// Wakes the stores for which the ERP wants something: it may be any program, which tells nobody on SQLite, and may not be heard
/// on PostgreSQL.
pub(crate) async fn watch_intents(
    store: Store,
    clock: Arc<dyn Clock>,
    wakers: Arc<WakerRegistry>,
    stop: CancellationToken,
) {
    let every = if store.is_shared() { NOTIFIED_POLL_INTERVAL } else { INTENT_POLL_INTERVAL };
    let looking = async {
        loop {
            clock.sleep(every).await;
            match store.wanting_stores().await {
                Ok(wanting) => wakers.wake_pushers(&wanting),
                Err(error) => tracing::debug!(%error, "what the ERP wants is not known"),
            }
        }
    };
    tokio::select! { () = looking => (), () = stop.cancelled() => () }
}

async fn hear(store: &Store, wakers: &WakerRegistry) -> Result<(), espelho_store::Error> {
    let Some(mut watch) = store.watch_inbox().await? else { return std::future::pending().await };
    loop {
        match watch.next().await? {
            Heard::Deliveries(store) => wakers.wake([&store]),
            Heard::IntentKind(store) => wakers.wake_pushers([&store]),
            Heard::Gap => wakers.wake_all(),
        }
    }
}
