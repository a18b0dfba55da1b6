//! A pool of connections with a queue before it.
//!
//! Within sqlx, each future that waits for a connection has room for a whole connect: 14.5 kB. When thousands of stores
//! start together, nearly all of them wait. Here a caller waits for a permit with a few hundred bytes, and only
//! as many enter the pool as it has connections.

use std::{pin::Pin, sync::Arc, time::Duration};

use espelho_model::watch::Line;
use sqlx::{Pool, Transaction};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// The right to be within the pool, until it is dropped.
pub(crate) type Permit = OwnedSemaphorePermit;

/// A pool of connections and the queue before it.
#[derive(Debug)]
pub(crate) struct QueuedPool<D: sqlx::Database> {
    pool: Pool<D>,
    queue: Arc<Queue>,
}

/// The queue that all users of a pool share.
#[derive(Debug)]
struct Queue {
    /// As many as the pool may have connections.
    permits: Arc<Semaphore>,
    /// Those that wait, as the watch over all lanes sees them.
    line: Arc<Line>,
    /// How long a caller waits for a permit.
    longest: Duration,
    /// Notified of each commit.
    commits: Notify,
}

/// An open transaction and its permit.
pub(crate) struct PooledTransaction<D: sqlx::Database> {
    transaction: Transaction<'static, D>,
    queue: Arc<Queue>,
    /// Ends after the transaction: fields are dropped in their order.
    _permit: Permit,
}

impl<D: sqlx::Database> Clone for QueuedPool<D> {
    fn clone(&self) -> Self {
        Self { pool: self.pool.clone(), queue: Arc::clone(&self.queue) }
    }
}

impl<D: sqlx::Database> QueuedPool<D> {
    /// Puts a queue before a pool, in which a caller waits for `longest` at most.
    pub(crate) fn new(pool: Pool<D>, longest: Duration) -> Self {
        let permits = Arc::new(Semaphore::new(pool.options().get_max_connections() as usize));
        let queue = Queue { permits, line: Arc::default(), longest, commits: Notify::new() };
        Self { pool, queue: Arc::new(queue) }
    }

    /// The pool itself, for what rarely runs. Its users take no permit, and wait within it.
    pub(crate) fn pool(&self) -> &Pool<D> {
        &self.pool
    }

    /// Closes the pool and the queue: callers that wait get an error.
    pub(crate) async fn close(&self) {
        self.queue.permits.close();
        self.pool.close().await;
    }

    /// Begins a transaction with this statement once the caller has a permit.
    pub(super) async fn begin(&self, statement: &'static str) -> sqlx::Result<PooledTransaction<D>> {
        let (transaction, permit) = self.with_permit(|pool| pool.begin_with(statement)).await?;
        Ok(PooledTransaction { transaction, queue: Arc::clone(&self.queue), _permit: permit })
    }

    /// Waits until a transaction was committed since the last call. One caller at a time.
    pub(crate) async fn committed(&self) {
        self.queue.commits.notified().await;
    }

    /// Does this work on the pool once the caller has a permit. Returns the permit with the result.
    pub(super) async fn with_permit<'l, T, W>(
        &'l self,
        work: impl FnOnce(&'l Pool<D>) -> W,
    ) -> sqlx::Result<(T, Permit)>
    where
        W: Future<Output = sqlx::Result<T>>,
    {
        let permit = self.permit().await?;
        let done = boxed(work, &self.pool).await?;
        Ok((done, permit))
    }

    /// Waits in order of arrival. Within the pool its own time-out begins: what is left to wait for there is a connection
    /// that is just being returned or opened.
    pub(crate) async fn permit(&self) -> sqlx::Result<Permit> {
        match Arc::clone(&self.queue.permits).try_acquire_owned() {
            Ok(permit) => return Ok(permit),
            Err(TryAcquireError::Closed) => return Err(sqlx::Error::PoolClosed),
            Err(TryAcquireError::NoPermits) => (),
        }
        let _waiting = self.queue.line.wait();
        let turn =
            tokio::time::timeout(self.queue.longest, Arc::clone(&self.queue.permits).acquire_owned()).await;
        let permit = turn.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)?;
        self.queue.line.moves();
        Ok(permit)
    }
}

/// Begins work on the heap. Not `async`: the future of an `async` function would also reserve space for the boxed value.
fn boxed<'p, D: sqlx::Database, W>(work: impl FnOnce(&'p Pool<D>) -> W, pool: &'p Pool<D>) -> Pin<Box<W>> {
    Box::pin(work(pool))
}

impl<D: sqlx::Database> PooledTransaction<D> {
    pub(super) fn connection(&mut self) -> &mut D::Connection {
        &mut self.transaction
    }

    pub(super) async fn commit(self) -> sqlx::Result<()> {
        let Self { transaction, queue, _permit } = self;
        transaction.commit().await?;
        queue.commits.notify_one();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use sqlx::{Sqlite, sqlite::SqlitePoolOptions};

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    /// A pool with one connection, which is not opened yet.
    fn pool(longest: Duration) -> QueuedPool<Sqlite> {
        let options = SqlitePoolOptions::new().max_connections(1).acquire_timeout(LONG);
        QueuedPool::new(options.connect_lazy_with("sqlite::memory:".parse().unwrap()), longest)
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
        let pool = pool(LONG);
        let first = pool.begin("BEGIN IMMEDIATE").await.unwrap();
        let mut second = pin!(pool.begin("BEGIN IMMEDIATE"));
        assert!(once(second.as_mut()).await.is_none());
        first.commit().await.unwrap();
        let second = second.await.unwrap();
        let mut third = pin!(pool.with_permit(|pool| sqlx::query("SELECT 1").fetch_all(pool)));
        assert!(once(third.as_mut()).await.is_none());
        drop(second);
        let (rows, permit) = third.await.unwrap();
        assert_eq!((rows.len(), pool.queue.permits.available_permits()), (1, 0));
        drop(permit);
        assert_eq!(pool.queue.permits.available_permits(), 1);
    }

    #[tokio::test]
    async fn whoever_comes_first_is_the_first_within_the_pool() {
        let pool = pool(LONG);
        let held = pool.permit().await.unwrap();
        let (mut first, mut second) = (pin!(pool.permit()), pin!(pool.permit()));
        assert!(once(first.as_mut()).await.is_none() && once(second.as_mut()).await.is_none());
        drop(held);
        assert!(once(second.as_mut()).await.is_none(), "the first has waited longer");
        assert!(once(first.as_mut()).await.is_some());
    }

    #[tokio::test]
    async fn whoever_waits_for_too_long_hears_what_the_pool_itself_would_say() {
        let pool = pool(Duration::from_millis(10));
        let _held = pool.permit().await.unwrap();
        let late = pool.with_permit(|pool| sqlx::query("SELECT 1").fetch_all(pool)).await;
        assert!(matches!(late, Err(sqlx::Error::PoolTimedOut)));
    }

    #[tokio::test]
    async fn nobody_waits_before_a_closed_pool() {
        let pool = pool(LONG);
        let _held = pool.permit().await.unwrap();
        let mut waiting = pin!(pool.permit());
        assert!(once(waiting.as_mut()).await.is_none());
        pool.close().await;
        assert!(matches!(waiting.await, Err(sqlx::Error::PoolClosed)));
        assert!(matches!(pool.begin("BEGIN IMMEDIATE").await, Err(sqlx::Error::PoolClosed)));
    }

    /// Thousands of stores wait here together.
    #[tokio::test]
    async fn waiting_takes_less_than_a_kib() {
        let pool = pool(LONG);
        let begin = size_of_val(&pool.begin("BEGIN IMMEDIATE"));
        let read = size_of_val(&pool.with_permit(|pool| sqlx::query("SELECT 1").fetch_all(pool)));
        assert!(begin < 1_024 && read < 1_024, "{begin} and {read} bytes");
    }
}
