//! How an order moves: the same rules for the seller's requests, the marketplace's jobs and the control API.

use super::{
    Order,
    entry::{Author, Entry, EntryKind},
    events, inventory,
    payload::Data,
    state::Orders,
    stock,
    vocabulary::{Status, StockStatus},
};
use crate::{
    event::Event,
    products::Catalogue,
    shipments::{Shipments, move_with_order},
};

/// The parts of a store that a change of an order may touch, locked in this sequence.
pub(super) struct Parts<'a> {
    pub(super) orders: &'a mut Orders,
    pub(super) catalogue: &'a mut Catalogue,
    pub(super) shipments: &'a mut Shipments,
}

/// One move of an order.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) to: Status,
    pub(crate) by: Author,
    /// The text of the timeline, where it is not the usual one.
    pub(crate) text: Option<&'static str>,
    pub(crate) data: Data,
    /// A carrier's scan caused it: the shipments are ahead of the order.
    pub(crate) is_scanned: bool,
    /// A test moved it against the rules: what the new status needs is added without an event.
    pub(crate) is_forced: bool,
}

impl Step {
    pub(crate) fn new(to: Status, by: Author) -> Self {
        Self { to, by, text: None, data: Data::default(), is_scanned: false, is_forced: false }
    }
}

/// Changes an order without moving it. Its shipments are derived first, because they depend on its status.
pub(super) fn touch<T>(
    shipments: &mut Shipments,
    orders: &mut Orders,
    number: &str,
    edit: impl FnOnce(&mut Order) -> T,
) -> Option<T> {
    shipments.of(orders.get(number)?);
    let mut outcome = None;
    orders.edit(number, |order| {
        order.life();
        outcome = Some(edit(order));
    });
    outcome
}

/// Moves an order, its lines, its goods and its shipments, and returns the events.
pub(super) fn apply(
    Parts { orders, catalogue, shipments }: Parts<'_>,
    number: &str,
    step: &Step,
    now: i64,
) -> Vec<Event> {
    let Some(Entered { old, was_paid, changed }) =
        touch(shipments, orders, number, |order| enter(order, step, now))
    else {
        return Vec::new();
    };
    let Some(order) = orders.get(number) else { return Vec::new() };
    let mut reported = Vec::new();
    let reason = step.data.reason.as_deref().unwrap_or("Cancelado pela plataforma");
    if old != order.status {
        if !was_paid && order.life.as_ref().is_some_and(|life| life.was_paid) && !step.is_forced {
            reported.push(events::of_order("order.paid", order));
        }
        reported.push(events::status_changed(order, old));
        if order.status == Status::Cancelled {
            reported.push(events::cancelled(order, old, reason, was_paid));
        }
    }
    reported.extend(stock::blocking_changes(order, &changed, catalogue));
    reported.extend(goods(catalogue, order, &changed));
    reported.extend(move_with_order(
        shipments,
        order,
        !step.is_scanned,
        step.data.tracking_code.as_deref(),
        reason,
        now,
    ));
    reported
}

/// Moves the goods of an order that holds stock.
fn goods(catalogue: &mut Catalogue, order: &Order, changed: &[stock::Changed]) -> Vec<Event> {
    if !order.life.as_ref().is_some_and(|life| life.holds_stock) {
        return Vec::new();
    }
    let changed: Vec<(usize, Option<StockStatus>)> =
        changed.iter().map(|(at, old)| (*at, Some(*old))).collect();
    inventory::move_goods(catalogue, order, &changed)
}

/// Replaces the notes of an order; whether there is such an order.
pub(super) fn set_notes(
    Parts { orders, shipments, .. }: Parts<'_>,
    number: &str,
    notes: Option<&str>,
    now: i64,
) -> bool {
    let changed = touch(shipments, orders, number, |order| {
        order.notes = notes.map(Into::into);
        order.touch(now);
        let text =
            if notes.is_some() { "Observação interna alterada" } else { "Observação interna removida" };
        order.life().timeline.push(Entry::of(now, EntryKind::Note, Author::Seller, text));
    });
    changed.is_some()
}

/// Sets the stock status of one line and returns the events; `None` where there is no such line or its status is final.
pub(super) fn set_line(
    Parts { orders, catalogue, shipments }: Parts<'_>,
    number: &str,
    at: usize,
    stock: StockStatus,
    now: i64,
) -> Option<Vec<Event>> {
    let old = touch(shipments, orders, number, |order| {
        let line = order.lines.get_mut(at)?;
        if matches!(line.stock, StockStatus::Committed | StockStatus::Released) {
            return None;
        }
        let old = std::mem::replace(&mut line.stock, stock);
        order.touch(now);
        Some(old)
    })??;
    let order = orders.get(number)?;
    let changed = [(at, old)];
    let mut reported = stock::blocking_changes(order, &changed, catalogue);
    reported.extend(goods(catalogue, order, &changed));
    Some(reported)
}

/// The order before a move, and the lines that the move changed.
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
    let document = (must_be_invoiced && order.documents().is_empty()).then(|| order.first_document(now));
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
