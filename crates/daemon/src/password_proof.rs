//! Decides whether a login has shown what the configured password is worth, and when the next one tries. Pure.
//!
//! A token works for weeks after its password has become a wrong one (API document, "Authentication" 6): only a login
//! proves a password, and it proves the one that it was made with.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::login_budget::{PastLogin, REFUSED};

/// How often the record is looked at while no login has proved the password.
pub(crate) const LOOK: Duration = Duration::from_secs(10);
/// The wait after a login that proved nothing: an alarm ends within a minute of its cause.
const RETRY: TimeDelta = TimeDelta::seconds(45);
/// The same after [`OFTEN`] logins in a row: a password that stays wrong, or a login that gets no answer, costs no login a
/// minute for weeks.
const LATE_RETRY: TimeDelta = TimeDelta::minutes(15);
const OFTEN: u32 = 10;

/// Returns since when logins say something of the password: from the token's on, or for as long as one may delay the next.
pub(crate) fn looks_back(obtained_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> DateTime<Utc> {
    // A token of the future is from before the clock was set back.
    obtained_at.filter(|at| *at <= now).unwrap_or(now - LATE_RETRY)
}

/// The record of a password, beside a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PasswordRecord {
    /// True if the token was obtained with this password; `None` if that is not known.
    pub is_of_token: Option<bool>,
    /// When the last login after the token's was made.
    pub tried_at: Option<DateTime<Utc>>,
    /// True if the marketplace has refused one of them.
    pub was_refused: bool,
}

impl PasswordRecord {
    /// Reads the record from the logins between two times; the first is the token's, where there is one.
    pub(crate) fn of(
        is_of_token: Option<bool>,
        has_token: bool,
        (since, now): (DateTime<Utc>, DateTime<Utc>),
        logins: &[PastLogin],
    ) -> Self {
        let later = || logins.iter().filter(|(at, _)| *at > since && *at <= now);
        Self {
            is_of_token,
            tried_at: later().map(|(at, _)| *at).max(),
            // Without a token the work itself logs in, and ends with a refusal.
            was_refused: has_token && later().any(|(_, reason)| reason == REFUSED),
        }
    }

    /// Judges the password, after so many logins in a row that proved nothing. A new one is tried at once.
    pub(crate) fn judge(self, known: Known, failures: u32, now: DateTime<Utc>) -> Judgement {
        let Known { is_new, was_unproved, is_refused } = known;
        // Where the record does not tell whose token it is, what was known before counts.
        let of_record = self.is_of_token.map_or(was_unproved, |is_of_token| !is_of_token);
        let is_unproved = is_new || self.was_refused || of_record;
        let wait = if failures < OFTEN { RETRY } else { LATE_RETRY };
        let has_waited = self.tried_at.is_none_or(|tried| now - tried >= wait);
        Judgement { is_unproved, is_login_due: (is_unproved || is_refused) && (is_new || has_waited) }
    }
}

/// The knowledge of a password that this process has, and no record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// True if this process had another one before, and has not tried this one.
    pub is_new: bool,
    /// True if it was unproved at the last look.
    pub was_unproved: bool,
    /// True if the last login of this process was refused.
    pub is_refused: bool,
}

/// The worth of a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// True if only a login would show what it is worth.
    pub is_unproved: bool,
    /// True if a login is to try it now.
    pub is_login_due: bool,
}

#[cfg(test)]
mod tests {
    use espelho_api_client::login_budget::{ATTEMPT, UNSENT};

    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + second, 0).unwrap()
    }

    // withstands: F137
    #[test]
    fn a_password_is_proved_by_the_tokens_login_until_another_one_is_refused() {
        for (is_of_token, logins, was_unproved, expected, why) in [
            (Some(true), &[(0, "first")][..], true, false, "its login obtained the token"),
            (Some(false), &[(0, "first")], false, true, "the token is from another one"),
            (
                None,
                &[(0, "first")],
                false,
                false,
                "an earlier version has recorded the token: nothing is claimed",
            ),
            (None, &[(0, "first")], true, true, "it is new, and no login has had an answer"),
            (
                Some(true),
                &[(0, "first"), (9, REFUSED)],
                false,
                true,
                "it was refused, perhaps before a restart",
            ),
            (None, &[(0, "first"), (9, REFUSED)], false, true, "it was refused"),
            (
                Some(true),
                &[(-9, REFUSED), (0, "first")],
                true,
                false,
                "it was refused before, and accepted then",
            ),
            (
                Some(true),
                &[(0, "first"), (9, ATTEMPT)],
                true,
                false,
                "a login without an answer tells nothing",
            ),
        ] {
            let logins: Vec<_> =
                logins.iter().map(|(second, what)| (at(*second), (*what).to_owned())).collect();
            let record = PasswordRecord::of(is_of_token, true, (at(0), at(60)), &logins);
            let known = Known { was_unproved, ..Known::default() };
            assert_eq!(record.judge(known, 0, at(60)).is_unproved, expected, "{why}");
        }
    }

    #[test]
    fn a_refused_password_is_tried_once_a_minute_at_first_and_seldom_later() {
        for (tried, refusals, now, expected) in [
            (None, 0, 0, true),
            (Some(0), 0, 44, false),
            (Some(0), 9, 45, true),
            (Some(0), 10, 899, false),
            (Some(0), 10_000, 900, true),
        ] {
            let record = PasswordRecord { tried_at: tried.map(at), ..PasswordRecord::default() };
            let known = Known { was_unproved: true, ..Known::default() };
            let judged = record.judge(known, refusals, at(now));
            assert_eq!(judged.is_login_due, expected, "{tried:?} {refusals} {now}");
        }
    }

    #[test]
    fn a_login_tries_a_new_password_at_once_and_one_that_is_open_when_its_wait_is_over() {
        let tried = PasswordRecord { is_of_token: Some(true), tried_at: Some(at(0)), was_refused: false };
        for (is_new, is_refused, now, is_unproved, is_login_due, why) in [
            (false, false, 60, false, false, "the token's login has proved it"),
            (true, false, 1, true, true, "it is new, whatever the record says"),
            (false, true, 44, false, false, "a login was refused a moment ago"),
            (false, true, 45, false, true, "it was refused, perhaps for a moment"),
        ] {
            let known = Known { is_new, was_unproved: false, is_refused };
            let judged = tried.judge(known, 0, at(now));
            assert_eq!(judged, Judgement { is_unproved, is_login_due }, "{why}");
        }
    }

    #[test]
    fn every_login_after_the_tokens_counts_as_a_try_and_one_of_the_future_as_none() {
        let logins =
            [(0, "first"), (5, UNSENT), (9, REFUSED), (12, ATTEMPT), (20, "renewal"), (7_200, REFUSED)];
        let logins: Vec<_> = logins.iter().map(|(second, what)| (at(*second), (*what).to_owned())).collect();
        for (has_token, since, now, tried_at, was_refused, why) in [
            (true, 0, 12, Some(12), true, "an attempt"),
            (true, 0, 60, Some(20), true, "an accepted login whose token was not kept"),
            (true, 12, 15, None, false, "none since the token's"),
            (false, 0, 15, Some(12), false, "without a token the work says that it is refused"),
        ] {
            let record = PasswordRecord::of(Some(false), has_token, (at(since), at(now)), &logins);
            assert_eq!((record.tried_at, record.was_refused), (tried_at.map(at), was_refused), "{why}");
        }
        for (obtained_at, expected, why) in [
            (Some(-9_000), -9_000, "the token's login"),
            (None, -900, "no token"),
            (Some(7_200), -900, "a token of before the clock was set back"),
        ] {
            assert_eq!(looks_back(obtained_at.map(at), at(0)), at(expected), "{why}");
        }
    }
}
