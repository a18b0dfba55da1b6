//! SKUs that two products of a store share: of those that were noted, the ones of which the mirror has more than one
//! product now. So no note outlives its cause.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use espelho_model::ProductId;

use crate::{Error, operations::Overviews};

/// Looks at the products of a SKU: on both databases by the index `products_live_by_sku`.
macro_rules! of_its_products {
    ($what:literal) => {
        concat!(
            "(SELECT ",
            $what,
            " FROM products AS p WHERE p.store = n.store AND p.sku = n.sku AND p.sku <> '' AND p.gone_at IS NULL)"
        )
    };
}

/// The first SKU of each store that products share, and what is to tell of all of them: they may be as many as the
/// products. Each noted SKU is looked up by itself: a planner that joins them may read all products.
pub(crate) const SHARED: &str = concat!(
    "SELECT store, sku, one, other, products, at FROM ( \
     SELECT store, sku, one, other, CAST(sum(products) OVER (PARTITION BY store) AS BIGINT) AS products, \
     min(at) OVER (PARTITION BY store) AS at, row_number() OVER (PARTITION BY store ORDER BY sku) AS place FROM ( \
     SELECT n.store, n.sku, ",
    of_its_products!("min(p.id)"),
    " AS one, ",
    of_its_products!("max(p.id)"),
    " AS other, ",
    of_its_products!("count(*)"),
    " AS products, ",
    of_its_products!("max(p.mirrored_at)"),
    " AS at FROM shared_skus AS n) AS g WHERE products > 1) AS s WHERE place = 1"
);

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
