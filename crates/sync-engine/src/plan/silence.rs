//! Decides whether webhooks arrive: from changes that sweeps found and no delivery reported, to a proof that none
//! comes.
//!
//! One lost delivery proves nothing. A change that no delivery reported only raises a suspicion. A requested test
//! delivery then settles it: it arrives, or it does not.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::WebhookWatch;

use super::webhook_news::as_known;

/// How long a delivery may be under way.
const GRACE: TimeDelta = TimeDelta::seconds(5);
/// A test delivery arrives within this time.
const ARRIVES: TimeDelta = TimeDelta::seconds(15);
/// The wait before the next test delivery is requested.
const AGAIN: TimeDelta = TimeDelta::seconds(30);
/// Where no test can be requested, this many changes prove it.
const MANY: u64 = 3;
/// They prove it after the marketplace's first retry (API document, "Delivery").
pub(crate) const RETRIED: TimeDelta = TimeDelta::seconds(75);

/// The current state, and the next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Since when it is proved that no delivery arrives; `None` where it is not.
    pub proved_since: Option<DateTime<Utc>>,
    /// Whether to request a test delivery now.
    pub asks: bool,
    /// Whether there is a suspicion that is not settled yet.
    pub is_suspected: bool,
}

const NONE: Silence = Silence { proved_since: None, asks: false, is_suspected: false };

/// Decides what a watch means at this time. The oldest test that no delivery followed is the evidence, however often a
/// newer one was requested; the newest says when to ask again.
pub fn silence(watch: &WebhookWatch, now: DateTime<Utc>) -> Silence {
    let watch = &as_known(watch, now);
    let unheard = |since: &DateTime<Utc>| watch.heard_at.is_none_or(|heard| heard < *since);
    let missed = watch.missed_since.filter(unheard);
    let tested = watch.tested_at.filter(unheard);
    let unanswered = watch.unanswered_since.filter(unheard);
    let Some(since) = missed.into_iter().chain(tested).chain(unanswered).min() else { return NONE };
    let last_asked = watch.tested_at.filter(|tested| *tested >= since);
    let is_unanswered = unanswered.is_some_and(|asked| now - asked >= ARRIVES);
    let is_refused = last_asked.is_some() && watch.problem.is_some();
    let proved = is_unanswered || (is_refused && watch.missed >= MANY && now - since >= RETRIED);
    // The proof stands between two tests: the test that was just requested has not arrived either.
    let stands = watch.silent && unheard(&since);
    let asks = last_asked.map_or(now - since >= GRACE, |asked| now - asked >= AGAIN);
    Silence { proved_since: (proved || stands).then_some(since), asks, is_suspected: true }
}

/// Tells whether the record that an earlier owner left proves that no delivery arrived: a test was requested long after
/// the first sign, so that it was not the first one, and nothing has come since that sign.
pub fn was_proved(watch: &WebhookWatch) -> bool {
    let (Some(since), Some(tested)) = (watch.missed_since, watch.tested_at) else { return false };
    let lasted = tested - since;
    watch.heard_at.is_none_or(|heard| heard < since)
        && match watch.problem {
            None => lasted >= AGAIN,
            Some(_) => watch.missed >= MANY && lasted >= RETRIED,
        }
}

/// Returns a watch as it is recorded. A sign that nothing has proved yet may be older than a restart, and the test before
/// that restart may have met a receiver that was down: with the test that is under way now, it must not look like a proof
/// to the next owner. So its sign is recorded as a later one.
pub fn as_recorded(watch: &WebhookWatch) -> WebhookWatch {
    let mut recorded = watch.clone();
    if !watch.silent && watch.problem.is_none() && was_proved(watch) {
        recorded.missed_since = watch.tested_at.map(|tested| tested - AGAIN + TimeDelta::seconds(1));
    }
    recorded
}

/// Tells whether the record that an earlier owner left leaves open whether deliveries arrive: its last test was under
/// way, or a change that none reported was not followed by a test.
pub fn was_open(watch: &WebhookWatch, now: DateTime<Utc>) -> bool {
    watch.problem.is_none() && silence(watch, now).is_suspected && !was_proved(watch)
}

/// Tells whether no delivery has come since the webhook's address was registered.
pub fn is_address_new(watch: &WebhookWatch, address_since: DateTime<Utc>) -> bool {
    watch.heard_at.is_none_or(|heard| heard < address_since)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + seconds, 0).unwrap()
    }

    fn watch(missed: u64, since: i64, heard: Option<i64>, tested: Option<i64>) -> WebhookWatch {
        WebhookWatch {
            missed,
            missed_since: (missed > 0).then(|| at(since)),
            heard_at: heard.map(at),
            tested_at: tested.map(at),
            unanswered_since: tested.map(at),
            ..WebhookWatch::default()
        }
    }

    /// Returns whether silence is proved, and whether a test is requested, at second 100.
    fn check(watch: &WebhookWatch) -> (bool, bool) {
        let silence = silence(watch, at(100));
        (silence.proved_since.is_some(), silence.asks)
    }

    // withstands: F050
    #[test]
    fn a_change_that_nobody_told_is_a_suspicion_and_a_test_that_does_not_come_is_the_proof() {
        for (missed, since, heard, tested, proved, asks, why) in [
            (0, 0, None, None, false, false, "nothing was missed"),
            (1, 96, None, None, false, false, "a delivery may be under way"),
            (1, 95, None, None, false, true, "a test tells"),
            (1, 60, Some(70), None, false, false, "one has come since"),
            (1, 60, Some(50), Some(40), false, true, "that test was before"),
            (1, 60, Some(50), Some(86), false, false, "the test may be under way"),
            (1, 60, Some(50), Some(85), true, false, "it did not come"),
            (1, 60, Some(50), Some(70), true, true, "ask again, so that its end is noticed"),
            (1, 60, Some(80), Some(70), false, false, "it came"),
            (0, 0, Some(50), Some(70), true, true, "the daily test did not come"),
            (0, 0, Some(80), Some(70), false, false, "the daily test came"),
            (0, 0, Some(7_300), Some(70), true, true, "a delivery of the future is none"),
            (1, 7_300, Some(50), None, false, false, "a change of the future was missed at some time"),
            (0, 0, Some(7_300), Some(7_290), false, false, "a test of the future came"),
        ] {
            assert_eq!(check(&watch(missed, since, heard, tested)), (proved, asks), "{why}");
        }
    }

    #[test]
    fn where_the_test_is_refused_many_changes_prove_it() {
        let refused = |missed, since| {
            let problem = Some("404".to_owned());
            let unanswered_since = None;
            check(&WebhookWatch { problem, unanswered_since, ..watch(missed, since, None, Some(90)) }).0
        };
        assert!(refused(3, 25) && !refused(2, 25) && !refused(3, 26));
    }

    // withstands: F050
    #[test]
    fn asking_again_does_not_put_the_proof_off() {
        let asked_for = |unanswered: i64, tested: i64, heard: Option<i64>| {
            check(&WebhookWatch {
                unanswered_since: Some(at(unanswered)),
                ..watch(0, 0, heard, Some(tested))
            })
        };
        for (unanswered, tested, heard, expected, why) in [
            (85, 99, None, (true, false), "the first of them did not come"),
            (86, 99, None, (false, false), "it may be under way"),
            (20, 99, Some(10), (true, false), "thirty of them did not come"),
            (20, 99, Some(30), (false, false), "a delivery came after the first"),
            (85, 99, Some(99), (false, false), "the last one came"),
        ] {
            assert_eq!(asked_for(unanswered, tested, heard), expected, "{why}");
        }
        let again = WebhookWatch { unanswered_since: Some(at(20)), ..watch(0, 0, None, Some(99)) };
        assert_eq!(silence(&again, at(100)).proved_since, Some(at(20)), "since the first of them");
        let refused = WebhookWatch { problem: Some("404".to_owned()), ..watch(0, 0, None, Some(85)) };
        assert!(check(&refused).0, "a refusal does not withdraw the test before it");
        let before_the_start = WebhookWatch { unanswered_since: None, ..watch(0, 0, None, Some(20)) };
        assert_eq!(check(&before_the_start), (false, true), "a restart may have lost the delivery");
    }

    #[test]
    fn a_restart_keeps_what_was_proved_and_leaves_open_what_was_not() {
        let sign = |since, tested| {
            let missed_since = Some(at(since));
            WebhookWatch { missed_since, ..watch(0, 0, None, tested) }
        };
        let refused = |missed| {
            let problem = Some("404".to_owned());
            WebhookWatch { problem, ..watch(missed, 9, None, Some(90)) }
        };
        for (watch, proved, open, why) in [
            (watch(0, 0, Some(50), None), false, false, "nothing was missed"),
            (watch(1, 60, Some(50), Some(90)), true, false, "two tests did not come"),
            (watch(1, 60, None, Some(89)), false, true, "the first test was under way"),
            (watch(1, 60, None, None), false, true, "no test was requested"),
            (watch(0, 0, Some(50), Some(70)), false, true, "the daily test was under way"),
            (watch(1, 60, Some(61), Some(95)), false, true, "one came between, and the last test did not"),
            (watch(1, 60, Some(96), Some(95)), false, false, "the test came"),
            (sign(60, Some(90)), true, false, "two daily tests did not come"),
            (refused(1), false, false, "a test that is refused proves nothing"),
            (refused(3), true, false, "many changes do"),
        ] {
            assert_eq!((was_proved(&watch), was_open(&watch, at(100))), (proved, open), "{why}");
        }
    }

    #[test]
    fn a_test_whose_delivery_met_a_restart_proves_nothing_after_another_one() {
        // A sign at second 40 and its test at 45, a restart, the next test at 95, a restart.
        let unproved = watch(1, 40, Some(10), Some(95));
        let proved = WebhookWatch { silent: true, ..unproved.clone() };
        for (watch, expected, why) in [
            (&unproved, (false, true), "each test may have met a receiver that was down"),
            (&proved, (true, false), "this process has waited for the test before"),
        ] {
            let recorded = as_recorded(watch);
            assert_eq!((was_proved(&recorded), was_open(&recorded, at(100))), expected, "{why}");
        }
        let refused = WebhookWatch { problem: Some("404".to_owned()), ..watch(3, 9, None, Some(90)) };
        for watch in [watch(0, 0, Some(50), Some(70)), watch(1, 60, None, Some(89)), refused, proved] {
            assert_eq!(as_recorded(&watch), watch, "it looks like no proof, or is one");
        }
    }

    #[test]
    fn an_address_is_new_until_a_delivery_has_come_to_it() {
        for (since, heard, is_new) in
            [(40, None, true), (40, Some(39), true), (40, Some(40), false), (40, Some(50), false)]
        {
            let watch = watch(0, 0, heard, None);
            assert_eq!(is_address_new(&watch, at(since)), is_new, "{since} {heard:?}");
        }
    }

    #[test]
    fn a_proof_stands_until_a_delivery_comes() {
        let asked_again = WebhookWatch { silent: true, ..watch(1, 10, None, Some(95)) };
        assert!(check(&asked_again).0, "the test that was just asked for has not come yet");
        assert!(!check(&WebhookWatch { heard_at: Some(at(96)), ..asked_again }).0);
    }
}
