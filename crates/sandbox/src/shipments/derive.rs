//! The shipments that an order comes with: of generated orders by their status, of others when they enter preparation.

use super::{CarriedBy, Shipment, ShipmentStatus, ShipmentType, Shipments, Step};
use crate::{
    orders::{
        Order,
        vocabulary::{Delivery, Status},
    },
    random::Random,
};

/// Derives the shipments of a generated order, once.
pub(super) fn ensure(shipments: &mut Shipments, order: &Order) {
    if shipments.of_order(&order.number).is_some() {
        return;
    }
    shipments.none_of(&order.number);
    let Some(status) = status_of(order).filter(|_| order.life.is_none() && order.raw.is_none()) else {
        return;
    };
    for at in 0..count(order) {
        shipments.add(made(order, at, status));
    }
}

/// The identifiers that the shipments of a generated order have or will have.
pub(super) fn ids(order: &Order) -> impl Iterator<Item = u128> {
    let is_derived = order.life.is_none() && order.raw.is_none() && status_of(order).is_some();
    (0..if is_derived { count(order) } else { 0 }).map(|at| id(order, at))
}

/// The shipments of an order that enters its preparation.
pub(super) fn fresh(order: &Order, now: i64) -> Vec<Shipment> {
    let fresh = |at| {
        let mut shipment = made(order, at, ShipmentStatus::Pending);
        shipment.created_at = now;
        shipment.steps = vec![Step { at: now, status: ShipmentStatus::Pending, text: "Remessa criada" }];
        shipment
    };
    (0..count(order)).map(fresh).collect()
}

/// How many shipments an order is sent in: one in ten goes in two, but never a pickup.
fn count(order: &Order) -> u64 {
    let is_pickup = order.delivery() == Delivery::Pickup;
    match order.life.as_ref().and_then(|life| life.parcels) {
        Some(parcels) => u64::from(parcels),
        None if !is_pickup && (order.serial >> 8).is_multiple_of(10) => 2,
        None => 1,
    }
}

/// The state of the shipments of an order in this status; `None` before its preparation.
fn status_of(order: &Order) -> Option<ShipmentStatus> {
    Some(match order.status {
        Status::Preparing if order.serial & 8 == 0 => ShipmentStatus::Pending,
        Status::Preparing => ShipmentStatus::Processing,
        Status::ReadyToShip | Status::ReadyForPickup => ShipmentStatus::ReadyToShip,
        Status::Shipped => ShipmentStatus::InTransit,
        Status::PickedUp | Status::Delivered | Status::Completed => ShipmentStatus::Delivered,
        Status::PickupExpired => ShipmentStatus::AwaitingReturn,
        _ => return None,
    })
}

/// Whether an identifier bears the date of an order: spares the hash for most of them.
pub(super) fn is_dated(order: &Order, id: u128) -> bool {
    id >> 80 == millis(order)
}

fn millis(order: &Order) -> u128 {
    u128::from(order.created_at.unsigned_abs().saturating_mul(1000) & 0xFFFF_FFFF_FFFF)
}

fn id(order: &Order, at: u64) -> u128 {
    let mut random = Random::of(&[Random::of_text(&order.number).number(), at, 0x5417]);
    millis(order) << 80 | u128::from(random.number()) << 16 | u128::from(random.below(1 << 16))
}

fn made(order: &Order, at: u64, status: ShipmentStatus) -> Shipment {
    let is_pickup = order.delivery() == Delivery::Pickup;
    let shipping_method = order.shipping_method();
    let is_sent = matches!(status, ShipmentStatus::InTransit | ShipmentStatus::Delivered);
    let carried_by = match shipping_method.by {
        _ if is_pickup => CarriedBy::Seller,
        CarriedBy::Driver { .. } => CarriedBy::Driver { is_done: status == ShipmentStatus::Delivered },
        by => by,
    };
    // The platform's carriers give out the code with the shipment; the seller's come with the dispatch.
    let has_code =
        !is_pickup && shipping_method.carrier.is_some() && (is_sent || carried_by != CarriedBy::Seller);
    Shipment {
        id: id(order, at),
        order: order.number.clone(),
        kind: if is_pickup { ShipmentType::Pickup } else { ShipmentType::SalesOrder },
        status,
        carried_by,
        carrier: shipping_method.carrier.filter(|_| !is_pickup).map(|(id, name)| (id, name.into())),
        tracking_code: has_code.then(|| code(order, at)),
        label_generation_blocked: order.life.is_none() && (order.serial >> 12).is_multiple_of(16),
        created_at: order.created_at.max(order.updated_at - 3600),
        steps: steps(order, status),
    }
}

/// A code as the postal service writes it.
fn code(order: &Order, at: u64) -> Box<str> {
    let mut random = Random::of(&[Random::of_text(&order.number).number(), at, 0xC0DE]);
    format!("AN{:09}BR", random.below(1_000_000_000)).into()
}

fn steps(order: &Order, status: ShipmentStatus) -> Vec<Step> {
    use ShipmentStatus::{Delivered, InTransit, Pending};
    let mut steps = vec![(Pending, "Remessa criada")];
    if matches!(status, InTransit | Delivered) && order.delivery() == Delivery::Shipping {
        steps.push((InTransit, "Objeto postado"));
    }
    if steps.last().is_none_or(|(last, _)| *last != status) {
        steps.push((status, status.label()));
    }
    let start = order.created_at.max(order.updated_at - 3600);
    let span = (order.updated_at - start) / (steps.len() as i64 - 1).max(1);
    (0..).zip(steps).map(|(at, (status, text))| Step { at: start + span * at, status, text }).collect()
}
