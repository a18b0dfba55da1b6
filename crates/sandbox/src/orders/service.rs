//! Changes of orders: applies the rules under the lock, announces the events, and schedules what follows by itself.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use super::{
    Order,
    engine::{self, Parts, Step},
    entry::{Author, Document, Entry},
    events, invoices,
    life::Life,
    place::{self, NewOrder, Terms},
    scheduled::{self, Due, JOB_INTERVAL},
    vocabulary::{Status, StockStatus},
};
use crate::{
    announce::announce, random::Random, refusal::Refusal, seed::new_order, store::Store, world::World,
};

/// Moves an order as `decide` says, announces the move, and schedules what follows.
pub(crate) fn change(
    world: &Arc<World>,
    store: &Store,
    number: &str,
    decide: impl FnOnce(&Order) -> Result<Step, Refusal>,
) -> Result<(), Refusal> {
    let now = world.clock.seconds();
    let reported = {
        let mut orders = store.orders_mut();
        let step = decide(orders.get(number).ok_or(Refusal::NotFound)?)?;
        let (mut catalogue, mut shipments) = (store.catalogue_mut(), store.shipments());
        let parts = Parts { orders: &mut orders, catalogue: &mut catalogue, shipments: &mut shipments };
        engine::apply(parts, number, &step, now)
    };
    announce(world, store, reported);
    schedule(world, store, number);
    Ok(())
}

/// Locks what a change of an order may touch, and changes it.
fn with_parts<T>(store: &Store, change: impl FnOnce(Parts<'_>) -> T) -> T {
    let mut orders = store.orders_mut();
    let (mut catalogue, mut shipments) = (store.catalogue_mut(), store.shipments());
    change(Parts { orders: &mut orders, catalogue: &mut catalogue, shipments: &mut shipments })
}

/// Replaces the notes of an order; whether there is such an order.
pub(super) fn set_notes(store: &Store, number: &str, notes: Option<&str>, now: i64) -> bool {
    with_parts(store, |parts| engine::set_notes(parts, number, notes, now))
}

/// Sets the stock status of a line, counted from 0; whether there is such a line, and its status is not final.
pub(super) fn set_line(
    world: &Arc<World>,
    store: &Store,
    number: &str,
    (line, stock): (usize, StockStatus),
) -> bool {
    let now = world.clock.seconds();
    let reported = with_parts(store, |parts| engine::set_line(parts, number, line, stock, now));
    let Some(reported) = reported else { return false };
    announce(world, store, reported);
    true
}

/// The job that is due for an order of a store, and from which second on.
fn due(store: &Store, order: &Order) -> Option<(Due, i64)> {
    scheduled::due(order, store.auto_preparation.load(Relaxed))
}

/// Schedules the job that is due for an order, if there is one.
fn schedule(world: &Arc<World>, store: &Store, number: &str) {
    let Some((planned, from)) = store.orders().get(number).and_then(|order| due(store, order)) else {
        return;
    };
    let (key, number) = (store.key.clone(), number.to_owned());
    let at = from.max(world.clock.seconds() + JOB_INTERVAL);
    world.agenda.at(at.saturating_mul(1000), move |world| run(world, &key, &number, planned));
}

/// Runs a scheduled job, where it is still due.
fn run(world: &Arc<World>, store: &str, number: &str, planned: Due) {
    let Some(store) = world.store(store) else { return };
    let now = world.clock.seconds();
    let still = |order: &Order| due(store, order).is_some_and(|(due, from)| due == planned && from <= now);
    if planned == Due::Refund {
        if store.orders().get(number).is_some_and(still) {
            refund(world, store, number);
        }
        return;
    }
    // A job that is not due any more does nothing: the refusal goes nowhere.
    let _ = change(world, store, number, |order| match still(order) {
        true => Ok(scheduled::step(planned)),
        false => Err(Refusal::NotFound),
    });
}

/// Releases a collective order before its time, as the end of the campaign would.
pub(super) fn release(world: &Arc<World>, store: &Store, number: &str) -> bool {
    let released = change(world, store, number, |order| match order.status {
        Status::AwaitingCampaign => Ok(scheduled::step(Due::Release)),
        _ => Err(Refusal::NotFound),
    });
    released.is_ok()
}

/// Gives the money of a paid order back; whether there was any to give back.
pub(super) fn refund(world: &Arc<World>, store: &Store, number: &str) -> bool {
    let now = world.clock.seconds();
    let Some(event) = with_parts(store, |parts| scheduled::refund(parts, number, now)) else { return false };
    announce(world, store, vec![event]);
    true
}

/// Moves an order after its shipments, if it is still in the status that they left it in.
pub(crate) fn follow_shipments(world: &Arc<World>, store: &Store, number: &str, from: Status, to: Status) {
    let text = match to {
        Status::Shipped => "Remessa em trânsito",
        _ => "Entrega confirmada pela transportadora",
    };
    let _ = change(world, store, number, |order| match order.status == from {
        true => Ok(Step { text: Some(text), is_scanned: true, ..Step::new(to, Author::System) }),
        false => Err(Refusal::NotFound),
    });
}

/// Places an order and leaves it unpaid; its number, or `None` where something named does not exist.
pub(super) fn place_order(world: &Arc<World>, store: &Store, new: NewOrder) -> Option<String> {
    let terms = Terms::parse(&new)?;
    let checkout = match &new.same_checkout_as {
        Some(other) => Some(store.orders().get(other)?.checkout()),
        None => None,
    };
    let now = world.clock.seconds();
    let order = generated(world, store, now);
    let order = place::placed(order, new, terms, checkout, &store.catalogue(), now)?;
    Some(add(world, store, order))
}

/// Adds a paid order that is not yet prepared; its number.
pub(super) fn insert_order(world: &Arc<World>, store: &Store) -> String {
    let now = world.clock.seconds();
    let mut order = generated(world, store, now);
    let timeline = vec![
        Entry::of_status(now, Author::System, None, Status::WaitingPayment),
        Entry::of_status(now, Author::System, Some(Status::WaitingPayment), Status::Paid),
    ];
    order.life = Some(Box::new(Life { timeline, was_paid: true, ..Life::default() }));
    add(world, store, order)
}

/// The next generated order of a store, paid and created now.
fn generated(world: &World, store: &Store, now: i64) -> Order {
    let count = store.orders_made.fetch_add(1, Relaxed) + 1;
    let mut random = Random::of(&[world.options.seed, store.id, count, 0xB127]);
    new_order(&mut random, store, count, now)
}

fn add(world: &Arc<World>, store: &Store, order: Order) -> String {
    let number = order.number.to_string();
    let reported = with_parts(store, |Parts { orders, catalogue, .. }| place::add(orders, catalogue, order));
    announce(world, store, reported);
    schedule(world, store, &number);
    number
}

/// Changes the fiscal documents of an order, and announces the one that `edit` returns; its identifier.
pub(super) fn change_documents(
    world: &Arc<World>,
    store: &Store,
    number: &str,
    edit: impl FnOnce(&mut Order) -> Result<Document, Refusal>,
) -> Result<u64, Refusal> {
    let changed = with_parts(store, |Parts { orders, shipments, .. }| {
        let document = engine::touch(shipments, orders, number, edit).ok_or(Refusal::NotFound)??;
        let order = orders.get(number).ok_or(Refusal::NotFound)?;
        Ok((document, events::invoiced(order, &document)))
    });
    let (document, event) = changed?;
    announce(world, store, vec![event]);
    Ok(document.id)
}

/// Has the last fiscal document of an order rejected; whether there is one. The document has no event for it.
pub(super) fn reject_document(world: &World, store: &Store, number: &str) -> bool {
    let now = world.clock.seconds();
    let reject = |order: &mut Order| invoices::reject(order, now);
    let rejected =
        with_parts(store, |Parts { orders, shipments, .. }| engine::touch(shipments, orders, number, reject));
    rejected == Some(true)
}
