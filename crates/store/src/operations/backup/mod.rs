//! Backups of a SQLite mirror, and their restore. PostgreSQL has tools of its own for both.
//!
//! A backup is a folder with two files of fixed names. It has a temporary name until it is complete on disk. A
//! restore prepares its files beside the mirror in the same way, and swaps them in by steps that any later opener
//! can finish.

mod before_migration;
mod create;
mod doubts;
pub(crate) mod open_lock;
mod record;
mod restore;
pub(crate) mod sanitize;
mod save;
pub(crate) mod swap;

use std::{
    fs::{DirBuilder, File},
    io,
    path::Path,
};

use crate::Error;

pub(crate) use self::create::{FIRST_OPEN, begin_draft, size};
pub use self::{
    create::{back_up, open_to_copy},
    record::{BackupAct, BackupFailure, BackupRecord},
    restore::{Restored, restore},
    sanitize::Replaced,
};

/// The mirror's file within a backup.
pub(crate) const MIRROR: &str = "espelho.db";
/// The inbox's file, whose name follows from that.
const INBOX: &str = "espelho.db-inbox";

/// Receives the progress of a copy: file, bytes done, bytes in all.
pub type ProgressFn<'t> = &'t (dyn Fn(&'static str, u64, u64) + Send + Sync);

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::Copy { action, path, source }
}

/// The content has tokens, secrets and buyers' names: only the owner may read it.
fn make_folder(path: &Path) -> Result<(), Error> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(failed("make the folder", path))
}

fn remove_folder(path: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

/// The free bytes of a folder's disk; where nothing tells them, there is room for everything.
pub(crate) fn free_bytes(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(u64::MAX, |disk| disk.f_bavail * disk.f_frsize)
}

/// Syncs a file or a folder to the disk.
fn sync(path: &Path) -> Result<(), Error> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failed("put on the disk", path))
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    std::fs::rename(from, to).map_err(failed("rename", from))
}

/// The error of a copy that SQLite made.
fn refused(operation: &'static str) -> impl FnOnce(sqlx::Error) -> Error {
    move |source| Error::statement(operation, source)
}
