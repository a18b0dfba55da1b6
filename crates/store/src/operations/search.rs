//! The search of the pages: by exact names, else by the ways in which people write numbers and names. Each question
//! is one statement with a limit, answered from an index; only the names of products are read one by one.

use espelho_model::StoreKey;

use crate::{Error, driver::Row, operations::History};

/// The things with a name, in each store by its keys; `$2` is the name where it is a number. CROSS JOIN: SQLite looks the name
/// up in each store, and does not read the whole table. A long name is compared in full after the index has found its
/// beginning; the comparison has another shape, or SQLite puts the name into the expression of the index and cannot use it.
pub(crate) const FIND: &str = "SELECT DISTINCT store, entity, key FROM ( \
    SELECT t.store, 'order' AS entity, t.order_number AS key FROM stores s CROSS JOIN orders t \
    WHERE t.store = s.store AND t.order_number = $1 \
    UNION ALL SELECT t.store, 'product', COALESCE(t.sku, t.id) FROM stores s CROSS JOIN products t \
    WHERE t.store = s.store AND t.sku = $1 \
    UNION ALL SELECT t.store, 'product', COALESCE(t.sku, t.id) FROM stores s CROSS JOIN products t \
    WHERE t.store = s.store AND t.id = $1 \
    UNION ALL SELECT t.store, 'product', t.sku FROM stores s CROSS JOIN erp_stock t WHERE t.store = s.store AND t.sku = $1 \
    UNION ALL SELECT t.store, 'product', t.sku FROM stores s CROSS JOIN erp_prices t WHERE t.store = s.store AND t.sku = $1 \
    UNION ALL SELECT t.store, 'shipment', t.order_number || '/' || t.id FROM stores s CROSS JOIN shipments t \
    WHERE t.store = s.store AND t.id = $1 \
    UNION ALL SELECT t.store, 'shipment', t.order_number || '/' || t.id FROM shipments t \
    WHERE substr(t.tracking_code, 1, 100) = substr($1, 1, 100) AND COALESCE(t.tracking_code, '') = $1 \
    UNION ALL SELECT t.store, 'order', t.order_number FROM stores s CROSS JOIN shipment_labels t \
    WHERE t.store = s.store AND t.id = $1 \
    UNION ALL SELECT t.store, 'order', t.order_number FROM erp_orders t \
    WHERE substr(t.erp_id, 1, 100) = substr($1, 1, 100) AND COALESCE(t.erp_id, '') = $1 \
    AND EXISTS (SELECT 1 FROM stores s WHERE s.store = t.store) \
    UNION ALL SELECT t.store, 'campaign', t.id FROM stores s CROSS JOIN campaigns t WHERE t.store = s.store AND t.id = $1 \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT) FROM commands WHERE id = $2) AS named \
    ORDER BY 2, 1, 3 LIMIT 200";

/// The most things that a search by other spellings finds.
const SPELT: usize = 200;

/// Orders by any of several spellings of a number.
pub(crate) const ORDERS_SPELT: &str = "SELECT t.store, 'order', t.order_number FROM stores s CROSS JOIN orders t \
    WHERE t.store = s.store AND t.order_number";
/// Orders by any of several spellings of the number of a fiscal document.
pub(crate) const INVOICES_SPELT: &str = "SELECT t.store, 'order', t.order_number FROM order_invoices t \
    WHERE t.gone_at IS NULL AND EXISTS (SELECT 1 FROM stores s WHERE s.store = t.store) \
    AND substr(t.invoice_number, 1, 100)";
/// Products by any of several spellings of a SKU.
pub(crate) const SKUS_SPELT: &str = "SELECT t.store, 'product', t.sku FROM stores s CROSS JOIN products t \
    WHERE t.store = s.store AND t.sku";
/// Products of a store whose name without accents contains `$2`, a pattern, or whose SKU is `$3` in small letters. In the order
/// of the key, so that the index gives them sorted and the search ends with the last row that is shown. Letters with accents are
/// replaced in both sizes, because SQLite knows the small letters of ASCII alone, and in two steps, because its parser limits
/// how deeply calls are nested.
pub(crate) const PRODUCTS_NAMED: &str = "SELECT store, 'product', COALESCE(sku, id) FROM (SELECT store, id, sku, \
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(lower(name)\
    , 'á', 'a'), 'à', 'a'), 'â', 'a'), 'ã', 'a'), 'é', 'e'), 'ê', 'e'), 'í', 'i')\
    , 'ó', 'o'), 'ô', 'o'), 'õ', 'o'), 'ú', 'u'), 'ü', 'u'), 'ç', 'c') \
    AS small FROM products WHERE store = $1 AND gone_at IS NULL) AS named WHERE \
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(small\
    , 'Á', 'a'), 'À', 'a'), 'Â', 'a'), 'Ã', 'a'), 'É', 'e'), 'Ê', 'e'), 'Í', 'i')\
    , 'Ó', 'o'), 'Ô', 'o'), 'Õ', 'o'), 'Ú', 'u'), 'Ü', 'u'), 'Ç', 'c') \
    LIKE $2 ESCAPE '!' OR lower(sku) = $3 ORDER BY id LIMIT 50";

/// The spellings of a name that a search tries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spellings {
    /// Numbers of orders.
    pub orders: Vec<String>,
    /// Numbers of fiscal documents.
    pub invoices: Vec<String>,
    /// SKUs.
    pub skus: Vec<String>,
    /// A pattern of `LIKE` for a product's name in small letters without accents, whose escape is `!`; empty if there is none to
    /// try.
    pub name: String,
    /// The name in small letters.
    pub lower: String,
}

/// A thing that a search has found: store, entity and key.
pub type Found = (String, String, String);

impl History<'_> {
    /// Everything that bears a name, in any store: store, entity and key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find_anywhere(self, name: &str) -> Result<Vec<Found>, Error> {
        let number: Option<i64> = name.parse().ok();
        let values = vec![name.into(), number.into()];
        let rows = self.database.fetch_erp("find what bears a name", FIND, values).await?;
        rows.iter().map(found).collect()
    }

    /// The things whose number or SKU is spelt in another way, in any store: up to 200.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find_spelt(self, spellings: &Spellings) -> Result<Vec<Found>, Error> {
        let mut all = Vec::new();
        for (head, names) in [
            (ORDERS_SPELT, &spellings.orders),
            (INVOICES_SPELT, &spellings.invoices),
            (SKUS_SPELT, &spellings.skus),
        ] {
            if names.is_empty() {
                continue;
            }
            let places: Vec<String> = (1..=names.len()).map(|n| format!("${n}")).collect();
            let sql = format!("{head} IN ({}) LIMIT {SPELT}", places.join(", "));
            let values = names.iter().map(|name| name.as_str().into()).collect();
            for row in &self.database.fetch_bounded("find what is spelt so", sql, values).await? {
                all.push(found(row)?);
            }
        }
        all.sort_by(|(s, e, k), (t, f, l)| (e, s, k).cmp(&(f, t, l)));
        all.dedup();
        all.truncate(SPELT);
        Ok(all)
    }

    /// Up to 50 products of a store by a part of the name, or by the SKU in letters of any size: the first by their ids.
    /// Reads names until it has found so many.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find_products(self, store: &StoreKey, spellings: &Spellings) -> Result<Vec<Found>, Error> {
        let (name, lower) = (spellings.name.as_str(), spellings.lower.as_str());
        let values = vec![store.as_str().into(), name.into(), lower.into()];
        let rows = self.database.fetch_erp("find products by name", PRODUCTS_NAMED, values).await?;
        rows.iter().map(found).collect()
    }
}

fn found(row: &Row) -> Result<Found, Error> {
    Ok((row.foreign_text(0)?, row.text(1)?, row.foreign_text(2)?))
}
