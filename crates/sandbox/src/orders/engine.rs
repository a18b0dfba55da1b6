//! How an order moves: one place for the seller's requests, the marketplace's jobs and what tests do.

use std::sync::Arc;

use super::{
    Order, announce,
    announce::Told,
    book::Book,
    follow,
    life::{Author, Entry},
    payload::Data,
    shelf, stock,
    vocabulary::{Status, StockStatus},
};
use crate::{answer::Refusal, shipments, store::Store, world::World};

/// One move of an order.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) to: Status,
    pub(crate) by: Author,
    /// What the timeline says in place of the usual.
    pub(crate) text: Option<&'static str>,
    pub(crate) data: Data,
    /// A carrier's scan brought it about, so that the shipments are ahead of the order.
    pub(crate) is_scanned: bool,
    /// A test moved it, whatever the rules say: what the new status needs is put there silently.
    pub(crate) is_forced: bool,
}

impl Step {
    pub(crate) fn new(to: Status, by: Author) -> Self {
        Self { to, by, text: None, data: Data::default(), is_scanned: false, is_forced: false }
    }
}

/// Moves an order as `decide` says, then tells about it and plans what follows by itself.
pub(crate) fn change(
    world: &Arc<World>,
    store: &Store,
    number: &str,
    decide: impl FnOnce(&Order) -> Result<Step, Refusal>,
) -> Result<(), Refusal> {
    let now = world.clock.seconds();
    let told = {
        let mut book = store.orders_mut();
        let step = decide(book.get(number).ok_or(Refusal::NotFound)?)?;
        apply(store, &mut book, number, &step, now)
    };
    world.announce(store, told);
    follow::plan(world, store, number);
    Ok(())
}

/// Changes an order without moving it. Its shipments come into being before, because they are derived from its status.
pub(super) fn touch<T>(
    store: &Store,
    book: &mut Book,
    number: &str,
    edit: impl FnOnce(&mut Order) -> T,
) -> Option<T> {
    store.shipments_of(book.get(number)?);
    let mut outcome = None;
    book.edit(number, |order| {
        order.life();
        outcome = Some(edit(order));
    });
    outcome
}

/// Moves an order, its lines, its goods and its shipments.
fn apply(store: &Store, book: &mut Book, number: &str, step: &Step, now: i64) -> Told {
    let Some(Entered { old, was_paid, changed }) =
        touch(store, book, number, |order| enter(order, step, now))
    else {
        return Told::new();
    };
    let Some(order) = book.get(number) else { return Told::new() };
    let mut told = Told::new();
    let reason = step.data.reason.as_deref().unwrap_or("Cancelado pela plataforma");
    if old != order.status {
        if !was_paid && order.life.as_ref().is_some_and(|life| life.was_paid) && !step.is_forced {
            told.push(("order.paid", announce::whole(order)));
        }
        told.push(("order.status_changed", announce::status_changed(order, old)));
        if order.status == Status::Cancelled {
            told.push(("order.cancelled", announce::cancelled(order, old, reason, was_paid)));
        }
    }
    let lines = stock::told(order, &changed, &store.catalogue());
    told.extend(lines.into_iter().map(|data| ("order.item_stock_status_changed", data)));
    told.extend(goods(store, order, &changed));
    told.extend(shipments::follow(
        store,
        order,
        !step.is_scanned,
        step.data.tracking_code.as_deref(),
        reason,
        now,
    ));
    told
}

/// Moves the goods of an order that holds some.
pub(super) fn goods(store: &Store, order: &Order, changed: &[stock::Changed]) -> Told {
    if !order.life.as_ref().is_some_and(|life| life.holds_stock) {
        return Told::new();
    }
    let changed: Vec<(usize, Option<StockStatus>)> =
        changed.iter().map(|(at, old)| (*at, Some(*old))).collect();
    shelf::move_goods(store, order, &changed)
}

/// What a move found and left.
struct Entered {
    old: Status,
    /// Before the move.
    was_paid: bool,
    changed: Vec<stock::Changed>,
}

fn enter(order: &mut Order, step: &Step, now: i64) -> Entered {
    let old = order.status;
    let before: Vec<StockStatus> = order.lines.iter().map(|line| line.stock).collect();
    let was_paid = order.life().was_paid;
    order.enter(step.to, now);
    if old != step.to {
        let mut entry = Entry::of_status(now, step.by, Some(old), step.to).with(step.data.metadata.clone());
        if let Some(text) = step.text {
            entry.text = text.into();
        }
        order.life().timeline.push(entry);
    }
    note_ends(order, old, step, now);
    let after = order.lines.iter().map(|line| line.stock);
    let changed = before.into_iter().zip(after).enumerate();
    let changed = changed.filter(|(_, (old, new))| old != new).map(|(at, (old, _))| (at, old)).collect();
    Entered { old, was_paid, changed }
}

/// Keeps what a status means for payment, delivery and documents.
fn note_ends(order: &mut Order, old: Status, step: &Step, now: i64) {
    use Status::{Cancelled, Completed, Delivered, PaymentExpired, Preparing, WaitingPayment};
    let must_be_invoiced = step.is_forced && step.to != Preparing && order.was_made_invoiced();
    let document = (must_be_invoiced && !order.is_invoiced()).then(|| order.first_document(now));
    let life = order.life();
    life.documents.extend(document);
    match step.to {
        Delivered | Completed => life.delivered_at = life.delivered_at.or(Some(now)),
        Cancelled => life.is_refunded |= step.is_forced,
        WaitingPayment => life.was_paid = false,
        PaymentExpired => {}
        _ => life.was_paid |= old == WaitingPayment || step.is_forced,
    }
}
