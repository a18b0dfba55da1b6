//! Which workflow and status an order has, and what that means for its lines.

use crate::{
    orders::{
        statuses,
        vocabulary::{Status, StockStatus, Workflow},
    },
    random::Random,
};

const WORKFLOWS: [(Workflow, u32); 6] = [
    (Workflow::Standard, 860),
    (Workflow::InStorePickup, 40),
    (Workflow::Production, 30),
    (Workflow::Backorder, 30),
    (Workflow::PreOrder, 20),
    (Workflow::Collective, 20),
];

/// Final states of orders that are long past, as measured.
const SETTLED: [(Status, u32); 5] = [
    (Status::Delivered, 9702),
    (Status::Shipped, 111),
    (Status::Cancelled, 124),
    (Status::Completed, 30),
    (Status::PaymentExpired, 33),
];

/// Every pair of workflow and status, those that show a status or workflow for the first time in front.
pub(super) fn coverage() -> Vec<(Workflow, Status)> {
    let all = Workflow::ALL
        .iter()
        .flat_map(|workflow| statuses(*workflow).into_iter().map(move |status| (*workflow, status)));
    let (mut seen, mut first, mut rest) = (0, Vec::new(), Vec::new());
    for (workflow, status) in all {
        let is_new = seen & status.bit() == 0;
        seen |= status.bit();
        if is_new { first.push((workflow, status)) } else { rest.push((workflow, status)) }
    }
    first.extend(rest);
    first
}

/// A workflow and a status for an order of this age.
pub(super) fn drawn(random: &mut Random, age_days: i64) -> (Workflow, Status) {
    let workflow = random.weighted(&WORKFLOWS);
    let status = match age_days {
        12.. => random.weighted(&SETTLED),
        4.. => random.weighted(&[(late_step(workflow), 7), (Status::Delivered, 3)]),
        _ => *random.pick(&statuses(workflow)),
    };
    // A parcel that waits in the shop is not on the road.
    let is_pickup = workflow == Workflow::InStorePickup;
    (workflow, if is_pickup && status == Status::Shipped { Status::ReadyForPickup } else { status })
}

fn late_step(workflow: Workflow) -> Status {
    if workflow == Workflow::InStorePickup { Status::ReadyForPickup } else { Status::Shipped }
}

/// The stock state of a line of an order; only the first line of a mixed order lacks stock.
pub(crate) fn line_stock(workflow: Workflow, status: Status, is_first: bool) -> StockStatus {
    match status {
        Status::WaitingPayment => StockStatus::Reserved,
        Status::Shipped | Status::Delivered | Status::Completed | Status::PickedUp => StockStatus::Committed,
        Status::Cancelled | Status::PaymentExpired => StockStatus::Released,
        Status::AwaitingRestock | Status::AwaitingAvailability if is_first => StockStatus::AwaitingRestock,
        Status::ProductionStarted | Status::AwaitingMaterials | Status::ProductionInProgress
            if is_first && workflow == Workflow::Production =>
        {
            StockStatus::InProduction
        }
        _ => StockStatus::SoldReserved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_begins_with_every_status_once() {
        let pairs = coverage();
        let seen = pairs[..Status::ALL.len()].iter().fold(0, |seen, (_, status)| seen | status.bit());
        assert_eq!(seen.count_ones() as usize, Status::ALL.len());
    }
}
