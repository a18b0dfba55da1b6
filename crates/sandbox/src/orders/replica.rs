//! A replica that is behind: for a while after a change, the routes still show the state before it.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
};

use super::Order;

/// The lag of a replica, and the past states of orders that it still shows.
pub(super) struct Lag {
    millis: i64,
    now: Box<dyn Fn() -> i64 + Send + Sync>,
    /// The past states of each order and the millisecond until which each shows, oldest first. `None`: not there yet.
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
    /// A replica that shows each change `millis` after it; `now` is the clock, in milliseconds.
    pub(super) fn new(millis: i64, now: Box<dyn Fn() -> i64 + Send + Sync>) -> Self {
        Self { millis, now, past: HashMap::new() }
    }

    /// Keeps an order as it was before a change.
    pub(super) fn keep(&mut self, number: &str, was: Option<Order>) {
        let now = (self.now)();
        let past = self.past.entry(number.into()).or_default();
        while past.front().is_some_and(|(until, _)| *until <= now) {
            past.pop_front();
        }
        past.push_back((now + self.millis, was));
    }

    /// The past state that the replica shows in place of the present one.
    pub(super) fn shown(&self, number: &str) -> Option<&Option<Order>> {
        let now = (self.now)();
        self.past.get(number)?.iter().find(|(until, _)| *until > now).map(|(_, was)| was)
    }

    /// The orders that differ from now, as the replica still shows them.
    pub(super) fn past(&self) -> impl Iterator<Item = Order> {
        self.past.keys().filter_map(|number| self.shown(number)?.clone())
    }
}
