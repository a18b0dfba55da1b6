//! Lease check before calls: only one process at a time may work on a store.

use std::sync::Arc;

use crate::{
    ApiRequest, Client, Error,
    error::BoxedError,
    limit::{BoxFuture, Permit},
    send::Transport,
};

/// Knows whether this process holds the store's lease. Every request, including a login, asks it immediately before
/// it is sent.
pub trait Owner: Send + Sync {
    /// Resolves as soon as it is certain whether this process holds the store's lease.
    fn confirm(&self) -> BoxFuture<'_, Result<(), BoxedError>>;
    /// Resolves when this process no longer holds the store's lease.
    fn ended(&self) -> BoxFuture<'_, BoxedError>;
    /// Resolves when the lease is about to be released. A call that still waits at the rate limiter is then
    /// cancelled; with a small budget it would delay the next owner by minutes.
    fn closing(&self) -> BoxFuture<'_, BoxedError>;
}

impl Client {
    /// Makes every call of this client and all its clones ask this owner first. A later owner does not replace the
    /// first.
    #[must_use]
    pub fn owned_by(self, owner: Arc<dyn Owner>) -> Self {
        let _ = self.transport.owner.set(owner);
        self
    }
}

impl Transport {
    pub(crate) async fn may_call(&self, request: &ApiRequest) -> Result<(), Error> {
        let Some(owner) = self.owner.get() else { return Ok(()) };
        owner.confirm().await.map_err(|source| not_ours(request, false, source))
    }

    /// Resolves when the call must not be sent any more. It may still be waiting for a connection.
    pub(crate) async fn no_longer_ours(&self, request: &ApiRequest) -> Error {
        match self.owner.get() {
            Some(owner) => not_ours(request, true, owner.ended().await),
            None => std::future::pending().await,
        }
    }

    /// Resolves when a call that waits at the rate limiter must be cancelled.
    async fn closing(&self, request: &ApiRequest) -> Error {
        match self.owner.get() {
            Some(owner) => not_ours(request, false, owner.closing().await),
            None => std::future::pending().await,
        }
    }
}

impl Client {
    /// Waits for the route's pace and acquires a permit from the rate limiter.
    pub(crate) async fn wait_for_slot(&self, request: &ApiRequest) -> Result<Permit, Error> {
        let slot = async {
            self.limiter.keep_route_pace(request.route).await;
            self.limiter.acquire(self.lane).await
        };
        tokio::select! {
            biased;
            slot = slot => slot,
            error = self.transport.closing(request) => Err(error),
        }
    }
}

fn not_ours(request: &ApiRequest, sent: bool, source: BoxedError) -> Error {
    Error::NotOurs { request: request.describe(), sent, read: request.is_read(), source }
}
