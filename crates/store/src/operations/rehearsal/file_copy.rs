//! A copy of a SQLite mirror in a folder beside it, made as a backup is.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use espelho_model::Clock;

use super::super::backup::{MIRROR, ProgressFn, back_up, begin_draft, free_bytes, size};
use crate::{
    Error, Store,
    connect::{address::beside, connect_file, permissions::folder_of},
};

/// The interval between two looks at the size.
const LOOK: Duration = Duration::from_millis(100);
/// A copy takes as much room as the database, and a migration that rewrites it as much again, for its log.
const TIMES: u64 = 3;
/// How often the removal of the folder is tried.
const ATTEMPTS: u32 = 100;

/// A folder beside the database, which goes with this value.
pub(super) struct FileCopy {
    folder: PathBuf,
    largest: AtomicU64,
    /// Locked, so that no other rehearsal takes it for one that was left over.
    _ours: File,
}

impl FileCopy {
    /// Makes the folder; one that a killed rehearsal has left is cleared away.
    pub(super) async fn begin(original: &Store) -> Result<Self, Error> {
        let file = original.file().unwrap_or(Path::new(""));
        let free = free_bytes(folder_of(file));
        let needed = size(original).await?.saturating_mul(TIMES);
        if free < needed {
            let path = folder_of(file).display().to_string();
            return Err(Error::NoRoom { path, needed, free });
        }
        let folder = beside(file, "-rehearsal");
        let ours = begin_draft(&folder)?;
        Ok(Self { folder, largest: AtomicU64::new(0), _ours: ours })
    }

    /// Copies the mirror into the folder, and opens the copy without migrating it.
    pub(super) async fn open(&self, original: &Store, progress: ProgressFn<'_>) -> Result<Store, Error> {
        let copy = self.folder.join("copy");
        back_up(original, &copy, progress).await?;
        connect_file(&copy.join(MIRROR), Arc::clone(&original.clock)).await
    }

    /// The bytes that the copy takes on the disk.
    pub(super) fn bytes(&self) -> u64 {
        let files = std::fs::read_dir(self.folder.join("copy")).into_iter().flatten().flatten();
        let bytes = files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
        self.largest.fetch_max(bytes, Relaxed);
        bytes
    }

    pub(super) fn largest(&self) -> u64 {
        self.largest.load(Relaxed)
    }

    /// The free bytes of its disk.
    pub(super) fn free_bytes(&self) -> u64 {
        free_bytes(&self.folder)
    }

    /// Looks at the size again and again, for ever.
    pub(super) async fn watch(&self, clock: &Arc<dyn Clock>) {
        loop {
            self.bytes();
            clock.sleep(LOOK).await;
        }
    }
}

impl Drop for FileCopy {
    fn drop(&mut self) {
        // A migration that was stopped may still make a file while its folder is being emptied.
        let mut left = Ok(());
        for _ in 0..ATTEMPTS {
            left = std::fs::remove_dir_all(&self.folder);
            if left.is_ok() {
                return;
            }
        }
        if let Err(error) = left {
            tracing::warn!(folder = %self.folder.display(), %error, "the copy of the rehearsal cannot be removed");
        }
    }
}
