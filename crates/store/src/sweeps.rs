//! What the sweeps remember: when each last ran, what the marketplace counts, and whether webhooks arrive.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{
    AuditRecord, Error, PageTx, Store,
    driver::{Insert, Row, Value},
    overview::{Both, both},
    rows::last_of_each,
};

pub(crate) const LOAD: &str =
    "SELECT store, kind, started_at, succeeded_at, problem FROM sweeps WHERE store = $1 ORDER BY kind";
pub(crate) const ALL: Both =
    both!("SELECT store, kind, started_at, succeeded_at, problem FROM sweeps", "ORDER BY store, kind");
pub(crate) const COUNTS: Both =
    both!("SELECT store, kind, remote, local, at FROM remote_counts", "ORDER BY store, kind");
pub(crate) const AUDITS: Both =
    both!("SELECT store, resource, at, compared, differing FROM audits", "ORDER BY store, resource");
pub(crate) const WATCHES: Both = both!(
    "SELECT store, heard_at, missed, missed_since, tested_at, test_heard_at, problem, \
     (SELECT max(at) FROM logins WHERE logins.store = webhook_watch.store AND reason = '401') FROM webhook_watch",
    ""
);
pub(crate) const OPEN: Both = [
    "SELECT store, count(*) FROM orders WHERE gone_at IS NULL \
     AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') GROUP BY store",
    "SELECT store, count(*) FROM orders WHERE gone_at IS NULL AND store = $1 \
     AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') GROUP BY store",
];
/// Rows that are not gone, by indexes alone.
pub(crate) const LIVE_COUNTS: &str = "SELECT (SELECT count(*) FROM orders WHERE store = $1 AND gone_at IS NULL), \
    (SELECT count(*) FROM orders WHERE store = $1 AND gone_at IS NULL \
    AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')), \
    (SELECT count(*) FROM products WHERE store = $1 AND gone_at IS NULL)";
pub(crate) const NOTE: Insert = Insert {
    operation: "note sweeps",
    head: "INSERT INTO sweeps (store, kind, started_at, succeeded_at, problem)",
    columns: 5,
    tail: "ON CONFLICT (store, kind) DO UPDATE SET started_at = excluded.started_at, \
           succeeded_at = COALESCE(excluded.succeeded_at, sweeps.succeeded_at), problem = excluded.problem",
};
pub(crate) const NOTE_COUNTS: Insert = Insert {
    operation: "note what the marketplace counts",
    head: "INSERT INTO remote_counts (store, kind, remote, local, at)",
    columns: 5,
    tail: "ON CONFLICT (store, kind) DO UPDATE SET remote = excluded.remote, local = excluded.local, at = excluded.at",
};
pub(crate) const NOTE_WATCH: Insert = Insert {
    operation: "note whether webhooks arrive",
    head: "INSERT INTO webhook_watch (store, heard_at, missed, missed_since, tested_at, test_heard_at, problem)",
    columns: 7,
    tail: "ON CONFLICT (store) DO UPDATE SET heard_at = excluded.heard_at, missed = excluded.missed, \
           missed_since = excluded.missed_since, tested_at = excluded.tested_at, \
           test_heard_at = excluded.test_heard_at, problem = excluded.problem",
};
pub(crate) const NOTE_ENUMS: Insert = Insert {
    operation: "note the marketplace's words",
    head: "INSERT INTO enums (store, name, value, label, color, seen_at)",
    columns: 6,
    tail: "ON CONFLICT (store, name, value) DO UPDATE SET label = excluded.label, color = excluded.color, \
           seen_at = excluded.seen_at",
};

/// When a sweep last ran, and how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRecord {
    /// Its name.
    pub kind: String,
    /// When it last began.
    pub started_at: DateTime<Utc>,
    /// When it last ended well.
    pub succeeded_at: Option<DateTime<Utc>>,
    /// Why the last one did not, where it did not.
    pub problem: Option<String>,
}

/// What the marketplace counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteCount {
    /// Of what: `orders`, `open_orders`, `products`.
    pub kind: String,
    /// Rows there.
    pub remote: u64,
    /// Rows in the mirror at that time.
    pub local: u64,
    /// When.
    pub at: DateTime<Utc>,
}

/// Whether webhooks arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookWatch {
    /// When the last delivery came.
    pub heard_at: Option<DateTime<Utc>>,
    /// Changes that sweeps have found since then, and an event should have told.
    pub missed: u64,
    /// When the first of them was found.
    pub missed_since: Option<DateTime<Utc>>,
    /// When the marketplace was last asked for a test delivery.
    pub tested_at: Option<DateTime<Utc>>,
    /// When a test delivery last came.
    pub test_heard_at: Option<DateTime<Utc>>,
    /// Why the last test could not be asked for.
    pub problem: Option<String>,
    /// When a login of ours was last made because another program's had ended our token; only read.
    pub other_login_at: Option<DateTime<Utc>>,
    /// Whether it is proved that deliveries do not come; not kept over a restart.
    pub silent: bool,
}

/// A word of the marketplace's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// Which list it is in, by the key of the marketplace's answer.
    pub name: String,
    /// The word.
    pub value: String,
    /// What people read.
    pub label: Option<String>,
    /// Its colour.
    pub color: Option<String>,
}

/// What a store's sweeps remember.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepOverview {
    /// When they last ran.
    pub sweeps: Vec<SweepRecord>,
    /// What the marketplace counts.
    pub counts: Vec<RemoteCount>,
    /// How mirror and marketplace last compared.
    pub audits: Vec<AuditRecord>,
    /// Whether webhooks arrive.
    pub watch: Option<WebhookWatch>,
}

impl Store {
    /// When each sweep of a store last ran.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sweeps(&self, store: &StoreKey) -> Result<Vec<SweepRecord>, Error> {
        let rows = self.database.fetch("read sweeps", LOAD, vec![store.as_str().into()]).await?;
        rows.iter().map(record).collect()
    }

    /// Whether a store's webhooks arrive.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn webhook_watch(&self, store: &StoreKey) -> Result<WebhookWatch, Error> {
        let rows = self.summary(WATCHES, Some(store)).await?;
        rows.first().map_or_else(|| Ok(WebhookWatch::default()), watch)
    }

    /// How many orders, open orders and products of a store are not gone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn live_counts(&self, store: &StoreKey) -> Result<[u64; 3], Error> {
        let rows = self.database.fetch("count live rows", LIVE_COUNTS, vec![store.as_str().into()]).await?;
        let Some(row) = rows.first() else { return Ok([0; 3]) };
        Ok([number(row, 0)?, number(row, 1)?, number(row, 2)?])
    }

    /// What the sweeps of a store remember, or those of every one, by key; for people.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sweep_overview(
        &self,
        of: Option<&StoreKey>,
    ) -> Result<BTreeMap<String, SweepOverview>, Error> {
        let mut all = BTreeMap::<String, SweepOverview>::new();
        for row in self.summary(ALL, of).await? {
            all.entry(row.text(0)?).or_default().sweeps.push(record(&row)?);
        }
        for row in self.summary(COUNTS, of).await? {
            all.entry(row.text(0)?).or_default().counts.push(count(&row)?);
        }
        for row in self.summary(AUDITS, of).await? {
            all.entry(row.text(0)?).or_default().audits.push(audit(&row)?);
        }
        for row in self.summary(WATCHES, of).await? {
            all.entry(row.text(0)?).or_default().watch = Some(watch(&row)?);
        }
        Ok(all)
    }

    /// How many orders of a store, or of every one, may still change. It goes through all orders.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_order_counts(&self, of: Option<&StoreKey>) -> Result<BTreeMap<String, u64>, Error> {
        self.summary(OPEN, of).await?.iter().map(|row| Ok((row.text(0)?, number(row, 1)?))).collect()
    }
}

fn number(row: &Row, at: usize) -> Result<u64, Error> {
    Ok(u64::try_from(row.int(at)?).unwrap_or(0))
}

fn record(row: &Row) -> Result<SweepRecord, Error> {
    let (kind, started_at) = (row.text(1)?, row.time(2)?);
    Ok(SweepRecord { kind, started_at, succeeded_at: row.optional_time(3)?, problem: row.optional_text(4)? })
}

fn count(row: &Row) -> Result<RemoteCount, Error> {
    Ok(RemoteCount { kind: row.text(1)?, remote: number(row, 2)?, local: number(row, 3)?, at: row.time(4)? })
}

fn audit(row: &Row) -> Result<AuditRecord, Error> {
    let (resource, at) = (row.text(1)?, row.time(2)?);
    Ok(AuditRecord { resource, at, compared: number(row, 3)?, differing: number(row, 4)? })
}

fn watch(row: &Row) -> Result<WebhookWatch, Error> {
    Ok(WebhookWatch {
        heard_at: row.optional_time(1)?,
        missed: number(row, 2)?,
        missed_since: row.optional_time(3)?,
        tested_at: row.optional_time(4)?,
        test_heard_at: row.optional_time(5)?,
        problem: row.optional_text(6)?,
        other_login_at: row.optional_time(7)?,
        silent: false,
    })
}

impl PageTx<'_> {
    /// Notes how sweeps went. One that failed keeps when it last ended well.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_sweeps(&mut self, sweeps: Vec<SweepRecord>) -> Result<(), Error> {
        let store = self.store_key().as_str().to_owned();
        let sweeps = last_of_each(sweeps, |sweep| sweep.kind.clone());
        let values = sweeps.into_iter().flat_map(|s| -> [Value; 5] {
            let (succeeded, problem) = (s.succeeded_at.into(), s.problem.into());
            [store.as_str().into(), s.kind.into(), s.started_at.into(), succeeded, problem]
        });
        let values = values.collect();
        self.tx.insert(&NOTE, values).await.map(drop)
    }

    /// Notes what the marketplace counts.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_remote_counts(&mut self, counts: Vec<RemoteCount>) -> Result<(), Error> {
        let store = self.store_key().as_str().to_owned();
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX).into();
        let counts = last_of_each(counts, |count| count.kind.clone());
        let values = counts.into_iter().flat_map(|c| -> [Value; 5] {
            [store.as_str().into(), c.kind.into(), number(c.remote), number(c.local), c.at.into()]
        });
        let values = values.collect();
        self.tx.insert(&NOTE_COUNTS, values).await.map(drop)
    }

    /// Notes whether webhooks arrive.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_webhook_watch(&mut self, watch: WebhookWatch) -> Result<(), Error> {
        let missed = i64::try_from(watch.missed).unwrap_or(i64::MAX);
        let values: Vec<Value> = vec![
            self.store_key().as_str().into(),
            watch.heard_at.into(),
            missed.into(),
            watch.missed_since.into(),
            watch.tested_at.into(),
            watch.test_heard_at.into(),
            watch.problem.into(),
        ];
        self.tx.insert(&NOTE_WATCH, values).await.map(drop)
    }

    /// Notes the marketplace's words. A word that is not told any more stays: rows may bear it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_enums(&mut self, values: Vec<EnumValue>) -> Result<(), Error> {
        let (store, at) = (self.store_key().as_str().to_owned(), self.at());
        let values = last_of_each(values, |value| (value.name.clone(), value.value.clone()));
        let values = values.into_iter().flat_map(|v| -> [Value; 6] {
            let (label, color) = (v.label.into(), v.color.into());
            [store.as_str().into(), v.name.into(), v.value.into(), label, color, at.into()]
        });
        let values = values.collect();
        self.tx.insert(&NOTE_ENUMS, values).await.map(drop)
    }
}
