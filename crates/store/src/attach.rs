//! Opening a database that is there already, for those who only look at it: nothing is created or migrated.

use std::{path::Path, sync::Arc};

use espelho_model::Clock;
use sqlx::migrate::Migrator;

use crate::{
    Error, Store,
    connect::{beside, file_of, shown},
    driver::Database,
    migrations::{POSTGRES, SQLITE, SQLITE_INBOX},
};

pub(crate) const VERSION: &str = "SELECT max(version) FROM _sqlx_migrations";

impl Store {
    /// Opens a database as it is. A service of another version may be at work on it, so it is not migrated.
    ///
    /// # Errors
    /// [`Error::Missing`] where there is none, [`Error::Older`] or [`Error::Newer`] where it is not of this version.
    pub async fn attach(url: &str, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        if url.starts_with("sqlite:") {
            let file = file_of(url)?;
            // Opening would create them.
            if ![&file, &beside(&file, "-inbox")].into_iter().all(|path| Path::exists(path)) {
                return Err(Error::Missing { url: shown(url) });
            }
        }
        let store = Self::connect(url, clock).await?;
        let main = if store.file().is_some() { &SQLITE } else { &POSTGRES };
        check_version(&store.database, main).await?;
        if store.file().is_some() {
            check_version(&store.inbox, &SQLITE_INBOX).await?;
        }
        Ok(store)
    }
}

/// The version of its schema; 0 where nobody has migrated it.
pub(crate) async fn version(database: &Database) -> Result<i64, Error> {
    match database.fetch("read the schema's version", VERSION, Vec::new()).await {
        Ok(rows) => Ok(rows.first().map_or(Ok(None), |row| row.optional_int(0))?.unwrap_or(0)),
        // It has no such table then.
        Err(Error::Statement { source: sqlx::Error::Database(_), .. }) => Ok(0),
        Err(error) => Err(error),
    }
}

async fn check_version(database: &Database, migrator: &Migrator) -> Result<(), Error> {
    let wanted = migrator.iter().map(|migration| migration.version).max().unwrap_or(0);
    let found = version(database).await?;
    match found.cmp(&wanted) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => Err(Error::Older { found, wanted }),
        std::cmp::Ordering::Greater => Err(Error::Newer { found }),
    }
}
