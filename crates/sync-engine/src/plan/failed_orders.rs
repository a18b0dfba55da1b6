//! Decides when an order that failed is read again, whatever kept it from being mirrored: one odd answer must not keep a
//! new order away until the next complete reconciliation.
//!
//! The first pause is about the interval of the sweeps for orders, and it doubles with each further failure: an order that
//! is refused for good costs a request an hour. Denied orders and those that are not believed have rules of their own
//! ([`denied_orders`](super::denied_orders), [`unbelieved_orders`](super::unbelieved_orders)); what is set aside is left
//! to the quarantine.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::unbelieved_orders::AGAIN_AFTER;

/// The longest pause between two readings.
const LONGEST: TimeDelta = TimeDelta::hours(1);
/// Orders of one page of a listing that are read again at once.
const AT_ONCE: usize = 25;

/// The codes of what is set aside, or is about to be.
const OF_QUARANTINE: [&str; 2] = ["poisoned", "panicked"];

/// Tells whether a failure is left to the quarantine.
pub fn is_set_aside(code: &str) -> bool {
    OF_QUARANTINE.contains(&code)
}

/// The pauses of the orders that fail. They begin anew with the process.
#[derive(Debug, Default)]
pub struct FailedOrders {
    /// The last failure that was seen, and the pause after it, by the order's number.
    pauses: HashMap<String, (DateTime<Utc>, TimeDelta)>,
}

impl FailedOrders {
    /// Forgets the orders that fail no more.
    pub fn keep(&mut self, is_failing: impl Fn(&str) -> bool) {
        self.pauses.retain(|key, _| is_failing(key));
    }

    /// Returns which of the orders that failed at these times are read again now: those that have waited longest, a few
    /// at a time.
    pub fn due_again(
        &mut self,
        mut failed: Vec<(String, DateTime<Utc>)>,
        now: DateTime<Utc>,
    ) -> HashSet<String> {
        failed.retain(|(key, at)| {
            let pause = self.pause(key, *at);
            // A time in the future is that of a clock that was ahead.
            *at > now || now - *at >= pause
        });
        failed.sort_by(|(one, earlier), (other, later)| earlier.cmp(later).then_with(|| one.cmp(other)));
        failed.into_iter().take(AT_ONCE).map(|(key, _)| key).collect()
    }

    /// Returns the pause after a failure at that time; a failure that was not seen before doubles the pause of the last
    /// one.
    fn pause(&mut self, key: &str, at: DateTime<Utc>) -> TimeDelta {
        let (failed_at, pause) = match self.pauses.get(key) {
            Some((seen, pause)) if *seen == at => (*seen, *pause),
            Some((_, pause)) => (at, (*pause * 2).min(LONGEST)),
            None => (at, AGAIN_AFTER),
        };
        self.pauses.insert(key.to_owned(), (failed_at, pause));
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_000_000 + second, 0).unwrap()
    }

    fn due(orders: &mut FailedOrders, failed: &[(&str, i64)], now: i64) -> Vec<String> {
        let failed = failed.iter().map(|(key, second)| ((*key).to_owned(), at(*second))).collect();
        let mut due: Vec<String> = orders.due_again(failed, at(now)).into_iter().collect();
        due.sort_unstable();
        due
    }

    #[test]
    fn an_order_that_failed_is_read_again_with_a_pause_that_doubles_up_to_an_hour() {
        let (mut orders, mut failed_at, mut pauses) = (FailedOrders::default(), 0, Vec::new());
        for _ in 0..9 {
            let wait = (0..).find(|wait| !due(&mut orders, &[("a", failed_at)], failed_at + wait).is_empty());
            let wait = wait.unwrap();
            pauses.push(wait);
            // The sweep reads it, and it fails again a second later.
            failed_at += wait + 1;
        }
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1_600, 3_200, 3_600, 3_600]);
    }

    #[test]
    fn each_order_has_its_own_pause_and_one_that_was_mirrored_meanwhile_begins_anew() {
        let mut orders = FailedOrders::default();
        assert_eq!(due(&mut orders, &[("a", 0), ("b", 0)], 50), ["a", "b"]);
        assert_eq!(due(&mut orders, &[("a", 51), ("b", 0)], 101), ["b"], "one has failed again");
        orders.keep(|key| key == "b");
        assert_eq!(due(&mut orders, &[("a", 200)], 250), ["a"]);
        assert_eq!(due(&mut orders, &[("a", 900)], 60), ["a"], "the clock was ahead");
    }

    #[test]
    fn orders_that_fail_together_are_read_again_a_few_at_a_time_the_longest_waiting_first() {
        let keys: Vec<String> = (0..40).map(|number| format!("{number:02}")).collect();
        let failed: Vec<(&str, i64)> = keys.iter().map(String::as_str).zip(-40..).collect();
        let due = due(&mut FailedOrders::default(), &failed, 60);
        assert_eq!(due, keys[..AT_ONCE]);
    }

    #[test]
    fn what_is_set_aside_is_left_to_the_quarantine() {
        for (code, expected) in
            [("poisoned", true), ("panicked", true), ("http_302", false), ("unexpected", false)]
        {
            assert_eq!(is_set_aside(code), expected, "{code}");
        }
    }
}
