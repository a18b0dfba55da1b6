//! The change feed: every change of a mirrored row, in the order of commits.
//!
//! A consumer remembers one number, so no row may ever appear below a number that it has read. SQLite has one writer
//! at a time. PostgreSQL assigns a number at the insert and shows the row at the commit, and transactions commit in
//! another order than they insert. Reading only below the oldest running transaction does not help: transaction ids
//! follow no such order either. So a page collects its changes until the end. Only then, with all its rows written,
//! it takes the feed's lock and its numbers, and commits: numbers rise in the order of commits, and the lock is held
//! for one insert. Listeners are notified after the commit ([`crate::notifications`]).

use std::sync::Arc;

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, time::serialize_fixed_width};
use serde::Serialize;

use crate::{
    Error,
    driver::{Insert, Row},
    mirror::Changes,
};

/// The channel on which PostgreSQL announces new rows; the payload is the store's key.
pub const CHANNEL: &str = "espelho_changes";
pub(crate) const APPEND: Insert = Insert {
    operation: "append to the change feed",
    head: "INSERT INTO changes (store, entity, key, op, at)",
    columns: 5,
    tail: "",
};
pub(crate) const TAKE_TURN: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended('espelho, changes of ' || current_schema(), 0))";
pub(crate) const AFTER: &str =
    "SELECT seq, store, entity, key, op, at FROM changes WHERE seq > $1 ORDER BY seq LIMIT $2";
pub(crate) const BOUNDS: &str = "SELECT min(seq), max(seq) FROM changes";

/// What happened to an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString, Serialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Op {
    /// It is new in the mirror.
    Insert,
    /// It is different, or it came back.
    Update,
    /// It is gone from the marketplace.
    Gone,
}

impl Op {
    /// All of them, each at its own number.
    pub(crate) const ALL: [Self; 3] = [Self::Insert, Self::Update, Self::Gone];

    /// The word in `changes.op`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A row of the feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its number. Numbers rise. Gaps may occur and are never filled.
    pub seq: i64,
    /// The store.
    pub store: StoreKey,
    /// The entity: `order`, `product`, `shipment` and so on.
    pub entity: String,
    /// Its key.
    pub key: String,
    /// The change.
    pub op: Op,
    /// When.
    #[serde(serialize_with = "serialize_fixed_width")]
    pub at: DateTime<Utc>,
}

/// A change that the page has written and not yet appended to the feed.
pub(crate) struct PendingChange {
    pub(super) entity: Arc<str>,
    pub(super) key: Arc<str>,
    pub(super) op: Op,
}

impl Changes<'_> {
    /// Up to `limit` rows of the feed after a number, in order. Later commits have higher numbers.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn changes_after(self, seq: i64, limit: u32) -> Result<Vec<Change>, Error> {
        let values = vec![seq.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read the change feed", AFTER, values).await?;
        rows.iter().map(read_change).collect()
    }

    /// The first and the last number of the feed; `None` while it is empty.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn feed_bounds(self) -> Result<Option<(i64, i64)>, Error> {
        let rows = self.database.fetch("read the feed's bounds", BOUNDS, Vec::new()).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(row.optional_int(0)?.zip(row.optional_int(1)?))
    }
}

fn read_change(row: &Row) -> Result<Change, Error> {
    let corrupt = |column, why: String| Error::Corrupt { column, why };
    let op = row.text("op")?;
    Ok(Change {
        seq: row.int("seq")?,
        store: StoreKey::new(&row.text("store")?).map_err(|error| corrupt(1, error.to_string()))?,
        entity: row.text("entity")?,
        key: row.text("key")?,
        op: op.parse().map_err(|_| corrupt(4, format!("{op:?} is no operation")))?,
        at: row.time("at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_at_its_own_number() {
        for (number, op) in Op::ALL.into_iter().enumerate() {
            assert_eq!(op as usize, number);
        }
    }
}
