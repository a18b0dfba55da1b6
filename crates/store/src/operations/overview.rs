//! The state of every store, in a few statements for all of them: a hub has thousands.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::Counts};
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    driver::{Database, Row, Value},
    operations::{Overviews, runs::has_walked_orders},
};

/// A statement for all stores, and the same for one, which reads nothing of the others.
pub(crate) type Both = [&'static str; 2];

/// Puts `WHERE store = $1` between the two parts for the second.
macro_rules! both {
    ($head:expr, $tail:literal) => {
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
/// The last complete run of each store that was ever held, without reading the others.
pub(crate) const LAST_COMPLETE: &str = "SELECT store, (SELECT finished_at FROM sync_runs AS r \
    WHERE r.store = leases.store AND r.state = 'complete' ORDER BY id DESC LIMIT 1) FROM leases";
/// The words and the next step of one row are read as one text, so that they belong together.
pub(crate) const FAILURES: Both = both!(
    "SELECT store, entity, code, count(*), \
     min(substr(COALESCE(error, ''), 1, 2000) || '\u{1f}' || substr(COALESCE(hint, ''), 1, 2000)) FROM v_errors",
    "GROUP BY store, entity, code ORDER BY store, entity, code"
);
pub(crate) const TOKENS: Both = both!("SELECT store, expires_at FROM tokens", "");
pub(crate) const BACKLOGS: Both = [
    "SELECT store, count(*), min(received_at) FROM webhook_inbox WHERE handled_at IS NULL GROUP BY store",
    "SELECT store, count(*), min(received_at) FROM webhook_inbox WHERE handled_at IS NULL AND store = $1 GROUP BY \
        store",
];

/// The rows of the pages that are mirrored, of each store that was ever held and whose orders no pass has ever walked to
/// their end: at least that there are none of orders.
pub(crate) const READING: Both = both!(
    concat!(
        "SELECT store, resource, CAST(COALESCE(sum(seen), 0) AS BIGINT), max(total) FROM ( \
         SELECT l.store, COALESCE(p.resource, 'orders') AS resource, p.seen, p.total \
         FROM leases AS l LEFT JOIN sync_pages AS p ON p.store = l.store \
         WHERE NOT EXISTS (SELECT 1 FROM sync_runs AS r WHERE r.store = l.store AND ",
        has_walked_orders!("r"),
        ")) AS unread"
    ),
    "GROUP BY store, resource ORDER BY store, resource"
);

/// The stores whose orders a pass has walked to their end.
pub(crate) const FIRST_READINGS: Both = both!(
    concat!(
        "SELECT store FROM ( \
         SELECT l.store FROM leases AS l WHERE EXISTS (SELECT 1 FROM sync_runs AS r WHERE r.store = l.store AND ",
        has_walked_orders!("r"),
        ")) AS walked"
    ),
    ""
);

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
    /// True once a pass has walked the orders to their end. Before, an empty list of orders proves nothing.
    pub first_reading_ended: bool,
    /// The rows that the first reading of all orders has read so far, while it has not ended.
    pub reading: Vec<ReadSoFar>,
}

/// The progress of a first reading in one resource.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ReadSoFar {
    /// The resource.
    pub resource: String,
    /// The rows so far.
    pub seen: u64,
    /// The total, as the marketplace tells it.
    pub total: Option<u64>,
}

/// The part of a store's state that alarms are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreProof {
    /// When the last complete run ended.
    pub complete_at: Option<DateTime<Utc>>,
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

impl Overviews<'_> {
    /// The state of a store, or of all known stores, by key. Reads no table as a whole.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn overview(self, of: Option<&StoreKey>) -> Result<BTreeMap<String, Overview>, Error> {
        let mut all = BTreeMap::<String, Overview>::new();
        summary(self.database, HOLDERS, of, |row| {
            all.entry(row.text(0)?).or_default().holder = Some((row.text(1)?, row.time(2)?));
            Ok(())
        })
        .await?;
        summary(self.database, RUNS, of, |row| {
            all.entry(row.text(0)?).or_default().last_run = Some(run(row)?);
            Ok(())
        })
        .await?;
        summary(self.database, SUCCESSES, of, |row| {
            all.entry(row.text(0)?).or_default().last_success = row.optional_time(1)?;
            Ok(())
        })
        .await?;
        summary(self.database, FAILURES, of, |row| {
            all.entry(row.text(0)?).or_default().failures.push(failures(row)?);
            Ok(())
        })
        .await?;
        summary(self.database, FIRST_READINGS, of, |row| {
            all.entry(row.text(0)?).or_default().first_reading_ended = true;
            Ok(())
        })
        .await?;
        summary(self.database, READING, of, |row| {
            all.entry(row.text(0)?).or_default().reading.push(read_so_far(row)?);
            Ok(())
        })
        .await?;
        for row in self.tokens(of).await? {
            all.entry(row.text(0)?).or_default().token_expires_at = Some(row.time(1)?);
        }
        let (sql, values) = chosen(BACKLOGS, of);
        for row in self.inbox.fetch("summarize the inbox", sql, values).await? {
            all.entry(row.text(0)?).or_default().backlog = Some((row.count(1)?, row.time(2)?));
        }
        Ok(all)
    }

    /// The proofs that alarms need of each store, by key: its last complete run, its token's end, its unhandled
    /// deliveries.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn proofs(self) -> Result<BTreeMap<String, StoreProof>, Error> {
        let mut all = BTreeMap::<String, StoreProof>::new();
        for row in self.database.fetch("find the last complete runs", LAST_COMPLETE, Vec::new()).await? {
            all.entry(row.text(0)?).or_default().complete_at = row.optional_time(1)?;
        }
        for row in self.tokens(None).await? {
            all.entry(row.text(0)?).or_default().token_expires_at = Some(row.time(1)?);
        }
        for row in self.inbox.fetch("summarize the inbox", BACKLOGS[0], Vec::new()).await? {
            all.entry(row.text(0)?).or_default().backlog = Some((row.count(1)?, row.time(2)?));
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

/// Reads a summary of one store or of all, and hands its rows over one by one.
pub(crate) async fn summary(
    database: &Database,
    sql: Both,
    of: Option<&StoreKey>,
    mut take: impl FnMut(&Row) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let (sql, values) = chosen(sql, of);
    database.each_erp("summarize the stores", sql, values, &mut take).await
}

pub(super) fn chosen([all, one]: Both, of: Option<&StoreKey>) -> (&'static str, Vec<Value>) {
    of.map_or_else(|| (all, Vec::new()), |store| (one, vec![store.as_str().into()]))
}

fn run(row: &Row) -> Result<RunOnRecord, Error> {
    Ok(RunOnRecord {
        kind: row.text("kind")?,
        state: row.text("state")?,
        started_at: row.time("started_at")?,
        finished_at: row.optional_time("finished_at")?,
        requests: row.count("requests")?,
        counts: Counts {
            seen: row.count("seen")?,
            changed: row.count("changed")?,
            gone: row.count("gone")?,
            failed: row.count("failed")?,
        },
        error: row.optional_text("error")?,
    })
}

fn read_so_far(row: &Row) -> Result<ReadSoFar, Error> {
    let total = row.optional_int(3)?.and_then(|total| u64::try_from(total).ok());
    Ok(ReadSoFar { resource: row.text(1)?, seen: row.count(2)?, total })
}

fn failures(row: &Row) -> Result<FailureGroup, Error> {
    let words = row.foreign_text(4)?;
    let (error, hint) = words.split_once('\u{1f}').unwrap_or((words.as_str(), ""));
    Ok(FailureGroup {
        entity: row.text(1)?,
        code: row.text(2)?,
        rows: row.count(3)?,
        error: error.to_owned(),
        hint: hint.to_owned(),
    })
}
