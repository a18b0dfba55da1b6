//! Backups of a SQLite mirror, and what becomes of one that is put back. PostgreSQL has tools of its own for both.
//!
//! A backup is a folder with two files, whatever the mirror's own are called. It lies under another name until all of it is on
//! the disk. What is put back is made ready beside the mirror in the same way, and takes its place in steps that whoever opens
//! the mirror next can finish.

pub(crate) mod amend;
mod backup;
pub(crate) mod open_lock;
mod restore;
pub(crate) mod switch;

use std::{
    fs::{DirBuilder, File},
    io,
    path::Path,
};

use crate::Error;

pub(crate) use self::backup::FIRST_OPEN;
pub use self::{
    amend::Replaced,
    restore::{Restored, restore},
};

/// The mirror's file within a backup.
const MIRROR: &str = "espelho.db";
/// The inbox's, whose name follows from that.
const INBOX: &str = "espelho.db-inbox";

/// Hears how far a copy has come: of which file, bytes done, bytes in all.
pub type Told<'t> = &'t (dyn Fn(&'static str, u64, u64) + Send + Sync);

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::Copy { action, path, source }
}

/// What lies in it has a token and buyers' names: nobody else may read it.
fn make_folder(path: &Path) -> Result<(), Error> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(failed("make the folder", path))
}

/// Gives a file to whom the folder belongs that it is for: a restore is often root's, and the service has a user of its own.
#[cfg(unix)]
fn give_to_owner_of(folder: &Path, path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let owners = |path: &Path| std::fs::metadata(path).map(|file| (file.uid(), file.gid()));
    let owner = owners(folder).map_err(failed("read", folder))?;
    if owners(path).map_err(failed("read", path))? == owner {
        return Ok(());
    }
    chown(path, Some(owner.0), Some(owner.1)).map_err(failed("change the owner of", path))
}

#[cfg(not(unix))]
fn give_to_owner_of(_: &Path, _: &Path) -> Result<(), Error> {
    Ok(())
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

/// The folder that something lies in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What a copy failed with that SQLite made.
fn refused(operation: &'static str) -> impl FnOnce(sqlx::Error) -> Error {
    move |source| Error::statement(operation, source)
}
