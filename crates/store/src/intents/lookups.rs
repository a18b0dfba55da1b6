//! What the mirror says of things that the ERP wants changed.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use espelho_model::{OrderNumber, ProductId, RawJson, Sku, StoreKey, product::PriceTier};

use super::release::IntentKind;
use crate::{
    Error, Lease, Store,
    driver::{Row, Value},
};

pub(crate) const UNKNOWN: &str = "SELECT 1 FROM erp_stock WHERE store = $1 AND state IN ('failed', 'held', 'doubtful') \
    AND error_code = 'unknown_sku' UNION SELECT 1 FROM erp_prices WHERE store = $1 \
    AND state IN ('failed', 'held', 'doubtful') AND error_code = 'unknown_sku'";
pub(crate) const REOPEN_STOCK: &str = "UPDATE erp_stock SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL \
    WHERE store = $1 AND state = 'failed' AND error_code = 'unknown_sku' AND EXISTS \
    (SELECT 1 FROM products p WHERE p.store = erp_stock.store AND p.sku = erp_stock.sku AND p.gone_at IS NULL)";
pub(crate) const REOPEN_PRICES: &str = "UPDATE erp_prices SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL \
    WHERE store = $1 AND state = 'failed' AND error_code = 'unknown_sku' AND EXISTS \
    (SELECT 1 FROM products p WHERE p.store = erp_prices.store AND p.sku = erp_prices.sku AND p.gone_at IS NULL)";
pub(crate) const STOCKED: &str = "SELECT count(*) FROM product_stock WHERE store = $1 AND gone_at IS NULL \
    AND quantity > 0";
pub(crate) const RELEASES: &str = "SELECT key, value FROM releases WHERE store = $1 AND what = $2";
pub(crate) const RELEASED: &str = "SELECT value FROM releases WHERE store = $1 AND what = $2 AND key = $3";
pub(crate) const PRODUCT: &str =
    "SELECT id FROM products WHERE store = $1 AND sku = $2 AND gone_at IS NULL ORDER BY id LIMIT 1";
pub(crate) const PRICED: &str = "SELECT price_type, COALESCE(auto_wholesale_pricing, 1 = 0) FROM products \
    WHERE store = $1 AND id = $2";
pub(crate) const TIERS: &str = "SELECT min_quantity, CAST(value AS TEXT), CAST(discount_percent AS TEXT), \
    CAST(package_weight AS TEXT), CAST(package_height AS TEXT), CAST(package_width AS TEXT), \
    CAST(package_length AS TEXT) FROM product_prices WHERE store = $1 AND product_id = $2 AND gone_at IS NULL \
    ORDER BY min_quantity";
pub(crate) const READ_AT: &str = "SELECT read_at FROM product_reads WHERE store = $1 AND id = $2";
/// What an order that waits for its invoice is told by: its documents, and that it is not where it waited any more.
pub(crate) const INVOICES: &str = "SELECT id || ' ' || COALESCE(status, '') AS said FROM order_invoices WHERE store = $1 \
    AND order_number = $2 AND gone_at IS NULL AND replaced_at IS NULL UNION ALL SELECT status FROM orders WHERE store = $1 \
    AND order_number = $2 AND status IN ('ready_to_ship', 'shipped', 'picked_up', 'delivered', 'cancelled') ORDER BY said";
pub(crate) const NOTES: &str =
    "SELECT notes FROM orders WHERE store = $1 AND order_number = $2 AND gone_at IS NULL";
/// Lines of a SKU in orders that may have left the shelf since: those that have not, and those that changed since.
pub(crate) const WITH_SKU: &str = "SELECT DISTINCT o.order_number FROM order_items i \
    JOIN orders o ON o.store = i.store AND o.order_number = i.order_number \
    WHERE i.store = $1 AND i.sku = $2 AND i.gone_at IS NULL AND COALESCE(i.stock_status, '') <> 'released' \
    AND (COALESCE(i.stock_status, '') <> 'committed' OR o.updated_at >= $3 OR o.mirrored_at >= $3) ORDER BY o.order_number";
pub(crate) const SKUS_OF_ORDER: &str = "SELECT DISTINCT sku FROM order_items WHERE store = $1 AND order_number = $2 \
    AND gone_at IS NULL AND sku IS NOT NULL";
pub(crate) const WAS_COMPLETE: &str =
    "SELECT 1 FROM sync_runs WHERE store = $1 AND state IN ('complete', 'partial') LIMIT 1";
/// What a listing cost when it joined: by this campaign, or by whichever told it last.
pub(crate) const JOINED: &str = "INSERT INTO campaign_prices (store, campaign_id, item_id, price, preview, joined_at) \
    SELECT store, CAST($3 AS TEXT), item_id, price, CASE WHEN campaign_id = $3 THEN discount_preview END, $1 FROM campaign_listings \
    WHERE store = $2 AND item_id = $4 AND price IS NOT NULL AND gone_at IS NULL \
    ORDER BY CASE WHEN campaign_id = $3 THEN 0 ELSE 1 END, mirrored_at DESC LIMIT 1 \
    ON CONFLICT (store, campaign_id, item_id) DO UPDATE SET price = excluded.price, preview = excluded.preview, \
    joined_at = excluded.joined_at";

impl Store {
    /// Lets rows be looked at again whose SKU nobody knew and is known now.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer, or the ERP holds one of them.
    pub async fn reopen_unknown_skus(&self, lease: &Lease) -> Result<(), Error> {
        let store = || vec![lease.store().as_str().into()];
        let failed = self.database.fetch("look for unknown SKUs", UNKNOWN, store()).await?;
        if failed.is_empty() {
            return Ok(());
        }
        for sql in [REOPEN_STOCK, REOPEN_PRICES] {
            let mut page = self.begin_answer(lease).await?;
            page.tx.execute("look at unknown SKUs again", sql, store()).await?;
            page.commit().await?;
        }
        Ok(())
    }

    /// How many levels of stock are above zero.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stocked_levels(&self, store: &StoreKey) -> Result<usize, Error> {
        let rows = self.database.fetch("count levels", STOCKED, vec![store.as_str().into()]).await?;
        let count = rows.first().map_or(Ok(0), |row| row.int(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// The rows that somebody has let past the guards, with what they asked for then.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn releases(
        &self,
        store: &StoreKey,
        intent: IntentKind,
    ) -> Result<HashMap<String, String>, Error> {
        let values = vec![store.as_str().into(), intent.as_str().into()];
        let rows = self.database.fetch("read releases", RELEASES, values).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
    }

    /// What a row asked for when somebody let it past the guards, if somebody did.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn release_of(
        &self,
        store: &StoreKey,
        intent: IntentKind,
        row: &str,
    ) -> Result<Option<String>, Error> {
        let values = vec![store.as_str().into(), intent.as_str().into(), row.into()];
        let rows = self.database.fetch("read a release", RELEASED, values).await?;
        rows.first().map(|row| row.text(0)).transpose()
    }

    /// The product with a SKU.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn product_by_sku(&self, store: &StoreKey, sku: &str) -> Result<Option<ProductId>, Error> {
        let rows =
            self.database.fetch("find a SKU", PRODUCT, vec![store.as_str().into(), sku.into()]).await?;
        rows.first().map(|row| row.text(0).map(ProductId::new)).transpose()
    }

    /// How the mirror knows a product's prices: price type, whether its tiers are derived, and the tiers.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mirrored_prices(
        &self,
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
        &self,
        store: &StoreKey,
        product: &ProductId,
    ) -> Result<Option<DateTime<Utc>>, Error> {
        let values = vec![store.as_str().into(), product.as_str().into()];
        let rows = self.database.fetch("read when a product was read", READ_AT, values).await?;
        rows.first().map(|row| row.time(0)).transpose()
    }

    /// The fiscal documents of an order that were not replaced, by their ids and statuses.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn current_invoices(
        &self,
        store: &StoreKey,
        order: &OrderNumber,
    ) -> Result<Vec<String>, Error> {
        let values = vec![store.as_str().into(), order.as_str().into()];
        let rows = self.database.fetch("read invoices", INVOICES, values).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// The notes that the mirror has of an order; `None` for an order that it does not have.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn order_notes(
        &self,
        store: &StoreKey,
        order: &OrderNumber,
    ) -> Result<Option<Option<String>>, Error> {
        let values = vec![store.as_str().into(), order.as_str().into()];
        let rows = self.database.fetch("read notes", NOTES, values).await?;
        rows.first().map(|row| row.optional_text(0)).transpose()
    }

    /// Orders with lines of a SKU that may have left the shelf since `since`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders_with_sku(
        &self,
        store: &StoreKey,
        sku: &Sku,
        since: DateTime<Utc>,
    ) -> Result<Vec<OrderNumber>, Error> {
        let values: Vec<Value> = vec![store.as_str().into(), sku.as_str().into(), since.into()];
        let rows = self.database.fetch("find orders with a SKU", WITH_SKU, values).await?;
        rows.iter().map(|row| row.text(0).map(OrderNumber::new)).collect()
    }

    /// The SKUs of an order, as far as the mirror knows; none where it does not know the order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn skus_of_order(&self, store: &StoreKey, number: &str) -> Result<Vec<String>, Error> {
        let values: Vec<Value> = vec![store.as_str().into(), number.into()];
        let rows = self.database.fetch("read an order's SKUs", SKUS_OF_ORDER, values).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// Whether a store was reconciled to the end once.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn has_complete_run(&self, store: &StoreKey) -> Result<bool, Error> {
        let rows = self.database.fetch("look for a run", WAS_COMPLETE, vec![store.as_str().into()]).await?;
        Ok(!rows.is_empty())
    }

    /// Keeps what listings cost when they join a campaign: afterwards the marketplace does not tell any more.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_campaign_prices(
        &self,
        store: &StoreKey,
        campaign: &str,
        listings: &[&str],
    ) -> Result<(), Error> {
        let now = self.clock.now();
        let mut tx = self.database.begin().await?;
        for listing in listings {
            let values: Vec<Value> =
                vec![now.into(), store.as_str().into(), campaign.into(), (*listing).into()];
            tx.execute("keep a listing's price", JOINED, values).await?;
        }
        tx.commit().await
    }
}
