//! Whether the files of a SQLite mirror are still the ones that this process has open.
//!
//! A file that was deleted or replaced takes writes as before: they go to a file that nobody can open any more. SQLite
//! does not notice. So its device and inode are compared with those at the opening.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::{Access, access};

use crate::{Error, Store, connect::address::beside};

/// What happened to a file that is open.
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

    /// Whether what is written now is lost with this process.
    pub fn loses_writes(&self) -> bool {
        !matches!(self, Self::ReadOnly(_))
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
            let is_read_only = |path: &&PathBuf| {
                let refused = access(path.as_path(), Access::WRITE_OK).err();
                refused.is_some_and(|error| {
                    [rustix::io::Errno::ROFS, rustix::io::Errno::ACCESS].contains(&error)
                })
            };
            self.0.iter().map(|(path, ..)| path).find(is_read_only).cloned().map(FileTrouble::ReadOnly)
        };
        moved.or_else(read_only)
    }
}

impl Store {
    /// What happened to the files of a SQLite mirror since they were opened; `None` on PostgreSQL.
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

/// What is between the name of the mirror and the time, in the name of a saved copy.
pub(crate) const SAVED: &str = "-saved-";

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt as _, process::Command};

    use super::*;

    /// Closes the files to writing: by their mode, which root does not mind, or by their file system, which only root
    /// may mount.
    fn close_to_writing(folder: &Path, files: [&Path; 2]) -> bool {
        if !rustix::process::geteuid().is_root() {
            files
                .iter()
                .for_each(|file| fs::set_permissions(file, fs::Permissions::from_mode(0o444)).unwrap());
            return true;
        }
        let done = Command::new("mount").args(["-o", "remount,ro"]).arg(folder).status();
        done.is_ok_and(|done| done.success())
    }

    #[test]
    fn a_file_that_became_read_only_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let mount = || {
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder.path()).status()
        };
        if is_root && !mount().is_ok_and(|done| done.success()) {
            eprintln!("not shown here: this root may not mount a disk");
            return;
        }
        let file = folder.path().join("espelho.db");
        let inbox = beside(&file, "-inbox");
        for path in [&file, &inbox] {
            fs::write(path, "").unwrap();
        }
        let opened = OpenedFiles::of(&file).unwrap();
        assert_eq!(opened.trouble(), None);
        let closed = close_to_writing(folder.path(), [&file, &inbox]);
        let trouble = opened.trouble();
        if is_root {
            let _ = Command::new("umount").arg(folder.path()).status();
        }
        assert!(closed);
        assert_eq!(trouble, Some(FileTrouble::ReadOnly(file)));
        assert!(!trouble.unwrap().loses_writes());
    }
}
