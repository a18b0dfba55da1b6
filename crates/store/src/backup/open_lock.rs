//! Who has a SQLite mirror open: everybody together, or a restore alone.
//!
//! A lock of the whole file rather than those of the stores: who only reads, or only receives, has none of those, and would go on
//! with the files that were there before.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::swap;
use crate::{Error, connect::beside, permissions::open_lock_file};

/// Where the lock is.
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

/// The lock of whoever uses the mirror. A restore that was cut off after it was decided is finished first.
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
        // Who else has it is finishing the same, which takes no time.
        alone.lock().map_err(|source| Error::LockFile { path: database.display().to_string(), source })?;
        swap::finish(database)?;
    }
}

/// The lock of whoever replaces the mirror.
pub(crate) fn alone(database: &Path) -> Result<File, Error> {
    let file = lock_file(database)?;
    taken(file.try_lock(), database, Error::InUse { path: database.display().to_string() })?;
    Ok(file)
}
