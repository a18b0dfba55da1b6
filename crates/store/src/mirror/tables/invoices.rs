//! Fiscal documents of orders.

use espelho_model::{OrderNumber, fiscal::FiscalDocument, sync::Counts};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{Error, mirror::MirrorWriter};

pub(crate) static INVOICES: Table = Table::new(
    "order_invoices",
    "order_invoice",
    Scope::InKey("order_number"),
    "id",
    &["type", "status", "invoice_number", "access_key", "pdf_url", "issued_at", "replaced_at", "is_current"],
);

impl MirrorWriter<'_, '_> {
    /// Mirrors all fiscal documents of an order (API document, "Orders": the fiscal route).
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_invoices(
        &mut self,
        order: &OrderNumber,
        documents: Vec<FiscalDocument>,
    ) -> Result<Counts, Error> {
        let records = documents.into_iter().map(record).collect();
        self.page.tables().write_whole(&INVOICES, Some(order.as_str()), records).await
    }
}

fn record(document: FiscalDocument) -> Record {
    let values = [
        document.document_type.into(),
        document.status.into(),
        document.invoice_number.into(),
        document.access_key.into(),
        document.pdf_url.into(),
        document.issued_at.into(),
        document.replaced_at.into(),
        Some(document.is_current).into(),
    ];
    Record::new(document.id, values, document.raw)
}
