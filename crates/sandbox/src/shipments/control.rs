//! Shipments behind the API's back: the acts of carriers, drivers and the platform.

use std::sync::Arc;

use super::{CarriedBy, Shipment, ShipmentStatus, moves::next_status};
use crate::{
    announce::announce, control::handles::ShipmentsControl, event::Event, orders, store::Store, world::World,
};

/// A scan of a shipment by its carrier.
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

impl ShipmentsControl<'_> {
    /// The identifiers of the shipments of an order.
    pub fn of_order(self, store: &str, number: &str) -> Vec<String> {
        let Some(store) = self.world().store(store) else { return Vec::new() };
        let orders = store.orders();
        let shipments = orders.get(number).map(|order| store.shipments().of(order)).unwrap_or_default();
        shipments.iter().map(|shipment| ulid::Ulid(shipment.id).to_string()).collect()
    }

    /// Scans a shipment as its carrier: `in_transit`, `out_for_delivery`, `delivered`, `failed` or `cancelled`.
    ///
    /// The order follows where the document says so: from `ready_to_ship` to `shipped` when a tracked shipment enters
    /// transit, from `shipped` to `delivered` when the last one arrives. A shipment that has ended takes no scan:
    /// that is `false`.
    pub fn scan(self, store: &str, shipment: &str, scan: &str) -> bool {
        let Some(scan) = Scan::parse(scan) else { return false };
        let now = self.world().clock.seconds();
        self.with_shipment(store, shipment, |shipment, events| {
            if !shipment.is_open() {
                return false;
            }
            match scan {
                Scan::InTransit => shipment.post(now, events),
                Scan::OutForDelivery => {
                    shipment.post(now, events);
                    let mut data = shipment.event();
                    data["status"] = shipment.status.wire().into();
                    events.push(Event::new("shipment.out_for_delivery", data));
                }
                Scan::Delivered => {
                    shipment.end_drive();
                    shipment.enter(ShipmentStatus::Delivered, "Entregue ao destinatário", now, events);
                }
                Scan::Failed => shipment.fail(now, events),
                Scan::Cancelled => shipment.cancel("Cancelada pela transportadora", now, events),
            }
            true
        })
    }

    /// Concludes a shipment as the platform's driver; from then on the seller may confirm the delivery.
    pub fn driver_done(self, store: &str, shipment: &str) -> bool {
        self.with_shipment(store, shipment, |shipment, _| {
            let is_driven = matches!(shipment.carried_by, CarriedBy::Driver { .. });
            shipment.end_drive();
            is_driven
        })
    }

    /// Says who carries a shipment: `platform`, `seller`, `driver`, or `none` for a delivery without a carrier.
    pub fn set_carrier(self, store: &str, shipment: &str, kind: &str) -> bool {
        let Some(shipping_method) = orders::shipping_method_named(kind) else { return false };
        self.with_shipment(store, shipment, |shipment, _| {
            if shipment.is_pickup() {
                return false;
            }
            shipment.carried_by = shipping_method.by;
            shipment.carrier = shipping_method.carrier.map(|(id, name)| (id, name.into()));
            true
        })
    }

    /// Leaves a shipment out of the label generation, or takes it in again.
    pub fn block_labels(self, store: &str, shipment: &str, blocked: bool) -> bool {
        self.with_shipment(store, shipment, |shipment, _| {
            shipment.label_generation_blocked = blocked;
            true
        })
    }

    /// Changes a shipment, moves its order after it, and announces both.
    fn with_shipment(
        self,
        store: &str,
        shipment: &str,
        change: impl FnOnce(&mut Shipment, &mut Vec<Event>) -> bool,
    ) -> bool {
        let Some(store) = self.world().store(store) else { return false };
        let Some(Shipment { id, order, .. }) = ulid::Ulid::from_string(shipment).ok().and_then(|id| {
            let orders = store.orders();
            store.shipments().find(&orders, id.0)
        }) else {
            return false;
        };
        let mut events = Vec::new();
        let done = store.shipments().get_mut(id).is_some_and(|shipment| change(shipment, &mut events));
        let is_moved = !events.is_empty();
        announce(self.world(), store, events);
        if is_moved {
            move_order(self.world(), store, &order);
        }
        done
    }
}

/// Moves an order after its shipments.
fn move_order(world: &Arc<World>, store: &Store, number: &str) {
    let next = {
        let orders = store.orders();
        orders.get(number).and_then(|order| next_status(order, &store.shipments().of(order)))
    };
    if let Some((from, to)) = next {
        orders::service::follow_shipments(world, store, number, from, to);
    }
}
