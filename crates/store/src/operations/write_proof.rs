//! The proof that the database accepts writes: it changes a row and commits.

use crate::Error;
use crate::operations::Diagnostics;

/// Changes what nothing reads. An update of no row, or to the same value, would not reach the disk: SQLite leaves out a
/// page that stays as it was.
pub(crate) const REWRITE: &str = "UPDATE _sqlx_migrations SET execution_time = execution_time + 1 \
    WHERE version = (SELECT max(version) FROM _sqlx_migrations)";

impl Diagnostics<'_> {
    /// Writes to the disk, over the connections of the mirror and over those of the inbox: two files on SQLite, where it
    /// waits up to 10 s for another writer.
    ///
    /// # Errors
    /// When the database is not writable: no room, no permission, or another program that keeps it locked.
    pub async fn prove_write(self) -> Result<(), Error> {
        self.database.execute("write", REWRITE, Vec::new()).await?;
        self.inbox.execute("write to the inbox", REWRITE, Vec::new()).await.map(drop)
    }
}
