//! `erp_stock`: levels that the ERP wants.

use chrono::{DateTime, Utc};
use espelho_model::{LocationId, ProductId, Sku, StoreKey, push::PushState};
use rust_decimal::Decimal;

use super::Outcome;
use crate::{
    Error, PageTx, Store,
    driver::{Row, Value, exact},
};

pub(crate) const OPEN: &str = "SELECT e.sku, e.location_id, CAST(e.quantity AS TEXT), e.state, e.updated_at, p.id, \
    p.base_unit, CAST(s.quantity AS TEXT), CAST(s.reserved_quantity AS TEXT), CAST(s.available_quantity AS TEXT), \
    e.error_code, e.revision \
    FROM erp_stock e \
    LEFT JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL \
    LEFT JOIN product_stock s ON s.store = e.store AND s.sku = e.sku AND s.location_id = e.location_id AND s.gone_at IS NULL \
    WHERE e.store = $1 AND e.state IN ('new', 'waiting', 'sending') ORDER BY e.sku, e.location_id";
pub(crate) const STILL: &str = "SELECT 1 FROM erp_stock WHERE store = $1 AND sku = $2 AND location_id = $3 \
    AND CAST(quantity AS TEXT) = $4 AND revision = $5 AND state IN ('new', 'waiting', 'sending')";
pub(crate) const ANSWER: &str = "UPDATE erp_stock SET state = $1, error_code = $2, error = $3, hint = $4, said = $14, basis = $5, \
    updated_at = $6, pushed_at = COALESCE($7, pushed_at) \
    WHERE store = $8 AND sku = $9 AND location_id = $10 AND CAST(quantity AS TEXT) = $11 AND revision = $12 AND state = $13";

/// A level that is wanted, beside what the mirror has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockIntent {
    /// Whose stock.
    pub sku: Sku,
    /// Where.
    pub location: LocationId,
    /// How much, as the ERP wrote it.
    pub written: String,
    /// The same as a number, if it is one.
    pub quantity: Option<Decimal>,
    /// Where it is; `None` for a word that nobody knows.
    pub state: Option<PushState>,
    /// When it was written, or last answered.
    pub updated_at: Option<DateTime<Utc>>,
    /// The product, where the mirror has one with this SKU.
    pub product: Option<ProductId>,
    /// The unit that it is sold in.
    pub base_unit: Option<String>,
    /// What the mirror has as the physical quantity at the location.
    pub mirrored: Option<Decimal>,
    /// What the platform has reserved of it.
    pub reserved: Option<Decimal>,
    /// What the platform says is available.
    pub available: Option<Decimal>,
    /// What its row says already.
    pub code: Option<String>,
    /// Which wish it is: another number, another wish, also where it asks for the same.
    pub revision: i64,
}

impl Store {
    /// All levels that are wanted and not dealt with, by SKU and location.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn open_stock(&self, store: &StoreKey) -> Result<Vec<StockIntent>, Error> {
        let rows = self.database.fetch("read wanted stock", OPEN, vec![store.as_str().into()]).await?;
        rows.iter().map(intent).collect()
    }

    /// Whether a level is still wanted as it was read.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_current(&self, store: &StoreKey, intent: &StockIntent) -> Result<bool, Error> {
        let values = vec![
            store.as_str().into(),
            intent.sku.as_str().into(),
            intent.location.as_str().into(),
            intent.written.as_str().into(),
            intent.revision.into(),
        ];
        Ok(!self.database.fetch("look whether a level is wanted", STILL, values).await?.is_empty())
    }
}

impl PageTx<'_> {
    /// Answers a level that is wanted, unless the ERP has written it anew or somebody has decided on it since it was read; whether
    /// it was still the same.
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
        let at = self.at();
        let values: Vec<Value> = vec![
            state.as_str().into(),
            code.into(),
            error.into(),
            hint.into(),
            basis.into(),
            at.into(),
            (state == PushState::Done).then_some(at).into(),
            self.store_key().as_str().to_owned().into(),
            intent.sku.as_str().into(),
            intent.location.as_str().into(),
            intent.written.as_str().into(),
            intent.revision.into(),
            intent.state.map_or("", PushState::as_str).into(),
            outcome.message_as_json().into(),
        ];
        Ok(self.tx.execute("answer wanted stock", ANSWER, values).await? > 0)
    }
}

fn intent(row: &Row) -> Result<StockIntent, Error> {
    let written = row.foreign_text(2)?;
    Ok(StockIntent {
        sku: Sku::new(row.foreign_text(0)?),
        location: LocationId::new(row.foreign_text(1)?),
        quantity: exact(&written),
        written,
        state: PushState::parse(&row.text(3)?),
        updated_at: row.optional_time(4).ok().flatten(),
        product: row.optional_text(5)?.map(ProductId::new),
        base_unit: row.optional_text(6)?,
        mirrored: row.optional_decimal(7)?,
        reserved: row.optional_decimal(8)?,
        available: row.optional_decimal(9)?,
        code: row.optional_text(10)?,
        revision: row.int(11)?,
    })
}
