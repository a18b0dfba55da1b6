//! Moves the tokens of an earlier version from the mirror's file to the second file. The ERP may now open the first;
//! only the service opens the second.
//!
//! The tokens are durable in the second file before the migration deletes them from the first. A process that dies
//! in between leaves two copies, never none. The log still holds their pages, so it is emptied before anybody else
//! may open the mirror.

use std::path::Path;

use sqlx::Row as _;

use super::{permissions, schema_version};
use crate::{Error, driver::Database, operations::tokens};

/// A mirror of this version has no table `tokens`.
const HAS_TOKENS: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'tokens'";
const OF_BEFORE: &str = "SELECT store, token, expires_at, obtained_at, username, base_url FROM tokens";
const FORGET: &str = "DELETE FROM tokens";

/// Copies the tokens from the mirror's file. Runs before the migrations of that file and after those of the second
/// file.
pub(crate) async fn move_tokens(database: &Database, inbox: &Database) -> Result<(), Error> {
    if schema_version::version(database).await? == 0 {
        // A new mirror does not know how much of the budgets was just spent.
        return inbox.execute("forget the tokens", FORGET, Vec::new()).await.map(drop);
    }
    if database.fetch("look for tokens", HAS_TOKENS, Vec::new()).await?.is_empty() {
        return Ok(());
    }
    let rows = database.fetch("read the tokens", OF_BEFORE, Vec::new()).await?;
    let mut tx = inbox.begin().await?;
    for row in rows {
        let values = vec![
            row.text("store")?.into(),
            row.text("token")?.into(),
            row.time("expires_at")?.into(),
            row.time("obtained_at")?.into(),
            row.text("username")?.into(),
            row.text("base_url")?.into(),
            None::<i64>.into(),
        ];
        tx.execute("move a token", tokens::SAVE, values).await?;
    }
    tx.commit().await
}

/// Gives the folder's group access to the mirror, if the folder's mode asks for it and the log holds no token any
/// more.
pub(super) async fn share_with_group(file: &Path, database: &Database) -> Result<(), Error> {
    if !permissions::group_waits(file) || empty_log(database).await? {
        permissions::share(file);
        return Ok(());
    }
    tracing::warn!(file = %file.display(), "others read the database: its group may open it after the next start");
    Ok(())
}

/// Checkpoints the log into the file and truncates it; `false` while other processes read it.
async fn empty_log(database: &Database) -> Result<bool, Error> {
    let Database::Sqlite { write, .. } = database else { return Ok(true) };
    let done = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&*write.pool()).await;
    let busy = done.and_then(|row| row.try_get::<i64, _>(0));
    busy.map(|busy| busy == 0).map_err(|source| Error::statement("empty the log", source))
}
