//! The sliding window: how many entries are held, and until when. Pure; times are monotonic.

use std::{collections::VecDeque, time::Duration};

/// Entries expire in steps of this length, so that the window of an unlimited store stays small.
const STEP: Duration = Duration::from_millis(100);

/// The sliding window of one store.
#[derive(Debug, Default)]
pub(crate) struct SlidingWindow {
    in_flight: u32,
    cooling: u32,
    /// (step in which they expire, number of entries), in time order.
    releases: VecDeque<(u64, u32)>,
}

impl SlidingWindow {
    /// Returns how many entries are held at `now`.
    pub(crate) fn held(&mut self, now: Duration) -> u32 {
        while let Some(&(step, count)) = self.releases.front() {
            if step > step_of(now) {
                break;
            }
            self.releases.pop_front();
            self.cooling -= count;
        }
        self.in_flight + self.cooling
    }

    /// Adds one entry. The caller has checked that there is budget for it.
    pub(crate) fn take(&mut self) {
        self.in_flight += 1;
    }

    /// Removes one entry that was never used: nothing was sent.
    pub(crate) fn put_back(&mut self) {
        self.in_flight -= 1;
    }

    /// Records that a response arrived, or never will: the entry expires at `free_at`.
    pub(crate) fn release_at(&mut self, free_at: Duration) {
        self.in_flight -= 1;
        self.hold(1, free_at);
    }

    /// Adds entries spent by an earlier process.
    pub(crate) fn hold(&mut self, count: u32, free_at: Duration) {
        // Rounded up to the next step: an entry may be held a little longer than needed, never shorter.
        let step = step_of(free_at) + 1;
        self.cooling += count;
        let at = self.releases.iter().rposition(|&(s, _)| s <= step).map_or(0, |i| i + 1);
        match at.checked_sub(1).and_then(|i| self.releases.get_mut(i)) {
            Some(last) if last.0 == step => last.1 += count,
            _ => self.releases.insert(at, (step, count)),
        }
    }

    /// Returns when the next entry expires; `None` if all held entries are in flight.
    pub(crate) fn next_release(&self) -> Option<Duration> {
        self.releases.front().map(|&(step, _)| STEP * u32::try_from(step).unwrap_or(u32::MAX))
    }
}

fn step_of(time: Duration) -> u64 {
    u64::try_from(time.as_millis() / STEP.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slot_is_held_from_taking_it_until_its_release_and_not_a_step_longer_than_one() {
        let mut window = SlidingWindow::default();
        window.take();
        assert_eq!((window.held(Duration::from_secs(999)), window.next_release()), (1, None));
        window.release_at(Duration::from_millis(60_050));
        assert_eq!(window.held(Duration::from_millis(60_099)), 1);
        assert_eq!(window.next_release(), Some(Duration::from_millis(60_100)));
        assert_eq!(window.held(Duration::from_millis(60_100)), 0);
    }

    proptest! {
        #[test]
        fn no_slot_is_ever_released_early(releases in prop::collection::vec(0u64..200_000, 1..60), now in 0u64..210_000) {
            let mut window = SlidingWindow::default();
            for &at in &releases {
                window.hold(1, Duration::from_millis(at));
            }
            let still_due = releases.iter().filter(|&&at| at > now).count();
            let held = window.held(Duration::from_millis(now)) as usize;
            let due_within_a_step = releases.iter().filter(|&&at| at + 100 > now).count();
            prop_assert!(held >= still_due, "{held} < {still_due}");
            prop_assert!(held <= due_within_a_step, "{held} > {due_within_a_step}");
        }
    }
}
