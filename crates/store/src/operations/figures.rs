//! The figures of a day: what is to be dispatched and invoiced, what the ERP has not taken, and where the open orders
//! stand. For the status page, of one store or of all.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{
    Error,
    driver::{Row, Value},
    operations::{
        Overviews,
        overview::{Both, both, chosen},
    },
};

/// Dispatch deadlines: past ones, and all before the end of the day.
pub(crate) const DISPATCH: Both = [
    "SELECT count(*), sum(CASE WHEN at < $1 THEN 1 ELSE 0 END) FROM v_deadlines WHERE kind = 'ship_by' AND at < $2",
    "SELECT count(*), sum(CASE WHEN at < $2 THEN 1 ELSE 0 END) FROM v_deadlines WHERE kind = 'ship_by' AND at < $3 \
     AND store = $1",
];
/// Orders that are prepared and have no fiscal document that counts.
pub(crate) const AWAITING_INVOICE: Both = [
    "SELECT CAST(sum(rows) AS BIGINT) FROM (SELECT (SELECT count(*) FROM orders o WHERE o.store = s.store AND o.status = 'preparing' \
     AND o.gone_at IS NULL AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = o.store AND r.order_number = o.order_number) \
     AND NOT EXISTS (SELECT 1 FROM order_invoices i WHERE i.store = o.store \
     AND i.order_number = o.order_number AND i.is_current AND i.gone_at IS NULL)) AS rows FROM stores s) AS each_store",
    "SELECT count(*) FROM orders o WHERE o.store = $1 AND o.status = 'preparing' \
     AND o.gone_at IS NULL AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = o.store AND r.order_number = o.order_number) \
     AND NOT EXISTS (SELECT 1 FROM order_invoices i WHERE i.store = o.store \
     AND i.order_number = o.order_number AND i.is_current AND i.gone_at IS NULL)",
];
/// The rows of `v_orders_new`, from indexes alone, and whether the ERP has ever taken an order. For an ERP that takes none
/// nothing is counted: that would look at each order that was ever paid, for a number that no page shows.
pub(crate) const NOT_TAKEN: Both = [
    "SELECT CASE WHEN taken > 0 THEN (SELECT count(*) FROM orders i \
     WHERE i.gone_at IS NULL AND COALESCE(i.status, '') NOT IN \
     ('', 'waiting_payment', 'awaiting_campaign_conclusion', 'cancelled', 'payment_expired', 'pickup_expired') \
     AND NOT EXISTS (SELECT 1 FROM erp_orders e WHERE e.store = i.store AND e.order_number = i.order_number) \
     AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = i.store AND r.order_number = i.order_number)) \
     ELSE 0 END, taken FROM (SELECT count(*) AS taken FROM (SELECT 1 FROM erp_orders LIMIT 1) AS one) AS erp",
    "SELECT CASE WHEN taken > 0 THEN (SELECT count(*) FROM orders i \
     WHERE i.store = $1 AND i.gone_at IS NULL AND COALESCE(i.status, '') NOT IN \
     ('', 'waiting_payment', 'awaiting_campaign_conclusion', 'cancelled', 'payment_expired', 'pickup_expired') \
     AND NOT EXISTS (SELECT 1 FROM erp_orders e WHERE e.store = i.store AND e.order_number = i.order_number) \
     AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = i.store AND r.order_number = i.order_number)) \
     ELSE 0 END, taken FROM (SELECT count(*) AS taken FROM (SELECT 1 FROM erp_orders WHERE store = $1 LIMIT 1) AS one) AS erp",
];
/// Open orders by status: reads the index of open orders.
pub(crate) const BY_STATUS: Both = [
    "SELECT COALESCE(status, ''), count(*) FROM orders WHERE gone_at IS NULL \
     AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') \
     GROUP BY COALESCE(status, '') ORDER BY 2 DESC, 1",
    "SELECT COALESCE(status, ''), count(*) FROM orders WHERE store = $1 AND gone_at IS NULL \
     AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') \
     GROUP BY COALESCE(status, '') ORDER BY 2 DESC, 1",
];
/// Dispatch and fiscal deadlines before each of nine instants.
pub(crate) const BY_HOUR: Both = [
    "SELECT kind, sum(CASE WHEN at < $1 THEN 1 ELSE 0 END), sum(CASE WHEN at < $2 THEN 1 ELSE 0 END), \
     sum(CASE WHEN at < $3 THEN 1 ELSE 0 END), sum(CASE WHEN at < $4 THEN 1 ELSE 0 END), \
     sum(CASE WHEN at < $5 THEN 1 ELSE 0 END), sum(CASE WHEN at < $6 THEN 1 ELSE 0 END), \
     sum(CASE WHEN at < $7 THEN 1 ELSE 0 END), sum(CASE WHEN at < $8 THEN 1 ELSE 0 END), count(*) \
     FROM v_deadlines WHERE kind IN ('ship_by', 'invoice_by') AND at < $9 GROUP BY kind",
    "SELECT kind, sum(CASE WHEN at < $2 THEN 1 ELSE 0 END), sum(CASE WHEN at < $3 THEN 1 ELSE 0 END), \
     sum(CASE WHEN at < $4 THEN 1 ELSE 0 END), sum(CASE WHEN at < $5 THEN 1 ELSE 0 END), \
     sum(CASE WHEN at < $6 THEN 1 ELSE 0 END), sum(CASE WHEN at < $7 THEN 1 ELSE 0 END), \
     sum(CASE WHEN at < $8 THEN 1 ELSE 0 END), sum(CASE WHEN at < $9 THEN 1 ELSE 0 END), count(*) \
     FROM v_deadlines WHERE store = $1 AND kind IN ('ship_by', 'invoice_by') AND at < $10 GROUP BY kind",
];
/// The first dispatch deadlines.
pub(crate) const FIRST_DISPATCHES: Both = [
    "SELECT store, key, at FROM v_deadlines WHERE kind = 'ship_by' AND at < $1 ORDER BY at, store, key LIMIT 6",
    "SELECT store, key, at FROM v_deadlines WHERE kind = 'ship_by' AND at < $2 AND store = $1 \
     ORDER BY at, store, key LIMIT 6",
];
/// The first three rows in trouble of each cause and state, the oldest first. Keys that are no names are left out.
pub(crate) const FIRST_IN_TROUBLE: Both = both!(
    "SELECT store, entity, key, state, code, kind, subject FROM ( \
     SELECT store, entity, key, state, code, kind, subject, \
     row_number() OVER (PARTITION BY code, state ORDER BY at, store, entity, key) AS place FROM ( \
     SELECT store, 'stock' AS entity, sku || '/' || location_id AS key, state, error_code AS code, '' AS kind, \
     '' AS subject, updated_at AS at FROM erp_stock WHERE error_code IS NOT NULL \
     AND state IN ('done', 'failed', 'held', 'doubtful', 'waiting') \
     AND octet_length(sku) <= 200 AND octet_length(location_id) <= 200 \
     UNION ALL SELECT store, 'price', sku || '/' || min_quantity, state, error_code, '', '', updated_at FROM erp_prices \
     WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful', 'waiting') \
     AND octet_length(sku) <= 200 \
     UNION ALL SELECT store, 'command', CAST(id AS TEXT), state, error_code, COALESCE(kind, ''), COALESCE(key, ''), \
     updated_at FROM commands WHERE error_code IS NOT NULL \
     AND state IN ('done', 'failed', 'held', 'doubtful', 'waiting') \
     AND octet_length(COALESCE(kind, '')) <= 200 AND octet_length(COALESCE(key, '')) <= 200 \
     UNION ALL SELECT store, CASE resource WHEN 'orders' THEN 'order' WHEN 'products' THEN 'product' ELSE resource END, \
     key, 'failed', code, '', '', at FROM sync_failures \
     WHERE NOT (resource = 'products' AND code = 'shared_sku')) AS troubled",
    ") AS placed WHERE place <= 3 ORDER BY code, state, place"
);

/// The instants that divide deadlines into hours.
pub type Bounds = [DateTime<Utc>; 9];

/// The figures of one store, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Orders to dispatch before the end of the day, late ones too.
    pub dispatch: u64,
    /// Those of them whose deadline is past.
    pub late: u64,
    /// The first late ones: store, order number, deadline.
    pub first_late: Vec<(String, String, DateTime<Utc>)>,
    /// Orders in preparation without a fiscal document that counts.
    pub awaiting_invoice: u64,
    /// Orders that the ERP has not taken, as in `v_orders_new`; zero for an ERP that takes none.
    pub not_taken: u64,
    /// True if the ERP has ever taken an order through `erp_orders`.
    pub erp_takes: bool,
    /// Open orders by status, the most frequent first.
    pub by_status: Vec<(String, u64)>,
    /// `ship_by` and `invoice_by` deadlines between the bounds: before the first, then up to each of the others.
    pub by_hour: Vec<(String, Vec<u64>)>,
    /// The first three rows in trouble of each cause and state, the oldest first.
    pub first_in_trouble: Vec<TroubledRow>,
}

/// A row in trouble, with what people call it by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TroubledRow {
    /// The store.
    pub store: String,
    /// The entity and the key, as in `v_errors`.
    pub entity: String,
    /// See `entity`.
    pub key: String,
    /// The state.
    pub state: String,
    /// The cause.
    pub code: String,
    /// The kind of a command; empty for other rows.
    pub kind: String,
    /// The key of a command: an order, a SKU or another name; empty for other rows.
    pub subject: String,
}

impl Overviews<'_> {
    /// The figures of a store, or of all: seven statements, however many stores and orders there are. `bounds` are in
    /// order; a day ends at `end_of_day`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn figures(
        self,
        of: Option<&StoreKey>,
        end_of_day: DateTime<Utc>,
        bounds: &Bounds,
    ) -> Result<Figures, Error> {
        let _turn = self.turn_to_count().await;
        let now = self.clock.now();
        let dispatch = self.figure(DISPATCH, of, &[now, end_of_day]).await?;
        let invoice = self.figure(AWAITING_INVOICE, of, &[]).await?;
        let taken = self.figure(NOT_TAKEN, of, &[]).await?;
        let by_status = self.figure(BY_STATUS, of, &[]).await?;
        let by_hour = self.figure(BY_HOUR, of, bounds).await?;
        let first_late = self.figure(FIRST_DISPATCHES, of, &[now]).await?;
        let first_in_trouble = self.figure(FIRST_IN_TROUBLE, of, &[]).await?;
        Ok(Figures {
            dispatch: dispatch.first().map_or(Ok(0), |row| row.count(0))?,
            late: dispatch.first().map_or(Ok(0), |row| optional_count(row, 1))?,
            first_late: first_late
                .iter()
                .map(|row| Ok((row.text("store")?, row.text("key")?, row.time("at")?)))
                .collect::<Result<_, Error>>()?,
            awaiting_invoice: invoice.first().map_or(Ok(0), |row| optional_count(row, 0))?,
            not_taken: taken.first().map_or(Ok(0), |row| row.count(0))?,
            erp_takes: taken.first().map_or(Ok(0), |row| row.count(1))? > 0,
            by_status: by_status
                .iter()
                .map(|row| Ok((row.text(0)?, row.count(1)?)))
                .collect::<Result<_, Error>>()?,
            by_hour: by_hour.iter().map(between).collect::<Result<_, Error>>()?,
            first_in_trouble: first_in_trouble.iter().map(troubled).collect::<Result<_, Error>>()?,
        })
    }

    async fn figure(
        self,
        sql: Both,
        of: Option<&StoreKey>,
        instants: &[DateTime<Utc>],
    ) -> Result<Vec<Row>, Error> {
        let (sql, mut values) = chosen(sql, of);
        values.extend(instants.iter().map(|at| Value::from(*at)));
        self.database.fetch_erp("count the day's figures", sql, values).await
    }
}

/// Returns the deadlines of one kind between the bounds; the row has those before each bound.
fn between(row: &Row) -> Result<(String, Vec<u64>), Error> {
    let mut before = 0;
    let counts = (1..=9_usize).map(|column| {
        let all = optional_count(row, column)?;
        let more = all.saturating_sub(before);
        before = all;
        Ok(more)
    });
    Ok((row.text(0)?, counts.collect::<Result<_, Error>>()?))
}

fn troubled(row: &Row) -> Result<TroubledRow, Error> {
    Ok(TroubledRow {
        store: row.foreign_text(0)?,
        entity: row.text(1)?,
        key: row.foreign_text(2)?,
        state: row.text(3)?,
        code: row.foreign_text(4)?,
        kind: row.foreign_text(5)?,
        subject: row.foreign_text(6)?,
    })
}

/// Reads a sum, which is NULL over no rows.
fn optional_count(row: &Row, column: usize) -> Result<u64, Error> {
    Ok(row.optional_int(column)?.unwrap_or_default().try_into().unwrap_or_default())
}
