//! The locks of stores: files beside a SQLite database, or advisory locks of a PostgreSQL server.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use espelho_model::{Clock, StoreKey};
use sqlx::postgres::PgConnectOptions;
use tokio::sync::Mutex;

use super::{
    heartbeat::TAKEOVER_GRACE,
    server_locks::{self, ServerLock, ServerLocks},
};
use crate::{
    Error,
    connect::{address::beside, permissions::open_lock_file},
};

/// The lock of one store.
pub(super) enum Lock {
    /// Held while the file is open.
    File { _held: File },
    /// Held by the locks' connection until released or dropped, or until that connection ends.
    Server(ServerLock),
}

/// The place of the locks of this database.
#[derive(Clone)]
pub(crate) enum Locks {
    Files(PathBuf),
    Server(Arc<Mutex<ServerLocks>>),
}

impl Lock {
    /// How long to wait for the previous owner: not at all if it released the store, was this process, or never
    /// existed.
    pub(super) async fn wait_after(&self, last: Option<(i64, bool)>, fence: i64) -> Duration {
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

    /// How often to retry a refused lock. A lock file's lock ends with its process, at once.
    pub(super) fn tries(&self) -> u32 {
        match self {
            Self::Files(_) => 0,
            Self::Server(_) => 8,
        }
    }

    pub(super) async fn try_lock(&self, store: &StoreKey) -> Result<Option<Lock>, Error> {
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

/// Takes a lock file if it is free.
pub(crate) fn lock_beside(path: &Path) -> Result<Option<File>, Error> {
    let failed = |source| Error::LockFile { path: path.display().to_string(), source };
    // The file stays after its release: removing it would let two holders lock two files of one name.
    let file = open_lock_file(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
