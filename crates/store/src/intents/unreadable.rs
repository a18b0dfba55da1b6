//! Rows that a database accepts and no program can use: keys far longer than any; on SQLite invalid UTF-8, bytes in
//! place of text, a quantity that is not a whole number. One of them must not block the others.

use espelho_model::{text, text::Locale};

use crate::{
    Error, Lease,
    driver::{Database, Row},
    intents::Intents,
    mirror::page::begin_answer,
};

/// Rows that are looked at together.
const PAGE_ROWS: i64 = 500;

/// A row that is written anew is `new`, and the index on that state is in the order of the rows.
pub(crate) const STOCK: [&str; 2] = [
    "SELECT rowid AS number, CAST(substr(sku, 1, 800) || ' ' || substr(location_id, 1, 800) || ' ' || \
     substr(quantity, 1, 800) AS BLOB) AS bytes, \
     typeof(sku) || ' ' || typeof(location_id) || ' ' || typeof(quantity) || \
     CASE typeof(revision) WHEN 'integer' THEN '' ELSE ' blob' END AS types FROM erp_stock \
     WHERE store = $1 AND rowid > $2 AND state = 'new' ORDER BY rowid LIMIT $3",
    "UPDATE erp_stock SET state = 'failed', error_code = 'unreadable', error = $1, hint = $2, updated_at = $3 WHERE \
        rowid = $4",
];
pub(crate) const PRICES: [&str; 2] = [
    "SELECT rowid AS number, CAST(substr(sku, 1, 800) || ' ' || COALESCE(substr(price, 1, 800), '') || ' ' || \
     COALESCE(substr(discount_percent, 1, 800), '') AS BLOB) AS bytes, \
     typeof(sku) || ' ' || typeof(price) || ' ' || typeof(discount_percent) || \
     CASE WHEN typeof(min_quantity) = 'integer' AND typeof(revision) = 'integer' THEN '' ELSE ' blob' END AS types \
     FROM erp_prices \
     WHERE store = $1 AND rowid > $2 AND state = 'new' ORDER BY rowid LIMIT $3",
    "UPDATE erp_prices SET state = 'failed', error_code = 'unreadable', error = $1, hint = $2, updated_at = $3 WHERE \
        rowid = $4",
];
/// Long data is looked at when its turn comes.
pub(crate) const COMMANDS: [&str; 2] = [
    "SELECT rowid AS number, CAST(substr(kind, 1, 200) || ' ' || substr(key, 1, 1000) || ' ' || \
     CASE WHEN octet_length(data) <= 2048 THEN data ELSE '' END AS BLOB) AS bytes, \
     typeof(kind) || ' ' || typeof(key) || ' ' || typeof(data) AS types FROM commands \
     WHERE store = $1 AND rowid > $2 AND state = 'new' ORDER BY rowid LIMIT $3",
    "UPDATE commands SET state = 'failed', error_code = 'unreadable', error = $1, hint = $2, updated_at = $3 WHERE \
        rowid = $4",
];

/// Fails open rows whose key or quantity is far longer than any of the marketplace: they are not read into memory. More
/// than 800 bytes are more than 200 letters, and an index has the rows with those.
pub(crate) const TOO_LONG: [&str; 2] = [
    "UPDATE erp_stock SET state = 'failed', error_code = 'too_large', error = $1, hint = $2, said = $3, \
     updated_at = $4 WHERE store = $5 AND state IN ('new', 'waiting', 'sending') AND (length(sku) > 200 \
     OR length(location_id) > 200 OR length(CAST(quantity AS TEXT)) > 200) AND (octet_length(sku) > 800 \
     OR octet_length(location_id) > 800 OR octet_length(CAST(quantity AS TEXT)) > 800)",
    "UPDATE erp_prices SET state = 'failed', error_code = 'too_large', error = $1, hint = $2, said = $3, \
     updated_at = $4 WHERE store = $5 AND state IN ('new', 'waiting', 'sending') AND length(sku) > 200 \
     AND octet_length(sku) > 800",
];

/// The progress of the search for unreadable rows.
#[derive(Clone, Debug)]
pub struct UnreadableWalk {
    /// The last row of each table.
    after: [i64; 3],
}

impl Default for UnreadableWalk {
    fn default() -> Self {
        Self { after: [i64::MIN; 3] }
    }
}

impl Intents<'_> {
    /// Fails open rows with a key that is far too long, with a message in `locale`; returns their number.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer, or the ERP
    /// has one of the rows locked.
    pub async fn fail_too_long(self, lease: &Lease, locale: Locale) -> Result<u64, Error> {
        let text = text!("push-key-too-long");
        let mut failed = 0;
        for sql in TOO_LONG {
            let values = vec![
                text.message(locale).into(),
                text.next(locale).into(),
                serde_json::to_string(&text).ok().into(),
                self.clock.now().into(),
                lease.store().as_str().into(),
            ];
            let mut page = begin_answer(self.database, self.clock, lease).await?;
            failed += page.tx.execute("fail rows with long keys", sql, values).await?;
            page.commit().await?;
        }
        Ok(failed)
    }

    /// Fails open unreadable rows with a message in `locale`; returns their number. Of each table it looks at `pages`
    /// pages from where the walk before ended, and begins anew behind the last row. PostgreSQL accepts no such rows.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer.
    pub async fn fail_unreadable(
        self,
        lease: &Lease,
        locale: Locale,
        walk: &mut UnreadableWalk,
        pages: usize,
    ) -> Result<usize, Error> {
        if !matches!(self.database, Database::Sqlite { .. }) {
            return Ok(0);
        }
        let text = text!("push-unreadable");
        let (cause, step) = (text.message(locale), text.next(locale));
        let mut failed = 0;
        for ([look, fail], after) in [STOCK, PRICES, COMMANDS].into_iter().zip(&mut walk.after) {
            for _ in 0..pages {
                let values = vec![lease.store().as_str().into(), (*after).into(), PAGE_ROWS.into()];
                let rows = self.database.fetch_erp("look for unreadable rows", look, values).await?;
                let Some(last) = rows.last() else {
                    *after = i64::MIN;
                    break;
                };
                *after = last.int("number")?;
                for row in rows.iter().filter(|row| !is_readable(row)) {
                    let mut page = begin_answer(self.database, self.clock, lease).await?;
                    let values = vec![
                        cause.as_str().into(),
                        step.clone().into(),
                        self.clock.now().into(),
                        row.int("number")?.into(),
                    ];
                    page.tx.execute("fail an unreadable row", fail, values).await?;
                    page.commit().await?;
                    failed += 1;
                }
            }
        }
        Ok(failed)
    }
}

fn is_readable(row: &Row) -> bool {
    let is_text = row.bytes("bytes").is_ok_and(|bytes| String::from_utf8(bytes).is_ok());
    let types = row.text("types").unwrap_or_default();
    is_text && types.split(' ').all(|kind| kind != "blob")
}
