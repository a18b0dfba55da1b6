//! Rows that changed after their answer without a trigger: the ERP's loader had switched the triggers off, or somebody
//! dropped them.

use crate::{Error, Lease, intents::Intents, mirror::page::begin_answer};

pub(crate) const STOCK: &str = "UPDATE erp_stock SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL, \
    answered = NULL, revision = CASE WHEN revision < 4611686018427387904 THEN revision + 1 ELSE 1 END, updated_at = $1 \
    WHERE store = $2 AND answered <> sku || '/' || location_id || '=' || CAST(quantity AS TEXT)";
pub(crate) const PRICES: &str = "UPDATE erp_prices SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL, \
    answered = NULL, revision = CASE WHEN revision < 4611686018427387904 THEN revision + 1 ELSE 1 END, updated_at = $1 \
    WHERE store = $2 AND answered <> sku || '/' || CAST(min_quantity AS TEXT) || '=' || \
    COALESCE(CAST(price AS TEXT), '') || '|' || COALESCE(CAST(discount_percent AS TEXT), '') || '|' || \
    COALESCE(CAST(package_weight AS TEXT), '') || '|' || COALESCE(CAST(package_height AS TEXT), '') || '|' || \
    COALESCE(CAST(package_width AS TEXT), '') || '|' || COALESCE(CAST(package_length AS TEXT), '')";

impl Intents<'_> {
    /// Opens the rows that ask for something else than they did when they were answered; returns their number.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer, or the ERP
    /// has one of the rows locked.
    pub async fn reopen_missed_changes(self, lease: &Lease) -> Result<u64, Error> {
        let mut opened = 0;
        for sql in [STOCK, PRICES] {
            let mut page = begin_answer(self.database, self.clock, lease).await?;
            let values = vec![page.at().into(), lease.store().as_str().into()];
            opened += page.tx.execute("open rows that changed unnoticed", sql, values).await?;
            page.commit().await?;
        }
        Ok(opened)
    }
}
