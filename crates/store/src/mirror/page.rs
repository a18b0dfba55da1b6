//! The transaction of every write under a lease: a page's rows with its checkpoint, one refreshed row, or answers on
//! the ERP's rows.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use espelho_model::{Clock, ContentHash, StoreKey, privacy::Privacy};

use super::changes::{APPEND, CHANNEL, Op, PendingChange, TAKE_TURN};
use crate::{
    Error, Lease, Store,
    driver::{Database, Tx, Value},
};

pub(crate) const SET_SAVEPOINT: &str = "SAVEPOINT row_of_page";
pub(crate) const ROLLBACK_TO_SAVEPOINT: &str = "ROLLBACK TO SAVEPOINT row_of_page";

/// A transaction under a lease, of a page or of anything else. [`LeaseTx::commit`] also appends its changes to the
/// change feed; without it the transaction is rolled back. A lost lease prevents any write.
pub struct LeaseTx<'l> {
    pub(crate) tx: Tx,
    lease: &'l Lease,
    at: DateTime<Utc>,
    /// The changes to append to the feed.
    pending: Vec<PendingChange>,
    /// The number of pending changes at the savepoint.
    pending_at_savepoint: usize,
    /// True if the store has erased orders or people; `None` until a writer has asked.
    pub(crate) has_erasures: Option<bool>,
    /// True if rows are compared by their columns too, not by their fingerprints alone.
    pub(crate) compares_columns: bool,
}

/// The state of a mirrored row, as it was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The fingerprint of the row as it was last listed.
    pub listing_hash: ContentHash,
    /// The fingerprint of the detail as it was last mirrored.
    pub content_hash: ContentHash,
    /// Whether the row is marked as gone.
    pub gone: bool,
}

/// How long an answer waits for a row that the ERP has locked. On time-out the answer comes later, and the store's
/// other work continues. Less than a second: after that PostgreSQL looks for deadlocks and may abort the ERP's
/// transaction instead of ours.
pub(crate) const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '300ms'";

impl Store {
    /// Begins a write under a lease.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store.
    pub async fn begin<'l>(&self, lease: &'l Lease) -> Result<LeaseTx<'l>, Error> {
        begin(&self.database, &self.clock, lease).await
    }

    /// Begins a write onto rows that the ERP writes too and may keep locked.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store.
    pub async fn begin_answer<'l>(&self, lease: &'l Lease) -> Result<LeaseTx<'l>, Error> {
        begin_answer(&self.database, &self.clock, lease).await
    }
}

async fn begin<'l>(
    database: &Database,
    clock: &Arc<dyn Clock>,
    lease: &'l Lease,
) -> Result<LeaseTx<'l>, Error> {
    let mut tx = database.begin().await?;
    lease.check(clock.now(), &mut tx).await?;
    Ok(LeaseTx {
        tx,
        lease,
        at: clock.now(),
        pending: Vec::new(),
        pending_at_savepoint: 0,
        has_erasures: None,
        compares_columns: false,
    })
}

pub(crate) async fn begin_answer<'l>(
    database: &Database,
    clock: &Arc<dyn Clock>,
    lease: &'l Lease,
) -> Result<LeaseTx<'l>, Error> {
    let mut page = begin(database, clock, lease).await?;
    page.tx.execute_on_server("bound the wait for locks", LOCK_TIMEOUT, Vec::new()).await?;
    Ok(page)
}

impl LeaseTx<'_> {
    /// The store of this write.
    pub(crate) fn store_key(&self) -> &StoreKey {
        self.lease.store()
    }

    /// The policy for people's data.
    pub(crate) fn privacy(&self) -> &Arc<Privacy> {
        &self.lease.privacy
    }

    /// The one time for all rows of this write.
    pub(crate) fn at(&self) -> DateTime<Utc> {
        self.at
    }

    /// Sets the savepoint (SQL `SAVEPOINT`) of [`LeaseTx::rollback_to_savepoint`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn savepoint(&mut self) -> Result<(), Error> {
        self.pending_at_savepoint = self.pending.len();
        self.tx.execute("mark a place in a transaction", SET_SAVEPOINT, Vec::new()).await.map(drop)
    }

    /// Rolls back to the savepoint of [`LeaseTx::savepoint`]; the transaction stays usable, even after a refused statement.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn rollback_to_savepoint(&mut self) -> Result<(), Error> {
        self.pending.truncate(self.pending_at_savepoint);
        self.tx.execute("undo part of a transaction", ROLLBACK_TO_SAVEPOINT, Vec::new()).await.map(drop)
    }

    /// Commits everything and appends to the change feed.
    ///
    /// # Errors
    /// When the database does not answer. The rows may be committed nevertheless; the next read finds them by their
    /// keys.
    pub async fn commit(mut self) -> Result<(), Error> {
        let has_changes = !self.pending.is_empty();
        self.append_changes().await?;
        let committed = self.tx.commit().await;
        // After an error too: the rows may be committed nevertheless.
        if has_changes {
            self.lease.notifications.note(CHANNEL, [self.lease.store().clone()]);
        }
        committed
    }

    /// Collects changes for the feed.
    pub(crate) fn announce(
        &mut self,
        entity: &'static str,
        changes: impl IntoIterator<Item = (impl Into<Arc<str>>, Op)>,
    ) {
        let entity: Arc<str> = entity.into();
        let pending = changes.into_iter().map(|(key, op)| PendingChange {
            entity: Arc::clone(&entity),
            key: key.into(),
            op,
        });
        self.pending.extend(pending);
    }

    /// Appends the collected changes, last before the commit: nothing may wait for a row lock while holding the
    /// feed's lock.
    async fn append_changes(&mut self) -> Result<(), Error> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        let (store, at) = (Value::key(self.store_key().as_str()), self.at());
        let ops = Op::ALL.map(|op| Value::key(op.as_str()));
        self.tx.execute_on_server("take the turn in the change feed", TAKE_TURN, Vec::new()).await?;
        let values = pending.into_iter().flat_map(|PendingChange { entity, key, op }| -> [Value; 5] {
            [store.clone(), Value::Key(entity), Value::Key(key), ops[op as usize].clone(), at.into()]
        });
        let values = values.collect();
        self.tx.insert(&APPEND, values).await.map(drop)
    }
}
