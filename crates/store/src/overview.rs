//! How every store is, in a few statements for all of them: a hub has thousands.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::Counts};

use crate::{
    Error, Store, counts,
    driver::{Row, Value},
};

/// A statement for all stores, and the same for one, which reads nothing of the others.
pub(crate) type Both = [&'static str; 2];

/// Puts `WHERE store = $1` between the two parts for the second.
macro_rules! both {
    ($head:literal, $tail:literal) => {
        [concat!($head, " ", $tail), concat!($head, " WHERE store = $1 ", $tail)]
    };
}
pub(crate) use both;

pub(crate) const HOLDERS: Both = both!("SELECT store, owner, acquired_at FROM leases", "");
pub(crate) const RUNS: Both = [
    "SELECT store, kind, state, started_at, finished_at, requests, seen, changed, gone, failed, error \
     FROM sync_runs WHERE id IN (SELECT max(id) FROM sync_runs GROUP BY store)",
    "SELECT store, kind, state, started_at, finished_at, requests, seen, changed, gone, failed, error \
     FROM sync_runs WHERE id = (SELECT max(id) FROM sync_runs WHERE store = $1)",
];
pub(crate) const SUCCESSES: Both = [
    "SELECT store, max(finished_at) FROM sync_runs WHERE state = 'complete' GROUP BY store",
    "SELECT store, max(finished_at) FROM sync_runs WHERE state = 'complete' AND store = $1 GROUP BY store",
];
pub(crate) const FAILURES: Both = both!(
    "SELECT store, entity, code, count(*), min(error), min(hint) FROM v_errors",
    "GROUP BY store, entity, code ORDER BY store, entity, code"
);
pub(crate) const TOKENS: Both = both!("SELECT store, expires_at FROM tokens", "");
pub(crate) const BACKLOGS: Both = [
    "SELECT store, count(*), min(received_at) FROM webhook_inbox WHERE handled_at IS NULL GROUP BY store",
    "SELECT store, count(*), min(received_at) FROM webhook_inbox WHERE handled_at IS NULL AND store = $1 GROUP BY store",
];
/// How much every table holds: the only statements that go through all rows.
pub(crate) static TABLES: LazyLock<Both> = LazyLock::new(|| {
    let all = |of: &str| -> &'static str {
        let count = |table| {
            format!(
                "SELECT store, '{table}', count(*) FILTER (WHERE gone_at IS NULL), \
                 count(*) FILTER (WHERE gone_at IS NOT NULL), max(mirrored_at) FROM {table} {of} GROUP BY store"
            )
        };
        counts::tables().map(count).collect::<Vec<_>>().join(" UNION ALL ").leak()
    };
    [all(""), all("WHERE store = $1")]
});

/// What the database says about one store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// Who took the lease last, and when. Whether it is still held says [`Store::held_stores`].
    pub holder: Option<(String, DateTime<Utc>)>,
    /// The newest run.
    pub last_run: Option<RunOnRecord>,
    /// When a run last ended complete.
    pub last_success: Option<DateTime<Utc>>,
    /// What is not mirrored, by kind and cause.
    pub failures: Vec<FailureGroup>,
    /// When the token on record ends.
    pub token_expires_at: Option<DateTime<Utc>>,
    /// Deliveries that wait, and since when the first of them does.
    pub backlog: Option<(u64, DateTime<Utc>)>,
}

/// A run as `sync_runs` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOnRecord {
    /// What it was.
    pub kind: String,
    /// `running`, `complete`, `partial`, `failed` or `interrupted`.
    pub state: String,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended, if it has.
    pub finished_at: Option<DateTime<Utc>>,
    /// Requests sent.
    pub requests: u64,
    /// Rows.
    pub counts: Counts,
    /// The first cause, if not all went well.
    pub error: Option<String>,
}

/// Rows that fail for one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureGroup {
    /// What kind of thing, by its name in the change feed.
    pub entity: String,
    /// The cause's code.
    pub code: String,
    /// How many rows.
    pub rows: u64,
    /// The cause of one of them, in words.
    pub error: String,
    /// The next step.
    pub hint: String,
}

/// What a mirrored table holds of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableState {
    /// The table.
    pub table: String,
    /// Rows that are not gone.
    pub live: u64,
    /// Rows that are.
    pub gone: u64,
    /// When one of them was last written.
    pub last_mirrored: Option<DateTime<Utc>>,
}

impl Store {
    /// How a store is, or every one that the database knows, by key; without what goes through all rows.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn overview(&self, of: Option<&StoreKey>) -> Result<BTreeMap<String, Overview>, Error> {
        let mut all = BTreeMap::<String, Overview>::new();
        for row in self.summary(HOLDERS, of).await? {
            all.entry(row.text(0)?).or_default().holder = Some((row.text(1)?, row.time(2)?));
        }
        for row in self.summary(RUNS, of).await? {
            all.entry(row.text(0)?).or_default().last_run = Some(run(&row)?);
        }
        for row in self.summary(SUCCESSES, of).await? {
            all.entry(row.text(0)?).or_default().last_success = row.optional_time(1)?;
        }
        for row in self.summary(FAILURES, of).await? {
            all.entry(row.text(0)?).or_default().failures.push(failures(&row)?);
        }
        for row in self.tokens(of).await? {
            all.entry(row.text(0)?).or_default().token_expires_at = Some(row.time(1)?);
        }
        let (sql, values) = chosen(BACKLOGS, of);
        for row in self.inbox.fetch("summarize the inbox", sql, values).await? {
            all.entry(row.text(0)?).or_default().backlog = Some((number(&row, 1)?, row.time(2)?));
        }
        Ok(all)
    }

    /// What each mirrored table holds of a store, or of every one; tables without rows are absent. It goes through all their
    /// rows: for people, and not often.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn table_states(
        &self,
        of: Option<&StoreKey>,
    ) -> Result<BTreeMap<String, Vec<TableState>>, Error> {
        let mut all = BTreeMap::<String, Vec<TableState>>::new();
        for row in self.summary(*TABLES, of).await? {
            all.entry(row.text(0)?).or_default().push(table(&row)?);
        }
        Ok(all)
    }

    /// When each store's token ends, without the token.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn token_ends(&self) -> Result<Vec<(String, DateTime<Utc>)>, Error> {
        self.tokens(None).await?.iter().map(|row| Ok((row.text(0)?, row.time(1)?))).collect()
    }

    async fn tokens(&self, of: Option<&StoreKey>) -> Result<Vec<Row>, Error> {
        let (sql, values) = chosen(TOKENS, of);
        self.private().fetch("summarize the tokens", sql, values).await
    }

    pub(crate) async fn summary(&self, sql: Both, of: Option<&StoreKey>) -> Result<Vec<Row>, Error> {
        let (sql, values) = chosen(sql, of);
        self.database.fetch("summarize the stores", sql, values).await
    }
}

fn chosen([all, one]: Both, of: Option<&StoreKey>) -> (&'static str, Vec<Value>) {
    of.map_or_else(|| (all, Vec::new()), |store| (one, vec![store.as_str().into()]))
}

fn number(row: &Row, at: usize) -> Result<u64, Error> {
    Ok(u64::try_from(row.int(at)?).unwrap_or(0))
}

fn run(row: &Row) -> Result<RunOnRecord, Error> {
    Ok(RunOnRecord {
        kind: row.text(1)?,
        state: row.text(2)?,
        started_at: row.time(3)?,
        finished_at: row.optional_time(4)?,
        requests: number(row, 5)?,
        counts: Counts {
            seen: number(row, 6)?,
            changed: number(row, 7)?,
            gone: number(row, 8)?,
            failed: number(row, 9)?,
        },
        error: row.optional_text(10)?,
    })
}

fn failures(row: &Row) -> Result<FailureGroup, Error> {
    Ok(FailureGroup {
        entity: row.text(1)?,
        code: row.text(2)?,
        rows: number(row, 3)?,
        error: row.text(4)?,
        hint: row.text(5)?,
    })
}

fn table(row: &Row) -> Result<TableState, Error> {
    Ok(TableState {
        table: row.text(1)?,
        live: number(row, 2)?,
        gone: number(row, 3)?,
        last_mirrored: row.optional_time(4)?,
    })
}
