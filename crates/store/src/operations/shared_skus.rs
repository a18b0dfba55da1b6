//! SKUs that two products of a store share: of those that were noted, the ones of which the mirror has more than one
//! product now. So no note outlives its cause.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use espelho_model::ProductId;

use crate::{Error, operations::Overviews};

/// The first SKU of each store that products share, and what is to tell of all of them. They may be as many as the
/// products, so each product is read once. CROSS JOIN keeps SQLite from reading all products: it looks each noted SKU
/// up by the index `products_live_by_sku`, as PostgreSQL does where that is cheaper.
pub(crate) const SHARED: &str = "SELECT s.store, s.sku, \
    (SELECT min(p.id) FROM products AS p \
    WHERE p.store = s.store AND p.sku = s.sku AND p.sku <> '' AND p.gone_at IS NULL) AS one, \
    (SELECT max(p.id) FROM products AS p \
    WHERE p.store = s.store AND p.sku = s.sku AND p.sku <> '' AND p.gone_at IS NULL) AS other, s.products, s.at \
    FROM (SELECT store, min(sku) AS sku, CAST(sum(products) AS BIGINT) AS products, min(at) AS at \
    FROM (SELECT n.store, n.sku, count(*) AS products, max(p.mirrored_at) AS at \
    FROM shared_skus AS n CROSS JOIN products AS p \
    WHERE p.store = n.store AND p.sku = n.sku AND p.sku <> '' AND p.gone_at IS NULL \
    GROUP BY n.store, n.sku HAVING count(*) > 1) AS g GROUP BY store) AS s";

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
    /// The SKUs that products of a store share, by the store's key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn shared_skus(self) -> Result<BTreeMap<String, SharedSkus>, Error> {
        let mut all = BTreeMap::new();
        for row in self.database.fetch("find shared SKUs", SHARED, Vec::new()).await? {
            let products = [ProductId::new(row.text(2)?), ProductId::new(row.text(3)?)];
            let (sku, rows, since) = (row.text(1)?, row.count(4)?, row.optional_time(5)?);
            all.insert(row.text(0)?, SharedSkus { sku, products, rows, since });
        }
        Ok(all)
    }
}
