//! The memory of the sweeps: the last result of each, the marketplace's counts, and whether webhooks arrive.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{
    AuditRecord, Error, Subresource,
    driver::{Insert, Row, Value},
    mirror::rows::last_of_each,
    operations::{
        Runs, SweepWriter,
        audits::{AUDITS, PARTS},
        overview::{Both, both, summary},
    },
};

pub(crate) const LOAD: &str =
    "SELECT store, kind, started_at, succeeded_at, problem FROM sweeps WHERE store = $1 ORDER BY kind";
pub(crate) const ALL: Both =
    both!("SELECT store, kind, started_at, succeeded_at, problem FROM sweeps", "ORDER BY store, kind");
pub(crate) const COUNTS: Both =
    both!("SELECT store, kind, remote, local, at, behind_since FROM remote_counts", "ORDER BY store, kind");
pub(crate) const WATCHES: Both = both!(
    "SELECT store, heard_at, missed, missed_since, tested_at, test_heard_at, problem, \
     (SELECT max(at) FROM logins WHERE logins.store = webhook_watch.store AND reason = '401') FROM webhook_watch",
    ""
);
/// Read from the index `orders_open` alone. With `GROUP BY`, SQLite takes another index for one store and reads all its
/// orders.
pub(crate) const OPEN: Both = [
    "SELECT store, count(*) FROM orders WHERE gone_at IS NULL \
     AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') GROUP BY store",
    "SELECT CAST($1 AS TEXT), count(*) FROM orders WHERE gone_at IS NULL AND store = $1 \
     AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') \
     HAVING count(*) > 0",
];
/// Live rows, by indexes alone, and rows that are on record because they cannot be mirrored. No listing has shown an
/// order that was never found, and a shared SKU is the failure of a live row.
pub(crate) const LIVE_COUNTS: &str = "SELECT (SELECT count(*) FROM orders WHERE store = $1 AND gone_at IS NULL) \
    + (SELECT count(*) FROM sync_failures AS f WHERE f.store = $1 AND f.resource = 'orders' \
    AND f.code <> 'not_found' AND NOT EXISTS (SELECT 1 FROM orders AS o WHERE o.store = f.store \
    AND o.order_number = f.key AND o.gone_at IS NULL)), \
    (SELECT count(*) FROM orders WHERE store = $1 AND gone_at IS NULL \
    AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')), \
    (SELECT count(*) FROM products WHERE store = $1 AND gone_at IS NULL) \
    + (SELECT count(*) FROM sync_failures AS f WHERE f.store = $1 AND f.resource = 'products' \
    AND f.code <> 'shared_sku' AND NOT EXISTS (SELECT 1 FROM products AS p WHERE p.store = f.store \
    AND p.id = f.key AND p.gone_at IS NULL))";
pub(crate) const NOTE: Insert = Insert {
    operation: "note sweeps",
    head: "INSERT INTO sweeps (store, kind, started_at, succeeded_at, problem)",
    columns: 5,
    tail: "ON CONFLICT (store, kind) DO UPDATE SET started_at = excluded.started_at, \
           succeeded_at = COALESCE(excluded.succeeded_at, sweeps.succeeded_at), problem = excluded.problem",
};
pub(crate) const NOTE_COUNTS: Insert = Insert {
    operation: "note what the marketplace counts",
    head: "INSERT INTO remote_counts (store, kind, remote, local, at, behind_since)",
    columns: 6,
    tail: "ON CONFLICT (store, kind) DO UPDATE SET remote = excluded.remote, local = excluded.local, \
           at = excluded.at, behind_since = excluded.behind_since",
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

/// The last run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRecord {
    /// Its name.
    pub kind: String,
    /// When it last began.
    pub started_at: DateTime<Utc>,
    /// When it last succeeded.
    pub succeeded_at: Option<DateTime<Utc>>,
    /// Why the last one failed, if it did.
    pub problem: Option<String>,
}

/// A count of the marketplace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteCount {
    /// The resource: `orders`, `open_orders`, `products`.
    pub kind: String,
    /// Rows of the marketplace.
    pub remote: u64,
    /// Rows of the mirror at that time, with those on record because they cannot be mirrored.
    pub local: u64,
    /// When.
    pub at: DateTime<Utc>,
    /// Since when the mirror has lacked rows that the marketplace counted, although sweeps have looked for them.
    pub behind_since: Option<DateTime<Utc>>,
}

/// Whether webhooks arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookWatch {
    /// When the last delivery came.
    pub heard_at: Option<DateTime<Utc>>,
    /// Changes that sweeps have found since then without an event.
    pub missed: u64,
    /// When the first of them was found, or the first test was requested that did not come: the first sign that
    /// deliveries are lost.
    pub missed_since: Option<DateTime<Utc>>,
    /// When we last asked the marketplace for a test delivery.
    pub tested_at: Option<DateTime<Utc>>,
    /// When a test delivery last arrived.
    pub test_heard_at: Option<DateTime<Utc>>,
    /// Why the last request for a test delivery failed.
    pub problem: Option<String>,
    /// When we last logged in because another program's login had ended our token; read-only.
    pub other_login_at: Option<DateTime<Utc>>,
    /// True if deliveries are proved to be lost. It follows from the rest, and is not recorded.
    pub silent: bool,
    /// When the oldest test delivery of this owner was requested that no delivery has followed; not recorded: a
    /// restart may have lost the delivery itself.
    pub unanswered_since: Option<DateTime<Utc>>,
}

/// An enum value of the marketplace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// Its list, by the key in the marketplace's answer.
    pub name: String,
    /// The value.
    pub value: String,
    /// Its label for people.
    pub label: Option<String>,
    /// Its colour.
    pub color: Option<String>,
}

/// The memory of a store's sweeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepOverview {
    /// The last run of each sweep.
    pub sweeps: Vec<SweepRecord>,
    /// The marketplace's counts.
    pub counts: Vec<RemoteCount>,
    /// The last audits, with the differences that are still open.
    pub audits: Vec<AuditRecord>,
    /// The parts of orders that these differences are in, as far as the audit named them.
    pub differing_parts: Vec<Subresource>,
    /// Whether webhooks arrive.
    pub watch: Option<WebhookWatch>,
}

impl Runs<'_> {
    /// The last run of each sweep of a store.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sweeps(self, store: &StoreKey) -> Result<Vec<SweepRecord>, Error> {
        let rows = self.database.fetch("read sweeps", LOAD, vec![store.as_str().into()]).await?;
        rows.iter().map(record).collect()
    }

    /// Whether a store's webhooks arrive.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn webhook_watch(self, store: &StoreKey) -> Result<WebhookWatch, Error> {
        let mut known = WebhookWatch::default();
        summary(self.database, WATCHES, Some(store), |row| {
            known = watch(row)?;
            Ok(())
        })
        .await?;
        Ok(known)
    }

    /// The number of live orders, open orders and live products of a store. An order or a product that is on record
    /// because it cannot be mirrored counts: its failure shows that it is missing, not the difference.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn live_counts(self, store: &StoreKey) -> Result<[u64; 3], Error> {
        let rows = self.database.fetch("count live rows", LIVE_COUNTS, vec![store.as_str().into()]).await?;
        let Some(row) = rows.first() else { return Ok([0; 3]) };
        Ok([row.count(0)?, row.count(1)?, row.count(2)?])
    }

    /// The marketplace's last counts of a store.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn remote_counts(self, store: &StoreKey) -> Result<Vec<RemoteCount>, Error> {
        let mut counts = Vec::new();
        summary(self.database, COUNTS, Some(store), |row| {
            counts.push(count(row)?);
            Ok(())
        })
        .await?;
        Ok(counts)
    }

    /// The memory of a store's sweeps, or of all stores, by key; for people.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sweep_overview(
        self,
        of: Option<&StoreKey>,
    ) -> Result<BTreeMap<String, SweepOverview>, Error> {
        let mut all = BTreeMap::<String, SweepOverview>::new();
        summary(self.database, ALL, of, |row| {
            all.entry(row.text(0)?).or_default().sweeps.push(record(row)?);
            Ok(())
        })
        .await?;
        summary(self.database, COUNTS, of, |row| {
            all.entry(row.text(0)?).or_default().counts.push(count(row)?);
            Ok(())
        })
        .await?;
        summary(self.database, AUDITS, of, |row| {
            all.entry(row.text(0)?).or_default().audits.push(audit(row)?);
            Ok(())
        })
        .await?;
        summary(self.database, PARTS, of, |row| {
            // An audit of a later version may know more parts.
            let part = row.text(1)?.parse::<Subresource>().ok();
            all.entry(row.text(0)?).or_default().differing_parts.extend(part);
            Ok(())
        })
        .await?;
        summary(self.database, WATCHES, of, |row| {
            all.entry(row.text(0)?).or_default().watch = Some(watch(row)?);
            Ok(())
        })
        .await?;
        Ok(all)
    }

    /// The number of open orders of a store, or of all, by key. Reads the open orders.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_order_counts(self, of: Option<&StoreKey>) -> Result<BTreeMap<String, u64>, Error> {
        let mut all = BTreeMap::new();
        summary(self.database, OPEN, of, |row| {
            all.insert(row.text(0)?, row.count(1)?);
            Ok(())
        })
        .await?;
        Ok(all)
    }
}

fn record(row: &Row) -> Result<SweepRecord, Error> {
    let (kind, started_at) = (row.text("kind")?, row.time("started_at")?);
    Ok(SweepRecord {
        kind,
        started_at,
        succeeded_at: row.optional_time("succeeded_at")?,
        problem: row.optional_text("problem")?,
    })
}

fn count(row: &Row) -> Result<RemoteCount, Error> {
    Ok(RemoteCount {
        kind: row.text("kind")?,
        remote: row.count("remote")?,
        local: row.count("local")?,
        at: row.time("at")?,
        behind_since: row.optional_time("behind_since")?,
    })
}

fn audit(row: &Row) -> Result<AuditRecord, Error> {
    let (resource, at) = (row.text("resource")?, row.time("at")?);
    Ok(AuditRecord { resource, at, compared: row.count("compared")?, differing: row.count("differing")? })
}

fn watch(row: &Row) -> Result<WebhookWatch, Error> {
    Ok(WebhookWatch {
        heard_at: row.optional_time(1)?,
        missed: row.count(2)?,
        missed_since: row.optional_time(3)?,
        tested_at: row.optional_time(4)?,
        test_heard_at: row.optional_time(5)?,
        problem: row.optional_text(6)?,
        other_login_at: row.optional_time(7)?,
        silent: false,
        unanswered_since: None,
    })
}

impl SweepWriter<'_, '_> {
    /// Records the results of sweeps. A failed one keeps the time of its last success.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_sweeps(&mut self, sweeps: Vec<SweepRecord>) -> Result<(), Error> {
        let store = self.page.store_key().as_str().to_owned();
        let sweeps = last_of_each(sweeps, |sweep| sweep.kind.clone());
        let values = sweeps.into_iter().flat_map(|s| -> [Value; 5] {
            let (succeeded, problem) = (s.succeeded_at.into(), s.problem.into());
            [store.as_str().into(), s.kind.into(), s.started_at.into(), succeeded, problem]
        });
        let values = values.collect();
        self.page.tx.insert(&NOTE, values).await.map(drop)
    }

    /// Records the marketplace's counts.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_remote_counts(&mut self, counts: Vec<RemoteCount>) -> Result<(), Error> {
        let store = self.page.store_key().as_str().to_owned();
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX).into();
        let counts = last_of_each(counts, |count| count.kind.clone());
        let values = counts.into_iter().flat_map(|c| -> [Value; 6] {
            let (remote, local, behind_since) = (number(c.remote), number(c.local), c.behind_since.into());
            [store.as_str().into(), c.kind.into(), remote, local, c.at.into(), behind_since]
        });
        let values = values.collect();
        self.page.tx.insert(&NOTE_COUNTS, values).await.map(drop)
    }

    /// Records whether webhooks arrive.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_webhook_watch(&mut self, watch: WebhookWatch) -> Result<(), Error> {
        let missed = i64::try_from(watch.missed).unwrap_or(i64::MAX);
        let values: Vec<Value> = vec![
            self.page.store_key().as_str().into(),
            watch.heard_at.into(),
            missed.into(),
            watch.missed_since.into(),
            watch.tested_at.into(),
            watch.test_heard_at.into(),
            watch.problem.into(),
        ];
        self.page.tx.insert(&NOTE_WATCH, values).await.map(drop)
    }

    /// Records enum values. A value that the marketplace no longer lists stays: rows may contain it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_enums(&mut self, values: Vec<EnumValue>) -> Result<(), Error> {
        let (store, at) = (self.page.store_key().as_str().to_owned(), self.page.at());
        let values = last_of_each(values, |value| (value.name.clone(), value.value.clone()));
        let values = values.into_iter().flat_map(|v| -> [Value; 6] {
            let (label, color) = (v.label.into(), v.color.into());
            [store.as_str().into(), v.name.into(), v.value.into(), label, color, at.into()]
        });
        let values = values.collect();
        self.page.tx.insert(&NOTE_ENUMS, values).await.map(drop)
    }
}
