//! What carriers, drivers and the platform do with shipments.

use std::sync::Arc;

use super::{CarriedBy, Shipment, ShipmentStatus};
use crate::{
    control::Control,
    orders::{self, Order, Told, vocabulary::Status},
    store::Store,
    world::World,
};

/// What a carrier tells of a shipment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scan {
    InTransit,
    OutForDelivery,
    Delivered,
    Failed,
    Cancelled,
}

impl Scan {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "in_transit" => Self::InTransit,
            "out_for_delivery" => Self::OutForDelivery,
            "delivered" => Self::Delivered,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }
}

impl Control {
    /// The identifiers of the shipments of an order.
    pub fn shipments(&self, store: &str, number: &str) -> Vec<String> {
        let Some(store) = self.world().store(store) else { return Vec::new() };
        let book = store.orders();
        let shipments = book.get(number).map(|order| store.shipments_of(order)).unwrap_or_default();
        shipments.iter().map(|shipment| ulid::Ulid(shipment.id).to_string()).collect()
    }

    /// Has a carrier tell of a shipment: `in_transit`, `out_for_delivery`, `delivered`, `failed` or `cancelled`.
    ///
    /// The order follows where the document says so: from `ready_to_ship` to `shipped` when a shipment that the platform
    /// tracks enters transit, from `shipped` to `delivered` when the last one arrives. A shipment that has ended hears
    /// nothing more: that is `false`.
    pub fn scan_shipment(&self, store: &str, shipment: &str, scan: &str) -> bool {
        let Some(scan) = Scan::parse(scan) else { return false };
        let now = self.world().clock.seconds();
        self.with_shipment(store, shipment, |shipment, told| {
            if !shipment.is_open() {
                return false;
            }
            match scan {
                Scan::InTransit => shipment.post(now, told),
                Scan::OutForDelivery => {
                    shipment.post(now, told);
                    let mut data = shipment.event();
                    data["status"] = shipment.status.wire().into();
                    told.push(("shipment.out_for_delivery", data));
                }
                Scan::Delivered => {
                    shipment.end_drive();
                    shipment.enter(ShipmentStatus::Delivered, "Entregue ao destinatário", now, told);
                }
                Scan::Failed => shipment.fail(now, told),
                Scan::Cancelled => shipment.cancel("Cancelada pela transportadora", now, told),
            }
            true
        })
    }

    /// Has the platform's driver conclude a shipment, after which the seller may confirm the delivery.
    pub fn driver_done(&self, store: &str, shipment: &str) -> bool {
        self.with_shipment(store, shipment, |shipment, _| {
            let is_driven = matches!(shipment.carried_by, CarriedBy::Driver { .. });
            shipment.end_drive();
            is_driven
        })
    }

    /// Says who carries a shipment: `platform`, `seller`, `driver`, or `none` for a delivery without a carrier.
    pub fn set_carrier(&self, store: &str, shipment: &str, kind: &str) -> bool {
        let Some(carriage) = orders::carrier_named(kind) else { return false };
        self.with_shipment(store, shipment, |shipment, _| {
            if shipment.is_pickup() {
                return false;
            }
            shipment.carried_by = carriage.by;
            shipment.carrier = carriage.carrier.map(|(id, name)| (id, name.into()));
            true
        })
    }

    /// Has the label generation leave a shipment out, or take it in again.
    pub fn block_labels(&self, store: &str, shipment: &str, blocked: bool) -> bool {
        self.with_shipment(store, shipment, |shipment, _| {
            shipment.label_generation_blocked = blocked;
            true
        })
    }

    /// Changes a shipment, then lets its order follow and tells about both.
    fn with_shipment(
        &self,
        store: &str,
        shipment: &str,
        change: impl FnOnce(&mut Shipment, &mut Told) -> bool,
    ) -> bool {
        let Some(store) = self.world().store(store) else { return false };
        let Some(Shipment { id, order, .. }) =
            ulid::Ulid::from_string(shipment).ok().and_then(|id| store.shipment(id.0))
        else {
            return false;
        };
        let mut told = Told::new();
        let done = store.shipments().get_mut(id).is_some_and(|shipment| change(shipment, &mut told));
        let is_moved = !told.is_empty();
        self.world().announce(store, told);
        if is_moved {
            follow(self.world(), store, &order);
        }
        done
    }
}

/// Moves an order after its shipments.
fn follow(world: &Arc<World>, store: &Store, number: &str) {
    let next = {
        let book = store.orders();
        book.get(number).and_then(|order| next(order, &store.shipments_of(order)))
    };
    if let Some((from, to)) = next {
        orders::carried(world, store, number, from, to);
    }
}

/// Where the shipments of an order take it.
fn next(order: &Order, shipments: &[Shipment]) -> Option<(Status, Status)> {
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
