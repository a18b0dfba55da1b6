//! Fiscal documents: their issue, which the document leaves to the portal.

use serde_json::json;

use super::{
    Order,
    entry::{Author, Document, DocumentKind, DocumentStatus, Entry, EntryKind},
    vocabulary::Status,
};
use crate::refusal::{FieldErrors, Refusal};

impl Document {
    pub(super) fn pdf_url(&self) -> String {
        format!("https://arquivos.marketplace.example/notas/{}.pdf", self.number)
    }
}

/// Issues a document. The window opens when the order enters `preparing`.
pub(super) fn issue(order: &mut Order, kind: DocumentKind, now: i64) -> Result<Document, Refusal> {
    if !is_open(order.status) {
        let text = format!("Não é possível emitir documento fiscal com o pedido em {}.", order.status.wire());
        return Err(Refusal::Invalid(FieldErrors::one("fiscal", text)));
    }
    Ok(add(order, kind, now, "Documento fiscal emitido"))
}

/// Replaces the current NF-e by a new one, which comes back.
pub(super) fn replace(order: &mut Order, now: i64) -> Result<Document, Refusal> {
    let is_current =
        |document: &&mut Document| document.kind == DocumentKind::Nfe && document.replaced_at.is_none();
    let Some(current) = order.life().documents.iter_mut().rev().find(is_current) else {
        return Err(Refusal::Invalid(FieldErrors::one("fiscal", "Não há NF-e vigente para substituir.")));
    };
    current.replaced_at = Some(now);
    Ok(add(order, DocumentKind::Nfe, now, "NF-e substituída"))
}

/// Processes the last document again, which is announced like its issue.
pub(super) fn reprocess(order: &mut Order) -> Result<Document, Refusal> {
    let last = order.life().documents.last().copied();
    last.ok_or_else(|| Refusal::Invalid(FieldErrors::one("fiscal", "O pedido não tem documento fiscal.")))
}

/// Has the tax office reject the last document, which is none then; whether there is one.
pub(super) fn reject(order: &mut Order, now: i64) -> bool {
    let Some(last) = order.life().documents.last_mut() else { return false };
    last.status = DocumentStatus::Rejected;
    order.touch(now);
    true
}

/// Whether documents can be issued: neither before the preparation nor for an order that came to nothing.
fn is_open(status: Status) -> bool {
    use Status::{Completed, Delivered, PickedUp, Preparing, ReadyForPickup, ReadyToShip, Shipped};
    matches!(status, Preparing | ReadyToShip | ReadyForPickup | Shipped | PickedUp | Delivered | Completed)
}

fn add(order: &mut Order, kind: DocumentKind, now: i64, text: &'static str) -> Document {
    let at = order.life().documents.len() as u64;
    let document = order.document(kind, at, now);
    let metadata = json!({
        "invoice_id": document.id,
        "invoice_type": kind.wire(),
        "invoice_number": document.number.to_string(),
    });
    let entry = Entry::of(now, EntryKind::Fiscal, Author::Seller, text).with(Some(metadata));
    order.life().timeline.push(entry);
    order.life().documents.push(document);
    order.touch(now);
    document
}
