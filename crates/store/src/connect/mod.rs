//! Opening the database: connections, settings, migrations.

pub(crate) mod address;
pub(crate) mod checkpoints;
pub(crate) mod file_watch;
pub(crate) mod integrity_checks;
pub(crate) mod moved_tokens;
pub(crate) mod permissions;
pub(crate) mod schema_version;

use std::{
    error::Error as _,
    fs::File,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use espelho_model::{Clock, privacy::Privacy, text::Locale};
use sqlx::{
    ConnectOptions as _, Connection as _, Row as _, Sqlite,
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::Semaphore;

use self::{
    address::{beside, file_of, shown, sqlite_options},
    checkpoints::{Checkpoints, WRITER_CHECKPOINTS},
    file_watch::{OpenedFiles, refuse_vanished},
};
use crate::{
    Error,
    driver::{Database, QueuedPool},
    error::UNKNOWN_SCHEME,
    inbox::waiting_stores::WaitingStores,
    migrations::{POSTGRES, SQLITE, SQLITE_INBOX},
    notifications::Notifications,
    operations::backup::open_lock,
    ownership::locks::Locks,
};

/// How long a statement may wait for its turn at the connections. When thousands of stores start together, the last one
/// waits for all others, which is no fault.
pub(crate) const IN_LINE: Duration = Duration::from_secs(120);
/// How long whoever has the turn waits for a server that refuses connections, or does not answer. All others stand behind
/// it, and in a line that stands still for a minute all are stalled ([`espelho_model::watch::Line`]).
const CONNECTING: Duration = Duration::from_secs(30);
/// The same for the inbox: the marketplace waits for the answer.
const INBOX: Duration = Duration::from_secs(5);
/// How many may count many rows at once. In a large shop that takes seconds, and a page that only looks something up needs
/// one of the four connections that read a SQLite file.
const COUNTING: usize = 2;

/// The mirror's database, open and migrated. Cheap to clone. Each concern has a small handle ([`Store::mirror`],
/// [`Store::journal`] …). This type itself only opens, closes and begins writes.
#[derive(Clone)]
pub struct Store {
    pub(crate) database: Database,
    /// The inbox: on SQLite a second file, on PostgreSQL the same database over connections of its own.
    pub(crate) inbox: Database,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) locks: Locks,
    /// The notifications for other processes.
    pub(crate) notifications: Arc<Notifications>,
    /// The last look at which stores have open deliveries.
    pub(crate) waiting: Arc<WaitingStores>,
    /// The policy for people's data.
    pub(crate) privacy: Arc<Privacy>,
    /// The language and time zone in which the words on rows are read; without them as they were written.
    pub(crate) reader: Option<Locale>,
    /// The turns of those that count many rows; see [`COUNTING`].
    pub(crate) counting: Arc<Semaphore>,
    /// On SQLite: checkpoints the mirror's WAL.
    checkpoints: Option<Arc<Checkpoints>>,
    /// The identity of a SQLite mirror's files when they were opened.
    opened: Option<OpenedFiles>,
    /// On SQLite: no restore can replace these files while this lock is held.
    _in_use: Option<Arc<File>>,
}

impl Store {
    /// Opens `url` (`sqlite:PATH` or `postgres://…`), creates a SQLite file if there is none, runs the migrations that
    /// are missing, and creates again what somebody dropped of their triggers, views and indexes.
    ///
    /// # Errors
    /// When the address is not usable, the database cannot be opened, or a newer espelho has migrated it.
    pub async fn open(url: &str, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let store = connect_checked(url, clock).await?;
        store.migrate_all().await?;
        Ok(store)
    }

    /// Runs the migrations that are missing, and creates again what somebody dropped.
    pub(crate) async fn migrate_all(&self) -> Result<(), Error> {
        let Some(file) = self.file() else {
            migrate(&self.database, &POSTGRES).await?;
            mend_schema(self).await;
            return Ok(());
        };
        migrate(&self.inbox, &SQLITE_INBOX).await?;
        moved_tokens::move_tokens(&self.database, &self.inbox).await?;
        migrate(&self.database, &SQLITE).await?;
        moved_tokens::share_with_group(file, &self.database).await?;
        mend_schema(self).await;
        Ok(())
    }

    /// Like [`Store::open`], also where a mirror has left its inbox, or the copy that a service saved of it.
    ///
    /// # Errors
    /// As [`Store::open`]; when the file cannot be made.
    pub async fn open_anew(url: &str, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        if url.starts_with("sqlite:") {
            let failed = |source| Error::Connect { url: shown(url), source: sqlx::Error::Io(source) };
            permissions::create_private(&file_of(url)?).map_err(failed)?;
        }
        Self::open(url, clock).await
    }

    /// Opens a database and migrates nothing, because a service of another version may be using it.
    ///
    /// # Errors
    /// [`Error::Missing`] when there is none, [`Error::Older`] or [`Error::Newer`] when its version is another one.
    pub async fn attach(url: &str, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        if url.starts_with("sqlite:") {
            let file = file_of(url)?;
            // Opening would create them.
            if ![&file, &beside(&file, "-inbox")].into_iter().all(|path| Path::exists(path)) {
                return Err(Error::Missing { url: shown(url) });
            }
        }
        let store = connect(url, clock).await?;
        let main = if store.file().is_some() { &SQLITE } else { &POSTGRES };
        schema_version::check(&store.database, main).await?;
        if store.file().is_some() {
            schema_version::check(&store.inbox, &SQLITE_INBOX).await?;
        }
        Ok(store)
    }

    /// Reads the words on rows in a language, where the rows keep their message.
    #[must_use]
    pub fn read_in(mut self, locale: Locale) -> Self {
        self.reader = Some(locale);
        self
    }

    /// Checks an address without opening what it names.
    ///
    /// # Errors
    /// [`Error::Address`] with the defect.
    pub fn check_address(url: &str) -> Result<(), Error> {
        let bad = |why: String| Error::Address { url: shown(url), why };
        match scheme_of(url) {
            "sqlite" => sqlite_options(url).map(drop),
            "postgres" | "postgresql" => {
                PgConnectOptions::from_str(url).map(drop).map_err(|error| bad(error.to_string()))
            }
            _ => Err(bad(UNKNOWN_SCHEME.into())),
        }
    }

    /// An address without its password, for people.
    pub fn shown(url: &str) -> String {
        shown(url)
    }

    /// The file that a SQLite address names; `None` for other addresses.
    pub fn file_named_by(url: &str) -> Option<PathBuf> {
        file_of(url).ok()
    }

    /// The file of a SQLite database.
    pub fn file(&self) -> Option<&Path> {
        self.locks.database_file()
    }

    /// Does what follows from writing, for ever: checkpoints SQLite's WAL, or notifies other processes on
    /// PostgreSQL. Every process that writes runs this beside its work.
    pub async fn follow_writes(&self) {
        match &self.checkpoints {
            Some(checkpoints) => checkpoints.run(&*self.clock).await,
            None => self.notifications.run(&self.inbox, &*self.clock).await,
        }
    }

    /// Sends the notifications that are due, at once.
    ///
    /// # Errors
    /// When PostgreSQL does not answer; they stay due.
    pub async fn flush_notifications(&self) -> Result<(), Error> {
        self.notifications.send(&self.inbox).await
    }

    /// Closes all connections, after which everything is on disk.
    pub async fn close(&self) {
        if let Err(error) = self.flush_notifications().await {
            tracing::debug!(%error, "cannot notify other processes");
        }
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.close().await;
        }
        for database in [&self.inbox, &self.database] {
            match database {
                Database::Sqlite { write, read } => {
                    read.close().await;
                    write.close().await;
                }
                Database::Postgres(pool) => pool.close().await,
            }
        }
    }
}

/// Returns the kind of database that an address names; nothing without a colon.
fn scheme_of(url: &str) -> &str {
    url.split_once(':').map_or("", |(scheme, _)| scheme)
}

/// Opens the connections and reads nothing.
pub(crate) async fn connect(url: &str, clock: Arc<dyn Clock>) -> Result<Store, Error> {
    match scheme_of(url) {
        "sqlite" => open_files(url, sqlite_options(url)?, clock).await,
        "postgres" | "postgresql" => connect_server(url, server_options(url)?, clock).await,
        _ => Err(Error::Address { url: shown(url), why: UNKNOWN_SCHEME.into() }),
    }
}

/// Opens the connections, and refuses a library or a file that is not sound.
pub(crate) async fn connect_checked(url: &str, clock: Arc<dyn Clock>) -> Result<Store, Error> {
    let uncleanly = file_of(url).is_ok_and(|file| beside(&file, "-wal").exists());
    let store = connect(url, clock).await?;
    if let Some(file) = store.file() {
        integrity_checks::refuse_old_library(&store.database).await?;
        integrity_checks::refuse_damage(file, uncleanly, &store.database).await?;
        integrity_checks::refuse_damage(&beside(file, "-inbox"), true, &store.inbox).await?;
    }
    Ok(store)
}

/// Reads the address of a server.
pub(crate) fn server_options(url: &str) -> Result<PgConnectOptions, Error> {
    PgConnectOptions::from_str(url).map_err(|e| Error::Address { url: shown(url), why: e.to_string() })
}

/// Opens the connections to a server; `url` is for messages.
pub(crate) async fn connect_server(
    url: &str,
    options: PgConnectOptions,
    clock: Arc<dyn Clock>,
) -> Result<Store, Error> {
    let (database, inbox, locks) = open_postgres(url, options, &clock).await?;
    Ok(assembled(database, inbox, clock, locks))
}

/// Returns a store without files.
fn assembled(database: Database, inbox: Database, clock: Arc<dyn Clock>, locks: Locks) -> Store {
    Store {
        database,
        inbox,
        clock,
        locks,
        notifications: Arc::default(),
        waiting: Arc::default(),
        privacy: Arc::default(),
        reader: None,
        counting: Arc::new(Semaphore::new(COUNTING)),
        checkpoints: None,
        opened: None,
        _in_use: None,
    }
}

/// Opens the connections to a SQLite file that no address names.
pub(crate) async fn connect_file(file: &Path, clock: Arc<dyn Clock>) -> Result<Store, Error> {
    let url = format!("sqlite:{}", file.display());
    open_files(&url, SqliteConnectOptions::new().filename(file), clock).await
}

async fn open_files(url: &str, options: SqliteConnectOptions, clock: Arc<dyn Clock>) -> Result<Store, Error> {
    let path = options.get_filename().to_path_buf();
    integrity_checks::refuse_network(url, &path)?;
    let in_use = open_lock::share(&path).map_err(|error| match error {
        // Without a lock file there can be no database file either.
        Error::LockFile { source, .. } => Error::Connect { url: shown(url), source: sqlx::Error::Io(source) },
        other => other,
    })?;
    refuse_vanished(&path)?;
    let (database, inbox, checkpoints) = open_sqlite(url, &path, options).await?;
    let opened = OpenedFiles::of(&path).ok();
    let store = assembled(database, inbox, clock, Locks::beside(path));
    Ok(Store { checkpoints: Some(Arc::new(checkpoints)), opened, _in_use: Some(in_use), ..store })
}

async fn open_sqlite(
    url: &str,
    path: &Path,
    options: SqliteConnectOptions,
) -> Result<(Database, Database, Checkpoints), Error> {
    let failed = |source| Error::Connect { url: shown(url), source };
    let inbox = beside(path, "-inbox");
    for file in [path, &inbox] {
        permissions::create_private(file).map_err(|e| failed(sqlx::Error::Io(e)))?;
    }
    permissions::keep_private(path)?;
    let options = options
        .page_size(8192)
        .journal_mode(SqliteJournalMode::Wal)
        // A resync repairs the mirror. Data that must survive a power cut has its own setting.
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(10))
        .pragma("cache_size", "-4096")
        // The statement journal stays in memory: a few MiB, where a file cost a tenth of a run's CPU.
        .pragma("temp_store", "MEMORY")
        .pragma("wal_autocheckpoint", WRITER_CHECKPOINTS)
        // A long reader makes the log grow; afterwards it is cut to its usual size.
        .pragma("journal_size_limit", "67108864");
    let to_inbox = options
        .clone()
        .filename(&inbox)
        // The marketplace never repeats an acknowledged delivery, so it must survive a power cut. The inbox is a
        // second file because another process may be writing the mirror: a commit behind its pages took 94 ms at the
        // 99th percentile.
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", "-2048")
        .pragma("wal_autocheckpoint", "1000");
    let unopened =
        |file: &Path, source| integrity_checks::damage(file, &source).unwrap_or_else(|| failed(source));
    let write = open_writer(&options).await.map_err(|source| unopened(path, source))?;
    let checkpoints = Checkpoints::beside(&write, options.clone());
    let database = Database::Sqlite { write, read: readers(options, 4) };
    let write = open_writer(&to_inbox).await.map_err(|source| unopened(&inbox, source))?;
    let inbox = Database::Sqlite { write, read: readers(to_inbox, 1) };
    Ok((database, inbox, checkpoints))
}

async fn open_writer(options: &SqliteConnectOptions) -> Result<QueuedPool<Sqlite>, sqlx::Error> {
    let write = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let write = write.acquire_timeout(IN_LINE).test_before_acquire(false);
    // After a commit that found the disk full, SQLite has no transaction any more, but sqlx counts one for ever on
    // this connection and would refuse every other. The pool has pinged it when it came back, so its last command has ended.
    let write = write.before_acquire(|session, _| {
        let is_free = !session.is_in_transaction();
        Box::pin(async move { Ok(is_free) })
    });
    write.connect_with(options.clone()).await.map(|pool| QueuedPool::new(pool, IN_LINE))
}

fn readers(options: SqliteConnectOptions, most: u32) -> QueuedPool<Sqlite> {
    // A reader's cache stays small, because it is lost with every commit; the system's cache has the pages.
    let reading = options.read_only(true).pragma("cache_size", "-1024");
    let read = SqlitePoolOptions::new().max_connections(most).min_connections(0).acquire_timeout(IN_LINE);
    QueuedPool::of_readers(read.test_before_acquire(false).connect_lazy_with(reading), IN_LINE)
}

async fn open_postgres(
    url: &str,
    options: PgConnectOptions,
    clock: &Arc<dyn Clock>,
) -> Result<(Database, Database, Locks), Error> {
    let options = options
        .application_name("espelho")
        // A plan that PostgreSQL made for an empty table scans that table until the next ANALYZE: a first run took
        // five times as long. Every statement here goes by key. An ERP that empties and reloads a table keeps it
        // locked; we stop waiting and continue with the rest. A scan that is forbidden and made all the same counts as
        // endless work, for which PostgreSQL compiles machine code: up to seven seconds for a page of three rows.
        .options([("enable_seqscan", "off"), ("jit", "off"), ("lock_timeout", "10s")]);
    let failed = |source| Error::Connect { url: shown(url), source };
    // The pool would retry until its time-out and then report only the time-out.
    let once = options.connect().await.map_err(failed)?;
    once.close().await.map_err(failed)?;
    let pool = only_sound(PgPoolOptions::new().max_connections(8).acquire_timeout(CONNECTING));
    let pool = pool.connect_with(options.clone()).await.map_err(failed)?;
    // Whatever the server's default is, an acknowledged delivery is on disk. The inbox has its own connections, so
    // that no acknowledgement waits behind a page.
    let durable = options.clone().options([("synchronous_commit", "on")]);
    let inbox = only_sound(PgPoolOptions::new().max_connections(3).acquire_timeout(INBOX));
    let inbox = inbox.min_connections(0).connect_lazy_with(durable);
    let [database, inbox] = [(pool, IN_LINE), (inbox, INBOX)]
        .map(|(pool, longest)| Database::Postgres(QueuedPool::new(pool, longest)));
    Ok((database, inbox, Locks::within(options, Arc::clone(clock))))
}

/// Checks a session before each use, in place of the pool's own ping and at the same cost. A read-only session
/// belongs to a server that became a replica, and stays read-only. A session with an open transaction would lose our
/// writes.
fn only_sound(pool: PgPoolOptions) -> PgPoolOptions {
    pool.test_before_acquire(false).before_acquire(|session, _| {
        Box::pin(async move {
            // One message. Its transaction starts with it, unless the session already has an open one.
            let sql =
                "SELECT now() = statement_timestamp() AND current_setting('transaction_read_only') = 'off'";
            let row = sqlx::raw_sql(sql).fetch_one(&mut *session).await?;
            row.try_get(0)
        })
    })
}

/// Mends what can be mended. An alarm names the rest, and the service does what goes without it.
async fn mend_schema(store: &Store) {
    match store.mend_schema().await {
        Ok(mended) => {
            for defect in mended {
                tracing::warn!(object = %defect, difference = ?defect.difference, "created an object of the schema again");
            }
        }
        Err(error) => {
            tracing::error!(%error, cause = error.source().map(ToString::to_string), "cannot mend the schema");
        }
    }
}

pub(crate) async fn migrate(database: &Database, migrator: &Migrator) -> Result<(), Error> {
    let done = match database {
        Database::Sqlite { write, .. } => {
            // A new index of a large table sorts more than belongs into memory.
            let temporary = async |place| sqlx::raw_sql(place).execute(&*write.pool()).await;
            let _ = temporary("PRAGMA temp_store = FILE").await;
            let done = migrator.run(&*write.pool()).await;
            let _ = temporary("PRAGMA temp_store = MEMORY").await;
            done
        }
        Database::Postgres(pool) => migrator.run(&*pool.pool()).await,
    };
    done.map_err(not_migrated)
}

pub(crate) fn not_migrated(error: MigrateError) -> Error {
    match error {
        MigrateError::VersionMissing(found) => Error::Newer { found },
        other => Error::Migrate(other),
    }
}
