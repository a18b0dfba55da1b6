//! Decides when orders are read again with all their sub-resources: their listing does not show everything that can
//! change. Open orders, and those changed in the last week, are read each day, those of a month each week, the rest
//! each month.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::order::TERMINAL_STATUSES;
use espelho_store::{DueOrder, DueTime, Rescheduling, UnscheduledOrder};

/// Orders that changed within the first span before their last read are read again after the second. Open orders
/// belong to the first row.
const PACES: [(TimeDelta, TimeDelta); 2] =
    [(TimeDelta::days(7), TimeDelta::days(1)), (TimeDelta::days(30), TimeDelta::days(7))];
/// All others are read again after this span.
const OLD: TimeDelta = TimeDelta::days(30);
/// An order that was queued and is not read is due again after this span. Until then others have its turn.
const RETRY: TimeDelta = TimeDelta::hours(1);

/// Returns when an order is due after its last read.
pub fn schedule(order: UnscheduledOrder) -> Rescheduling {
    let due = order.changed_at.map(|changed_at| due(order.read_at, changed_at, order.status.as_deref()));
    Rescheduling { number: order.number, replaces: order.since, due }
}

/// Returns when an order that is queued now is due again if it is not read.
pub fn retry(order: &DueOrder, now: DateTime<Utc>) -> Rescheduling {
    let due = DueTime { at: now + RETRY, ..order.due };
    Rescheduling { number: order.number.clone(), replaces: order.due.at, due: Some(due) }
}

fn due(read_at: DateTime<Utc>, changed_at: DateTime<Utc>, status: Option<&str>) -> DueTime {
    let [young, middle] = PACES;
    let is_open = status.is_none_or(|status| !TERMINAL_STATUSES.contains(&status));
    let is_within = |span: TimeDelta| read_at - changed_at <= span;
    let is_young = is_open || is_within(young.0);
    let after = match is_young {
        true => young.1,
        false if is_within(middle.0) => middle.1,
        false => OLD,
    };
    DueTime { at: read_at + after, is_young }
}

#[cfg(test)]
mod tests {
    use espelho_model::OrderNumber;

    use super::*;

    fn day(days: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(days)
    }

    fn number() -> OrderNumber {
        OrderNumber::new("1")
    }

    #[test]
    fn an_order_is_read_again_the_sooner_the_later_it_changed() {
        for (status, changed_before, expected_after, is_young, why) in [
            (Some("delivered"), 0, 1, true, "it has just changed"),
            (Some("delivered"), 7, 1, true, "it changed within a week"),
            (Some("delivered"), 8, 7, false, "it changed within a month"),
            (Some("cancelled"), 30, 7, false, "it changed within a month"),
            (Some("completed"), 31, 30, false, "it is old"),
            (Some("payment_expired"), 700, 30, false, "it is old"),
            (Some("paid"), 31, 1, true, "it is open"),
            (Some("teleported"), 700, 1, true, "nobody knows whether it is closed"),
            (None, 700, 1, true, "it may be open"),
            (Some("delivered"), -20, 1, true, "it changed after it was read"),
        ] {
            let order = UnscheduledOrder {
                number: number(),
                since: day(1_001),
                read_at: day(1_000),
                changed_at: Some(day(1_000 - changed_before)),
                status: status.map(str::to_owned),
            };
            let due = DueTime { at: day(1_000 + expected_after), is_young };
            let expected = Rescheduling { number: number(), replaces: day(1_001), due: Some(due) };
            assert_eq!(schedule(order), expected, "{status:?}, changed {changed_before} days before: {why}");
        }
    }

    #[test]
    fn an_order_that_is_gone_is_never_due() {
        let order = UnscheduledOrder {
            number: number(),
            since: day(3),
            read_at: day(2),
            changed_at: None,
            status: None,
        };
        assert_eq!(schedule(order), Rescheduling { number: number(), replaces: day(3), due: None });
    }

    #[test]
    fn an_order_that_is_queued_and_not_read_gives_others_its_turn() {
        for is_young in [true, false] {
            let due = DueOrder { number: number(), due: DueTime { at: day(3), is_young } };
            let later = DueTime { at: day(5) + TimeDelta::hours(1), is_young };
            let expected = Rescheduling { number: number(), replaces: day(3), due: Some(later) };
            assert_eq!(retry(&due, day(5)), expected);
        }
    }
}
