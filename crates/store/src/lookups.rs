//! Look-ups beside a wish: what the mirror has, which names are known, and what became of the row that was written.

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, push::PushState};
use rust_decimal::Decimal;

use crate::{Error, IntentKind, Store, driver::Row};

pub(crate) const SKUS: &str =
    "SELECT DISTINCT sku FROM products WHERE store = $1 AND sku IS NOT NULL AND gone_at IS NULL ORDER BY sku";
pub(crate) const PLACES: &str = "SELECT location_id, COALESCE(name, '') FROM stock_locations \
    WHERE store = $1 AND gone_at IS NULL ORDER BY location_id";
pub(crate) const UNIT: &str =
    "SELECT base_unit FROM products WHERE store = $1 AND sku = $2 AND gone_at IS NULL ORDER BY id LIMIT 1";
pub(crate) const LEVEL: &str = "SELECT CAST(quantity AS TEXT) FROM product_stock \
    WHERE store = $1 AND sku = $2 AND location_id = $3 AND gone_at IS NULL";
pub(crate) const PRICE: &str = "SELECT CAST(t.value AS TEXT) FROM product_prices t \
    JOIN products p ON p.store = t.store AND p.id = t.product_id AND p.gone_at IS NULL \
    WHERE t.store = $1 AND p.sku = $2 AND t.min_quantity = $3 AND t.gone_at IS NULL ORDER BY p.id LIMIT 1";
pub(crate) const STOCK_ANSWER: &str = "SELECT state, error_code, error, hint, updated_at FROM erp_stock \
    WHERE store = $1 AND sku || '/' || location_id = $2";
pub(crate) const PRICE_ANSWER: &str = "SELECT state, error_code, error, hint, updated_at FROM erp_prices \
    WHERE store = $1 AND sku || '/' || min_quantity = $2";
pub(crate) const COMMAND_ANSWER: &str = "SELECT state, error_code, error, hint, updated_at FROM commands WHERE store = $1 AND CAST(id AS TEXT) = $2";
/// Rows that wait for something that is named, with what each is about.
pub(crate) const WAITING: &str = "SELECT store, 'stock', sku || '/' || location_id, COALESCE(error_code, ''), \
    COALESCE(error, ''), updated_at, '', sku FROM erp_stock WHERE state = 'waiting' AND ($1 = '' OR store = $1) \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, COALESCE(error_code, ''), COALESCE(error, ''), updated_at, '', sku \
    FROM erp_prices WHERE state = 'waiting' AND ($1 = '' OR store = $1) \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), COALESCE(error_code, ''), COALESCE(error, ''), created_at, kind, key \
    FROM commands WHERE state = 'waiting' AND ($1 = '' OR store = $1) ORDER BY 1, 2, 3";
/// Rows that somebody has decided to ignore, which may be brought back.
pub(crate) const IGNORED: &str = "SELECT store, 'stock', sku || '/' || location_id FROM erp_stock WHERE state = 'ignored' \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity FROM erp_prices WHERE state = 'ignored' \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT) FROM commands WHERE state = 'ignored' ORDER BY 1, 2, 3";

/// What became of a row that the ERP has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Where it is; `None` for a word that nobody knows.
    pub state: Option<PushState>,
    /// The cause's code.
    pub code: Option<String>,
    /// The cause.
    pub error: Option<String>,
    /// The next step.
    pub hint: Option<String>,
    /// When it was written, or last answered.
    pub updated_at: Option<DateTime<Utc>>,
}

/// A row that waits for something that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRow {
    /// Whose.
    pub store: String,
    /// `stock`, `price` or `command`.
    pub entity: String,
    /// Which row.
    pub key: String,
    /// The reason's code.
    pub code: String,
    /// The reason, in words.
    pub reason: String,
    /// Since when, where the row tells.
    pub since: Option<DateTime<Utc>>,
    /// The command's kind; empty for levels and prices.
    pub kind: String,
    /// The order, the SKU or whatever else it is about.
    pub subject: String,
}

impl Store {
    /// The SKUs of a store's products.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn skus(&self, store: &StoreKey) -> Result<Vec<String>, Error> {
        let rows = self.database.fetch("read SKUs", SKUS, vec![store.as_str().into()]).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// The stock locations of a store: id and name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn stock_locations(&self, store: &StoreKey) -> Result<Vec<(String, String)>, Error> {
        let rows = self.database.fetch("read locations", PLACES, vec![store.as_str().into()]).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
    }

    /// The unit that a SKU is sold in.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn base_unit(&self, store: &StoreKey, sku: &str) -> Result<Option<String>, Error> {
        let rows = self.database.fetch("read a unit", UNIT, vec![store.as_str().into(), sku.into()]).await?;
        Ok(rows.first().map(|row| row.optional_text(0)).transpose()?.flatten())
    }

    /// The physical quantity that the mirror has of a SKU at a location.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mirrored_level(
        &self,
        store: &StoreKey,
        sku: &str,
        location: &str,
    ) -> Result<Option<Decimal>, Error> {
        let values = vec![store.as_str().into(), sku.into(), location.into()];
        decimal(&self.database.fetch("read a level", LEVEL, values).await?)
    }

    /// The unit price that the mirror has of a SKU from a quantity on.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mirrored_price(
        &self,
        store: &StoreKey,
        sku: &str,
        min_quantity: i64,
    ) -> Result<Option<Decimal>, Error> {
        let values = vec![store.as_str().into(), sku.into(), min_quantity.into()];
        decimal(&self.database.fetch("read a price", PRICE, values).await?)
    }

    /// What became of a row that the ERP has written; `None` where there is no such row.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn answer_of(
        &self,
        store: &StoreKey,
        intent: IntentKind,
        key: &str,
    ) -> Result<Option<Answer>, Error> {
        let sql = match intent {
            IntentKind::Stock => STOCK_ANSWER,
            IntentKind::Price => PRICE_ANSWER,
            IntentKind::Command => COMMAND_ANSWER,
        };
        let rows =
            self.database.fetch("read an answer", sql, vec![store.as_str().into(), key.into()]).await?;
        let read = |row: &Row| {
            Ok(Answer {
                state: PushState::parse(&row.text(0)?),
                code: row.optional_text(1)?,
                error: row.optional_text(2)?,
                hint: row.optional_text(3)?,
                updated_at: row.optional_time(4).ok().flatten(),
            })
        };
        rows.first().map(read).transpose()
    }

    /// All rows that wait, of one store or of all.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn waiting_rows(&self, store: Option<&StoreKey>) -> Result<Vec<WaitingRow>, Error> {
        let values = vec![store.map_or("", StoreKey::as_str).into()];
        let rows = self.database.fetch("read what waits", WAITING, values).await?;
        let read = |row: &Row| {
            Ok(WaitingRow {
                store: row.text(0)?,
                entity: row.text(1)?,
                key: row.foreign_text(2)?,
                code: row.text(3)?,
                reason: row.text(4)?,
                since: row.optional_time(5).ok().flatten(),
                kind: row.foreign_text(6)?,
                subject: row.foreign_text(7)?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// All rows that somebody has decided to ignore: store, table and key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn ignored_rows(&self) -> Result<Vec<(String, IntentKind, String)>, Error> {
        let rows = self.database.fetch("read what is ignored", IGNORED, Vec::new()).await?;
        let mut ignored = Vec::new();
        for row in &rows {
            let word = row.text(1)?;
            if let Some(intent) = IntentKind::ALL.into_iter().find(|intent| intent.as_str() == word) {
                ignored.push((row.text(0)?, intent, row.foreign_text(2)?));
            }
        }
        Ok(ignored)
    }
}

fn decimal(rows: &[Row]) -> Result<Option<Decimal>, Error> {
    let text = rows.first().map(|row| row.optional_text(0)).transpose()?.flatten();
    Ok(text.and_then(|text| text.parse().ok()))
}
