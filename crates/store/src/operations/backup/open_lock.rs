//! The lock on an open SQLite mirror: shared by its users, exclusive for a restore.
//!
//! A lock of the whole mirror, because readers and receivers hold no store's lock and would continue with the old
//! files.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::swap;
use crate::{
    Error,
    connect::{address::beside, permissions::open_lock_file},
};

/// The lock file's path.
pub(super) fn path(database: &Path) -> PathBuf {
    beside(database, "-open.lock")
}

fn lock_file(database: &Path) -> Result<File, Error> {
    let path = path(database);
    open_lock_file(&path).map_err(|source| Error::LockFile { path: path.display().to_string(), source })
}

fn taken(done: Result<(), TryLockError>, database: &Path, otherwise: Error) -> Result<(), Error> {
    match done {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(otherwise),
        Err(TryLockError::Error(source)) => {
            Err(Error::LockFile { path: database.display().to_string(), source })
        }
    }
}

/// Takes the shared lock. Finishes an interrupted restore first, if it was decided.
pub(crate) fn share(database: &Path) -> Result<Arc<File>, Error> {
    loop {
        let file = lock_file(database)?;
        let restoring = Error::Restoring { path: database.display().to_string() };
        taken(file.try_lock_shared(), database, restoring)?;
        if !swap::is_decided(database) {
            return Ok(Arc::new(file));
        }
        drop(file);
        let alone = lock_file(database)?;
        // Any other holder is finishing the same restore, which takes no time.
        alone.lock().map_err(|source| Error::LockFile { path: database.display().to_string(), source })?;
        swap::finish(database)?;
    }
}

/// Takes the exclusive lock.
pub(crate) fn alone(database: &Path) -> Result<File, Error> {
    let file = lock_file(database)?;
    taken(file.try_lock(), database, Error::InUse { path: database.display().to_string() })?;
    Ok(file)
}
