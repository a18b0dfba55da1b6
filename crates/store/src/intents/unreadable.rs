//! Rows that SQLite accepts and no program can read: invalid UTF-8, bytes in place of text, a quantity that is not a
//! whole number. One of them must not block the others.

use espelho_model::{text, text::Locale};

use crate::{
    Error, Lease,
    driver::{Database, Row},
    intents::Intents,
    mirror::page::begin_answer,
};

pub(crate) const STOCK: [&str; 2] = [
    "SELECT rowid, hex(sku) || ' ' || hex(location_id) || ' ' || hex(CAST(quantity AS TEXT)), \
     typeof(sku) || ' ' || typeof(location_id) || ' ' || typeof(quantity) FROM erp_stock \
     WHERE store = $1 AND state IN ('new', 'waiting', 'sending')",
    "UPDATE erp_stock SET state = 'failed', error_code = 'unreadable', error = $1, hint = $2, updated_at = $3 WHERE \
        rowid = $4",
];
pub(crate) const PRICES: [&str; 2] = [
    "SELECT rowid, hex(sku) || ' ' || hex(COALESCE(CAST(price AS TEXT), '')) || ' ' || \
     hex(COALESCE(CAST(discount_percent AS TEXT), '')), typeof(sku) || ' ' || typeof(price) || ' ' || \
     typeof(discount_percent) || CASE typeof(min_quantity) WHEN 'integer' THEN '' ELSE ' blob' END FROM erp_prices \
     WHERE store = $1 AND state IN ('new', 'waiting', 'sending')",
    "UPDATE erp_prices SET state = 'failed', error_code = 'unreadable', error = $1, hint = $2, updated_at = $3 WHERE \
        rowid = $4",
];
pub(crate) const COMMANDS: [&str; 2] = [
    "SELECT rowid, hex(kind) || ' ' || hex(key) || ' ' || hex(COALESCE(data, '')), \
     typeof(kind) || ' ' || typeof(key) || ' ' || typeof(data) FROM commands \
     WHERE store = $1 AND state IN ('new', 'waiting', 'sending')",
    "UPDATE commands SET state = 'failed', error_code = 'unreadable', error = $1, hint = $2, updated_at = $3 WHERE \
        rowid = $4",
];

impl Intents<'_> {
    /// Fails open unreadable rows with a message in `locale`; returns their number. PostgreSQL accepts no such rows.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer.
    pub async fn fail_unreadable(self, lease: &Lease, locale: Locale) -> Result<usize, Error> {
        if !matches!(self.database, Database::Sqlite { .. }) {
            return Ok(0);
        }
        let text = text!("push-unreadable");
        let (cause, step) = (text.message(locale), text.next(locale));
        let mut failed = 0;
        for [look, fail] in [STOCK, PRICES, COMMANDS] {
            let rows = self
                .database
                .fetch("look for unreadable rows", look, vec![lease.store().as_str().into()])
                .await?;
            for row in rows.iter().filter(|row| !is_readable(row)) {
                let mut page = begin_answer(self.database, self.clock, lease).await?;
                let values = vec![
                    cause.as_str().into(),
                    step.clone().into(),
                    self.clock.now().into(),
                    row.int(0)?.into(),
                ];
                page.tx.execute("fail an unreadable row", fail, values).await?;
                page.commit().await?;
                failed += 1;
            }
        }
        Ok(failed)
    }
}

fn is_readable(row: &Row) -> bool {
    let is_text = |hex: &str| {
        let bytes: Option<Vec<u8>> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect();
        bytes.is_some_and(|bytes| String::from_utf8(bytes).is_ok())
    };
    let [values, types] = [1, 2].map(|at| row.text(at).unwrap_or_default());
    values.split(' ').all(is_text) && types.split(' ').all(|kind| kind != "blob")
}
