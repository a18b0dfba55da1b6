//! What a lease lets its holder do outside the database: call the marketplace, for as long as nobody else may.

use std::{sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey};
use tokio::sync::watch;

use crate::{Error, Lease, Store, heartbeat::HEARTBEAT_INTERVAL, heartbeat::Listener, lease::Locks};

/// Whether a store is still ours. Writes have their fence; calls to the marketplace ask here.
#[derive(Clone)]
pub struct LeaseGuard {
    store: StoreKey,
    clock: Arc<dyn Clock>,
    /// Ends with the lease.
    lease: watch::Receiver<()>,
    /// How the session is that has the lock, on PostgreSQL. A lock file is ours while it is open.
    session: Option<Listener>,
    /// Until then (monotonic) the owner before may not have noticed that it is none any more.
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

    /// The store that this is about.
    pub fn store(&self) -> &StoreKey {
        &self.store
    }

    /// Ends when the owner before has certainly stopped.
    pub async fn wait_until_active(&self) {
        self.clock.sleep(self.begins.saturating_sub(self.clock.monotonic())).await;
    }

    /// Ends when the store is known to be ours at this moment.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when it is not any more.
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

    /// Ends when the store is no longer ours.
    pub async fn ended(&self) {
        let mut lease = self.lease.clone();
        // Nothing is ever sent: it ends when the lease is gone.
        let given_back = async { while lease.changed().await.is_ok() {} };
        match &self.session {
            Some(session) => tokio::select! { () = session.ended() => (), () = given_back => () },
            None => given_back.await,
        }
    }
}

impl Lease {
    /// What the lease lets its holder do outside the database.
    pub fn lease_guard(&self) -> &LeaseGuard {
        &self.lease_guard
    }
}

impl Store {
    /// Whether several processes on several machines may share the stores of this database.
    pub fn is_shared(&self) -> bool {
        matches!(self.locks, Locks::Server(_))
    }

    /// Keeps looking whether the server still has our locks. Whoever holds a lease for longer than a moment runs this
    /// beside it: without a sign of life nothing may be called.
    pub async fn watch_over_leases(&self) {
        let Locks::Server(locks) = &self.locks else { return std::future::pending().await };
        loop {
            self.clock.sleep(HEARTBEAT_INTERVAL).await;
            locks.lock().await.beat().await;
        }
    }
}
