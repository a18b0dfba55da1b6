//! Rows of the ERP with a SKU that the mirror did not know: a later pass may have brought the product.

use crate::intents::Intents;
use crate::{Error, Lease, mirror::page::begin_answer};

pub(crate) const UNKNOWN: &str = "SELECT 1 WHERE EXISTS (SELECT 1 FROM erp_stock WHERE store = $1 \
    AND error_code IS NOT NULL AND state = 'failed' AND error_code = 'unknown_sku') \
    OR EXISTS (SELECT 1 FROM erp_prices WHERE store = $1 \
    AND error_code IS NOT NULL AND state = 'failed' AND error_code = 'unknown_sku')";
pub(crate) const REOPEN_STOCK: &str = "UPDATE erp_stock SET state = 'new', error_code = NULL, error = NULL, hint = \
    NULL, said = NULL \
    WHERE store = $1 AND state = 'failed' AND error_code = 'unknown_sku' AND EXISTS \
    (SELECT 1 FROM products p WHERE p.store = erp_stock.store AND p.sku = erp_stock.sku AND p.gone_at IS NULL)";
pub(crate) const REOPEN_PRICES: &str = "UPDATE erp_prices SET state = 'new', error_code = NULL, error = NULL, hint = \
    NULL, said = NULL \
    WHERE store = $1 AND state = 'failed' AND error_code = 'unknown_sku' AND EXISTS \
    (SELECT 1 FROM products p WHERE p.store = erp_prices.store AND p.sku = erp_prices.sku AND p.gone_at IS NULL)";

impl Intents<'_> {
    /// Reopens the rows whose SKU the mirror knows by now.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer, or the ERP
    /// has one of the rows locked.
    pub async fn reopen_unknown_skus(self, lease: &Lease) -> Result<(), Error> {
        let store = || vec![lease.store().as_str().into()];
        let failed = self.database.fetch_erp("look for unknown SKUs", UNKNOWN, store()).await?;
        if failed.is_empty() {
            return Ok(());
        }
        for sql in [REOPEN_STOCK, REOPEN_PRICES] {
            let mut page = begin_answer(self.database, self.clock, lease).await?;
            page.tx.execute("look at unknown SKUs again", sql, store()).await?;
            page.commit().await?;
        }
        Ok(())
    }
}
