//! Who works on a store. Two things together: a lock that the operating system (SQLite) or the server
//! (PostgreSQL) lets go of when its holder dies, and a row whose fencing number is checked in every write.

use std::{
    collections::BTreeSet,
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
};

use espelho_model::{StoreKey, time::fixed_width};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::sync::Mutex;

use crate::{
    Error, Store,
    connect::beside,
    driver::{Tx, Value},
};

pub(crate) const TAKE: &str = "INSERT INTO leases (store, fence, owner, acquired_at, renewed_at) VALUES ($1, 1, $2, $3, $3) \
    ON CONFLICT (store) DO UPDATE SET fence = leases.fence + 1, owner = excluded.owner, \
    acquired_at = excluded.acquired_at, renewed_at = excluded.renewed_at RETURNING fence";
pub(crate) const CHECK: &str = "UPDATE leases SET renewed_at = $1 WHERE store = $2 AND fence = $3";
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
    /// Held by the locks' connection until released, or until that connection ends.
    Server(Arc<Mutex<ServerLocks>>),
}

/// Where the locks of this database live.
#[derive(Clone)]
pub(crate) enum Locks {
    Files(PathBuf),
    Server(Arc<Mutex<ServerLocks>>),
}

pub(crate) struct ServerLocks {
    options: PgConnectOptions,
    connection: Option<PgConnection>,
    /// A session may take the same advisory lock twice, so this process keeps its own count.
    held: BTreeSet<StoreKey>,
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
        if let Lock::Server(locks) = &self.lock {
            locks.lock().await.unlock(&self.store).await?;
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
        let Some(lock) = self.locks.try_lock(store).await? else { return Err(self.who_holds(store).await) };
        let values: Vec<Value> = vec![store.as_str().into(), owner.into(), self.clock.now().into()];
        let mut tx = self.database.begin().await?;
        let rows = tx.fetch("take the lease", TAKE.to_owned(), values).await?;
        let fence = rows.first().map_or(Ok(0), |row| row.int(0))?;
        tx.commit().await?;
        Ok(Lease { store: store.clone(), fence, lock })
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
        Self::Server(Arc::new(Mutex::new(ServerLocks { options, connection: None, held: BTreeSet::new() })))
    }

    pub(crate) fn database_file(&self) -> Option<&Path> {
        match self {
            Self::Files(path) => Some(path),
            Self::Server(_) => None,
        }
    }

    async fn try_lock(&self, store: &StoreKey) -> Result<Option<Lock>, Error> {
        match self {
            Self::Files(database) => lock_file(&beside(database, &format!(".{store}.lock"))),
            Self::Server(locks) => {
                let taken = locks.lock().await.try_lock(store).await?;
                Ok(taken.then(|| Lock::Server(Arc::clone(locks))))
            }
        }
    }
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
    async fn try_lock(&mut self, store: &StoreKey) -> Result<bool, Error> {
        if self.held.contains(store) {
            return Ok(false);
        }
        let sql =
            "SELECT pg_try_advisory_lock(hashtextextended('espelho.' || current_schema() || '.' || $1, 0))";
        let taken: bool = self.ask(sql, store).await?;
        if taken {
            self.held.insert(store.clone());
        }
        Ok(taken)
    }

    async fn unlock(&mut self, store: &StoreKey) -> Result<(), Error> {
        self.held.remove(store);
        let sql =
            "SELECT pg_advisory_unlock(hashtextextended('espelho.' || current_schema() || '.' || $1, 0))";
        self.ask(sql, store).await.map(drop)
    }

    async fn ask(&mut self, sql: &'static str, store: &StoreKey) -> Result<bool, Error> {
        let failed = |source| Error::Statement { operation: "lock a store", source };
        if let Some(connection) = &mut self.connection
            && connection.ping().await.is_err()
        {
            // The server has let go of everything that the dead connection held.
            self.connection = None;
            self.held.clear();
        }
        if self.connection.is_none() {
            self.connection = Some(self.options.connect().await.map_err(failed)?);
        }
        let Some(connection) = &mut self.connection else { return Ok(false) };
        sqlx::query_scalar(sql).bind(store.as_str()).fetch_one(connection).await.map_err(failed)
    }
}
