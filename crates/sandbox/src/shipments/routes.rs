//! The shipments of an order.

use crate::{answer::Answer, call::Call, orders, refusal::Refusal, route::Route};

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[Route::get("/api/v1/sellers/orders/{id}/shipments", list)];

/// GET the shipments of one order; an order that has none answers 404.
fn list(call: &Call) -> Result<Answer, Refusal> {
    let store = orders::readable(call)?;
    let orders = store.orders();
    let order = orders.get(call.id(0)).ok_or(Refusal::NotFound)?;
    let shipments = store.shipments().of(order);
    let labels = store.labels();
    if shipments.is_empty() {
        return Err(Refusal::NotFound);
    }
    Ok(Answer::success(call.options().numbers_as_strings, |json| {
        json.open_object();
        json.key("shipments").open_array();
        for shipment in &shipments {
            shipment.write(json, &labels);
        }
        json.close_array();
        json.close_object();
    }))
}
