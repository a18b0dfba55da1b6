//! Acts of people, on the page and by the command line: recorded before they begin, and again when they have ended.

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, push::PushState, time::fixed_width};

use crate::{
    Error, Event, Happened, IntentKind, SeenRow,
    driver::Row,
    operations::{Actions, History},
};

pub(crate) const BEGIN: &str = "INSERT INTO actions (at, actor, act, store, command, before) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
pub(crate) const END: &str = "UPDATE actions SET after = $1, count = $2 WHERE id = $3";
pub(crate) const RECENT: &str = "SELECT id, at, actor, act, store, command, before, after, count FROM actions \
    ORDER BY id DESC LIMIT $1";
/// The newest 100 acts on rows of a store whose record names a row by this beginning; the lines themselves are compared
/// afterwards.
pub(crate) const ON_ROWS: &str = "SELECT id, at, actor, act, store, command, before, after, count FROM actions \
    WHERE store IN ($1, '') AND act IN ('retry', 'release', 'ignore', 'happened', 'bring_back') \
    AND replace(before, CAST($2 AS TEXT), '') <> before ORDER BY id DESC LIMIT 100";

/// An act that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAction {
    /// The operator; `cli:` and the user of the operating system for the command line.
    pub actor: String,
    /// `retry`, `release`, `ignore`, `happened`, `bring_back`, `replay`, `pause` or `resume`.
    pub act: String,
    /// The store; empty if it concerns all.
    pub store: String,
    /// The command line that does the same.
    pub command: String,
    /// The rows that it concerns, one a line: rows of the ERP as [`ActedRow`] writes them.
    pub before: String,
}

/// A row of the ERP in the record of an act: a line of [`NewAction::before`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActedRow {
    /// Its store, its table, its key and what changes: `loja-1 stock A/1: 3 → 4`.
    pub name: String,
    /// Its state before the act, the cause, and since when; `None` if the record does not say it.
    pub was: Option<(PushState, String, DateTime<Utc>)>,
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

impl ActedRow {
    /// A row as it was seen before an act; `change` follows its key.
    pub fn new(row: &SeenRow, change: &str) -> Self {
        let name = format!("{}{change}", row.name());
        Self { name, was: row.updated_at.map(|at| (row.state, row.code.clone(), at)) }
    }

    /// The line of the record.
    pub fn line(&self) -> String {
        match &self.was {
            // The ERP may have written any text as a code.
            Some((state, code, at)) if !code.contains(char::is_control) => {
                format!("{}\t{} {code} {}", self.name, state.as_str(), fixed_width(*at))
            }
            _ => self.name.clone(),
        }
    }

    /// Tells whether it has this name: a row's without what changes, or that of all rows of a SKU, which ends with a slash.
    fn is_named(&self, name: &str) -> bool {
        match self.name.strip_prefix(name) {
            // A SKU may have a slash of its own: its rows are another SKU's.
            Some(rest) if name.ends_with('/') => !rest.contains('/'),
            Some(rest) => rest.is_empty() || rest.starts_with(": "),
            None => false,
        }
    }

    /// Reads a line; a line of an earlier version has a name alone.
    pub fn read(line: &str) -> Self {
        let was = |text: &str| -> Option<(PushState, String, DateTime<Utc>)> {
            let (state, rest) = text.split_once(' ')?;
            let (code, at) = rest.rsplit_once(' ')?;
            Some((state.parse().ok()?, code.to_owned(), at.parse().ok()?))
        };
        match line.rsplit_once('\t').and_then(|(name, text)| Some((name, was(text)?))) {
            Some((name, was)) => Self { name: name.to_owned(), was: Some(was) },
            None => Self { name: line.to_owned(), was: None },
        }
    }
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

impl History<'_> {
    /// The decisions on record about rows of the ERP, each after the state that the row had until then. A name is a row's
    /// without what changes, or all rows' of a SKU, with the slash at its end. Of each name it looks in the
    /// newest 100 acts that mention its beginning.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decisions_on(self, store: &StoreKey, names: &[String]) -> Result<Vec<Event>, Error> {
        let mut events = Vec::new();
        for name in names {
            let values = vec![store.as_str().into(), name.as_str().into()];
            let rows = self.database.fetch("read the acts on a row", ON_ROWS, values).await?;
            for row in rows.iter().rev() {
                let action = action(row)?;
                // An act that changed nothing decided nothing.
                if action.count != Some(0) {
                    events.extend(decisions_in(&action, name));
                }
            }
        }
        Ok(events)
    }
}

/// Returns the decisions of an act about the rows with a name.
fn decisions_in(action: &Action, name: &str) -> Vec<Event> {
    let lines = action.new.before.lines().map(ActedRow::read);
    let own = lines.filter(|row| row.is_named(name));
    own.filter_map(|row| {
        let mut words = row.name.splitn(3, ' ').skip(1);
        let (intent, key): (IntentKind, String) = (words.next()?.parse().ok()?, words.next()?.to_owned());
        // A row that was new waited for nobody.
        let was = row.was.filter(|(_, code, _)| !code.is_empty()).map(|(state, code, at)| Event {
            at,
            what: Happened::Was { intent, key: key.clone(), state, code },
        });
        let (act, actor) = (action.new.act.clone(), action.new.actor.clone());
        let decided = Event { at: action.at, what: Happened::Decided { intent, key, act, actor } };
        Some(was.into_iter().chain([decided]))
    })
    .flatten()
    .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_by_its_own_name_and_by_that_of_its_sku() {
        for (line, name, expected) in [
            ("loja-1 stock A/1: 3 → 4", "loja-1 stock A/", true),
            ("loja-1 stock A/B/1: 3 → 4", "loja-1 stock A/", false),
            ("loja-1 stock A/B/1", "loja-1 stock A/B/", true),
            ("loja-1 price A/1", "loja-1 stock A/", false),
            ("loja-1 command 1", "loja-1 command 1", true),
            ("loja-1 command 10", "loja-1 command 1", false),
            ("loja-11 command 1", "loja-1 command 1", false),
            ("… 20", "loja-1 command 1", false),
        ] {
            assert_eq!(ActedRow::read(line).is_named(name), expected, "{line} {name}");
        }
    }

    #[test]
    fn a_row_in_a_record_is_read_as_it_was_written() {
        let at: DateTime<Utc> = "2026-11-27T10:00:00Z".parse().unwrap();
        let seen = |key: &str, code: &str, updated_at| SeenRow {
            store: "loja-1".into(),
            intent: IntentKind::Price,
            key: key.into(),
            state: PushState::Held,
            code: code.into(),
            updated_at,
        };
        for (row, change, name) in [
            (seen("A/1", "price_jump", Some(at)), ": 70.9 → 0.99", "loja-1 price A/1: 70.9 → 0.99"),
            (seen("A: B\t/1", "", Some(at)), "", "loja-1 price A: B\t/1"),
            (seen("A/1", "a b", Some(at)), "", "loja-1 price A/1"),
            (seen("A/1", "price_jump", None), "", "loja-1 price A/1"),
        ] {
            let written = ActedRow::new(&row, change);
            assert_eq!(written.name, name);
            assert_eq!(ActedRow::read(&written.line()), written, "{name}");
        }
        let odd = ActedRow::new(&seen("A/1", "a\nb", Some(at)), "").line();
        assert_eq!(odd, "loja-1 price A/1", "a record has a line for each row");
        for line in ["loja-1 stock A/1: 3 → 4", "… 20", "loja-1 stock A\tB/1", "loja-1 stock A\tb c d"] {
            assert_eq!(ActedRow::read(line), ActedRow { name: line.into(), was: None });
        }
    }
}
