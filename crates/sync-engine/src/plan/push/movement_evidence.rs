//! The evidence that the journal keeps with a movement of stock (effect `stock.adjust`).

use chrono::{DateTime, Utc};
use espelho_store::Effect;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{dispatches::ReadingWindow, evidence::Evidence};

/// The delta of a movement and the reading before it, as the journal keeps them. Times are RFC 3339.
/// Two fields keep the names that earlier versions wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields bear the API document's names")]
pub struct MovementEvidence {
    pub product: String,
    pub sku: String,
    pub location: String,
    pub delta: Decimal,
    /// The quantity at the location before it.
    pub before: Decimal,
    /// The end of the journal before that reading; absent in the oldest rows.
    #[serde(rename = "mark")]
    pub journal_end: Option<i64>,
    /// When the reading began.
    pub from: Option<DateTime<Utc>>,
    /// When the reading ended.
    pub until: Option<DateTime<Utc>>,
    /// The quantity in all locations before it; absent where one of them was unknown.
    pub total: Option<Decimal>,
    /// The number of locations that have the SKU.
    #[serde(rename = "places")]
    pub locations: Option<u64>,
    /// The number of the last delivery before that reading; absent in older rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_delivery: Option<i64>,
}

impl Evidence for MovementEvidence {
    const KIND: &'static str = "stock.adjust";
    const IS_REPEATABLE: bool = false;
    const EARLIER_ROW: &'static str = r#"{"product":"P","sku":"A","location":"1","delta":"-2","before":"9","mark":4,
        "from":"2026-11-20T12:00:00+00:00","until":"2026-11-20T12:00:01+00:00","total":"9","places":1}"#;
}

impl MovementEvidence {
    /// Returns the place of the movement's reading among other effects.
    pub fn window(&self, effect: &Effect) -> ReadingWindow {
        ReadingWindow {
            effect: effect.id,
            journal_end: self.journal_end.unwrap_or_default(),
            from: self.from.unwrap_or(effect.planned_at),
            until: self.until.unwrap_or(effect.planned_at),
        }
    }
}
