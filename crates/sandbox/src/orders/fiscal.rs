//! GET the fiscal documents of an order, and which one is current.

use super::{entry::Document, shown::shown_orders, visibility};
use crate::{answer::Answer, call::Call, json::Json, refusal::Refusal};

/// GET the fiscal documents of one order.
pub(super) fn show(call: &Call) -> Result<Answer, Refusal> {
    let store = visibility::readable(call)?;
    let orders = shown_orders(store);
    let order = orders.get(call.id(0)).ok_or(Refusal::NotFound)?;
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
    fn write(&self, json: &mut Json) {
        json.open_object();
        json.key("id").id(self.id);
        json.key("type").raw_text(self.kind.wire());
        json.key("type_label").text(self.kind.label());
        json.key("status").raw_text(self.status.wire());
        json.key("status_label").text(self.status.label());
        json.key("invoice_number").raw_text(&self.number.to_string());
        json.key("pdf_url").raw_text(&self.pdf_url());
        json.key("issued_at").time(self.issued_at);
        json.key("replaced_at").optional_time(self.replaced_at);
        json.close_object();
    }
}
