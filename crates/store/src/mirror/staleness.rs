//! Rows to read again without a hint of a change: open orders often, the rest in rotation.
//!
//! When an order is due stands on the row of its shipments (`order_parts.due_at`), and the engine decides it. Until it
//! has, after each read and each change, `is_young` is NULL and `due_at` is the time of that read or change.

use chrono::{DateTime, Utc};
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
/// By the index `order_parts_due`, like the next statement.
pub(crate) const DUE: &str = "SELECT order_number, due_at FROM order_parts \
    WHERE store = $1 AND is_young = $2 AND due_at < $3 ORDER BY due_at, order_number LIMIT $4";
/// The limit comes before the join, and `is_young` is named in the order, so that PostgreSQL walks the index too.
pub(crate) const UNSCHEDULED: &str = "SELECT p.order_number, p.due_at, p.read_at, o.status, \
    COALESCE(o.updated_at, o.created_at, o.mirrored_at) AS changed_at \
    FROM (SELECT store, order_number, due_at, read_at FROM order_parts \
    WHERE store = $1 AND is_young IS NULL AND due_at IS NOT NULL \
    ORDER BY is_young, due_at, order_number LIMIT $2) AS p \
    LEFT JOIN orders AS o ON o.store = p.store AND o.order_number = p.order_number AND o.gone_at IS NULL";
pub(crate) const SCHEDULE: &str = "UPDATE order_parts SET due_at = $4, is_young = $5 \
    WHERE store = $1 AND part = 'shipments' AND order_number = $2 AND due_at = $3";
/// In the order of the index `product_reads_by_turn`, which SQLite walks first because of the `CROSS JOIN`.
pub(crate) const PRODUCTS: &str = "SELECT r.id, COALESCE(r.turn_at, r.read_at) AS looked_at \
    FROM product_reads AS r CROSS JOIN products AS p \
    WHERE r.store = $1 AND p.store = r.store AND p.id = r.id AND p.gone_at IS NULL \
    ORDER BY COALESCE(r.turn_at, r.read_at), r.id LIMIT $2";
pub(crate) const NOTE_PRODUCTS: Insert = Insert {
    operation: "note that products were read",
    head: "INSERT INTO product_reads (store, id, read_at)",
    columns: 3,
    tail: "ON CONFLICT (store, id) DO UPDATE SET read_at = excluded.read_at, turn_at = NULL",
};
/// The same for readings that are noted some time after they ended: a later one stays.
pub(crate) const NOTE_EARLIER_PRODUCTS: Insert = Insert {
    operation: "note that products were read before",
    head: "INSERT INTO product_reads (store, id, read_at)",
    columns: 3,
    tail: "ON CONFLICT (store, id) DO UPDATE SET read_at = excluded.read_at, turn_at = NULL \
           WHERE product_reads.read_at <= excluded.read_at",
};
/// A clock that was ahead has noted these: no reading would be later for as long, and they would have the last turns. Nobody
/// knows when they were read. By the index `product_reads_by_turn`.
pub(crate) const FORGET_FUTURE: &str = "UPDATE product_reads SET read_at = $3, turn_at = NULL \
    WHERE store = $1 AND COALESCE(turn_at, read_at) > $2";
/// The time of the last reading stays: a push relies on it.
pub(crate) const TAKE_TURNS: &str = "UPDATE product_reads SET turn_at = $2 WHERE store = $1 AND id";

/// When an order is read again with all its sub-resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueTime {
    /// From then on.
    pub at: DateTime<Utc>,
    /// Whether the order is open or changed lately: half of what is read are such orders.
    pub is_young: bool,
}

/// An order that is due to be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueOrder {
    /// Its number.
    pub number: OrderNumber,
    /// Since when it is due.
    pub due: DueTime,
}

/// An order that was read or has changed since its due time was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnscheduledOrder {
    /// Its number.
    pub number: OrderNumber,
    /// When that was.
    pub since: DateTime<Utc>,
    /// When its shipments were last read, which are read with everything else.
    pub read_at: DateTime<Utc>,
    /// When it last changed at the marketplace; `None` for an order that is gone.
    pub changed_at: Option<DateTime<Utc>>,
    /// Its status.
    pub status: Option<String>,
}

/// Another due time of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescheduling {
    /// Its number.
    pub number: OrderNumber,
    /// The time that it replaces: [`UnscheduledOrder::since`], or that of [`DueOrder::due`]. If the order has another
    /// one by now, that one stays.
    pub replaces: DateTime<Utc>,
    /// The new one; `None` if it is never due.
    pub due: Option<DueTime>,
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
    /// Up to `limit` open orders after `after`, by number.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_orders(
        self,
        store: &StoreKey,
        after: &str,
        limit: u32,
    ) -> Result<Vec<OpenOrder>, Error> {
        let values = vec![store.as_str().into(), after.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read open orders", OPEN_ORDERS, values).await?;
        let open = |row: &Row| {
            let (number, status) =
                (OrderNumber::new(row.text("order_number")?), row.optional_text("status")?);
            Ok(OpenOrder { number, status, mirrored_at: row.time("mirrored_at")? })
        };
        rows.iter().map(open).collect()
    }

    /// Up to `limit` orders that are due: half of them young, half not, so that neither group starves the other; of
    /// each the longest due first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn due_orders(self, store: &StoreKey, limit: u32) -> Result<Vec<DueOrder>, Error> {
        let young = self.due(store, true, limit).await?;
        let others = self.due(store, false, limit).await?;
        Ok(halves(young, others, limit as usize))
    }

    async fn due(self, store: &StoreKey, is_young: bool, limit: u32) -> Result<Vec<DueOrder>, Error> {
        let is_due = Value::Bool(Some(is_young));
        let values = vec![store.as_str().into(), is_due, self.clock.now().into(), i64::from(limit).into()];
        let rows = self.database.fetch("read orders that are due", DUE, values).await?;
        let order = |row: &Row| {
            let due = DueTime { at: row.time(1)?, is_young };
            Ok(DueOrder { number: OrderNumber::new(row.text(0)?), due })
        };
        rows.iter().map(order).collect()
    }

    /// The `limit` orders that wait the longest for a decision when they are due, in no order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn unscheduled_orders(
        self,
        store: &StoreKey,
        limit: u32,
    ) -> Result<Vec<UnscheduledOrder>, Error> {
        let values = vec![store.as_str().into(), i64::from(limit).into()];
        let rows = self.database.fetch("read orders to schedule", UNSCHEDULED, values).await?;
        let order = |row: &Row| {
            Ok(UnscheduledOrder {
                number: OrderNumber::new(row.text("order_number")?),
                since: row.time("due_at")?,
                read_at: row.time("read_at")?,
                changed_at: row.optional_time("changed_at")?,
                status: row.optional_text("status")?,
            })
        };
        rows.iter().map(order).collect()
    }

    /// The `limit` products whose turn in the rotation is the longest ago, with the time of that turn: of their last reading,
    /// failed or not.
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

/// Half from each, the odd one from the first; where one has less than its half, the other fills it.
fn halves<T>(mut first: Vec<T>, mut second: Vec<T>, most: usize) -> Vec<T> {
    first.truncate(most.div_ceil(2).max(most.saturating_sub(second.len())));
    second.truncate(most.saturating_sub(first.len()));
    first.extend(second);
    first
}

impl StalenessWriter<'_, '_> {
    /// Gives orders other due times.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn schedule_orders(&mut self, orders: Vec<Rescheduling>) -> Result<(), Error> {
        let store = self.page.store_key().as_str().to_owned();
        for Rescheduling { number, replaces, due } in orders {
            let (at, is_young) = (due.map(|due| due.at), due.map(|due| due.is_young));
            let values = vec![
                store.as_str().into(),
                number.into_string().into(),
                replaces.into(),
                at.into(),
                is_young.into(),
            ];
            self.page.tx.execute("schedule an order", SCHEDULE, values).await?;
        }
        Ok(())
    }

    /// Records that products were read just now, changed or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_products_read(&mut self, products: Vec<ProductId>) -> Result<(), Error> {
        let at = self.page.at();
        let read = products.into_iter().map(|id| (id, at)).collect();
        self.note_products(&NOTE_PRODUCTS, read).await
    }

    /// Records when products were read some time ago, changed or not. Of a product that was read since, nothing is recorded.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_products_read_at(
        &mut self,
        products: Vec<(ProductId, DateTime<Utc>)>,
    ) -> Result<(), Error> {
        let store = self.page.store_key().as_str().into();
        let values = vec![store, self.page.at().into(), DateTime::UNIX_EPOCH.into()];
        self.page.tx.execute("forget readings to come", FORGET_FUTURE, values).await?;
        self.note_products(&NOTE_EARLIER_PRODUCTS, products).await
    }

    async fn note_products(
        &mut self,
        insert: &Insert,
        products: Vec<(ProductId, DateTime<Utc>)>,
    ) -> Result<(), Error> {
        let store = self.page.store_key().as_str().to_owned();
        let products = last_of_each(products, |(id, _)| id.clone());
        let values = products.into_iter().flat_map(|(id, at)| -> [Value; 3] {
            [store.as_str().into(), id.into_string().into(), at.into()]
        });
        let values = values.collect();
        self.page.tx.insert(insert, values).await.map(drop)
    }

    /// Records that readings of products failed just now: that was their turn in the rotation, and others come next.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_products_unread(&mut self, products: Vec<ProductId>) -> Result<(), Error> {
        let at = self.page.at();
        self.take_turns(products.into_iter().map(ProductId::into_string).collect(), at).await
    }

    /// Gives products their place in the rotation: that of products whose turn was at a time.
    pub(crate) async fn take_turns(&mut self, products: Vec<String>, at: DateTime<Utc>) -> Result<(), Error> {
        let first = [self.page.store_key().as_str().into(), at.into()];
        self.page.tx.execute_in("give products their turn", TAKE_TURNS, &first, products).await.map(drop)
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
        let statuses = format!("(o.status IS NULL OR o.status NOT IN ({list}))");
        assert!(crate::mirror::subresources::AGED.contains(&statuses));
        assert!(crate::mirror::subresources::UNREAD_OPEN.contains(&statuses));
        for sql in [
            crate::mirror::subresources::AGED,
            crate::mirror::subresources::UNREAD_OPEN,
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
        for migration in [
            include_str!("../../../../migrations/sqlite/0036_due_reads_of_rows.sql"),
            include_str!("../../../../migrations/postgres/0036_due_reads_of_rows.sql"),
        ] {
            assert_eq!(migration.matches(&format!("NOT IN ({list})")).count(), 1);
        }
    }

    #[test]
    fn each_group_has_its_half_and_what_the_other_leaves() {
        let check = |young: usize, others: usize, most: usize, expected: &str| {
            let taken: String = halves(vec!['y'; young], vec!['o'; others], most).into_iter().collect();
            assert_eq!(taken, expected, "{most} of {young} and {others}");
        };
        check(9, 9, 5, "yyyoo");
        check(9, 9, 4, "yyoo");
        check(9, 1, 5, "yyyyo");
        check(9, 0, 5, "yyyyy");
        check(1, 9, 5, "yoooo");
        check(0, 9, 5, "ooooo");
        check(2, 1, 5, "yyo");
        check(9, 9, 1, "y");
        check(0, 0, 5, "");
        check(9, 9, 0, "");
    }
}
