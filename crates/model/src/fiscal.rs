//! Fiscal documents of an order, as the mirror stores them (API document, "Orders": the fiscal route).

use chrono::{DateTime, Utc};

use crate::RawJson;

/// An NF-e or a content declaration.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct FiscalDocument {
    /// The document's own id, otherwise its number, otherwise its position in the answer (`#1`).
    pub id: String,
    pub document_type: Option<String>,
    pub status: Option<String>,
    pub invoice_number: Option<String>,
    pub access_key: Option<String>,
    pub pdf_url: Option<String>,
    pub issued_at: Option<DateTime<Utc>>,
    pub replaced_at: Option<DateTime<Utc>>,
    /// Whether it is the current document: it was not replaced. The order's own `invoices[]` does not show this.
    pub is_current: bool,
    /// The fiscal document as received.
    pub raw: RawJson,
}
