//! The lease outside the database: permission to call the marketplace while no other process may.

use std::{sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey};
use tokio::sync::watch;

use super::heartbeat::Listener;
use crate::Error;

/// Whether a store is still ours. Writes check their fence; calls to the marketplace ask here.
#[derive(Clone)]
pub struct LeaseGuard {
    store: StoreKey,
    clock: Arc<dyn Clock>,
    /// Closed with the lease.
    lease: watch::Receiver<()>,
    /// The session with the lock, on PostgreSQL. A lock file is ours while it is open.
    session: Option<Listener>,
    /// Until then (monotonic) the previous owner may not have noticed its loss.
    begins: Duration,
}

impl LeaseGuard {
    pub(crate) fn new(
        store: StoreKey,
        clock: Arc<dyn Clock>,
        lease: watch::Receiver<()>,
        session: Option<Listener>,
        begins: Duration,
    ) -> Self {
        Self { store, clock, lease, session, begins }
    }

    /// The store.
    pub fn store(&self) -> &StoreKey {
        &self.store
    }

    /// Resolves when the previous owner has certainly stopped.
    pub async fn wait_until_active(&self) {
        self.clock.sleep(self.begins.saturating_sub(self.clock.monotonic())).await;
    }

    /// Resolves once the lease is confirmed.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is lost.
    pub async fn confirm(&self) -> Result<(), Error> {
        if self.clock.monotonic() < self.begins {
            self.wait_until_active().await;
        }
        let lives = match &self.session {
            Some(session) => session.lives().await,
            None => true,
        };
        match lives && self.lease.has_changed().is_ok() {
            true => Ok(()),
            false => Err(Error::LeaseLost { store: self.store.clone() }),
        }
    }

    /// Resolves when the lease is lost.
    pub async fn ended(&self) {
        let mut lease = self.lease.clone();
        // No value is ever sent: the channel closes with the lease.
        let given_back = async { while lease.changed().await.is_ok() {} };
        match &self.session {
            Some(session) => tokio::select! { () = session.ended() => (), () = given_back => () },
            None => given_back.await,
        }
    }
}
