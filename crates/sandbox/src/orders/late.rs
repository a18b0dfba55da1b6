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
    /// Getting ready, dispatch, or the buyer's visit: two days each.
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

impl Deadline {
    pub(crate) fn wire(self) -> &'static str {
        match self {
            Self::Nfe => "nfe",
            Self::Picking => "picking",
            Self::Production => "production",
            Self::Boleto => "boleto",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Nfe => "Emissão da NF-e",
            Self::Picking => "Separação e despacho",
            Self::Production => "Produção",
            Self::Boleto => "Pagamento do boleto",
        }
    }
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

/// The deadline that an order has missed at an instant; of several the one that passed first.
pub(crate) fn missed(order: &Order, now: i64) -> Option<Deadline> {
    first_missed(order, now).map(|(deadline, _)| deadline)
}

/// The deadline that passed first, and when it did.
pub(crate) fn first_missed(order: &Order, now: i64) -> Option<(Deadline, i64)> {
    let missed = deadlines(order).into_iter().flatten().filter(|(_, at)| *at < now);
    missed.min_by_key(|(deadline, at)| (*at, *deadline as u8))
}

/// The deadlines of an order in its status: two at most.
fn deadlines(order: &Order) -> [Option<(Deadline, i64)>; 2] {
    let since = order.entered_at();
    match order.status {
        Status::Preparing => [
            (!order.is_invoiced()).then_some((Deadline::Nfe, since + DAY)),
            Some((Deadline::Picking, since + 2 * DAY)),
        ],
        Status::ReadyToShip | Status::ReadyForPickup => [Some((Deadline::Picking, since + 2 * DAY)), None],
        Status::ProductionStarted | Status::AwaitingMaterials | Status::ProductionInProgress => {
            [Some((Deadline::Production, since + 7 * DAY)), None]
        }
        Status::WaitingPayment if order.payment == PaymentMethod::Boleto => {
            [order.payment_expires_at().map(|at| (Deadline::Boleto, at)), None]
        }
        _ => [None, None],
    }
}
