//! The version of a database's schema.

use sqlx::migrate::{Migration, Migrator};

use crate::{Error, driver::Database};

pub(crate) const VERSION: &str = "SELECT max(version) FROM _sqlx_migrations";
pub(crate) const APPLIED: &str = "SELECT version FROM _sqlx_migrations";

/// The version of the schema; 0 before the first migration.
pub(crate) async fn version(database: &Database) -> Result<i64, Error> {
    match database.fetch("read the schema's version", VERSION, Vec::new()).await {
        Ok(rows) => Ok(rows.first().map_or(Ok(None), |row| row.optional_int(0))?.unwrap_or(0)),
        // An unmigrated database has no such table.
        Err(Error::Statement { source: sqlx::Error::Database(_), .. }) => Ok(0),
        Err(error) => Err(error),
    }
}

/// Refuses a database whose schema is not of this version.
pub(crate) async fn check(database: &Database, migrator: &Migrator) -> Result<(), Error> {
    let wanted = migrator.iter().map(|migration| migration.version).max().unwrap_or(0);
    let found = version(database).await?;
    match found.cmp(&wanted) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => Err(Error::Older { found, wanted }),
        std::cmp::Ordering::Greater => Err(Error::Newer { found }),
    }
}

/// The migrations of a database: those that it has, and those that it lacks, each in their order.
pub(crate) struct Migrations<'m> {
    pub(crate) applied: Vec<&'m Migration>,
    pub(crate) pending: Vec<&'m Migration>,
}

/// Compares a database with the migrations of this version.
///
/// # Errors
/// [`Error::Newer`] when it has one that this version does not know.
pub(crate) async fn migrations<'m>(
    database: &Database,
    migrator: &'m Migrator,
) -> Result<Migrations<'m>, Error> {
    let rows = match version(database).await? {
        0 => Vec::new(),
        _ => database.fetch("read the schema's versions", APPLIED, Vec::new()).await?,
    };
    let found: Vec<i64> = rows.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
    if let Some(&found) = found.iter().find(|version| !migrator.version_exists(**version)) {
        return Err(Error::Newer { found });
    }
    let (applied, pending) = migrator.iter().partition(|migration| found.contains(&migration.version));
    Ok(Migrations { applied, pending })
}
