//! How shipments move: with their order, or by the scans of a carrier. The document shows no transitions between them.

use serde_json::{Value, json};

use super::{CarriedBy, Shipment, ShipmentStatus, Shipments, Step, derive};
use crate::{
    event::Event,
    orders::{Order, vocabulary::Status},
};

/// Whether the seller may confirm the delivery of an order: no open shipment of it is the platform's to confirm.
pub(crate) fn none_bars_the_seller(shipments: &mut Shipments, order: &Order) -> bool {
    shipments.of(order).iter().filter(|shipment| shipment.is_open()).all(Shipment::allows_manual_confirmation)
}

/// Moves the shipments of an order after it has entered a status, and returns the events.
///
/// `sweeps` is for moves of the order itself: a move that a carrier's scan caused leaves the other shipments alone.
pub(crate) fn move_with_order(
    shipments: &mut Shipments,
    order: &Order,
    sweeps: bool,
    tracking_code: Option<&str>,
    reason: &str,
    now: i64,
) -> Vec<Event> {
    let mut events = Vec::new();
    if matches!(
        order.status,
        Status::Preparing | Status::ReadyToShip | Status::ReadyForPickup | Status::Shipped
    ) {
        create(shipments, order, now, &mut events);
    }
    if !sweeps {
        return events;
    }
    let mut code = tracking_code;
    for shipment in shipments.of_order_mut(&order.number).iter_mut().filter(|shipment| shipment.is_open()) {
        match order.status {
            Status::ReadyToShip | Status::ReadyForPickup => shipment.get_ready(now, &mut events),
            Status::Shipped => {
                if let Some(code) = code.take() {
                    shipment.tracking_code = Some(code.into());
                }
                shipment.post(now, &mut events);
            }
            Status::PickedUp | Status::Delivered | Status::Completed => {
                shipment.enter(ShipmentStatus::Delivered, "Entregue", now, &mut events);
            }
            Status::PickupExpired => {
                shipment.enter(ShipmentStatus::AwaitingReturn, "Retirada expirada", now, &mut events);
            }
            Status::Cancelled => shipment.cancel(reason, now, &mut events),
            _ => {}
        }
    }
    events
}

/// Creates the shipments of an order that has none on the way.
fn create(shipments: &mut Shipments, order: &Order, now: i64, events: &mut Vec<Event>) {
    if shipments.of_order(&order.number).is_some_and(|shipments| !shipments.is_empty()) {
        return;
    }
    for shipment in derive::fresh(order, now) {
        events.push(Event::new("shipment.created", shipment.event()));
        shipments.add(shipment);
    }
}

impl Shipment {
    /// Whether it can still move.
    pub(super) fn is_open(&self) -> bool {
        use ShipmentStatus::{Cancelled, Delivered, Returned};
        !matches!(self.status, Delivered | Cancelled | Returned)
    }

    /// Moves on; a status that it has already is no move.
    pub(super) fn enter(
        &mut self,
        to: ShipmentStatus,
        text: &'static str,
        now: i64,
        events: &mut Vec<Event>,
    ) {
        let from = self.status;
        if from == to {
            return;
        }
        self.status = to;
        self.steps.push(Step { at: now, status: to, text });
        let data = json!({
            "shipment_id": ulid::Ulid(self.id).to_string(),
            "order_number": self.order,
            "from": from.wire(),
            "to": to.wire(),
        });
        events.push(Event::new("shipment.status_changed", data));
    }

    fn get_ready(&mut self, now: i64, events: &mut Vec<Event>) {
        if matches!(self.status, ShipmentStatus::Pending | ShipmentStatus::Processing) {
            self.enter(ShipmentStatus::ReadyToShip, "Pronto para envio", now, events);
        }
    }

    /// Gives the shipment to its carrier.
    pub(super) fn post(&mut self, now: i64, events: &mut Vec<Event>) {
        if self.status == ShipmentStatus::InTransit {
            return;
        }
        events.push(Event::new("shipment.dispatched", self.event()));
        self.enter(ShipmentStatus::InTransit, "Objeto postado", now, events);
    }

    /// The carrier or driver failed; from then on the seller may confirm what a driver carries.
    pub(super) fn fail(&mut self, now: i64, events: &mut Vec<Event>) {
        self.end_drive();
        self.enter(ShipmentStatus::Failed, "Tentativa de entrega sem sucesso", now, events);
    }

    /// The driver has concluded or failed.
    pub(super) fn end_drive(&mut self) {
        if let CarriedBy::Driver { is_done } = &mut self.carried_by {
            *is_done = true;
        }
    }

    pub(super) fn cancel(&mut self, reason: &str, now: i64, events: &mut Vec<Event>) {
        self.enter(ShipmentStatus::Cancelled, "Remessa cancelada", now, events);
        let data = json!({
            "shipment_id": ulid::Ulid(self.id).to_string(),
            "order_number": self.order,
            "reason": reason,
        });
        events.push(Event::new("shipment.cancelled", data));
    }

    /// The fields that most of a shipment's events have.
    pub(super) fn event(&self) -> Value {
        json!({
            "shipment_id": ulid::Ulid(self.id).to_string(),
            "order_number": self.order,
            "tracking_code": self.tracking_code,
        })
    }
}

/// The move of an order that follows from its shipments: from which status to which.
pub(super) fn next_status(order: &Order, shipments: &[Shipment]) -> Option<(Status, Status)> {
    let on_the_way =
        |shipment: &Shipment| shipment.is_tracked() && shipment.status == ShipmentStatus::InTransit;
    let arrived = |shipment: &Shipment| {
        matches!(shipment.status, ShipmentStatus::Delivered | ShipmentStatus::Cancelled)
    };
    match order.status {
        Status::ReadyToShip if shipments.iter().any(on_the_way) => {
            Some((Status::ReadyToShip, Status::Shipped))
        }
        Status::Shipped
            if shipments.iter().all(arrived)
                && shipments.iter().any(|shipment| shipment.status == ShipmentStatus::Delivered) =>
        {
            Some((Status::Shipped, Status::Delivered))
        }
        _ => None,
    }
}
