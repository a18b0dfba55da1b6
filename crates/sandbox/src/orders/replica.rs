//! Reading from a replica that is behind: for a while after a change the routes still answer what was before it.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    ops::Deref,
    sync::{Arc, RwLockReadGuard},
};

use super::{Order, book::Book};
use crate::{control::Control, store::Store};

/// How far a replica is behind, and what it still shows.
pub(super) struct Lag {
    millis: i64,
    now: Box<dyn Fn() -> i64 + Send + Sync>,
    /// What orders were, each until when; the oldest first. `None` is an order that was not there yet.
    past: HashMap<Box<str>, VecDeque<(i64, Option<Order>)>>,
}

impl fmt::Debug for Lag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lag")
            .field("millis", &self.millis)
            .field("orders", &self.past.len())
            .finish_non_exhaustive()
    }
}

impl Lag {
    /// Keeps what an order was before a change.
    pub(super) fn keep(&mut self, number: &str, was: Option<Order>) {
        let now = (self.now)();
        let past = self.past.entry(number.into()).or_default();
        while past.front().is_some_and(|(until, _)| *until <= now) {
            past.pop_front();
        }
        past.push_back((now + self.millis, was));
    }

    /// What the replica shows in place of what is.
    fn shown(&self, number: &str) -> Option<&Option<Order>> {
        let now = (self.now)();
        self.past.get(number)?.iter().find(|(until, _)| *until > now).map(|(_, was)| was)
    }

    /// All the orders as the replica has them.
    fn book(&self, book: &Book) -> Book {
        let is_now = |order: &&Order| self.shown(&order.number).is_none();
        let was = self.past.keys().filter_map(|number| self.shown(number)?.clone());
        Book::new(book.iter().filter(is_now).cloned().chain(was).collect())
    }
}

/// The orders as reading routes show them.
pub(super) enum Shown<'s> {
    Now(RwLockReadGuard<'s, Book>),
    Past(Box<Book>),
}

impl Deref for Shown<'_> {
    type Target = Book;

    fn deref(&self) -> &Book {
        match self {
            Self::Now(book) => book,
            Self::Past(book) => book,
        }
    }
}

impl Store {
    /// The orders to show: those of now, or of a while ago.
    pub(super) fn shown_orders(&self) -> Shown<'_> {
        let book = self.orders();
        match book.lag() {
            None => Shown::Now(book),
            Some(lag) => Shown::Past(Box::new(lag.book(&book))),
        }
    }
}

impl Control {
    /// From now on the routes that read orders show each change only after so many seconds, as a replica that is behind
    /// does; deliveries go out at once. 0 ends it.
    pub fn lag_orders(&self, store: &str, seconds: u32) -> bool {
        let Some(store) = self.world().store(store) else { return false };
        // The world owns the orders: they must not own it.
        let world = Arc::downgrade(self.world());
        let lag = || Lag {
            millis: i64::from(seconds) * 1_000,
            now: Box::new(move || world.upgrade().map_or(i64::MAX, |world| world.clock.millis())),
            past: HashMap::new(),
        };
        let lag = (seconds > 0).then(lag);
        store.orders_mut().set_lag(lag);
        true
    }
}
