//! SKUs that two products of a store share. They follow from the mirror whenever they are asked for, and no note of them
//! could be lost or outlive them.

use chrono::{DateTime, Utc};
use espelho_model::ProductId;

use crate::{Error, operations::Overviews};

/// The first SKU of a store that products share, and what is to tell of all of them: they may be as many as the products.
/// The index `products_live_by_sku` has what is read of the others.
pub(crate) const SHARED: &str = "SELECT s.sku, s.one, s.other, CAST(sum(s.products) OVER () AS BIGINT), \
    min(s.at) OVER () FROM (SELECT g.sku, g.one, g.other, g.products, (SELECT max(p.mirrored_at) FROM products p \
    WHERE p.store = $1 AND p.sku = g.sku AND p.gone_at IS NULL) AS at \
    FROM (SELECT sku, min(id) AS one, max(id) AS other, count(*) AS products FROM products \
    WHERE store = $1 AND gone_at IS NULL AND sku <> '' GROUP BY sku HAVING count(*) > 1) AS g) AS s \
    ORDER BY s.sku LIMIT 1";
pub(crate) const STORES: &str = "SELECT store FROM stores";
pub(crate) const CHANGED: &str = "SELECT DISTINCT store FROM changes WHERE seq > $1 AND entity = 'product'";

/// The SKUs of a store that more than one product has. `v_errors` has each of the products.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSkus {
    /// The first of the SKUs.
    pub sku: String,
    /// Two of its products.
    pub products: [ProductId; 2],
    /// The products that share a SKU, of all of them.
    pub rows: u64,
    /// When the last of the products of a SKU changed; of the SKU of which that is the longest ago.
    pub since: Option<DateTime<Utc>>,
}

impl Overviews<'_> {
    /// The SKUs that products of a store share; `None` if there are none. Reads an entry of an index for each product of
    /// the store.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn shared_skus(self, store: &str) -> Result<Option<SharedSkus>, Error> {
        let rows = self.database.fetch("find shared SKUs", SHARED, vec![store.into()]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let products = [ProductId::new(row.text(1)?), ProductId::new(row.text(2)?)];
        let (sku, rows, since) = (row.text(0)?, row.count(3)?, row.optional_time(4)?);
        Ok(Some(SharedSkus { sku, products, rows, since }))
    }

    /// The stores whose products have changed after a number of the change feed; without a number, all stores.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stores_with_changed_products(self, after: Option<i64>) -> Result<Vec<String>, Error> {
        let rows = match after {
            Some(seq) => self.database.fetch("find changed products", CHANGED, vec![seq.into()]).await?,
            None => self.database.fetch("read the stores", STORES, Vec::new()).await?,
        };
        rows.iter().map(|row| row.text(0)).collect()
    }
}
