//! What a webhook watch remembers of deliveries, of changes that none reported, and of test deliveries.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::time::{is_future, past};
use espelho_store::WebhookWatch;

/// A request whose test delivery has not come by its answer is not taken for older than this: it may have waited for its
/// turn before it was sent.
const SENT_WITHIN: TimeDelta = TimeDelta::seconds(5);
/// A request waits for its answer for no longer, so that a test delivery since then is its own, or proves as much.
const ANSWERED_WITHIN: TimeDelta = TimeDelta::seconds(35);

/// Forgets what a clock that was ahead has recorded, after its correction: deliveries and answered tests of the future
/// prove nothing; what was missed, and a test that no delivery followed, count from now on. Returns whether there was
/// any.
pub fn forget_future(watch: &mut WebhookWatch, now: DateTime<Utc>) -> bool {
    let known = as_known(watch, now);
    let has_future = known != *watch;
    *watch = known;
    has_future
}

/// Returns what a watch proves at this time, without the future: see [`forget_future`].
pub fn as_known(watch: &WebhookWatch, now: DateTime<Utc>) -> WebhookWatch {
    let is_followed = |since: DateTime<Utc>| watch.heard_at.is_some_and(|heard| heard >= since);
    let from_now = |since: Option<DateTime<Utc>>| match since {
        Some(since) if is_future(since, now) => (!is_followed(since)).then_some(now),
        since => since,
    };
    WebhookWatch {
        heard_at: past(watch.heard_at, now),
        test_heard_at: past(watch.test_heard_at, now),
        missed_since: from_now(watch.missed_since),
        tested_at: from_now(watch.tested_at),
        unanswered_since: from_now(watch.unanswered_since),
        other_login_at: past(watch.other_login_at, now),
        ..watch.clone()
    }
}

/// Returns what a watch proves about an address that was registered at this time, without what was heard, missed, tested or
/// proved before: that is about another address.
pub fn of_address(watch: &WebhookWatch, since: DateTime<Utc>) -> WebhookWatch {
    let is_before = |at: Option<DateTime<Utc>>| at.is_some_and(|at| at < since);
    let mut watch = watch.clone();
    if is_before(watch.missed_since) {
        (watch.missed, watch.missed_since, watch.silent) = (0, None, false);
    }
    if is_before(watch.tested_at) {
        (watch.tested_at, watch.problem, watch.silent) = (None, None, false);
    }
    let to_it = |at: Option<DateTime<Utc>>| at.filter(|at| *at >= since);
    let [heard_at, test_heard_at, unanswered_since] =
        [watch.heard_at, watch.test_heard_at, watch.unanswered_since].map(to_it);
    WebhookWatch { heard_at, test_heard_at, unanswered_since, ..watch }
}

/// Records that a sweep found a change that no delivery reported.
pub fn missed(watch: &mut WebhookWatch, now: DateTime<Utc>) {
    watch.missed += 1;
    watch.missed_since.get_or_insert(now);
}

/// Tells whether deliveries tell of changes: one came within a day, and no change was found that none had told.
pub fn tells_of_changes(watch: &WebhookWatch, now: DateTime<Utc>) -> bool {
    let heard = past(watch.heard_at, now);
    watch.missed_since.is_none() && heard.is_some_and(|heard| now - heard < TimeDelta::days(1))
}

/// Tells whether deliveries can be relied upon for hours: they tell of changes, no silence is proved, and the last test was not
/// refused.
pub fn is_trusted(watch: &WebhookWatch, now: DateTime<Utc>) -> bool {
    tells_of_changes(watch, now) && !watch.silent && watch.problem.is_none()
}

/// Records an arrived delivery: missed ones before it no longer suggest that none arrive.
pub fn heard(watch: &mut WebhookWatch, at: DateTime<Utc>, is_test: bool) {
    watch.heard_at = watch.heard_at.max(Some(at));
    if watch.missed_since.is_some_and(|since| at >= since) {
        (watch.missed, watch.missed_since) = (0, None);
    }
    if is_test {
        watch.test_heard_at = watch.test_heard_at.max(Some(at));
    }
    // Whatever prevented the last test, deliveries arrive.
    if watch.tested_at.is_none_or(|tested| at >= tested) {
        watch.problem = None;
    }
    watch.silent = false;
}

/// Records that a test delivery was requested, or why it could not be. An earlier test that no delivery has followed
/// stays the evidence: whoever asks again does not begin the wait anew.
pub fn tested(watch: &mut WebhookWatch, at: DateTime<Utc>, problem: Option<String>) {
    let earlier = watch.unanswered_since.filter(|since| watch.heard_at.is_none_or(|heard| heard < *since));
    watch.unanswered_since = earlier.or_else(|| problem.is_none().then_some(at));
    (watch.tested_at, watch.problem) = (Some(at), problem);
}

/// Records a test delivery that the marketplace accepted: the request was begun at `begun` and answered at `answered`.
/// Between the two it may have waited for its turn, and for its answer while the delivery was already here.
pub fn accepted(watch: &mut WebhookWatch, begun: DateTime<Utc>, answered: DateTime<Utc>) {
    let at_most_since = |long: TimeDelta| begun.max(answered - long).min(answered);
    let sent_after = at_most_since(ANSWERED_WITHIN);
    let is_here = is_test_heard_since(watch, sent_after);
    tested(watch, if is_here { sent_after } else { at_most_since(SENT_WITHIN) }, None);
}

/// Records since when it is proved that no delivery arrives, if it is; returns whether that is worth a record: a restart
/// must not forget it.
pub fn judged(watch: &mut WebhookWatch, proved_since: Option<DateTime<Utc>>) -> bool {
    let is_news = proved_since.is_some() && !(watch.silent && watch.missed_since.is_some());
    watch.silent = proved_since.is_some();
    watch.missed_since = watch.missed_since.or(proved_since);
    is_news
}

/// Adds to an earlier owner's record what was heard, and which test was requested, before it was read.
pub fn resumed(mut recorded: WebhookWatch, begun: &WebhookWatch) -> WebhookWatch {
    begun.heard_at.into_iter().for_each(|at| heard(&mut recorded, at, false));
    begun.test_heard_at.into_iter().for_each(|at| heard(&mut recorded, at, true));
    recorded.unanswered_since = begun.unanswered_since;
    recorded
}

/// Whether a test delivery has arrived since then.
pub fn is_test_heard_since(watch: &WebhookWatch, then: DateTime<Utc>) -> bool {
    watch.test_heard_at.is_some_and(|heard| heard >= then)
}

#[cfg(test)]
mod tests {
    use super::{super::silence::silence, *};

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + second, 0).unwrap()
    }

    #[test]
    fn deliveries_are_trusted_while_one_was_heard_within_a_day_and_nothing_speaks_against_them() {
        let heard = WebhookWatch { heard_at: Some(at(0)), ..WebhookWatch::default() };
        let refused = || Some("WEBHOOK_NOT_ACTIVE".to_owned());
        for (watch, second, expected, why) in [
            (WebhookWatch::default(), 0, false, "none was ever heard"),
            (heard.clone(), 86_399, true, "within a day"),
            (heard.clone(), 86_400, false, "a day is too long"),
            (WebhookWatch { missed_since: Some(at(5)), ..heard.clone() }, 9, false, "a change was missed"),
            (WebhookWatch { silent: true, ..heard.clone() }, 9, false, "silence is proved"),
            (WebhookWatch { problem: refused(), ..heard.clone() }, 9, false, "the test was refused"),
        ] {
            assert_eq!(is_trusted(&watch, at(second)), expected, "{why}");
        }
    }

    #[test]
    fn what_was_missed_at_an_earlier_address_says_nothing_about_a_new_one() {
        let proved = WebhookWatch {
            missed: 3,
            missed_since: Some(at(10)),
            heard_at: Some(at(5)),
            tested_at: Some(at(30)),
            unanswered_since: Some(at(20)),
            problem: Some("404".into()),
            silent: true,
            ..WebhookWatch::default()
        };
        let nothing = WebhookWatch::default();
        let test = WebhookWatch { tested_at: Some(at(30)), problem: Some("404".into()), ..nothing.clone() };
        for (since, expected, why) in [
            (5, &proved, "it was that address"),
            (10, &WebhookWatch { heard_at: None, ..proved.clone() }, "nothing was heard there"),
            (11, &WebhookWatch { unanswered_since: Some(at(20)), ..test.clone() }, "it was tested since"),
            (21, &test, "its test was refused"),
            (31, &nothing, "nothing is known of it"),
        ] {
            assert_eq!(of_address(&proved, at(since)), *expected, "{why}");
        }
    }

    // withstands: F087
    #[test]
    fn what_a_clock_that_was_ahead_has_recorded_proves_nothing_after_its_correction() {
        const AHEAD: i64 = 7_200;
        let watch = |heard: Option<i64>, missed: Option<i64>, tested: Option<i64>| WebhookWatch {
            heard_at: heard.map(at),
            test_heard_at: heard.map(at),
            missed: u64::from(missed.is_some()),
            missed_since: missed.map(at),
            tested_at: tested.map(at),
            unanswered_since: tested.map(at),
            ..WebhookWatch::default()
        };
        for (recorded, known, why) in [
            (watch(Some(90), Some(95), Some(96)), watch(Some(90), Some(95), Some(96)), "all of it is past"),
            (watch(Some(103), None, None), watch(Some(103), None, None), "another machine's clock"),
            (watch(Some(AHEAD), None, None), watch(None, None, None), "nobody knows when it was heard"),
            (watch(Some(AHEAD), None, Some(AHEAD - 1)), watch(None, None, None), "the test was answered"),
            (watch(Some(90), None, Some(AHEAD)), watch(Some(90), None, Some(100)), "it was not answered"),
            (
                watch(Some(AHEAD), None, Some(99)),
                watch(None, None, Some(99)),
                "it was asked for after the correction",
            ),
            (watch(None, Some(AHEAD), None), watch(None, Some(100), None), "a change was missed"),
        ] {
            assert_eq!(as_known(&recorded, at(100)), known, "{why}");
            let mut kept = recorded.clone();
            assert_eq!(forget_future(&mut kept, at(100)), recorded != known, "{why}");
            assert_eq!(kept, known, "{why}");
        }
        let mut watch = watch(Some(AHEAD), None, None);
        assert!(!tells_of_changes(&watch, at(100)), "a delivery of the future says nothing of changes");
        forget_future(&mut watch, at(100));
        heard(&mut watch, at(101), false);
        assert_eq!(watch.heard_at, Some(at(101)), "the next delivery counts");
    }

    #[test]
    fn a_newer_test_does_not_withdraw_one_that_no_delivery_has_followed() {
        let refused = || Some("404".to_owned());
        for (heard_at, tests, unanswered, why) in [
            (None, vec![(10, None)], Some(10), "the first"),
            (None, vec![(10, None), (18, None), (26, None)], Some(10), "the oldest"),
            (
                Some(12),
                vec![(10, None), (18, None), (26, None)],
                Some(18),
                "the oldest since the last delivery",
            ),
            (None, vec![(10, refused())], None, "a refused one is under way nowhere"),
            (None, vec![(10, refused()), (18, None)], Some(18), "the oldest that was accepted"),
            (None, vec![(10, None), (18, refused())], Some(10), "a refusal takes nothing back"),
        ] {
            let mut watch = WebhookWatch::default();
            for (second, problem) in tests {
                if let Some(heard_at) = heard_at.filter(|heard| *heard < second) {
                    heard(&mut watch, at(heard_at), false);
                }
                tested(&mut watch, at(second), problem);
            }
            assert_eq!(watch.unanswered_since, unanswered.map(at), "{why}");
        }
    }

    // withstands: F050
    #[test]
    fn a_test_that_is_answered_slowly_is_followed_by_the_delivery_that_came_before_its_answer() {
        for (begun, heard_at, answered, tested_at, why) in [
            (100, None, 100, 100, "at once"),
            (100, None, 104, 100, "soon"),
            (100, Some(101), 108, 100, "the delivery came before the answer"),
            (100, None, 108, 103, "no delivery, though it waited"),
            (100, Some(99), 108, 103, "one from before"),
            (100, Some(150), 160, 125, "it waited for its turn, and its delivery is here"),
            (100, Some(101), 160, 155, "one from before it can have been sent"),
            (100, None, 90, 90, "the clock was set back meanwhile"),
        ] {
            let mut watch = WebhookWatch::default();
            heard_at.into_iter().for_each(|second| heard(&mut watch, at(second), true));
            accepted(&mut watch, at(begun), at(answered));
            let since = Some(at(tested_at));
            assert_eq!((watch.tested_at, watch.unanswered_since), (since, since), "{why}");
        }
        let proved_since = |heard_at: Option<i64>| {
            let mut watch = WebhookWatch::default();
            heard_at.into_iter().for_each(|second| heard(&mut watch, at(second), true));
            accepted(&mut watch, at(100), at(108));
            silence(&watch, at(118)).proved_since
        };
        assert_eq!(proved_since(Some(101)), None, "it came");
        assert_eq!(proved_since(None), Some(at(103)), "it did not come");
    }

    #[test]
    fn missed_changes_are_counted_since_the_first_of_them() {
        let mut watch = WebhookWatch::default();
        missed(&mut watch, at(10));
        missed(&mut watch, at(20));
        assert_eq!((watch.missed, watch.missed_since), (2, Some(at(10))));
    }

    #[test]
    fn deliveries_tell_of_changes_while_one_came_of_late_and_none_was_missed() {
        let mut watch = WebhookWatch::default();
        assert!(!tells_of_changes(&watch, at(0)));
        heard(&mut watch, at(0), false);
        assert!(tells_of_changes(&watch, at(86_399)) && !tells_of_changes(&watch, at(86_400)));
        missed(&mut watch, at(10));
        assert!(!tells_of_changes(&watch, at(20)));
    }

    #[test]
    fn a_delivery_clears_the_suspicion_only_if_it_came_after_what_was_missed() {
        for (heard_at, left, why) in [
            (9, 1, "it says nothing about what was missed after it"),
            (10, 0, "deliveries arrive"),
            (11, 0, "deliveries arrive"),
        ] {
            let mut watch = WebhookWatch::default();
            missed(&mut watch, at(10));
            heard(&mut watch, at(heard_at), false);
            assert_eq!(watch.missed, left, "{why}");
            assert_eq!(watch.missed_since.is_some(), left > 0, "{why}");
        }
    }

    #[test]
    fn any_delivery_ends_the_silence_and_a_late_one_takes_nothing_back() {
        let mut watch = WebhookWatch { silent: true, heard_at: Some(at(50)), ..WebhookWatch::default() };
        heard(&mut watch, at(40), false);
        assert_eq!((watch.silent, watch.heard_at, watch.test_heard_at), (false, Some(at(50)), None));
    }

    #[test]
    fn what_prevented_a_test_is_forgotten_when_a_delivery_follows_it() {
        for (heard_at, is_forgotten) in [(99, false), (100, true), (101, true)] {
            let mut watch = WebhookWatch::default();
            tested(&mut watch, at(100), Some("404".to_owned()));
            heard(&mut watch, at(heard_at), false);
            assert_eq!(watch.problem.is_none(), is_forgotten, "heard at {heard_at}");
        }
        let mut never_tested = WebhookWatch { problem: Some("?".to_owned()), ..WebhookWatch::default() };
        heard(&mut never_tested, at(1), false);
        assert_eq!(never_tested.problem, None);
    }

    #[test]
    fn a_proof_without_a_missed_change_is_dated_once_and_a_delivery_ends_it() {
        let mut watch = WebhookWatch::default();
        assert!(!judged(&mut watch, None));
        assert!(judged(&mut watch, Some(at(10))) && !judged(&mut watch, Some(at(40))));
        assert_eq!((watch.silent, watch.missed, watch.missed_since), (true, 0, Some(at(10))));
        let mut suspected = WebhookWatch::default();
        missed(&mut suspected, at(10));
        assert!(judged(&mut suspected, Some(at(10))), "the record has only the sign");
        assert!(!judged(&mut suspected, Some(at(10))));
        assert!(!tells_of_changes(&WebhookWatch { heard_at: Some(at(9)), ..watch.clone() }, at(41)));
        heard(&mut watch, at(50), true);
        assert_eq!((watch.silent, watch.missed_since), (false, None));
    }

    #[test]
    fn what_was_heard_before_the_record_was_read_is_not_lost() {
        let mut begun = WebhookWatch::default();
        heard(&mut begun, at(50), true);
        let recorded = WebhookWatch { missed: 2, missed_since: Some(at(10)), ..WebhookWatch::default() };
        let resumed = resumed(recorded, &begun);
        assert_eq!((resumed.missed, resumed.missed_since, resumed.test_heard_at), (0, None, Some(at(50))));
    }

    #[test]
    fn a_test_is_answered_by_a_test_and_by_no_other_delivery() {
        let mut watch = WebhookWatch::default();
        tested(&mut watch, at(100), None);
        heard(&mut watch, at(101), false);
        assert!(!is_test_heard_since(&watch, at(100)));
        heard(&mut watch, at(102), true);
        assert!(is_test_heard_since(&watch, at(102)) && !is_test_heard_since(&watch, at(103)));
        assert_eq!((watch.tested_at, watch.problem), (Some(at(100)), None));
    }
}
