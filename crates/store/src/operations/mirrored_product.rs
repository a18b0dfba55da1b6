//! A mirrored product with its price tiers and its levels, for people.

use espelho_model::StoreKey;
use rust_decimal::Decimal;

use crate::{Error, driver::Row, operations::History};

pub(crate) const PRODUCT: &str = "SELECT COALESCE(name, ''), COALESCE(base_unit, ''), CAST(price AS TEXT), \
    CASE WHEN is_available_for_sale IS NULL THEN '' WHEN is_available_for_sale THEN 'yes' ELSE 'no' END \
    FROM products WHERE store = $1 AND id = $2";
pub(crate) const TIERS: &str = "SELECT min_quantity, CAST(value AS TEXT) FROM product_prices \
    WHERE store = $1 AND product_id = $2 AND gone_at IS NULL ORDER BY min_quantity LIMIT 50";
pub(crate) const LEVELS: &str = "SELECT s.location_id, COALESCE(l.name, ''), CAST(s.quantity AS TEXT), \
    CAST(s.reserved_quantity AS TEXT), CAST(s.available_quantity AS TEXT) FROM product_stock s \
    LEFT JOIN stock_locations l ON l.store = s.store AND l.location_id = s.location_id \
    WHERE s.store = $1 AND s.product_id = $2 AND s.gone_at IS NULL ORDER BY s.location_id LIMIT 50";

/// A mirrored product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MirroredProduct {
    /// Its name; empty if it has none.
    pub name: String,
    /// The unit in which it is sold; empty if it has none.
    pub unit: String,
    /// Its base price.
    pub price: Option<Decimal>,
    /// True if it is for sale; `None` if the marketplace does not say.
    pub is_for_sale: Option<bool>,
    /// Its price tiers: from which quantity on, and the price.
    pub tiers: Vec<(i64, Option<Decimal>)>,
    /// Its levels.
    pub levels: Vec<MirroredLevel>,
}

/// The level of a product at a location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MirroredLevel {
    /// The location.
    pub location: String,
    /// Its name; empty if it has none.
    pub name: String,
    /// The physical quantity.
    pub quantity: Option<Decimal>,
    /// The quantity that is reserved for buyers.
    pub reserved: Option<Decimal>,
    /// The quantity that can be sold.
    pub available: Option<Decimal>,
}

impl History<'_> {
    /// A mirrored product, by its id.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mirrored_product(
        self,
        store: &StoreKey,
        id: &str,
    ) -> Result<Option<MirroredProduct>, Error> {
        let values = || vec![store.as_str().into(), id.into()];
        let rows = self.database.fetch("read a product", PRODUCT, values()).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let tiers = self.database.fetch("read a product's tiers", TIERS, values()).await?;
        let levels = self.database.fetch("read a product's levels", LEVELS, values()).await?;
        Ok(Some(MirroredProduct {
            name: row.text(0)?,
            unit: row.text(1)?,
            price: row.optional_decimal(2)?,
            is_for_sale: match row.text(3)?.as_str() {
                "" => None,
                said => Some(said == "yes"),
            },
            tiers: tiers
                .iter()
                .map(|row| Ok((row.int(0)?, row.optional_decimal(1)?)))
                .collect::<Result<_, Error>>()?,
            levels: levels.iter().map(level).collect::<Result<_, Error>>()?,
        }))
    }
}

fn level(row: &Row) -> Result<MirroredLevel, Error> {
    Ok(MirroredLevel {
        location: row.text(0)?,
        name: row.text(1)?,
        quantity: row.optional_decimal(2)?,
        reserved: row.optional_decimal(3)?,
        available: row.optional_decimal(4)?,
    })
}
