//! A pool of connections with a queue before it.
//!
//! Within sqlx, each future that waits for a connection has room for a whole connect: 14.5 kB. When thousands of stores
//! start together, nearly all of them wait. Here a caller waits for a permit with a few hundred bytes, and only
//! as many enter the pool as it has connections.
//!
//! sqlx pings a connection whenever it is given back, in a task of its own. Readers of SQLite stay here instead, ready for
//! the next one. A session of PostgreSQL is checked before each use, so it goes back.

use std::{
    ops::Deref,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use espelho_model::watch::Line;
use parking_lot::Mutex;
use sqlx::{Pool, Transaction, pool::PoolConnection};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// The right to be within the pool, until it is dropped.
pub(crate) type Permit = OwnedSemaphorePermit;

/// A pool of connections and the queue before it.
#[derive(Debug)]
pub(crate) struct QueuedPool<D: sqlx::Database> {
    pool: Pool<D>,
    queue: Arc<Queue<D>>,
}

/// The queue that all users of a pool share.
#[derive(Debug)]
struct Queue<D: sqlx::Database> {
    /// As many as the pool may have connections.
    permits: Arc<Semaphore>,
    /// Those that wait, as the watch over all lanes sees them.
    line: Arc<Line>,
    /// How long a caller waits for a permit.
    longest: Duration,
    /// Notified of each commit.
    commits: Notify,
    /// True for a pool of readers: a connection stays ready after a reading.
    keeps_ready: bool,
    /// Connections that have read, the latest last.
    ready: Mutex<Vec<PoolConnection<D>>>,
    /// Those who use the pool without a permit now: meanwhile no connection stays ready.
    direct: AtomicUsize,
}

/// The pool itself. While it is held, every connection goes back into it.
pub(crate) struct DirectPool<'p, D: sqlx::Database> {
    pool: &'p Pool<D>,
    queue: &'p Queue<D>,
}

/// An open transaction and its permit.
pub(crate) struct PooledTransaction<D: sqlx::Database> {
    transaction: Transaction<'static, D>,
    queue: Arc<Queue<D>>,
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
        Self::with(pool, longest, false)
    }

    /// The same for a pool that only reads: its connections stay open, ready for the next reader.
    pub(crate) fn of_readers(pool: Pool<D>, longest: Duration) -> Self {
        Self::with(pool, longest, true)
    }

    fn with(pool: Pool<D>, longest: Duration, keeps_ready: bool) -> Self {
        let permits = Arc::new(Semaphore::new(pool.options().get_max_connections() as usize));
        let queue = Queue {
            permits,
            line: Arc::default(),
            longest,
            commits: Notify::new(),
            keeps_ready,
            ready: Mutex::default(),
            direct: AtomicUsize::new(0),
        };
        Self { pool, queue: Arc::new(queue) }
    }

    /// The pool itself, for what rarely runs. Its users take no permit, and wait within it.
    pub(crate) fn pool(&self) -> DirectPool<'_, D> {
        self.queue.direct.fetch_add(1, Ordering::SeqCst);
        self.queue.ready.lock().clear();
        DirectPool { pool: &self.pool, queue: &self.queue }
    }

    /// Closes the pool and the queue: callers that wait get an error.
    pub(crate) async fn close(&self) {
        self.queue.permits.close();
        self.pool().close().await;
    }

    /// Reads on a connection once the caller has a permit. A connection that has read well stays ready.
    pub(super) async fn read<T>(
        &self,
        read: impl AsyncFnOnce(&mut D::Connection) -> sqlx::Result<T>,
    ) -> sqlx::Result<T> {
        let _permit = self.permit().await?;
        let ready = self.queue.ready.lock().pop();
        let mut connection = match ready {
            Some(connection) => connection,
            None => boxed(Pool::acquire, &self.pool).await?,
        };
        let done = read(&mut connection).await?;
        self.queue.keep_ready(connection);
        Ok(done)
    }

    /// Begins a transaction with this statement once the caller has a permit.
    pub(super) async fn begin(&self, statement: &'static str) -> sqlx::Result<PooledTransaction<D>> {
        let permit = self.permit().await?;
        let transaction = boxed(|pool| pool.begin_with(statement), &self.pool).await?;
        Ok(PooledTransaction { transaction, queue: Arc::clone(&self.queue), _permit: permit })
    }

    /// Waits until a transaction was committed since the last call. One caller at a time.
    pub(crate) async fn committed(&self) {
        self.queue.commits.notified().await;
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

impl<D: sqlx::Database> Queue<D> {
    fn keep_ready(&self, connection: PoolConnection<D>) {
        let mut ready = self.ready.lock();
        if self.keeps_ready && self.direct.load(Ordering::SeqCst) == 0 && !self.permits.is_closed() {
            ready.push(connection);
        }
    }
}

/// Connections return to their pool in a task, and there may be no runtime any more: they end here.
impl<D: sqlx::Database> Drop for Queue<D> {
    fn drop(&mut self) {
        self.ready.get_mut().drain(..).for_each(|connection| drop(connection.detach()));
    }
}

impl<D: sqlx::Database> Deref for DirectPool<'_, D> {
    type Target = Pool<D>;

    fn deref(&self) -> &Pool<D> {
        self.pool
    }
}

impl<D: sqlx::Database> Drop for DirectPool<'_, D> {
    fn drop(&mut self) {
        self.queue.direct.fetch_sub(1, Ordering::SeqCst);
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

    /// A pool of one connection that only reads.
    fn readers() -> QueuedPool<Sqlite> {
        QueuedPool::of_readers(pool(LONG).pool.clone(), LONG)
    }

    /// Reads one row; returns how many came.
    async fn one(pool: &QueuedPool<Sqlite>) -> sqlx::Result<usize> {
        let rows = pool.read(async |connection| sqlx::query("SELECT 1").fetch_all(connection).await).await?;
        Ok(rows.len())
    }

    fn ready(pool: &QueuedPool<Sqlite>) -> usize {
        pool.queue.ready.lock().len()
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
        let mut third = pin!(one(&pool));
        assert!(once(third.as_mut()).await.is_none());
        drop(second);
        assert_eq!(third.await.unwrap(), 1);
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
        let late = one(&pool).await;
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

    #[tokio::test]
    async fn a_connection_that_has_read_stays_ready_until_somebody_needs_the_pool() {
        let pool = readers();
        for _ in 0..3 {
            assert_eq!(one(&pool).await.unwrap(), 1);
            assert_eq!((ready(&pool), pool.pool.num_idle()), (1, 0));
        }
        let direct = pool.pool();
        assert_eq!(ready(&pool), 0);
        sqlx::query("SELECT 1").execute(&*direct).await.unwrap();
        one(&pool).await.unwrap();
        assert_eq!(ready(&pool), 0, "the pool is in use");
        drop(direct);
        one(&pool).await.unwrap();
        assert_eq!(ready(&pool), 1);
        pool.close().await;
        assert_eq!((ready(&pool), pool.pool.size()), (0, 0));
    }

    #[tokio::test]
    async fn a_connection_stays_ready_neither_after_a_failure_nor_where_each_use_is_checked() {
        let pool = readers();
        let failed = pool.read(async |connection| sqlx::query("SELECT").execute(connection).await).await;
        assert!(failed.is_err());
        assert_eq!(ready(&pool), 0);
        one(&pool).await.unwrap();
        assert_eq!(ready(&pool), 1);
        let given_up = pool.read(async |_| std::future::pending::<sqlx::Result<()>>().await);
        assert!(once(pin!(given_up)).await.is_none());
        assert_eq!(ready(&pool), 0, "nobody knows where its reading stopped");
        let checked = self::pool(LONG);
        one(&checked).await.unwrap();
        assert_eq!(ready(&checked), 0);
    }

    #[test]
    fn a_pool_with_a_ready_connection_may_end_after_its_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let pool = runtime.block_on(async {
            let pool = readers();
            one(&pool).await.unwrap();
            pool
        });
        drop(runtime);
        assert_eq!(ready(&pool), 1);
        drop(pool);
    }

    /// Thousands of stores wait here together.
    #[tokio::test]
    async fn waiting_takes_less_than_a_kib() {
        let pool = pool(LONG);
        let begin = size_of_val(&pool.begin("BEGIN IMMEDIATE"));
        let read = size_of_val(&one(&pool));
        assert!(begin < 1_024 && read < 1_024, "{begin} and {read} bytes");
    }
}
