//! What a webhook watch remembers of deliveries, of changes that none reported, and of test deliveries.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::WebhookWatch;

/// Records that a sweep found a change that no delivery reported.
pub fn missed(watch: &mut WebhookWatch, now: DateTime<Utc>) {
    watch.missed += 1;
    watch.missed_since.get_or_insert(now);
}

/// Tells whether deliveries tell of changes: one came within a day, and no change was found that none had told.
pub fn tells_of_changes(watch: &WebhookWatch, now: DateTime<Utc>) -> bool {
    watch.missed_since.is_none() && watch.heard_at.is_some_and(|heard| now - heard < TimeDelta::days(1))
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

/// Records that a test delivery was requested, or why it could not be.
pub fn tested(watch: &mut WebhookWatch, at: DateTime<Utc>, problem: Option<String>) {
    (watch.tested_at, watch.problem) = (Some(at), problem);
}

/// Records since when it is proved that no delivery arrives, if it is; returns whether that is worth a record: a restart
/// must not forget it.
pub fn judged(watch: &mut WebhookWatch, proved_since: Option<DateTime<Utc>>) -> bool {
    watch.silent = proved_since.is_some();
    let is_news = watch.silent && watch.missed_since.is_none();
    watch.missed_since = watch.missed_since.or(proved_since);
    is_news
}

/// Adds to an earlier owner's record what was heard before it was read.
pub fn resumed(mut recorded: WebhookWatch, begun: &WebhookWatch) -> WebhookWatch {
    begun.heard_at.into_iter().for_each(|at| heard(&mut recorded, at, false));
    begun.test_heard_at.into_iter().for_each(|at| heard(&mut recorded, at, true));
    recorded
}

/// Whether a test delivery has arrived since then.
pub fn is_test_heard_since(watch: &WebhookWatch, then: DateTime<Utc>) -> bool {
    watch.test_heard_at.is_some_and(|heard| heard >= then)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + second, 0).unwrap()
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
