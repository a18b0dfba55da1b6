//! The orders as reading routes show them: as they are now, or as a replica that is behind still has them.

use std::ops::Deref;

use parking_lot::RwLockReadGuard;

use super::{Order, replica::Lag, state::Orders};
use crate::store::Store;

/// The orders as reading routes show them.
pub(super) enum Shown<'s> {
    Now(RwLockReadGuard<'s, Orders>),
    Past(Box<Orders>),
}

impl Deref for Shown<'_> {
    type Target = Orders;

    fn deref(&self) -> &Orders {
        match self {
            Self::Now(orders) => orders,
            Self::Past(orders) => orders,
        }
    }
}

/// The orders to show: those of now, or of a while ago.
pub(super) fn shown_orders(store: &Store) -> Shown<'_> {
    let orders = store.orders();
    match orders.lag() {
        None => Shown::Now(orders),
        Some(lag) => Shown::Past(Box::new(past(&orders, lag))),
    }
}

/// All the orders as a replica has them.
fn past(orders: &Orders, lag: &Lag) -> Orders {
    let is_now = |order: &&Order| lag.shown(&order.number).is_none();
    Orders::new(orders.iter().filter(is_now).cloned().chain(lag.past()).collect())
}
