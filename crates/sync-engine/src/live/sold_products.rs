//! Products of changed orders: their reserved stock has changed with the order, and no event reports it.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use espelho_model::ProductId;

use super::{refresh_queue::RefreshQueue, signals::Signals};
use crate::plan::refresh_request::{Entity, RefreshRequest};

/// Orders of one product that arrive within this time share one refresh of it.
const GATHERED_FOR: Duration = Duration::from_secs(3);
/// Products of changed orders that are remembered; the rotation sweep covers the rest.
const MAX_SOLD: usize = 10_000;

/// The products of changed orders that wait for their sweep.
pub(super) struct SoldProducts<'c> {
    queue: &'c RefreshQueue<'c>,
    signals: &'c Signals,
    waiting: Mutex<BTreeSet<ProductId>>,
}

impl<'c> SoldProducts<'c> {
    /// Returns an empty set, which passes products on to `queue` while that has little to do.
    pub(super) fn new(queue: &'c RefreshQueue<'c>, signals: &'c Signals) -> Self {
        Self { queue, signals, waiting: Mutex::default() }
    }

    /// Requests products of a changed order. They are read within seconds; if much waits to be read already, the sweep
    /// reads them in its turn.
    pub(super) fn note(&self, products: Vec<ProductId>) {
        if self.signals.is_mirrored() && !self.queue.is_busy() {
            let request = |id| (Entity::Product(id), RefreshRequest::found([]));
            return self.queue.push_later(GATHERED_FOR, products.into_iter().map(request));
        }
        let mut waiting = self.waiting();
        for product in products {
            if waiting.len() < MAX_SOLD {
                waiting.insert(product);
            }
        }
    }

    /// Takes at most `most` of the products that wait.
    pub(super) fn take(&self, most: usize) -> Vec<ProductId> {
        let mut waiting = self.waiting();
        let taken: Vec<ProductId> = waiting.iter().take(most).cloned().collect();
        for product in &taken {
            waiting.remove(product);
        }
        taken
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<ProductId>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espelho_model::Clock as _;

    use crate::{live::test_clock::TestClock, plan::refresh_request::Urgency};

    fn products(ids: std::ops::Range<usize>) -> Vec<ProductId> {
        ids.map(|id| ProductId::new(format!("{id:05}"))).collect()
    }

    #[test]
    fn products_of_a_sale_are_read_within_seconds_and_in_their_turn_where_much_waits() {
        let clock = TestClock::default();
        let (queue, signals) = (RefreshQueue::new(&clock), Signals::new(clock.monotonic()));
        let sold = SoldProducts::new(&queue, &signals);
        sold.note(products(0..2));
        assert_eq!(queue.next_due(Urgency::Swept), None, "the first reconciliation reads them");
        assert_eq!(sold.take(1), products(0..1));
        signals.note_mirrored();
        sold.note(products(10..12));
        assert_eq!(queue.next_due(Urgency::Found), Some(clock.monotonic() + GATHERED_FOR));
        queue.push(products(100..200).into_iter().map(|id| (Entity::Product(id), RefreshRequest::default())));
        sold.note(products(300..301));
        assert_eq!(sold.take(9), [products(1..2), products(300..301)].concat());
        assert!(sold.take(9).is_empty());
    }

    #[test]
    fn a_store_remembers_only_so_many() {
        let clock = TestClock::default();
        let (queue, signals) = (RefreshQueue::new(&clock), Signals::new(clock.monotonic()));
        let sold = SoldProducts::new(&queue, &signals);
        sold.note(products(0..MAX_SOLD + 5));
        assert_eq!(sold.take(usize::MAX).len(), MAX_SOLD);
    }
}
