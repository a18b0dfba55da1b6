//! Shipments: the boxes of an order on their way ("Shipment" of the document).

pub(crate) mod control;
pub(crate) mod control_endpoints;
mod derive;
mod moves;
pub(crate) mod routes;
mod write;

use std::collections::HashMap;

pub(crate) use self::moves::{move_with_order, none_bars_the_seller};
use crate::{
    orders::{Order, state::Orders},
    vocabulary::{Word, vocabulary},
};

vocabulary! {
    /// The purpose of a shipment.
    ShipmentType {
        SalesOrder = "sales_order", "Pedido de venda", "";
        Return = "return", "Devolução", "";
        Transfer = "transfer", "Transferência", "";
        Pickup = "pickup", "Retirada", "";
    }
}

vocabulary! {
    /// The state of a shipment. The document names the values and shows no transitions.
    ShipmentStatus {
        Pending = "pending", "Pendente", "#F59E0B";
        Processing = "processing", "Em processamento", "#3B82F6";
        ReadyToShip = "ready_to_ship", "Pronto para envio", "#6366F1";
        InTransit = "in_transit", "Em trânsito", "#8B5CF6";
        Delivered = "delivered", "Entregue", "#059669";
        Cancelled = "cancelled", "Cancelado", "#EF4444";
        ReturnInProgress = "return_in_progress", "Em devolução", "#F97316";
        Returned = "returned", "Devolvido", "#6B7280";
        AwaitingReturn = "awaiting_return", "Aguardando devolução", "#EAB308";
        Failed = "failed", "Falhou", "#DC2626";
        Error = "error", "Erro", "#B91C1C";
    }
}

/// The carrier of a shipment, on whom it depends who may confirm the delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CarriedBy {
    /// A carrier of the platform: the delivery confirms itself.
    Platform,
    /// The seller's own carrier, or none: the seller confirms.
    Seller,
    /// A driver of the platform: the seller may confirm only after the driver concluded or failed.
    Driver { is_done: bool },
}

/// One shipment.
#[derive(Clone, Debug)]
pub(crate) struct Shipment {
    /// A ULID.
    pub(crate) id: u128,
    pub(crate) order: Box<str>,
    pub(crate) kind: ShipmentType,
    pub(crate) status: ShipmentStatus,
    pub(crate) carried_by: CarriedBy,
    /// Identifier and name; a pickup has none.
    pub(crate) carrier: Option<(u64, Box<str>)>,
    pub(crate) tracking_code: Option<Box<str>>,
    /// Left out when labels are generated.
    pub(crate) label_generation_blocked: bool,
    pub(crate) created_at: i64,
    /// The steps on the way, oldest first.
    pub(crate) steps: Vec<Step>,
}

/// One step of a shipment's way.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) at: i64,
    pub(crate) status: ShipmentStatus,
    pub(crate) text: &'static str,
}

impl Shipment {
    pub(crate) fn is_pickup(&self) -> bool {
        self.kind == ShipmentType::Pickup
    }

    /// Whether the seller may confirm the delivery. A pickup is confirmed by the buyer's code instead.
    pub(crate) fn allows_manual_confirmation(&self) -> bool {
        let by_carrier = match self.carried_by {
            CarriedBy::Platform => false,
            CarriedBy::Seller => true,
            CarriedBy::Driver { is_done } => is_done,
        };
        by_carrier && !self.is_pickup()
    }

    /// Whether the platform learns by itself where the shipment is.
    pub(crate) fn is_tracked(&self) -> bool {
        self.carried_by != CarriedBy::Seller && !self.is_pickup()
    }
}

/// The shipments of one store. Those of generated or loaded orders are derived on first use.
#[derive(Default)]
pub(crate) struct Shipments {
    by_order: HashMap<Box<str>, Vec<Shipment>>,
    order_of: HashMap<u128, Box<str>>,
}

impl Shipments {
    /// The shipments of an order, where they have been derived or created.
    pub(crate) fn of_order(&self, number: &str) -> Option<&[Shipment]> {
        self.by_order.get(number).map(Vec::as_slice)
    }

    /// A shipment by its identifier.
    pub(crate) fn get(&self, id: u128) -> Option<&Shipment> {
        self.by_order.get(self.order_of.get(&id)?)?.iter().find(|shipment| shipment.id == id)
    }

    /// A shipment, to change it.
    pub(crate) fn get_mut(&mut self, id: u128) -> Option<&mut Shipment> {
        self.by_order.get_mut(self.order_of.get(&id)?)?.iter_mut().find(|shipment| shipment.id == id)
    }

    /// Adds a shipment to its order.
    pub(crate) fn add(&mut self, shipment: Shipment) {
        self.order_of.insert(shipment.id, shipment.order.clone());
        self.by_order.entry(shipment.order.clone()).or_default().push(shipment);
    }

    /// The shipments of an order, to change them.
    fn of_order_mut(&mut self, number: &str) -> &mut [Shipment] {
        self.by_order.get_mut(number).map_or(&mut [], Vec::as_mut_slice)
    }

    /// Takes the shipments of an order away.
    pub(crate) fn forget(&mut self, number: &str) {
        for shipment in self.by_order.remove(number).into_iter().flatten() {
            self.order_of.remove(&shipment.id);
        }
    }

    /// Notes that an order has no shipments.
    pub(crate) fn none_of(&mut self, number: &str) {
        self.by_order.entry(number.into()).or_default();
    }

    /// The shipments of an order. For an order without changes, the first call derives them.
    pub(crate) fn of(&mut self, order: &Order) -> Vec<Shipment> {
        derive::ensure(self, order);
        self.of_order(&order.number).unwrap_or_default().to_vec()
    }

    /// A shipment by its identifier, derived if need be.
    pub(crate) fn find(&mut self, orders: &Orders, id: u128) -> Option<Shipment> {
        if self.get(id).is_none() {
            let holds =
                |order: &&Order| derive::is_dated(order, id) && derive::ids(order).any(|other| other == id);
            derive::ensure(self, orders.iter().find(holds)?);
        }
        self.get(id).cloned()
    }
}
