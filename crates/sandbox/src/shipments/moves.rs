//! How shipments move: with their order, or by the scans of a carrier. The document shows no transitions between them.

use serde_json::{Value, json};

use super::{CarriedBy, Shipment, ShipmentStatus, Step, derive};
use crate::{
    orders::{Order, Told, vocabulary::Status},
    store::Store,
};

/// Whether the seller may confirm the delivery of an order: no open shipment of it is the platform's to confirm.
pub(crate) fn none_bars_the_seller(store: &Store, order: &Order) -> bool {
    let shipments = store.shipments_of(order);
    shipments.iter().filter(|shipment| shipment.is_open()).all(Shipment::allows_manual_confirmation)
}

/// Has the shipments of an order follow it into a status, called while the orders are locked; what has to be told comes back.
///
/// `sweeps` is for moves of the order itself: one that a carrier's scan brought about leaves the other shipments alone.
pub(crate) fn follow(
    store: &Store,
    order: &Order,
    sweeps: bool,
    tracking_code: Option<&str>,
    reason: &str,
    now: i64,
) -> Told {
    let mut told = Told::new();
    if matches!(
        order.status,
        Status::Preparing | Status::ReadyToShip | Status::ReadyForPickup | Status::Shipped
    ) {
        create(store, order, now, &mut told);
    }
    if !sweeps {
        return told;
    }
    let mut shipments = store.shipments();
    let mut code = tracking_code;
    for shipment in shipments.of_order_mut(&order.number).iter_mut().filter(|shipment| shipment.is_open()) {
        match order.status {
            Status::ReadyToShip | Status::ReadyForPickup => shipment.get_ready(now, &mut told),
            Status::Shipped => {
                if let Some(code) = code.take() {
                    shipment.tracking_code = Some(code.into());
                }
                shipment.post(now, &mut told);
            }
            Status::PickedUp | Status::Delivered | Status::Completed => {
                shipment.enter(ShipmentStatus::Delivered, "Entregue", now, &mut told);
            }
            Status::PickupExpired => {
                shipment.enter(ShipmentStatus::AwaitingReturn, "Retirada expirada", now, &mut told);
            }
            Status::Cancelled => shipment.cancel(reason, now, &mut told),
            _ => {}
        }
    }
    told
}

/// Creates the shipments of an order that has none on the way.
fn create(store: &Store, order: &Order, now: i64, told: &mut Told) {
    let mut shipments = store.shipments();
    if shipments.of_order(&order.number).is_some_and(|shipments| !shipments.is_empty()) {
        return;
    }
    for shipment in derive::fresh(order, now) {
        told.push(("shipment.created", shipment.event()));
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
    pub(super) fn enter(&mut self, to: ShipmentStatus, text: &'static str, now: i64, told: &mut Told) {
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
        told.push(("shipment.status_changed", data));
    }

    fn get_ready(&mut self, now: i64, told: &mut Told) {
        if matches!(self.status, ShipmentStatus::Pending | ShipmentStatus::Processing) {
            self.enter(ShipmentStatus::ReadyToShip, "Pronto para envio", now, told);
        }
    }

    /// Gives the shipment to its carrier.
    pub(super) fn post(&mut self, now: i64, told: &mut Told) {
        if self.status == ShipmentStatus::InTransit {
            return;
        }
        told.push(("shipment.dispatched", self.event()));
        self.enter(ShipmentStatus::InTransit, "Objeto postado", now, told);
    }

    /// The carrier or driver failed; from then on the seller may confirm what a driver carries.
    pub(super) fn fail(&mut self, now: i64, told: &mut Told) {
        self.end_drive();
        self.enter(ShipmentStatus::Failed, "Tentativa de entrega sem sucesso", now, told);
    }

    /// The driver has nothing more to do with it.
    pub(super) fn end_drive(&mut self) {
        if let CarriedBy::Driver { is_done } = &mut self.carried_by {
            *is_done = true;
        }
    }

    pub(super) fn cancel(&mut self, reason: &str, now: i64, told: &mut Told) {
        self.enter(ShipmentStatus::Cancelled, "Remessa cancelada", now, told);
        let data = json!({
            "shipment_id": ulid::Ulid(self.id).to_string(),
            "order_number": self.order,
            "reason": reason,
        });
        told.push(("shipment.cancelled", data));
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
