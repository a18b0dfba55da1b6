//! An open transaction.

use sqlx::{
    AssertSqlSafe, Postgres, Sqlite,
    migrate::{MigrateError, Migrator},
};

use super::{
    Insert, Places, Plan, Row, Value,
    queued_pool::PooledTransaction,
    statement::{batch_of, check_arity, in_lists},
    value::{postgres_arguments, sqlite_arguments},
};
use crate::Error;

/// An open transaction. Dropped without [`Tx::commit`], it is rolled back.
pub(crate) enum Tx {
    Sqlite(PooledTransaction<Sqlite>),
    Postgres(PooledTransaction<Postgres>),
}

impl Tx {
    /// Runs a statement; returns the number of affected rows.
    pub(crate) async fn execute(
        &mut self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<u64, Error> {
        check_arity(sql, values.len())?;
        self.run(operation, sql.to_owned(), values, Plan::Kept).await
    }

    /// Inserts rows, or changes them, from one flat list of values, row after row.
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

    /// Runs `head IN ($n, …)` over a list of keys of any length; `first` holds the arguments before the list.
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

    /// Runs a statement on PostgreSQL only: SQLite has one writer and no listeners.
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

    /// Reads rows by a statement that was built for this one question: its plan is not kept.
    pub(super) async fn fetch_once(
        &mut self,
        operation: &'static str,
        sql: String,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        self.fetch_with(operation, sql, values, Plan::Anew).await
    }

    /// Reads rows by a list of rows of values: `head VALUES ($1, …), (…) tail`.
    pub(crate) async fn fetch_listed(
        &mut self,
        list: &Insert,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        let mut left = values.len() / list.columns;
        let (mut values, mut rows) = (values.into_iter(), Vec::new());
        while left > 0 {
            let batch = batch_of(left);
            let part: Vec<Value> = values.by_ref().take(batch * list.columns).collect();
            let sql = list.sql(batch, self.places());
            rows.extend(self.fetch_rows(list.operation, sql, part, Plan::Kept).await?);
            left -= batch;
        }
        Ok(rows)
    }

    /// Reads rows that this transaction changes afterwards: on PostgreSQL nobody else changes them in between.
    pub(crate) async fn fetch_for_update(
        &mut self,
        operation: &'static str,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        let lock = self.row_lock();
        self.fetch(operation, format!("{sql}{lock}"), values).await
    }

    /// Reads `head IN ($n, …)` over a list of keys of any length within the transaction.
    pub(crate) async fn fetch_in(
        &mut self,
        operation: &'static str,
        head: &str,
        first: &[Value],
        keys: Vec<String>,
    ) -> Result<Vec<Row>, Error> {
        self.fetch_in_with(operation, (head, ""), first, keys).await
    }

    /// The same of rows that this transaction changes afterwards.
    pub(crate) async fn fetch_in_for_update(
        &mut self,
        operation: &'static str,
        head: &'static str,
        first: &[Value],
        keys: Vec<String>,
    ) -> Result<Vec<Row>, Error> {
        self.fetch_in_with(operation, (head, self.row_lock()), first, keys).await
    }

    async fn fetch_in_with(
        &mut self,
        operation: &'static str,
        (head, tail): (&str, &str),
        first: &[Value],
        keys: Vec<String>,
    ) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        for (sql, values) in in_lists(head, first, keys) {
            rows.extend(self.fetch_with(operation, sql + tail, values, Plan::Anew).await?);
        }
        Ok(rows)
    }

    /// The end of a statement that reads rows to change them: SQLite has one writer.
    fn row_lock(&self) -> &'static str {
        if matches!(self, Self::Postgres(_)) { " FOR UPDATE" } else { "" }
    }

    async fn fetch_with(
        &mut self,
        operation: &'static str,
        sql: String,
        values: Vec<Value>,
        plan: Plan,
    ) -> Result<Vec<Row>, Error> {
        check_arity(&sql, values.len())?;
        self.fetch_rows(operation, sql, values, plan).await
    }

    async fn fetch_rows(
        &mut self,
        operation: &'static str,
        sql: String,
        values: Vec<Value>,
        plan: Plan,
    ) -> Result<Vec<Row>, Error> {
        let rows = match self {
            Self::Sqlite(tx) => {
                let query = sqlx::query_with(AssertSqlSafe(sql), sqlite_arguments(values)?);
                let rows = query.fetch_all(tx.connection()).await;
                rows.map(|rows| rows.into_iter().map(Row::Sqlite).collect())
            }
            Self::Postgres(tx) => {
                let query = sqlx::query_with(AssertSqlSafe(sql), postgres_arguments(values)?);
                let query = query.persistent(plan == Plan::Kept);
                let rows = query.fetch_all(tx.connection()).await;
                rows.map(|rows| rows.into_iter().map(Row::Postgres).collect())
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
                query.execute(tx.connection()).await.map(|done| done.rows_affected())
            }
            Self::Postgres(tx) => {
                let query = sqlx::query_with(AssertSqlSafe(sql), postgres_arguments(values)?);
                let query = query.persistent(plan == Plan::Kept);
                query.execute(tx.connection()).await.map(|done| done.rows_affected())
            }
        };
        affected.map_err(|source| Error::statement(operation, source))
    }

    /// Runs a statement that defines an object of the schema. It may hold dollar quotes, so it takes no arguments.
    pub(crate) async fn define(&mut self, sql: String) -> Result<(), Error> {
        let query = sqlx::raw_sql(AssertSqlSafe(sql));
        let done = match self {
            Self::Sqlite(tx) => query.execute(tx.connection()).await.map(drop),
            Self::Postgres(tx) => query.execute(tx.connection()).await.map(drop),
        };
        done.map_err(|source| Error::statement("define an object of the schema", source))
    }

    /// Runs migrations within this transaction, each in a savepoint of its own: what they have locked stays so, and can be
    /// looked at.
    pub(crate) async fn migrate(&mut self, migrator: &Migrator) -> Result<(), MigrateError> {
        match self {
            Self::Sqlite(tx) => migrator.run_direct(None, tx.connection(), false).await,
            Self::Postgres(tx) => migrator.run_direct(None, tx.connection(), false).await,
        }
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
    pub(crate) fn places(&self) -> Places {
        match self {
            Self::Sqlite(_) => Places::Unnamed,
            Self::Postgres(_) => Places::Numbered,
        }
    }
}
