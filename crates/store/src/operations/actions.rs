//! Acts of operators on the page: recorded before they begin, and again when they have ended.

use chrono::{DateTime, Utc};

use crate::{Error, driver::Row, operations::Actions};

pub(crate) const BEGIN: &str = "INSERT INTO actions (at, actor, act, store, command, before) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
pub(crate) const END: &str = "UPDATE actions SET after = $1, count = $2 WHERE id = $3";
pub(crate) const RECENT: &str = "SELECT id, at, actor, act, store, command, before, after, count FROM actions \
    ORDER BY id DESC LIMIT $1";

/// An act that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAction {
    /// The operator.
    pub actor: String,
    /// `retry`, `release`, `ignore`, `replay`, `pause` or `resume`.
    pub act: String,
    /// The store; empty if it concerns all.
    pub store: String,
    /// The command line that does the same.
    pub command: String,
    /// The rows that it concerns, one a line.
    pub before: String,
}

/// An act on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its number.
    pub id: i64,
    /// When it began.
    pub at: DateTime<Utc>,
    /// The act.
    pub new: NewAction,
    /// The outcome; `None` if it did not end.
    pub after: Option<String>,
    /// How many rows it changed.
    pub count: Option<u64>,
}

impl Actions<'_> {
    /// Records an act that begins now; returns its number.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn begin(self, action: &NewAction) -> Result<i64, Error> {
        let NewAction { actor, act, store, command, before } = action;
        let mut values = vec![self.clock.now().into()];
        values.extend([actor, act, store, command, before].map(|text| text.as_str().into()));
        let mut tx = self.database.begin().await?;
        let rows = tx.fetch("record an act", BEGIN.to_owned(), values).await?;
        tx.commit().await?;
        rows.first().map_or(Ok(0), |row| row.int(0))
    }

    /// Records what became of an act.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end(self, id: i64, after: &str, count: u64) -> Result<(), Error> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let values = vec![after.into(), count.into(), id.into()];
        self.database.execute("record the end of an act", END, values).await.map(drop)
    }

    /// The newest acts first, up to `limit`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn recent(self, limit: u32) -> Result<Vec<Action>, Error> {
        let rows = self.database.fetch("read the acts", RECENT, vec![i64::from(limit).into()]).await?;
        rows.iter().map(action).collect()
    }
}

fn action(row: &Row) -> Result<Action, Error> {
    let count = row.optional_int("count")?;
    Ok(Action {
        id: row.int("id")?,
        at: row.time("at")?,
        new: NewAction {
            actor: row.text("actor")?,
            act: row.text("act")?,
            store: row.text("store")?,
            command: row.text("command")?,
            before: row.text("before")?,
        },
        after: row.optional_text("after")?,
        count: count.and_then(|count| u64::try_from(count).ok()),
    })
}
