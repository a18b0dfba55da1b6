//! Mirrored values before a write: to see the change, and whether a listing row brings anything new.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use espelho_model::{OrderNumber, ProductId, StoreKey, person::Person};
use rust_decimal::Decimal;

use crate::{Error, mirror::Lookups};

pub(crate) const STATUS: &str =
    "SELECT status, updated_at FROM orders WHERE store = $1 AND order_number = $2";
pub(crate) const ORDER: &str = "SELECT status IS NOT NULL, total_order IS NOT NULL, EXISTS (SELECT 1 FROM order_items i \
    WHERE i.store = $1 AND i.order_number = $2 AND i.gone_at IS NULL) FROM orders WHERE store = $1 AND order_number = $2";
pub(crate) const PRODUCT: &str =
    "SELECT CAST(quantity AS TEXT), CAST(price AS TEXT) FROM products WHERE store = $1 AND id = $2";
pub(crate) const ORDERS: &str = "SELECT order_number, CAST(raw AS TEXT) FROM orders WHERE store = $1 AND gone_at IS \
    NULL AND order_number";

/// The status of an order and its `updated_at`.
pub type OrderStatus = (Option<String>, Option<DateTime<Utc>>);

/// The values that are known of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownOrder {
    /// True if its status is known.
    pub has_status: bool,
    /// True if its total is known.
    pub has_total: bool,
    /// True if it has lines.
    pub has_lines: bool,
}

/// The values that events carry of a product: its physical stock and its base price.
pub type ProductLevels = (Option<Decimal>, Option<Decimal>);

impl Lookups<'_> {
    /// The mirrored status of an order, and when the marketplace last changed the order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn order_status(self, store: &StoreKey, order: &OrderNumber) -> Result<OrderStatus, Error> {
        let values = vec![store.as_str().into(), order.as_str().into()];
        let rows = self.database.fetch("read an order's status", STATUS, values).await?;
        rows.first().map_or(Ok((None, None)), |row| Ok((row.optional_text(0)?, row.optional_time(1)?)))
    }

    /// Returns which values the mirror has of an order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn known_order(self, store: &StoreKey, order: &OrderNumber) -> Result<KnownOrder, Error> {
        let values = vec![store.as_str().into(), order.as_str().into()];
        let rows = self.database.fetch("read what is known of an order", ORDER, values).await?;
        let Some(row) = rows.first() else { return Ok(KnownOrder::default()) };
        Ok(KnownOrder { has_status: row.truth(0)?, has_total: row.truth(1)?, has_lines: row.truth(2)? })
    }

    /// The mirrored stock and price of a product.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn product_levels(self, store: &StoreKey, id: &ProductId) -> Result<ProductLevels, Error> {
        let values = vec![store.as_str().into(), id.as_str().into()];
        let rows = self.database.fetch("read a product's stock and price", PRODUCT, values).await?;
        rows.first().map_or(Ok((None, None)), |row| Ok((row.optional_decimal(0)?, row.optional_decimal(1)?)))
    }

    /// Returns an order's object as the policy for people's data lets the mirror keep it, to compare it with
    /// [`Lookups::orders_as_received`].
    pub fn as_kept(self, order: &str) -> String {
        match self.privacy.policy().keeps_all() {
            true => order.to_owned(),
            false => Person::of(order).protect(self.privacy, "", order),
        }
    }

    /// Orders as the marketplace sent them and the policy lets the mirror keep them, by number; without those that are gone or not mirrored.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders_as_received(
        self,
        store: &StoreKey,
        orders: Vec<String>,
    ) -> Result<HashMap<String, String>, Error> {
        let first = [store.as_str().into()];
        let rows = self.database.fetch_in("read orders as received", ORDERS, &first, orders).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
    }
}
