//! `erp_prices`: desired price tiers.

use chrono::{DateTime, Utc};
use espelho_model::{ProductId, Sku, StoreKey, push::PushState};
use rust_decimal::Decimal;

use super::Outcome;
use crate::{
    Error, Lease,
    driver::{Row, Value, exact},
    intents::{IntentWriter, Intents},
    mirror::page::begin_answer,
};

pub(crate) const OF_SKU: &str = "SELECT CAST(min_quantity AS TEXT) AS minimum, CAST(price AS TEXT) AS price, \
    CAST(discount_percent AS TEXT) AS discount, CAST(package_weight AS TEXT) AS weight, \
    CAST(package_height AS TEXT) AS height, CAST(package_width AS TEXT) AS width, \
    CAST(package_length AS TEXT) AS length, \
    state, updated_at, error_code FROM erp_prices WHERE store = $1 AND sku = $2 ORDER BY min_quantity";
pub(crate) const ANSWER: &str = "UPDATE erp_prices SET state = $1, error_code = $2, error = $3, hint = $4, said = \
    $14, updated_at = $5, \
    pushed_at = COALESCE($6, pushed_at), \
    answered = sku || '/' || CAST(min_quantity AS TEXT) || '=' || COALESCE(CAST(price AS TEXT), '') || '|' || \
    COALESCE(CAST(discount_percent AS TEXT), '') || '|' || COALESCE(CAST(package_weight AS TEXT), '') || '|' || \
    COALESCE(CAST(package_height AS TEXT), '') || '|' || COALESCE(CAST(package_width AS TEXT), '') || '|' || \
    COALESCE(CAST(package_length AS TEXT), '') WHERE store = $7 AND sku = $8 AND min_quantity = $9 \
    AND COALESCE(CAST(price AS TEXT), '') = $10 AND COALESCE(CAST(discount_percent AS TEXT), '') = $11 \
    AND COALESCE(CAST(package_weight AS TEXT), '') || '|' || COALESCE(CAST(package_height AS TEXT), '') || '|' || \
    COALESCE(CAST(package_width AS TEXT), '') || '|' || COALESCE(CAST(package_length AS TEXT), '') = $12 \
    AND state = $13";
pub(crate) const SUPERSEDE: &str = "UPDATE erp_prices SET state = 'superseded', error_code = NULL, error = NULL, hint \
    = NULL, \
    said = NULL, updated_at = $1 WHERE store = $2 AND sku = $3 AND min_quantity = $4 AND state <> 'new'";

/// Stands in a release before the price that was shown.
pub(crate) const SHOWN: &str = " = ";

/// A product with open desired prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceIntent {
    /// The SKU.
    pub sku: Sku,
    /// The product, if the mirror has one with this SKU.
    pub product: Option<ProductId>,
    /// The revision: another number once an open row was written again.
    pub revision: i64,
}

/// A desired tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierIntent {
    /// The smallest quantity of the tier.
    pub min_quantity: i64,
    /// The unit price as the ERP wrote it.
    pub price: Option<String>,
    /// The discount in per cent, as the ERP wrote it.
    pub discount_percent: Option<String>,
    /// The package's weight in kg, then height, width and length in cm.
    pub package: [Option<Decimal>; 4],
    /// The same, as the ERP wrote it.
    pub package_written: String,
    /// The state; `None` for an unknown word.
    pub state: Option<PushState>,
    /// When it was last written or answered.
    pub updated_at: Option<DateTime<Utc>>,
    /// The answer that its row already has.
    pub code: Option<String>,
}

impl TierIntent {
    /// The desired value as text, which a release compares: price, discount, or both. The statement that
    /// reads the value for a release builds the same text.
    pub fn value(&self) -> String {
        match (&self.price, &self.discount_percent) {
            (Some(price), Some(percent)) => format!("{price} -{percent} %"),
            (Some(price), None) => price.clone(),
            (None, Some(percent)) => format!("-{percent} %"),
            (None, None) => String::new(),
        }
    }

    /// Splits a release into the value of its row, and the price that was shown to the person who released it.
    pub fn parts_of_release(release: &str) -> (&str, Option<Decimal>) {
        match release.rsplit_once(SHOWN) {
            Some((value, price)) => (value, exact(price)),
            None => (release, None),
        }
    }

    /// The unit price; `None` if there is none, or it is not a number.
    pub fn price(&self) -> Option<Decimal> {
        self.price.as_deref().and_then(exact)
    }

    /// The discount; `None` if there is none, or it is not a number.
    pub fn discount(&self) -> Option<Decimal> {
        self.discount_percent.as_deref().and_then(exact)
    }

    /// Returns the first of its values that cannot be read as a number: its field, and what the ERP wrote.
    pub fn garbled(&self) -> Option<(&'static str, &str)> {
        let written = [("price", &self.price), ("discount_percent", &self.discount_percent)];
        let mut written = written.into_iter().filter_map(|(field, text)| Some((field, text.as_deref()?)));
        written.find(|(_, text)| exact(text).is_none())
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        matches!(self.state, Some(PushState::New | PushState::Waiting | PushState::Sending))
    }
}

impl Intents<'_> {
    /// Closes the row of a tier that a command has removed. The ERP may write it again.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer.
    pub async fn supersede_tier(self, lease: &Lease, sku: &str, min_quantity: i64) -> Result<(), Error> {
        let mut page = begin_answer(self.database, self.clock, lease).await?;
        let values =
            vec![self.clock.now().into(), lease.store().as_str().into(), sku.into(), min_quantity.into()];
        page.tx.execute("supersede a tier", SUPERSEDE, values).await?;
        page.commit().await
    }

    /// All tiers that the ERP has written for a SKU, open or not.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn tier_intents(self, store: &StoreKey, sku: &Sku) -> Result<Vec<TierIntent>, Error> {
        let values = vec![store.as_str().into(), sku.as_str().into()];
        let rows = self.database.fetch_erp("read wanted tiers", OF_SKU, values).await?;
        // SQLite stores any type: a quantity that is not a whole number is no tier (`fail_unreadable` answers its
        // row).
        let is_tier = |row: &&Row| row.text("minimum").is_ok_and(|text| text.parse::<i64>().is_ok());
        rows.iter().filter(is_tier).map(tier).collect()
    }
}

impl IntentWriter<'_, '_> {
    /// Answers a tier, unless the ERP has changed the price since; returns whether it was unchanged.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn answer_price(
        &mut self,
        sku: &Sku,
        tier: &TierIntent,
        outcome: &Outcome,
    ) -> Result<bool, Error> {
        let Outcome { state, code, error, hint, .. } = outcome.clone();
        let at = self.page.at();
        let values: Vec<Value> = vec![
            state.as_str().into(),
            code.into(),
            error.into(),
            hint.into(),
            at.into(),
            (state == PushState::Done).then_some(at).into(),
            self.page.store_key().as_str().to_owned().into(),
            sku.as_str().into(),
            tier.min_quantity.into(),
            tier.price.clone().unwrap_or_default().into(),
            tier.discount_percent.clone().unwrap_or_default().into(),
            tier.package_written.as_str().into(),
            tier.state.map_or("", PushState::as_str).into(),
            outcome.message_as_json().into(),
        ];
        Ok(self.page.tx.execute("answer wanted prices", ANSWER, values).await? > 0)
    }
}

fn tier(row: &Row) -> Result<TierIntent, Error> {
    Ok(TierIntent {
        min_quantity: row.text("minimum")?.parse().unwrap_or_default(),
        price: row.optional_foreign_text("price")?,
        discount_percent: row.optional_foreign_text("discount")?,
        package: [
            row.optional_decimal("weight")?,
            row.optional_decimal("height")?,
            row.optional_decimal("width")?,
            row.optional_decimal("length")?,
        ],
        package_written: ["weight", "height", "width", "length"]
            .map(|name| row.optional_text(name).ok().flatten().unwrap_or_default())
            .join("|"),
        state: row.foreign_text("state")?.parse().ok(),
        // An ERP may write an unreadable time.
        updated_at: row.optional_time("updated_at").ok().flatten(),
        code: row.optional_foreign_text("error_code")?,
    })
}
