//! What the mirror had before something is written: to tell what a change was, and whether a listing row says anything new.

use std::collections::HashMap;

use espelho_model::{OrderNumber, ProductId, StoreKey};
use rust_decimal::Decimal;

use crate::{Error, Store};

pub(crate) const STATUS: &str = "SELECT status FROM orders WHERE store = $1 AND order_number = $2";
pub(crate) const PRODUCT: &str =
    "SELECT CAST(quantity AS TEXT), CAST(price AS TEXT) FROM products WHERE store = $1 AND id = $2";
pub(crate) const ORDERS: &str = "SELECT order_number, CAST(raw AS TEXT) FROM orders WHERE store = $1 AND gone_at IS NULL AND order_number";

/// What events tell of a product: its physical stock and its base price.
pub type ProductLevels = (Option<Decimal>, Option<Decimal>);

impl Store {
    /// The status that the mirror has of an order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn order_status(&self, store: &StoreKey, order: &OrderNumber) -> Result<Option<String>, Error> {
        let values = vec![store.as_str().into(), order.as_str().into()];
        let rows = self.database.fetch("read an order's status", STATUS, values).await?;
        rows.first().map_or(Ok(None), |row| row.optional_text(0))
    }

    /// The stock and the price that the mirror has of a product.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn product_levels(&self, store: &StoreKey, id: &ProductId) -> Result<ProductLevels, Error> {
        let values = vec![store.as_str().into(), id.as_str().into()];
        let rows = self.database.fetch("read a product's stock and price", PRODUCT, values).await?;
        rows.first().map_or(Ok((None, None)), |row| Ok((row.optional_decimal(0)?, row.optional_decimal(1)?)))
    }

    /// Orders as they were received, by number; those that are gone or not mirrored are absent.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders_as_received(
        &self,
        store: &StoreKey,
        orders: Vec<String>,
    ) -> Result<HashMap<String, String>, Error> {
        let first = [store.as_str().into()];
        let rows = self.database.fetch_in("read orders as received", ORDERS, &first, orders).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
    }
}
