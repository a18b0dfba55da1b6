//! Advisory locks of PostgreSQL. A process takes all of them on one connection, which the server gives up soon after
//! the client's machine has vanished.

use std::{collections::BTreeMap, sync::Arc};

use espelho_model::{Clock, StoreKey};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::sync::Mutex;

use crate::{
    Error,
    ownership::heartbeat::{HEARTBEAT_TIMEOUT, Heartbeat, Listener, Moment},
};

/// The server ends the session of a silent machine after 5 s instead of hours. Sessions over a Unix socket ignore
/// this: both sides are one machine.
const SETTINGS: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "2"),
    ("tcp_keepalives_interval", "1"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "5000"),
];
const LOCK: &str =
    "SELECT pg_try_advisory_lock(hashtextextended('espelho.' || current_schema() || '.' || $1, 0))";
const UNLOCK: &str =
    "SELECT pg_advisory_unlock(hashtextextended('espelho.' || current_schema() || '.' || $1, 0))";

/// One acquisition of an advisory lock.
pub(crate) struct ServerLock {
    locks: Arc<Mutex<ServerLocks>>,
    store: StoreKey,
    /// Tells this acquisition from a later one of the same store.
    acquisition: u64,
    dropped: Dropped,
    /// The session with the lock.
    pub(crate) session: Listener,
}

/// Acquisitions dropped without a release; the next user of the connection unlocks them.
type Dropped = Arc<parking_lot::Mutex<Vec<(StoreKey, u64)>>>;

pub(crate) struct ServerLocks {
    options: PgConnectOptions,
    connection: Option<PgConnection>,
    /// A session may take the same advisory lock twice, so this process keeps its own account.
    held: BTreeMap<StoreKey, u64>,
    acquisitions: u64,
    dropped: Dropped,
    heartbeat: Heartbeat,
    /// The last fencing number of this process for each store: shows that no other process came in between.
    fences: BTreeMap<StoreKey, i64>,
}

impl ServerLock {
    pub(crate) async fn unlock(&self) -> Result<(), Error> {
        self.locks.lock().await.unlock(&self.store, self.acquisition).await
    }

    /// Records the fencing number of this acquisition; returns whether the previous one was this process's too.
    pub(crate) async fn follows_itself(&self, before: i64, fence: i64) -> bool {
        self.locks.lock().await.fences.insert(self.store.clone(), fence) == Some(before)
    }
}

impl Drop for ServerLock {
    fn drop(&mut self) {
        let mut dropped = self.dropped.lock();
        dropped.push((self.store.clone(), self.acquisition));
        // The next acquisition does it; without a runtime nothing else can.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let locks = Arc::clone(&self.locks);
            runtime.spawn(async move { locks.lock().await.let_go_of_dropped().await });
        }
    }
}

/// Takes a lock, if it is free.
pub(crate) async fn try_lock(
    shared: &Arc<Mutex<ServerLocks>>,
    store: &StoreKey,
) -> Result<Option<ServerLock>, Error> {
    let mut locks = shared.lock().await;
    let Some(acquisition) = locks.try_lock(store).await? else { return Ok(None) };
    let (session, dropped) = (locks.heartbeat.listen(), Arc::clone(&locks.dropped));
    Ok(Some(ServerLock { locks: Arc::clone(shared), store: store.clone(), acquisition, dropped, session }))
}

impl ServerLocks {
    pub(crate) fn new(options: PgConnectOptions, clock: Arc<dyn Clock>) -> Self {
        Self {
            options: options.options(SETTINGS),
            connection: None,
            held: BTreeMap::new(),
            acquisitions: 0,
            dropped: Dropped::default(),
            heartbeat: Heartbeat::new(clock),
            fences: BTreeMap::new(),
        }
    }

    /// Asks the session for a heartbeat, and gives it up without one.
    pub(crate) async fn beat(&mut self) {
        if self.connection.is_some() && !self.lives().await {
            tracing::warn!(stores = self.held.len(), "the connection that holds the stores was lost");
            self.lose();
        }
    }

    async fn try_lock(&mut self, store: &StoreKey) -> Result<Option<u64>, Error> {
        self.let_go_of_dropped().await?;
        // This check may show that the server has released everything.
        self.connect().await?;
        if self.held.contains_key(store) {
            return Ok(None);
        }
        if !self.ask(LOCK, store).await? {
            return Ok(None);
        }
        self.acquisitions += 1;
        self.held.insert(store.clone(), self.acquisitions);
        Ok(Some(self.acquisitions))
    }

    async fn let_go_of_dropped(&mut self) -> Result<(), Error> {
        let dropped = std::mem::take(&mut *self.dropped.lock());
        for (store, acquisition) in dropped {
            self.unlock(&store, acquisition).await?;
        }
        Ok(())
    }

    /// Unlocks an acquisition, if it still holds the store.
    async fn unlock(&mut self, store: &StoreKey, acquisition: u64) -> Result<(), Error> {
        if self.held.get(store) != Some(&acquisition) {
            return Ok(());
        }
        self.held.remove(store);
        self.connect().await?;
        self.ask(UNLOCK, store).await.map(drop)
    }

    /// Ensures a connection; a new one holds nothing.
    async fn connect(&mut self) -> Result<(), Error> {
        if self.connection.is_some() && self.lives().await {
            return Ok(());
        }
        self.lose();
        let begun = Moment::now(&**self.heartbeat.clock());
        let connection = within(self.options.connect()).await;
        self.connection = Some(connection.map_err(lock_failed)?);
        self.heartbeat.answered(begun);
        Ok(())
    }

    async fn lives(&mut self) -> bool {
        let begun = Moment::now(&**self.heartbeat.clock());
        let Some(connection) = &mut self.connection else { return false };
        let lives = within(connection.ping()).await.is_ok();
        if lives {
            self.heartbeat.answered(begun);
        }
        lives
    }

    /// A dropped connection ends its session sooner or later: from here on none of its locks counts as held.
    fn lose(&mut self) {
        self.held.clear();
        self.connection = None;
        self.heartbeat.ended();
    }

    async fn ask(&mut self, sql: &'static str, store: &StoreKey) -> Result<bool, Error> {
        let Some(connection) = &mut self.connection else { return Ok(false) };
        let asking = sqlx::query_scalar(sql).bind(store.as_str()).fetch_one(connection);
        let answer = within(asking).await;
        if answer.is_err() {
            // The result is unknown; ending the session undoes it.
            self.lose();
        }
        answer.map_err(lock_failed)
    }
}

/// Limits a question to the time-out. After a time-out the connection is not used again, so cancelling it leaves
/// nothing behind. A late answer counts if it is there: after a stop of the process, answer and time-out are found
/// together.
async fn within<T>(asking: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
    let late = |_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()));
    tokio::time::timeout(HEARTBEAT_TIMEOUT, asking).await.unwrap_or_else(late)
}

fn lock_failed(source: sqlx::Error) -> Error {
    Error::Statement { operation: "lock a store", source }
}
