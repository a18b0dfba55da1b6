//! What happens to an order by itself: jobs, campaign ends, expiries.
//!
//! A generated order waits for ever until somebody touches it, so that a world is the same however long it has run.

use std::sync::Arc;

use serde_json::json;

use super::{
    Order, announce,
    announce::Told,
    engine::{self, Step},
    life::Author,
    transitions,
    vocabulary::{Status, Workflow},
};
use crate::{answer::Refusal, store::Store, world::World};

/// How long the marketplace's jobs take to come round, in seconds.
const ROUND: i64 = 30;

/// What is due for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// A paid collective order begins to wait.
    Wait,
    /// The campaign ended.
    Release,
    /// Nobody paid.
    Expire,
    /// A parcel that was picked up counts as delivered.
    HandOver,
    /// The store has auto-preparation.
    Prepare,
    /// The money of a cancelled order goes back.
    Refund,
}

/// What is due for an order, and from which second on.
fn due(order: &Order, store: &Store) -> Option<(Due, i64)> {
    let life = order.life.as_ref().filter(|_| order.raw.is_none())?;
    let prepares_itself = || {
        let is_set = store.auto_preparation.load(std::sync::atomic::Ordering::Relaxed);
        is_set && transitions::leads(order.workflow, Status::Paid, Status::Preparing)
    };
    Some(match order.status {
        Status::Paid if order.workflow == Workflow::Collective => (Due::Wait, i64::MIN),
        Status::Paid if prepares_itself() => (Due::Prepare, i64::MIN),
        Status::AwaitingCampaign => (Due::Release, order.release_at?),
        Status::WaitingPayment => (Due::Expire, order.payment_expires_at()?),
        Status::PickedUp => (Due::HandOver, i64::MIN),
        Status::Cancelled if life.was_paid && !life.is_refunded => (Due::Refund, i64::MIN),
        _ => return None,
    })
}

/// Plans what is due for an order, if anything is.
pub(super) fn plan(world: &Arc<World>, store: &Store, number: &str) {
    let Some((due, from)) = store.orders().get(number).and_then(|order| due(order, store)) else { return };
    let (key, number) = (store.key.clone(), number.to_owned());
    let at = from.max(world.clock.seconds() + ROUND);
    world.agenda.at(at.saturating_mul(1000), move |world| run(world, &key, &number, due));
}

/// Does what was planned, where it is still due.
fn run(world: &Arc<World>, store: &str, number: &str, planned: Due) {
    let Some(store) = world.store(store) else { return };
    let now = world.clock.seconds();
    let still = |order: &Order| due(order, store).is_some_and(|(due, from)| due == planned && from <= now);
    if planned == Due::Refund {
        if store.orders().get(number).is_some_and(still) {
            refund(world, store, number);
        }
        return;
    }
    // What is not due any more needs nothing done: the refusal goes nowhere.
    let _ = engine::change(world, store, number, |order| match still(order) {
        true => Ok(step(planned)),
        false => Err(Refusal::NotFound),
    });
}

fn step(due: Due) -> Step {
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

/// Releases a collective order before its time, as the end of the campaign would.
pub(super) fn release(world: &Arc<World>, store: &Store, number: &str) -> bool {
    let released = engine::change(world, store, number, |order| match order.status {
        Status::AwaitingCampaign => Ok(step(Due::Release)),
        _ => Err(Refusal::NotFound),
    });
    released.is_ok()
}

/// Gives the money of a paid order back.
pub(super) fn refund(world: &Arc<World>, store: &Store, number: &str) -> bool {
    let now = world.clock.seconds();
    let told: Told = {
        let mut book = store.orders_mut();
        let refunded = engine::touch(store, &mut book, number, |order| {
            let life = order.life();
            if !life.was_paid || life.is_refunded {
                return false;
            }
            life.is_refunded = true;
            order.touch(now);
            true
        });
        match book.get(number) {
            Some(order) if refunded == Some(true) => vec![("order.refunded", announce::whole(order))],
            _ => return false,
        }
    };
    world.announce(store, told);
    true
}

/// Moves an order after its shipments, if it still is where they left it.
pub(crate) fn carried(world: &Arc<World>, store: &Store, number: &str, from: Status, to: Status) {
    let text = match to {
        Status::Shipped => "Remessa em trânsito",
        _ => "Entrega confirmada pela transportadora",
    };
    let _ = engine::change(world, store, number, |order| match order.status == from {
        true => Ok(Step { text: Some(text), is_scanned: true, ..Step::new(to, Author::System) }),
        false => Err(Refusal::NotFound),
    });
}
