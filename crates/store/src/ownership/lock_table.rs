//! The size of PostgreSQL's lock table: each store that a process holds takes one advisory lock there.

use crate::{Error, ownership::Leases};

/// Every role may read these settings.
pub(crate) const SETTINGS: &str = "SELECT CAST(current_setting('max_locks_per_transaction') AS BIGINT), \
    CAST(current_setting('max_connections') AS BIGINT), \
    CAST(current_setting('max_prepared_transactions') AS BIGINT)";

/// The settings from which the server makes its lock table. All sessions of all its databases share the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockTable {
    /// `max_locks_per_transaction`.
    pub locks_per_transaction: u64,
    /// `max_connections`.
    pub connections: u64,
    /// `max_prepared_transactions`.
    pub prepared_transactions: u64,
}

impl Leases<'_> {
    /// The server's lock table; `None` on SQLite, where a store's lock is a file.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lock_table(self) -> Result<Option<LockTable>, Error> {
        if self.locks.database_file().is_some() {
            return Ok(None);
        }
        let rows = self.database.fetch("read the settings of the lock table", SETTINGS, Vec::new()).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(LockTable {
            locks_per_transaction: row.count(0)?,
            connections: row.count(1)?,
            prepared_transactions: row.count(2)?,
        }))
    }
}
