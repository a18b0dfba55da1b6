//! Advisory locks of PostgreSQL, all of a process on one connection, which the server's operating system is told to give
//! up soon after the other machine has vanished.

use std::{collections::BTreeMap, sync::Arc};

use espelho_model::{Clock, StoreKey};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::sync::Mutex;

use crate::{
    Error,
    heartbeat::{HEARTBEAT_TIMEOUT, Heartbeat, Listener, Moment},
};

/// The server ends a session whose machine does not answer any more after 5 s, instead of hours. Sessions over a Unix
/// socket take no notice: both sides are one machine.
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
    /// How the session is that has the lock.
    pub(crate) session: Listener,
}

/// Acquisitions that were dropped without being released; whoever uses the connection next lets go of them.
type Dropped = Arc<std::sync::Mutex<Vec<(StoreKey, u64)>>>;

pub(crate) struct ServerLocks {
    options: PgConnectOptions,
    connection: Option<PgConnection>,
    /// A session may take the same advisory lock twice, so this process keeps its own account.
    held: BTreeMap<StoreKey, u64>,
    acquisitions: u64,
    dropped: Dropped,
    heartbeat: Heartbeat,
    /// The last fencing number that this process had of each store: nobody was there between it and itself.
    fences: BTreeMap<StoreKey, i64>,
}

impl ServerLock {
    pub(crate) async fn unlock(&self) -> Result<(), Error> {
        self.locks.lock().await.unlock(&self.store, self.acquisition).await
    }

    /// Notes the fencing number of this acquisition; whether the one before it was this process's, too.
    pub(crate) async fn follows_itself(&self, before: i64, fence: i64) -> bool {
        self.locks.lock().await.fences.insert(self.store.clone(), fence) == Some(before)
    }
}

impl Drop for ServerLock {
    fn drop(&mut self) {
        let mut dropped = self.dropped.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        dropped.push((self.store.clone(), self.acquisition));
        // Whoever takes a lock next does it; without a runtime nobody else can.
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

    /// Asks the session for a sign of life, and gives it up when none comes.
    pub(crate) async fn beat(&mut self) {
        if self.connection.is_some() && !self.lives().await {
            tracing::warn!(stores = self.held.len(), "the connection that holds the stores was lost");
            self.lose();
        }
    }

    async fn try_lock(&mut self, store: &StoreKey) -> Result<Option<u64>, Error> {
        self.let_go_of_dropped().await?;
        // Looking at the connection may show that the server has let go of everything.
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
        let dropped =
            std::mem::take(&mut *self.dropped.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        for (store, acquisition) in dropped {
            self.unlock(&store, acquisition).await?;
        }
        Ok(())
    }

    /// Lets go of an acquisition, if it is still the one that holds the store.
    async fn unlock(&mut self, store: &StoreKey, acquisition: u64) -> Result<(), Error> {
        if self.held.get(store) != Some(&acquisition) {
            return Ok(());
        }
        self.held.remove(store);
        self.connect().await?;
        self.ask(UNLOCK, store).await.map(drop)
    }

    /// Makes sure that there is a connection; a new one holds nothing.
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

    /// A connection that is dropped ends its session sooner or later: from here on nothing of it counts as held.
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
            // Whether the server has done it is not known; without its session it has not.
            self.lose();
        }
        answer.map_err(lock_failed)
    }
}

/// What takes too long has failed. The connection is not used after that, so that cutting it off leaves nothing behind.
/// An answer that is there counts though its time is over: after a stop of the process both are found together.
async fn within<T>(asking: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
    let late = |_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()));
    tokio::time::timeout(HEARTBEAT_TIMEOUT, asking).await.unwrap_or_else(late)
}

fn lock_failed(source: sqlx::Error) -> Error {
    Error::Statement { operation: "lock a store", source }
}
