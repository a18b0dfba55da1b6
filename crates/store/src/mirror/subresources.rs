//! Which sub-resources of an order were read, when, and with which fingerprint.

use chrono::{DateTime, Utc};
use espelho_model::{ContentHash, OrderNumber, StoreKey};

use crate::{
    Error,
    driver::{Insert, Row, Value},
    mirror::{Staleness, StalenessWriter, rows::last_of_each},
};

pub(crate) const NOTE: Insert = Insert {
    operation: "note that sides of orders were read",
    head: "INSERT INTO order_parts (store, order_number, part, read_at, content_hash)",
    columns: 5,
    tail: "ON CONFLICT (store, part, order_number) DO UPDATE SET read_at = excluded.read_at, \
           content_hash = excluded.content_hash",
};
pub(crate) const OF_ORDER: &str = "SELECT part, read_at, content_hash FROM order_parts \
    WHERE store = $1 AND order_number = $2 AND part IN ('order', 'invoices', 'events', 'financial', 'shipments', \
    'tracking')";
pub(crate) const NEVER_READ: &str = "SELECT order_number FROM orders AS o \
    WHERE store = $1 AND order_number > $3 AND gone_at IS NULL \
    AND NOT EXISTS (SELECT 1 FROM order_parts AS p \
    WHERE p.store = o.store AND p.part = $2 AND p.order_number = o.order_number) \
    ORDER BY order_number LIMIT $4";
pub(crate) const READ_BEFORE_CHANGE: &str = "SELECT o.order_number FROM orders AS o \
    JOIN order_parts AS p ON p.store = o.store AND p.part = $2 AND p.order_number = o.order_number \
    WHERE o.store = $1 AND o.order_number > $3 AND o.gone_at IS NULL AND p.read_at < o.mirrored_at \
    ORDER BY o.order_number LIMIT $4";
/// The first half walks the index `orders_open`, the second `shipment_labels_unready`: neither grows with closed
/// orders.
pub(crate) const AGED: &str = "SELECT order_number FROM ( \
    SELECT p.order_number, p.read_at FROM orders AS o \
    JOIN order_parts AS p ON p.store = o.store AND p.part = $2 AND p.order_number = o.order_number \
    WHERE o.store = $1 AND o.gone_at IS NULL \
    AND COALESCE(o.status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') AND p.read_at < $3 \
    UNION SELECT p.order_number, p.read_at FROM shipment_labels AS l \
    JOIN order_parts AS p ON p.store = l.store AND p.part = $2 AND p.order_number = l.order_number \
    WHERE l.store = $1 AND l.gone_at IS NULL AND NOT l.is_ready AND COALESCE(l.status, '') <> 'error' AND p.read_at < \
    $3 \
    ) AS aged ORDER BY read_at, order_number LIMIT $4";

/// A sub-resource of an order, with a route of its own.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr, strum::EnumString,
)]
#[strum(serialize_all = "snake_case")]
pub enum Subresource {
    /// The order itself.
    Order,
    /// Its fiscal documents.
    Invoices,
    /// Its timeline.
    Events,
    /// Its payments, splits and commissions.
    Financial,
    /// Its shipments with their labels.
    Shipments,
    /// The tracking of its shipments.
    Tracking,
}

impl Subresource {
    /// All sub-resources.
    pub const ALL: [Self; 6] =
        [Self::Order, Self::Invoices, Self::Events, Self::Financial, Self::Shipments, Self::Tracking];

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
            let content_hash = ContentHash::from_i64(row.int("content_hash")?);
            Ok(KnownSubresource { subresource, read_at: row.time("read_at")?, content_hash })
        };
        let mut subresources: Vec<KnownSubresource> = rows.iter().map(known).collect::<Result<_, Error>>()?;
        subresources.sort_by_key(|known| known.subresource);
        Ok(subresources)
    }

    /// Up to `limit` orders after `after`, by number, without any read of a sub-resource.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders_missing_subresource(
        self,
        store: &StoreKey,
        subresource: Subresource,
        after: &str,
        limit: u32,
    ) -> Result<Vec<OrderNumber>, Error> {
        self.orders_by_subresource(NEVER_READ, store, subresource, after, limit).await
    }

    /// Up to `limit` orders after `after`, by number, that have changed since the last read of a sub-resource.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders_with_stale_subresource(
        self,
        store: &StoreKey,
        subresource: Subresource,
        after: &str,
        limit: u32,
    ) -> Result<Vec<OrderNumber>, Error> {
        self.orders_by_subresource(READ_BEFORE_CHANGE, store, subresource, after, limit).await
    }

    /// Up to `limit` orders that are open or have unfinished labels, whose sub-resource was last read before
    /// `before`, the longest unread first. A change of a sub-resource alone does not show on the order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_orders_by_subresource_age(
        self,
        store: &StoreKey,
        subresource: Subresource,
        before: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<OrderNumber>, Error> {
        let values =
            vec![store.as_str().into(), subresource.as_str().into(), before.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read orders by the age of a side", AGED, values).await?;
        rows.iter().map(|row| row.text("order_number").map(OrderNumber::new)).collect()
    }

    async fn orders_by_subresource(
        self,
        sql: &'static str,
        store: &StoreKey,
        subresource: Subresource,
        after: &str,
        limit: u32,
    ) -> Result<Vec<OrderNumber>, Error> {
        let values =
            vec![store.as_str().into(), subresource.as_str().into(), after.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read orders by their sides", sql, values).await?;
        rows.iter().map(|row| row.text("order_number").map(OrderNumber::new)).collect()
    }
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
        let (store, at) = (self.page.store_key().as_str().to_owned(), self.page.at());
        let read = last_of_each(read, |(order, subresource, _)| (order.clone(), *subresource));
        let values = read.into_iter().flat_map(|(order, subresource, hash)| -> [Value; 5] {
            let order = order.into_string().into();
            [store.as_str().into(), order, subresource.as_str().into(), at.into(), hash.as_i64().into()]
        });
        let values = values.collect();
        self.page.tx.insert(&NOTE, values).await.map(drop)
    }
}
