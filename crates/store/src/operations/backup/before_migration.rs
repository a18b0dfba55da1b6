//! The backup that is made before a migration: the way back to the version before.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use espelho_model::Clock;

use super::{ProgressFn, back_up, free_bytes, size};
use crate::{
    Error, Store,
    connect::{connect_checked, permissions::folder_of, schema_version},
    migrations::{SQLITE, SQLITE_INBOX},
};

/// Any row of these means that there is something to lose. A database whose first migrations were cut off may lack a table.
const ROWS: &[&str] = &[
    "SELECT 1 FROM stores LIMIT 1",
    "SELECT 1 FROM orders LIMIT 1",
    "SELECT 1 FROM products LIMIT 1",
    "SELECT 1 FROM erp_stock LIMIT 1",
    "SELECT 1 FROM erp_prices LIMIT 1",
    "SELECT 1 FROM commands LIMIT 1",
];

impl Store {
    /// Like [`Store::open`]. A SQLite mirror with rows that is to be migrated is first copied to
    /// `backups/espelho-TIME-before-VERSION` beside it; the path is returned too. On a server its own tools make backups.
    ///
    /// # Errors
    /// As [`Store::open`]; [`Error::NoRoom`] when the backup does not fit on the disk. Nothing is migrated then.
    pub async fn open_after_backup(
        url: &str,
        clock: Arc<dyn Clock>,
        progress: ProgressFn<'_>,
    ) -> Result<(Self, Option<PathBuf>), Error> {
        let store = connect_checked(url, clock).await?;
        let backup = match store.file() {
            Some(file) => before_migration(&store, file, progress).await?,
            None => None,
        };
        store.migrate_all().await?;
        Ok((store, backup))
    }
}

/// Makes the backup if migrations are pending and there are rows.
async fn before_migration(
    store: &Store,
    file: &Path,
    progress: ProgressFn<'_>,
) -> Result<Option<PathBuf>, Error> {
    let mut last_pending = None;
    for (database, migrator) in [(&store.inbox, &*SQLITE_INBOX), (&store.database, &*SQLITE)] {
        let pending = schema_version::migrations(database, migrator).await?.pending;
        last_pending = last_pending.max(pending.iter().map(|migration| migration.version).max());
    }
    let Some(version) = last_pending else { return Ok(None) };
    if !has_rows(store).await {
        return Ok(None);
    }
    let (folder, needed) = (folder_of(file), size(store).await?);
    let free = free_bytes(folder);
    if free < needed {
        return Err(Error::NoRoom { path: folder.display().to_string(), needed, free });
    }
    let now = store.clock.now().format("%Y%m%dT%H%M%SZ");
    let path = folder.join("backups").join(format!("espelho-{now}-before-{version:04}"));
    back_up(store, &path, progress).await?;
    Ok(Some(path))
}

async fn has_rows(store: &Store) -> bool {
    for sql in ROWS {
        let rows = store.database.fetch("look for rows", sql, Vec::new()).await;
        if rows.is_ok_and(|rows| !rows.is_empty()) {
            return true;
        }
    }
    false
}
