//! The only file that binds, runs and reads on both databases.
//!
//! Statements are written once, with `$n` placeholders; values are [`Value`]s; rows are read by position.
//! Every transaction on SQLite is `BEGIN IMMEDIATE`: a deferred one that turns to writing fails under
//! concurrency, and no time-out helps.

use chrono::{DateTime, Utc};
use espelho_model::{RawJson, time::fixed_width};
use rust_decimal::Decimal;
use sqlx::{
    Arguments as _, AssertSqlSafe, PgPool, Postgres, Row as _, Sqlite, SqlitePool, Transaction,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgArguments, PgRow, PgTypeInfo},
    sqlite::{SqliteArguments, SqliteRow},
    types::Json,
};

use crate::Error;

/// A value on its way into a statement. The variant says the type also where it is NULL.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Bool(Option<bool>),
    Decimal(Option<Decimal>),
    Time(Option<DateTime<Utc>>),
    Json(Option<String>),
    Bytes(Vec<u8>),
}

macro_rules! values_from {
    ($($from:ty => |$v:ident| $value:expr),+ $(,)?) => {$(
        impl From<$from> for Value {
            fn from($v: $from) -> Self {
                $value
            }
        }
    )+};
}
values_from! {
    String => |v| Self::Text(Some(v)),
    &str => |v| Self::Text(Some(v.to_owned())),
    Option<String> => |v| Self::Text(v),
    i64 => |v| Self::Int(Some(v)),
    Option<i64> => |v| Self::Int(v),
    Option<bool> => |v| Self::Bool(v),
    Option<Decimal> => |v| Self::Decimal(v),
    DateTime<Utc> => |v| Self::Time(Some(v)),
    Option<DateTime<Utc>> => |v| Self::Time(v),
    Vec<u8> => |v| Self::Bytes(v),
    RawJson => |v| Self::Json(Some(v.into_string())),
    Option<RawJson> => |v| Self::Json(v.map(RawJson::into_string)),
}

/// The database, whichever it is.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// One writer, because SQLite has one; several readers, because WAL allows them.
    Sqlite {
        write: SqlitePool,
        read: SqlitePool,
    },
    Postgres(PgPool),
}

/// An open transaction. Dropped without [`Tx::commit`], it is rolled back.
pub(crate) enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// A row, read by position.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A statement that inserts as many rows as it is given: `head VALUES ($1, …), (…) tail`.
pub(crate) struct Insert {
    pub(crate) operation: &'static str,
    /// `INSERT INTO table (columns)`
    pub(crate) head: &'static str,
    pub(crate) columns: usize,
    /// `ON CONFLICT …`, or nothing.
    pub(crate) tail: &'static str,
}

/// How the places of a multi-row statement are written. SQLite knows `$1` as a name, and finds the name of
/// each of thousands of places by going through all of them: half of a run's CPU, measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Places {
    /// `?`
    Unnamed,
    /// `$1`
    Numbered,
}

/// Sizes of multi-row statements: few, because each is a prepared statement of its own. Fewer rows than the least go in
/// one statement, because each costs a hand-over to the database's thread or server.
const BATCHES: [usize; 4] = [100, 50, 20, 10];

impl Database {
    /// Begins a transaction that may write.
    pub(crate) async fn begin(&self) -> Result<Tx, Error> {
        let failed = |source| Error::statement("begin a transaction", source);
        match self {
            Self::Sqlite { write, .. } => {
                write.begin_with("BEGIN IMMEDIATE").await.map(Tx::Sqlite).map_err(failed)
            }
            #[expect(clippy::disallowed_methods, reason = "this file owns the transactions")]
            Self::Postgres(pool) => pool.begin().await.map(Tx::Postgres).map_err(failed),
        }
    }

    /// Runs one statement in a transaction of its own.
    pub(crate) async fn execute(
        &self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<u64, Error> {
        let mut tx = self.begin().await?;
        let affected = tx.execute(operation, sql, values).await?;
        tx.commit().await?;
        Ok(affected)
    }

    /// Reads rows outside any transaction.
    pub(crate) async fn fetch(
        &self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        let reader = match self {
            Self::Sqlite { read, .. } => Connections::Sqlite(read),
            Self::Postgres(pool) => Connections::Postgres(pool),
        };
        reader.fetch(operation, sql.to_owned(), values, Plan::Kept).await
    }

    /// Reads `head IN ($n, …)` over a list of keys of any length, just before these rows are written: on the
    /// writer's connection, because a reader of SQLite loses its whole cache with every commit.
    pub(crate) async fn fetch_in(
        &self,
        operation: &'static str,
        head: &'static str,
        first: &[Value],
        keys: Vec<String>,
    ) -> Result<Vec<Row>, Error> {
        let writer = match self {
            Self::Sqlite { write, .. } => Connections::Sqlite(write),
            Self::Postgres(pool) => Connections::Postgres(pool),
        };
        let mut rows = Vec::new();
        for (sql, values) in in_lists(head, first, keys) {
            rows.extend(writer.fetch(operation, sql, values, Plan::Anew).await?);
        }
        Ok(rows)
    }

    /// Prepares a statement without running it; for the test that prepares them all.
    pub(crate) async fn prepare(&self, sql: String) -> Result<(), Error> {
        use sqlx::{Executor as _, SqlSafeStr as _};
        let failed = |source| Error::Statement { operation: "prepare", source };
        let text = AssertSqlSafe(sql).into_sql_str();
        match self {
            Self::Sqlite { write, .. } => write.prepare(text).await.map(drop).map_err(failed),
            Self::Postgres(pool) => pool.prepare(text).await.map(drop).map_err(failed),
        }
    }
}

/// Whether PostgreSQL keeps a statement's plan. A plan for a list of keys that was made while the table was small goes
/// through all rows of a store for ever after, so those are planned anew; the large inserts have only one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    Kept,
    Anew,
}

/// A pool to read from.
enum Connections<'d> {
    Sqlite(&'d SqlitePool),
    Postgres(&'d PgPool),
}

impl Connections<'_> {
    async fn fetch(
        &self,
        operation: &'static str,
        sql: String,
        values: Vec<Value>,
        plan: Plan,
    ) -> Result<Vec<Row>, Error> {
        check_arity(&sql, values.len())?;
        let sql = AssertSqlSafe(sql);
        let rows = match self {
            Self::Sqlite(pool) => {
                let rows = sqlx::query_with(sql, sqlite_arguments(values)?).fetch_all(*pool).await;
                rows.map(|rows| rows.into_iter().map(Row::Sqlite).collect())
            }
            Self::Postgres(pool) => {
                let rows = sqlx::query_with(sql, postgres_arguments(values)?)
                    .persistent(plan == Plan::Kept)
                    .fetch_all(*pool)
                    .await;
                rows.map(|rows| rows.into_iter().map(Row::Postgres).collect())
            }
        };
        rows.map_err(|source| Error::statement(operation, source))
    }
}

impl Tx {
    /// Runs a statement; gives the number of rows it touched.
    pub(crate) async fn execute(
        &mut self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<u64, Error> {
        check_arity(sql, values.len())?;
        self.run(operation, sql.to_owned(), values, Plan::Kept).await
    }

    /// Inserts rows given as one flat list of values, row after row.
    pub(crate) async fn insert(&mut self, insert: &Insert, values: Vec<Value>) -> Result<u64, Error> {
        if !values.len().is_multiple_of(insert.columns) {
            return Err(Error::Arity {
                expected: insert.columns,
                given: values.len(),
                sql: insert.head.to_owned(),
            });
        }
        let mut left = values.len() / insert.columns;
        let mut values = values.into_iter();
        let mut affected = 0;
        while left > 0 {
            let batch = batch_of(left);
            let part: Vec<Value> = values.by_ref().take(batch * insert.columns).collect();
            affected +=
                self.run(insert.operation, insert.sql(batch, self.places()), part, Plan::Kept).await?;
            left -= batch;
        }
        Ok(affected)
    }

    /// Runs `head IN ($n, …)` over a list of keys of any length; `first` are the arguments before the list.
    pub(crate) async fn execute_in(
        &mut self,
        operation: &'static str,
        head: &'static str,
        first: &[Value],
        keys: Vec<impl Into<Value>>,
    ) -> Result<u64, Error> {
        let mut affected = 0;
        for (sql, values) in in_lists(head, first, keys) {
            affected += self.run(operation, sql, values, Plan::Anew).await?;
        }
        Ok(affected)
    }

    /// Runs a statement that only PostgreSQL needs: SQLite has one writer, and nobody who listens.
    pub(crate) async fn execute_on_server(
        &mut self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<(), Error> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(_) => self.execute(operation, sql, values).await.map(drop),
        }
    }

    /// Reads rows within the transaction.
    pub(crate) async fn fetch(
        &mut self,
        operation: &'static str,
        sql: String,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        self.fetch_with(operation, sql, values, Plan::Kept).await
    }

    /// Reads `head IN ($n, …)` over a list of keys of any length within the transaction.
    pub(crate) async fn fetch_in(
        &mut self,
        operation: &'static str,
        head: &'static str,
        first: &[Value],
        keys: Vec<String>,
    ) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        for (sql, values) in in_lists(head, first, keys) {
            rows.extend(self.fetch_with(operation, sql, values, Plan::Anew).await?);
        }
        Ok(rows)
    }

    async fn fetch_with(
        &mut self,
        operation: &'static str,
        sql: String,
        values: Vec<Value>,
        plan: Plan,
    ) -> Result<Vec<Row>, Error> {
        check_arity(&sql, values.len())?;
        let rows = match self {
            Self::Sqlite(tx) => {
                let query = sqlx::query_with(AssertSqlSafe(sql), sqlite_arguments(values)?);
                query.fetch_all(&mut **tx).await.map(|rows| rows.into_iter().map(Row::Sqlite).collect())
            }
            Self::Postgres(tx) => {
                let query = sqlx::query_with(AssertSqlSafe(sql), postgres_arguments(values)?);
                let query = query.persistent(plan == Plan::Kept);
                query.fetch_all(&mut **tx).await.map(|rows| rows.into_iter().map(Row::Postgres).collect())
            }
        };
        rows.map_err(|source| Error::statement(operation, source))
    }

    async fn run(
        &mut self,
        operation: &'static str,
        sql: String,
        values: Vec<Value>,
        plan: Plan,
    ) -> Result<u64, Error> {
        let affected = match self {
            Self::Sqlite(tx) => {
                let query = sqlx::query_with(AssertSqlSafe(sql), sqlite_arguments(values)?);
                query.execute(&mut **tx).await.map(|done| done.rows_affected())
            }
            Self::Postgres(tx) => {
                let query = sqlx::query_with(AssertSqlSafe(sql), postgres_arguments(values)?);
                let query = query.persistent(plan == Plan::Kept);
                query.execute(&mut **tx).await.map(|done| done.rows_affected())
            }
        };
        affected.map_err(|source| Error::statement(operation, source))
    }

    /// Makes everything durable.
    pub(crate) async fn commit(self) -> Result<(), Error> {
        let done = match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit().await,
        };
        done.map_err(|source| Error::statement("commit a transaction", source))
    }
}

impl Tx {
    fn places(&self) -> Places {
        match self {
            Self::Sqlite(_) => Places::Unnamed,
            Self::Postgres(_) => Places::Numbered,
        }
    }
}

impl Database {
    pub(crate) fn places(&self) -> Places {
        match self {
            Self::Sqlite { .. } => Places::Unnamed,
            Self::Postgres(_) => Places::Numbered,
        }
    }
}

impl Insert {
    /// The statement for `rows` rows.
    pub(crate) fn sql(&self, rows: usize, places: Places) -> String {
        use std::fmt::Write as _;
        let mut sql = String::with_capacity(self.head.len() + self.tail.len() + rows * self.columns * 7);
        sql.push_str(self.head);
        sql.push_str(" VALUES ");
        for row in 0..rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for column in 1..=self.columns {
                sql.push_str(if column == 1 { "" } else { ", " });
                // Writing to a String cannot fail.
                let _ = match places {
                    Places::Unnamed => sql.write_char('?'),
                    Places::Numbered => write!(sql, "${}", row * self.columns + column),
                };
            }
            sql.push(')');
        }
        sql.push(' ');
        sql.push_str(self.tail);
        sql
    }
}

fn batch_of(left: usize) -> usize {
    BATCHES.into_iter().find(|&batch| batch <= left).unwrap_or(left)
}

fn in_lists(head: &'static str, first: &[Value], keys: Vec<impl Into<Value>>) -> Vec<(String, Vec<Value>)> {
    let mut statements = Vec::new();
    let mut keys = keys.into_iter().peekable();
    while keys.peek().is_some() {
        let batch = batch_of(keys.len());
        let places: Vec<String> = (1..=batch).map(|n| format!("${}", first.len() + n)).collect();
        let values = first.iter().cloned().chain(keys.by_ref().take(batch).map(Into::into)).collect();
        statements.push((format!("{head} IN ({})", places.join(", ")), values));
    }
    statements
}

/// sqlx binds a missing argument as NULL on SQLite, in silence; so the numbers are compared first.
fn check_arity(sql: &str, given: usize) -> Result<(), Error> {
    let expected = placeholders(sql);
    if expected == given { Ok(()) } else { Err(Error::Arity { expected, given, sql: sql.to_owned() }) }
}

/// The highest `$n` of a statement.
pub(crate) fn placeholders(sql: &str) -> usize {
    let numbers = sql.split('$').skip(1).filter_map(|rest| {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse::<usize>().ok()
    });
    numbers.max().unwrap_or(0)
}

fn unbindable(source: BoxDynError) -> Error {
    Error::Statement { operation: "bind a value", source: sqlx::Error::Encode(source) }
}

fn sqlite_arguments(values: Vec<Value>) -> Result<SqliteArguments, Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(values.len(), 0);
    // A page's rows all bear one time, and writing it out costs more than copying it.
    let mut last: Option<(DateTime<Utc>, String)> = None;
    for value in values {
        match value {
            Value::Text(text) => arguments.add(text),
            Value::Int(number) => arguments.add(number),
            Value::Bool(truth) => arguments.add(truth),
            Value::Decimal(number) => arguments.add(number.map(|n| n.to_string())),
            Value::Time(None) => arguments.add(None::<String>),
            Value::Time(Some(instant)) => {
                let (_, text) = match last.take() {
                    Some(same) if same.0 == instant => last.insert(same),
                    _ => last.insert((instant, fixed_width(instant))),
                };
                arguments.add(text.clone())
            }
            Value::Json(text) => arguments.add(text),
            Value::Bytes(bytes) => arguments.add(bytes),
        }
        .map_err(unbindable)?;
    }
    Ok(arguments)
}

fn postgres_arguments(values: Vec<Value>) -> Result<PgArguments, Error> {
    let mut arguments = PgArguments::default();
    let size = values.iter().map(|v| if let Value::Json(Some(text)) = v { text.len() + 8 } else { 24 }).sum();
    arguments.reserve(values.len(), size);
    for value in values {
        match value {
            Value::Text(text) => arguments.add(text),
            Value::Int(number) => arguments.add(number),
            Value::Bool(truth) => arguments.add(truth),
            Value::Decimal(number) => arguments.add(number),
            Value::Time(instant) => arguments.add(instant),
            Value::Json(text) => arguments.add(text.map(JsonText)),
            Value::Bytes(bytes) => arguments.add(bytes),
        }
        .map_err(unbindable)?;
    }
    Ok(arguments)
}

/// JSON text sent as `jsonb` without parsing it once more.
struct JsonText(String);

impl sqlx::Type<Postgres> for JsonText {
    fn type_info() -> PgTypeInfo {
        <Json<()> as sqlx::Type<Postgres>>::type_info()
    }
}

impl sqlx::Encode<'_, Postgres> for JsonText {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        // The version byte of jsonb's binary form; what follows is text.
        buffer.push(1);
        buffer.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }
}

/// Reads a column on either database.
macro_rules! column {
    ($row:expr, $at:expr, $type:ty) => {
        match $row {
            Row::Sqlite(row) => row.try_get::<$type, _>($at),
            Row::Postgres(row) => row.try_get::<$type, _>($at),
        }
        .map_err(|error| Error::Corrupt { column: $at, why: error.to_string() })
    };
}

impl Row {
    pub(crate) fn text(&self, at: usize) -> Result<String, Error> {
        column!(self, at, String)
    }

    pub(crate) fn optional_text(&self, at: usize) -> Result<Option<String>, Error> {
        column!(self, at, Option<String>)
    }

    pub(crate) fn int(&self, at: usize) -> Result<i64, Error> {
        column!(self, at, i64)
    }

    pub(crate) fn optional_int(&self, at: usize) -> Result<Option<i64>, Error> {
        column!(self, at, Option<i64>)
    }

    pub(crate) fn bytes(&self, at: usize) -> Result<Vec<u8>, Error> {
        column!(self, at, Vec<u8>)
    }

    pub(crate) fn time(&self, at: usize) -> Result<DateTime<Utc>, Error> {
        self.optional_time(at)?.ok_or_else(|| Error::Corrupt { column: at, why: "no time".into() })
    }

    pub(crate) fn optional_time(&self, at: usize) -> Result<Option<DateTime<Utc>>, Error> {
        let corrupt = |why: String| Error::Corrupt { column: at, why };
        match self {
            Self::Postgres(row) => row.try_get(at).map_err(|error| corrupt(error.to_string())),
            Self::Sqlite(_) => match self.optional_text(at)? {
                None => Ok(None),
                Some(text) => match DateTime::parse_from_rfc3339(&text) {
                    Ok(instant) => Ok(Some(instant.to_utc())),
                    Err(error) => Err(corrupt(format!("{text:?}: {error}"))),
                },
            },
        }
    }

    /// Whether the column is neither NULL nor zero; comparisons are integers on SQLite.
    pub(crate) fn truth(&self, at: usize) -> Result<bool, Error> {
        column!(self, at, bool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_and_its_arguments_must_fit() {
        assert_eq!(placeholders("SELECT $1, $2, $12 WHERE x = $2"), 12);
        assert_eq!(placeholders("SELECT 1"), 0);
        assert!(check_arity("SELECT $1", 1).is_ok());
        assert!(matches!(check_arity("SELECT $1, $2", 1), Err(Error::Arity { expected: 2, given: 1, .. })));
    }

    #[test]
    fn a_multi_row_insert_numbers_its_places_through() {
        let insert = Insert {
            operation: "",
            head: "INSERT INTO t (a, b)",
            columns: 2,
            tail: "ON CONFLICT DO NOTHING",
        };
        assert_eq!(
            insert.sql(2, Places::Numbered),
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4) ON CONFLICT DO NOTHING"
        );
        assert_eq!(
            insert.sql(2, Places::Unnamed),
            "INSERT INTO t (a, b) VALUES (?, ?), (?, ?) ON CONFLICT DO NOTHING"
        );
    }

    #[test]
    fn a_list_of_keys_is_split_into_few_statement_sizes() {
        let keys: Vec<String> = (0..137).map(|n| n.to_string()).collect();
        let statements = in_lists("DELETE FROM t WHERE s = $1 AND k", &[Value::from("s")], keys);
        let sizes: Vec<usize> = statements.iter().map(|(_, values)| values.len() - 1).collect();
        assert_eq!(sizes, [100, 20, 10, 7]);
        assert!(statements[3].0.ends_with("AND k IN ($2, $3, $4, $5, $6, $7, $8)"));
    }
}
