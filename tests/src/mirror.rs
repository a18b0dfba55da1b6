//! The database as the ERP sees it: tables, read with plain SQL, column by column as text.

use std::{collections::BTreeMap, path::Path, str::FromStr as _};

use espelho_test_database::{ServerDatabase, address_in};
use serde_json::Value;
use sqlx::{
    AssertSqlSafe, PgPool, Row as _, SqlitePool,
    postgres::PgPoolOptions,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

/// One row: its columns by name, without NULLs. Numbers, times and booleans are written as in SQLite.
pub type Row = BTreeMap<String, String>;

/// Every table that users read, in the order in which espelho fills them.
pub const MIRRORED: [&str; 6] =
    ["orders", "order_items", "products", "product_prices", "product_stock", "stock_locations"];

/// The database of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    Sqlite,
    /// A server, at `$ESPELHO_TEST_POSTGRES`.
    Postgres,
}

/// An installation's database.
pub(crate) struct Database {
    url: String,
    /// A PostgreSQL database to drop at the end.
    _ours: Option<ServerDatabase>,
}

/// A connection to it.
pub enum Mirror {
    /// SQLite.
    Sqlite(SqlitePool),
    /// PostgreSQL.
    Postgres(PgPool),
}

impl Database {
    pub(crate) async fn create(kind: Kind, dir: &Path) -> Self {
        match kind {
            Kind::Sqlite => Self { url: address_in(dir), _ours: None },
            Kind::Postgres => {
                let database = ServerDatabase::empty().await;
                Self { url: database.url(), _ours: Some(database) }
            }
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the same database without the duty to drop it.
    pub(crate) fn borrowed(&self) -> Self {
        Self { url: self.url.clone(), _ours: None }
    }

    pub(crate) async fn open(&self) -> Mirror {
        open(&self.url).await
    }

    /// Opens the journal of effects, which on SQLite is a second file.
    pub(crate) async fn open_journal(&self) -> Mirror {
        match self.url.starts_with("sqlite:") {
            true => open(&format!("{}-inbox", self.url)).await,
            false => self.open().await,
        }
    }
}

async fn open(url: &str) -> Mirror {
    if url.starts_with("sqlite:") {
        let options = SqliteConnectOptions::from_str(url).expect("a path").create_if_missing(true);
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await;
        return Mirror::Sqlite(pool.expect("the mirror can be opened"));
    }
    let pool = PgPoolOptions::new().max_connections(1).connect(url).await;
    Mirror::Postgres(pool.expect("the mirror can be opened"))
}

impl Mirror {
    /// Returns all rows of a table, sorted.
    pub async fn rows(&self, table: &str) -> Vec<Row> {
        self.rows_without(table, &[]).await
    }

    /// Returns all rows of a table without some of their columns, sorted.
    pub async fn rows_without(&self, table: &str, left_out: &[&str]) -> Vec<Row> {
        let mut columns = self.columns(table).await;
        columns.retain(|(name, _)| !left_out.contains(&name.as_str()));
        let spelled: Vec<String> =
            columns.iter().map(|(name, spelling)| format!("{spelling} AS {name}")).collect();
        self.ask(&format!("SELECT {} FROM {table}", spelled.join(", "))).await
    }

    /// Returns the sorted rows of a query whose columns are all text.
    pub async fn ask(&self, sql: &str) -> Vec<Row> {
        self.read(sql).await.expect("the query works")
    }

    /// Returns how many rows of a table are not gone.
    pub async fn live(&self, table: &str) -> usize {
        self.rows(table).await.iter().filter(|row| !row.contains_key("gone_at")).count()
    }

    /// Returns every mirrored table as users see it, without the write times.
    pub async fn contents(&self) -> BTreeMap<&'static str, Vec<Row>> {
        const TIMES: [&str; 3] = ["mirrored_at", "gone_at", "unread_since"];
        let mut contents = BTreeMap::new();
        for table in MIRRORED {
            contents.insert(table, self.rows_without(table, &TIMES).await);
        }
        contents
    }

    /// Returns every mirrored table with all columns, and the change feed, the runs and the passes.
    pub async fn everything(&self) -> BTreeMap<&'static str, Vec<Row>> {
        let mut all = BTreeMap::new();
        for table in MIRRORED.into_iter().chain(["changes", "sync_runs", "sync_passes", "sync_failures"]) {
            all.insert(table, self.rows(table).await);
        }
        all
    }

    /// The same, but empty if the tables do not exist yet.
    pub async fn try_ask(&self, sql: &str) -> Vec<Row> {
        self.read(sql).await.unwrap_or_default()
    }

    /// The same, but `None` if the query fails.
    pub async fn asked(&self, sql: &str) -> Option<Vec<Row>> {
        self.read(sql).await.ok()
    }

    async fn read(&self, sql: &str) -> sqlx::Result<Vec<Row>> {
        let sql = AssertSqlSafe(sql.to_owned());
        let mut rows: Vec<Row> = match self {
            Self::Sqlite(pool) => {
                let rows = sqlx::query(sql).fetch_all(pool).await?;
                rows.iter().map(|row| cells(row, |at| row.get(at))).collect()
            }
            Self::Postgres(pool) => {
                let rows = sqlx::query(sql).fetch_all(pool).await?;
                rows.iter().map(|row| cells(row, |at| row.get(at))).collect()
            }
        };
        rows.sort();
        Ok(rows)
    }

    /// Changes the database without espelho's knowledge.
    pub async fn execute(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(pool) => sqlx::query(sql).execute(pool).await.map(drop),
            Self::Postgres(pool) => sqlx::query(sql).execute(pool).await.map(drop),
        }
        .expect("the statement works");
    }

    /// Returns the names of a table's columns, each with the SQL that formats it as text.
    async fn columns(&self, table: &str) -> Vec<(String, String)> {
        let sql = match self {
            Self::Sqlite(_) => format!("SELECT name, type AS kind FROM pragma_table_info('{table}')"),
            Self::Postgres(_) => format!(
                "SELECT column_name::text AS name, data_type::text AS kind FROM information_schema.columns \
                 WHERE table_schema = current_schema() AND table_name = '{table}'"
            ),
        };
        let columns = self.ask(&sql).await;
        assert!(!columns.is_empty(), "there is no table {table}");
        columns.into_iter().map(|column| (column["name"].clone(), self.spelling(&column))).collect()
    }

    fn spelling(&self, column: &Row) -> String {
        let name = &column["name"];
        match (self, column["kind"].as_str()) {
            (Self::Sqlite(_), "BLOB") => format!("hex({name})"),
            (Self::Sqlite(_), _) => format!("CAST({name} AS TEXT)"),
            (_, "timestamp with time zone") => {
                format!("to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
            }
            (_, "boolean") => format!("{name}::int::text"),
            (_, "bytea") => format!("upper(encode({name}, 'hex'))"),
            _ => format!("{name}::text"),
        }
    }
}

fn cells<R: sqlx::Row>(row: &R, cell: impl Fn(usize) -> Option<String>) -> Row {
    let names = row.columns().iter().map(|column| sqlx::Column::name(column).to_owned());
    names.enumerate().filter_map(|(at, name)| Some((name, cell(at)?))).collect()
}

/// Returns the original object of a row.
///
/// # Panics
/// When `raw` is not JSON.
pub fn raw(row: &Row) -> Value {
    serde_json::from_str(&row["raw"]).expect("raw is JSON")
}

/// Returns a number of a row, exactly.
///
/// # Panics
/// When it is not a number.
pub fn number(row: &Row, column: &str) -> Option<rust_decimal::Decimal> {
    row.get(column).map(|text| text.parse().unwrap_or_else(|_| panic!("{column} {text:?} is no number")))
}
