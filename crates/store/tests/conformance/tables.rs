//! Direct access to the tables, in one form for both databases: text as SQLite keeps it.

use std::{collections::BTreeMap, str::FromStr as _};

use rust_decimal::Decimal;
use sqlx::{
    AssertSqlSafe, PgPool, Row as _, SqlitePool,
    postgres::PgPoolOptions,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

/// The columns with received objects.
const JSON: [&str; 7] = ["raw", "metadata", "rules", "price_range", "limits", "page", "tracking"];

/// The tables of one database.
pub(crate) enum Tables {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// A column's declaration in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) declared: String,
    pub(crate) required: bool,
}

/// A row of a table: its columns by name, as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Line(BTreeMap<String, Option<String>>);

impl Line {
    /// The text of a column; `None` is NULL.
    pub(crate) fn get(&self, column: &str) -> Option<&str> {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column} in {self:?}")).as_deref()
    }

    /// The columns that are NULL.
    pub(crate) fn nulls(&self) -> Vec<&str> {
        self.0.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name.as_str()).collect()
    }

    /// The line without a column that may differ.
    pub(crate) fn without(mut self, column: &str) -> Self {
        assert!(self.0.remove(column).is_some(), "no column {column}");
        self
    }

    /// The line with every zero written as `0`: PostgreSQL does not keep the decimals of a zero.
    pub(crate) fn with_plain_zeros(mut self) -> Self {
        let zero = |text: &&mut String| Decimal::from_str_exact(text).is_ok_and(|number| number.is_zero());
        for text in self.0.values_mut().flatten().filter(zero) {
            "0".clone_into(text);
        }
        self
    }

    fn rewrite(&mut self, column: &str, rewrite: impl FnOnce(&str) -> String) {
        if let Some(Some(value)) = self.0.get_mut(column) {
            *value = rewrite(value);
        }
    }
}

impl Tables {
    pub(crate) async fn open(url: &str) -> Self {
        if url.starts_with("sqlite:") {
            let options = SqliteConnectOptions::from_str(url).unwrap();
            // The inbox lies in a second file; this reads it together with the mirror.
            let attach = format!("ATTACH DATABASE '{}-inbox' AS inbox", options.get_filename().display());
            let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await.unwrap();
            sqlx::query(AssertSqlSafe(attach)).execute(&pool).await.unwrap();
            Self::Sqlite(pool)
        } else {
            Self::Postgres(PgPoolOptions::new().max_connections(1).connect(url).await.unwrap())
        }
    }

    /// The value for this database, of the two.
    pub(crate) fn either<T>(&self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite(_) => sqlite,
            Self::Postgres(_) => postgres,
        }
    }

    /// Closes the connection.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }

    /// Changes the tables directly.
    pub(crate) async fn execute(&self, sql: &str) -> u64 {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(pool) => sqlx::query(sql).execute(pool).await.unwrap().rows_affected(),
            Self::Postgres(pool) => sqlx::query(sql).execute(pool).await.unwrap().rows_affected(),
        }
    }

    /// The definitions of all views, triggers, indexes and functions: kind, name, text.
    pub(crate) async fn definitions(&self) -> Vec<Vec<Option<String>>> {
        self.texts(self.either(
            "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'table' \
             UNION ALL SELECT type, name, sql FROM inbox.sqlite_schema WHERE sql IS NOT NULL AND type <> 'table' ORDER BY 1, 2",
            // A view on all columns of a table has those that the table had when it was made.
            "SELECT 'view' AS kind, viewname::text AS name, (SELECT string_agg(column_name || ' ' || data_type, ', ' \
                 ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = viewname::text) AS text \
                 FROM pg_views WHERE schemaname = 'public' \
             UNION ALL SELECT 'trigger', tgname::text, tgenabled::text || pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger \
                 WHERE NOT tgisinternal \
             UNION ALL SELECT 'index', indexname::text, indexdef FROM pg_indexes WHERE schemaname = 'public' \
                 AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = to_regclass(quote_ident(indexname))) \
             UNION ALL SELECT 'function', proname::text || '()', pg_get_functiondef(oid) FROM pg_proc \
                 WHERE pronamespace = 'public'::regnamespace ORDER BY 1, 2",
        ))
        .await
    }

    /// Drops all of them, and returns their number.
    pub(crate) async fn drop_all_but_tables(&self) -> usize {
        let all = self.definitions().await;
        for object in &all {
            let (kind, name) = (object[0].as_deref().unwrap(), object[1].as_deref().unwrap());
            let (ours, theirs) = match kind {
                "trigger" => {
                    let sql =
                        format!("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = '{name}'");
                    let on = match self {
                        Self::Sqlite(_) => None,
                        Self::Postgres(_) => self.texts(&sql).await.pop().and_then(|mut row| row.remove(0)),
                    };
                    // One that went along with its function is on no table.
                    let theirs = on.map(|table| format!("DROP TRIGGER {name} ON {table}"));
                    (format!("DROP TRIGGER {name}"), theirs.unwrap_or_else(|| "SELECT 1".to_owned()))
                }
                _ => (format!("DROP {kind} {name}"), format!("DROP {kind} IF EXISTS {name} CASCADE")),
            };
            self.execute(&self.either(ours, theirs)).await;
        }
        all.len()
    }

    /// Replaces a trigger by one that does nothing; on PostgreSQL disables it, and empties its function.
    pub(crate) async fn disturb_a_definition(&self) {
        match self {
            Self::Sqlite(_) => {
                self.execute("DROP TRIGGER erp_stock_changed").await;
                let sql = "CREATE TRIGGER erp_stock_changed AFTER UPDATE OF quantity ON erp_stock BEGIN SELECT 1; END";
                self.execute(sql).await;
            }
            Self::Postgres(_) => {
                self.execute("ALTER TABLE erp_stock DISABLE TRIGGER erp_stock_changed").await;
                let sql = "CREATE OR REPLACE FUNCTION espelho_wanted_anew() RETURNS trigger LANGUAGE plpgsql AS \
                    $$ BEGIN RETURN NEW; END $$";
                self.execute(sql).await;
            }
        }
    }

    /// Tries a change that the database refuses, and returns its message.
    pub(crate) async fn refusal(&self, sql: &str) -> String {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(pool) => sqlx::query(sql).execute(pool).await.unwrap_err().to_string(),
            Self::Postgres(pool) => sqlx::query(sql).execute(pool).await.unwrap_err().to_string(),
        }
    }

    /// Reads columns that are text on this database.
    pub(crate) async fn texts(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        macro_rules! read {
            ($pool:expr) => {{
                let rows = sqlx::query(AssertSqlSafe(sql.to_owned())).fetch_all($pool).await.unwrap();
                rows.iter().map(|row| (0..row.len()).map(|at| row.get(at)).collect()).collect()
            }};
        }
        match self {
            Self::Sqlite(pool) => read!(pool),
            Self::Postgres(pool) => read!(pool),
        }
    }

    /// The first column of each row, a number, as its shortest text.
    pub(crate) async fn numbers(&self, sql: &str) -> Vec<String> {
        self.list(sql).await.iter().map(|text| plain(text)).collect()
    }

    /// The first column of each row.
    pub(crate) async fn list(&self, sql: &str) -> Vec<String> {
        let rows = self.texts(sql).await;
        rows.into_iter().map(|row| row.into_iter().next().flatten().unwrap_or_default()).collect()
    }

    /// The database's query plan, step by step.
    pub(crate) async fn plan(&self, sql: &str) -> Vec<String> {
        match self {
            Self::Sqlite(pool) => {
                let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
                let rows = sqlx::query(explain).fetch_all(pool).await.unwrap();
                rows.iter().map(|row| row.get("detail")).collect()
            }
            Self::Postgres(_) => self.list(&format!("EXPLAIN (COSTS OFF) {sql}")).await,
        }
    }

    /// The number of rows of a table.
    pub(crate) async fn count(&self, table: &str) -> usize {
        self.list(&format!("SELECT CAST(count(*) AS TEXT) FROM {table}")).await[0].parse().unwrap()
    }

    /// All rows of a table, in the same order on both databases.
    pub(crate) async fn all(&self, table: &str) -> Vec<Line> {
        self.lines(table, "").await
    }

    /// The rows of a table for one store.
    pub(crate) async fn of_store(&self, table: &str, store: &str) -> Vec<Line> {
        self.lines(table, &format!("WHERE store = '{store}'")).await
    }

    async fn lines(&self, table: &str, condition: &str) -> Vec<Line> {
        let columns = self.columns(table).await;
        let selected: Vec<String> = columns.iter().map(|column| self.as_text(column)).collect();
        let rows = self.texts(&format!("SELECT {} FROM {table} {condition}", selected.join(", "))).await;
        let amounts = columns.iter().filter(|column| column.declared.eq_ignore_ascii_case("numeric"));
        let amounts: Vec<&str> = amounts.map(|column| column.name.as_str()).collect();
        let named = |row: Vec<Option<String>>| {
            let mut line = Line(columns.iter().map(|column| column.name.clone()).zip(row).collect());
            for column in JSON {
                line.rewrite(column, canonical);
            }
            for column in &amounts {
                line.rewrite(column, plain);
            }
            line
        };
        let mut lines: Vec<Line> = rows.into_iter().map(named).collect();
        lines.sort();
        lines
    }

    fn as_text(&self, column: &Column) -> String {
        let name = format!("\"{}\"", column.name);
        match (self, column.declared.as_str()) {
            (Self::Sqlite(_), "BLOB") => format!("hex({name})"),
            (Self::Postgres(_), "bytea") => format!("upper(encode({name}, 'hex'))"),
            (Self::Postgres(_), "boolean") => format!("CAST(CAST({name} AS INTEGER) AS TEXT)"),
            (Self::Postgres(_), "timestamp with time zone") => {
                format!("to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
            }
            _ => format!("CAST({name} AS TEXT)"),
        }
    }

    /// The tables and views that the migrations made.
    pub(crate) async fn names(&self) -> Vec<String> {
        self.list(self.either(
            "SELECT name FROM (SELECT * FROM main.sqlite_master UNION ALL SELECT * FROM inbox.sqlite_master) WHERE type IN ('table', 'view') \
             AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '_sqlx_migrations' ORDER BY name",
            "SELECT CAST(table_name AS TEXT) FROM information_schema.tables \
             WHERE table_schema = current_schema() AND table_name <> '_sqlx_migrations' \
             ORDER BY table_name COLLATE \"C\"",
        ))
        .await
    }

    /// The columns of a table, in their order.
    pub(crate) async fn columns(&self, table: &str) -> Vec<Column> {
        let sql = match self {
            Self::Sqlite(_) => format!(
                "SELECT name, type, iif(\"notnull\" OR pk, 'NO', 'YES') FROM pragma_table_info('{table}') ORDER BY cid"
            ),
            Self::Postgres(_) => format!(
                "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT), CAST(is_nullable AS TEXT) \
                 FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '{table}' \
                 ORDER BY ordinal_position"
            ),
        };
        let columns = self.texts(&sql).await.into_iter().map(|row| {
            let [name, declared, nullable] =
                <[_; 3]>::try_from(row).unwrap().map(Option::<String>::unwrap_or_default);
            Column { name, declared, required: nullable == "NO" }
        });
        columns.collect()
    }

    /// The columns of a table's primary key, in their order.
    pub(crate) async fn primary_key(&self, table: &str) -> Vec<String> {
        let sql = match self {
            Self::Sqlite(_) => {
                format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk")
            }
            Self::Postgres(_) => format!(
                "SELECT CAST(k.column_name AS TEXT) FROM information_schema.table_constraints c \
                 JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name) \
                 WHERE c.constraint_type = 'PRIMARY KEY' AND c.table_schema = current_schema() \
                 AND c.table_name = '{table}' ORDER BY k.ordinal_position"
            ),
        };
        self.list(&sql).await
    }

    /// The indexes named in the migrations.
    pub(crate) async fn indexes(&self) -> Vec<String> {
        self.list(self.either(
            "SELECT name || ' on ' || tbl_name FROM \
             (SELECT * FROM main.sqlite_master UNION ALL SELECT * FROM inbox.sqlite_master) \
             WHERE type = 'index' AND sql IS NOT NULL ORDER BY name",
            "SELECT indexname || ' on ' || tablename FROM pg_indexes WHERE schemaname = current_schema() \
             AND indexname NOT LIKE '%\\_pkey' AND tablename <> '_sqlx_migrations' ORDER BY indexname COLLATE \"C\"",
        ))
        .await
    }

    /// The storage types of a column's values.
    pub(crate) async fn stored_types(&self, table: &str, column: &str) -> Vec<String> {
        let type_of = self.either("typeof", "pg_typeof");
        let sql = format!(
            "SELECT DISTINCT CAST({type_of}({column}) AS TEXT) FROM {table} WHERE {column} IS NOT NULL"
        );
        self.list(&sql).await
    }
}

/// `jsonb` changes order and spaces, so both sides are parsed and formatted again.
fn canonical(json: &str) -> String {
    serde_json::from_str::<serde_json::Value>(json).unwrap().to_string()
}

/// PostgreSQL keeps trailing zeros of a number, SQLite does not.
pub(crate) fn plain(number: &str) -> String {
    let exact =
        Decimal::from_str_exact(number).or_else(|_| Decimal::from_scientific(&number.replace(".0e", "e")));
    exact.map_or_else(|_| number.to_owned(), |exact| exact.normalize().to_string())
}
