//! The change feed: what was mirrored, in the order in which it was kept.
//!
//! A reader remembers one number, so no row may ever appear below a number that was read. On SQLite there is
//! one writer at a time. On PostgreSQL a number is taken when a row is inserted and seen when its transaction
//! ends, and transactions end in another order than they began. Reading only below the oldest running
//! transaction would not help: transactions take their numbers in no order of theirs. So a page keeps what it
//! has to tell until its end, and only then, with all its rows written, takes the feed's lock, its numbers, and
//! commits: numbers rise in the order of commits, and the lock is held for one insert. `NOTIFY` puts
//! commits in a row in the same way, so listeners are told in the statement that takes the lock.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{
    Error, PageTx, Store,
    driver::{Insert, Row, Value},
};

/// The channel on which PostgreSQL says that there are new rows; the payload is the store's name.
pub const CHANNEL: &str = "espelho_changes";

pub(crate) const APPEND: Insert = Insert {
    operation: "append to the change feed",
    head: "INSERT INTO changes (store, entity, key, op, at)",
    columns: 5,
    tail: "",
};
pub(crate) const TAKE_TURN: &str = "SELECT pg_advisory_xact_lock(hashtextextended('espelho, changes of ' || current_schema(), 0)), \
    pg_notify('espelho_changes', $1)";
pub(crate) const AFTER: &str =
    "SELECT seq, store, entity, key, op, at FROM changes WHERE seq > $1 ORDER BY seq LIMIT $2";
pub(crate) const BOUNDS: &str = "SELECT min(seq), max(seq) FROM changes";

/// What happened to an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// It is new in the mirror.
    Insert,
    /// It is different, or it came back.
    Update,
    /// A complete pass no longer found it.
    Gone,
}

impl Op {
    /// The word in `changes.op`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Gone => "gone",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Insert, Self::Update, Self::Gone].into_iter().find(|op| op.as_str() == text)
    }
}

/// A row of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its number. Numbers rise and may leave gaps, which are never filled.
    pub seq: i64,
    /// The store.
    pub store: StoreKey,
    /// What kind of thing: `order`, `product`, `shipment` and so on.
    pub entity: String,
    /// Which one.
    pub key: String,
    /// What happened to it.
    pub op: Op,
    /// When.
    pub at: DateTime<Utc>,
}

/// What a page has written and not yet told.
pub(crate) struct Untold {
    entity: &'static str,
    key: String,
    op: Op,
}

impl PageTx<'_> {
    /// Notes what the feed will be told when the page is kept.
    pub(crate) fn announce(
        &mut self,
        entity: &'static str,
        changes: impl IntoIterator<Item = (impl Into<String>, Op)>,
    ) {
        let untold = changes.into_iter().map(|(key, op)| Untold { entity, key: key.into(), op });
        self.untold.extend(untold);
    }

    /// The last thing before the commit: nothing may wait for a row's lock while it holds the feed's.
    pub(crate) async fn tell_changes(&mut self) -> Result<(), Error> {
        let untold = std::mem::take(&mut self.untold);
        if untold.is_empty() {
            return Ok(());
        }
        let (store, at) = (self.store_key().clone(), self.at());
        let payload = vec![store.as_str().into()];
        self.tx.execute_on_server("take the turn in the change feed", TAKE_TURN, payload).await?;
        let values = untold.into_iter().flat_map(|Untold { entity, key, op }| -> [Value; 5] {
            [store.as_str().into(), entity.into(), key.into(), op.as_str().into(), at.into()]
        });
        let values = values.collect();
        self.tx.insert(&APPEND, values).await.map(drop)
    }
}

impl Store {
    /// Up to `limit` rows of the feed after a number, in order. What is kept later has higher numbers.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn changes_after(&self, seq: i64, limit: u32) -> Result<Vec<Change>, Error> {
        let values = vec![seq.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read the change feed", AFTER, values).await?;
        rows.iter().map(read_change).collect()
    }

    /// The first and the last number of the feed; `None` while it is empty.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn feed_bounds(&self) -> Result<Option<(i64, i64)>, Error> {
        let rows = self.database.fetch("read the feed's bounds", BOUNDS, Vec::new()).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(row.optional_int(0)?.zip(row.optional_int(1)?))
    }
}

fn read_change(row: &Row) -> Result<Change, Error> {
    let corrupt = |column, why: String| Error::Corrupt { column, why };
    let op = row.text(4)?;
    Ok(Change {
        seq: row.int(0)?,
        store: StoreKey::new(&row.text(1)?).map_err(|error| corrupt(1, error.to_string()))?,
        entity: row.text(2)?,
        key: row.text(3)?,
        op: Op::parse(&op).ok_or_else(|| corrupt(4, format!("{op:?} is no operation")))?,
        at: row.time(5)?,
    })
}
