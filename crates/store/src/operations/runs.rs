//! The record of runs: `sync_runs`.

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::Counts};

use crate::{Error, Lease, Prunable, driver::Row, operations::Runs};

pub(crate) const ABANDON: &str =
    "UPDATE sync_runs SET state = 'interrupted', finished_at = $2 WHERE store = $1 AND state = 'running'";
pub(crate) const START: &str =
    "INSERT INTO sync_runs (store, kind, state, started_at) VALUES ($1, $2, 'running', $3) RETURNING id";
pub(crate) const FINISH: &str = "UPDATE sync_runs SET state = $2, finished_at = $3, requests = $4, seen = $5, changed \
    = $6, \
    gone = $7, failed = $8, error = $9, passes = $10 WHERE id = $1";

pub(crate) const ENDED_SINCE: &str = "SELECT store, state, finished_at FROM sync_runs \
    WHERE finished_at >= $1 AND state <> 'running' ORDER BY id";

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedRun {
    /// Its store.
    pub store: String,
    /// `complete`, `partial`, `failed` or `interrupted`.
    pub state: String,
    /// When it ended; of an interrupted one, when that was noticed.
    pub finished_at: DateTime<Utc>,
}

/// The number of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId(i64);

/// The end of a run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// `complete`, `partial` or `failed`.
    pub state: &'static str,
    /// Requests sent.
    pub requests: u64,
    /// Rows.
    pub counts: Counts,
    /// The first cause, unless it was complete.
    pub error: Option<String>,
    /// How each pass ended: `orders:complete products:whole`.
    pub passes: String,
}

impl Runs<'_> {
    /// Records the start of a run. A killed run that still says `running` becomes `interrupted`: the lease proves
    /// that no process works on it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn start_run(self, lease: &Lease, kind: &str) -> Result<RunId, Error> {
        let mut tx = self.database.begin().await?;
        lease.check(self.clock.now(), &mut tx).await?;
        let (store, now) = (lease.store().as_str(), self.clock.now());
        tx.execute("close interrupted runs", ABANDON, vec![store.into(), now.into()]).await?;
        let rows =
            tx.fetch("start a run", START.to_owned(), vec![store.into(), kind.into(), now.into()]).await?;
        let id = rows.first().map_or(Ok(0), |row| row.int(0))?;
        tx.commit().await?;
        Ok(RunId(id))
    }

    /// Records the end of a run.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn finish_run(self, run: RunId, result: RunResult) -> Result<(), Error> {
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX).into();
        let Counts { seen, changed, gone, failed } = result.counts;
        let mut values = vec![run.0.into(), result.state.into(), self.clock.now().into()];
        values.extend([result.requests, seen, changed, gone, failed].map(number));
        values.extend([result.error.into(), result.passes.into()]);
        self.database.execute("finish a run", FINISH, values).await.map(drop)
    }

    /// The states of a store's last runs, newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn last_run_states(self, store: &StoreKey) -> Result<Vec<String>, Error> {
        let rows = self.database.fetch("read runs", LAST, vec![store.as_str().into()]).await?;
        rows.iter().map(|row| row.text("state")).collect()
    }

    /// The runs of all stores that ended since `since`, in the order in which they began. Reads the record of all runs.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn ended_since(self, since: DateTime<Utc>) -> Result<Vec<EndedRun>, Error> {
        let rows = self.database.fetch("read the last runs", ENDED_SINCE, vec![since.into()]).await?;
        rows.iter().map(ended_run).collect()
    }

    /// Whether a pass has ever mirrored every product that the marketplace listed: an unknown SKU is then unknown to
    /// the marketplace too.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn has_all_products(self, store: &StoreKey) -> Result<bool, Error> {
        self.has_run(store, ALL_PRODUCTS).await
    }

    /// Whether a pass over the orders has ever gone to its end, though rows of it may have failed.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn has_walked_orders(self, store: &StoreKey) -> Result<bool, Error> {
        self.has_run(store, WALKED_ORDERS).await
    }

    /// The runs that [`Runs::prune_runs`] would delete, with the bytes of their words.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prunable_runs(self, before: DateTime<Utc>) -> Result<Prunable, Error> {
        Prunable::of(&self.database.fetch("count old runs", PRUNABLE, vec![before.into()]).await?)
    }

    /// Deletes runs that ended before `before`; returns their number. Of each store the last twenty stay, and those
    /// since the last complete one: what an unknown SKU or a missing order means follows from it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prune_runs(self, before: DateTime<Utc>) -> Result<u64, Error> {
        self.database.execute_in_batches("prune the runs", PRUNE, &[before.into()]).await
    }

    async fn has_run(self, store: &StoreKey, sql: &'static str) -> Result<bool, Error> {
        let rows = self.database.fetch("look for a run", sql, vec![store.as_str().into()]).await?;
        Ok(!rows.is_empty())
    }
}

fn ended_run(row: &Row) -> Result<EndedRun, Error> {
    Ok(EndedRun {
        store: row.text("store")?,
        state: row.text("state")?,
        finished_at: row.time("finished_at")?,
    })
}

/// The condition that a run, by its alias, has walked the orders to their end.
macro_rules! has_walked_orders {
    ($alias:literal) => {
        concat!("(", $alias, ".passes LIKE '%orders:complete%' OR ", $alias, ".passes LIKE '%orders:whole%')")
    };
}

pub(crate) use has_walked_orders;

macro_rules! old_runs {
    ($head:literal, $tail:literal) => {
        concat!(
            $head,
            " FROM sync_runs AS r WHERE finished_at < $1 AND state <> 'running' \
             AND EXISTS (SELECT 1 FROM sync_runs AS l WHERE l.store = r.store AND l.id > r.id \
             AND l.passes LIKE '%products:complete%' AND ",
            has_walked_orders!("l"),
            " AND l.state = 'complete') \
             AND (SELECT count(*) FROM (SELECT 1 FROM sync_runs AS l WHERE l.store = r.store AND l.id > r.id \
             LIMIT 20) AS later) = 20",
            $tail
        )
    };
}

pub(crate) const PRUNABLE: &str =
    old_runs!("SELECT count(*), CAST(COALESCE(sum(octet_length(COALESCE(error, ''))), 0) AS BIGINT)", "");
pub(crate) const PRUNE: &str =
    old_runs!("DELETE FROM sync_runs WHERE id IN (SELECT id", " ORDER BY id LIMIT 1000)");
pub(crate) const LAST: &str = "SELECT state FROM sync_runs WHERE store = $1 ORDER BY id DESC LIMIT 20";
pub(crate) const ALL_PRODUCTS: &str =
    "SELECT 1 FROM sync_runs WHERE store = $1 AND passes LIKE '%products:complete%' LIMIT 1";
pub(crate) const WALKED_ORDERS: &str =
    concat!("SELECT 1 FROM sync_runs AS r WHERE store = $1 AND ", has_walked_orders!("r"), " LIMIT 1");
