//! The folder of label files: a subfolder for each store. A file gets its name only when it is complete on disk.
//!
//! A file is written under a temporary name, synced, renamed, and its folder synced. Names are fingerprints: no text
//! of the marketplace becomes part of a path. Folders are opened once and files relative to them, so that no link
//! can come in between.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::fd::{AsFd as _, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use espelho_model::{ContentHash, LabelId, StoreKey};
use rustix::fs::{AtFlags, Mode, OFlags};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use crate::connect::permissions::{create_private_folder, hand_over};

/// The prefix of unfinished files.
const UNFINISHED: &str = ".unfinished-";
/// Pieces are buffered up to this size before a write.
const GATHERED: usize = 256 << 10;
/// Hexadecimal digits of a file's name.
const DIGITS: usize = 40;

/// The folder of all stores' labels.
#[derive(Clone, Debug)]
pub struct LabelFolder {
    path: PathBuf,
    /// The folder as the configuration names it: the prefix of the paths in the database.
    shown: String,
}

/// A file in progress; dropping it unfinished removes it.
pub struct Draft {
    folder: Arc<OwnedFd>,
    file: File,
    unfinished: Option<String>,
    gathered: Vec<u8>,
    digest: Sha256,
    size: u64,
}

/// A finished file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its bytes.
    pub size: u64,
    /// Their SHA-256, in hexadecimal.
    pub sha256: String,
}

impl LabelFolder {
    /// The folder `directory` within the state directory. The first file creates it.
    pub fn new(state: &Path, directory: &str) -> Self {
        Self { path: state.join(directory), shown: directory.trim_end_matches('/').to_owned() }
    }

    /// Writes a file into the folder of a store and removes it; `false` if there is no such folder yet. Does not
    /// create the folder, because the caller may be another user than the service.
    ///
    /// # Errors
    /// When the folder is not writable.
    pub async fn prove_write(&self, store: &StoreKey) -> io::Result<bool> {
        match fs::symlink_metadata(self.path.join(store.as_str())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            _ => self.draft(store, "doctor").await.map(|_draft| true),
        }
    }

    /// The name of a label's file: the same for the same state of a label, another for any other state.
    pub fn name(label: &LabelId, version: ContentHash, extension: &'static str) -> String {
        let mut digest = Sha256::new();
        digest.update(version.as_i64().to_le_bytes());
        digest.update(label.as_str().as_bytes());
        let name = hex::encode(digest.finalize());
        format!("{}.{extension}", &name[..DIGITS])
    }

    /// The path of a file as the database records it.
    pub fn shown(&self, store: &StoreKey, name: &str) -> String {
        format!("{}/{store}/{name}", self.shown)
    }

    /// Starts a file.
    ///
    /// # Errors
    /// When the folder cannot be created or written to.
    pub async fn draft(&self, store: &StoreKey, name: &str) -> io::Result<Draft> {
        let (path, store, name) = (self.path.clone(), store.clone(), name.to_owned());
        blocking(move || {
            let folder = open_folder(&path, &store)?;
            let unfinished = format!("{UNFINISHED}{name}");
            // A killed process may have left one.
            let _ = rustix::fs::unlinkat(&folder, &unfinished, AtFlags::empty());
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = File::from(rustix::fs::openat(&folder, &unfinished, flags, Mode::from(0o640))?);
            hand_over(&path.join(store.as_str()).join(&unfinished))?;
            let (folder, unfinished) = (Arc::new(folder), Some(unfinished));
            Ok(Draft { folder, file, unfinished, gathered: Vec::new(), digest: Sha256::new(), size: 0 })
        })
        .await
    }

    /// Removes unfinished files; returns the names of the finished ones.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub async fn tidy(&self, store: &StoreKey) -> io::Result<Vec<String>> {
        let folder = self.path.join(store.as_str());
        blocking(move || {
            let entries = match fs::read_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                entries => entries?,
            };
            let mut names = Vec::new();
            for entry in entries {
                let name = entry?.file_name().to_string_lossy().into_owned();
                if name.starts_with(UNFINISHED) {
                    fs::remove_file(folder.join(&name))?;
                } else if is_ours(&name) {
                    names.push(name);
                }
            }
            Ok(names)
        })
        .await
    }

    /// Removes files by the paths of [`LabelFolder::shown`]. Skips files that are missing or lie elsewhere.
    ///
    /// # Errors
    /// When a file exists and cannot be removed.
    pub async fn remove(&self, store: &StoreKey, files: &[String]) -> io::Result<()> {
        let prefix = self.shown(store, "");
        let names: Vec<String> =
            files.iter().filter_map(|file| file.strip_prefix(&prefix)).map(str::to_owned).collect();
        let folder = self.path.join(store.as_str());
        blocking(move || {
            for name in names.iter().filter(|name| is_ours(name)) {
                match fs::remove_file(folder.join(name)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => (),
                }
            }
            Ok(())
        })
        .await
    }
}

impl Draft {
    /// Writes a piece, which may stay in the buffer.
    ///
    /// # Errors
    /// When the disk is full or fails.
    pub async fn write(mut self, piece: &[u8]) -> io::Result<Self> {
        self.gathered.extend_from_slice(piece);
        if self.gathered.len() < GATHERED {
            return Ok(self);
        }
        blocking(move || {
            self.flush()?;
            Ok(self)
        })
        .await
    }

    /// Writes the file to the disk, and only then renames it.
    ///
    /// # Errors
    /// When the disk is full or fails; then the name is free or still has the previous file.
    pub async fn finish(mut self, name: &str) -> io::Result<Finished> {
        let name = name.to_owned();
        blocking(move || {
            self.flush()?;
            self.file.sync_all()?;
            if let Some(unfinished) = &self.unfinished {
                rustix::fs::renameat(&self.folder, unfinished, &self.folder, &name)?;
            }
            self.unfinished = None;
            rustix::fs::fsync(self.folder.as_fd())?;
            Ok(Finished { size: self.size, sha256: hex::encode(self.digest.clone().finalize()) })
        })
        .await
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.gathered)?;
        self.digest.update(&self.gathered);
        self.size += u64::try_from(self.gathered.len()).unwrap_or(u64::MAX);
        self.gathered.clear();
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(unfinished) = &self.unfinished {
            // The next start removes what remains.
            let _ = rustix::fs::unlinkat(&self.folder, unfinished, AtFlags::empty());
        }
    }
}

/// Whether [`LabelFolder::name`] makes such names.
fn is_ours(name: &str) -> bool {
    name.split_once('.').is_some_and(|(digits, extension)| {
        digits.len() == DIGITS
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !extension.is_empty()
            && extension.bytes().all(|byte| byte.is_ascii_lowercase())
    })
}

/// The folder of a store, created if missing; never through a link.
fn open_folder(path: &Path, store: &StoreKey) -> io::Result<OwnedFd> {
    // If the operator has created the folder, its mode decides who may read in it.
    create_private_folder(path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let all = rustix::fs::open(path, flags, Mode::empty())?;
    match rustix::fs::mkdirat(&all, store.as_str(), Mode::from(0o750)) {
        Ok(()) => {
            hand_over(&path.join(store.as_str()))?;
            rustix::fs::fsync(&all)?;
        }
        Err(rustix::io::Errno::EXIST) => (),
        Err(error) => return Err(error.into()),
    }
    Ok(rustix::fs::openat(&all, store.as_str(), flags | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Runs disk work on a blocking thread. The work completes even if the caller is cancelled.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
#[path = "label_folder_tests.rs"]
mod tests;
