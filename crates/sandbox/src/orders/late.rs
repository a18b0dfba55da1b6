//! Deadlines that an order can miss: NF-e, picking, production, boleto.

use super::{
    Order,
    vocabulary::{PaymentMethod, Status},
};

const DAY: i64 = 86_400;

/// A deadline that has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// The fiscal document of an order in preparation: one day.
    Nfe,
    /// Dispatch, or the buyer's visit, of an order that is ready: two days.
    Picking,
    /// The production: seven days.
    Production,
    /// The payment of a boleto.
    Boleto,
}

/// The `late` filter, whose values the document does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Late {
    /// Any deadline missed.
    Any,
    /// None missed.
    None,
    /// This one missed.
    Only(Deadline),
}

impl Late {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "1" | "true" => Self::Any,
            "0" | "false" => Self::None,
            "nfe" => Self::Only(Deadline::Nfe),
            "picking" => Self::Only(Deadline::Picking),
            "production" => Self::Only(Deadline::Production),
            "boleto" => Self::Only(Deadline::Boleto),
            _ => return None,
        })
    }

    pub(crate) fn matches(self, missed: Option<Deadline>) -> bool {
        match self {
            Self::Any => missed.is_some(),
            Self::None => missed.is_none(),
            Self::Only(deadline) => missed == Some(deadline),
        }
    }
}

/// The deadline that an order has missed at an instant.
pub(crate) fn missed(order: &Order, now: i64) -> Option<Deadline> {
    let (deadline, at) = match order.status {
        Status::Preparing if !order.is_invoiced() => (Deadline::Nfe, order.updated_at + DAY),
        Status::ReadyToShip | Status::ReadyForPickup => (Deadline::Picking, order.updated_at + 2 * DAY),
        Status::ProductionStarted | Status::AwaitingMaterials | Status::ProductionInProgress => {
            (Deadline::Production, order.updated_at + 7 * DAY)
        }
        Status::WaitingPayment if order.payment == PaymentMethod::Boleto => {
            (Deadline::Boleto, order.payment_expires_at()?)
        }
        _ => return None,
    };
    (at < now).then_some(deadline)
}
