//! Decides which orders are open, and which of the mirror's open orders the marketplace no longer lists as open.

use std::collections::HashSet;

use espelho_model::{
    OrderNumber,
    order::{STATUSES, TERMINAL_STATUSES},
};
use espelho_store::OpenOrder;

/// Returns the statuses of orders that may still change.
pub fn open_statuses() -> Vec<&'static str> {
    STATUSES.into_iter().filter(|status| !TERMINAL_STATUSES.contains(status)).collect()
}

/// Returns the orders that the mirror has as open and that the marketplace did not list: they have changed. An order
/// with a status that the request did not name says nothing.
pub fn closed_orders(mirrored: Vec<OpenOrder>, listed: &HashSet<String>) -> Vec<OrderNumber> {
    let open = open_statuses();
    let is_closed = |order: &OpenOrder| {
        let is_requested = order.status.as_deref().is_some_and(|status| open.contains(&status));
        is_requested && !listed.contains(order.number.as_str())
    };
    mirrored.into_iter().filter(is_closed).map(|order| order.number).collect()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[test]
    fn every_status_is_open_or_terminal() {
        let open = open_statuses();
        assert_eq!(open.len() + TERMINAL_STATUSES.len(), STATUSES.len());
        assert!(TERMINAL_STATUSES.iter().all(|status| !open.contains(status)));
        assert!(open.contains(&"waiting_payment") && !open.contains(&"delivered"));
    }

    #[test]
    fn an_open_order_that_is_no_longer_listed_has_changed() {
        let order = |number: &str, status: Option<&str>| OpenOrder {
            number: OrderNumber::new(number),
            status: status.map(str::to_owned),
            mirrored_at: DateTime::UNIX_EPOCH,
        };
        let listed = HashSet::from(["listed".to_owned()]);
        for (number, status, is_closed, why) in [
            ("listed", Some("paid"), false, "it is listed"),
            ("closed", Some("paid"), true, "it is not"),
            ("strange", Some("teleported"), false, "nobody asked for that status"),
            ("blank", None, false, "it has no status"),
            ("done", Some("delivered"), false, "closed orders are not listed"),
        ] {
            let closed = closed_orders(vec![order(number, status)], &listed);
            assert_eq!(!closed.is_empty(), is_closed, "{number}: {why}");
        }
    }
}
