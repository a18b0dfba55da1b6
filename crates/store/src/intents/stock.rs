//! `erp_stock`: desired stock levels.

use chrono::{DateTime, Utc};
use espelho_model::{LocationId, ProductId, Sku, StoreKey, push::PushState};
use rust_decimal::Decimal;

use super::Outcome;
use crate::{
    Error,
    driver::{Row, Value, exact},
    intents::{IntentWriter, Intents},
};

pub(crate) const STILL: &str = "SELECT 1 FROM erp_stock WHERE store = $1 AND sku = $2 AND location_id = $3 \
    AND CAST(quantity AS TEXT) = $4 AND revision = $5 AND state IN ('new', 'waiting', 'sending')";
pub(crate) const ANSWER: &str = "UPDATE erp_stock SET state = $1, error_code = $2, error = $3, hint = $4, said = $14, \
    basis = $5, answered = sku || '/' || location_id || '=' || CAST(quantity AS TEXT), \
    updated_at = $6, pushed_at = COALESCE($7, pushed_at) \
    WHERE store = $8 AND sku = $9 AND location_id = $10 AND CAST(quantity AS TEXT) = $11 AND revision = $12 AND state \
    = $13";

/// The levels of a SKU that were sent or answered.
pub(crate) const SENT_LEVELS: &str = "SELECT location_id, CAST(quantity AS TEXT) AS written FROM erp_stock \
    WHERE store = $1 AND sku = $2 AND state IN ('sending', 'done', 'failed') AND octet_length(location_id) <= 800 \
    AND octet_length(CAST(quantity AS TEXT)) <= 800";
/// Opens a level again, as new: the higher revision makes it another intent, which requests sent earlier do not answer.
pub(crate) const ASK_AGAIN: &str = "UPDATE erp_stock SET state = 'new', error_code = NULL, error = NULL, hint = NULL, \
    said = NULL, updated_at = $1, revision = CASE WHEN revision < 4611686018427387904 THEN revision + 1 ELSE 1 END \
    WHERE store = $2 AND sku = $3 AND location_id = $4 AND CAST(quantity AS TEXT) = $5 \
    AND state IN ('sending', 'done', 'failed')";

/// A level that was sent or answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentLevel {
    /// The location.
    pub location: LocationId,
    /// The quantity, as the ERP wrote it.
    pub written: String,
    /// The quantity as a number, if it is one.
    pub quantity: Option<Decimal>,
}

/// A row of `erp_stock`: a desired level, beside the mirrored one. Quantities are in the product's `base_unit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockIntent {
    /// The SKU.
    pub sku: Sku,
    /// The location.
    pub location: LocationId,
    /// `erp_stock.quantity`, as the ERP wrote it.
    pub written: String,
    /// The same as a number, if it is one: physical or available, by the store's `stock_basis`.
    pub quantity: Option<Decimal>,
    /// The state; `None` for an unknown word.
    pub state: Option<PushState>,
    /// When it was last written or answered.
    pub updated_at: Option<DateTime<Utc>>,
    /// The product, if the mirror has one with this SKU.
    pub product: Option<ProductId>,
    /// The mirrored product's `base_unit`, as `un` or `kg`.
    pub base_unit: Option<String>,
    /// The mirrored physical `quantity` at the location, if the mirror has the level.
    pub mirrored: Option<Decimal>,
    /// The mirrored `reserved_quantity`.
    pub reserved: Option<Decimal>,
    /// The mirrored `available_quantity`.
    pub available: Option<Decimal>,
    /// The `error_code` that its row already has.
    pub code: Option<String>,
    /// The revision: another number is another intent, even with the same value.
    pub revision: i64,
}

impl Intents<'_> {
    /// Tells if a desired level is unchanged since it was read, and still open (`new`, `waiting` or `sending`).
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_current(self, store: &StoreKey, intent: &StockIntent) -> Result<bool, Error> {
        let values = vec![
            store.as_str().into(),
            intent.sku.as_str().into(),
            intent.location.as_str().into(),
            intent.written.as_str().into(),
            intent.revision.into(),
        ];
        Ok(!self.database.fetch_erp("look whether a level is wanted", STILL, values).await?.is_empty())
    }
}

impl Intents<'_> {
    /// The levels of a SKU, in all locations, that were sent or answered.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sent_levels(self, store: &StoreKey, sku: &Sku) -> Result<Vec<SentLevel>, Error> {
        let values = vec![store.as_str().into(), sku.as_str().into()];
        let rows = self.database.fetch_erp("read the levels of a SKU", SENT_LEVELS, values).await?;
        let level = |row: &Row| {
            let written = row.foreign_text("written")?;
            let location = LocationId::new(row.foreign_text("location_id")?);
            Ok(SentLevel { location, quantity: exact(&written), written })
        };
        rows.iter().map(level).collect()
    }
}

impl IntentWriter<'_, '_> {
    /// Opens a sent or answered level again, as new, unless the ERP asks for another quantity by now. Returns whether
    /// the row was opened.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn ask_for_level_again(&mut self, sku: &Sku, level: &SentLevel) -> Result<bool, Error> {
        let values: Vec<Value> = vec![
            self.page.at().into(),
            self.page.store_key().as_str().to_owned().into(),
            sku.as_str().into(),
            level.location.as_str().into(),
            level.written.as_str().into(),
        ];
        Ok(self.page.tx.execute("open a level anew", ASK_AGAIN, values).await? > 0)
    }

    /// Answers a level, unless the ERP or a person has changed it since it was read; returns whether it was
    /// unchanged. `basis` is the word for `erp_stock.basis`: `physical` or `available`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn answer_stock(
        &mut self,
        intent: &StockIntent,
        outcome: &Outcome,
        basis: &'static str,
    ) -> Result<bool, Error> {
        let Outcome { state, code, error, hint, .. } = outcome.clone();
        let at = self.page.at();
        let values: Vec<Value> = vec![
            state.as_str().into(),
            code.into(),
            error.into(),
            hint.into(),
            basis.into(),
            at.into(),
            (state == PushState::Done).then_some(at).into(),
            self.page.store_key().as_str().to_owned().into(),
            intent.sku.as_str().into(),
            intent.location.as_str().into(),
            intent.written.as_str().into(),
            intent.revision.into(),
            intent.state.map_or("", PushState::as_str).into(),
            outcome.message_as_json().into(),
        ];
        Ok(self.page.tx.execute("answer wanted stock", ANSWER, values).await? > 0)
    }
}

pub(crate) fn intent(row: &Row) -> Result<StockIntent, Error> {
    let written = row.foreign_text("written")?;
    Ok(StockIntent {
        sku: Sku::new(row.foreign_text("sku")?),
        location: LocationId::new(row.foreign_text("location_id")?),
        quantity: exact(&written),
        written,
        state: row.foreign_text("state")?.parse().ok(),
        updated_at: row.optional_time("updated_at").ok().flatten(),
        product: row.optional_text("product_id")?.map(ProductId::new),
        base_unit: row.optional_text("base_unit")?,
        mirrored: row.optional_decimal("mirrored")?,
        reserved: row.optional_decimal("reserved")?,
        available: row.optional_decimal("available")?,
        code: row.optional_foreign_text("error_code")?,
        revision: row.int("revision")?,
    })
}
