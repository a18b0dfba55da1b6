//! Rows to read again without a hint of a change: open orders often, the rest in rotation.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{OrderNumber, ProductId, StoreKey};

use crate::{
    Error,
    driver::{Insert, Row, Value},
    mirror::{Staleness, StalenessWriter, rows::last_of_each},
};

/// The index `orders_open` lists the terminal statuses in the same words, so that it serves this statement.
pub(crate) const OPEN_ORDERS: &str = "SELECT order_number, status, mirrored_at FROM orders \
    WHERE store = $1 AND order_number > $2 AND gone_at IS NULL \
    AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') \
    ORDER BY order_number LIMIT $3";
pub(crate) const ORDERS_IN: &str = "SELECT order_number, status, mirrored_at FROM orders \
    WHERE store = $1 AND order_number > $2 AND gone_at IS NULL AND status = $4 \
    ORDER BY order_number LIMIT $3";

/// The age of an order is that of its shipments, which are read together with everything else. Orders never read so
/// belong to the sweep for missing sub-resources.
macro_rules! aged {
    ($order:literal) => {
        concat!(
            "SELECT order_number, looked_at FROM (SELECT o.order_number, p.read_at AS looked_at, ",
            "COALESCE(o.updated_at, o.created_at, o.mirrored_at) AS changed_at, ",
            "COALESCE(o.status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') AS is_open ",
            "FROM orders AS o JOIN order_parts AS p ON p.store = o.store AND p.part = 'shipments' ",
            "AND p.order_number = o.order_number WHERE o.store = $1 AND o.gone_at IS NULL) AS aged ",
            "WHERE looked_at < $6 OR (changed_at >= $4 AND looked_at < $5) ",
            "OR ((is_open OR changed_at >= $2) AND looked_at < $3) ORDER BY ",
            $order,
            ", order_number LIMIT $7"
        )
    };
}

pub(crate) const AGED_YOUNG: &str = aged!("changed_at DESC");
pub(crate) const AGED_FIRST: &str = aged!("looked_at");
pub(crate) const PRODUCTS: &str = "SELECT p.id, \
    CASE WHEN r.read_at > p.mirrored_at THEN r.read_at ELSE p.mirrored_at END AS looked_at FROM products AS p \
    LEFT JOIN product_reads AS r ON r.store = p.store AND r.id = p.id \
    WHERE p.store = $1 AND p.gone_at IS NULL ORDER BY looked_at, p.id LIMIT $2";
pub(crate) const NOTE_PRODUCTS: Insert = Insert {
    operation: "note that products were read",
    head: "INSERT INTO product_reads (store, id, read_at)",
    columns: 3,
    tail: "ON CONFLICT (store, id) DO UPDATE SET read_at = excluded.read_at",
};

/// How often orders are read again, by the time since their last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paces {
    /// Orders that are open, or changed within the first span: once per second span.
    pub young: (TimeDelta, TimeDelta),
    /// Orders that changed within the first span: once per second span.
    pub middle: (TimeDelta, TimeDelta),
    /// All others.
    pub old: TimeDelta,
}

/// An order that is not gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOrder {
    /// Its number.
    pub number: OrderNumber,
    /// Its status.
    pub status: Option<String>,
    /// When it last changed in the mirror.
    pub mirrored_at: DateTime<Utc>,
}

impl Staleness<'_> {
    /// Up to `limit` orders after `after`, by number: those in `status`, or without one all open orders.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_orders(
        self,
        store: &StoreKey,
        status: Option<&str>,
        after: &str,
        limit: u32,
    ) -> Result<Vec<OpenOrder>, Error> {
        let mut values: Vec<Value> = vec![store.as_str().into(), after.into(), i64::from(limit).into()];
        values.extend(status.map(Value::from));
        let sql = if status.is_some() { ORDERS_IN } else { OPEN_ORDERS };
        let rows = self.database.fetch("read open orders", sql, values).await?;
        let open = |row: &Row| {
            let (number, status) =
                (OrderNumber::new(row.text("order_number")?), row.optional_text("status")?);
            Ok(OpenOrder { number, status, mirrored_at: row.time("mirrored_at")? })
        };
        rows.iter().map(open).collect()
    }

    /// Up to `limit` orders due for another read with all sub-resources: half of them the latest changed, half the
    /// longest unread, so that neither group starves the other.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn aged_orders(
        self,
        store: &StoreKey,
        paces: &Paces,
        limit: u32,
    ) -> Result<Vec<OrderNumber>, Error> {
        let now = self.clock.now();
        let mut due = Vec::new();
        for (sql, most) in [(AGED_YOUNG, limit.div_ceil(2)), (AGED_FIRST, limit)] {
            let most = i64::from(most).into();
            let mut values: Vec<Value> = vec![store.as_str().into()];
            let Paces { young, middle, old } = paces;
            for before in [young.0, young.1, middle.0, middle.1, *old] {
                values.push((now - before).into());
            }
            values.push(most);
            let rows = self.database.fetch("read orders by age", sql, values).await?;
            for row in &rows {
                let number = OrderNumber::new(row.text(0)?);
                if due.len() < limit as usize && !due.contains(&number) {
                    due.push(number);
                }
            }
        }
        Ok(due)
    }

    /// The `limit` longest unread products, with the time of their last read.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn products_by_age(
        self,
        store: &StoreKey,
        limit: u32,
    ) -> Result<Vec<(ProductId, DateTime<Utc>)>, Error> {
        let aged = self.by_age(PRODUCTS, store, limit).await?;
        Ok(aged.into_iter().map(|(key, at)| (ProductId::new(key), at)).collect())
    }

    async fn by_age(
        self,
        sql: &'static str,
        store: &StoreKey,
        limit: u32,
    ) -> Result<Vec<(String, DateTime<Utc>)>, Error> {
        let values = vec![store.as_str().into(), i64::from(limit).into()];
        let rows = self.database.fetch("read rows by age", sql, values).await?;
        rows.iter().map(|row| Ok((row.text("id")?, row.time("looked_at")?))).collect()
    }
}

impl StalenessWriter<'_, '_> {
    /// Records that products were read just now, changed or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_products_read(&mut self, products: Vec<ProductId>) -> Result<(), Error> {
        let (store, at) = (self.page.store_key().as_str().to_owned(), self.page.at());
        let products = last_of_each(products, ProductId::clone);
        let values = products
            .into_iter()
            .flat_map(|id| -> [Value; 3] { [store.as_str().into(), id.into_string().into(), at.into()] });
        let values = values.collect();
        self.page.tx.insert(&NOTE_PRODUCTS, values).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::order::TERMINAL_STATUSES;

    use super::*;

    #[test]
    fn what_is_open_and_what_is_closed_is_said_in_the_words_of_the_model() {
        let list = TERMINAL_STATUSES.map(|status| format!("'{status}'")).join(", ");
        assert!(OPEN_ORDERS.contains(&format!("NOT IN ({list})")));
        for sql in [
            AGED_YOUNG,
            AGED_FIRST,
            crate::operations::sweeps::OPEN[0],
            crate::operations::sweeps::OPEN[1],
            crate::operations::sweeps::LIVE_COUNTS,
        ] {
            assert!(sql.contains(&format!("NOT IN ({list})")), "{sql}");
        }
        for migration in [
            include_str!("../../../../migrations/sqlite/0005_whole_mirror.sql"),
            include_str!("../../../../migrations/postgres/0005_whole_mirror.sql"),
        ] {
            assert_eq!(migration.matches(&format!("NOT IN ({list})")).count(), 3);
        }
    }
}
