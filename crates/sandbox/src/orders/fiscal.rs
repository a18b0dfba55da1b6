//! Fiscal documents: the route that tells which one is current, and their issue, which the document leaves to the portal.

use std::sync::Arc;

use serde_json::json;

use super::{
    Order, announce,
    announce::Told,
    engine,
    life::{Author, Document, DocumentKind, Entry, EntryKind},
    reach,
    vocabulary::Status,
};
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    json::Json,
    query::FieldErrors,
    store::Store,
    world::World,
};

/// GET the fiscal documents of one order.
pub(super) fn show(call: &Call) -> Result<Answer, Refusal> {
    let store = reach::readable(call)?;
    let book = store.shown_orders();
    let order = book.get(call.id(0)).ok_or(Refusal::NotFound)?;
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("order_number").text(&order.number);
        json.key("documents").open_array();
        for document in order.documents() {
            document.write(json);
        }
        json.close_array();
        json.close_object();
    }))
}

impl Document {
    pub(super) fn pdf_url(&self) -> String {
        format!("https://arquivos.marketplace.example/notas/{}.pdf", self.number)
    }

    fn write(&self, json: &mut Json) {
        json.open_object();
        json.key("id").id(self.id);
        json.key("type").raw_text(self.kind.wire());
        json.key("type_label").text(self.kind.label());
        json.key("status").raw_text("issued");
        json.key("status_label").text("Emitida");
        json.key("invoice_number").raw_text(&self.number.to_string());
        json.key("pdf_url").raw_text(&self.pdf_url());
        json.key("issued_at").time(self.issued_at);
        json.key("replaced_at").optional_time(self.replaced_at);
        json.close_object();
    }
}

/// Issues a document; its identifier. The window opens when the order enters `preparing`.
pub(super) fn issue(
    world: &Arc<World>,
    store: &Store,
    number: &str,
    kind: DocumentKind,
) -> Result<u64, Refusal> {
    let now = world.clock.seconds();
    write(world, store, number, |order| {
        if !is_open(order.status) {
            let text =
                format!("Não é possível emitir documento fiscal com o pedido em {}.", order.status.wire());
            return Err(Refusal::Invalid(FieldErrors::one("fiscal", text)));
        }
        Ok(add(order, kind, now, "Documento fiscal emitido"))
    })
}

/// Replaces the current NF-e by a new one; the new one's identifier.
pub(super) fn replace(world: &Arc<World>, store: &Store, number: &str) -> Result<u64, Refusal> {
    let now = world.clock.seconds();
    write(world, store, number, |order| {
        let is_current =
            |document: &&mut Document| document.kind == DocumentKind::Nfe && document.replaced_at.is_none();
        let Some(current) = order.life().documents.iter_mut().rev().find(is_current) else {
            return Err(Refusal::Invalid(FieldErrors::one("fiscal", "Não há NF-e vigente para substituir.")));
        };
        current.replaced_at = Some(now);
        Ok(add(order, DocumentKind::Nfe, now, "NF-e substituída"))
    })
}

/// Processes the last document anew, which is told like its issue; its identifier.
pub(super) fn reprocess(world: &Arc<World>, store: &Store, number: &str) -> Result<u64, Refusal> {
    write(world, store, number, |order| {
        let last = order.life().documents.last().copied();
        last.ok_or_else(|| Refusal::Invalid(FieldErrors::one("fiscal", "O pedido não tem documento fiscal.")))
    })
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

/// Does something to the documents of an order and tells about the one that comes of it.
fn write(
    world: &Arc<World>,
    store: &Store,
    number: &str,
    edit: impl FnOnce(&mut Order) -> Result<Document, Refusal>,
) -> Result<u64, Refusal> {
    let (document, told): (Document, Told) = {
        let mut book = store.orders_mut();
        let document = engine::touch(store, &mut book, number, edit).ok_or(Refusal::NotFound)??;
        let order = book.get(number).ok_or(Refusal::NotFound)?;
        (document, vec![("order.invoiced", announce::invoiced(order, &document))])
    };
    world.announce(store, told);
    Ok(document.id)
}
