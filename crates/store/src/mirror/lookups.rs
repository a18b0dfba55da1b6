//! Lookups beside an intent: the mirrored level or price, and the known names.

use espelho_model::StoreKey;
use rust_decimal::Decimal;

use crate::{Error, driver::Row, mirror::Lookups};

pub(crate) const SKUS: &str =
    "SELECT DISTINCT sku FROM products WHERE store = $1 AND sku IS NOT NULL AND gone_at IS NULL ORDER BY sku";
pub(crate) const PLACES: &str = "SELECT location_id, COALESCE(name, '') FROM stock_locations \
    WHERE store = $1 AND gone_at IS NULL ORDER BY location_id";
pub(crate) const UNIT: &str =
    "SELECT base_unit FROM products WHERE store = $1 AND sku = $2 AND gone_at IS NULL ORDER BY id LIMIT 1";
pub(crate) const LEVEL: &str = "SELECT CAST(quantity AS TEXT) FROM product_stock \
    WHERE store = $1 AND sku = $2 AND location_id = $3 AND gone_at IS NULL";
pub(crate) const PRICE: &str = "SELECT CAST(t.value AS TEXT) FROM product_prices t \
    JOIN products p ON p.store = t.store AND p.id = t.product_id AND p.gone_at IS NULL \
    WHERE t.store = $1 AND p.sku = $2 AND t.min_quantity = $3 AND t.gone_at IS NULL ORDER BY p.id LIMIT 1";

impl Lookups<'_> {
    /// The SKUs of a store's products.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn skus(self, store: &StoreKey) -> Result<Vec<String>, Error> {
        let rows = self.database.fetch("read SKUs", SKUS, vec![store.as_str().into()]).await?;
        rows.iter().map(|row| row.text("sku")).collect()
    }

    /// The stock locations of a store: id and name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stock_locations(self, store: &StoreKey) -> Result<Vec<(String, String)>, Error> {
        let rows = self.database.fetch("read locations", PLACES, vec![store.as_str().into()]).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
    }

    /// The unit of sale of a SKU.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn base_unit(self, store: &StoreKey, sku: &str) -> Result<Option<String>, Error> {
        let rows = self.database.fetch("read a unit", UNIT, vec![store.as_str().into(), sku.into()]).await?;
        Ok(rows.first().map(|row| row.optional_text("base_unit")).transpose()?.flatten())
    }

    /// The mirrored physical quantity of a SKU at a location.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mirrored_level(
        self,
        store: &StoreKey,
        sku: &str,
        location: &str,
    ) -> Result<Option<Decimal>, Error> {
        let values = vec![store.as_str().into(), sku.into(), location.into()];
        decimal(&self.database.fetch("read a level", LEVEL, values).await?)
    }

    /// The mirrored unit price of a SKU from a quantity on.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mirrored_price(
        self,
        store: &StoreKey,
        sku: &str,
        min_quantity: i64,
    ) -> Result<Option<Decimal>, Error> {
        let values = vec![store.as_str().into(), sku.into(), min_quantity.into()];
        decimal(&self.database.fetch("read a price", PRICE, values).await?)
    }
}

fn decimal(rows: &[Row]) -> Result<Option<Decimal>, Error> {
    let text = rows.first().map(|row| row.optional_text(0)).transpose()?.flatten();
    Ok(text.and_then(|text| text.parse().ok()))
}
