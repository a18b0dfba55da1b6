//! The proof that the database takes writes: a row is written as it is, and committed.

use crate::{Error, Store, attach};

pub(crate) const REWRITE: &str = "UPDATE _sqlx_migrations SET description = description WHERE version = $1";

impl Store {
    /// Writes a row that changes nothing, to the disk. On SQLite it waits up to 10 s for another writer.
    ///
    /// # Errors
    /// When the database cannot be written to: no room, no right, or another program that does not let go of it.
    pub async fn prove_write(&self) -> Result<(), Error> {
        let version = attach::version(&self.database).await?;
        self.database.execute("write", REWRITE, vec![version.into()]).await.map(drop)
    }
}
