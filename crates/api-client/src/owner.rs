//! Whether calls may be made at all: a store may be worked on by one process at a time.

use std::sync::Arc;

use crate::{ApiRequest, Client, Error, error::BoxedError, limit::BoxFuture, send::Exchange};

/// Knows whether the store is ours. It is asked before each request, logins too, at the last moment before it goes out.
pub trait Owner: Send + Sync {
    /// Ends as soon as it is certain that the store is ours, or is not.
    fn confirm(&self) -> BoxFuture<'_, Result<(), BoxedError>>;
    /// Ends when the store is no longer ours.
    fn ended(&self) -> BoxFuture<'_, BoxedError>;
}

impl Client {
    /// Has every call ask this owner first, of this client and of all its clones. The first owner stays.
    #[must_use]
    pub fn owned_by(self, owner: Arc<dyn Owner>) -> Self {
        let _ = self.exchange.owner.set(owner);
        self
    }
}

impl Exchange {
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
}

fn not_ours(request: &ApiRequest, sent: bool, source: BoxedError) -> Error {
    Error::NotOurs { request: request.describe(), sent, read: request.is_read(), source }
}
