//! Backups of a SQLite mirror, and what becomes of one that is put back. PostgreSQL has tools of its own for both.
//!
//! A backup is a folder with two files, whatever the mirror's own are called. It lies under another name until all of it is on
//! the disk. What is put back is made ready beside the mirror in the same way, and takes its place in steps that whoever opens
//! the mirror next can finish.

mod create;
pub(crate) mod open_lock;
mod restore;
pub(crate) mod sanitize;
pub(crate) mod swap;

use std::{
    fs::{DirBuilder, File},
    io,
    path::Path,
};

use crate::Error;

pub(crate) use self::create::FIRST_OPEN;
pub use self::{
    restore::{Restored, restore},
    sanitize::Replaced,
};

/// The mirror's file within a backup.
const MIRROR: &str = "espelho.db";
/// The inbox's, whose name follows from that.
const INBOX: &str = "espelho.db-inbox";

/// Hears how far a copy has come: of which file, bytes done, bytes in all.
pub type ProgressFn<'t> = &'t (dyn Fn(&'static str, u64, u64) + Send + Sync);

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::Copy { action, path, source }
}

/// What lies in it has tokens, secrets and buyers' names: nobody else may read it.
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

/// Puts a file, or the names in a folder, on the disk.
fn sync(path: &Path) -> Result<(), Error> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failed("put on the disk", path))
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    std::fs::rename(from, to).map_err(failed("rename", from))
}

/// What a copy failed with that SQLite made.
fn refused(operation: &'static str) -> impl FnOnce(sqlx::Error) -> Error {
    move |source| Error::statement(operation, source)
}
