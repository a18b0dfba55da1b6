//! Rehearses the pending migrations on a copy of the database: what each of them changes, how long it takes, whom it keeps
//! waiting, and which rows are there afterwards. The database itself is only read.
//!
//! `file_copy` and `server_copy` make the copy and remove it, `catalog` compares schemas, `steps` runs the migrations one
//! by one.

mod catalog;
mod file_copy;
pub(crate) mod server_copy;
pub(crate) mod steps;

use std::{future::Future, sync::Arc, time::Duration};

use espelho_model::Clock;

use self::{
    file_copy::FileCopy,
    server_copy::ServerCopy,
    steps::{Applied, parts, run_all},
};
use super::backup::{ProgressFn, open_to_copy};
use crate::{
    Error, SchemaDefect, Store,
    connect::{connect, schema_version},
};

pub use self::{
    catalog::{ChangeKind, SchemaChange},
    steps::{LockedTable, MigrationState, Part, RehearsedMigration, Stops, TableRows},
};

/// The way in which a copy was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CopyWay {
    /// As a backup of the files.
    Backup,
    /// By the server itself, while nobody else was connected.
    Template,
    /// By `pg_dump` and `pg_restore`.
    Dump,
}

/// The copy on which the migrations were rehearsed. It is removed.
#[derive(Clone, Copy, Debug)]
pub struct RehearsalCopy {
    /// The way in which it was made.
    pub way: CopyWay,
    /// Its size before the migrations.
    pub bytes: u64,
    /// Its largest size while they ran.
    pub most_bytes: u64,
    /// How long it took to make it.
    pub took: Duration,
}

/// The result of a rehearsal.
#[derive(Debug)]
pub struct Rehearsal {
    /// The copy; `None`: no migration is pending, and none was made.
    pub copy: Option<RehearsalCopy>,
    /// The pending migrations, in the order in which they run.
    pub migrations: Vec<RehearsedMigration>,
    /// The rows of every table, before and after.
    pub tables: Vec<TableRows>,
    /// Objects that are not as the migrations made them, and that opening the database makes again.
    pub mended: Vec<SchemaDefect>,
    /// The free bytes of the database's disk; `None` for a server, whose disk is not ours.
    pub free_bytes: Option<u64>,
}

impl Rehearsal {
    /// The migration that failed, if one did. Those after it did not run.
    pub fn failed(&self) -> Option<&RehearsedMigration> {
        self.migrations.iter().find(|migration| migration.error.is_some())
    }

    /// The tables that have fewer rows afterwards. A table that a migration drops is not among them: the migration's
    /// changes name it.
    pub fn with_fewer_rows(&self) -> impl Iterator<Item = &TableRows> {
        self.tables.iter().filter(|table| table.after.is_some_and(|after| after < table.before.unwrap_or(0)))
    }

    /// How long the migrations took together.
    pub fn migrated_in(&self) -> Duration {
        self.migrations.iter().map(|migration| migration.took).sum()
    }
}

/// Rehearses the pending migrations of the database at `url`. Others may use it meanwhile. Returns `None` if `stop`
/// resolves first; the copy is removed in any case.
///
/// # Errors
/// [`Error::Missing`] when there is no database, [`Error::Newer`] when a newer espelho has migrated it, [`Error::NoRoom`]
/// and [`Error::NoCopy`] when it cannot be copied. A migration that fails is no error of the rehearsal.
pub async fn rehearse(
    url: &str,
    clock: Arc<dyn Clock>,
    progress: ProgressFn<'_>,
    stop: impl Future<Output = ()>,
) -> Result<Option<Rehearsal>, Error> {
    let original = match url.starts_with("sqlite:") {
        true => open_to_copy(url, Arc::clone(&clock)).await?,
        false => connect(url, Arc::clone(&clock)).await?,
    };
    let mut is_current = true;
    for (_, database, migrator) in parts(&original) {
        is_current &= schema_version::migrations(database, migrator).await?.pending.is_empty();
    }
    if is_current {
        original.close().await;
        let none = (None, Vec::new(), Vec::new(), Vec::new(), None);
        let (copy, migrations, tables, mended, free_bytes) = none;
        return Ok(Some(Rehearsal { copy, migrations, tables, mended, free_bytes }));
    }
    let began = clock.monotonic();
    match original.file() {
        Some(_) => on_files(&original, &clock, progress, (stop, began)).await,
        None => {
            original.close().await;
            on_server(url, &clock, (stop, began)).await
        }
    }
}

async fn on_files(
    original: &Store,
    clock: &Arc<dyn Clock>,
    progress: ProgressFn<'_>,
    (stop, began): (impl Future<Output = ()>, Duration),
) -> Result<Option<Rehearsal>, Error> {
    // Its folder goes with it.
    let copy = FileCopy::begin(original).await?;
    let free_bytes = Some(copy.free_bytes());
    let work = async {
        let store = copy.open(original, progress).await?;
        let (bytes, took) = (copy.bytes(), clock.monotonic().saturating_sub(began));
        let applied = run_all(&store, || std::future::ready(Ok(copy.bytes()))).await;
        store.close().await;
        let Applied { migrations, tables, mended, most_bytes } = applied?;
        let most_bytes = most_bytes.max(copy.largest());
        let made = RehearsalCopy { way: CopyWay::Backup, bytes, most_bytes, took };
        Ok(Rehearsal { copy: Some(made), migrations, tables, mended, free_bytes })
    };
    tokio::select! {
        done = work => {
            original.close().await;
            done.map(Some)
        }
        () = copy.watch(clock) => Ok(None),
        // The original is not closed, because its reader may be busy for long: the process ends.
        () = stop => Ok(None),
    }
}

async fn on_server(
    url: &str,
    clock: &Arc<dyn Clock>,
    (stop, began): (impl Future<Output = ()>, Duration),
) -> Result<Option<Rehearsal>, Error> {
    let copy = ServerCopy::begin(url).await?;
    let work = async {
        let (way, store) = copy.open(clock).await?;
        let bytes = server_copy::size(&store).await?;
        let took = clock.monotonic().saturating_sub(began);
        let applied = run_all(&store, || server_copy::size(&store)).await;
        store.close().await;
        let Applied { migrations, tables, mended, most_bytes } = applied?;
        let made = RehearsalCopy { way, bytes, most_bytes, took };
        Ok(Rehearsal { copy: Some(made), migrations, tables, mended, free_bytes: None })
    };
    let done = tokio::select! {
        done = work => done.map(Some),
        () = stop => Ok(None),
    };
    let removed = copy.remove().await;
    let done = done?;
    removed.map(|()| done)
}
