//! A listing row: the order without its items. The parts that the detail shares are written here too.

use super::{
    Line, Order,
    vocabulary::{Status, Workflow},
};
use crate::{json::Json, products::Catalogue, store::Store, vocabulary::Word};

/// The lines shown in `items_preview`.
const PREVIEW: usize = 3;

pub(crate) fn write(json: &mut Json, order: &Order, store: &Store, catalogue: &Catalogue) {
    if let Some(raw) = &order.raw {
        json.raw(&raw.listing);
        return;
    }
    json.open_object();
    head(json, order);
    customer(json, order, store);
    amounts(json, order);
    preview(json, order, catalogue);
    payment(json, order);
    collective(json, order);
    dates(json, order);
    json.close_object();
}

/// Number, state and track.
pub(crate) fn head(json: &mut Json, order: &Order) {
    json.key("order_number").text(&order.number);
    labelled(json, ["status", "status_label"], order.status);
    json.key("status_color").raw_text(order.status.color());
    json.key("workflow_type").raw_text(order.workflow.wire());
    labelled(json, ["type", "type_label"], order.kind);
    labelled(json, ["channel", "channel_label"], order.channel);
    labelled(json, ["delivery_method", "delivery_method_label"], order.delivery());
}

/// A value and its label.
pub(crate) fn labelled<W: Word>(json: &mut Json, [value, label]: [&str; 2], word: W) {
    json.key(value).raw_text(word.wire());
    json.key(label).raw_text(word.label());
}

pub(crate) fn customer(json: &mut Json, order: &Order, store: &Store) {
    json.key("customer");
    match store.people.get(order.customer as usize) {
        Some(person) => {
            json.open_object();
            json.key("id").id(u64::from(order.customer) + 1);
            json.key("name").text(&person.name);
            json.close_object();
        }
        None => json.null(),
    }
}

pub(crate) fn amounts(json: &mut Json, order: &Order) {
    json.key("totals").open_object();
    json.key("products").decimal(order.products_total(), 2);
    json.key("shipping").decimal(order.shipping, 2);
    json.key("discounts").decimal(order.discounts, 2);
    json.key("order").decimal(order.total(), 2);
    json.close_object();
    json.key("items_count").count(order.units());
    json.key("lines_count").count(order.lines.len() as u64);
}

pub(crate) fn preview(json: &mut Json, order: &Order, catalogue: &Catalogue) {
    json.key("items_preview").open_array();
    for Line { product, quantity, .. } in order.lines.iter().take(PREVIEW) {
        let product = catalogue.slot(*product);
        json.open_object();
        json.key("product_id").ulid(product.id);
        json.key("name").text(&product.name);
        json.key("quantity").count(u64::from(*quantity));
        json.key("thumbnail");
        product.write_thumbnail_url(json, catalogue);
        json.close_object();
    }
    json.close_array();
}

pub(crate) fn payment(json: &mut Json, order: &Order) {
    labelled(json, ["payment_method", "payment_method_label"], order.payment);
    labelled(json, ["payment_status", "payment_status_label"], order.payment_status());
    // Only an order that waits for its payment has this field at all.
    if let Some(expires_at) = order.payment_expires_at() {
        json.key("payment_expires_at").time(expires_at);
    }
}

pub(crate) fn collective(json: &mut Json, order: &Order) {
    json.key("is_collective").bool(order.workflow == Workflow::Collective);
    json.key("is_awaiting_campaign").bool(order.status == Status::AwaitingCampaign);
    json.key("release_at").optional_time(order.release_at);
}

pub(crate) fn dates(json: &mut Json, order: &Order) {
    json.key("created_at").time(order.created_at);
    json.key("updated_at").time(order.updated_at);
}
