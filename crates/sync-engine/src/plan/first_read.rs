//! Decides what the first reading of a store reads first. It has 300 requests a minute for every order, every product,
//! and five sub-resources of each order: people wait for the open orders, and `/readyz` for the orders and products.
//! The sub-resources of closed orders can wait.

use std::time::Duration;

use espelho_model::order::TERMINAL_STATUSES;

/// For so long after its start a first reading has the budget alone: a small store is read by then.
pub const HEAD_START: Duration = Duration::from_secs(120);

/// Sub-resources of open orders that one sweep queues beside a longer first reading, and those of all others: few, so
/// that a reading that never ends still leaves no order out.
const BESIDE_READING: (usize, usize) = (75, 10);
/// Those of the latest changed orders among the others. The backlog has the rest.
const LATEST_BESIDE_READING: usize = 5;
/// Sub-resources that one sweep queues of a mirrored store: of open orders; with those of the latest changed orders; and
/// with those of the backlog.
const MIRRORED: (usize, usize, usize) = (50, 75, 100);
/// The same while the stores of the process read as much at once as they may: more would only wait, in the memory of
/// thousands of queues.
const CROWDED: (usize, usize, usize) = (10, 14, 20);

/// The part of a store that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The first reading has just begun.
    HeadStart,
    /// The first reading takes longer.
    Reading,
    /// The mirror was complete once.
    Mirrored,
    /// The mirror was complete once, and the stores of the process read as much at once as they may.
    Crowded,
}

impl Phase {
    /// Returns the phase of a store whose work began so long ago. `is_crowded` tells if the stores of the process read as
    /// much at once as they may.
    pub fn of(is_mirrored: bool, since_start: Duration, is_crowded: bool) -> Self {
        match is_mirrored {
            true if is_crowded => Self::Crowded,
            true => Self::Mirrored,
            false if since_start < HEAD_START => Self::HeadStart,
            false => Self::Reading,
        }
    }

    /// Returns how many sub-resources of open orders a sweep queues.
    pub fn of_open(self) -> usize {
        match self {
            Self::HeadStart => 0,
            Self::Reading => BESIDE_READING.0,
            Self::Mirrored => MIRRORED.0,
            Self::Crowded => CROWDED.0,
        }
    }

    /// Returns how many of the latest changed orders it queues, after `open` of open orders.
    pub fn of_latest(self, open: usize) -> usize {
        match self {
            Self::HeadStart => 0,
            Self::Reading => LATEST_BESIDE_READING,
            Self::Mirrored => MIRRORED.1.saturating_sub(open),
            Self::Crowded => CROWDED.1.saturating_sub(open),
        }
    }

    /// Returns how many of the backlog it queues, after `open` of open orders and `latest` of the latest changed ones.
    pub fn of_backlog(self, open: usize, latest: usize) -> usize {
        match self {
            Self::HeadStart => 0,
            Self::Reading => BESIDE_READING.1.saturating_sub(latest),
            Self::Mirrored => MIRRORED.2.saturating_sub(open + latest),
            Self::Crowded => CROWDED.2.saturating_sub(open + latest),
        }
    }
}

/// Tells if a reconciliation reads the open orders before all orders. `is_kept` is true if the checkpoint on record is
/// that of a pass over the open orders; `None` if there is no checkpoint.
pub fn reads_open_first(is_kept: Option<bool>, was_mirrored: bool) -> bool {
    is_kept.unwrap_or(!was_mirrored)
}

/// Tells if a sweep leaves an order that the mirror does not have to the first reading, by the status of its listing row:
/// a closed one would be read before the open ones, and once more by the pass that has just listed it.
pub fn is_left_to_reading(status: Option<&str>) -> bool {
    status.is_some_and(|status| TERMINAL_STATUSES.contains(&status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_reading_has_the_budget_alone_for_two_minutes() {
        for (is_mirrored, seconds, is_crowded, expected) in [
            (false, 0, false, Phase::HeadStart),
            (false, 119, true, Phase::HeadStart),
            (false, 120, true, Phase::Reading),
            (false, 86_400, false, Phase::Reading),
            (true, 0, false, Phase::Mirrored),
            (true, 86_400, false, Phase::Mirrored),
            (true, 0, true, Phase::Crowded),
        ] {
            let phase = Phase::of(is_mirrored, Duration::from_secs(seconds), is_crowded);
            assert_eq!(phase, expected, "{is_mirrored} {seconds} s {is_crowded}");
        }
    }

    #[test]
    fn open_orders_come_first_and_keep_no_other_waiting_for_ever() {
        for (phase, open, latest, expected) in [
            (Phase::HeadStart, 0, 0, (0, 0, 0)),
            (Phase::Reading, 0, 0, (75, 5, 10)),
            (Phase::Reading, 75, 5, (75, 5, 5)),
            (Phase::Reading, 79, 9, (75, 5, 1)),
            (Phase::Mirrored, 0, 75, (50, 75, 25)),
            (Phase::Mirrored, 50, 25, (50, 25, 25)),
            (Phase::Mirrored, 54, 25, (50, 21, 21)),
            (Phase::Crowded, 0, 14, (10, 14, 6)),
            (Phase::Crowded, 10, 4, (10, 4, 6)),
            (Phase::Crowded, 12, 4, (10, 2, 4)),
        ] {
            let quota = (phase.of_open(), phase.of_latest(open), phase.of_backlog(open, latest));
            assert_eq!(quota, expected, "{phase:?} after {open} and {latest}");
        }
    }

    #[test]
    fn sweeps_leave_closed_orders_to_the_first_reading_and_no_others() {
        for (status, expected) in [
            (Some("delivered"), true),
            (Some("cancelled"), true),
            (Some("paid"), false),
            (Some("a word of tomorrow"), false),
            (None, false),
        ] {
            assert_eq!(is_left_to_reading(status), expected, "{status:?}");
        }
    }

    #[test]
    fn open_orders_are_read_first_until_all_orders_were_read_once() {
        for (is_kept, was_mirrored, expected, why) in [
            (None, false, true, "nothing was read yet"),
            (None, true, false, "the sweep of open orders has just read them"),
            (Some(true), false, true, "it goes on where it was"),
            (Some(true), true, true, "a run that was cut short counts as one that mirrored"),
            (Some(false), false, false, "the pass over all orders goes on where it was"),
            (Some(false), true, false, "the pass over all orders goes on where it was"),
        ] {
            assert_eq!(reads_open_first(is_kept, was_mirrored), expected, "{why}");
        }
    }
}
