//! The line in which callers wait for a connection.
//!
//! Within sqlx, each future that waits for a connection has room for a whole connect: 14.5 kB. When thousands of stores
//! start together, nearly all of them wait. Here a caller waits its turn with a few hundred bytes, and only as many
//! enter the pool as it has connections.

use std::{pin::Pin, sync::Arc};

use espelho_model::watch;
use sqlx::{Pool, Transaction};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// The right to be within the pool, until it is dropped.
type Turn = OwnedSemaphorePermit;

/// A pool of connections and the line before it.
#[derive(Debug)]
pub(crate) struct Line<D: sqlx::Database> {
    pool: Pool<D>,
    /// As many as the pool may have connections.
    turns: Arc<Semaphore>,
}

/// An open transaction and its turn.
pub(crate) struct Held<D: sqlx::Database> {
    transaction: Transaction<'static, D>,
    /// Ends after the transaction: fields are dropped in their order.
    _turn: Turn,
}

impl<D: sqlx::Database> Clone for Line<D> {
    fn clone(&self) -> Self {
        Self { pool: self.pool.clone(), turns: Arc::clone(&self.turns) }
    }
}

impl<D: sqlx::Database> Line<D> {
    pub(crate) fn new(pool: Pool<D>) -> Self {
        let turns = Semaphore::new(pool.options().get_max_connections() as usize);
        Self { pool, turns: Arc::new(turns) }
    }

    /// The pool itself, for what rarely runs. Its users take no turn, and wait within it.
    pub(crate) fn pool(&self) -> &Pool<D> {
        &self.pool
    }

    /// Closes the pool; whoever waits in line is sent away.
    pub(crate) async fn close(&self) {
        self.turns.close();
        self.pool.close().await;
    }

    /// Begins a transaction with this statement when it is the caller's turn.
    pub(super) async fn begin(&self, statement: &'static str) -> sqlx::Result<Held<D>> {
        let (transaction, turn) = self.in_turn(|pool| pool.begin_with(statement)).await?;
        Ok(Held { transaction, _turn: turn })
    }

    /// Does this work on the pool when it is the caller's turn. Returns the turn with the result.
    pub(super) async fn in_turn<'l, T, W>(
        &'l self,
        work: impl FnOnce(&'l Pool<D>) -> W,
    ) -> sqlx::Result<(T, Turn)>
    where
        W: Future<Output = sqlx::Result<T>>,
    {
        let turn = self.turn().await?;
        let done = boxed(work, &self.pool).await?;
        Ok((done, turn))
    }

    /// Waits in order of arrival, for as long as the pool lets a caller wait. Within the pool its own time-out begins
    /// anew: what is left to wait for there is a connection that is just being returned or opened.
    async fn turn(&self) -> sqlx::Result<Turn> {
        match Arc::clone(&self.turns).try_acquire_owned() {
            Ok(turn) => return Ok(turn),
            Err(TryAcquireError::Closed) => return Err(sqlx::Error::PoolClosed),
            Err(TryAcquireError::NoPermits) => (),
        }
        let _waiting = watch::idle();
        let longest = self.pool.options().get_acquire_timeout();
        match tokio::time::timeout(longest, Arc::clone(&self.turns).acquire_owned()).await {
            Ok(turn) => turn.map_err(|_| sqlx::Error::PoolClosed),
            Err(_) => Err(sqlx::Error::PoolTimedOut),
        }
    }
}

/// Begins work on the heap. Not `async`: the future of an `async` function would also reserve space for the boxed value.
fn boxed<'p, D: sqlx::Database, W>(work: impl FnOnce(&'p Pool<D>) -> W, pool: &'p Pool<D>) -> Pin<Box<W>> {
    Box::pin(work(pool))
}

impl<D: sqlx::Database> Held<D> {
    pub(super) fn connection(&mut self) -> &mut D::Connection {
        &mut self.transaction
    }

    pub(super) async fn commit(self) -> sqlx::Result<()> {
        let Self { transaction, _turn } = self;
        transaction.commit().await
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, time::Duration};

    use sqlx::{Sqlite, sqlite::SqlitePoolOptions};

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    /// The line of a pool with one connection, which is not opened yet.
    fn line(longest: Duration) -> Line<Sqlite> {
        let options = SqlitePoolOptions::new().max_connections(1).acquire_timeout(longest);
        Line::new(options.connect_lazy_with("sqlite::memory:".parse().unwrap()))
    }

    /// Polls a future once.
    async fn once<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
        tokio::select! {
            biased;
            output = future => Some(output),
            () = std::future::ready(()) => None,
        }
    }

    #[tokio::test]
    async fn a_transaction_begins_when_the_one_before_it_has_ended_however_it_ends() {
        let line = line(LONG);
        let first = line.begin("BEGIN IMMEDIATE").await.unwrap();
        let mut second = pin!(line.begin("BEGIN IMMEDIATE"));
        assert!(once(second.as_mut()).await.is_none());
        first.commit().await.unwrap();
        let second = second.await.unwrap();
        let mut third = pin!(line.in_turn(|pool| sqlx::query("SELECT 1").fetch_all(pool)));
        assert!(once(third.as_mut()).await.is_none());
        drop(second);
        let (rows, turn) = third.await.unwrap();
        assert_eq!((rows.len(), line.turns.available_permits()), (1, 0));
        drop(turn);
        assert_eq!(line.turns.available_permits(), 1);
    }

    #[tokio::test]
    async fn whoever_comes_first_is_the_first_within_the_pool() {
        let line = line(LONG);
        let held = line.turn().await.unwrap();
        let (mut first, mut second) = (pin!(line.turn()), pin!(line.turn()));
        assert!(once(first.as_mut()).await.is_none() && once(second.as_mut()).await.is_none());
        drop(held);
        assert!(once(second.as_mut()).await.is_none(), "the first has waited longer");
        assert!(once(first.as_mut()).await.is_some());
    }

    #[tokio::test]
    async fn whoever_waits_for_too_long_hears_what_the_pool_itself_would_say() {
        let line = line(Duration::from_millis(10));
        let _held = line.turn().await.unwrap();
        let late = line.in_turn(|pool| sqlx::query("SELECT 1").fetch_all(pool)).await;
        assert!(matches!(late, Err(sqlx::Error::PoolTimedOut)));
    }

    #[tokio::test]
    async fn nobody_waits_before_a_closed_pool() {
        let line = line(LONG);
        let _held = line.turn().await.unwrap();
        let mut waiting = pin!(line.turn());
        assert!(once(waiting.as_mut()).await.is_none());
        line.close().await;
        assert!(matches!(waiting.await, Err(sqlx::Error::PoolClosed)));
        assert!(matches!(line.begin("BEGIN IMMEDIATE").await, Err(sqlx::Error::PoolClosed)));
    }

    /// Thousands of stores wait here together.
    #[tokio::test]
    async fn waiting_takes_less_than_a_kib() {
        let line = line(LONG);
        let begin = size_of_val(&line.begin("BEGIN IMMEDIATE"));
        let read = size_of_val(&line.in_turn(|pool| sqlx::query("SELECT 1").fetch_all(pool)));
        assert!(begin < 1_024 && read < 1_024, "{begin} and {read} bytes");
    }
}
