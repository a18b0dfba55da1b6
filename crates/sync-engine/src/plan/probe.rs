//! Decides when the marketplace is probed, and what a probe found.

use std::{num::NonZeroU32, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};

/// Interval of the probes while the marketplace does not answer.
const EVERY: Duration = Duration::from_secs(10);
/// The least time for which an answer proves contact.
const PROVES: TimeDelta = TimeDelta::seconds(15);
/// The same for a token that another program may end: the next end is found while its alarm is due.
const PROVES_CONTESTED: TimeDelta = TimeDelta::seconds(5);
/// The least time for which an answer proves contact while the marketplace answers other stores. Trouble of this store alone
/// is an alarm within a minute all the same: after a probe that is not answered in time and the time for which it must
/// last, or after two ends of its token.
const PROVES_BESIDE_OTHERS: TimeDelta = TimeDelta::seconds(25);
/// The time within which a probe must be answered.
pub const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// Probes cost at most a twentieth of the budget: at one request a minute, there is one in twenty minutes.
const PER_MINUTE: u32 = 20;

/// Returns how long an answer proves contact: a small budget has better uses than probes.
pub fn proves(per_minute: NonZeroU32) -> TimeDelta {
    at_least(PROVES, per_minute)
}

/// The trouble of a store's own that a probe may find to be over, or find again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreTrouble {
    /// There is none: answers to other stores count.
    None,
    /// There is some: the store asks as if it were alone.
    Any,
    /// Another program may end its token.
    ContestedToken,
}

impl StoreTrouble {
    /// Returns the trouble that decides.
    pub fn of(is_troubled: bool, is_token_contested: bool) -> Self {
        match (is_token_contested, is_troubled) {
            (true, _) => Self::ContestedToken,
            (false, true) => Self::Any,
            (false, false) => Self::None,
        }
    }
}

/// Returns in how long the answers of a marketplace will be too old to prove contact; zero if they are. `answered` is when it
/// last answered this store, `any` when it last answered any store of the process; `None` if it never answered this one. A
/// date in the future is from before the clock was set back, and proves nothing once it is that far away.
pub fn silent_in(
    answered: Option<DateTime<Utc>>,
    any: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
    per_minute: NonZeroU32,
    trouble: StoreTrouble,
) -> Option<Duration> {
    let left = |then: DateTime<Utc>, proves| {
        let proved = at_least(proves, per_minute) - (now - then).abs();
        proved.to_std().unwrap_or_default()
    };
    let own = answered?;
    if trouble == StoreTrouble::ContestedToken {
        return Some(left(own, PROVES_CONTESTED));
    }
    let counts = |then: &DateTime<Utc>| trouble == StoreTrouble::None && own <= now && *then <= now;
    let by_any = any.filter(counts).map_or(Duration::ZERO, |then| left(then, PROVES));
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

    /// Returns the seconds until contact is not proved, with the ages in seconds of the last answer to this store and of the
    /// last to any.
    fn silent_in_seconds(own: i64, any: Option<i64>, per_minute: u32) -> u64 {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        let ago = |seconds| now - TimeDelta::seconds(seconds);
        let (own, any, budget) = (Some(ago(own)), any.map(ago), budget(per_minute));
        silent_in(own, any, now, budget, StoreTrouble::None).unwrap().as_secs()
    }

    #[test]
    fn an_old_answer_proves_no_contact_and_a_date_in_the_future_is_as_old() {
        for (age, expected) in [(0, 15), (14, 1), (15, 0), (3_600, 0), (-14, 1), (-15, 0)] {
            assert_eq!(silent_in_seconds(age, Some(age), 300), expected, "{age} s");
            assert_eq!(silent_in_seconds(age, None, 300), expected, "{age} s");
        }
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        let never = silent_in(None, Some(now), now, budget(300), StoreTrouble::None);
        assert_eq!(never, None, "nothing was asked yet");
    }

    #[test]
    fn a_store_in_trouble_asks_for_itself_and_soon_where_its_token_may_end() {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        for (is_troubled, is_contested, age, per_minute, expected) in [
            (false, false, 20, 300, 5),
            (true, false, 14, 300, 1),
            (true, false, 20, 300, 0),
            (true, true, 4, 300, 1),
            (true, true, 5, 300, 0),
            (true, true, 19, 60, 1),
            (true, true, 20, 60, 0),
        ] {
            let own = Some(now - TimeDelta::seconds(age));
            let trouble = StoreTrouble::of(is_troubled, is_contested);
            let found = silent_in(own, Some(now), now, budget(per_minute), trouble);
            assert_eq!(
                found,
                Some(Duration::from_secs(expected)),
                "{trouble:?} {age} s, {per_minute} a minute"
            );
        }
    }

    #[test]
    fn an_answer_to_another_store_proves_contact_for_a_while() {
        for (own, any, expected, why) in [
            (9, 0, 15, "the other answer is new"),
            (20, 12, 3, "the other answer is nearly too old"),
            (20, 15, 0, "both are too old"),
            (0, 0, 15, "both are new"),
            (10, 60, 5, "this store's own is enough"),
            (20, 0, 5, "the store must be asked for itself in the end"),
            (24, 0, 1, "soon"),
            (25, 0, 0, "now"),
            (20, -30, 0, "the clock was set back"),
            (20, -1, 0, "a little"),
            (-20, 0, 0, "before others were answered"),
        ] {
            assert_eq!(silent_in_seconds(own, Some(any), 300), expected, "{why}: {own} s, {any} s");
        }
        assert_eq!(silent_in_seconds(22, Some(0), 60), 3, "a small budget");
        assert_eq!(silent_in_seconds(30, Some(0), 1), 1_170, "the least one");
    }

    #[test]
    fn trouble_of_one_store_is_an_alarm_within_a_minute_though_others_are_answered() {
        let (unanswered, observed) = (TimeDelta::from_std(ANSWERS_WITHIN).unwrap(), TimeDelta::seconds(3));
        let minute = TimeDelta::seconds(60);
        assert!(PROVES_BESIDE_OTHERS + unanswered + LASTS + observed < minute, "it is not answered");
        let second_end = PROVES_BESIDE_OTHERS + PROVES_CONTESTED;
        assert!(
            PROVES_BESIDE_OTHERS + second_end + observed < minute,
            "another program ends its token twice"
        );
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
