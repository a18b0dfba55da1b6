//! The consumers of the change feed, and their progress.

use chrono::{DateTime, Utc};

use crate::{Error, Prunable, mirror::Changes};

pub(crate) const READ: &str = "SELECT seq FROM consumers WHERE name = $1";
pub(crate) const ALL: &str = "SELECT name, seq, updated_at FROM consumers ORDER BY name";
pub(crate) const FORGET: &str = "DELETE FROM consumers WHERE name = $1";
/// An acknowledgement above the feed's last number counts up to that number: a mistyped number skips nothing.
pub(crate) const ACKNOWLEDGE: &str = "INSERT INTO consumers (name, seq, updated_at) \
    VALUES ($1, CASE WHEN $2 > (SELECT COALESCE(max(seq), 0) FROM changes) \
    THEN (SELECT COALESCE(max(seq), 0) FROM changes) ELSE $2 END, $3) \
    ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, updated_at = excluded.updated_at \
    WHERE consumers.seq < excluded.seq";
pub(crate) const PRUNE: &str = "DELETE FROM changes WHERE at < $1 \
    AND seq IN (SELECT seq FROM changes ORDER BY seq LIMIT 5000) \
    AND seq <= (SELECT COALESCE(min(seq), 9223372036854775807) FROM consumers)";
pub(crate) const PRUNABLE: &str = "SELECT count(*), CAST(COALESCE(sum(octet_length(store) + octet_length(entity) \
    + octet_length(key) + octet_length(op)), 0) AS BIGINT) FROM changes WHERE at < $1 \
    AND seq <= (SELECT COALESCE(min(seq), 9223372036854775807) FROM consumers)";

/// A consumer of the change feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// Its name.
    pub name: String,
    /// The last row that it has processed.
    pub seq: i64,
    /// When it last acknowledged.
    pub updated_at: DateTime<Utc>,
}

impl Changes<'_> {
    /// The number up to which a consumer has acknowledged; `None` if it never did.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn consumer(self, name: &str) -> Result<Option<i64>, Error> {
        let rows = self.database.fetch("read a consumer", READ, vec![name.into()]).await?;
        rows.first().map(|row| row.int("seq")).transpose()
    }

    /// All consumers, by name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn consumers(self) -> Result<Vec<Consumer>, Error> {
        let rows = self.database.fetch("read the consumers", ALL, Vec::new()).await?;
        let read = |row: &crate::driver::Row| {
            Ok(Consumer {
                name: row.text("name")?,
                seq: row.int("seq")?,
                updated_at: row.time("updated_at")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Acknowledges everything up to `seq` for a consumer; returns its number after that. A number that is lower
    /// than before, or above the feed's end, marks nothing as read.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn acknowledge(self, name: &str, seq: i64) -> Result<i64, Error> {
        let values = vec![name.into(), seq.max(0).into(), self.clock.now().into()];
        self.database.execute("acknowledge changes", ACKNOWLEDGE, values).await?;
        Ok(self.consumer(name).await?.unwrap_or(0))
    }

    /// Removes a consumer, so that the feed no longer waits for it; returns whether there was one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_consumer(self, name: &str) -> Result<bool, Error> {
        let forgotten = self.database.execute("forget a consumer", FORGET, vec![name.into()]).await?;
        Ok(forgotten > 0)
    }

    /// The rows of the feed that [`Changes::prune_changes`] would delete, with the bytes of their words.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prunable_changes(self, before: DateTime<Utc>) -> Result<Prunable, Error> {
        Prunable::of(&self.database.fetch("count old changes", PRUNABLE, vec![before.into()]).await?)
    }

    /// Deletes the rows of the feed that are older than `before` and that every consumer has acknowledged; returns
    /// their number. Deletes a few thousand at a time, so that no other writer waits long.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prune_changes(self, before: DateTime<Utc>) -> Result<u64, Error> {
        self.database.execute_in_batches("prune the change feed", PRUNE, &[before.into()]).await
    }
}
