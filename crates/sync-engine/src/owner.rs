//! The lease as the client's owner: nothing is called for a store that may be somebody else's.

use std::sync::Arc;

use espelho_api_client::{error::BoxedError, limit::BoxFuture, owner::Owner};
use espelho_store::{Error, Lease, Tenure};

/// Lets a client call for as long as the lease holds.
pub struct LeaseOwner(Tenure);

impl LeaseOwner {
    /// The owner that a lease stands for.
    pub fn of(lease: &Lease) -> Arc<Self> {
        Arc::new(Self(lease.tenure().clone()))
    }
}

impl Owner for LeaseOwner {
    fn confirm(&self) -> BoxFuture<'_, Result<(), BoxedError>> {
        Box::pin(async { Ok(self.0.confirm().await?) })
    }

    fn ended(&self) -> BoxFuture<'_, BoxedError> {
        Box::pin(async {
            self.0.ended().await;
            Error::LeaseLost { store: self.0.store().clone() }.into()
        })
    }
}
