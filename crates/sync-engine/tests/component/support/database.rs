//! The database of a test as an ERP sees it: tables, read and written with plain SQL.

use std::{path::Path, str::FromStr as _};

use espelho_model::clock::SystemClock;
use espelho_store::Store;
use espelho_test_database::{ServerDatabase, Template};
use sqlx::{
    AssertSqlSafe, PgPool, Row as _, SqlitePool,
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
    /// Where it lies, unless it is files in the test's folder.
    on_server: Option<ServerDatabase>,
}

/// A connection of the ERP.
pub(crate) enum Tables {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Database {
    /// Creates an empty mirror. Its migrations ran once, in a template that all tests copy.
    pub(crate) async fn create(kind: Kind, dir: &Path) -> Self {
        let template = Template::new("espelho_engine", migrate);
        match kind {
            Kind::Sqlite => {
                let kept_in = Path::new(env!("CARGO_TARGET_TMPDIR"));
                Self { url: template.copy_files(kept_in, dir).await, on_server: None }
            }
            Kind::Postgres => {
                let database = template.copy_database().await;
                Self { url: database.url(), on_server: Some(database) }
            }
        }
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
        match self.on_server {
            None => open(&format!("{}-inbox", self.url)).await,
            Some(_) => open(&self.url).await,
        }
    }
}

async fn migrate(url: String) {
    Store::open(&url, SystemClock::shared()).await.unwrap().close().await;
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
