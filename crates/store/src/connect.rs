//! Opening the database: connections, settings, migrations.

use std::{
    fs::File,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use espelho_model::Clock;
use sqlx::{
    ConnectOptions as _, Connection as _, Row as _,
    migrate::{MigrateError, Migrator},
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use crate::{
    Error,
    backup::open_lock,
    driver::Database,
    integrity_checks,
    lease::Locks,
    migrations::{POSTGRES, SQLITE, SQLITE_INBOX},
    permissions,
};

/// How long a statement may stand in line for a connection. Where thousands of stores begin together, the last of them waits
/// for all others, and nothing is wrong: a server that is not there is noticed when it is connected to.
const IN_LINE: Duration = Duration::from_secs(120);

/// The mirror's database, open and migrated. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    pub(crate) database: Database,
    /// Where the inbox is: on SQLite a second file, on PostgreSQL the same database over connections of its own.
    pub(crate) inbox: Database,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) locks: Locks,
    /// On SQLite: nobody puts other files in the place of these while it is held.
    _in_use: Option<Arc<File>>,
}

impl Store {
    /// Opens `url` (`sqlite:PATH` or `postgres://…`), creating a SQLite file if there is none, and runs the
    /// migrations that are missing.
    ///
    /// # Errors
    /// When the address is not usable, the database cannot be opened, or a newer espelho has migrated it.
    pub async fn open(url: &str, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let uncleanly = file_of(url).is_ok_and(|file| beside(&file, "-wal").exists());
        let store = Self::connect(url, clock).await?;
        if let Some(file) = store.file() {
            integrity_checks::refuse_old_library(&store.database).await?;
            integrity_checks::refuse_damage(file, uncleanly, &store.database).await?;
            integrity_checks::refuse_damage(&beside(file, "-inbox"), true, &store.inbox).await?;
        }
        if store.file().is_some() {
            migrate(&store.inbox, &SQLITE_INBOX).await?;
            store.move_tokens().await?;
            migrate(&store.database, &SQLITE).await?;
            store.share_with_group().await?;
        } else {
            migrate(&store.database, &POSTGRES).await?;
        }
        Ok(store)
    }

    /// Opens the connections, and looks at nothing.
    pub(crate) async fn connect(url: &str, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let scheme = url.split(':').next().unwrap_or_default();
        match scheme {
            "sqlite" => Self::open_files(url, sqlite_options(url)?, clock).await,
            "postgres" | "postgresql" => {
                let (database, inbox, locks) = open_postgres(url, &clock).await?;
                Ok(Self { database, inbox, clock, locks, _in_use: None })
            }
            _ => Err(Error::Address { url: shown(url), why: "its scheme is not sqlite or postgres".into() }),
        }
    }

    /// The same with a SQLite mirror that no address names.
    pub(crate) async fn connect_file(file: &Path, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let url = format!("sqlite:{}", file.display());
        Self::open_files(&url, SqliteConnectOptions::new().filename(file), clock).await
    }

    async fn open_files(
        url: &str,
        options: SqliteConnectOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let path = options.get_filename().to_path_buf();
        integrity_checks::refuse_network(url, &path)?;
        let in_use = open_lock::share(&path).map_err(|error| match error {
            // Where no lock can be, no database can be.
            Error::LockFile { source, .. } => {
                Error::Connect { url: shown(url), source: sqlx::Error::Io(source) }
            }
            other => other,
        })?;
        let (database, inbox) = open_sqlite(url, &path, options).await?;
        Ok(Self { database, inbox, clock, locks: Locks::beside(path), _in_use: Some(in_use) })
    }

    /// An address as it may be shown: without its password.
    pub fn shown(url: &str) -> String {
        shown(url)
    }

    /// The file that a SQLite address names; `None` where it names none.
    pub fn file_named_by(url: &str) -> Option<PathBuf> {
        file_of(url).ok()
    }

    /// Where tokens lie: on SQLite not in the file that the ERP opens.
    pub(crate) fn private(&self) -> &Database {
        if self.file().is_some() { &self.inbox } else { &self.database }
    }

    /// The file of a SQLite database.
    pub fn file(&self) -> Option<&Path> {
        self.locks.database_file()
    }

    /// Closes all connections, after which everything is on disk.
    pub async fn close(&self) {
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

fn sqlite_options(url: &str) -> Result<SqliteConnectOptions, Error> {
    let bad = |why: String| Error::Address { url: shown(url), why };
    let options = SqliteConnectOptions::from_str(url).map_err(|e| bad(e.to_string()))?;
    if url.contains(":memory:") || options.get_filename().as_os_str().is_empty() {
        return Err(bad("a mirror needs a file".into()));
    }
    Ok(options)
}

/// The file that a SQLite address names.
pub(crate) fn file_of(url: &str) -> Result<PathBuf, Error> {
    Ok(sqlite_options(url)?.get_filename().to_path_buf())
}

async fn open_sqlite(
    url: &str,
    path: &Path,
    options: SqliteConnectOptions,
) -> Result<(Database, Database), Error> {
    let failed = |source| Error::Connect { url: shown(url), source };
    let inbox = beside(path, "-inbox");
    for file in [path, &inbox] {
        permissions::create_private(file).map_err(|e| failed(sqlx::Error::Io(e)))?;
    }
    permissions::keep_private(path)?;
    let options = options
        .page_size(8192)
        .journal_mode(SqliteJournalMode::Wal)
        // A mirror is repaired from the marketplace; what must survive a power cut comes with its own setting.
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(10))
        .pragma("cache_size", "-24576")
        .pragma("wal_autocheckpoint", "8000");
    let to_inbox = options
        .clone()
        .filename(&inbox)
        // What was acknowledged is never sent again, so it must survive a power cut. A second file, because the mirror's
        // writer may be another process, and a commit behind its pages took 94 ms at the 99th percentile.
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", "-2048")
        .pragma("wal_autocheckpoint", "1000");
    let unopened =
        |file: &Path, source| integrity_checks::damage(file, &source).unwrap_or_else(|| failed(source));
    let database = open_file(options, 4).await.map_err(|source| unopened(path, source))?;
    let inbox = open_file(to_inbox, 1).await.map_err(|source| unopened(&inbox, source))?;
    Ok((database, inbox))
}

async fn open_file(options: SqliteConnectOptions, readers: u32) -> Result<Database, sqlx::Error> {
    let write = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let write = write.acquire_timeout(IN_LINE).test_before_acquire(false);
    // After a commit that found no room SQLite has no transaction any more, and the connection counts one for ever: it would
    // refuse every other. What it was last told is behind it when it answers.
    let write = write.before_acquire(|session, _| {
        Box::pin(async move {
            session.ping().await?;
            Ok(!session.is_in_transaction())
        })
    });
    let write = write.connect_with(options.clone()).await?;
    // A reader's cache stays small: it is the writer's that the random index pages go through.
    let reading = options.read_only(true).pragma("cache_size", "-2048");
    let read = SqlitePoolOptions::new().max_connections(readers).min_connections(0).acquire_timeout(IN_LINE);
    let read = read.connect_lazy_with(reading);
    Ok(Database::Sqlite { write, read })
}

async fn open_postgres(url: &str, clock: &Arc<dyn Clock>) -> Result<(Database, Database, Locks), Error> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|e| Error::Address { url: shown(url), why: e.to_string() })?
        .application_name("espelho")
        // A plan that was made while a table was empty reads it from end to end for ever after, until the
        // server's own analysis comes by: a first run took five times as long. Every statement here goes by key.
        // An ERP that empties and reloads a table keeps it locked: whoever waits for it must go on with the rest.
        .options([("enable_seqscan", "off"), ("lock_timeout", "10s")]);
    let failed = |source| Error::Connect { url: shown(url), source };
    // The pool would try again until its time-out and then say only that it timed out.
    let once = options.connect().await.map_err(failed)?;
    once.close().await.map_err(failed)?;
    let pool = only_sound(PgPoolOptions::new().max_connections(8).acquire_timeout(IN_LINE));
    let pool = pool.connect_with(options.clone()).await.map_err(failed)?;
    // Whatever the server's default is: what was acknowledged is on its disk. Connections of its own, so that no
    // acknowledgement waits for one that mirrors a page.
    let durable = options.clone().options([("synchronous_commit", "on")]);
    let inbox = only_sound(PgPoolOptions::new().max_connections(3).acquire_timeout(Duration::from_secs(5)));
    let inbox = inbox.min_connections(0).connect_lazy_with(durable);
    Ok((Database::Postgres(pool), Database::Postgres(inbox), Locks::within(options, Arc::clone(clock))))
}

/// Looks at a session before it is used again, instead of the pool's own sign of life, so at the same cost. One that may only
/// read is that of a server that was made a replica, and stays so for as long as it lives; in one where a transaction was
/// left open nothing would be kept.
fn only_sound(pool: PgPoolOptions) -> PgPoolOptions {
    pool.test_before_acquire(false).before_acquire(|session, _| {
        Box::pin(async move {
            // One message, whose transaction began with it unless there is one already.
            let sql =
                "SELECT now() = statement_timestamp() AND current_setting('transaction_read_only') = 'off'";
            let row = sqlx::raw_sql(sql).fetch_one(&mut *session).await?;
            row.try_get(0)
        })
    })
}

pub(crate) async fn migrate(database: &Database, migrator: &Migrator) -> Result<(), Error> {
    let done = match database {
        Database::Sqlite { write, .. } => migrator.run(write).await,
        Database::Postgres(pool) => migrator.run(pool).await,
    };
    done.map_err(|error| match error {
        MigrateError::VersionMissing(found) => Error::Newer { found },
        other => Error::Migrate(other),
    })
}

/// An address without its password, wherever it stands in it.
pub(crate) fn shown(url: &str) -> String {
    let (main, query) = url.split_once('?').map_or((url, None), |(main, query)| (main, Some(query)));
    let main = match (main.find("://"), main.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => match main[scheme + 3..at].split_once(':') {
            Some((user, _)) => format!("{}{user}:***{}", &main[..scheme + 3], &main[at..]),
            None => main.to_owned(),
        },
        _ => main.to_owned(),
    };
    let Some(query) = query else { return main };
    let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
        Some((name, _)) if name.contains("password") => format!("{name}=***"),
        _ => parameter.to_owned(),
    });
    format!("{main}?{}", parameters.collect::<Vec<_>>().join("&"))
}

/// The lock file of a store lies beside the database file.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn an_address_is_shown_without_its_password() {
        assert_eq!(shown("postgres://erp:s3cret@db.local/mirror"), "postgres://erp:***@db.local/mirror");
        assert_eq!(shown("postgres://erp@db.local/mirror"), "postgres://erp@db.local/mirror");
        assert_eq!(
            shown("postgres://h/db?user=x&password=s3cret&a=b"),
            "postgres://h/db?user=x&password=***&a=b"
        );
        assert_eq!(shown("sqlite:espelho.db"), "sqlite:espelho.db");
    }
}
