//! The statements that run again and again, by name: tests hold their plans to indexes.

use crate::{
    inbox::waiting_stores,
    intents,
    mirror::{staleness, subresources},
    operations::{lists, search, shared_skus, sweeps, zero_prices},
};

/// The statements of sweeps, by name: a test shows that none reads a whole table.
pub fn statements_of_sweeps() -> [(&'static str, &'static str); 8] {
    [
        ("open orders", sweeps::OPEN[1]),
        ("unread", subresources::UNREAD),
        ("unread below", subresources::UNREAD_BELOW),
        ("unread open", subresources::UNREAD_OPEN),
        ("aged", subresources::AGED),
        ("due", staleness::DUE),
        ("unscheduled", staleness::UNSCHEDULED),
        ("products", staleness::PRODUCTS),
    ]
}

/// The alarms' question about shared SKUs: a test shows that it looks the noted ones up.
pub fn statement_of_shared_skus() -> &'static str {
    shared_skus::SHARED
}

/// The alarms' question about prices of zero: a test shows that it reads no other price.
pub fn statement_of_zero_prices() -> &'static str {
    zero_prices::ZERO
}

/// The look at the inboxes of all stores: a test shows that it reads no delivery but the first of each store.
pub fn statement_of_waiting_stores() -> &'static str {
    waiting_stores::OLDEST_BY_STORE
}

/// The statements by which a turn of the scan reads the ERP's open rows, by name: a test shows that none reads more rows
/// than it returns.
pub fn statements_of_turns() -> [(&'static str, &'static str); 14] {
    [
        ("levels", intents::open_pages::STOCK),
        ("level", intents::open_pages::LEVEL),
        ("zeroes", intents::open_pages::ZEROES),
        ("count of zeroes", intents::open_pages::EMPTIES),
        ("commands", intents::open_pages::COMMANDS),
        ("latest statuses", intents::open_pages::LATEST_STATUSES),
        ("first statuses", intents::open_pages::FIRST_STATUSES),
        ("command of a kind", intents::commands::IS_COMING),
        ("prices", intents::open_pages::PRICES),
        ("long levels", intents::unreadable::TOO_LONG[0]),
        ("long prices", intents::unreadable::TOO_LONG[1]),
        ("unreadable levels", intents::unreadable::STOCK[0]),
        ("unreadable commands", intents::unreadable::COMMANDS[0]),
        ("stores with new commands", intents::outbox::WANTING[2]),
    ]
}

/// The statements of the lists and the search of the pages, by name: a test shows that none reads the rows of all orders.
/// The list of dispatches comes from `v_deadlines`: a plan shows the view's other questions too.
pub fn statements_of_lists() -> [(&'static str, String); 7] {
    let [open, _, invoice, not_taken] = lists::ORDERS.clone();
    let spelt = |head: &str| format!("{head} IN ($1, $2)");
    [
        ("open orders", open),
        ("orders without an invoice", invoice),
        ("orders not taken", not_taken),
        ("search", search::FIND.to_owned()),
        ("search of orders in other spellings", spelt(search::ORDERS_SPELT)),
        ("search of documents in other spellings", spelt(search::INVOICES_SPELT)),
        ("search of SKUs in other spellings", spelt(search::SKUS_SPELT)),
    ]
}
