//! Who reads the change feed, and how far they have come.

use chrono::{DateTime, Utc};

use crate::{Error, Store};

pub(crate) const READ: &str = "SELECT seq FROM consumers WHERE name = $1";
pub(crate) const ALL: &str = "SELECT name, seq, updated_at FROM consumers ORDER BY name";
pub(crate) const FORGET: &str = "DELETE FROM consumers WHERE name = $1";
/// An acknowledgement of what was never told is one of what was: whoever mistypes a number skips nothing.
pub(crate) const ACKNOWLEDGE: &str = "INSERT INTO consumers (name, seq, updated_at) \
    VALUES ($1, CASE WHEN $2 > (SELECT COALESCE(max(seq), 0) FROM changes) \
    THEN (SELECT COALESCE(max(seq), 0) FROM changes) ELSE $2 END, $3) \
    ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, updated_at = excluded.updated_at \
    WHERE consumers.seq < excluded.seq";
pub(crate) const PRUNE: &str = "DELETE FROM changes WHERE at < $1 \
    AND seq IN (SELECT seq FROM changes ORDER BY seq LIMIT 5000) \
    AND seq <= (SELECT COALESCE(min(seq), 9223372036854775807) FROM consumers)";

/// A reader of the change feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// Its name.
    pub name: String,
    /// The last row that it has dealt with.
    pub seq: i64,
    /// When it last said so.
    pub updated_at: DateTime<Utc>,
}

impl Store {
    /// The number up to which a consumer has acknowledged; `None` for one that never did.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn consumer(&self, name: &str) -> Result<Option<i64>, Error> {
        let rows = self.database.fetch("read a consumer", READ, vec![name.into()]).await?;
        rows.first().map(|row| row.int(0)).transpose()
    }

    /// All consumers, by name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn consumers(&self) -> Result<Vec<Consumer>, Error> {
        let rows = self.database.fetch("read the consumers", ALL, Vec::new()).await?;
        let read = |row: &crate::driver::Row| {
            Ok(Consumer { name: row.text(0)?, seq: row.int(1)?, updated_at: row.time(2)? })
        };
        rows.iter().map(read).collect()
    }

    /// Notes that a consumer has dealt with everything up to `seq`, and gives the number that stands now: a
    /// lower one than before, or one that the feed has not reached, changes nothing that was read already.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn acknowledge(&self, name: &str, seq: i64) -> Result<i64, Error> {
        let values = vec![name.into(), seq.max(0).into(), self.clock.now().into()];
        self.database.execute("acknowledge changes", ACKNOWLEDGE, values).await?;
        Ok(self.consumer(name).await?.unwrap_or(0))
    }

    /// Forgets a consumer, so that the feed no longer waits for it; whether there was one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_consumer(&self, name: &str) -> Result<bool, Error> {
        let forgotten = self.database.execute("forget a consumer", FORGET, vec![name.into()]).await?;
        Ok(forgotten > 0)
    }

    /// Deletes the rows of the feed that are older than `before` and that every consumer has acknowledged; gives
    /// how many. A few thousand at a time, so that nobody waits long for the database.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prune_changes(&self, before: DateTime<Utc>) -> Result<u64, Error> {
        let mut pruned = 0;
        loop {
            match self.database.execute("prune the change feed", PRUNE, vec![before.into()]).await? {
                0 => return Ok(pruned),
                some => pruned += some,
            }
        }
    }
}
