//! The past of an order that was generated or loaded: a plausible one that ends in its status.

use serde_json::json;

use super::{
    Order,
    entry::{Author, Entry, EntryKind},
    vocabulary::{Status, Workflow},
};

/// The timeline of an order that has not changed since the start.
pub(super) fn derived(order: &Order) -> Vec<Entry> {
    let path = path(order.workflow, order.status);
    let span = (order.updated_at - order.created_at).max(0);
    let steps = (path.len() as i64 - 1).max(1);
    let at = |step: usize| order.created_at + span * step as i64 / steps;
    let mut timeline: Vec<Entry> = Vec::new();
    for (step, to) in path.iter().enumerate() {
        let from = step.checked_sub(1).map(|before| path[before]);
        timeline.push(Entry::of_status(at(step), author(*to), from, *to));
        if *to == Status::Preparing && order.was_made_invoiced() {
            timeline.push(invoiced(order, at(step)));
        }
    }
    if order.notes.is_some() {
        let at = order.created_at + span;
        timeline.push(Entry::of(at, EntryKind::Note, Author::Seller, "Observação interna alterada"));
    }
    timeline
}

fn invoiced(order: &Order, at: i64) -> Entry {
    let document = order.first_document(at);
    Entry::of(at, EntryKind::Fiscal, Author::Seller, "Documento fiscal emitido").with(Some(json!({
        "invoice_id": document.id,
        "invoice_type": document.kind.wire(),
        "invoice_number": document.number.to_string(),
    })))
}

/// The usual author of a move into a status.
fn author(to: Status) -> Author {
    match to {
        Status::WaitingPayment
        | Status::Paid
        | Status::PaymentExpired
        | Status::AwaitingCampaign
        | Status::AwaitingAvailability
        | Status::AwaitingRestock
        | Status::Delivered
        | Status::Completed => Author::System,
        _ => Author::Seller,
    }
}

/// The statuses that lead to one, itself included.
fn path(workflow: Workflow, status: Status) -> Vec<Status> {
    use Status::{
        AwaitingMaterials, Cancelled, Paid, PaymentExpired, PickupExpired, ProductionStarted, ReadyForPickup,
        WaitingPayment,
    };
    let (last, aside): (Status, &[Status]) = match status {
        PaymentExpired => (WaitingPayment, &[PaymentExpired]),
        Cancelled => (Paid, &[Cancelled]),
        AwaitingMaterials => (ProductionStarted, &[AwaitingMaterials]),
        PickupExpired => (ReadyForPickup, &[PickupExpired]),
        status => (status, &[]),
    };
    let track = track(workflow);
    match track.iter().position(|step| *step == last) {
        Some(end) => [&track[..=end], aside].concat(),
        // A status of another workflow, into which a test moved the order.
        None => vec![WaitingPayment, Paid, status],
    }
}

/// The statuses of an order without incidents.
fn track(workflow: Workflow) -> Vec<Status> {
    use Status::{
        AwaitingAvailability, AwaitingCampaign, AwaitingRestock, Completed, Delivered, Paid, PickedUp,
        Preparing, ProductionFinished, ProductionInProgress, ProductionStarted, ReadyForPickup, ReadyToShip,
        Shipped, WaitingPayment,
    };
    let start: &[Status] = match workflow {
        Workflow::Standard | Workflow::InStorePickup => &[Paid],
        Workflow::Production => &[Paid, ProductionStarted, ProductionInProgress, ProductionFinished],
        Workflow::PreOrder => &[AwaitingAvailability, Paid],
        Workflow::Backorder => &[AwaitingRestock, Paid],
        Workflow::Collective => &[Paid, AwaitingCampaign],
    };
    let road: &[Status] = match workflow {
        Workflow::InStorePickup => &[Preparing, ReadyForPickup, PickedUp],
        _ => &[Preparing, ReadyToShip, Shipped],
    };
    [&[WaitingPayment], start, road, &[Delivered, Completed]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::statuses;

    #[test]
    fn every_status_of_every_workflow_has_a_past_that_ends_in_it() {
        for workflow in Workflow::ALL {
            for status in statuses(*workflow) {
                let path = path(*workflow, status);
                assert_eq!(path.first(), Some(&Status::WaitingPayment), "{workflow:?} {status:?}");
                assert_eq!(path.last(), Some(&status), "{workflow:?}");
            }
        }
    }
}
