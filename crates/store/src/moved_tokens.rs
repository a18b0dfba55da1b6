//! The tokens of a mirror of an earlier version lie in its own file, which an ERP may open now. They go to the second file, which is
//! the service's alone.
//!
//! They are durable there before the migration takes them away here, so that whoever is killed in between leaves them twice, and
//! never nowhere. The log, which still has their pages, is emptied before anybody else may open the mirror.

use sqlx::Row as _;

use crate::{Error, Store, attach, driver::Database, permissions, tokens};

/// A mirror of this version has no such table.
const HAS_TOKENS: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'tokens'";
const OF_BEFORE: &str = "SELECT store, token, expires_at, obtained_at, username, base_url FROM tokens";
const FORGET: &str = "DELETE FROM tokens";

impl Store {
    /// Copies the tokens that are still in the mirror's file; before its migrations, and after those of the second file.
    pub(crate) async fn move_tokens(&self) -> Result<(), Error> {
        if attach::version(&self.database).await? == 0 {
            // A mirror that begins anew does not know what of their budgets was just spent.
            return self.inbox.execute("forget the tokens", FORGET, Vec::new()).await.map(drop);
        }
        if self.database.fetch("look for tokens", HAS_TOKENS, Vec::new()).await?.is_empty() {
            return Ok(());
        }
        let rows = self.database.fetch("read the tokens", OF_BEFORE, Vec::new()).await?;
        let mut tx = self.inbox.begin().await?;
        for row in rows {
            let values = vec![
                row.text(0)?.into(),
                row.text(1)?.into(),
                row.time(2)?.into(),
                row.time(3)?.into(),
                row.text(4)?.into(),
                row.text(5)?.into(),
            ];
            tx.execute("move a token", tokens::SAVE, values).await?;
        }
        tx.commit().await
    }

    /// Lets the group of the folder open the mirror, where the folder is made for that and nothing of a token is left in the log.
    pub(crate) async fn share_with_group(&self) -> Result<(), Error> {
        let Some(file) = self.file() else { return Ok(()) };
        if !permissions::group_waits(file) || empty_log(&self.database).await? {
            permissions::share(file);
            return Ok(());
        }
        tracing::warn!(file = %file.display(), "others read the database: its group may open it after the next start");
        Ok(())
    }
}

/// Puts the log into the file and empties it; false while others read it.
async fn empty_log(database: &Database) -> Result<bool, Error> {
    let Database::Sqlite { write, .. } = database else { return Ok(true) };
    let done = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(write).await;
    let busy = done.and_then(|row| row.try_get::<i64, _>(0));
    busy.map(|busy| busy == 0).map_err(|source| Error::statement("empty the log", source))
}
