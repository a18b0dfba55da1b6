//! Products, price tiers, stock levels and stock locations.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};
use espelho_model::{
    ContentHash, LocationId, StoreKey,
    product::{PriceTier, Product, StockLevel, StockLocation},
};

use crate::{
    Error, Op,
    driver::{Insert, Value},
    mirror::{
        Mirror, MirrorWriter,
        edited::Comparison,
        orders,
        rows::{ResourceStatements, last_of_each},
    },
};

pub(crate) static MIRROR: ResourceStatements = ResourceStatements {
    entity: "product",
    known: "SELECT id, listing_hash, content_hash, gone_at IS NOT NULL FROM products WHERE store = $1 AND id",
    count: "SELECT count(*) FROM products WHERE store = $1",
    live: "SELECT id FROM products WHERE store = $1 AND id > $2 AND gone_at IS NULL ORDER BY id LIMIT 1000",
    gone: "UPDATE products SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL AND id",
    dependents_gone: &[PRICES_GONE, STOCK_GONE, FORGET_READS],
    relist: "UPDATE products SET listing_hash = $2 WHERE store = $1 AND id = $3",
};

pub(crate) const UPSERT: Insert = Insert {
    operation: "mirror products",
    head: "INSERT INTO products (store, id, listing_hash, content_hash, mirrored_at, sku, name, base_unit, price_type, \
           is_available_for_sale, auto_wholesale_pricing, height, width, length, weight, price, quantity, \
           reserved_quantity, available_quantity, raw)",
    columns: 20,
    tail: "ON CONFLICT (store, id) DO UPDATE SET listing_hash = excluded.listing_hash, \
           content_hash = excluded.content_hash, gone_at = NULL, mirrored_at = excluded.mirrored_at, sku = \
           excluded.sku, \
           name = excluded.name, base_unit = excluded.base_unit, price_type = excluded.price_type, \
           is_available_for_sale = excluded.is_available_for_sale, \
           auto_wholesale_pricing = excluded.auto_wholesale_pricing, height = excluded.height, width = excluded.width, \
           length = excluded.length, weight = excluded.weight, price = excluded.price, quantity = excluded.quantity, \
           reserved_quantity = excluded.reserved_quantity, available_quantity = excluded.available_quantity, \
           raw = excluded.raw",
};
/// The same for products that the mirror does not have. A SKU's levels may be there although its product is new.
pub(crate) const INSERT: Insert = Insert { tail: "", ..UPSERT };
pub(crate) const UPSERT_PRICES: Insert = Insert {
    operation: "mirror price tiers",
    head: "INSERT INTO product_prices (store, product_id, min_quantity, mirrored_at, value, discount_percent, \
           package_weight, package_height, package_width, package_length, raw)",
    columns: 11,
    tail: "ON CONFLICT (store, product_id, min_quantity) DO UPDATE SET gone_at = NULL, \
           mirrored_at = excluded.mirrored_at, value = excluded.value, discount_percent = excluded.discount_percent, \
           package_weight = excluded.package_weight, package_height = excluded.package_height, \
           package_width = excluded.package_width, package_length = excluded.package_length, raw = excluded.raw",
};
pub(crate) const INSERT_PRICES: Insert = Insert { tail: "", ..UPSERT_PRICES };
pub(crate) const UPSERT_STOCK: Insert = Insert {
    operation: "mirror stock",
    head: "INSERT INTO product_stock (store, sku, location_id, product_id, mirrored_at, quantity, reserved_quantity, \
           available_quantity, raw)",
    columns: 9,
    tail: "ON CONFLICT (store, sku, location_id) DO UPDATE SET product_id = excluded.product_id, gone_at = NULL, \
           mirrored_at = excluded.mirrored_at, quantity = excluded.quantity, \
           reserved_quantity = excluded.reserved_quantity, available_quantity = excluded.available_quantity, \
           raw = excluded.raw",
};
pub(crate) const UPSERT_LOCATIONS: Insert = Insert {
    operation: "mirror stock locations",
    head: "INSERT INTO stock_locations (store, location_id, mirrored_at, name, status, location_type, allows_pickup, \
           allows_production, raw)",
    columns: 9,
    tail: "ON CONFLICT (store, location_id) DO UPDATE SET gone_at = NULL, mirrored_at = excluded.mirrored_at, \
           name = excluded.name, status = excluded.status, location_type = excluded.location_type, \
           allows_pickup = excluded.allows_pickup, allows_production = excluded.allows_production, raw = excluded.raw",
};
pub(crate) const PRICES_GONE: &str =
    "UPDATE product_prices SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL AND product_id";
pub(crate) const STOCK_GONE: &str =
    "UPDATE product_stock SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL AND product_id";
/// The orders of lines that came without a SKU and before their product. With DISTINCT, SQLite reads all lines of the
/// store in the order of the numbers, in place of the few by their product.
pub(crate) const UNNAMED: &str =
    "SELECT order_number FROM order_items WHERE store = $1 AND sku IS NULL AND product_id";
pub(crate) const NAME_LINES: &str = "UPDATE order_items SET mirrored_at = $2, sku = (SELECT p.sku FROM products p \
    WHERE p.store = order_items.store AND p.id = order_items.product_id) WHERE store = $1 AND sku IS NULL AND product_id";
/// A product that is gone leaves the rotation.
pub(crate) const FORGET_READS: &str = "DELETE FROM product_reads WHERE store = $1 AND read_at <= $2 AND id";
/// Puts products into the rotation that are not there yet. A read that is noted already stays: a push relies on its
/// time, and a pass may write long after it has read.
pub(crate) const NOTE_FIRST_READ: Insert = Insert {
    operation: "note the first read of products",
    head: "INSERT INTO product_reads (store, id, read_at)",
    columns: 3,
    tail: "ON CONFLICT (store, id) DO NOTHING",
};
/// The SKUs that products have. With a fingerprint, so that SQLite finds the rows by their ids: the index
/// `products_live_by_sku` has the rest, and would be read whole.
pub(crate) const SKUS_OF: &str =
    "SELECT id, sku, listing_hash FROM products WHERE store = $1 AND gone_at IS NULL AND sku <> '' AND id";
pub(crate) const OF_SKUS: &str = "SELECT id FROM products WHERE store = $1 AND gone_at IS NULL AND sku";
/// A row for each product of a SKU, by the index `products_live_by_sku`.
pub(crate) const SKUS: &str =
    "SELECT sku FROM products WHERE store = $1 AND gone_at IS NULL AND sku <> '' AND sku";
/// Lets the next reading write products, and the next listing read them, although they have not changed.
pub(crate) const DISTRUST: &str =
    "UPDATE products SET listing_hash = 0, content_hash = 0 WHERE store = $1 AND gone_at IS NULL AND id";
/// Notes SKUs that products share. What is noted is asked for by v_errors and the alarms, and nothing else.
pub(crate) const NOTE_SHARED: Insert = Insert {
    operation: "note shared SKUs",
    head: "INSERT INTO shared_skus (store, sku)",
    columns: 2,
    tail: "ON CONFLICT (store, sku) DO NOTHING",
};
/// The same for SKUs that came to be shared beside their writer: by an older version, or by hand.
pub(crate) const FIND_SHARED: &str = "INSERT INTO shared_skus (store, sku) \
    SELECT store, sku FROM products WHERE store = $1 AND gone_at IS NULL AND sku <> '' \
    GROUP BY store, sku HAVING count(*) > 1 ON CONFLICT (store, sku) DO NOTHING";
/// Forgets the notes of SKUs that products no longer share.
pub(crate) const FORGET_SHARED: &str = "DELETE FROM shared_skus WHERE store = $1 AND \
    (SELECT count(*) FROM products AS p WHERE p.store = shared_skus.store AND p.sku = shared_skus.sku AND p.sku <> '' AND p.gone_at IS NULL) < 2";
pub(crate) const LOCATION_NAMES: &str =
    "SELECT location_id, name FROM stock_locations WHERE store = $1 AND gone_at IS NULL";

/// A product to mirror.
#[derive(Clone, Debug)]
pub struct ProductWrite {
    /// The product with tiers and stock.
    pub product: Product,
    /// The fingerprint of its listing row.
    pub listing_hash: ContentHash,
    /// The fingerprint of product, tiers and stock together.
    pub content_hash: ContentHash,
    /// Whether it is new in the mirror.
    pub op: Op,
}

impl Mirror<'_> {
    /// The mirrored stock locations with their names.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn location_names(
        self,
        store: &StoreKey,
    ) -> Result<HashMap<LocationId, Option<String>>, Error> {
        let values = vec![store.as_str().into()];
        let rows = self.database.fetch("read names of stock locations", LOCATION_NAMES, values).await?;
        rows.iter().map(|row| Ok((LocationId::new(row.text(0)?), row.optional_text(1)?))).collect()
    }
}

impl MirrorWriter<'_, '_> {
    /// Mirrors products with tiers and stock, and appends them to the change feed. The list must not contain a
    /// product twice.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_products(&mut self, mut products: Vec<ProductWrite>) -> Result<(), Error> {
        let (store, at) = (self.page.store_key().clone(), self.page.at());
        let changes = products.iter().map(|w| (w.product.id.as_str(), w.op));
        self.page.announce(MIRROR.entity, changes);
        let known = products.iter().filter(|w| w.op == Op::Update);
        let skus: BTreeMap<String, Option<String>> =
            known.map(|w| (w.product.id.as_str().to_owned(), sku_of(&w.product))).collect();
        let known: Vec<String> = skus.keys().cloned().collect();
        self.leave_skus(skus).await?;
        let first = [store.as_str().into(), at.into()];
        self.page.tx.execute_in("mark price tiers as gone", PRICES_GONE, &first, known.clone()).await?;
        self.page.tx.execute_in("mark stock as gone", STOCK_GONE, &first, known).await?;
        let read = |write: &ProductWrite| -> [Value; 3] {
            [store.as_str().into(), write.product.id.as_str().into(), at.into()]
        };
        let named = products.iter().filter(|write| write.product.sku.is_some());
        let named = named.map(|write| write.product.id.as_str().to_owned()).collect::<Vec<_>>();
        let written: BTreeSet<String> = products.iter().filter_map(|write| sku_of(&write.product)).collect();
        let levels = take_levels(store.as_str(), at, &mut products);
        // A page that was refused is written row by row: then a row that exists against all knowledge is updated.
        let is_alone = products.len() == 1;
        let (new, mirrored): (Vec<_>, Vec<_>) =
            products.into_iter().partition(|write| write.op == Op::Insert && !is_alone);
        for (products, into, tiers_into) in
            [(new, &INSERT, &INSERT_PRICES), (mirrored, &UPSERT, &UPSERT_PRICES)]
        {
            let reads = products.iter().flat_map(read).collect();
            let ProductRows { products, tiers } = ProductRows::of(store.as_str(), at, products);
            self.page.tx.insert(into, products).await?;
            self.page.tx.insert(&NOTE_FIRST_READ, reads).await?;
            self.page.tx.insert(tiers_into, tiers).await?;
        }
        self.note_shared_skus(written).await?;
        self.name_lines_of(named).await?;
        self.page.tx.insert(&UPSERT_STOCK, levels).await?;
        Ok(())
    }

    /// Notes which of the SKUs that were just written more than one product has.
    async fn note_shared_skus(&mut self, written: BTreeSet<String>) -> Result<(), Error> {
        let store: Value = self.page.store_key().as_str().into();
        let written = written.into_iter().collect();
        let first = std::slice::from_ref(&store);
        let rows = self.page.tx.fetch_in("find products of the same SKU", SKUS, first, written).await?;
        let (mut once, mut shared) = (HashSet::new(), BTreeSet::new());
        for row in &rows {
            shared.extend(once.replace(row.text(0)?));
        }
        let notes = shared.into_iter().flat_map(|sku| [store.clone(), sku.into()]).collect();
        self.page.tx.insert(&NOTE_SHARED, notes).await.map(drop)
    }

    /// Makes the notes of shared SKUs those of the products. Reads an entry of an index for each product of the store.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn review_shared_skus(&mut self) -> Result<(), Error> {
        let store: Value = self.page.store_key().as_str().into();
        self.page.tx.execute("find shared SKUs", FIND_SHARED, vec![store.clone()]).await?;
        self.page.tx.execute("forget shared SKUs", FORGET_SHARED, vec![store]).await.map(drop)
    }

    /// Has the other products of a SKU read again at once that some products no longer have: their levels were in the
    /// same rows, and are gone with those. `now` has the products with the SKUs that they have from now on.
    pub(crate) async fn leave_skus(&mut self, now: BTreeMap<String, Option<String>>) -> Result<(), Error> {
        let first: [Value; 1] = [self.page.store_key().as_str().into()];
        let ids = now.keys().cloned().collect();
        let rows = self.page.tx.fetch_in("read the SKUs of products", SKUS_OF, &first, ids).await?;
        let mut left = BTreeSet::new();
        for row in &rows {
            let (id, sku) = (row.text(0)?, row.text(1)?);
            if now.get(&id).is_none_or(|now| now.as_ref() != Some(&sku)) {
                left.insert(sku);
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        let left = left.into_iter().collect();
        let rows = self.page.tx.fetch_in("find products by their SKUs", OF_SKUS, &first, left).await?;
        let ids: Vec<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        let others: Vec<String> = ids.into_iter().filter(|id| !now.contains_key(id)).collect();
        if others.is_empty() {
            return Ok(());
        }
        self.page.tx.execute_in("distrust products", DISTRUST, &first, others.clone()).await?;
        self.page.staleness().take_turns(others, DateTime::UNIX_EPOCH).await
    }

    /// Gives the lines of these products their SKU, and tells of their orders.
    async fn name_lines_of(&mut self, products: Vec<String>) -> Result<(), Error> {
        let first: Value = self.page.store_key().as_str().into();
        let rows = self
            .page
            .tx
            .fetch_in(
                "find order lines without a SKU",
                UNNAMED,
                std::slice::from_ref(&first),
                products.clone(),
            )
            .await?;
        if rows.is_empty() {
            return Ok(());
        }
        let orders: BTreeSet<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        self.page.announce(orders::MIRROR.entity, orders.iter().map(|order| (order.as_str(), Op::Update)));
        let first = [first, self.page.at().into()];
        self.page.tx.execute_in("name order lines", NAME_LINES, &first, products).await.map(drop)
    }

    /// Returns the mirrored products whose columns, tiers or levels are not those of these products: somebody has
    /// edited them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn edited_products(&mut self, products: Vec<Product>) -> Result<HashSet<String>, Error> {
        let (store, at) = (self.page.store_key().clone(), self.page.at());
        let ids: Vec<String> = products.iter().map(|product| product.id.as_str().to_owned()).collect();
        let write = |product: Product| {
            // Fingerprints are not compared.
            let hash = product.raw.content_hash();
            ProductWrite { listing_hash: hash, content_hash: hash, op: Op::Update, product }
        };
        let mut products: Vec<_> = products.into_iter().map(write).collect();
        let levels = take_levels(store.as_str(), at, &mut products);
        let ProductRows { products, tiers } = ProductRows::of(store.as_str(), at, products);
        let mut edited = HashSet::new();
        for (insert, values, group) in [
            (&UPSERT, &products, "id"),
            (&UPSERT_PRICES, &tiers, "product_id"),
            (&UPSERT_STOCK, &levels, "product_id"),
        ] {
            let comparison =
                Comparison { insert, values, group, groups: ids.clone(), within: None, is_erased: false };
            edited.extend(self.page.edited(comparison).await?);
        }
        Ok(edited)
    }

    /// Mirrors stock locations.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_locations(&mut self, locations: Vec<StockLocation>) -> Result<(), Error> {
        let (store, at) = (self.page.store_key().clone(), self.page.at());
        let locations = last_of_each(locations, |location| location.id.clone());
        let values =
            locations.into_iter().flat_map(|location| location_values(store.as_str(), at.into(), location));
        let values = values.collect();
        self.page.tx.insert(&UPSERT_LOCATIONS, values).await.map(drop)
    }
}

fn sku_of(product: &Product) -> Option<String> {
    product.sku.as_ref().map(|sku| sku.as_str().to_owned())
}

/// Takes the levels out of products, and returns their values: of two products with one SKU, the levels of the last.
fn take_levels(store: &str, at: DateTime<Utc>, writes: &mut [ProductWrite]) -> Vec<Value> {
    let mut levels = Vec::new();
    for write in writes {
        let id = write.product.id.as_str();
        levels
            .extend(std::mem::take(&mut write.product.stock).into_iter().map(|level| (id.to_owned(), level)));
    }
    let levels = last_of_each(levels, |(_, level)| (level.sku.clone(), level.location_id.clone()));
    levels.into_iter().flat_map(|(id, level)| level_values(store, id, at.into(), level)).collect()
}

/// The values of products and of their tiers.
struct ProductRows {
    products: Vec<Value>,
    tiers: Vec<Value>,
}

impl ProductRows {
    fn of(store: &str, at: DateTime<Utc>, writes: Vec<ProductWrite>) -> Self {
        let (mut products, mut tiers) = (Vec::new(), Vec::new());
        for mut write in writes {
            let id = write.product.id.as_str().to_owned();
            tiers
                .extend(std::mem::take(&mut write.product.prices).into_iter().map(|tier| (id.clone(), tier)));
            products.extend(product_values(store, at.into(), write));
        }
        let tiers = last_of_each(tiers, |(id, tier)| (id.clone(), tier.min_quantity));
        let tiers = tiers.into_iter().flat_map(|(id, tier)| tier_values(store, id, at.into(), tier));
        Self { products, tiers: tiers.collect() }
    }
}

fn product_values(store: &str, at: Value, write: ProductWrite) -> [Value; 20] {
    let product = write.product;
    [
        store.into(),
        product.id.into_string().into(),
        write.listing_hash.as_i64().into(),
        write.content_hash.as_i64().into(),
        at,
        product.sku.map(espelho_model::Sku::into_string).into(),
        product.name.into(),
        product.base_unit.into(),
        product.price_type.into(),
        product.is_available_for_sale.into(),
        product.auto_wholesale_pricing.into(),
        product.height.into(),
        product.width.into(),
        product.length.into(),
        product.weight.into(),
        product.price.into(),
        product.quantity.into(),
        product.reserved_quantity.into(),
        product.available_quantity.into(),
        product.raw.into(),
    ]
}

fn tier_values(store: &str, product_id: String, at: Value, tier: PriceTier) -> [Value; 11] {
    [
        store.into(),
        product_id.into(),
        tier.min_quantity.into(),
        at,
        tier.value.into(),
        tier.discount_percent.into(),
        tier.package_weight.into(),
        tier.package_height.into(),
        tier.package_width.into(),
        tier.package_length.into(),
        tier.raw.into(),
    ]
}

fn level_values(store: &str, product_id: String, at: Value, level: StockLevel) -> [Value; 9] {
    [
        store.into(),
        level.sku.into_string().into(),
        level.location_id.into_string().into(),
        product_id.into(),
        at,
        level.quantity.into(),
        level.reserved_quantity.into(),
        level.available_quantity.into(),
        level.raw.into(),
    ]
}

fn location_values(store: &str, at: Value, location: StockLocation) -> [Value; 9] {
    [
        store.into(),
        location.id.into_string().into(),
        at,
        location.name.into(),
        location.status.into(),
        location.location_type.into(),
        location.allows_pickup.into(),
        location.allows_production.into(),
        location.raw.into(),
    ]
}
