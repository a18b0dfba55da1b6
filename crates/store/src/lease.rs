//! Who works on a store. Two things together: a lock that the operating system (SQLite) or the server
//! (PostgreSQL) lets go of when its holder dies, and a row whose fencing number is checked in every write.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::{Clock, StoreKey, time::fixed_width};
use sqlx::postgres::PgConnectOptions;
use tokio::sync::{Mutex, watch};

use crate::{
    Error, LeaseGuard, Store,
    connect::beside,
    driver::{Tx, Value},
    heartbeat::TAKEOVER_GRACE,
    permissions::open_lock_file,
    server_locks::{self, ServerLock, ServerLocks},
};

/// Between two tries to take a lock of a server.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

pub(crate) const TAKE: &str = "INSERT INTO leases (store, fence, owner, acquired_at, renewed_at) VALUES ($1, 1, $2, $3, $3) \
    ON CONFLICT (store) DO UPDATE SET fence = leases.fence + 1, owner = excluded.owner, \
    acquired_at = excluded.acquired_at, renewed_at = excluded.renewed_at, released_at = NULL RETURNING fence";
pub(crate) const BEFORE: &str = "SELECT fence, released_at FROM leases WHERE store = $1";
pub(crate) const RELEASE: &str = "UPDATE leases SET released_at = $1 WHERE store = $2 AND fence = $3";
pub(crate) const CHECK: &str = "UPDATE leases SET renewed_at = $1 WHERE store = $2 AND fence = $3";
/// Each write renews the lease, so this is when the last one of them was.
pub(crate) const SEEN: &str = "SELECT renewed_at FROM leases WHERE store = $1";
pub(crate) const WHO: &str = "SELECT owner, acquired_at FROM leases WHERE store = $1";

/// The right to work on a store, until it is dropped or released.
pub struct Lease {
    store: StoreKey,
    fence: i64,
    lock: Lock,
    pub(crate) lease_guard: LeaseGuard,
    /// Gone with the lease.
    given: watch::Sender<()>,
    of: Store,
}

enum Lock {
    /// Held while the file is open.
    File { _held: File },
    /// Held by the locks' connection until released or dropped, or until that connection ends.
    Server(ServerLock),
}

/// Where the locks of this database live.
#[derive(Clone)]
pub(crate) enum Locks {
    Files(PathBuf),
    Server(Arc<Mutex<ServerLocks>>),
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
        // From here on nothing is called any more, so that whoever comes next need not wait for it.
        drop(self.given);
        if let Lock::Server(lock) = &self.lock {
            let values = vec![self.of.clock.now().into(), self.store.as_str().into(), self.fence.into()];
            self.of.database.execute("release the lease", RELEASE, values).await?;
            lock.unlock().await?;
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
        match self.try_lock_for_a_while(store).await? {
            Some(lock) => self.take(store, owner, lock).await,
            None => Err(self.who_holds(store).await),
        }
    }

    /// The same for whoever will ask again soon: one refusal is believed.
    ///
    /// # Errors
    /// [`Error::Held`] when another instance has it.
    pub async fn acquire_now(&self, store: &StoreKey, owner: &str) -> Result<Lease, Error> {
        match self.locks.try_lock(store).await? {
            Some(lock) => self.take(store, owner, lock).await,
            None => Err(self.who_holds(store).await),
        }
    }

    async fn take(&self, store: &StoreKey, owner: &str, lock: Lock) -> Result<Lease, Error> {
        let values: Vec<Value> = vec![store.as_str().into(), owner.into(), self.clock.now().into()];
        let mut tx = self.database.begin().await?;
        let before = tx.fetch("read the lease", BEFORE.to_owned(), vec![store.as_str().into()]).await?;
        let rows = tx.fetch("take the lease", TAKE.to_owned(), values).await?;
        let fence = rows.first().map_or(Ok(0), |row| row.int(0))?;
        tx.commit().await?;
        let last =
            before.first().map(|row| Ok((row.int(0)?, row.optional_time(1)?.is_some()))).transpose()?;
        let begins = self.clock.monotonic() + lock.wait_after(last, fence).await;
        let (given, lease) = watch::channel(());
        let session = match &lock {
            Lock::File { .. } => None,
            Lock::Server(lock) => Some(lock.session.clone()),
        };
        let lease_guard = LeaseGuard::new(store.clone(), Arc::clone(&self.clock), lease, session, begins);
        Ok(Lease { store: store.clone(), fence, lock, lease_guard, given, of: self.clone() })
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

impl Lock {
    /// How long to wait for the last owner: not at all where it gave the store back, was this process, or never was.
    async fn wait_after(&self, last: Option<(i64, bool)>, fence: i64) -> Duration {
        let Self::Server(lock) = self else { return Duration::ZERO };
        match last {
            Some((before, released)) if !lock.follows_itself(before, fence).await && !released => {
                TAKEOVER_GRACE
            }
            Some(_) => Duration::ZERO,
            None => {
                lock.follows_itself(0, fence).await;
                Duration::ZERO
            }
        }
    }
}

impl Locks {
    pub(crate) fn beside(database: PathBuf) -> Self {
        Self::Files(database)
    }

    pub(crate) fn within(options: PgConnectOptions, clock: Arc<dyn Clock>) -> Self {
        Self::Server(Arc::new(Mutex::new(ServerLocks::new(options, clock))))
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
            Self::Server(shared) => Ok(server_locks::try_lock(shared, store).await?.map(Lock::Server)),
        }
    }
}

/// The lock file of a store.
pub(crate) fn lock_path(database: &Path, store: &StoreKey) -> PathBuf {
    beside(database, &format!(".{store}.lock"))
}

fn lock_file(path: &Path) -> Result<Option<Lock>, Error> {
    Ok(lock_beside(path)?.map(|file| Lock::File { _held: file }))
}

/// Takes a lock file if nobody has it.
pub(crate) fn lock_beside(path: &Path) -> Result<Option<File>, Error> {
    let failed = |source| Error::LockFile { path: path.display().to_string(), source };
    // The file stays when the lock goes: removing it would let two holders lock two files of one name.
    let file = open_lock_file(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
