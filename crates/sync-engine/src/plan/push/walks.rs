//! The course of a walk over the open rows of a source, from turn to turn. Pure.
//!
//! A turn reads a few pages of each source, so that its cost does not grow with what is open. Where they are all there
//! is, each turn walks anew. Otherwise the next turn goes on behind the last row, as far as the queue has room.

use std::time::Duration;

use espelho_store::PAGE_ROWS;

use super::job_queue::{KEPT_JOBS, Source};

/// Pages of a source that a turn reads.
pub const TURN_PAGES: usize = 2;
/// A walk over more rows than a turn reads begins anew after this time: rows behind it may have changed.
const WALK_INTERVAL: Duration = Duration::from_secs(60);

/// The part of a source in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It begins a new walk.
    Restart,
    /// It goes on behind the last row.
    Continue,
    /// It reads nothing.
    Rest,
}

/// A walk over the open rows of a source. The default is over, and nothing was open.
#[derive(Clone, Debug)]
pub struct Walk<P> {
    /// The last row that was read, if any.
    pub after: P,
    /// The turns that have read something.
    turns: u32,
    /// When it began, or came to its end.
    since: Duration,
    is_at_end: bool,
}

impl<P: Default> Default for Walk<P> {
    fn default() -> Self {
        Self { after: P::default(), turns: 0, since: Duration::ZERO, is_at_end: true }
    }
}

impl<P: Default> Walk<P> {
    /// Begins.
    pub fn begin(&mut self, now: Duration) {
        *self = Self { since: now, is_at_end: false, ..Self::default() };
    }

    /// A turn reads some of it.
    pub fn begin_turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    /// There are no more rows.
    pub fn end(&mut self, now: Duration) {
        if !self.is_at_end {
            self.since = now;
        }
        self.is_at_end = true;
    }

    /// Tells whether more rows are open than a turn reads. `has_left_out` says whether the queue had no room for some.
    pub fn is_crowded(&self, has_left_out: bool) -> bool {
        !self.is_at_end || self.turns > 1 || has_left_out
    }

    /// Decides what a turn does for a source of which `queued` jobs wait.
    pub fn step(&self, source: Source, now: Duration, queued: usize, has_left_out: bool) -> Step {
        let is_old = now >= self.since + WALK_INTERVAL;
        match (source, self.is_at_end) {
            _ if !self.is_crowded(has_left_out) => Step::Restart,
            (_, true) if is_old || queued == 0 => Step::Restart,
            // The ERP adds commands behind the last one.
            (Source::Commands, true) => Step::Continue,
            (_, true) => Step::Rest,
            // However many levels wait, one that falls may be behind them.
            (Source::Levels, false) => Step::Continue,
            (_, false) if is_old => Step::Restart,
            (_, false) if queued + PAGE_ROWS <= KEPT_JOBS => Step::Continue,
            (_, false) => Step::Rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A walk after some turns, which began or ended after a second.
    fn walk(turns: u32, is_at_end: bool) -> Walk<i64> {
        Walk { after: 0, turns, since: seconds(1), is_at_end }
    }

    #[test]
    fn a_walk_of_one_turn_begins_anew_in_each_and_a_longer_one_goes_on_where_the_queue_has_room() {
        use Source::{Commands, Levels, Prices};
        use Step::{Continue, Rest, Restart};
        let (full, room) = (KEPT_JOBS, KEPT_JOBS - PAGE_ROWS);
        let cases = [
            ("nothing was read yet", walk(0, true), 0, false, 2, [Restart, Restart, Restart]),
            ("few rows", walk(1, true), 9, false, 2, [Restart, Restart, Restart]),
            ("few rows, but no room for all", walk(1, true), full, true, 2, [Rest, Continue, Rest]),
            ("under way", walk(1, false), room, false, 2, [Continue, Continue, Continue]),
            ("under way, no room", walk(1, false), room + 1, true, 2, [Continue, Rest, Rest]),
            ("under way for long", walk(9, false), room, true, 61, [Continue, Restart, Restart]),
            ("over", walk(9, true), 1, true, 60, [Rest, Continue, Rest]),
            ("over for long", walk(9, true), 1, true, 61, [Restart, Restart, Restart]),
            ("used up", walk(9, true), 0, true, 2, [Restart, Restart, Restart]),
        ];
        for (name, walk, queued, has_left_out, now, expected) in cases {
            let step = |source| walk.step(source, seconds(now), queued, has_left_out);
            assert_eq!([Levels, Commands, Prices].map(step), expected, "{name}");
        }
    }

    #[test]
    fn the_age_of_a_walk_counts_from_its_beginning_and_then_from_its_end() {
        let mut walk = Walk::<i64>::default();
        assert!(!walk.is_crowded(false) && walk.is_crowded(true));
        walk.begin(seconds(5));
        walk.begin_turn();
        assert_eq!((walk.since, walk.is_crowded(false)), (seconds(5), true));
        walk.end(seconds(9));
        walk.end(seconds(11));
        assert_eq!((walk.since, walk.is_crowded(false)), (seconds(9), false));
    }
}
