//! Limits how much all stores of a process hold in memory at once.
//!
//! A store takes little memory while it waits, and up to a few MiB while it reads. Thousands of stores that start
//! together would all read together. So each reader first acquires a permit, in order of arrival, and releases it
//! before the next page. A large store therefore does not keep the small ones waiting until it has finished.

use espelho_model::watch;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::plan::schedule::Sweep;

/// Rows of a listing page. A page counts as this many rows until it is read.
const PAGE: u32 = 100;
/// Rows, each with its detail, that complete reconciliations hold at once: about 15 MiB of usual orders. They are 3,000
/// pages with a row each, 30 whole ones, or about 90 in a crowd.
const ROWS: usize = 3_000;
/// Rows of a page that a reader holds in a crowd: while others wait for a page. It writes them a piece at a time, because at
/// the limit of 300 requests a minute a page takes twenty seconds, and a hub has thousands of them.
const CROWDED_PAGE: usize = 32;
/// Sweeps at once that must not wait for other sweeps.
const URGENT_SWEEPS: usize = 64;
/// Sweeps at once that may wait.
const SWEEPS: usize = 64;
/// Orders and products that sweeps refresh at once.
const READINGS: usize = 256;

/// The permits of a process, shared by its stores.
#[derive(Debug)]
pub struct MemoryBudget {
    rows: Semaphore,
    urgent: Semaphore,
    sweeps: Semaphore,
    readings: Semaphore,
}

/// A permit. Dropping it releases its share of the budget.
#[derive(Debug)]
pub(crate) struct Permit<'r>(Option<SemaphorePermit<'r>>);

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::of_rows(ROWS)
    }
}

impl MemoryBudget {
    /// Returns a budget with which complete reconciliations hold so many rows at once, a page of them at least.
    pub fn of_rows(rows: usize) -> Self {
        Self {
            rows: Semaphore::new(rows.max(PAGE as usize)),
            urgent: Semaphore::new(URGENT_SWEEPS),
            sweeps: Semaphore::new(SWEEPS),
            readings: Semaphore::new(READINGS),
        }
    }

    /// Waits for a permit for a listing page with its details.
    pub(crate) async fn page(&self) -> Permit<'_> {
        let _waiting = watch::idle();
        Permit(self.rows.acquire_many(PAGE).await.ok())
    }

    /// Returns a permit for a listing page, if there is room for one now and nobody waits for it.
    pub(crate) fn page_now(&self) -> Option<Permit<'_>> {
        self.rows.try_acquire_many(PAGE).ok().map(|permit| Permit(Some(permit)))
    }

    /// Returns how many of a page's rows to hold at once: all, unless no room is left, and others may wait for it.
    pub(crate) fn rows_at_once(&self, rows: usize) -> usize {
        if self.rows.available_permits() == 0 { rows.min(CROWDED_PAGE) } else { rows }
    }

    /// Waits for a permit for a sweep.
    pub(crate) async fn sweep(&self, sweep: Sweep) -> Permit<'_> {
        let permits = match sweep {
            Sweep::NewOrders | Sweep::OpenOrders | Sweep::Counts => &self.urgent,
            _ => &self.sweeps,
        };
        let _waiting = watch::idle();
        Permit(permits.acquire().await.ok())
    }

    /// Tells if as many orders and products are being refreshed as may be.
    pub(crate) fn is_crowded(&self) -> bool {
        self.readings.available_permits() == 0
    }

    /// Waits for a permit for one refresh.
    pub(crate) async fn reading(&self) -> Permit<'_> {
        let _waiting = watch::idle();
        Permit(self.readings.acquire().await.ok())
    }
}

impl Permit<'_> {
    /// Keeps the permit for `rows` rows, at least one, and releases the rest of the page.
    pub(crate) fn keep(&mut self, rows: usize) {
        if let Some(permit) = &mut self.0 {
            drop(permit.split(permit.num_permits().saturating_sub(rows.max(1))));
        }
    }

    /// Returns the rows that it is for.
    pub(crate) fn rows(&self) -> usize {
        self.0.as_ref().map_or(PAGE as usize, SemaphorePermit::num_permits)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    // withstands: F116
    #[test]
    fn no_more_pages_than_there_is_room_for_are_read_at_once_and_small_ones_leave_room() {
        let memory_budget = MemoryBudget::default();
        let mut pages: Vec<_> =
            (0..ROWS / PAGE as usize).map(|_| memory_budget.page().now_or_never().unwrap()).collect();
        assert!(memory_budget.page().now_or_never().is_none());
        pages.iter_mut().for_each(|page| page.keep(20));
        let more: Vec<_> = std::iter::from_fn(|| memory_budget.page().now_or_never()).collect();
        assert_eq!(more.len(), 24, "four fifths of the room are free again");
        pages.clear();
        drop(more);
        assert_eq!(memory_budget.rows.available_permits(), ROWS);
    }

    #[test]
    fn a_page_is_held_whole_unless_others_wait_for_one() {
        let memory_budget = MemoryBudget::of_rows(250);
        let mut first = memory_budget.page().now_or_never().unwrap();
        let second = memory_budget.page().now_or_never().unwrap();
        assert_eq!(memory_budget.rows_at_once(100), 100, "there is room for a half one");
        let mut third = Box::pin(memory_budget.page());
        assert!((&mut third).now_or_never().is_none());
        assert_eq!((memory_budget.rows_at_once(100), memory_budget.rows_at_once(20)), (CROWDED_PAGE, 20));
        first.keep(CROWDED_PAGE);
        assert_eq!((first.rows(), second.rows()), (CROWDED_PAGE, 100));
        assert!((&mut third).now_or_never().is_some(), "what the first does not hold is the third's");
    }

    #[test]
    fn a_page_without_anything_to_read_keeps_a_place_until_it_is_written() {
        let memory_budget = MemoryBudget::default();
        let mut page = memory_budget.page().now_or_never().unwrap();
        page.keep(0);
        assert_eq!(memory_budget.rows.available_permits(), ROWS - 1);
    }

    #[test]
    fn sweeps_for_orders_do_not_wait_for_the_others() {
        let memory_budget = MemoryBudget::default();
        let _slow: Vec<_> = std::iter::from_fn(|| memory_budget.sweep(Sweep::Subresources).now_or_never())
            .take(SWEEPS)
            .collect();
        assert!(memory_budget.sweep(Sweep::Campaigns).now_or_never().is_none());
        assert!(memory_budget.sweep(Sweep::NewOrders).now_or_never().is_some());
    }

    #[test]
    fn whoever_came_first_has_the_next_place() {
        let memory_budget = MemoryBudget::default();
        let mut held: Vec<_> = std::iter::from_fn(|| memory_budget.page().now_or_never()).collect();
        let (mut first, mut second) = (Box::pin(memory_budget.page()), Box::pin(memory_budget.page()));
        assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());
        held.pop();
        assert!((&mut second).now_or_never().is_none(), "the first has waited longer");
        assert!((&mut first).now_or_never().is_some());
    }
}
