//! The database of a test as an ERP sees it: tables, read and written with plain SQL.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::Path,
    str::FromStr as _,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use espelho_model::clock::SystemClock;
use espelho_store::Store;
use sqlx::{
    AssertSqlSafe, Connection as _, PgConnection, PgPool, Row as _, SqlitePool,
    postgres::PgPoolOptions,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

/// Which database a test uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file in the test's folder.
    Sqlite,
    /// A server, at `$ESPELHO_TEST_POSTGRES`. Its time is the machine's.
    Postgres,
}

/// A database, dropped at the end.
pub(crate) struct Database {
    url: String,
    ours: Option<(String, String)>,
}

/// A connection of the ERP.
pub(crate) enum Tables {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Database {
    /// Creates an empty mirror. Its migrations ran once, in a template that all tests copy.
    pub(crate) async fn create(kind: Kind, dir: &Path) -> Self {
        match kind {
            Kind::Sqlite => Self::in_folder(dir).await,
            Kind::Postgres => Self::on_server().await,
        }
    }

    async fn in_folder(dir: &Path) -> Self {
        let template = Path::new(env!("CARGO_TARGET_TMPDIR")).join(template_name());
        if !template.is_dir() {
            let making = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            migrate(&format!("sqlite:{}", making.path().join("espelho.db").display())).await;
            // Another test may have made it meanwhile.
            let _ = std::fs::rename(making.path(), &template);
        }
        for name in ["espelho.db", "espelho.db-inbox"] {
            std::fs::copy(template.join(name), dir.join(name)).unwrap();
        }
        Self { url: format!("sqlite:{}", dir.join("espelho.db").display()), ours: None }
    }

    async fn on_server() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = std::env::var("ESPELHO_TEST_POSTGRES").unwrap_or_else(|_| {
            panic!("ESPELHO_TEST_POSTGRES names no PostgreSQL server: run tests/run, which starts one")
        });
        let name = format!("espelho_engine_{}_{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let template = template_name();
        let mut admin = PgConnection::connect(&format!("{server}/postgres")).await.unwrap();
        // One test makes the template, and a template must have no visitor while it is copied.
        obey(&mut admin, "SELECT pg_advisory_lock(7391)").await;
        let exists = format!("SELECT datname FROM pg_database WHERE datname = '{template}'");
        if sqlx::query(AssertSqlSafe(exists)).fetch_all(&mut admin).await.unwrap().is_empty() {
            let making = format!("{template}_making");
            obey(&mut admin, &format!("DROP DATABASE IF EXISTS {making} WITH (FORCE)")).await;
            obey(&mut admin, &format!("CREATE DATABASE {making}")).await;
            migrate(&format!("{server}/{making}")).await;
            obey(&mut admin, &format!("ALTER DATABASE {making} RENAME TO {template}")).await;
        }
        obey(&mut admin, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
        obey(&mut admin, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        Self { url: format!("{server}/{name}"), ours: Some((server, name)) }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Opens the tables that the ERP knows.
    pub(crate) async fn tables(&self) -> Tables {
        open(&self.url).await
    }

    /// Opens the journal of effects, which on SQLite is a second file.
    pub(crate) async fn journal(&self) -> Tables {
        match self.ours {
            None => open(&format!("{}-inbox", self.url)).await,
            Some(_) => open(&self.url).await,
        }
    }
}

async fn obey(admin: &mut PgConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(admin).await.unwrap();
}

async fn migrate(url: &str) {
    Store::open(url, SystemClock::shared()).await.unwrap().close().await;
}

/// The template's name: another one for other migrations.
fn template_name() -> String {
    let mut hasher = DefaultHasher::new();
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    for folder in ["sqlite", "sqlite/inbox", "postgres"] {
        let entries = std::fs::read_dir(migrations.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries.filter(|path| path.is_file()).collect();
        files.sort();
        files.iter().for_each(|file| std::fs::read(file).unwrap().hash(&mut hasher));
    }
    format!("espelho_engine_template_{:x}", hasher.finish())
}

async fn open(url: &str) -> Tables {
    if url.starts_with("sqlite:") {
        let options = SqliteConnectOptions::from_str(url).unwrap();
        return Tables::Sqlite(
            SqlitePoolOptions::new().max_connections(1).connect_with(options).await.unwrap(),
        );
    }
    Tables::Postgres(PgPoolOptions::new().max_connections(1).connect(url).await.unwrap())
}

impl Tables {
    /// Returns the first column of a query, as text; NULL is left out.
    pub(crate) async fn ask(&self, sql: &str) -> Vec<String> {
        let query = AssertSqlSafe(sql.to_owned());
        let failed = |error: sqlx::Error| -> ! { panic!("{sql}: {error}") };
        match self {
            Self::Sqlite(pool) => {
                let rows = sqlx::query(query).fetch_all(pool).await.unwrap_or_else(|e| failed(e));
                rows.iter().filter_map(|row| row.get::<Option<String>, _>(0)).collect()
            }
            Self::Postgres(pool) => {
                let rows = sqlx::query(query).fetch_all(pool).await.unwrap_or_else(|e| failed(e));
                rows.iter().filter_map(|row| row.get::<Option<String>, _>(0)).collect()
            }
        }
    }

    /// Runs statements, one after the other.
    pub(crate) async fn execute(&self, sql: &str) {
        let statements = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        let done = match self {
            Self::Sqlite(pool) => statements.execute(pool).await.map(drop),
            Self::Postgres(pool) => statements.execute(pool).await.map(drop),
        };
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Some((server, name)) = self.ours.take() else { return };
        // A thread with its own runtime: `drop` cannot wait in the test's.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async {
                let mut admin = PgConnection::connect(&format!("{server}/postgres")).await.ok()?;
                let sql = AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
                sqlx::raw_sql(sql).execute(&mut admin).await.ok()
            })
        });
        let _ = dropping.join();
    }
}
