//! Tiers that the mirror shows at zero: what is bought there costs nothing.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::{Error, operations::Overviews};

/// The tiers at zero of each store that are told by no row of the ERP: those whose row shows no error and was not given
/// up for its zero, and those without a row, of products that are for sale. `v_errors` has each of them. CROSS JOIN keeps
/// SQLite from reading the products: it looks up those of the partial index `product_prices_of_zero`.
pub(crate) const ZERO: &str = "SELECT t.store, count(*), min(t.mirrored_at), \
    min(substr(COALESCE(NULLIF(p.sku, ''), p.id), 1, 100) || '/' || t.min_quantity) \
    FROM product_prices AS t CROSS JOIN products AS p \
    LEFT JOIN erp_prices AS e ON e.store = t.store AND e.sku = p.sku AND e.min_quantity = t.min_quantity \
    WHERE p.store = t.store AND p.id = t.product_id AND p.gone_at IS NULL \
    AND t.gone_at IS NULL AND t.value = 0 AND (e.error_code IS NULL \
    OR (e.state NOT IN ('done', 'failed', 'held', 'doubtful') AND e.error_code <> 'price_zero')) \
    AND (e.sku IS NOT NULL OR p.is_available_for_sale IS NOT FALSE) GROUP BY t.store";

/// The tiers of a store that are at zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZeroPrices {
    /// The number of tiers.
    pub tiers: u64,
    /// When the oldest of them was mirrored.
    pub since: Option<DateTime<Utc>>,
    /// One of them: its SKU and quantity, as in `v_errors`.
    pub key: String,
}

impl Overviews<'_> {
    /// The tiers at zero, by the store's key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn zero_prices(self) -> Result<BTreeMap<String, ZeroPrices>, Error> {
        let mut all = BTreeMap::new();
        for row in self.database.fetch_erp("find prices of zero", ZERO, Vec::new()).await? {
            let (tiers, since, key) = (row.count(1)?, row.optional_time(2)?, row.text(3)?);
            all.insert(row.text(0)?, ZeroPrices { tiers, since, key });
        }
        Ok(all)
    }
}
