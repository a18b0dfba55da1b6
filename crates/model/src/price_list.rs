//! Price lists, as the mirror stores them (API document, "Price list").

use crate::{PriceListId, RawJson};

/// The `mode` values of the document.
pub const MODES: [&str; 2] = ["manual", "auto"];

/// A named configuration record without product prices.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct PriceList {
    pub id: PriceListId,
    pub name: Option<String>,
    pub mode: Option<String>,
    pub position: Option<i64>,
    pub is_active: Option<bool>,
    /// The list as received.
    pub raw: RawJson,
}
