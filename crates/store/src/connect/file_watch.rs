//! Notices that the files of a SQLite mirror are no longer the ones that this process has open.
//!
//! A file that was deleted or replaced takes writes as before: they go to a file that nobody can open any more. SQLite
//! does not notice. So its device and inode are compared with those at the opening.

use std::{
    fmt, fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{Access, access},
    io::Errno,
};

use crate::{Error, Store, connect::address::beside};

/// The trouble with a file that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileTrouble {
    /// There is no file of that name any more.
    Gone(PathBuf),
    /// Another file has its name.
    Replaced(PathBuf),
    /// It may not be written to, or its file system is read-only.
    ReadOnly(PathBuf),
}

impl FileTrouble {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Gone(path) | Self::Replaced(path) | Self::ReadOnly(path) => path,
        }
    }

    /// Tells whether writes are lost with this process.
    pub fn loses_writes(&self) -> bool {
        !matches!(self, Self::ReadOnly(_))
    }
}

impl fmt::Display for FileTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path().display();
        match self {
            Self::Gone(_) => write!(f, "{path} was deleted"),
            Self::Replaced(_) => write!(f, "{path} was replaced by another file"),
            Self::ReadOnly(_) => write!(f, "{path} is read-only"),
        }
    }
}

/// The files at their opening: path, device, inode.
#[derive(Clone, Debug)]
pub(crate) struct OpenedFiles(Arc<[(PathBuf, u64, u64)]>);

impl OpenedFiles {
    /// Takes down the identity of the two files of a mirror.
    pub(crate) fn of(database: &Path) -> io::Result<Self> {
        let of = |path: PathBuf| fs::metadata(&path).map(|file| (path, file.dev(), file.ino()));
        Ok(Self([of(database.to_path_buf())?, of(beside(database, "-inbox"))?].into()))
    }

    fn trouble(&self) -> Option<FileTrouble> {
        let moved = self.0.iter().find_map(|(path, device, inode)| match fs::metadata(path) {
            Ok(file) if (file.dev(), file.ino()) == (*device, *inode) => None,
            Ok(_) => Some(FileTrouble::Replaced(path.clone())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(FileTrouble::Gone(path.clone())),
            // A folder that cannot be searched for the moment says nothing of the file.
            Err(_) => None,
        });
        let read_only = || {
            let is_read_only =
                |path: &&PathBuf| access(path.as_path(), Access::WRITE_OK).err().is_some_and(is_refusal);
            self.0.iter().map(|(path, ..)| path).find(is_read_only).cloned().map(FileTrouble::ReadOnly)
        };
        moved.or_else(read_only)
    }
}

/// Tells whether an error of `access` means that the file takes no writes; another one says nothing of it.
fn is_refusal(error: Errno) -> bool {
    [Errno::ROFS, Errno::ACCESS].contains(&error)
}

impl Store {
    /// The trouble with the files of a SQLite mirror since they were opened; `None` on PostgreSQL.
    pub fn file_trouble(&self) -> Option<FileTrouble> {
        self.opened.as_ref()?.trouble()
    }
}

/// Refuses to make a new mirror where one has left something: somebody deleted or moved its file.
///
/// # Errors
/// [`Error::Vanished`], with the copy that the last service saved, if it did.
pub(crate) fn refuse_vanished(database: &Path) -> Result<(), Error> {
    if database.exists() {
        return Ok(());
    }
    let saved = saved_copies(database).pop();
    let has_inbox = fs::metadata(beside(database, "-inbox")).is_ok_and(|inbox| inbox.len() > 0);
    match saved.is_some() || has_inbox {
        true => Err(Error::Vanished { file: database.display().to_string(), saved }),
        false => Ok(()),
    }
}

/// The copies that services saved when they lost their file, the oldest first.
fn saved_copies(database: &Path) -> Vec<String> {
    let folder = super::permissions::folder_of(database);
    let Some(prefix) = beside(database, SAVED).file_name().map(|name| name.to_string_lossy().into_owned())
    else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_copy = |name: &str| name.starts_with(&prefix) && !name.ends_with(".partial");
    let mut copies: Vec<String> = entries
        .filter(|entry| is_copy(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path().display().to_string())
        .collect();
    copies.sort();
    copies
}

/// The part between the name of the mirror and the time, in the name of a saved copy.
pub(crate) const SAVED: &str = "-saved-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_write_is_told_from_an_error_that_says_nothing() {
        for (error, expected) in
            [(Errno::ROFS, true), (Errno::ACCESS, true), (Errno::NOENT, false), (Errno::IO, false)]
        {
            assert_eq!(is_refusal(error), expected, "{error:?}");
        }
    }

    #[test]
    fn a_deleted_and_a_replaced_file_are_told_by_their_identity() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("espelho.db");
        let inbox = beside(&file, "-inbox");
        for path in [&file, &inbox] {
            fs::write(path, "").unwrap();
        }
        // Before the removal: a removed file that nobody has open may leave its number to the next one.
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        let opened = OpenedFiles::of(&file).unwrap();
        assert_eq!(opened.trouble(), None);
        fs::remove_file(&inbox).unwrap();
        assert_eq!(opened.trouble(), Some(FileTrouble::Gone(inbox.clone())));
        fs::rename(&other, &inbox).unwrap();
        let trouble = opened.trouble().unwrap();
        assert!(trouble.loses_writes());
        assert_eq!(trouble.to_string(), format!("{} was replaced by another file", inbox.display()));
        assert!(!FileTrouble::ReadOnly(file).loses_writes());
    }
}
