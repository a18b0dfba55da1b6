//! The timeline of an order, as the mirror stores it (API document, "Orders": the events route).

use chrono::{DateTime, Utc};

use crate::RawJson;

/// The `author_type` values of the document.
pub const AUTHOR_TYPES: [&str; 3] = ["seller", "system", "admin"];

/// One event of an order: a change of status, a note, a fiscal action.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct OrderEvent {
    /// The event's own id, otherwise a fingerprint of its text, so that the same event keeps the same key.
    pub id: String,
    pub event_type: Option<String>,
    pub description: Option<String>,
    pub old_status: Option<String>,
    pub new_status: Option<String>,
    pub author_type: Option<String>,
    pub author_name: Option<String>,
    /// `metadata` as received.
    pub metadata: Option<RawJson>,
    pub created_at: Option<DateTime<Utc>>,
    /// The event as received.
    pub raw: RawJson,
}
