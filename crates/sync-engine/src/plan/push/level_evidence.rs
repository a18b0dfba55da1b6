//! The evidence that the journal keeps with a level of stock (effect `stock.set`).

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::evidence::Evidence;

/// A level that is set, as the journal keeps it. Four fields keep the names that earlier versions wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelEvidence {
    /// The id of the product that the request goes to.
    pub product: String,
    /// The `location_id`.
    pub location: String,
    /// The SKU of the row in `erp_stock`.
    pub sku: String,
    /// The physical quantity that is set, in units of the product's `base_unit`.
    pub target: Decimal,
    /// The revision of the row in `erp_stock`; `None` in older rows.
    #[serde(rename = "wish")]
    pub revision: Option<i64>,
    /// `erp_stock.quantity`, where that is not the target.
    #[serde(rename = "wanted", default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Decimal>,
    /// The open commands that dispatch goods which the level no longer counts: see `stock_level::ahead_of`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead_of: Vec<i64>,
    /// The end of the journal before the level was read: no effect up to this number was dispatching the SKU then. `None`
    /// where the level was not read.
    #[serde(rename = "mark", default, skip_serializing_if = "Option::is_none")]
    pub journal_end: Option<i64>,
    /// The physical quantity before it, as far as it was known; absent in older rows.
    #[serde(rename = "there", default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Decimal>,
}

impl LevelEvidence {
    /// Says if it was set ahead of a dispatch, for a row that asked for this quantity.
    pub(super) fn is_ahead_with(&self, desired: Option<Decimal>) -> bool {
        !self.ahead_of.is_empty() && desired == Some(self.desired.unwrap_or(self.target))
    }
}

impl Evidence for LevelEvidence {
    const KIND: &'static str = "stock.set";
    const IS_REPEATABLE: bool = true;
    const EARLIER_ROW: &'static str = r#"{"product":"P","location":"1","sku":"A","target":"7","wish":3}"#;
}
