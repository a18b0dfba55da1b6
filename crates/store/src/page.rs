//! The transaction in which a page's rows and its checkpoint move together, under a lease.

use chrono::{DateTime, Utc};
use espelho_model::{ContentHash, StoreKey};

use crate::{Error, Lease, Store, changes::Untold, driver::Tx};

pub(crate) const MARK: &str = "SAVEPOINT row_of_page";
pub(crate) const UNDO: &str = "ROLLBACK TO SAVEPOINT row_of_page";

/// A write under a lease: nothing of it is kept unless [`PageTx::commit`] succeeds, and nothing is written
/// at all when the lease was lost.
pub struct PageTx<'l> {
    pub(crate) tx: Tx,
    lease: &'l Lease,
    at: DateTime<Utc>,
    /// What the change feed will be told, and how much of it there was at the mark.
    pub(crate) untold: Vec<Untold>,
    untold_at_mark: usize,
}

/// What the mirror knows about a listed row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The fingerprint of the row as it was last listed.
    pub listing_hash: ContentHash,
    /// The fingerprint of the detail as it was last mirrored.
    pub content_hash: ContentHash,
    /// Whether the row is marked as gone.
    pub gone: bool,
}

impl Store {
    /// Begins a write under a lease.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store.
    pub async fn begin<'l>(&self, lease: &'l Lease) -> Result<PageTx<'l>, Error> {
        let mut tx = self.database.begin().await?;
        lease.check(self, &mut tx).await?;
        Ok(PageTx { tx, lease, at: self.clock.now(), untold: Vec::new(), untold_at_mark: 0 })
    }
}

/// How long an answer waits for a row that the ERP has locked: it is answered later, and meanwhile nothing else of the store
/// waits. Less than a second, after which the server looks for deadlocks: it may end the ERP's transaction instead of ours.
pub(crate) const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '300ms'";

impl Store {
    /// Begins a write onto rows that the ERP writes too, and may hold for as long as it likes.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store.
    pub async fn begin_answer<'l>(&self, lease: &'l Lease) -> Result<PageTx<'l>, Error> {
        let mut page = self.begin(lease).await?;
        page.tx.execute_on_server("bound the wait for locks", LOCK_TIMEOUT, Vec::new()).await?;
        Ok(page)
    }
}

impl PageTx<'_> {
    /// The store that is written.
    pub(crate) fn store_key(&self) -> &StoreKey {
        self.lease.store()
    }

    /// The one time that all rows of this write bear.
    pub(crate) fn at(&self) -> DateTime<Utc> {
        self.at
    }

    /// From here on, [`PageTx::undo_to_mark`] takes everything back.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mark(&mut self) -> Result<(), Error> {
        self.untold_at_mark = self.untold.len();
        self.tx.execute("mark a place in a transaction", MARK, Vec::new()).await.map(drop)
    }

    /// Takes back what was written since [`PageTx::mark`]; the transaction goes on, also after a refusal.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn undo_to_mark(&mut self) -> Result<(), Error> {
        self.untold.truncate(self.untold_at_mark);
        self.tx.execute("undo part of a transaction", UNDO, Vec::new()).await.map(drop)
    }

    /// Keeps everything, and tells the change feed.
    ///
    /// # Errors
    /// When the database does not answer; then nothing was kept, or it will be found again by its keys.
    pub async fn commit(mut self) -> Result<(), Error> {
        self.tell_changes().await?;
        self.tx.commit().await
    }
}
