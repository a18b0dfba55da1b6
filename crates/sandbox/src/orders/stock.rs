//! The stock of an order's lines ("Order line stock status").

use serde_json::json;

use super::{
    Line, Order,
    vocabulary::{Status, StockStatus, Workflow},
};
use crate::{event::Event, products::Catalogue};

/// The stock state of a line after its order entered a status. What is final stays.
///
/// In an order that lacks stock it is the first line that lacks it, as in the generated ones.
pub(super) fn following(line: &Line, workflow: Workflow, status: Status, is_first: bool) -> StockStatus {
    use StockStatus::{
        AwaitingRestock, Committed, InProduction, NotApplicable, Released, Reserved, SoldReserved,
    };
    match (line.stock, status) {
        (NotApplicable, _) => NotApplicable,
        (Committed, _) => Committed,
        (Released, _) => Released,
        (_, Status::Shipped | Status::Delivered | Status::Completed | Status::PickedUp) => Committed,
        (_, Status::Cancelled | Status::PaymentExpired) => Released,
        (Reserved | SoldReserved, Status::AwaitingRestock | Status::AwaitingAvailability) if is_first => {
            AwaitingRestock
        }
        (Reserved | SoldReserved, Status::ProductionStarted)
            if is_first && workflow == Workflow::Production =>
        {
            InProduction
        }
        (
            Reserved,
            Status::Paid | Status::AwaitingCampaign | Status::AwaitingRestock | Status::AwaitingAvailability,
        ) => SoldReserved,
        (AwaitingRestock, Status::Paid | Status::Preparing) => SoldReserved,
        (InProduction, Status::ProductionFinished | Status::Preparing) => SoldReserved,
        (other, _) => other,
    }
}

/// A line that changed: its position and what it was before.
pub(super) type Changed = (usize, StockStatus);

/// `order.item_stock_status_changed` for each line that began or ceased to block dispatch, and for no other.
pub(super) fn blocking_changes(order: &Order, changed: &[Changed], catalogue: &Catalogue) -> Vec<Event> {
    let flipped = |(at, old): &&Changed| old.is_blocking() != order.lines[*at].stock.is_blocking();
    let event = |(at, old): &Changed| {
        let line = &order.lines[*at];
        let product = catalogue.slot(line.product);
        let data = json!({
            "order_number": order.number,
            "order_status": order.status.wire(),
            "order_item_id": order.line_id(*at),
            "product_id": ulid::Ulid(product.id).to_string(),
            "sku": product.sku,
            "quantity": line.quantity,
            "old_stock_status": old.wire(),
            "new_stock_status": line.stock.wire(),
            "is_blocking_stock": line.stock.is_blocking(),
        });
        Event::new("order.item_stock_status_changed", data)
    };
    changed.iter().filter(flipped).map(event).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Milli;

    fn line(stock: StockStatus) -> Line {
        Line { product: 0, quantity: 1, unit_price: Milli(1000), price_scale: 2, stock }
    }

    // proves: STK-006
    #[test]
    fn what_is_final_for_a_line_stays_through_every_status() {
        for stock in [StockStatus::Committed, StockStatus::Released, StockStatus::NotApplicable] {
            for status in Status::ALL {
                assert_eq!(following(&line(stock), Workflow::Standard, *status, true), stock);
            }
        }
    }

    // proves: STK-002, STK-003, STK-004, STK-005
    #[test]
    fn a_line_follows_its_order() {
        use StockStatus::{AwaitingRestock, Committed, InProduction, Released, Reserved, SoldReserved};
        for (from, status, to) in [
            (Reserved, Status::Paid, SoldReserved),
            (SoldReserved, Status::Shipped, Committed),
            (AwaitingRestock, Status::Paid, SoldReserved),
            (SoldReserved, Status::Cancelled, Released),
            (Reserved, Status::PaymentExpired, Released),
            (InProduction, Status::ProductionFinished, SoldReserved),
            (SoldReserved, Status::Preparing, SoldReserved),
        ] {
            assert_eq!(following(&line(from), Workflow::Standard, status, false), to, "{from:?} {status:?}");
        }
    }
}
