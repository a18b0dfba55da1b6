//! The proof that the database accepts writes: it rewrites a row unchanged and commits.

use crate::operations::Diagnostics;
use crate::{Error, connect::schema_version};

pub(crate) const REWRITE: &str = "UPDATE _sqlx_migrations SET description = description WHERE version = $1";

impl Diagnostics<'_> {
    /// Rewrites a row unchanged, to the disk. On SQLite it waits up to 10 s for another writer.
    ///
    /// # Errors
    /// When the database is not writable: no room, no permission, or another program that keeps it locked.
    pub async fn prove_write(self) -> Result<(), Error> {
        let version = schema_version::version(self.database).await?;
        self.database.execute("write", REWRITE, vec![version.into()]).await.map(drop)
    }
}
