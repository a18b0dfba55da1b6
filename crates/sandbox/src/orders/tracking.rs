//! GET the tracking of an order: its state and the ways of its shipments.

use super::{row, visibility};
use crate::{answer::Answer, call::Call, refusal::Refusal};

/// GET the consolidated tracking. What belongs to a shipment is null at the level of the order, as the document has it.
pub(super) fn show(call: &Call) -> Result<Answer, Refusal> {
    let store = visibility::readable(call)?;
    let orders = store.orders();
    let order = orders.get(call.id(0)).ok_or(Refusal::NotFound)?;
    let shipments = store.shipments().of(order);
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("order_number").text(&order.number);
        row::labelled(json, ["status", "status_label"], order.status);
        json.key("delivered_at").optional_time(order.delivered_at());
        json.key("picked_up_at").optional_time(order.picked_up_at);
        json.key("tracking_code").null();
        json.key("tracking_url").null();
        json.key("estimated_delivery_at").null();
        json.key("shipments").open_array();
        for shipment in &shipments {
            shipment.write_tracking(json, order);
        }
        json.close_array();
        json.close_object();
    }))
}
