//! Decides when the marketplace is probed, and what a probe found.

use std::{num::NonZeroU32, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};

/// Interval of the probes while the marketplace does not answer.
const EVERY: Duration = Duration::from_secs(10);
/// The least time for which an answer proves contact.
const PROVES: TimeDelta = TimeDelta::seconds(15);
/// The same for a token that another program may end: the next end is found while its alarm is due.
const PROVES_CONTESTED: TimeDelta = TimeDelta::seconds(5);
/// Probes cost at most a twentieth of the budget: at one request a minute, there is one in twenty minutes.
const PER_MINUTE: u32 = 20;

/// Returns how long an answer proves contact: a small budget has better uses than probes.
pub fn proves(per_minute: NonZeroU32) -> TimeDelta {
    at_least(PROVES, per_minute)
}

/// Whether the last answer is too old to prove contact. A date in the future is from before the clock was set back.
pub fn is_silent(
    answered: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
    per_minute: NonZeroU32,
    is_contested: bool,
) -> bool {
    let proves = at_least(if is_contested { PROVES_CONTESTED } else { PROVES }, per_minute);
    answered.is_some_and(|then| (now - then).abs() >= proves)
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

    #[test]
    fn an_old_answer_proves_no_contact_and_a_date_in_the_future_is_as_old() {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        for (age, expected) in [(0, false), (14, false), (15, true), (3_600, true), (-14, false), (-15, true)]
        {
            let answered = Some(now - TimeDelta::seconds(age));
            assert_eq!(is_silent(answered, now, budget(300), false), expected, "{age} s");
        }
        assert!(!is_silent(None, now, budget(300), false), "nothing was asked yet");
        for (age, per_minute, expected) in [(4, 300, false), (5, 300, true), (19, 60, false), (20, 60, true)]
        {
            let answered = Some(now - TimeDelta::seconds(age));
            let found = is_silent(answered, now, budget(per_minute), true);
            assert_eq!(found, expected, "{age} s after a forced login, {per_minute} a minute");
        }
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
