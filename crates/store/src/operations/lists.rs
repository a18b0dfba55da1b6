//! Lists for the pages: orders that share a need, intents by state or by what they are about, the newest deliveries. Each is
//! one statement, with a limit.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{
    Error,
    driver::Row,
    operations::{History, Overviews},
    words::all_words,
};

const COLUMNS: &str =
    "o.store, o.order_number, COALESCE(o.status, ''), CAST(o.total_order AS TEXT), o.created_at, o.ship_by";

/// The statements of [`OrderList`], in its order. `$1` is a store or nothing, `$2` a status or nothing. The inner question
/// is answered from an index alone; the rows of those that are shown are read afterwards.
pub(crate) static ORDERS: std::sync::LazyLock<[String; 4]> = std::sync::LazyLock::new(|| {
    let list = |from: &str, and: &str, by: &str| {
        format!(
            "SELECT {COLUMNS} FROM (SELECT i.store, i.order_number, {by} AS at FROM {from} \
             WHERE ($1 = '' OR i.store = $1) AND ($2 = '' OR i.status = $2) AND i.gone_at IS NULL{and} \
             ORDER BY at, i.store, i.order_number LIMIT $3) f \
             JOIN orders o ON o.store = f.store AND o.order_number = f.order_number ORDER BY f.at, o.store, o.order_number"
        )
    };
    [
        list(
            "orders i",
            " AND COALESCE(i.status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')",
            "COALESCE(i.ship_by, i.created_at)",
        ),
        list(
            "v_deadlines d JOIN orders i ON i.store = d.store AND i.order_number = d.key",
            " AND d.kind = 'ship_by' AND d.at < $4",
            "i.ship_by",
        ),
        // CROSS JOIN: SQLite looks the status up in each store, and does not look each order's store up.
        list(
            "stores s CROSS JOIN orders i",
            " AND i.store = s.store AND i.status = 'preparing' AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r \
             WHERE r.store = i.store AND r.order_number = i.order_number) AND NOT EXISTS (SELECT 1 FROM order_invoices d \
             WHERE d.store = i.store AND d.order_number = i.order_number AND d.is_current AND d.gone_at IS NULL)",
            "COALESCE(i.ship_by, i.created_at)",
        ),
        list(
            "orders i",
            " AND COALESCE(i.status, '') NOT IN ('', 'waiting_payment', 'awaiting_campaign_conclusion', 'cancelled', \
             'payment_expired', 'pickup_expired') AND NOT EXISTS (SELECT 1 FROM erp_orders e WHERE e.store = i.store \
             AND e.order_number = i.order_number) AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r \
             WHERE r.store = i.store AND r.order_number = i.order_number)",
            "i.created_at",
        ),
    ]
});

/// The ERP's rows in one state, or all that are not done. `$1` is a store or nothing, `$2` a state or nothing.
pub(crate) const QUEUE: &str = "SELECT store, entity, substr(key, 1, 1000), state, COALESCE(substr(code, 1, 200), ''), \
    COALESCE(substr(error, 1, 2000), '') AS error, COALESCE(substr(hint, 1, 2000), '') AS hint, since, \
    substr(subject, 1, 1000), said FROM ( \
    SELECT store, 'stock' AS entity, sku || '/' || location_id AS key, state, error_code AS code, error, hint, \
    updated_at AS since, sku AS subject, CAST(said AS TEXT) AS said FROM erp_stock WHERE state IN ('new', 'waiting', 'sending') \
    UNION ALL SELECT store, 'stock', sku || '/' || location_id, state, error_code, error, hint, updated_at, sku, \
    CAST(said AS TEXT) \
    FROM erp_stock WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful') \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, state, error_code, error, hint, updated_at, sku, \
    CAST(said AS TEXT) \
    FROM erp_prices WHERE state IN ('new', 'waiting', 'sending') \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, state, error_code, error, hint, updated_at, sku, \
    CAST(said AS TEXT) \
    FROM erp_prices WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful') \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), state, error_code, error, hint, COALESCE(updated_at, created_at), \
    key, CAST(said AS TEXT) FROM commands WHERE state IN ('new', 'waiting', 'sending') \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), state, error_code, error, hint, COALESCE(updated_at, created_at), \
    key, CAST(said AS TEXT) FROM commands WHERE error_code IS NOT NULL AND state IN ('failed', 'held', 'doubtful') \
    UNION ALL SELECT store, 'stock', sku || '/' || location_id, state, error_code, error, hint, updated_at, sku, \
    CAST(said AS TEXT) FROM erp_stock WHERE $2 = 'ignored' AND state = 'ignored' \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, state, error_code, error, hint, updated_at, sku, \
    CAST(said AS TEXT) FROM erp_prices WHERE $2 = 'ignored' AND state = 'ignored' \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), state, error_code, error, hint, COALESCE(updated_at, created_at), \
    key, CAST(said AS TEXT) FROM commands WHERE $2 = 'ignored' AND state = 'ignored') AS undone \
    WHERE ($1 = '' OR store = $1) AND ($2 = '' OR state = $2) ORDER BY since, store, entity, key LIMIT $3";

/// The ERP's rows about one thing that a person has to decide about: a row that was given up is decided. `$2` is an order,
/// a SKU or a command's number, `$3` says which: `order`, `product` or `command`.
pub(crate) const DECIDABLE: &str = "SELECT store, entity, substr(key, 1, 1000), state, COALESCE(substr(code, 1, 200), ''), \
    COALESCE(substr(error, 1, 2000), '') AS error, COALESCE(substr(hint, 1, 2000), '') AS hint, since, \
    substr(subject, 1, 1000), said FROM ( \
    SELECT store, 'stock' AS entity, sku || '/' || location_id AS key, state, error_code AS code, error, hint, \
    updated_at AS since, sku AS subject, CAST(said AS TEXT) AS said FROM erp_stock \
    WHERE $3 = 'product' AND store = $1 AND sku = $2 AND state IN ('failed', 'held', 'doubtful') \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, state, error_code, error, hint, updated_at, sku, \
    CAST(said AS TEXT) FROM erp_prices \
    WHERE $3 = 'product' AND store = $1 AND sku = $2 AND state IN ('failed', 'held', 'doubtful') \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), state, error_code, error, hint, COALESCE(updated_at, created_at), \
    key, CAST(said AS TEXT) FROM commands WHERE store = $1 AND error_code IS NOT NULL \
    AND state IN ('failed', 'held', 'doubtful') AND (($3 = 'command' AND CAST(id AS TEXT) = $2) \
    OR ($3 = 'order' AND key = $2 AND kind IN ('order.status', 'order.notes', 'labels.generate')) \
    OR ($3 = 'product' AND key = $2 AND kind NOT IN ('order.status', 'order.notes', 'labels.generate')))) AS decidable \
    ORDER BY since, entity, key LIMIT 50";

/// The handled deliveries: those that a replay opens again. `$1` is a store or nothing, `$2` an event or nothing. Of
/// many, 201 are counted: one more than a page shows.
pub(crate) const HANDLED: &str = "SELECT count(*) FROM (SELECT 1 FROM webhook_inbox \
    WHERE ($1 = '' OR store = $1) AND ($2 = '' OR event = $2) AND handled_at IS NOT NULL LIMIT 201) AS handled";

/// The newest deliveries. `$1` is a store or nothing, `$2` an event or nothing, `$3` is `open`, `handled` or nothing.
pub(crate) const DELIVERIES: &str = "SELECT id, store, received_at, event, handled_at FROM webhook_inbox \
    WHERE ($1 = '' OR store = $1) AND ($2 = '' OR event = $2) \
    AND ($3 = '' OR ($3 = 'open' AND handled_at IS NULL) OR ($3 = 'handled' AND handled_at IS NOT NULL)) \
    ORDER BY id DESC LIMIT $4";

/// The files of an order's labels.
pub(crate) const LABEL_FILES: &str = "SELECT label_id, file, void_at IS NOT NULL FROM label_files \
    WHERE store = $1 AND order_number = $2 ORDER BY fetched_at DESC, file";

/// Orders with the same need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderList {
    /// All open ones.
    Open,
    /// Those to dispatch before an instant, late ones first.
    Dispatch(DateTime<Utc>),
    /// Those in preparation without a fiscal document that counts.
    AwaitingInvoice,
    /// Those that the ERP has not taken, as in `v_orders_new`.
    NotTaken,
}

/// An order in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedOrder {
    /// Its store.
    pub store: String,
    /// Its number.
    pub number: String,
    /// Its status; empty if it has none.
    pub status: String,
    /// Its total.
    pub total: Option<rust_decimal::Decimal>,
    /// When it was placed.
    pub created_at: Option<DateTime<Utc>>,
    /// When it is to be dispatched.
    pub ship_by: Option<DateTime<Utc>>,
}

/// A row of the ERP that is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedRow {
    /// Its store.
    pub store: String,
    /// `stock`, `price` or `command`.
    pub entity: String,
    /// Its key.
    pub key: String,
    /// Its state.
    pub state: String,
    /// The cause's code, or nothing.
    pub code: String,
    /// The cause, or nothing.
    pub error: String,
    /// The next step, or nothing.
    pub hint: String,
    /// Since when, if the row has a readable time.
    pub since: Option<DateTime<Utc>>,
    /// The SKU, the order or another key that it is about.
    pub subject: String,
}

impl Overviews<'_> {
    /// Up to `limit` orders of a list, of one store or of all, of one status or of any.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders(
        self,
        list: OrderList,
        store: Option<&StoreKey>,
        status: &str,
        limit: u32,
    ) -> Result<Vec<ListedOrder>, Error> {
        let mut values =
            vec![store.map_or("", StoreKey::as_str).into(), status.into(), i64::from(limit).into()];
        let at = match list {
            OrderList::Open => 0,
            OrderList::Dispatch(before) => {
                values.push(before.into());
                1
            }
            OrderList::AwaitingInvoice => 2,
            OrderList::NotTaken => 3,
        };
        let rows = self.database.fetch_erp("list orders", &ORDERS[at], values).await?;
        let order = |row: &Row| {
            Ok(ListedOrder {
                store: row.text(0)?,
                number: row.text(1)?,
                status: row.text(2)?,
                total: row.optional_decimal(3)?,
                created_at: row.optional_time(4)?,
                ship_by: row.optional_time(5)?,
            })
        };
        rows.iter().map(order).collect()
    }

    /// Up to `limit` rows of the ERP in one state, or all that are not done, the oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn queue(
        self,
        store: Option<&StoreKey>,
        state: &str,
        limit: u32,
    ) -> Result<Vec<QueuedRow>, Error> {
        let values = vec![store.map_or("", StoreKey::as_str).into(), state.into(), i64::from(limit).into()];
        let rows = self.database.fetch_erp("list intents", QUEUE, values).await?;
        rows.iter().map(|row| self.queued(row)).collect()
    }

    /// Up to 50 rows of the ERP about one thing that a person can decide about: failed, held or in doubt. The thing
    /// is an `order` by its number, a `product` by its SKU, or a `command` by its number.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn decidable(self, store: &StoreKey, entity: &str, key: &str) -> Result<Vec<QueuedRow>, Error> {
        let values = vec![store.as_str().into(), key.into(), entity.into()];
        let rows = self.database.fetch_erp("list intents about a thing", DECIDABLE, values).await?;
        rows.iter().map(|row| self.queued(row)).collect()
    }

    fn queued(self, row: &Row) -> Result<QueuedRow, Error> {
        let [error, hint] = all_words(row, self.reader)?;
        Ok(QueuedRow {
            store: row.foreign_text(0)?,
            entity: row.text(1)?,
            key: row.foreign_text(2)?,
            state: row.foreign_text(3)?,
            code: row.foreign_text(4)?,
            error,
            hint,
            // An ERP may write an unreadable time.
            since: row.optional_time(7).ok().flatten(),
            subject: row.foreign_text(8)?,
        })
    }

    /// Up to `limit` deliveries, the newest first: of one store or of all, of one event or of any, `open`, `handled` or
    /// both.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn recent_deliveries(
        self,
        store: Option<&StoreKey>,
        event: &str,
        state: &str,
        limit: u32,
    ) -> Result<Vec<crate::DeliveryRow>, Error> {
        let values = vec![
            store.map_or("", StoreKey::as_str).into(),
            event.into(),
            state.into(),
            i64::from(limit).into(),
        ];
        let rows = self.inbox.fetch("list deliveries", DELIVERIES, values).await?;
        rows.iter().map(crate::inbox::replay::delivery_row).collect()
    }
}

impl Overviews<'_> {
    /// The number of handled deliveries of one store or of all, of one event or of any: what a replay opens again. Where
    /// there are more than 200, it is 201.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn handled_deliveries(self, store: Option<&StoreKey>, event: &str) -> Result<u64, Error> {
        let values = vec![store.map_or("", StoreKey::as_str).into(), event.into()];
        let rows = self.inbox.fetch("count handled deliveries", HANDLED, values).await?;
        rows.first().map_or(Ok(0), |row| row.count(0))
    }
}

impl History<'_> {
    /// The files of an order's labels, the newest first: label, path from the state directory, and whether it is void.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn label_files_of(
        self,
        store: &StoreKey,
        order: &str,
    ) -> Result<Vec<(String, String, bool)>, Error> {
        let values = vec![store.as_str().into(), order.into()];
        let rows = self.database.fetch("read the files of labels", LABEL_FILES, values).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?, row.truth(2)?))).collect()
    }
}
