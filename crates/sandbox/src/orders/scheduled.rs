//! The jobs that are scheduled for an order: releases, expiries, refunds.
//!
//! A generated order is never due until it has changed, so that a world stays the same over time.

use serde_json::json;

use super::{
    Order,
    engine::{self, Parts, Step},
    entry::Author,
    events, transitions,
    vocabulary::{Status, Workflow},
};
use crate::event::Event;

/// How long the marketplace's jobs take to come round, in seconds.
pub(super) const JOB_INTERVAL: i64 = 30;

/// A job that is due for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A paid collective order begins to wait.
    Wait,
    /// The campaign ended.
    Release,
    /// The payment is overdue.
    Expire,
    /// A parcel that was picked up counts as delivered.
    HandOver,
    /// The store has auto-preparation.
    Prepare,
    /// The money of a cancelled order goes back.
    Refund,
}

/// The job that is due for an order, and from which second on. `prepares_itself`: the store has auto-preparation.
pub(super) fn due(order: &Order, prepares_itself: bool) -> Option<(Due, i64)> {
    let life = order.life.as_ref().filter(|_| order.raw.is_none())?;
    let is_prepared =
        || prepares_itself && transitions::leads(order.workflow, Status::Paid, Status::Preparing);
    Some(match order.status {
        Status::Paid if order.workflow == Workflow::Collective => (Due::Wait, i64::MIN),
        Status::Paid if is_prepared() => (Due::Prepare, i64::MIN),
        Status::AwaitingCampaign => (Due::Release, order.release_at?),
        Status::WaitingPayment => (Due::Expire, order.payment_expires_at()?),
        Status::PickedUp => (Due::HandOver, i64::MIN),
        Status::Cancelled if life.was_paid && !life.is_refunded => (Due::Refund, i64::MIN),
        _ => return None,
    })
}

/// The move that is due.
pub(super) fn step(due: Due) -> Step {
    let (to, text) = match due {
        Due::Wait => (Status::AwaitingCampaign, "Pedido aguardando o fim da campanha"),
        Due::Release => (Status::Preparing, RELEASED),
        Due::Expire => (Status::PaymentExpired, "Prazo de pagamento expirado"),
        Due::HandOver | Due::Refund => (Status::Delivered, "Entrega confirmada pela retirada"),
        Due::Prepare => (Status::Preparing, "Preparação automática"),
    };
    let mut step = Step { text: Some(text), ..Step::new(to, Author::System) };
    if due == Due::Release {
        step.data.metadata = Some(json!({"automatic_release": true}));
    }
    step
}

const RELEASED: &str = "Liberação automática ao fim da campanha";

/// Gives the money of a paid order back, and returns the event; `None` where there is nothing to give back.
pub(super) fn refund(Parts { orders, shipments, .. }: Parts<'_>, number: &str, now: i64) -> Option<Event> {
    let refunded = engine::touch(shipments, orders, number, |order| {
        let life = order.life();
        if !life.was_paid || life.is_refunded {
            return false;
        }
        life.is_refunded = true;
        order.touch(now);
        true
    });
    orders
        .get(number)
        .filter(|_| refunded == Some(true))
        .map(|order| events::of_order("order.refunded", order))
}
