//! Decides which rows the rotation reads in a store in which nothing changes. Pure: time is passed in.
//!
//! The rotation reads what may change without a sign in a listing. A store that has been quiet for long is likely to stay
//! so: after ten minutes its rows are read again once they are half as old as its quiet, and a change ends that at once.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// In a store that has been quiet for less, rows do not rest: much of what happens comes together.
const YOUNG: Duration = Duration::from_secs(600);
/// No row that the budget reaches waits longer for its turn, however quiet its store is.
const LONGEST_REST: Duration = Duration::from_secs(1_800);
/// The least rest while the stores of the process read as much at once as they may: what is new comes first.
const CROWDED_REST: Duration = Duration::from_secs(300);

/// Returns how long a row rests between two readings in a store whose last change is `quiet` ago. `is_crowded` tells if the
/// stores of the process read as much at once as they may.
pub fn rest(quiet: Duration, is_crowded: bool) -> Duration {
    let least = if is_crowded { CROWDED_REST } else { Duration::ZERO };
    let by_quiet = if quiet < YOUNG { Duration::ZERO } else { quiet / 2 };
    by_quiet.clamp(least, LONGEST_REST)
}

/// Chooses the rows that have rested among those whose turn is next, the first of which is the next: at least that one, so
/// that a route that fails, or that the token may no longer ask, is noticed in a quiet store too. `turn_at` tells when a row
/// had its last turn.
pub fn rested<T>(
    mut next: Vec<T>,
    turn_at: impl Fn(&T) -> DateTime<Utc>,
    now: DateTime<Utc>,
    rest: Duration,
) -> Vec<T> {
    let mut is_next = true;
    next.retain(|row| std::mem::take(&mut is_next) || has_rested(turn_at(row), now, rest));
    next
}

/// Says whether a row has rested. A time to come is of a clock that was put back since.
fn has_rested(turn_at: DateTime<Utc>, now: DateTime<Utc>, rest: Duration) -> bool {
    (now - turn_at).to_std().map_or(true, |age| age >= rest)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    const fn minutes(minutes: u64) -> Duration {
        Duration::from_secs(minutes * 60)
    }

    #[test]
    fn rows_rest_for_half_of_the_quiet_and_never_for_long() {
        for (quiet, is_crowded, expected) in [
            (Duration::ZERO, false, Duration::ZERO),
            (Duration::ZERO, true, minutes(5)),
            (minutes(10) - Duration::from_millis(1), false, Duration::ZERO),
            (minutes(10), false, minutes(5)),
            (minutes(9), true, minutes(5)),
            (minutes(20), false, minutes(10)),
            (minutes(20), true, minutes(10)),
            (minutes(60), false, minutes(30)),
            (minutes(60 * 24 * 365), true, minutes(30)),
            (Duration::MAX, false, minutes(30)),
        ] {
            assert_eq!(rest(quiet, is_crowded), expected, "{quiet:?} {is_crowded}");
        }
    }

    #[test]
    fn rows_that_have_rested_are_read_and_the_next_one_in_any_case() {
        let now = DateTime::UNIX_EPOCH + minutes(500);
        let chosen =
            |ages: &[i64], rest| rested(ages.to_vec(), |age| now - TimeDelta::seconds(*age), now, rest);
        let two = minutes(2);
        for (ages, rest, expected, why) in [
            (&[300, 121, 120, 119, 1][..], two, &[300, 121, 120][..], "two minutes are enough"),
            (&[119, 118, 1], two, &[119], "a route is tried all the same"),
            (&[3, 2, 0], Duration::ZERO, &[3, 2, 0], "something happens in the store"),
            (&[10, 300, 5], two, &[10, 300], "the turn of the first comes in any case"),
            (&[10, -60], two, &[10, -60], "the clock was put back"),
            (&[], two, &[], "there is none"),
        ] {
            assert_eq!(chosen(ages, rest), expected, "{why}");
        }
    }
}
