//! Databases of tests.
//!
//! To migrate an empty database takes longer than most tests do. So a [`Template`] is migrated once, by the first test that
//! needs it, and each test works on a copy: of two files for SQLite, of a database on the server for PostgreSQL.
#![deny(missing_docs)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

pub mod server;

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

pub use server::ServerDatabase;

/// The files of a mirror in SQLite.
const FILES: [&str; 2] = ["espelho.db", "espelho.db-inbox"];

/// The sources of a template, below the workspace's root: the migrations, and the code that creates a file.
const SOURCES: [&str; 4] =
    ["migrations/sqlite", "migrations/sqlite/inbox", "migrations/postgres", "crates/store/src/connect"];

/// A mirror that is migrated once and copied for each test.
///
/// Tests that write different things while they migrate (the hour, say) need templates of different names.
pub struct Template<M> {
    name: String,
    migrate: M,
}

impl<M: AsyncFn(String)> Template<M> {
    /// `migrate` gets the address of an empty database, migrates it, and has closed it when it ends. `prefix` is
    /// lower-case letters and underscores.
    pub fn new(prefix: &str, migrate: M) -> Self {
        Self { name: format!("{prefix}_template_{:x}", hash_of_sources()), migrate }
    }

    /// Copies the files into `folder`, and returns the address of the first. The template stays in `kept_in`, which
    /// must be on the same file system for all tests: cargo's `CARGO_TARGET_TMPDIR`.
    pub async fn copy_files(&self, kept_in: &Path, folder: &Path) -> String {
        let template = kept_in.join(&self.name);
        if !template.is_dir() {
            let making = tempfile::tempdir_in(kept_in).unwrap();
            (self.migrate)(address_in(making.path())).await;
            // Another test may have made it meanwhile.
            let _ = std::fs::rename(making.path(), &template);
        }
        for name in FILES {
            std::fs::copy(template.join(name), folder.join(name)).unwrap();
        }
        address_in(folder)
    }

    /// Copies the database on the server of the tests.
    pub async fn copy_database(&self) -> ServerDatabase {
        ServerDatabase::copy_of(&self.name, &self.migrate).await
    }
}

/// The address of a mirror's first file in a folder.
pub fn address_in(folder: &Path) -> String {
    format!("sqlite:{}", folder.join(FILES[0]).display())
}

/// Another number for other migrations, or other code: a template of an earlier run is used only if they are the same.
fn hash_of_sources() -> u64 {
    let mut hasher = DefaultHasher::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in SOURCES.iter().flat_map(|folder| files_in(&root.join(folder))) {
        file.file_name().hash(&mut hasher);
        std::fs::read(file).unwrap().hash(&mut hasher);
    }
    hasher.finish()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.is_file()).collect();
    files.sort();
    files
}
