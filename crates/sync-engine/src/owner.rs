//! The lease as the client's owner: no call is made for a store whose lease may be lost.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use espelho_api_client::{error::BoxedError, limit::BoxFuture, owner::Owner};
use espelho_model::Clock;
use espelho_store::{Error, Lease, LeaseGuard};
use tokio_util::sync::CancellationToken;

/// How long calls may still wait for the budget after a stop is requested.
const GRACE: Duration = Duration::from_secs(2);

/// Lets a client call as long as the lease holds.
pub struct LeaseOwner {
    lease_guard: LeaseGuard,
    stop: CancellationToken,
    clock: Arc<dyn Clock>,
    /// When a call first saw the stop request.
    stopped_at: OnceLock<Duration>,
}

impl LeaseOwner {
    /// Returns the owner that `lease` stands for. Cancelling `stop` asks it to release the store.
    pub fn of(lease: &Lease, stop: CancellationToken, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { lease_guard: lease.lease_guard().clone(), stop, clock, stopped_at: OnceLock::new() })
    }

    fn lost(&self) -> BoxedError {
        Error::LeaseLost { store: self.lease_guard.store().clone() }.into()
    }
}

impl Owner for LeaseOwner {
    fn confirm(&self) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async { Ok(self.lease_guard.confirm().await?) })
    }

    fn ended(&self) -> BoxFuture<'_, BoxedError> {
        Box::pin(async {
            self.lease_guard.ended().await;
            self.lost()
        })
    }

    fn closing(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.stop.cancelled().await;
            let now = self.clock.monotonic();
            let since = now.saturating_sub(*self.stopped_at.get_or_init(|| now));
            self.clock.sleep(GRACE.saturating_sub(since)).await;
        })
    }
}
