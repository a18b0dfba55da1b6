//! What the rate limiter must keep across a restart.

use std::{future::Future, pin::Pin};

use chrono::{DateTime, Utc};

use crate::error::BoxedError;

/// A boxed future, as object-safe traits need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A block of permits. One durable write covers the whole block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Identifies the block within the store.
    pub block: i64,
    /// How many of its requests were sent, or may have been sent.
    pub requests: u32,
    /// When its permits are free again; `None` while the block is in use. A block that is still in use when it is
    /// loaded belonged to a process that died. It counts as spent just before the load.
    pub free_at: Option<DateTime<Utc>>,
}

/// Durable storage of the spent budget.
pub trait QuotaStore: Send + Sync {
    /// Returns the blocks that were written and not yet pruned.
    fn load(&self) -> BoxFuture<'_, Result<Vec<Spent>, BoxedError>>;
    /// Writes these blocks (new ones, or known ones with their outcome) and deletes those that were free before
    /// `now`. The write is durable on return: the first request of a new block is sent afterwards.
    fn keep(&self, blocks: Vec<Spent>, now: DateTime<Utc>) -> BoxFuture<'_, Result<(), BoxedError>>;
}

/// Stores nothing: for a server without a limit, and for tests.
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
