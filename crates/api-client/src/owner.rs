//! Whether calls may be made at all: a store may be worked on by one process at a time.

use std::sync::Arc;

use crate::{
    ApiRequest, Client, Error,
    error::BoxedError,
    limit::{BoxFuture, Permit},
    send::Transport,
};

/// Knows whether the store is ours. It is asked before each request, logins too, at the last moment before it goes out.
pub trait Owner: Send + Sync {
    /// Ends as soon as it is certain that the store is ours, or is not.
    fn confirm(&self) -> BoxFuture<'_, Result<(), BoxedError>>;
    /// Ends when the store is no longer ours.
    fn ended(&self) -> BoxFuture<'_, BoxedError>;
    /// Ends when the store is about to be given back: a call that still waits for the budget is not made any more. With a
    /// small budget it would keep the next owner waiting for minutes.
    fn closing(&self) -> BoxFuture<'_, BoxedError>;
}

impl Client {
    /// Has every call ask this owner first, of this client and of all its clones. The first owner stays.
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

    /// Ends when the call must not go out any more: it may still be waiting for a connection.
    pub(crate) async fn no_longer_ours(&self, request: &ApiRequest) -> Error {
        match self.owner.get() {
            Some(owner) => not_ours(request, true, owner.ended().await),
            None => std::future::pending().await,
        }
    }

    /// Ends when a call that waits for the budget shall not be made any more.
    async fn closing(&self, request: &ApiRequest) -> Error {
        match self.owner.get() {
            Some(owner) => not_ours(request, false, owner.closing().await),
            None => std::future::pending().await,
        }
    }
}

impl Client {
    /// Keeps the route's pace and takes a slot of the budget.
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
