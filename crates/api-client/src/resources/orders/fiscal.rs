//! The fiscal documents of an order (API document, "Orders").
//!
//! The order's own `invoices[]` cannot show which document is current; this route can, by `replaced_at`.

use chrono::FixedOffset;
use espelho_model::{
    OrderNumber, RawJson,
    fiscal::{FiscalDocument, is_issued},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ApiRequest, Error,
    resources::{Read, handles::OrdersApi},
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader},
        within::{Keys, rows},
    },
};

/// Builds the request for an order's fiscal documents.
pub fn request(number: &OrderNumber) -> ApiRequest {
    ApiRequest::get("/api/v1/sellers/orders/{id}/fiscal", &[number.as_str()])
}

impl OrdersApi<'_> {
    /// Reads the fiscal documents of an order. For a document that was replaced, or is not issued,
    /// [`FiscalDocument::is_current`] is false.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn fiscal(self, number: &OrderNumber) -> Result<Read<Vec<FiscalDocument>>, Error> {
        self.requests
            .read_object(&request(number), |payload| parse(payload, self.requests.naive_offset()))
            .await
    }
}

/// A document. The names are those of the order's `invoices[]`, and likely ones.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DocumentWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    invoice_id: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    invoice_type: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    invoice_number: Field<'a>,
    #[serde(borrow)]
    number: Field<'a>,
    #[serde(borrow)]
    access_key: Field<'a>,
    #[serde(borrow)]
    pdf_url: Field<'a>,
    #[serde(borrow)]
    issued_at: Field<'a>,
    #[serde(borrow)]
    created_at: Field<'a>,
    #[serde(borrow)]
    replaced_at: Field<'a>,
}

pub(crate) fn parse(payload: &str, naive: FixedOffset) -> Result<Read<Vec<FiscalDocument>>, BodyError> {
    let (mut read, mut keys) = (FieldReader::new(naive), Keys::default());
    let rows = rows(payload, &["documents", "fiscal_documents", "invoices", "fiscal"])?;
    let value = rows.into_iter().filter_map(|row| read_document(&mut read, &mut keys, row)).collect();
    Ok(Read { value, unreadable: read.into_unreadable() })
}

fn read_document(read: &mut FieldReader, keys: &mut Keys, row: &RawValue) -> Option<FiscalDocument> {
    let wire: DocumentWire<'_> = read.nested("fiscal[]", Some(row))?;
    let number = wire.invoice_number.or(wire.number);
    let own = read.id("fiscal[].id", wire.id.or(wire.invoice_id).or(number));
    let replaced = wire.replaced_at.filter(|at| at.get() != "\"\"" && at.get() != "false");
    let status = read.text("fiscal[].status", wire.status);
    Some(FiscalDocument {
        id: keys.give(own),
        document_type: read.text("fiscal[].type", wire.kind.or(wire.invoice_type)),
        invoice_number: read.text("fiscal[].invoice_number", number),
        access_key: read.text("fiscal[].access_key", wire.access_key),
        pdf_url: read.text("fiscal[].pdf_url", wire.pdf_url),
        issued_at: read.time("fiscal[].issued_at", wire.issued_at.or(wire.created_at)),
        replaced_at: read.time("fiscal[].replaced_at", replaced),
        // The document has an unreadable `replaced_at`, so it does not count as current until the field can be read.
        is_current: replaced.is_none() && is_issued(status.as_deref()),
        status,
        raw: RawJson::new(row.get()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Read<Vec<FiscalDocument>> {
        parse(payload, FixedOffset::east_opt(0).unwrap()).unwrap_or_else(|e| panic!("{payload}: {e:?}"))
    }

    #[test]
    fn the_request_of_fiscal_documents_names_the_order() {
        let request = request(&OrderNumber::new("MP-1"));
        assert_eq!(request.describe(), "GET /api/v1/sellers/orders/MP-1/fiscal");
    }

    // proves: ORD-071, ORD-098
    // withstands: F065
    #[test]
    fn the_document_that_was_replaced_is_not_the_current_one() {
        let old = r#"{"id":1,"type":"nfe","status":"issued","invoice_number":100,"pdf_url":"https://x/1.pdf","replaced_at":"2026-11-20T12:00:00Z"}"#;
        let new = r#"{"id":2,"type":"nfe","status":"issued","invoice_number":"101","replaced_at":null}"#;
        for payload in [
            format!("[{old},{new}]"),
            format!(r#"{{"documents":[{old},{new}]}}"#),
            format!(r#"{{"order_number":"MP-1","invoices":[{old},{new}]}}"#),
        ] {
            let documents = read(&payload);
            assert_eq!(documents.unreadable, Vec::<&str>::new());
            let current: Vec<_> = documents.value.iter().map(|d| (d.id.as_str(), d.is_current)).collect();
            assert_eq!(current, [("1", false), ("2", true)], "{payload}");
            assert_eq!(documents.value[0].invoice_number.as_deref(), Some("100"));
            assert!(documents.value[0].replaced_at.is_some());
        }
    }

    #[test]
    fn a_replacement_that_cannot_be_read_is_named_and_never_counts_as_none() {
        let documents = read(r#"[{"invoice_number":"9","replaced_at":"ontem"},{"replaced_at":""}]"#);
        let found: Vec<_> = documents.value.iter().map(|d| (d.id.as_str(), d.is_current)).collect();
        assert_eq!(found, [("9", false), ("#2", true)]);
        assert_eq!(documents.unreadable, ["fiscal[].replaced_at"]);
    }

    #[test]
    fn a_document_that_is_not_issued_is_not_the_current_one() {
        let documents = read(
            r#"[{"id":1,"status":"rejected"},{"id":2,"status":"Em processamento"},{"id":3,"status":"cancelada"},
                {"id":4,"status":"authorized"},{"id":5}]"#,
        );
        let current: Vec<_> = documents.value.iter().map(|d| d.is_current).collect();
        assert_eq!(current, [false, false, false, true, true]);
        assert_eq!(documents.value[0].status.as_deref(), Some("rejected"));
    }

    #[test]
    fn an_order_without_documents_has_none() {
        assert_eq!(read("[]").value, []);
        assert_eq!(read(r#"{"documents":[]}"#).value, []);
    }
}
