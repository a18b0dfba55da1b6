//! Lease check before calls: only one process at a time may work on a store.

use std::sync::{Arc, OnceLock};

use crate::{ApiRequest, Error, error::BoxedError, limit::BoxFuture};

/// Knows whether this process holds the store's lease. Every request, including a login, asks it immediately before
/// it is sent.
pub trait Owner: Send + Sync {
    /// Resolves as soon as it is certain whether this process holds the store's lease.
    fn confirm(&self) -> BoxFuture<'_, Result<(), BoxedError>>;
    /// Resolves when this process no longer holds the store's lease.
    fn ended(&self) -> BoxFuture<'_, BoxedError>;
    /// Resolves when the lease is about to be released. A call that still waits, for the rate limiter, for the login
    /// limit or for another attempt, is then cancelled: it would delay the next owner by minutes.
    fn closing(&self) -> BoxFuture<'_, ()>;
}

/// The owner of a client, if it has one. The first that is set stays.
#[derive(Default)]
pub(crate) struct Ownership(OnceLock<Arc<dyn Owner>>);

impl Ownership {
    /// Sets the owner, unless there is one.
    pub(crate) fn set(&self, owner: Arc<dyn Owner>) {
        let _ = self.0.set(owner);
    }

    /// Asks the owner, immediately before a call is sent.
    pub(crate) async fn may_call(&self, request: &ApiRequest) -> Result<(), Error> {
        let Some(owner) = self.0.get() else { return Ok(()) };
        owner.confirm().await.map_err(|source| not_ours(request, false, source))
    }

    /// Resolves when the call must not be sent any more. It may still be waiting for a connection.
    pub(crate) async fn no_longer_ours(&self, request: &ApiRequest) -> Error {
        match self.0.get() {
            Some(owner) => not_ours(request, true, owner.ended().await),
            None => std::future::pending().await,
        }
    }

    /// Resolves when a call that waits must be cancelled.
    pub(crate) async fn closing(&self) {
        match self.0.get() {
            Some(owner) => owner.closing().await,
            None => std::future::pending().await,
        }
    }
}

fn not_ours(request: &ApiRequest, sent: bool, source: BoxedError) -> Error {
    Error::NotOurs { request: request.describe(), sent, read: request.is_read(), source }
}
