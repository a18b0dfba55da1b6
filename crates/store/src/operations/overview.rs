//! The state of every store, in a few statements for all of them: a hub has thousands.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::Counts};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Store,
    driver::{Column, Database, Row, Value},
    operations::{Overviews, counts},
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
    "SELECT store, count(*), min(received_at) FROM webhook_inbox WHERE handled_at IS NULL AND store = $1 GROUP BY \
        store",
];

/// Row counts of every table: the only statements here that read all rows.
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

/// The database's view of one store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// The last holder of the lease, and since when. The handle [`Leases`](crate::Leases) tells whether it
    /// is still held.
    pub holder: Option<(String, DateTime<Utc>)>,
    /// The newest run.
    pub last_run: Option<RunOnRecord>,
    /// When the last complete run ended.
    pub last_success: Option<DateTime<Utc>>,
    /// Failed rows, by entity and cause.
    pub failures: Vec<FailureGroup>,
    /// When the recorded token expires.
    pub token_expires_at: Option<DateTime<Utc>>,
    /// Unhandled deliveries: their number, and when the oldest arrived.
    pub backlog: Option<(u64, DateTime<Utc>)>,
}

/// A run as `sync_runs` has it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct RunOnRecord {
    /// Its kind.
    pub kind: String,
    /// `running`, `complete`, `partial`, `failed` or `interrupted`.
    pub state: String,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended, if it did.
    pub finished_at: Option<DateTime<Utc>>,
    /// Requests sent.
    pub requests: u64,
    /// Rows.
    #[serde(flatten)]
    pub counts: Counts,
    /// The first cause, unless it was complete.
    pub error: Option<String>,
}

/// Rows that fail for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct FailureGroup {
    /// The entity, by its name in the change feed.
    pub entity: String,
    /// The cause's code.
    pub code: String,
    /// How many rows.
    pub rows: u64,
    /// The cause of one of them, for people.
    pub error: String,
    /// The next step.
    pub hint: String,
}

/// The rows of a mirrored table and store.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct TableState {
    /// The table.
    pub table: String,
    /// Rows that are not gone.
    pub live: u64,
    /// Rows that are gone.
    pub gone: u64,
    /// When one of them was last written.
    pub last_mirrored: Option<DateTime<Utc>>,
}

impl Overviews<'_> {
    /// The state of a store, or of all known stores, by key. Reads no table as a whole.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn overview(self, of: Option<&StoreKey>) -> Result<BTreeMap<String, Overview>, Error> {
        let mut all = BTreeMap::<String, Overview>::new();
        for row in summary(self.database, HOLDERS, of).await? {
            all.entry(row.text(0)?).or_default().holder = Some((row.text(1)?, row.time(2)?));
        }
        for row in summary(self.database, RUNS, of).await? {
            all.entry(row.text(0)?).or_default().last_run = Some(run(&row)?);
        }
        for row in summary(self.database, SUCCESSES, of).await? {
            all.entry(row.text(0)?).or_default().last_success = row.optional_time(1)?;
        }
        for row in summary(self.database, FAILURES, of).await? {
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

    /// The mirrored tables of a store, or of all, without empty ones. Reads all their rows: for people, rarely.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn table_states(
        self,
        of: Option<&StoreKey>,
    ) -> Result<BTreeMap<String, Vec<TableState>>, Error> {
        let mut all = BTreeMap::<String, Vec<TableState>>::new();
        for row in summary(self.database, *TABLES, of).await? {
            all.entry(row.text(0)?).or_default().push(table(&row)?);
        }
        Ok(all)
    }

    /// When each store's token expires, without the token.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn token_ends(self) -> Result<Vec<(String, DateTime<Utc>)>, Error> {
        self.tokens(None).await?.iter().map(|row| Ok((row.text(0)?, row.time(1)?))).collect()
    }

    async fn tokens(self, of: Option<&StoreKey>) -> Result<Vec<Row>, Error> {
        let (sql, values) = chosen(TOKENS, of);
        self.private.fetch("summarize the tokens", sql, values).await
    }
}

impl Store {}

/// Reads a summary of one store or of all.
pub(crate) async fn summary(
    database: &Database,
    sql: Both,
    of: Option<&StoreKey>,
) -> Result<Vec<Row>, Error> {
    let (sql, values) = chosen(sql, of);
    database.fetch("summarize the stores", sql, values).await
}

fn chosen([all, one]: Both, of: Option<&StoreKey>) -> (&'static str, Vec<Value>) {
    of.map_or_else(|| (all, Vec::new()), |store| (one, vec![store.as_str().into()]))
}

fn number(row: &Row, column: impl Column) -> Result<u64, Error> {
    Ok(u64::try_from(row.int(column)?).unwrap_or(0))
}

fn run(row: &Row) -> Result<RunOnRecord, Error> {
    Ok(RunOnRecord {
        kind: row.text("kind")?,
        state: row.text("state")?,
        started_at: row.time("started_at")?,
        finished_at: row.optional_time("finished_at")?,
        requests: number(row, "requests")?,
        counts: Counts {
            seen: number(row, "seen")?,
            changed: number(row, "changed")?,
            gone: number(row, "gone")?,
            failed: number(row, "failed")?,
        },
        error: row.optional_text("error")?,
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
