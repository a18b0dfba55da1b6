//! What all stores of a process may take into memory at once.
//!
//! A store costs little while it waits, and up to a few MiB while it reads. Thousands of stores that begin together would
//! all read together; so whoever is about to hold much in memory takes a place first, in the order in which they came, and
//! gives it back before the next page. A large store therefore does not keep the small ones waiting until it is through.

use espelho_model::watch;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::live::schedule::Look;

/// Rows of a page of a listing: what a page is reckoned with until it was read.
const PAGE: u32 = 100;
/// Rows, each with its detail, that complete reconciliations hold at once: about 20 MiB of usual orders. At the documented
/// limit it takes 800 stores with a row each to fill this, or 40 with whole pages.
const ROWS: usize = 4_000;
/// Sweeps that must not wait for others.
const URGENT_LOOKS: usize = 64;
/// Sweeps at once that may.
const LOOKS: usize = 64;
/// Orders and products that are read again at once because of a sweep.
const READINGS: usize = 256;

/// The places of a process, shared by its stores.
#[derive(Debug)]
pub struct Room {
    rows: Semaphore,
    urgent: Semaphore,
    looks: Semaphore,
    readings: Semaphore,
}

/// A place; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place<'r>(Option<SemaphorePermit<'r>>);

impl Default for Room {
    fn default() -> Self {
        Self {
            rows: Semaphore::new(ROWS),
            urgent: Semaphore::new(URGENT_LOOKS),
            looks: Semaphore::new(LOOKS),
            readings: Semaphore::new(READINGS),
        }
    }
}

impl Room {
    /// For a page of a listing with its details.
    pub(crate) async fn page(&self) -> Place<'_> {
        let _waiting = watch::idle();
        Place(self.rows.acquire_many(PAGE).await.ok())
    }

    /// For a sweep.
    pub(crate) async fn look(&self, look: Look) -> Place<'_> {
        let places = match look {
            Look::NewOrders | Look::OpenOrders | Look::Counts => &self.urgent,
            _ => &self.looks,
        };
        let _waiting = watch::idle();
        Place(places.acquire().await.ok())
    }

    /// For reading one thing again.
    pub(crate) async fn reading(&self) -> Place<'_> {
        let _waiting = watch::idle();
        Place(self.readings.acquire().await.ok())
    }
}

impl Place<'_> {
    /// A page has only so many rows that are to be read: the others' places are free.
    pub(crate) fn keep(&mut self, rows: usize) {
        if let Some(permit) = &mut self.0 {
            drop(permit.split(permit.num_permits().saturating_sub(rows.max(1))));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    // withstands: F116
    #[test]
    fn no_more_pages_than_there_is_room_for_are_read_at_once_and_small_ones_leave_room() {
        let room = Room::default();
        let mut pages: Vec<_> =
            (0..ROWS / PAGE as usize).map(|_| room.page().now_or_never().unwrap()).collect();
        assert!(room.page().now_or_never().is_none());
        pages.iter_mut().for_each(|page| page.keep(20));
        let more: Vec<_> = std::iter::from_fn(|| room.page().now_or_never()).collect();
        assert_eq!(more.len(), 32, "four fifths of the room are free again");
        pages.clear();
        drop(more);
        assert_eq!(room.rows.available_permits(), ROWS);
    }

    #[test]
    fn a_page_without_anything_to_read_keeps_a_place_until_it_is_written() {
        let room = Room::default();
        let mut page = room.page().now_or_never().unwrap();
        page.keep(0);
        assert_eq!(room.rows.available_permits(), ROWS - 1);
    }

    #[test]
    fn sweeps_for_orders_do_not_wait_for_the_others() {
        let room = Room::default();
        let _slow: Vec<_> =
            std::iter::from_fn(|| room.look(Look::Parts).now_or_never()).take(LOOKS).collect();
        assert!(room.look(Look::Campaigns).now_or_never().is_none());
        assert!(room.look(Look::NewOrders).now_or_never().is_some());
    }

    #[test]
    fn whoever_came_first_has_the_next_place() {
        let room = Room::default();
        let mut held: Vec<_> = std::iter::from_fn(|| room.page().now_or_never()).collect();
        let (mut first, mut second) = (Box::pin(room.page()), Box::pin(room.page()));
        assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());
        held.pop();
        assert!((&mut second).now_or_never().is_none(), "the first has waited longer");
        assert!((&mut first).now_or_never().is_some());
    }
}
