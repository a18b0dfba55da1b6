//! The published vocabularies.

use super::{
    entry::{Author, DocumentKind, EntryKind},
    transitions,
    vocabulary::{Channel, Delivery, OrderType, PaymentMethod, PaymentStatus, Status, StockStatus, Workflow},
};
use crate::{
    json::Json,
    shipments::{ShipmentStatus, ShipmentType},
    vocabulary::Word,
};

/// Every order enum under its key.
pub(crate) fn write(json: &mut Json) {
    json.open_object();
    list(json.key("statuses"), Status::ALL);
    list(json.key("types"), OrderType::ALL);
    list(json.key("channels"), Channel::ALL);
    list(json.key("workflow_types"), Workflow::ALL);
    list(json.key("delivery_methods"), Delivery::ALL);
    list(json.key("payment_methods"), PaymentMethod::ALL);
    list(json.key("payment_statuses"), PaymentStatus::ALL);
    list(json.key("item_stock_statuses"), StockStatus::ALL);
    list(json.key("shipment_types"), ShipmentType::ALL);
    list(json.key("shipment_statuses"), ShipmentStatus::ALL);
    list(json.key("event_types"), EntryKind::ALL);
    list(json.key("author_types"), Author::ALL);
    list(json.key("invoice_types"), DocumentKind::ALL);
    json.close_object();
}

/// The statuses, grouped by workflow.
pub(crate) fn write_statuses_by_workflow(json: &mut Json) {
    json.open_object();
    for workflow in Workflow::ALL {
        list(json.key(workflow.wire()), &transitions::statuses(*workflow));
    }
    json.close_object();
}

/// A list of `{value, label}`, with `color` where the enum has colours.
pub(crate) fn list<W: Word>(json: &mut Json, words: &[W]) {
    json.open_array();
    for word in words {
        json.open_object();
        json.key("value").raw_text(word.wire());
        json.key("label").raw_text(word.label());
        if !word.color().is_empty() {
            json.key("color").raw_text(word.color());
        }
        json.close_object();
    }
    json.close_array();
}
