//! The answers on the ERP's rows: of one row, of all waiting rows.

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, push::PushState, text::Locale, time::serialize_fixed_width};
use serde::Serialize;

use super::kind::IntentKind;
use crate::{
    Error,
    driver::{Database, Row},
    intents::Intents,
    words::{all_words, words},
};

pub(crate) const STOCK_ANSWER: &str = "SELECT state, error_code, error, hint, updated_at, CAST(said AS TEXT) AS said FROM erp_stock \
    WHERE store = $1 AND sku || '/' || location_id = $2";
pub(crate) const PRICE_ANSWER: &str = "SELECT state, error_code, error, hint, updated_at, CAST(said AS TEXT) AS said FROM erp_prices \
    WHERE store = $1 AND sku || '/' || min_quantity = $2";
pub(crate) const COMMAND_ANSWER: &str = "SELECT state, error_code, error, hint, updated_at, CAST(said AS TEXT) AS said FROM commands WHERE store \
    = $1 AND CAST(id AS TEXT) = $2";
/// Waiting rows of all tables, each with its subject.
pub(crate) const WAITING: &str = "SELECT store, 'stock' AS entity, sku || '/' || location_id AS key, COALESCE(error_code, '') AS code, \
    COALESCE(error, '') AS error, updated_at, '' AS kind, \
    sku, hint, CAST(said AS TEXT) AS said FROM erp_stock WHERE state = 'waiting' AND ($1 = '' OR store = $1) \
    UNION ALL SELECT store, 'price', sku || '/' || min_quantity, COALESCE(error_code, ''), COALESCE(error, ''), \
    updated_at, '', sku, hint, CAST(said AS TEXT) \
    FROM erp_prices WHERE state = 'waiting' AND ($1 = '' OR store = $1) \
    UNION ALL SELECT store, 'command', CAST(id AS TEXT), COALESCE(error_code, ''), COALESCE(error, ''), created_at, \
    kind, key, hint, CAST(said AS TEXT) \
    FROM commands WHERE state = 'waiting' AND ($1 = '' OR store = $1) ORDER BY 1, 2, 3";
/// The answer on a row of the ERP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The state; `None` for an unknown word.
    pub state: Option<PushState>,
    /// The cause's code.
    pub code: Option<String>,
    /// The cause.
    pub error: Option<String>,
    /// The next step.
    pub hint: Option<String>,
    /// When the row was last written or answered.
    pub updated_at: Option<DateTime<Utc>>,
}

/// A row that waits for something that its reason names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitingRow {
    /// The store.
    pub store: String,
    /// `stock`, `price` or `command`.
    pub entity: String,
    /// The row's key.
    pub key: String,
    /// The reason's code.
    pub code: String,
    /// The reason, in words.
    pub reason: String,
    /// When the wait began, if the row has a readable time.
    #[serde(serialize_with = "serialize_fixed_width")]
    pub since: Option<DateTime<Utc>>,
    /// The command's kind; empty for levels and prices.
    pub kind: String,
    /// The subject: the order, the SKU or another key.
    pub subject: String,
}

impl Intents<'_> {
    /// The answer on a row of the ERP; `None` if there is no such row.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn answer_of(
        self,
        store: &str,
        intent: IntentKind,
        key: &str,
    ) -> Result<Option<Answer>, Error> {
        read(self.database, self.reader, store, intent, key).await
    }

    /// All waiting rows, of one store or of all.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn waiting_rows(self, store: Option<&StoreKey>) -> Result<Vec<WaitingRow>, Error> {
        let values = vec![store.map_or("", StoreKey::as_str).into()];
        let rows = self.database.fetch_erp("read what waits", WAITING, values).await?;
        let read = |row: &Row| {
            let [reason, _] = all_words(row, self.reader)?;
            Ok(WaitingRow {
                store: row.foreign_text("store")?,
                entity: row.text("entity")?,
                key: row.foreign_text("key")?,
                code: row.foreign_text("code")?,
                reason,
                since: row.optional_time("updated_at").ok().flatten(),
                kind: row.foreign_text("kind")?,
                subject: row.foreign_text("sku")?,
            })
        };
        rows.iter().map(read).collect()
    }
}

/// Reads the answer on a row of the ERP.
async fn read(
    database: &Database,
    reader: Option<Locale>,
    store: &str,
    intent: IntentKind,
    key: &str,
) -> Result<Option<Answer>, Error> {
    let row = answered(database, store, intent, key).await?;
    let read = |row: Row| {
        let [error, hint] = words(&row, reader)?;
        Ok(Answer {
            state: row.foreign_text("state")?.parse().ok(),
            code: row.optional_foreign_text("error_code")?,
            error,
            hint,
            updated_at: row.optional_time("updated_at").ok().flatten(),
        })
    };
    row.map(read).transpose()
}

/// Reads a row of the ERP with its answer.
pub(super) async fn answered(
    database: &Database,
    store: &str,
    intent: IntentKind,
    key: &str,
) -> Result<Option<Row>, Error> {
    let sql = match intent {
        IntentKind::Stock => STOCK_ANSWER,
        IntentKind::Price => PRICE_ANSWER,
        IntentKind::Command => COMMAND_ANSWER,
    };
    let rows = database.fetch_erp("read an answer", sql, vec![store.into(), key.into()]).await?;
    Ok(rows.into_iter().next())
}
