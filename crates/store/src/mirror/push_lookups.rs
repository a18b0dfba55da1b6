//! Mirrored values that the push side needs before it sends an intent.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    OrderNumber, ProductId, RawJson, Sku, StoreKey,
    privacy::{Field, Treatment},
    product::PriceTier,
};
use rust_decimal::Decimal;

use crate::{
    Error,
    driver::{Row, Value},
    mirror::Lookups,
};

/// How far the marketplace's clock may be ahead of ours.
const CLOCKS_APART: TimeDelta = TimeDelta::hours(1);

pub(crate) const STOCKED: &str = "SELECT count(*) FROM product_stock WHERE store = $1 AND gone_at IS NULL \
    AND quantity > 0";
/// In the order of the index `products_live_by_sku`, which SQLite takes because no SKU is empty there; it would walk all
/// products by their ids in place of sorting two.
pub(crate) const PRODUCT: &str = "SELECT id FROM products WHERE store = $1 AND sku = $2 AND sku <> '' \
    AND gone_at IS NULL ORDER BY id LIMIT 2";
pub(crate) const PRICED: &str = "SELECT price_type, COALESCE(auto_wholesale_pricing, 1 = 0) FROM products \
    WHERE store = $1 AND id = $2";
pub(crate) const TIERS: &str = "SELECT min_quantity, CAST(value AS TEXT), CAST(discount_percent AS TEXT), \
    CAST(package_weight AS TEXT), CAST(package_height AS TEXT), CAST(package_width AS TEXT), \
    CAST(package_length AS TEXT) FROM product_prices WHERE store = $1 AND product_id = $2 AND gone_at IS NULL \
    ORDER BY min_quantity";
pub(crate) const DISPATCHED_BY: &str = "SELECT CAST(i.quantity AS TEXT) AS quantity FROM commands c \
    JOIN order_items i ON i.store = c.store AND i.order_number = c.key \
    WHERE c.id = $1 AND c.store = $2 AND c.state = 'done' AND i.sku = $3 AND i.gone_at IS NULL";
pub(crate) const READ_AT: &str = "SELECT read_at FROM product_reads WHERE store = $1 AND id = $2";
/// What releases an order that waits for its invoice: its documents, or a status beyond the wait.
pub(crate) const INVOICES: &str = "SELECT id || ' ' || COALESCE(status, '') AS said FROM order_invoices WHERE store = \
    $1 \
    AND order_number = $2 AND gone_at IS NULL AND is_current UNION ALL SELECT status FROM orders WHERE store \
    = $1 \
    AND order_number = $2 AND status IN ('ready_to_ship', 'shipped', 'picked_up', 'delivered', 'cancelled') ORDER BY \
    said";
pub(crate) const NOTES: &str =
    "SELECT notes FROM orders WHERE store = $1 AND order_number = $2 AND gone_at IS NULL";
/// Orders with lines of a SKU that may have been dispatched since a time: those not yet dispatched (the index
/// `order_items_undispatched`), and those changed since (`orders_by_mirroring`, from an hour before, because `updated_at`
/// is of the marketplace's clock). In no order: SQLite would walk all lines to put them in order.
pub(crate) const WITH_SKU: &str = "SELECT order_number FROM order_items WHERE store = $1 AND sku = $2 AND gone_at IS NULL \
    AND COALESCE(stock_status, '') NOT IN ('committed', 'released') \
    UNION SELECT i.order_number FROM orders o \
    JOIN order_items i ON i.store = o.store AND i.order_number = o.order_number \
    WHERE o.store = $1 AND o.mirrored_at >= $4 AND (o.updated_at >= $3 OR o.mirrored_at >= $3) \
    AND i.sku = $2 AND i.gone_at IS NULL AND i.stock_status = 'committed'";
pub(crate) const SKUS_OF_ORDER: &str = "SELECT DISTINCT sku FROM order_items WHERE store = $1 AND order_number = $2 \
    AND gone_at IS NULL AND sku IS NOT NULL";

impl Lookups<'_> {
    /// The number of stock levels above zero.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stocked_levels(self, store: &StoreKey) -> Result<usize, Error> {
        let rows = self.database.fetch("count levels", STOCKED, vec![store.as_str().into()]).await?;
        let count = rows.first().map_or(Ok(0), |row| row.int(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// The product with a SKU; the first where it names more than one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn product_by_sku(self, store: &StoreKey, sku: &str) -> Result<Option<ProductId>, Error> {
        Ok(self.products_by_sku(store, sku).await?.into_iter().next())
    }

    /// The products with a SKU, at most two: it should name one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn products_by_sku(self, store: &StoreKey, sku: &str) -> Result<Vec<ProductId>, Error> {
        let rows =
            self.database.fetch("find a SKU", PRODUCT, vec![store.as_str().into(), sku.into()]).await?;
        rows.iter().map(|row| row.text("id").map(ProductId::new)).collect()
    }

    /// The mirrored prices of a product: price type, whether its tiers are derived, and the tiers.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mirrored_prices(
        self,
        store: &StoreKey,
        product: &ProductId,
    ) -> Result<(Option<String>, bool, Vec<PriceTier>), Error> {
        let values = || vec![store.as_str().into(), product.as_str().into()];
        let rows = self.database.fetch("read how a product is priced", PRICED, values()).await?;
        let (price_type, automatic) = match rows.first() {
            Some(row) => (row.optional_text(0)?, row.truth(1)?),
            None => (None, false),
        };
        let rows = self.database.fetch("read tiers", TIERS, values()).await?;
        let tier = |row: &Row| {
            Ok(PriceTier {
                min_quantity: row.int(0)?,
                value: row.optional_decimal(1)?,
                discount_percent: row.optional_decimal(2)?,
                package_weight: row.optional_decimal(3)?,
                package_height: row.optional_decimal(4)?,
                package_width: row.optional_decimal(5)?,
                package_length: row.optional_decimal(6)?,
                raw: RawJson::new("{}"),
            })
        };
        let tiers: Result<Vec<PriceTier>, Error> = rows.iter().map(tier).collect();
        Ok((price_type, automatic, tiers?))
    }

    /// When a product was last read, changed or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn product_read_at(
        self,
        store: &StoreKey,
        product: &ProductId,
    ) -> Result<Option<DateTime<Utc>>, Error> {
        let values = vec![store.as_str().into(), product.as_str().into()];
        let rows = self.database.fetch("read when a product was read", READ_AT, values).await?;
        rows.first().map(|row| row.time("read_at")).transpose()
    }

    /// The current fiscal documents of an order (id and status), without replaced ones.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn current_invoices(self, store: &StoreKey, order: &OrderNumber) -> Result<Vec<String>, Error> {
        let values = vec![store.as_str().into(), order.as_str().into()];
        let rows = self.database.fetch("read invoices", INVOICES, values).await?;
        rows.iter().map(|row| row.text("said")).collect()
    }

    /// The mirrored notes of an order; `None` if the order is not mirrored, or its notes are not as they were sent.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn order_notes(
        self,
        store: &StoreKey,
        order: &OrderNumber,
    ) -> Result<Option<Option<String>>, Error> {
        if self.privacy.policy().of(Field::Notes) != Treatment::Keep {
            return Ok(None);
        }
        let values = vec![store.as_str().into(), order.as_str().into()];
        let rows = self.database.fetch("read notes", NOTES, values).await?;
        rows.first().map(|row| row.optional_text("notes")).transpose()
    }

    /// Orders with lines of a SKU that may have been dispatched since `since`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders_with_sku(
        self,
        store: &StoreKey,
        sku: &Sku,
        since: DateTime<Utc>,
    ) -> Result<Vec<OrderNumber>, Error> {
        let mirrored_since = since - CLOCKS_APART;
        let values: Vec<Value> =
            vec![store.as_str().into(), sku.as_str().into(), since.into(), mirrored_since.into()];
        let rows = self.database.fetch("find orders with a SKU", WITH_SKU, values).await?;
        rows.iter().map(|row| row.text("order_number").map(OrderNumber::new)).collect()
    }

    /// How much of a SKU the order of a command has; zero while the command is not done.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn dispatched_by(self, store: &StoreKey, command: i64, sku: &Sku) -> Result<Decimal, Error> {
        let values: Vec<Value> = vec![command.into(), store.as_str().into(), sku.as_str().into()];
        let rows = self.database.fetch_erp("read what a command dispatched", DISPATCHED_BY, values).await?;
        rows.iter().map(|row| Ok(row.optional_decimal("quantity")?.unwrap_or_default())).sum()
    }

    /// The SKUs of an order; none if the order is not mirrored.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn skus_of_order(self, store: &StoreKey, number: &str) -> Result<Vec<String>, Error> {
        let values: Vec<Value> = vec![store.as_str().into(), number.into()];
        let rows = self.database.fetch("read an order's SKUs", SKUS_OF_ORDER, values).await?;
        rows.iter().map(|row| row.text("sku")).collect()
    }
}
