//! Decides when an order that the marketplace denies counts as gone.
//!
//! A 404 may be a temporary mistake. So the first is only recorded. Another one counts if it comes half a day after the
//! one before. The third, which is a day after the first, is believed.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::Missing;

/// The least time between two denials that both count.
pub const EVERY: TimeDelta = TimeDelta::hours(12);
/// This many denials are believed.
pub const BELIEVED: u32 = 3;

/// When more than this many orders are denied at one time, single denials are no longer believed: a scope that was
/// taken away, or a route that is broken for a day, denies all orders. A complete pass decides about them, under its
/// own guard.
pub const MASS_DENIAL: u64 = 50;

/// The result of a denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It came too soon after the one before to count.
    TooSoon,
    /// It is recorded, and the next one is awaited.
    Kept(Missing),
    /// The row is gone.
    Gone,
}

/// Judges a denial that came `now`, with the earlier ones on record.
pub fn denied(known: Option<Missing>, now: DateTime<Utc>) -> Denied {
    let Some(known) = known else {
        return Denied::Kept(Missing { since: now, confirmations: 1, last_at: now });
    };
    if now < next_at(&known) {
        return Denied::TooSoon;
    }
    match known.confirmations.saturating_add(1) {
        BELIEVED.. => Denied::Gone,
        confirmations => Denied::Kept(Missing { confirmations, last_at: now, ..known }),
    }
}

/// Returns when the next denial would count.
pub fn next_at(known: &Missing) -> DateTime<Utc> {
    known.last_at + EVERY
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::hours(hour)
    }

    /// Returns the hours at which a denial was recorded, and the hour at which the order was gone.
    fn told(hours: impl IntoIterator<Item = i64>) -> (Vec<i64>, Option<i64>) {
        let (mut known, mut kept) = (None, Vec::new());
        for hour in hours {
            match denied(known, at(hour)) {
                Denied::TooSoon => (),
                Denied::Kept(missing) => {
                    known = Some(missing);
                    kept.push(hour);
                }
                Denied::Gone => return (kept, Some(hour)),
            }
        }
        (kept, None)
    }

    // withstands: F059
    #[test]
    fn an_order_is_gone_with_the_third_denial_and_never_within_a_day() {
        assert_eq!(told(0..100), (vec![0, 12], Some(24)));
        assert_eq!(told([0, 1, 2, 11]), (vec![0], None), "many at once are one");
        assert_eq!(told([0, 23, 24, 34]), (vec![0, 23], None));
        assert_eq!(told([0, 23, 35]), (vec![0, 23], Some(35)));
        assert_eq!(told([0, 240]), (vec![0, 240], None), "however long it takes, two are two");
    }

    #[test]
    fn a_denial_remembers_when_the_first_one_came() {
        let first = Missing { since: at(0), confirmations: 1, last_at: at(0) };
        let second = Missing { confirmations: 2, last_at: at(13), ..first };
        assert_eq!(denied(Some(first), at(13)), Denied::Kept(second));
        assert_eq!(next_at(&second), at(25));
    }
}
