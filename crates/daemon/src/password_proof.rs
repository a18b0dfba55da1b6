//! Decides whether a login has shown what the configured password is worth, and when the next one tries. Pure.
//!
//! A token works for weeks after its password has become a wrong one (API document, "Authentication" 6): only a login
//! proves a password, and it proves the one that it was made with.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::login_budget::{ATTEMPT, PastLogin, REFUSED, UNSENT};

/// How often the record is looked at while no login has proved the password.
pub(crate) const LOOK: Duration = Duration::from_secs(10);
/// The wait after a login that proved nothing: an alarm ends within a minute of its cause.
const RETRY: TimeDelta = TimeDelta::seconds(45);
/// The same after [`OFTEN`] refusals: a password that stays wrong costs no login a minute for weeks.
const LATE_RETRY: TimeDelta = TimeDelta::minutes(15);
const OFTEN: u32 = 10;

/// What is on record of a password, beside a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PasswordRecord {
    /// Whether the token was obtained with this password; `None` if that is not known.
    pub is_of_token: Option<bool>,
    /// When the last login was made, of those after the token's, all of which have proved nothing.
    pub tried_at: Option<DateTime<Utc>>,
    /// Whether the marketplace has refused one of them.
    pub was_refused: bool,
}

impl PasswordRecord {
    /// Reads the record of a token that was obtained at a time, from the logins since then.
    pub(crate) fn of(is_of_token: Option<bool>, obtained_at: DateTime<Utc>, logins: &[PastLogin]) -> Self {
        let fails = |(at, reason): &&PastLogin| {
            *at > obtained_at && [ATTEMPT, REFUSED, UNSENT].contains(&reason.as_str())
        };
        let failed = || logins.iter().filter(fails);
        Self {
            is_of_token,
            tried_at: failed().map(|(at, _)| *at).max(),
            was_refused: failed().any(|(_, reason)| reason == REFUSED),
        }
    }

    /// Tells whether only a login would show what the password is worth. Where the record does not tell whose token it is,
    /// what was known before counts.
    pub(crate) fn is_unproved(self, was_unproved: bool) -> bool {
        self.was_refused || self.is_of_token.map_or(was_unproved, |is_of_token| !is_of_token)
    }

    /// Tells whether the next login that tries the password is due, after so many refusals since it was new.
    pub(crate) fn is_login_due(self, refusals: u32, now: DateTime<Utc>) -> bool {
        let wait = if refusals < OFTEN { RETRY } else { LATE_RETRY };
        // A login of the future is from before the clock was set back.
        self.tried_at.is_none_or(|tried| (now - tried).abs() >= wait)
    }
}

#[cfg(test)]
mod tests {
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
            let record = PasswordRecord::of(is_of_token, at(0), &logins);
            assert_eq!(record.is_unproved(was_unproved), expected, "{why}");
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
            (Some(7_200), 0, 0, true),
        ] {
            let record = PasswordRecord { tried_at: tried.map(at), ..PasswordRecord::default() };
            assert_eq!(record.is_login_due(refusals, at(now)), expected, "{tried:?} {refusals} {now}");
        }
    }

    #[test]
    fn every_login_after_the_tokens_counts_as_a_try() {
        let logins = [(0, "first"), (5, UNSENT), (9, REFUSED), (12, ATTEMPT)];
        let logins: Vec<_> = logins.iter().map(|(second, what)| (at(*second), (*what).to_owned())).collect();
        let record = PasswordRecord::of(Some(false), at(0), &logins);
        assert_eq!((record.tried_at, record.was_refused), (Some(at(12)), true));
        assert_eq!(
            PasswordRecord::of(Some(false), at(12), &logins),
            PasswordRecord { is_of_token: Some(false), ..PasswordRecord::default() }
        );
    }
}
