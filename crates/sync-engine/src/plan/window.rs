//! A walk over the newest rows of a listing that shifts meanwhile. Pure.
//!
//! Rows that arrive move others down: the walk sees those twice. Rows that leave move others up: one can slip past
//! between two pages. When new rows continue from one page to the next, the walk reads the same pages again, until it
//! finds nothing.

use std::collections::{HashMap, HashSet};

use espelho_model::ContentHash;

/// The most walks over the same pages: faster shifts are left to the next sweep.
const WALKS: u32 = 3;

/// A walk over the first pages of a listing.
#[derive(Debug)]
pub struct Window {
    page: u64,
    /// The least pages of a walk.
    least: u64,
    /// The most pages of a walk.
    most: u64,
    walks: u32,
    /// Whether the last row of a page was new in this walk, so that more new rows may have slipped past.
    may_have_skipped: bool,
    /// Rows that were passed on already.
    seen: HashMap<String, ContentHash>,
}

impl Window {
    /// Creates a walk over at least `least` pages, and at most `most`.
    pub fn new(least: u64, most: u64) -> Self {
        Self { page: 1, least, most, walks: 1, may_have_skipped: false, seen: HashMap::new() }
    }

    /// Returns the page to read next.
    pub fn page(&self) -> u64 {
        self.page
    }

    /// Returns which of a page's rows (by index) were not passed on in this state before.
    pub fn fresh(&self, rows: &[(&str, ContentHash)]) -> HashSet<usize> {
        let is_fresh = |(at, (key, hash)): (usize, &(&str, ContentHash))| {
            (self.seen.get(*key) != Some(hash)).then_some(at)
        };
        rows.iter().enumerate().filter_map(is_fresh).collect()
    }

    /// Goes on after a page: `new` are its fresh rows that differ from the mirror. Returns whether there is another
    /// page to read.
    ///
    /// A page of rows that were passed on before does not end the walk: arrivals have pushed them down, and more new
    /// rows may be below.
    pub fn go_on(&mut self, rows: &[(&str, ContentHash)], new: &[(&str, ContentHash)], is_end: bool) -> bool {
        self.may_have_skipped |= !is_end && new.iter().any(|row| Some(row) == rows.last());
        self.seen.extend(new.iter().map(|(key, hash)| ((*key).to_owned(), *hash)));
        let is_known_ground =
            self.page >= self.least && rows.iter().all(|(key, _)| !self.seen.contains_key(*key));
        if !is_end && !is_known_ground && self.page < self.most {
            self.page += 1;
            return true;
        }
        if !self.may_have_skipped || self.walks >= WALKS {
            return false;
        }
        (self.least, self.page, self.may_have_skipped) = (self.page, 1, false);
        self.walks += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const PAGE: usize = 5;

    /// A shift of a listing between two of its pages.
    #[derive(Clone, Debug)]
    enum Shift {
        /// This many rows arrive at the top.
        Arrive(usize),
        /// A row leaves.
        Leave(usize),
        /// A row changes in its place.
        Change(usize),
    }

    /// A listing, newest first, and the mirror's copy of it.
    #[derive(Default)]
    struct World {
        rows: Vec<(u32, i64)>,
        next: u32,
        mirror: HashMap<String, ContentHash>,
        requests: usize,
    }

    impl World {
        fn with(rows: u32) -> Self {
            let mut world = Self::default();
            world.shift(&Shift::Arrive(rows as usize));
            world
        }

        fn shift(&mut self, shift: &Shift) {
            match *shift {
                Shift::Arrive(rows) => {
                    for _ in 0..rows {
                        self.next += 1;
                        self.rows.insert(0, (self.next, 0));
                    }
                }
                Shift::Leave(at) if !self.rows.is_empty() => drop(self.rows.remove(at % self.rows.len())),
                Shift::Change(at) if !self.rows.is_empty() => {
                    let at = at % self.rows.len();
                    self.rows[at].1 += 1;
                }
                _ => (),
            }
        }

        fn sweep(&mut self, shifts: &mut impl Iterator<Item = Shift>) {
            self.sweep_at_least(1, shifts);
        }

        fn sweep_at_least(&mut self, least: u64, shifts: &mut impl Iterator<Item = Shift>) {
            let mut window = Window::new(least, 1_000);
            loop {
                let from = (window.page() as usize - 1) * PAGE;
                let listed = self.rows.iter().skip(from).take(PAGE);
                let listed: Vec<(String, ContentHash)> =
                    listed.map(|(key, state)| (key.to_string(), ContentHash::from_i64(*state))).collect();
                self.requests += 1;
                let rows: Vec<(&str, ContentHash)> = listed.iter().map(|(k, h)| (k.as_str(), *h)).collect();
                let fresh = window.fresh(&rows);
                let new: Vec<_> = rows
                    .iter()
                    .enumerate()
                    .filter(|(at, (key, hash))| fresh.contains(at) && self.mirror.get(*key) != Some(hash))
                    .map(|(_, row)| *row)
                    .collect();
                let goes_on = window.go_on(&rows, &new, from + listed.len() >= self.rows.len());
                self.mirror.extend(listed.clone());
                if !goes_on {
                    return;
                }
                if let Some(shift) = shifts.next() {
                    self.shift(&shift);
                }
            }
        }

        fn missing(&self) -> BTreeSet<u32> {
            let is_missing = |key: &u32| !self.mirror.contains_key(&key.to_string());
            self.rows.iter().map(|(key, _)| *key).filter(is_missing).collect()
        }
    }

    fn quiet() -> impl Iterator<Item = Shift> {
        std::iter::empty()
    }

    fn additions() -> impl Strategy<Value = Shift> {
        prop_oneof![(1_usize..=50).prop_map(Shift::Arrive), (0_usize..60).prop_map(Shift::Change)]
    }

    proptest! {
        #[test]
        fn a_sweep_and_the_next_one_miss_no_new_row_though_one_leaves_between_two_pages(
            known in 0_u32..40, arrived in 1_usize..60,
            shifts in prop::collection::vec(additions(), 0..4), left in 0_usize..60, at in 0_usize..4,
        ) {
            let mut world = World::with(known);
            world.sweep(&mut quiet());
            prop_assert_eq!(world.missing(), BTreeSet::new());
            world.shift(&Shift::Arrive(arrived));
            let mut shifts = shifts;
            shifts.insert(at.min(shifts.len()), Shift::Leave(left));
            world.sweep(&mut shifts.into_iter());
            // Rows that arrived at the very end are above everything that was walked.
            world.sweep(&mut quiet());
            prop_assert_eq!(world.missing(), BTreeSet::new());
        }

        /// When a listing shifts faster than a sweep walks, totals show what is missing, and the next sweep walks
        /// everything.
        #[test]
        fn whatever_shifts_in_whatever_way_a_sweep_that_knows_it_is_behind_finds_everything(
            known in 0_u32..40, arrived in 1_usize..60,
            shifts in prop::collection::vec(
                prop_oneof![additions(), (0_usize..60).prop_map(Shift::Leave)], 0..20),
        ) {
            let mut world = World::with(known);
            world.sweep(&mut quiet());
            world.shift(&Shift::Arrive(arrived));
            world.sweep(&mut shifts.into_iter());
            world.sweep_at_least(1_000, &mut quiet());
            prop_assert_eq!(world.missing(), BTreeSet::new());
        }

        #[test]
        fn rows_that_only_arrive_are_all_found_by_the_union_of_two_sweeps(
            arrivals in prop::collection::vec(1_usize..=50, 1..8),
        ) {
            let mut world = World::with(30);
            world.sweep(&mut std::iter::empty());
            world.shift(&Shift::Arrive(7));
            world.sweep(&mut arrivals.into_iter().map(Shift::Arrive));
            world.sweep(&mut std::iter::empty());
            prop_assert_eq!(world.missing(), BTreeSet::new());
        }
    }

    #[test]
    fn a_row_that_slips_past_because_another_leaves_is_found_by_the_same_sweep() {
        let mut world = World::with(20);
        world.sweep(&mut std::iter::empty());
        world.shift(&Shift::Arrive(2 * PAGE));
        // After the first page one of its rows leaves: the first row of the second page is now the last of the first.
        world.sweep(&mut [Shift::Leave(0)].into_iter());
        assert_eq!(world.missing(), BTreeSet::new());
    }

    #[test]
    fn a_sweep_that_finds_nothing_costs_one_page_and_one_page_of_news_two() {
        let mut world = World::with(100);
        world.sweep(&mut std::iter::empty());
        world.requests = 0;
        world.sweep(&mut std::iter::empty());
        assert_eq!(world.requests, 1);
        world.shift(&Shift::Arrive(1));
        world.requests = 0;
        world.sweep(&mut std::iter::empty());
        assert_eq!(world.requests, 2);
    }

    #[test]
    fn a_listing_that_changes_without_end_ends_the_sweep() {
        let mut world = World::with(100);
        world.sweep(&mut std::iter::repeat_n(Shift::Arrive(3), 100_000));
        assert!(world.requests < 100_000);
    }
}
