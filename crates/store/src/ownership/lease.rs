//! Ownership of a store, by two things together: a lock that the operating system (SQLite) or the server
//! (PostgreSQL) releases when its holder dies, and a row whose fencing number every write checks.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{Clock, StoreKey, privacy::Privacy, time::fixed_width};
use tokio::sync::watch;

use super::{
    heartbeat::HEARTBEAT_INTERVAL,
    locks::{Lock, Locks},
};
use crate::{
    Error, LeaseGuard,
    driver::{Database, Tx, Value},
    notifications::Notifications,
    ownership::Leases,
};

/// The interval between two tries to take a server's lock.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);
/// The owner on record of a restored store. A real owner is named with its process.
pub(crate) const RESTORER: &str = "espelho restore";
pub(crate) const TAKE: &str = "INSERT INTO leases (store, fence, owner, acquired_at, renewed_at) VALUES ($1, 1, $2, \
    $3, $3) \
    ON CONFLICT (store) DO UPDATE SET fence = leases.fence + 1, owner = excluded.owner, \
    acquired_at = excluded.acquired_at, renewed_at = excluded.renewed_at, released_at = NULL RETURNING fence";
pub(crate) const BEFORE: &str = "SELECT fence, released_at FROM leases WHERE store = $1";
pub(crate) const RELEASE: &str = "UPDATE leases SET released_at = $1 WHERE store = $2 AND fence = $3";
pub(crate) const CHECK: &str = "UPDATE leases SET renewed_at = $1 WHERE store = $2 AND fence = $3";
/// Each write renews the lease, so this is the time of the last write.
pub(crate) const SEEN: &str = "SELECT renewed_at FROM leases WHERE store = $1";
pub(crate) const WHO: &str = "SELECT owner, acquired_at FROM leases WHERE store = $1";

/// The right to work on a store, until it is dropped or released.
pub struct Lease {
    store: StoreKey,
    fence: i64,
    lock: Lock,
    pub(crate) lease_guard: LeaseGuard,
    /// Closed with the lease; the guards listen.
    given: watch::Sender<()>,
    database: Database,
    clock: Arc<dyn Clock>,
    pub(crate) notifications: Arc<Notifications>,
    /// The policy for people's data in what is written under this lease.
    pub(crate) privacy: Arc<Privacy>,
}

impl Lease {
    /// The store.
    pub fn store(&self) -> &StoreKey {
        &self.store
    }

    /// The fencing number: higher than that of any earlier holder.
    pub fn fence(&self) -> i64 {
        self.fence
    }

    /// Releases the store.
    ///
    /// # Errors
    /// When PostgreSQL does not answer; the lock then ends with the connection.
    pub async fn release(self) -> Result<(), Error> {
        // No call starts after this, so that the successor need not wait.
        drop(self.given);
        if let Lock::Server(lock) = &self.lock {
            let values = vec![self.clock.now().into(), self.store.as_str().into(), self.fence.into()];
            self.database.execute("release the lease", RELEASE, values).await?;
            lock.unlock().await?;
        }
        Ok(())
    }

    /// The guard for calls outside the database.
    pub fn lease_guard(&self) -> &LeaseGuard {
        &self.lease_guard
    }

    /// Checks within a transaction that the lease is still ours, and renews it.
    pub(crate) async fn check(&self, now: DateTime<Utc>, tx: &mut Tx) -> Result<(), Error> {
        let values = vec![now.into(), self.store.as_str().into(), self.fence.into()];
        match tx.execute("renew the lease", CHECK, values).await? {
            1 => Ok(()),
            _ => Err(Error::LeaseLost { store: self.store.clone() }),
        }
    }
}

impl Leases<'_> {
    /// Takes the lease of a store; a refused second instance sees `owner`.
    ///
    /// # Errors
    /// [`Error::Held`] when another instance has it.
    pub async fn acquire(self, store: &StoreKey, owner: &str) -> Result<Lease, Error> {
        match self.try_lock_for_a_while(store).await? {
            Some(lock) => self.take(store, owner, lock).await,
            None => Err(self.who_holds(store).await),
        }
    }

    /// The same for a caller that retries soon: believes the first refusal.
    ///
    /// # Errors
    /// [`Error::Held`] when another instance has it.
    pub async fn acquire_now(self, store: &StoreKey, owner: &str) -> Result<Lease, Error> {
        match self.locks.try_lock(store).await? {
            Some(lock) => self.take(store, owner, lock).await,
            None => Err(self.who_holds(store).await),
        }
    }

    async fn take(self, store: &StoreKey, owner: &str, lock: Lock) -> Result<Lease, Error> {
        let values: Vec<Value> = vec![store.as_str().into(), owner.into(), self.clock.now().into()];
        let mut tx = self.database.begin().await?;
        let before = tx.fetch("read the lease", BEFORE.to_owned(), vec![store.as_str().into()]).await?;
        let rows = tx.fetch("take the lease", TAKE.to_owned(), values).await?;
        let fence = rows.first().map_or(Ok(0), |row| row.int("fence"))?;
        tx.commit().await?;
        let last = before
            .first()
            .map(|row| Ok((row.int("fence")?, row.optional_time("released_at")?.is_some())))
            .transpose()?;
        let begins = self.clock.monotonic() + lock.wait_after(last, fence).await;
        let (given, lease) = watch::channel(());
        let session = match &lock {
            Lock::File { .. } => None,
            Lock::Server(lock) => Some(lock.session.clone()),
        };
        let lease_guard = LeaseGuard::new(store.clone(), Arc::clone(self.clock), lease, session, begins);
        Ok(Lease {
            store: store.clone(),
            fence,
            lock,
            lease_guard,
            given,
            database: self.database.clone(),
            clock: Arc::clone(self.clock),
            notifications: Arc::clone(self.notifications),
            privacy: Arc::clone(self.privacy),
        })
    }

    /// When an owner of the store last wrote.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn last_seen(self, store: &StoreKey) -> Result<Option<DateTime<Utc>>, Error> {
        let rows = self.database.fetch("read the lease", SEEN, vec![store.as_str().into()]).await?;
        rows.first().map(|row| row.time("renewed_at")).transpose()
    }

    /// The owner on record: the holder of a store that is held, else its last one; `None` if it never had one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn owner_on_record(self, store: &StoreKey) -> Result<Option<String>, Error> {
        let rows = self.database.fetch("read the lease", WHO, vec![store.as_str().into()]).await?;
        rows.first().map(|row| row.text("owner")).transpose()
    }

    /// Returns true if the store comes from a backup and had no owner since the restore: another installation may still
    /// use its credential.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_restored(self, store: &StoreKey) -> Result<bool, Error> {
        Ok(self.owner_on_record(store).await?.as_deref() == Some(RESTORER))
    }

    /// Tries for almost a second: PostgreSQL takes a moment to notice a killed client.
    async fn try_lock_for_a_while(self, store: &StoreKey) -> Result<Option<Lock>, Error> {
        for _ in 0..self.locks.tries() {
            if let Some(lock) = self.locks.try_lock(store).await? {
                return Ok(Some(lock));
            }
            self.clock.sleep(BETWEEN_TRIES).await;
        }
        self.locks.try_lock(store).await
    }

    async fn who_holds(self, store: &StoreKey) -> Error {
        let rows = self.database.fetch("read the lease", WHO, vec![store.as_str().into()]).await;
        let (owner, since) = match rows.as_deref() {
            Ok([row, ..]) => (row.text("owner").ok(), row.time("acquired_at").ok().map(fixed_width)),
            _ => (None, None),
        };
        let unknown = || "unknown".to_owned();
        Error::Held {
            store: store.clone(),
            owner: owner.unwrap_or_else(|| "another instance".to_owned()),
            since: since.unwrap_or_else(unknown),
        }
    }

    /// Whether processes on several machines may share the stores of this database.
    pub fn is_shared(self) -> bool {
        matches!(self.locks, Locks::Server(_))
    }

    /// Keeps asking the server for a heartbeat. Every holder of a lease runs this beside its work: without a
    /// heartbeat no call is allowed.
    pub async fn watch_over_leases(self) {
        let Locks::Server(locks) = self.locks else { return std::future::pending().await };
        loop {
            self.clock.sleep(HEARTBEAT_INTERVAL).await;
            locks.lock().await.beat().await;
        }
    }
}
