//! Runs the pending migrations of a copy one by one, in the order in which opening it would.

use std::{collections::BTreeMap, future::Future, time::Duration};

use sqlx::migrate::{Migration, Migrator};

use super::catalog::{Catalog, SchemaChange};
use crate::{
    Error, SchemaDefect, Store,
    connect::{
        migrate, moved_tokens, not_migrated,
        schema_version::{self, Migrations},
    },
    driver::Database,
    migrations::{POSTGRES, SQLITE, SQLITE_INBOX},
};

/// The tables that this transaction keeps from being written, or from being read too.
pub(crate) const LOCKED: &str = "SELECT CAST(relname AS TEXT), \
    CASE WHEN bool_or(mode = 'AccessExclusiveLock') THEN 'everyone' ELSE 'writers' END \
    FROM pg_locks JOIN pg_class ON pg_class.oid = relation \
    WHERE pid = pg_backend_pid() AND locktype = 'relation' AND granted AND relkind IN ('r', 'p') \
    AND relnamespace = CAST(current_schema() AS regnamespace) \
    AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') \
    GROUP BY relname ORDER BY relname";

/// A part of the database with migrations of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Part {
    /// SQLite's first file.
    Mirror,
    /// SQLite's second file.
    Inbox,
    /// A server's database, which has everything.
    Database,
}

/// The fate of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum MigrationState {
    /// It ran.
    Done,
    /// It failed.
    Failed,
    /// One before it failed.
    NotRun,
}

/// The programs that wait for a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Stops {
    /// Those that write.
    Writers,
    /// Those that read or write.
    Everyone,
}

/// A table that a migration locks until its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedTable {
    /// The table; `*`: all tables of the file.
    pub table: String,
    /// The programs that wait.
    pub stops: Stops,
}

/// A pending migration and what it did to the copy.
#[derive(Debug)]
pub struct RehearsedMigration {
    /// Its number.
    pub version: i64,
    /// Its name.
    pub name: String,
    /// The part of the database that it changes.
    pub part: Part,
    /// Its fate.
    pub state: MigrationState,
    /// How long it took.
    pub took: Duration,
    /// The objects that it changes.
    pub changes: Vec<SchemaChange>,
    /// The tables that it locks.
    pub locks: Vec<LockedTable>,
    /// The reason why it failed.
    pub error: Option<Error>,
}

/// The rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRows {
    /// The part of the database.
    pub part: Part,
    /// The table.
    pub table: String,
    /// Its rows before; `None`: it is new.
    pub before: Option<u64>,
    /// Its rows after; `None`: it was dropped.
    pub after: Option<u64>,
}

/// The result of all migrations.
pub(super) struct Applied {
    pub(super) migrations: Vec<RehearsedMigration>,
    pub(super) tables: Vec<TableRows>,
    pub(super) mended: Vec<SchemaDefect>,
    /// The largest size after a migration.
    pub(super) most_bytes: u64,
}

/// The parts of a database with their migrations, in the order in which opening migrates them.
pub(super) fn parts(store: &Store) -> Vec<(Part, &Database, &'static Migrator)> {
    match store.file() {
        Some(_) => {
            vec![(Part::Inbox, &store.inbox, &*SQLITE_INBOX), (Part::Mirror, &store.database, &*SQLITE)]
        }
        None => vec![(Part::Database, &store.database, &*POSTGRES)],
    }
}

/// Runs the pending migrations of all parts; the first that fails is the last.
pub(super) async fn run_all<S>(store: &Store, mut size: impl FnMut() -> S) -> Result<Applied, Error>
where
    S: Future<Output = Result<u64, Error>>,
{
    let mut all = Applied { migrations: Vec::new(), tables: Vec::new(), mended: Vec::new(), most_bytes: 0 };
    let mut before = Vec::new();
    for (part, database, _) in parts(store) {
        before.push((part, database, rows(database).await?));
    }
    let mut has_failed = false;
    for (part, database, migrator) in parts(store) {
        if part == Part::Mirror && !has_failed {
            moved_tokens::move_tokens(database, &store.inbox).await?;
        }
        let Migrations { mut applied, pending } = schema_version::migrations(database, migrator).await?;
        for migration in pending {
            applied.push(migration);
            let step = match has_failed {
                true => step(migration, part, MigrationState::NotRun),
                false => run(store, (part, database), migration, &applied).await?,
            };
            has_failed |= step.error.is_some();
            all.migrations.push(step);
            all.most_bytes = all.most_bytes.max(size().await?);
        }
    }
    if !has_failed {
        all.mended = store.mend_schema().await?;
    }
    for (part, database, before) in before {
        all.tables.extend(compared(part, &before, &rows(database).await?));
    }
    Ok(all)
}

fn step(migration: &Migration, part: Part, state: MigrationState) -> RehearsedMigration {
    let (version, name) = (migration.version, migration.description.to_string());
    let (took, changes, locks) = (Duration::ZERO, Vec::new(), Vec::new());
    RehearsedMigration { version, name, part, state, took, changes, locks, error: None }
}

/// Runs one migration beside those that the database has already.
async fn run(
    store: &Store,
    (part, database): (Part, &Database),
    migration: &Migration,
    known: &[&Migration],
) -> Result<RehearsedMigration, Error> {
    let before = Catalog::read(database).await?;
    let migrator = Migrator::with_migrations(known.iter().map(|&migration| migration.clone()).collect());
    let began = store.clock.monotonic();
    let ran = match database {
        Database::Sqlite { .. } => on_file(database, &migrator).await,
        Database::Postgres(_) => on_server(database, &migrator).await,
    };
    let took = store.clock.monotonic().saturating_sub(began);
    Ok(match ran {
        Ok(mut locks) => {
            let changes = before.changes_to(&Catalog::read(database).await?);
            // Nobody waits for a table that nobody knows yet.
            locks.retain(|lock| lock.table == "*" || before.has_table(&lock.table));
            RehearsedMigration { took, changes, locks, ..step(migration, part, MigrationState::Done) }
        }
        Err(error) => {
            RehearsedMigration { took, error: Some(error), ..step(migration, part, MigrationState::Failed) }
        }
    })
}

/// SQLite has one writer for a file, and readers see the file as it was before.
async fn on_file(database: &Database, migrator: &Migrator) -> Result<Vec<LockedTable>, Error> {
    migrate(database, migrator).await?;
    Ok(vec![LockedTable { table: "*".to_owned(), stops: Stops::Writers }])
}

async fn on_server(database: &Database, migrator: &Migrator) -> Result<Vec<LockedTable>, Error> {
    let mut tx = database.begin().await?;
    tx.migrate(migrator).await.map_err(not_migrated)?;
    let rows = tx.fetch("read the locks", LOCKED.to_owned(), Vec::new()).await?;
    tx.commit().await?;
    let lock = |row: &crate::driver::Row| {
        let stops = row.text(1)?.parse().unwrap_or(Stops::Everyone);
        Ok(LockedTable { table: row.foreign_text(0)?, stops })
    };
    rows.iter().map(lock).collect()
}

/// Counts the rows of every table.
async fn rows(database: &Database) -> Result<BTreeMap<String, u64>, Error> {
    let catalog = Catalog::read(database).await?;
    let mut counts = BTreeMap::new();
    for table in catalog.tables() {
        let sql = format!("SELECT count(*) FROM \"{}\"", table.replace('"', "\"\""));
        let mut tx = database.begin().await?;
        let rows = tx.fetch("count the rows", sql, Vec::new()).await?;
        tx.commit().await?;
        counts.insert(table.to_owned(), rows.first().map_or(Ok(0), |row| row.count(0))?);
    }
    Ok(counts)
}

fn compared(part: Part, before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> Vec<TableRows> {
    let new = after.keys().filter(|table| !before.contains_key(*table));
    let line = |table: &String| TableRows {
        part,
        table: table.clone(),
        before: before.get(table).copied(),
        after: after.get(table).copied(),
    };
    before.keys().chain(new).map(line).collect()
}
