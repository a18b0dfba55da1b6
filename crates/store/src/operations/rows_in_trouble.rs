//! Rows with problems, grouped by cause: for alarms.

use std::sync::LazyLock;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{Error, driver::Row, operations::Overviews};

/// Uses the partial indexes on `error_code`, so its cost does not grow with the finished rows. The first row of a group
/// is read back by its primary key: its words, its next step and its key belong together.
pub(crate) static TROUBLED: LazyLock<&'static str> = LazyLock::new(|| {
    let written = |entity: &str, table: &str, [first, key]: [&str; 2], is_first: &str| {
        format!(
            "SELECT g.store, '{entity}', g.state, g.error_code, g.n, g.since, substr({key}, 1, 200), \
             substr(t.error, 1, 2000), substr(t.hint, 1, 2000), \
             CASE WHEN octet_length(CAST(t.said AS TEXT)) <= 10000 THEN CAST(t.said AS TEXT) END \
             FROM (SELECT store, state, error_code, count(*) AS n, min(updated_at) AS since, \
             min({first}) AS lowest FROM {table} WHERE error_code IS NOT NULL \
             AND state IN ('done', 'failed', 'held', 'doubtful', 'waiting') \
             GROUP BY store, state, error_code) AS g CROSS JOIN {table} AS t WHERE {is_first}"
        )
    };
    let of_sku = |table: &str, second: &str| {
        format!(
            "t.store = g.store AND t.sku = g.lowest AND t.{second} = (SELECT min(f.{second}) FROM {table} AS f \
             WHERE f.store = g.store AND f.sku = g.lowest AND f.state = g.state AND f.error_code = g.error_code)"
        )
    };
    let (levels, tiers) = (of_sku("erp_stock", "location_id"), of_sku("erp_prices", "min_quantity"));
    [
        written("stock", "erp_stock", ["sku", "t.sku || '/' || t.location_id"], &levels),
        written("price", "erp_prices", ["sku", "t.sku || '/' || t.min_quantity"], &tiers),
        written("command", "commands", ["id", "CAST(t.id AS TEXT)"], "t.id = g.lowest"),
        "SELECT g.store, g.resource, 'failed', g.code, g.n, g.since, t.key, t.error, t.hint, \
         CAST(t.said AS TEXT) FROM (SELECT store, resource, code, count(*) AS n, min(at) AS since, \
         min(key) AS lowest FROM sync_failures WHERE NOT (resource = 'products' AND code = 'shared_sku') \
         GROUP BY store, resource, code) AS g \
         CROSS JOIN sync_failures AS t WHERE t.store = g.store AND t.resource = g.resource AND t.key = g.lowest"
            .to_owned(),
        // Step by step through the index: only the rows of unknown stores are read.
        "SELECT store, 'order', 'failed', 'unknown_store', count(*), min(taken_at), substr(min(order_number), 1, 200), \
         '', '', CAST(NULL AS TEXT) FROM erp_orders WHERE store IN (WITH RECURSIVE named (store) AS ( \
         SELECT min(store) FROM erp_orders UNION ALL \
         SELECT (SELECT min(o.store) FROM erp_orders o WHERE o.store > named.store) FROM named \
         WHERE named.store IS NOT NULL) \
         SELECT store FROM named WHERE store IS NOT NULL AND store NOT IN (SELECT store FROM stores)) GROUP BY store"
            .to_owned(),
    ]
    .join(" UNION ALL ")
    .leak()
});

/// New ERP rows that no task has read.
pub(crate) const UNSEEN: &str = "SELECT store, count(*), min(updated_at) FROM erp_stock WHERE state = 'new' GROUP BY \
    store \
    UNION ALL SELECT store, count(*), min(updated_at) FROM erp_prices WHERE state = 'new' GROUP BY store \
    UNION ALL SELECT store, count(*), min(updated_at) FROM commands WHERE state = 'new' GROUP BY store";
/// Deadlines before a time, by kind.
pub(crate) const DUE: &str = "SELECT store, kind, sum(CASE WHEN at < $1 THEN 1 ELSE 0 END), count(*), min(at) AS first_at, \
    (SELECT f.key FROM v_deadlines f WHERE f.store = d.store AND f.kind = d.kind AND f.at < $2 ORDER BY f.at \
    LIMIT 1) AS first_key \
    FROM v_deadlines d WHERE kind IN ('ship_by', 'invoice_by') AND at < $2 GROUP BY store, kind";

/// Orders that wait for a fiscal document, and the orders of the last days, by store. Nobody knows what is usual in a
/// store that is new here.
pub(crate) const FISCAL: &str = "SELECT store, \
    (SELECT count(*) FROM (SELECT 1 FROM orders o WHERE o.store = s.store AND o.status = 'preparing' \
    AND o.gone_at IS NULL AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = o.store AND r.order_number = o.order_number) \
    AND NOT EXISTS (SELECT 1 FROM order_invoices i WHERE i.store = o.store \
    AND i.order_number = o.order_number AND i.is_current AND i.gone_at IS NULL) LIMIT 10000) AS waiting), \
    (SELECT count(*) FROM (SELECT 1 FROM orders o WHERE o.store = s.store AND o.created_at >= $1 LIMIT 100000) AS lately) \
    FROM stores s WHERE first_seen_at < $1";
/// The days over which a usual day is counted.
const USUAL_DAYS: i64 = 7;

/// Rows of one table and store with the same state and cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowsInTrouble {
    /// The store.
    pub store: String,
    /// `stock`, `price`, `command`, or the resource of a failed row.
    pub entity: String,
    /// The state.
    pub state: String,
    /// The cause.
    pub code: String,
    /// How many.
    pub rows: u64,
    /// The time of the oldest.
    pub since: Option<DateTime<Utc>>,
    /// The key of the first of them.
    pub key: String,
    /// The words of this row, in the installation's language.
    pub error: String,
    /// Its next step.
    pub hint: String,
    /// The same as a text of the catalogue.
    pub message: Option<String>,
}

/// Deadlines of one kind in one store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDeadlines {
    /// The store.
    pub store: String,
    /// The kind, as in `v_deadlines.kind`.
    pub kind: String,
    /// The number of past ones.
    pub past: u64,
    /// The number of all.
    pub all: u64,
    /// The first deadline.
    pub first_at: DateTime<Utc>,
    /// Its key.
    pub first_key: String,
}

/// The orders of a store at the fiscal gate (API document, "Orders": transitions).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiscalQueue {
    /// The store.
    pub store: String,
    /// The orders in `preparing` without an invoice or content declaration that counts.
    pub waiting: u64,
    /// The new orders of a usual day.
    pub usual: u64,
}

impl Overviews<'_> {
    /// Rows that are failed, held, doubtful, waiting, or done with a remark, rows that the mirror could not take, and
    /// orders that the ERP took for a store that was never here.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn rows_in_trouble(self) -> Result<Vec<RowsInTrouble>, Error> {
        let rows = self.database.fetch_erp("look for rows in trouble", *TROUBLED, Vec::new()).await?;
        rows.iter().map(troubled).collect()
    }

    /// New ERP rows that no task has read: store, number, and the time of the oldest.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn unseen_rows(self) -> Result<Vec<(String, u64, Option<DateTime<Utc>>)>, Error> {
        let rows = self.database.fetch_erp("look for rows of the ERP", UNSEEN, Vec::new()).await?;
        // An ERP may write an unreadable time.
        rows.iter()
            .map(|row| Ok((row.foreign_text(0)?, row.count(1)?, row.optional_time(2).ok().flatten())))
            .collect()
    }

    /// The orders at the fiscal gate, of each store that has been here for a week.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn fiscal_queues(self) -> Result<Vec<FiscalQueue>, Error> {
        let since = self.clock.now() - TimeDelta::days(USUAL_DAYS);
        let rows = self.database.fetch("count orders at the fiscal gate", FISCAL, vec![since.into()]).await?;
        let queue = |row: &Row| -> Result<FiscalQueue, Error> {
            let usual = row.count(2)?.div_ceil(USUAL_DAYS.unsigned_abs());
            Ok(FiscalQueue { store: row.text(0)?, waiting: row.count(1)?, usual })
        };
        rows.iter().map(queue).collect()
    }

    /// Dispatch and fiscal deadlines before a time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn due_deadlines(self, before: DateTime<Utc>) -> Result<Vec<DueDeadlines>, Error> {
        let values = vec![self.clock.now().into(), before.into()];
        let rows = self.database.fetch("look for deadlines", DUE, values).await?;
        rows.iter().map(due).collect()
    }
}

fn troubled(row: &Row) -> Result<RowsInTrouble, Error> {
    Ok(RowsInTrouble {
        store: row.foreign_text(0)?,
        entity: row.text(1)?,
        state: row.text(2)?,
        code: row.foreign_text(3)?,
        rows: row.count(4)?,
        since: row.optional_time(5).ok().flatten(),
        key: row.foreign_text(6)?,
        error: row.foreign_text(7)?,
        hint: row.foreign_text(8)?,
        message: row.optional_foreign_text(9)?,
    })
}

fn due(row: &Row) -> Result<DueDeadlines, Error> {
    Ok(DueDeadlines {
        store: row.text("store")?,
        kind: row.text("kind")?,
        past: row.count(2)?,
        all: row.count(3)?,
        first_at: row.time("first_at")?,
        first_key: row.optional_text("first_key")?.unwrap_or_default(),
    })
}
