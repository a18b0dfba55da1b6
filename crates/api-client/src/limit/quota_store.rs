//! What the budget's log must keep across a restart.

use std::{future::Future, pin::Pin};

use chrono::{DateTime, Utc};

use crate::error::BoxedError;

/// A boxed future, as object-safe traits need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A block of permits: taken from the ledger together, so that one durable write covers several requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Identifies the block within the store.
    pub block: i64,
    /// How many requests of it were or may have been sent.
    pub requests: u32,
    /// When its slots are free again; `None` while the block is in use. A block that is still in use when
    /// it is read back belonged to a process that died, and counts as spent just before the reading.
    pub free_at: Option<DateTime<Utc>>,
}

/// Durable memory of what was spent.
pub trait QuotaStore: Send + Sync {
    /// The blocks that were written and not yet pruned.
    fn load(&self) -> BoxFuture<'_, Result<Vec<Spent>, BoxedError>>;
    /// Writes these blocks (new ones, or known ones with what became of them) and forgets those that were
    /// free before `now`. Durable when it returns: the first request of a new block is sent after it.
    fn keep(&self, blocks: Vec<Spent>, now: DateTime<Utc>) -> BoxFuture<'_, Result<(), BoxedError>>;
}

/// No memory: for a server that does not count, and for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoQuotaStore;

impl QuotaStore for NoQuotaStore {
    fn load(&self) -> BoxFuture<'_, Result<Vec<Spent>, BoxedError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn keep(&self, _: Vec<Spent>, _: DateTime<Utc>) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async { Ok(()) })
    }
}
