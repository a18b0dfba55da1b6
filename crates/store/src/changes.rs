//! The change feed: what was mirrored, in the order in which it was.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{
    Error,
    driver::{Insert, Tx, Value},
};

pub(crate) const APPEND: Insert = Insert {
    operation: "append to the change feed",
    head: "INSERT INTO changes (store, entity, key, op, at)",
    columns: 5,
    tail: "",
};

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
}

impl Tx {
    pub(crate) async fn append_changes<'a>(
        &mut self,
        store: &StoreKey,
        entity: &'static str,
        at: DateTime<Utc>,
        changes: impl IntoIterator<Item = (&'a str, Op)>,
    ) -> Result<(), Error> {
        let values = changes.into_iter().flat_map(|(key, op)| -> [Value; 5] {
            [store.as_str().into(), entity.into(), key.into(), op.as_str().into(), at.into()]
        });
        self.insert(&APPEND, values.collect()).await.map(drop)
    }
}
