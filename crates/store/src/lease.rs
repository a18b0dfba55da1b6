//! Who works on a store. Two things together: a lock that the operating system (SQLite) or the server
//! (PostgreSQL) lets go of when its holder dies, and a row whose fencing number is checked in every write.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, time::fixed_width};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::sync::Mutex;

use crate::{
    Error, Store,
    connect::beside,
    driver::{Tx, Value},
};

/// Between two tries to take a lock of a server.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

pub(crate) const TAKE: &str = "INSERT INTO leases (store, fence, owner, acquired_at, renewed_at) VALUES ($1, 1, $2, $3, $3) \
    ON CONFLICT (store) DO UPDATE SET fence = leases.fence + 1, owner = excluded.owner, \
    acquired_at = excluded.acquired_at, renewed_at = excluded.renewed_at RETURNING fence";
pub(crate) const CHECK: &str = "UPDATE leases SET renewed_at = $1 WHERE store = $2 AND fence = $3";
/// Each write renews the lease, so this is when the last one of them was.
pub(crate) const SEEN: &str = "SELECT renewed_at FROM leases WHERE store = $1";
pub(crate) const WHO: &str = "SELECT owner, acquired_at FROM leases WHERE store = $1";

/// The right to work on a store, until it is dropped or released.
pub struct Lease {
    store: StoreKey,
    fence: i64,
    lock: Lock,
}

enum Lock {
    /// Held while the file is open.
    File { _held: File },
    /// Held by the locks' connection until released or dropped, or until that connection ends.
    Server(ServerLock),
}

/// One acquisition of an advisory lock.
struct ServerLock {
    locks: Arc<Mutex<ServerLocks>>,
    store: StoreKey,
    /// Tells this acquisition from a later one of the same store.
    acquisition: u64,
    dropped: Dropped,
}

/// Acquisitions that were dropped without being released; whoever uses the connection next lets go of them.
type Dropped = Arc<std::sync::Mutex<Vec<(StoreKey, u64)>>>;

/// Where the locks of this database live.
#[derive(Clone)]
pub(crate) enum Locks {
    Files(PathBuf),
    Server(Arc<Mutex<ServerLocks>>),
}

pub(crate) struct ServerLocks {
    options: PgConnectOptions,
    connection: Option<PgConnection>,
    /// A session may take the same advisory lock twice, so this process keeps its own account.
    held: BTreeMap<StoreKey, u64>,
    acquisitions: u64,
    dropped: Dropped,
}

impl Lease {
    /// The store this is about.
    pub fn store(&self) -> &StoreKey {
        &self.store
    }

    /// The fencing number: higher than any earlier holder's.
    pub fn fence(&self) -> i64 {
        self.fence
    }

    /// Gives the store free for others.
    ///
    /// # Errors
    /// When PostgreSQL does not answer; the lock then ends with the connection.
    pub async fn release(self) -> Result<(), Error> {
        if let Lock::Server(lock) = &self.lock {
            lock.locks.lock().await.unlock(&lock.store, lock.acquisition).await?;
        }
        Ok(())
    }

    /// Checks within a transaction that the lease is still ours, and says that we live.
    pub(crate) async fn check(&self, store: &Store, tx: &mut Tx) -> Result<(), Error> {
        let values = vec![store.clock.now().into(), self.store.as_str().into(), self.fence.into()];
        match tx.execute("renew the lease", CHECK, values).await? {
            1 => Ok(()),
            _ => Err(Error::LeaseLost { store: self.store.clone() }),
        }
    }
}

impl Store {
    /// Takes the lease of a store; `owner` is shown to whoever comes second.
    ///
    /// # Errors
    /// [`Error::Held`] when another instance has it.
    pub async fn acquire(&self, store: &StoreKey, owner: &str) -> Result<Lease, Error> {
        let Some(lock) = self.try_lock_for_a_while(store).await? else {
            return Err(self.who_holds(store).await);
        };
        let values: Vec<Value> = vec![store.as_str().into(), owner.into(), self.clock.now().into()];
        let mut tx = self.database.begin().await?;
        let rows = tx.fetch("take the lease", TAKE.to_owned(), values).await?;
        let fence = rows.first().map_or(Ok(0), |row| row.int(0))?;
        tx.commit().await?;
        Ok(Lease { store: store.clone(), fence, lock })
    }

    /// When the store's owner, whoever it is or was, wrote last.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn last_seen(&self, store: &StoreKey) -> Result<Option<DateTime<Utc>>, Error> {
        let rows = self.database.fetch("read the lease", SEEN, vec![store.as_str().into()]).await?;
        rows.first().map(|row| row.time(0)).transpose()
    }

    /// PostgreSQL takes a moment to notice that a client was killed or let go, so one refusal is not believed.
    async fn try_lock_for_a_while(&self, store: &StoreKey) -> Result<Option<Lock>, Error> {
        for _ in 0..self.locks.tries() {
            if let Some(lock) = self.locks.try_lock(store).await? {
                return Ok(Some(lock));
            }
            self.clock.sleep(BETWEEN_TRIES).await;
        }
        self.locks.try_lock(store).await
    }

    async fn who_holds(&self, store: &StoreKey) -> Error {
        let rows = self.database.fetch("read the lease", WHO, vec![store.as_str().into()]).await;
        let (owner, since) = match rows.as_deref() {
            Ok([row, ..]) => (row.text(0).ok(), row.time(1).ok().map(fixed_width)),
            _ => (None, None),
        };
        let unknown = || "unknown".to_owned();
        Error::Held {
            store: store.clone(),
            owner: owner.unwrap_or_else(|| "another instance".to_owned()),
            since: since.unwrap_or_else(unknown),
        }
    }
}

impl Locks {
    pub(crate) fn beside(database: PathBuf) -> Self {
        Self::Files(database)
    }

    pub(crate) fn within(options: PgConnectOptions) -> Self {
        Self::Server(Arc::new(Mutex::new(ServerLocks {
            options,
            connection: None,
            held: BTreeMap::new(),
            acquisitions: 0,
            dropped: Dropped::default(),
        })))
    }

    pub(crate) fn database_file(&self) -> Option<&Path> {
        match self {
            Self::Files(path) => Some(path),
            Self::Server(_) => None,
        }
    }

    /// How often a refusal is tried again. A lock file's lock ends with its process, at once.
    fn tries(&self) -> u32 {
        match self {
            Self::Files(_) => 0,
            Self::Server(_) => 8,
        }
    }

    async fn try_lock(&self, store: &StoreKey) -> Result<Option<Lock>, Error> {
        match self {
            Self::Files(database) => lock_file(&lock_path(database, store)),
            Self::Server(shared) => {
                let mut locks = shared.lock().await;
                let Some(acquisition) = locks.try_lock(store).await? else { return Ok(None) };
                let (locks, dropped) = (Arc::clone(shared), Arc::clone(&locks.dropped));
                Ok(Some(Lock::Server(ServerLock { locks, store: store.clone(), acquisition, dropped })))
            }
        }
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

/// The lock file of a store.
pub(crate) fn lock_path(database: &Path, store: &StoreKey) -> PathBuf {
    beside(database, &format!(".{store}.lock"))
}

fn lock_file(path: &Path) -> Result<Option<Lock>, Error> {
    let failed = |source| Error::LockFile { path: path.display().to_string(), source };
    // The file stays when the lock goes: removing it would let two holders lock two files of one name.
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock::File { _held: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

impl ServerLocks {
    async fn try_lock(&mut self, store: &StoreKey) -> Result<Option<u64>, Error> {
        let dropped =
            std::mem::take(&mut *self.dropped.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        for (store, acquisition) in dropped {
            self.unlock(&store, acquisition).await?;
        }
        // Looking at the connection may show that the server has let go of everything.
        self.connect().await?;
        if self.held.contains_key(store) {
            return Ok(None);
        }
        let sql =
            "SELECT pg_try_advisory_lock(hashtextextended('espelho.' || current_schema() || '.' || $1, 0))";
        if !self.ask(sql, store).await? {
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
        let sql =
            "SELECT pg_advisory_unlock(hashtextextended('espelho.' || current_schema() || '.' || $1, 0))";
        self.ask(sql, store).await.map(drop)
    }

    /// Makes sure that there is a connection; a new one holds nothing.
    async fn connect(&mut self) -> Result<(), Error> {
        if let Some(connection) = &mut self.connection
            && connection.ping().await.is_ok()
        {
            return Ok(());
        }
        self.held.clear();
        self.connection = None;
        self.connection = Some(self.options.connect().await.map_err(lock_failed)?);
        Ok(())
    }

    async fn ask(&mut self, sql: &'static str, store: &StoreKey) -> Result<bool, Error> {
        let Some(connection) = &mut self.connection else { return Ok(false) };
        sqlx::query_scalar(sql).bind(store.as_str()).fetch_one(connection).await.map_err(lock_failed)
    }
}

fn lock_failed(source: sqlx::Error) -> Error {
    Error::Statement { operation: "lock a store", source }
}
