//! Decides when an order whose detail is not believed is read again.
//!
//! Its row and its fingerprint stay as they were, so each listing shows it as changed. A reading that a delivery or a
//! change in the listing asked for is repeated by the queue, like one that does not show a delivery's state yet.
//! Afterwards the sweeps for orders read it again, once in each of their intervals and a few at a time: a marketplace
//! whose details are all wrong costs no more than that.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::{refresh_queue::Ended, refresh_request::Urgency};

/// The code of the failure of an order whose detail is not believed.
pub const CODE: &str = "unexpected";
/// The least time between two readings that sweeps ask for: a little less than the interval of the sweeps for orders, so
/// that each order is read once in it.
pub const AGAIN_AFTER: TimeDelta = TimeDelta::seconds(50);
/// Orders of one page of a listing that are read again at once.
pub const AT_ONCE: usize = 5;

/// Decides what follows from a detail that is not believed. The queue does not repeat one that a sweep asks for again: the
/// next sweep does that.
pub fn after_unbelieved(urgency: Urgency) -> Ended {
    match urgency {
        Urgency::Hinted | Urgency::Found => Ended::NotYet,
        Urgency::Swept => Ended::Done,
    }
}

/// Returns which of the orders that failed at these times are read again now: those that have waited longest, at most
/// `most`.
pub fn due_again(
    mut failed: Vec<(String, DateTime<Utc>)>,
    most: usize,
    now: DateTime<Utc>,
) -> HashSet<String> {
    // A time in the future is that of a clock that was ahead.
    failed.retain(|(_, at)| *at > now || now - *at >= AGAIN_AFTER);
    failed.sort_by(|(one, earlier), (other, later)| earlier.cmp(later).then_with(|| one.cmp(other)));
    failed.into_iter().take(most).map(|(key, _)| key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_000 + second, 0).unwrap()
    }

    #[test]
    fn an_order_that_is_not_believed_fails_with_that_code() {
        let error = espelho_api_client::Error::Unexpected {
            request: "GET /x".to_owned(),
            read: true,
            problem: "an order without status, which was known".to_owned(),
        };
        assert_eq!(error.code(), CODE);
    }

    #[test]
    fn the_queue_repeats_what_a_delivery_or_a_change_asked_for_and_the_sweeps_repeat_their_own() {
        for (urgency, expected) in
            [(Urgency::Hinted, Ended::NotYet), (Urgency::Found, Ended::NotYet), (Urgency::Swept, Ended::Done)]
        {
            assert_eq!(after_unbelieved(urgency), expected, "{urgency:?}");
        }
    }

    #[test]
    fn an_order_that_was_not_believed_is_read_again_once_in_an_interval_and_the_longest_waiting_first() {
        type Failed<'t> = &'t [(&'t str, i64)];
        let rows: [(Failed<'_>, &[&str], &str); 5] = [
            (&[], &[], "all are believed"),
            (&[("a", 11)], &[], "it was read just now"),
            (&[("a", 10), ("b", 11)], &["a"], "an interval has passed for one"),
            (&[("a", 61)], &["a"], "the clock was ahead"),
            (
                &[("a", 9), ("b", 8), ("c", 7), ("d", 6), ("e", 5), ("f", 9), ("g", 4)],
                &["g", "e", "d", "c", "b"],
                "a few at a time",
            ),
        ];
        for (failed, expected, why) in rows {
            let failed = failed.iter().map(|(key, second)| ((*key).to_owned(), at(*second))).collect();
            let expected: HashSet<String> = expected.iter().map(|key| (*key).to_owned()).collect();
            assert_eq!(due_again(failed, AT_ONCE, at(60)), expected, "{why}");
        }
    }
}
