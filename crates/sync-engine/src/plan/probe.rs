//! Decides when the marketplace is probed, and what a probe found.

use std::{num::NonZeroU32, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};

/// Interval of the probes while the marketplace does not answer.
const EVERY: Duration = Duration::from_secs(10);
/// The least time for which an answer proves contact.
const PROVES: TimeDelta = TimeDelta::seconds(15);
/// The same while the marketplace answers other stores. Trouble of this store alone is an alarm within a minute all the same:
/// after a probe that is not answered in time, and the time for which it must last.
const PROVES_BESIDE_OTHERS: TimeDelta = TimeDelta::seconds(30);
/// The same for a token that another program may end: the next end is found while its alarm is due.
const PROVES_CONTESTED: TimeDelta = TimeDelta::seconds(5);
/// Probes cost at most a twentieth of the budget: at one request a minute, there is one in twenty minutes.
const PER_MINUTE: u32 = 20;

/// Returns how long an answer proves contact: a small budget has better uses than probes.
pub fn proves(per_minute: NonZeroU32) -> TimeDelta {
    at_least(PROVES, per_minute)
}

/// The last useful answers of a marketplace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// The last one to this store.
    pub to_store: Option<DateTime<Utc>>,
    /// The last one to any store of this process.
    pub to_any: Option<DateTime<Utc>>,
}

/// Returns in how long the answers will be too old to prove contact; zero if they are. `None` if this store had none. A date
/// in the future is from before the clock was set back, and proves nothing once it is that far away.
pub fn silent_in(
    answers: Answers,
    now: DateTime<Utc>,
    per_minute: NonZeroU32,
    is_contested: bool,
) -> Option<Duration> {
    let left = |then: DateTime<Utc>, proves| {
        let proved = at_least(proves, per_minute) - (now - then).abs();
        proved.to_std().unwrap_or_default()
    };
    let own = answers.to_store?;
    if is_contested {
        return Some(left(own, PROVES_CONTESTED));
    }
    let by_any = answers.to_any.map_or(Duration::ZERO, |then| left(then, PROVES));
    Some(left(own, PROVES).max(by_any.min(left(own, PROVES_BESIDE_OTHERS))))
}

/// Returns the time from one probe to the next while the marketplace does not answer.
pub fn interval(per_minute: NonZeroU32) -> Duration {
    EVERY.max(least_interval(per_minute))
}

/// Whether an ability that was missing is there again.
pub fn has_regained(lacked: &[String], missing: &[String]) -> bool {
    lacked.iter().any(|ability| !missing.contains(ability))
}

fn at_least(time: TimeDelta, per_minute: NonZeroU32) -> TimeDelta {
    time.max(TimeDelta::from_std(least_interval(per_minute)).unwrap_or(time))
}

/// Returns the least time between two probes.
fn least_interval(per_minute: NonZeroU32) -> Duration {
    Duration::from_secs(u64::from(60 * PER_MINUTE / per_minute))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::alarms::LASTS;

    fn budget(per_minute: u32) -> NonZeroU32 {
        NonZeroU32::new(per_minute).unwrap()
    }

    #[test]
    fn probes_cost_at_most_a_twentieth_of_the_budget() {
        for (per_minute, proved, every) in [
            (300, 15, 10),
            (60, 20, 20),
            (30, 40, 40),
            (10, 120, 120),
            (1, 1_200, 1_200),
            (1_000_000, 15, 10),
        ] {
            assert_eq!(proves(budget(per_minute)), TimeDelta::seconds(proved), "{per_minute}");
            assert_eq!(interval(budget(per_minute)), Duration::from_secs(every), "{per_minute}");
        }
    }

    /// Returns the seconds until these answers prove nothing, with their ages in seconds.
    fn silent_in_seconds(own: i64, any: Option<i64>, per_minute: u32, is_contested: bool) -> u64 {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        let ago = |seconds| now - TimeDelta::seconds(seconds);
        let answers = Answers { to_store: Some(ago(own)), to_any: any.map(ago) };
        silent_in(answers, now, budget(per_minute), is_contested).unwrap().as_secs()
    }

    #[test]
    fn an_old_answer_proves_no_contact_and_a_date_in_the_future_is_as_old() {
        for (age, expected) in [(0, 15), (14, 1), (15, 0), (3_600, 0), (-14, 1), (-15, 0)] {
            assert_eq!(silent_in_seconds(age, Some(age), 300, false), expected, "{age} s");
            assert_eq!(silent_in_seconds(age, None, 300, false), expected, "{age} s");
        }
        let nothing = Answers { to_store: None, to_any: DateTime::from_timestamp(1_795_000_000, 0) };
        let now = nothing.to_any.unwrap();
        assert_eq!(silent_in(nothing, now, budget(300), false), None, "nothing was asked yet");
        for (age, per_minute, expected) in [(4, 300, 1), (5, 300, 0), (19, 60, 1), (20, 60, 0)] {
            let found = silent_in_seconds(age, Some(0), per_minute, true);
            assert_eq!(found, expected, "{age} s after a forced login, {per_minute} a minute");
        }
    }

    #[test]
    fn an_answer_to_another_store_proves_contact_for_a_while() {
        for (own, any, expected, why) in [
            (14, 0, 15, "the other answer is new"),
            (20, 12, 3, "the other answer is nearly too old"),
            (20, 15, 0, "both are too old"),
            (0, 0, 15, "both are new"),
            (10, 0, 15, "the other answer proves it for longer"),
            (10, 60, 5, "this store's own is enough"),
            (20, 0, 10, "the store must be asked for itself in the end"),
            (29, 0, 1, "soon"),
            (30, 0, 0, "now"),
            (20, -30, 0, "the clock was set back"),
        ] {
            assert_eq!(silent_in_seconds(own, Some(any), 300, false), expected, "{why}: {own} s, {any} s");
        }
        assert_eq!(silent_in_seconds(25, Some(0), 60, false), 5, "a small budget");
        assert_eq!(silent_in_seconds(30, Some(0), 1, false), 1_170, "the least one");
    }

    #[test]
    fn trouble_of_one_store_is_an_alarm_within_a_minute_though_others_are_answered() {
        let (unanswered, observed) = (TimeDelta::seconds(10), TimeDelta::seconds(3));
        assert!(PROVES_BESIDE_OTHERS + unanswered + LASTS + observed < TimeDelta::seconds(60));
    }

    #[test]
    fn an_ability_is_regained_when_it_is_no_longer_missing() {
        let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        for (lacked, missing, expected) in [
            (&[][..], &[][..], false),
            (&["a"], &["a"], false),
            (&["a"], &["a", "b"], false),
            (&["a"], &[], true),
            (&["a", "b"], &["b"], true),
            (&[], &["a"], false),
        ] {
            assert_eq!(has_regained(&names(lacked), &names(missing)), expected, "{lacked:?} {missing:?}");
        }
    }
}
