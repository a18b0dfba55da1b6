//! The only files that bind, run and read on both databases.
//!
//! Statements are written once, with `$n` placeholders; values are [`Value`]s; rows are read by name or by position.
//! Every transaction on SQLite is `BEGIN IMMEDIATE`: a deferred one that turns to writing fails under
//! concurrency, and no time-out helps.
//!
//! This file has the connections; in `queued_pool` callers wait for one, `tx` is a transaction, `value` binds arguments,
//! `row` reads columns, `instant` PostgreSQL's times, `statement` builds SQL text.

mod instant;
mod queued_pool;
mod row;
mod statement;
mod tx;
mod value;

use futures_util::{TryStreamExt as _, stream::BoxStream};
use sqlx::{AssertSqlSafe, Postgres, Sqlite};

use self::{
    statement::{check_arity, in_lists},
    value::{postgres_arguments, sqlite_arguments},
};
use crate::Error;

pub(crate) use self::{
    queued_pool::{DirectPool, QueuedPool},
    row::{Row, exact},
    statement::{Insert, Places, placeholders},
    tx::Tx,
    value::Value,
};

/// Begins a read of the ERP's tables. Less than a second: after that PostgreSQL looks for deadlocks.
const BEGIN_ERP_READ: &str =
    "BEGIN READ ONLY; SET LOCAL lock_timeout = '300ms'; SET LOCAL statement_timeout = '30s'";

/// The database: SQLite or PostgreSQL.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// One writer, because SQLite has one; several readers, because WAL allows them.
    Sqlite {
        write: QueuedPool<Sqlite>,
        read: QueuedPool<Sqlite>,
    },
    Postgres(QueuedPool<Postgres>),
}

impl Database {
    /// Begins a transaction that may write.
    pub(crate) async fn begin(&self) -> Result<Tx, Error> {
        let begun = match self {
            Self::Sqlite { write, .. } => write.begin("BEGIN IMMEDIATE").await.map(Tx::Sqlite),
            Self::Postgres(pool) => pool.begin("BEGIN").await.map(Tx::Postgres),
        };
        begun.map_err(|source| Error::statement("begin a transaction", source))
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

    /// Runs a statement that changes a batch of rows at a time until it finds none, each in a transaction of its own, so
    /// that no other writer waits for long. Returns the number of all.
    pub(crate) async fn execute_in_batches(
        &self,
        operation: &'static str,
        sql: &'static str,
        values: &[Value],
    ) -> Result<u64, Error> {
        let mut affected = 0;
        loop {
            match self.execute(operation, sql, values.to_vec()).await? {
                0 => return Ok(affected),
                some => affected += some,
            }
        }
    }

    /// Reads rows outside any transaction.
    pub(crate) async fn fetch(
        &self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        self.reader().fetch(operation, sql.to_owned(), values, Plan::Kept).await
    }

    /// Reads rows of tables that the ERP writes too, and may keep locked: gives up soon, with
    /// [`DatabaseTrouble::Busy`](crate::DatabaseTrouble::Busy), so that one locked table delays nothing beside it. The
    /// bounds go with the transaction, because a pooler between may drop those of the session.
    pub(crate) async fn fetch_erp(
        &self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        let Self::Postgres(pool) = self else { return self.fetch(operation, sql, values).await };
        let begun = pool.begin(BEGIN_ERP_READ).await.map(Tx::Postgres);
        let mut tx = begun.map_err(|source| Error::statement("begin a transaction", source))?;
        let rows = tx.fetch(operation, sql.to_owned(), values).await?;
        tx.commit().await?;
        Ok(rows)
    }

    /// Hands rows over one by one, within the bounds of [`Self::fetch_erp`]. Few of them are in memory at once: a summary of
    /// thousands of stores has tens of thousands.
    pub(crate) async fn each_erp(
        &self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
        take: &mut TakeRow<'_>,
    ) -> Result<(), Error> {
        check_arity(sql, values.len())?;
        let taken = match self {
            Self::Sqlite { read, .. } => {
                let query = sqlx::query_with(sql, sqlite_arguments(values)?);
                read.read(async |connection| take_each(query.fetch(connection), Row::Sqlite, take).await)
                    .await
            }
            Self::Postgres(pool) => {
                let begun = pool.begin(BEGIN_ERP_READ).await;
                let mut tx = begun.map_err(|source| Error::statement("begin a transaction", source))?;
                let query = sqlx::query_with(sql, postgres_arguments(values)?);
                let taken = take_each(query.fetch(tx.connection()), Row::Postgres, take).await;
                // After an error the transaction is dropped, and so rolled back: the caller gets that error, not the commit's.
                if matches!(taken, Ok(Ok(()))) {
                    Tx::Postgres(tx).commit().await?;
                }
                taken
            }
        };
        taken.map_err(|source| Error::statement(operation, source))?
    }

    /// Reads rows by a statement that was built for this one question, within the bounds of [`Self::fetch_erp`].
    pub(crate) async fn fetch_bounded(
        &self,
        operation: &'static str,
        sql: String,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        let Self::Postgres(pool) = self else {
            return self.reader().fetch(operation, sql, values, Plan::Anew).await;
        };
        let begun = pool.begin(BEGIN_ERP_READ).await.map(Tx::Postgres);
        let mut tx = begun.map_err(|source| Error::statement("begin a transaction", source))?;
        let rows = tx.fetch_once(operation, sql, values).await?;
        tx.commit().await?;
        Ok(rows)
    }

    fn reader(&self) -> Connections<'_> {
        match self {
            Self::Sqlite { read, .. } => Connections::Sqlite(read),
            Self::Postgres(pool) => Connections::Postgres(pool),
        }
    }

    /// Reads `head IN ($n, …)` over a list of keys of any length, outside any transaction.
    pub(crate) async fn fetch_in(
        &self,
        operation: &'static str,
        head: &'static str,
        first: &[Value],
        keys: Vec<String>,
    ) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        for (sql, values) in in_lists(head, first, keys) {
            rows.extend(self.reader().fetch(operation, sql, values, Plan::Anew).await?);
        }
        Ok(rows)
    }

    /// The same for tables that the ERP writes too, within the bounds of [`Self::fetch_erp`].
    pub(crate) async fn fetch_erp_in(
        &self,
        operation: &'static str,
        head: &'static str,
        first: &[Value],
        keys: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        for (sql, values) in in_lists(head, first, keys) {
            rows.extend(self.fetch_bounded(operation, sql, values).await?);
        }
        Ok(rows)
    }

    /// Runs a statement that no transaction may hold, as those that make and drop databases.
    pub(crate) async fn execute_alone(&self, operation: &'static str, sql: String) -> Result<(), Error> {
        let query = sqlx::raw_sql(AssertSqlSafe(sql));
        let done = match self {
            Self::Sqlite { write, .. } => query.execute(&*write.pool()).await.map(drop),
            Self::Postgres(pool) => query.execute(&*pool.pool()).await.map(drop),
        };
        done.map_err(|source| Error::statement(operation, source))
    }

    /// Prepares a statement without running it, for the test that prepares all statements.
    pub(crate) async fn prepare(&self, sql: String) -> Result<(), Error> {
        use sqlx::{Executor as _, SqlSafeStr as _};
        let failed = |source| Error::Statement { operation: "prepare", source };
        let text = AssertSqlSafe(sql).into_sql_str();
        match self {
            Self::Sqlite { write, .. } => write.pool().prepare(text).await.map(drop).map_err(failed),
            Self::Postgres(pool) => pool.pool().prepare(text).await.map(drop).map_err(failed),
        }
    }
}

/// Whether PostgreSQL keeps a statement's plan. A plan for a key list that PostgreSQL made while the table was small
/// scans all rows of a store for ever, so key lists are planned anew. The large inserts have only one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    Kept,
    Anew,
}

/// Takes a row; an error ends the reading.
pub(crate) type TakeRow<'t> = dyn FnMut(&Row) -> Result<(), Error> + Send + 't;

/// Hands the rows of a statement over as they come.
async fn take_each<R>(
    mut rows: BoxStream<'_, sqlx::Result<R>>,
    of: fn(R) -> Row,
    take: &mut TakeRow<'_>,
) -> sqlx::Result<Result<(), Error>> {
    while let Some(row) = rows.try_next().await? {
        if let Err(error) = take(&of(row)) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// The connections to read from.
enum Connections<'d> {
    Sqlite(&'d QueuedPool<Sqlite>),
    Postgres(&'d QueuedPool<Postgres>),
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
                let query = sqlx::query_with(sql, sqlite_arguments(values)?);
                let read = pool.read(async |connection| query.fetch_all(connection).await).await;
                read.map(|rows| rows.into_iter().map(Row::Sqlite).collect())
            }
            Self::Postgres(pool) => {
                let query = sqlx::query_with(sql, postgres_arguments(values)?).persistent(plan == Plan::Kept);
                let read = pool.read(async |connection| query.fetch_all(connection).await).await;
                read.map(|rows| rows.into_iter().map(Row::Postgres).collect())
            }
        };
        rows.map_err(|source| Error::statement(operation, source))
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqlx::sqlite::SqlitePoolOptions;

    use super::*;

    /// A database of one connection, in memory.
    fn database() -> Database {
        let options = SqlitePoolOptions::new().max_connections(1);
        let pool = options.connect_lazy_with("sqlite::memory:".parse().unwrap());
        let pool = QueuedPool::of_readers(pool, Duration::from_secs(60));
        Database::Sqlite { write: pool.clone(), read: pool }
    }

    /// Reads the numbers from 1 on, up to `last`; returns those taken until `most` were, and the error that ended it.
    async fn numbers(database: &Database, last: i64, most: usize) -> (Vec<i64>, Option<Error>) {
        const NUMBERS: &str = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers \
            WHERE n < $1) SELECT n FROM numbers";
        let mut taken = Vec::new();
        let ended = database
            .each_erp("count", NUMBERS, vec![Value::from(last)], &mut |row| {
                taken.push(row.int(0)?);
                match taken.len() == most {
                    true => Err(Error::Arity { expected: most, given: most, sql: String::new() }),
                    false => Ok(()),
                }
            })
            .await;
        (taken, ended.err())
    }

    #[tokio::test]
    async fn rows_are_taken_as_they_come_and_an_error_ends_even_a_reading_without_an_end() {
        let database = database();
        let (taken, ended) = numbers(&database, i64::MAX, 3).await;
        assert_eq!(taken, [1, 2, 3]);
        assert!(matches!(ended, Some(Error::Arity { .. })), "{ended:?}");
        let (taken, ended) = numbers(&database, 100, usize::MAX).await;
        assert_eq!(taken, (1..=100).collect::<Vec<_>>(), "the connection reads again");
        assert!(ended.is_none(), "{ended:?}");
    }
}
