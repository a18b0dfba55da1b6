//! Tells other processes on PostgreSQL which stores have new deliveries, or new rows in the change feed.
//!
//! A transaction that notifies holds a lock of the whole server until it is durable, so all that do commit one after
//! the other. Therefore no transaction that writes notifies. What was written is noted here, and sent a moment later in
//! a transaction of its own, which writes nothing and waits for no disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use espelho_model::{Clock, StoreKey};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{Error, driver::Database};

/// The shortest time between two of these transactions.
const INTERVAL: Duration = Duration::from_millis(100);
/// The stores are separated by commas: no store's key has one.
pub(crate) const SEND: &str =
    "SELECT pg_notify($1, store) FROM unnest(string_to_array($2, ',')) AS written (store)";

/// Stores by channel.
type Pending = BTreeMap<&'static str, BTreeSet<StoreKey>>;

/// The notifications that are due.
#[derive(Debug, Default)]
pub(crate) struct Notifications {
    pending: Mutex<Pending>,
    noted: Notify,
}

impl Notifications {
    /// Notes that something of these stores was written.
    pub(crate) fn note(&self, channel: &'static str, stores: impl IntoIterator<Item = StoreKey>) {
        self.pending.lock().entry(channel).or_default().extend(stores);
        self.noted.notify_one();
    }

    /// Sends what is noted, for ever.
    pub(crate) async fn run(&self, database: &Database, clock: &dyn Clock) {
        loop {
            self.noted.notified().await;
            if let Err(error) = self.send(database).await {
                tracing::debug!(%error, "cannot notify other processes; will retry");
            }
            clock.sleep(INTERVAL).await;
        }
    }

    /// Sends what is noted. What cannot be sent stays noted.
    pub(crate) async fn send(&self, database: &Database) -> Result<(), Error> {
        let pending = std::mem::take(&mut *self.pending.lock());
        // SQLite has no listeners.
        if pending.is_empty() || matches!(database, Database::Sqlite { .. }) {
            return Ok(());
        }
        let sent = send(database, &pending).await;
        if sent.is_err() {
            for (channel, stores) in pending {
                self.note(channel, stores);
            }
        }
        sent
    }
}

async fn send(database: &Database, pending: &Pending) -> Result<(), Error> {
    let mut tx = database.begin().await?;
    for (channel, stores) in pending {
        let stores = stores.iter().map(StoreKey::as_str).collect::<Vec<_>>().join(",");
        tx.execute_on_server("notify other processes", SEND, vec![(*channel).into(), stores.into()]).await?;
    }
    tx.commit().await
}
