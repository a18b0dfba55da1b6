//! Which sub-resources of an order were read, when, and with which fingerprint.

use std::{collections::BTreeSet, sync::Arc};

use chrono::{DateTime, Utc};
use enumflags2::{BitFlags, bitflags};
use espelho_model::{ContentHash, OrderNumber, StoreKey};

use crate::{
    Error,
    driver::{Insert, Row, Value},
    mirror::{Staleness, StalenessWriter, rows::last_of_each},
};

pub(crate) const NOTE: Insert = Insert {
    operation: "note that sides of orders were read",
    head: "INSERT INTO order_parts (store, order_number, part, read_at, content_hash, due_at)",
    columns: 6,
    tail: "ON CONFLICT (store, part, order_number) DO UPDATE SET read_at = excluded.read_at, \
           content_hash = excluded.content_hash, due_at = excluded.due_at, is_young = NULL",
};
/// The same for readings that are noted some time after they ended: a later one stays, with its content.
pub(crate) const NOTE_EARLIER: Insert = Insert {
    operation: "note that sides of orders were read before",
    head: "INSERT INTO order_parts (store, order_number, part, read_at, content_hash, due_at)",
    columns: 6,
    tail: "ON CONFLICT (store, part, order_number) DO UPDATE SET read_at = excluded.read_at, \
           content_hash = excluded.content_hash, due_at = excluded.due_at, is_young = NULL \
           WHERE order_parts.read_at <= excluded.read_at",
};
pub(crate) const OF_ORDER: &str = "SELECT part, read_at, content_hash FROM order_parts \
    WHERE store = $1 AND order_number = $2 AND part IN ('order', 'invoices', 'events', 'financial', 'shipments', \
    'tracking')";
/// The latest changed orders with the sub-resources that were read since, by the index `orders_unread`. The limit comes
/// before the join, so that its cost does not depend on how many orders follow.
macro_rules! unread {
    ($below:literal) => {
        concat!(
            "SELECT u.order_number, u.unread_since, p.part FROM (SELECT store, order_number, unread_since FROM orders ",
            "WHERE store = $1 AND unread_since IS NOT NULL AND gone_at IS NULL ",
            $below,
            "ORDER BY unread_since DESC, order_number DESC LIMIT $2) AS u ",
            "LEFT JOIN order_parts AS p ON p.store = u.store AND p.order_number = u.order_number ",
            "AND p.part IN ('invoices', 'events', 'financial', 'shipments', 'tracking') ",
            "AND p.read_at >= u.unread_since ORDER BY u.unread_since DESC, u.order_number DESC"
        )
    };
}

pub(crate) const UNREAD: &str = unread!("");
pub(crate) const UNREAD_BELOW: &str = unread!("AND (unread_since, order_number) < ($3, $4) ");
/// By the index `orders_open`, with the row of each open order: no more is asked of it than [`AGED`] asks. The second
/// wording of what is open is for PostgreSQL, as there.
pub(crate) const UNREAD_OPEN: &str = "SELECT u.order_number, u.unread_since, p.part FROM ( \
    SELECT n.store, n.order_number, n.unread_since FROM orders AS o CROSS JOIN orders AS n \
    WHERE o.store = $1 AND o.gone_at IS NULL \
    AND COALESCE(o.status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') \
    AND (o.status IS NULL OR o.status NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')) \
    AND n.store = o.store AND n.order_number = o.order_number AND n.unread_since IS NOT NULL \
    ORDER BY o.order_number LIMIT $2) AS u \
    LEFT JOIN order_parts AS p ON p.store = u.store AND p.order_number = u.order_number \
    AND p.part IN ('invoices', 'events', 'financial', 'shipments', 'tracking') \
    AND p.read_at >= u.unread_since ORDER BY u.order_number";
pub(crate) const ALL_READ: &str = "UPDATE orders SET unread_since = NULL \
    WHERE store = $1 AND unread_since IS NOT NULL AND 5 = (SELECT count(*) FROM order_parts AS p \
    WHERE p.store = orders.store AND p.order_number = orders.order_number \
    AND p.part IN ('invoices', 'events', 'financial', 'shipments', 'tracking') \
    AND p.read_at >= orders.unread_since) AND order_number";
/// The first half walks the index `orders_open`, the second `shipment_labels_unready`: neither grows with closed
/// orders. SQLite keeps the order of a `CROSS JOIN`. PostgreSQL has statistics for `status` and none for `COALESCE`, so
/// it learns from the second wording that few orders are open.
pub(crate) const AGED: &str = "SELECT order_number FROM ( \
    SELECT p.order_number, p.read_at FROM orders AS o CROSS JOIN order_parts AS p \
    WHERE o.store = $1 AND o.gone_at IS NULL \
    AND COALESCE(o.status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') \
    AND (o.status IS NULL OR o.status NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')) \
    AND p.store = o.store AND p.part = $2 AND p.order_number = o.order_number AND p.read_at < $3 \
    UNION SELECT p.order_number, p.read_at FROM shipment_labels AS l CROSS JOIN order_parts AS p \
    WHERE l.store = $1 AND l.gone_at IS NULL AND NOT l.is_ready AND COALESCE(l.status, '') <> 'error' \
    AND p.store = l.store AND p.part = $2 AND p.order_number = l.order_number AND p.read_at < $5 \
    ) AS aged ORDER BY read_at, order_number LIMIT $4";

/// A part of an order with a route of its own, below `/api/v1/sellers/orders/{id}`. The order's own detail counts as
/// one.
#[bitflags]
#[repr(u8)]
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr, strum::EnumString,
)]
#[strum(serialize_all = "snake_case")]
pub enum Subresource {
    /// The order itself: the route without a suffix.
    Order,
    /// Its fiscal documents: `fiscal`.
    Invoices,
    /// Its timeline: `events`.
    Events,
    /// Its revenue splits, commissions and applied benefits: `financial`.
    Financial,
    /// Its shipments with their labels: `shipments`.
    Shipments,
    /// The tracking of its shipments: `tracking`.
    Tracking,
}

impl Subresource {
    /// All sub-resources, with the order itself.
    pub const ALL: [Self; 6] =
        [Self::Order, Self::Invoices, Self::Events, Self::Financial, Self::Shipments, Self::Tracking];

    /// All but the order itself: an order is read when each of these was read after its last change.
    pub const BELOW_ORDER: [Self; 5] =
        [Self::Invoices, Self::Events, Self::Financial, Self::Shipments, Self::Tracking];

    /// The word in `order_parts.part`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The last read of a sub-resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownSubresource {
    /// The sub-resource.
    pub subresource: Subresource,
    /// When it was last read.
    pub read_at: DateTime<Utc>,
    /// The fingerprint of its content.
    pub content_hash: ContentHash,
}

/// An order with sub-resources that were not read after its last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadOrder {
    /// Its number.
    pub number: OrderNumber,
    /// When it last changed.
    pub since: DateTime<Utc>,
    /// The sub-resources to read; never empty.
    pub subresources: BitFlags<Subresource>,
}

impl Staleness<'_> {
    /// The last reads of an order's sub-resources.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn order_subresources(
        self,
        store: &StoreKey,
        order: &OrderNumber,
    ) -> Result<Vec<KnownSubresource>, Error> {
        let values = vec![store.as_str().into(), order.as_str().into()];
        let rows = self.database.fetch("read an order's sides", OF_ORDER, values).await?;
        let known = |row: &Row| {
            let name = row.text("part")?;
            let unknown = |_| Error::Corrupt { column: 0, why: format!("{name:?} is no side") };
            let subresource = name.parse().map_err(unknown)?;
            let content_hash = self.privacy.marked(ContentHash::from_i64(row.int("content_hash")?));
            Ok(KnownSubresource { subresource, read_at: row.time("read_at")?, content_hash })
        };
        let mut subresources: Vec<KnownSubresource> = rows.iter().map(known).collect::<Result<_, Error>>()?;
        subresources.sort_by_key(|known| known.subresource);
        Ok(subresources)
    }

    /// Up to `limit` orders with sub-resources to read, the latest changed first: all, or those below an order of an
    /// earlier answer (its `since` and its number).
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn unread_orders(
        self,
        store: &StoreKey,
        below: Option<&(DateTime<Utc>, OrderNumber)>,
        limit: u32,
    ) -> Result<Vec<UnreadOrder>, Error> {
        let mut values: Vec<Value> = vec![store.as_str().into(), i64::from(limit).into()];
        let mut sql = UNREAD;
        if let Some((since, number)) = below {
            values.push((*since).into());
            values.push(number.as_str().into());
            sql = UNREAD_BELOW;
        }
        let rows = self.database.fetch("read orders with unread sides", sql, values).await?;
        unread_orders(&rows)
    }

    /// Up to `limit` open orders with sub-resources to read, by number.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn unread_open_orders(self, store: &StoreKey, limit: u32) -> Result<Vec<UnreadOrder>, Error> {
        let values = vec![store.as_str().into(), i64::from(limit).into()];
        let rows = self.database.fetch("read open orders with unread sides", UNREAD_OPEN, values).await?;
        unread_orders(&rows)
    }

    /// Up to `limit` orders that are open and whose sub-resource was last read before `before`, or have unfinished labels
    /// and one from before `with_label_before`, the longest unread first. A change of a sub-resource alone does not show on
    /// the order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_orders_by_subresource_age(
        self,
        store: &StoreKey,
        subresource: Subresource,
        (before, with_label_before): (DateTime<Utc>, DateTime<Utc>),
        limit: u32,
    ) -> Result<Vec<OrderNumber>, Error> {
        let values = vec![
            store.as_str().into(),
            subresource.as_str().into(),
            before.into(),
            i64::from(limit).into(),
            with_label_before.into(),
        ];
        let rows = self.database.fetch("read orders by the age of a side", AGED, values).await?;
        rows.iter().map(|row| row.text("order_number").map(OrderNumber::new)).collect()
    }
}

/// Returns orders with what is left to read of them, from rows that name what was read.
fn unread_orders(rows: &[Row]) -> Result<Vec<UnreadOrder>, Error> {
    let mut orders: Vec<UnreadOrder> = Vec::new();
    for row in rows {
        let number = OrderNumber::new(row.text(0)?);
        if orders.last().is_none_or(|last| last.number != number) {
            let subresources = BitFlags::from_iter(Subresource::BELOW_ORDER);
            orders.push(UnreadOrder { number, since: row.time(1)?, subresources });
        }
        if let (Some(order), Some(read)) = (orders.last_mut(), row.optional_text(2)?) {
            order.subresources.remove(read.parse::<Subresource>().map_or(BitFlags::empty(), BitFlags::from));
        }
    }
    // An order with nothing to read would stay here for ever; reading it again takes it off.
    for order in orders.iter_mut().filter(|order| order.subresources.is_empty()) {
        order.subresources = BitFlags::from_iter(Subresource::BELOW_ORDER);
    }
    Ok(orders)
}

impl StalenessWriter<'_, '_> {
    /// Records that sub-resources of orders were read just now, changed or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_subresources(
        &mut self,
        read: Vec<(OrderNumber, Subresource, ContentHash)>,
    ) -> Result<(), Error> {
        let read_at = self.page.at();
        let reading = |(order, subresource, content_hash)| {
            (order, KnownSubresource { subresource, read_at, content_hash })
        };
        self.note(&NOTE, read.into_iter().map(reading).collect()).await
    }

    /// Records when sub-resources of orders were read some time ago, changed or not. Of one that was read since, nothing is
    /// recorded.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_subresources_at(
        &mut self,
        read: Vec<(OrderNumber, KnownSubresource)>,
    ) -> Result<(), Error> {
        self.note(&NOTE_EARLIER, read).await
    }

    async fn note(
        &mut self,
        insert: &Insert,
        read: Vec<(OrderNumber, KnownSubresource)>,
    ) -> Result<(), Error> {
        let store = self.page.store_key().as_str().to_owned();
        let privacy = Arc::clone(self.page.privacy());
        let read = last_of_each(read, |(order, read)| (order.clone(), read.subresource));
        let below_order = read.iter().filter(|(_, read)| read.subresource != Subresource::Order);
        let orders: BTreeSet<String> = below_order.map(|(order, _)| order.as_str().to_owned()).collect();
        let values = read.into_iter().flat_map(|(order, read)| -> [Value; 6] {
            // The age of an order is that of its shipments, which are read together with everything else.
            let due_at = (read.subresource == Subresource::Shipments).then_some(read.read_at);
            let (order, part) = (order.into_string().into(), read.subresource.as_str().into());
            let hash = privacy.marked(read.content_hash).as_i64();
            [store.as_str().into(), order, part, read.read_at.into(), hash.into(), due_at.into()]
        });
        let values = values.collect();
        self.page.tx.insert(insert, values).await?;
        let (first, orders) = ([store.as_str().into()], Vec::from_iter(orders));
        self.page.tx.execute_in("note orders that are read", ALL_READ, &first, orders).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_when_all_that_is_below_it_is() {
        let word = |subresource: Subresource| format!("'{}'", subresource.as_str());
        let list = Subresource::BELOW_ORDER.map(word).join(", ");
        let count = format!("{} = (SELECT count(*)", Subresource::BELOW_ORDER.len());
        assert!(ALL_READ.contains(&count));
        for sql in [UNREAD, UNREAD_BELOW, UNREAD_OPEN, ALL_READ] {
            assert!(sql.contains(&format!("p.part IN ({list})")), "{sql}");
        }
        let others = Subresource::ALL.into_iter().filter(|subresource| *subresource != Subresource::Order);
        assert_eq!(others.collect::<Vec<_>>(), Subresource::BELOW_ORDER);
    }
}
