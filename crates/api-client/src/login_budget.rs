//! When the next login may be made. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use crate::login_reason::LoginReason;

/// The time and the recorded reason of a login: [`LoginReason::as_str`], [`ATTEMPT`], [`REFUSED`] or [`UNSENT`].
pub type PastLogin = (DateTime<Utc>, String);

/// The recorded reason of a login that is in progress, or that has brought no usable answer. It counts against the login
/// limit; a failed login has ended nobody's token.
pub const ATTEMPT: &str = "attempt";
/// The recorded reason of a login whose username or password the marketplace refused. It counts as an attempt does.
pub const REFUSED: &str = "refused";
/// The recorded reason of a login without a connection, which the marketplace does not count.
pub const UNSENT: &str = "unsent";

/// The window of the marketplace's login limit.
pub(crate) const LIMIT_WINDOW: TimeDelta = TimeDelta::minutes(1);
/// The document allows 5 a minute for each (IP, username); one is left for a person who tests the password.
const LOGINS_A_MINUTE: usize = 4;
/// The most logins forced by 401s within [`FORCED_WINDOW`].
const FORCED_LOGINS: usize = 2;
pub(crate) const FORCED_WINDOW: TimeDelta = TimeDelta::hours(1);
/// The most logins within [`FORCED_WINDOW`] that outages of the marketplace explain. One that restarts more often, or beside
/// which another program logs in, is met as if no outage had been.
const OUTAGES: usize = 4;
/// Two tokens that end within this time are another program's doing: longer than the login limit's minute, which may
/// keep that program out between two of its logins. A single one may be a person's test of the password, or the start of
/// another installation.
pub(crate) const NAMED_WINDOW: TimeDelta = TimeDelta::minutes(3);

/// A login that a 401 forces: whether it is made, and what it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForcedLogin {
    /// It is made.
    Usual,
    /// It is made, and another program is named.
    Named,
    /// It is not made: another program would end its token too.
    Refused,
}

/// Returns the logins that count: not those without a connection, nor those "in the future", which a wrong clock
/// recorded.
pub(crate) fn counted(logins: Vec<PastLogin>, now: DateTime<Utc>) -> Vec<PastLogin> {
    logins.into_iter().filter(|(at, reason)| *at <= now && reason != UNSENT).collect()
}

/// Returns when the login limit allows the next login; `None`: now. The logins are sorted by time.
pub fn allowed_at(logins: Vec<PastLogin>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let recent: Vec<DateTime<Utc>> =
        counted(logins, now).into_iter().map(|(at, _)| at).filter(|at| *at >= now - LIMIT_WINDOW).collect();
    let excess = recent.len().checked_sub(LOGINS_A_MINUTE)?;
    recent.get(excess).map(|at| *at + TimeDelta::seconds(61))
}

/// Returns when a refused token may lead to the next login; `None`: now. So many such logins within an hour mean that
/// another program uses the credential. The logins are sorted by time.
pub fn forced_allowed_at(logins: Vec<PastLogin>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let forced = forced(&counted(logins, now), now);
    let excess = forced.len().checked_sub(FORCED_LOGINS)?;
    forced.get(excess).map(|at| *at + FORCED_WINDOW)
}

/// Returns the times of the logins within the last hour that 401s forced. A first login begins the count anew: what was
/// done with another credential is not this one's. So does a refused one: the password is what keeps us out, and a login
/// that is refused ends nobody's token.
pub(crate) fn forced(logins: &[PastLogin], now: DateTime<Utc>) -> Vec<DateTime<Utc>> {
    let is_forced =
        |(at, reason): &&PastLogin| reason == LoginReason::Forced.as_str() && *at >= now - FORCED_WINDOW;
    let is_beginning =
        |(_, reason): &PastLogin| [LoginReason::First.as_str(), REFUSED].contains(&reason.as_str());
    let since = logins.iter().rposition(is_beginning).unwrap_or_default();
    logins[since..].iter().filter(is_forced).map(|(at, _)| *at).collect()
}

/// Judges the login that a 401 forces now, by those that 401s have forced within the last hour, sorted by time.
pub(crate) fn judge_forced(forced: &[DateTime<Utc>], now: DateTime<Utc>) -> ForcedLogin {
    match forced.last() {
        Some(_) if forced.len() >= FORCED_LOGINS => ForcedLogin::Refused,
        Some(last) if now - *last <= NAMED_WINDOW => ForcedLogin::Named,
        _ => ForcedLogin::Usual,
    }
}

/// Returns the reason of the login that a refused token asks for now. `was_out_of_reach` tells if the marketplace was since
/// that token last worked, and is no sign of another program that has been named; the logins are of the last hour.
pub(crate) fn reason_of_refusal(was_out_of_reach: bool, logins: &[PastLogin]) -> LoginReason {
    let of_outages = logins.iter().filter(|(_, reason)| reason == LoginReason::AfterOutage.as_str()).count();
    match was_out_of_reach && of_outages < OUTAGES {
        true => LoginReason::AfterOutage,
        false => LoginReason::Forced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + second, 0).unwrap()
    }

    fn logins(of: &[(i64, &str)]) -> Vec<PastLogin> {
        of.iter().map(|(second, reason)| (at(*second), (*reason).to_owned())).collect()
    }

    #[test]
    fn five_logins_never_fall_within_a_minute() {
        for (past, expected, why) in [
            (&[][..], None, "nothing counts"),
            (&[(-50, "first"), (-40, ATTEMPT), (-30, ATTEMPT)], None, "one is free"),
            (&[(-50, "first"), (-40, ATTEMPT), (-30, ATTEMPT), (-20, ATTEMPT)], Some(11), "four count"),
            (&[(-61, "first"), (-40, ATTEMPT), (-30, ATTEMPT), (-20, ATTEMPT)], None, "the first is over"),
            (&[(-50, REFUSED), (-40, ATTEMPT), (-30, REFUSED), (-20, ATTEMPT)], Some(11), "refusals count"),
            (&[(-50, UNSENT), (-40, ATTEMPT), (-30, ATTEMPT), (-20, ATTEMPT)], None, "one was never sent"),
            (&[(-40, ATTEMPT), (-30, ATTEMPT), (-20, ATTEMPT), (5, ATTEMPT)], None, "a wrong clock"),
            (
                &[(-50, ATTEMPT), (-40, ATTEMPT), (-30, ATTEMPT), (-20, ATTEMPT), (-10, ATTEMPT)],
                Some(21),
                "one more than the limit",
            ),
        ] {
            assert_eq!(allowed_at(logins(past), at(0)), expected.map(at), "{why}");
        }
    }

    // withstands: F082
    #[test]
    fn outages_explain_four_ends_of_a_token_an_hour() {
        use LoginReason::{AfterOutage, Forced};
        let four = [(-3_000, "outage"), (-2_000, "outage"), (-60, "outage"), (-5, "outage")];
        for (was_out_of_reach, past, expected) in [
            (false, &[][..], Forced),
            (true, &[], AfterOutage),
            (true, &[(-9, "401"), (-5, "401")], AfterOutage),
            (true, &four[1..], AfterOutage),
            (true, &four, Forced),
        ] {
            assert_eq!(reason_of_refusal(was_out_of_reach, &logins(past)), expected, "{past:?}");
        }
    }

    // withstands: F082
    #[test]
    fn a_second_token_that_ends_within_minutes_names_another_program_and_a_third_is_not_fought_for() {
        use ForcedLogin::{Named, Refused, Usual};
        for (past, expected, why) in [
            (&[][..], Usual, "one token may end beside us"),
            (&[(-5, "401")], Named, "two within seconds"),
            (&[(-70, "401")], Named, "the login limit kept the other program out for a minute"),
            (&[(-180, "401")], Named, "just within the window"),
            (&[(-181, "401")], Usual, "two single ones"),
            (&[(-5, "renewal")], Usual, "a renewal is ours"),
            (&[(-5, ATTEMPT)], Usual, "a login that failed ended nobody's token"),
            (&[(-5, REFUSED)], Usual, "a login that was refused ended nobody's token"),
            (&[(-5, "first")], Usual, "another credential, or the first start"),
            (&[(-9, "401"), (-5, "first")], Usual, "another credential since"),
            (&[(-60, "renewal"), (-5, "renewal")], Usual, "the password is tested twice, by ourselves"),
            (&[(-90, ATTEMPT), (-40, UNSENT), (-5, ATTEMPT)], Usual, "a marketplace that restarts"),
            (&[(-600, "401"), (-5, "renewal")], Usual, "one token ended, and a login of ours since"),
            (&[(-3_000, "401"), (-5, "401")], Refused, "the third within an hour"),
            (&[(-3_000, "401"), (-2_000, "401")], Refused, "however slow"),
            (&[(-3_601, "401"), (-5, "401")], Named, "the hour of the first is over"),
        ] {
            let forced = forced(&logins(past), at(0));
            assert_eq!(judge_forced(&forced, at(0)), expected, "{why}");
        }
    }

    #[test]
    fn a_third_login_for_a_refused_token_waits_until_the_first_is_an_hour_old() {
        for (past, expected, why) in [
            (&[][..], None, "nothing was refused"),
            (&[(-3_000, "401")], None, "one"),
            (&[(-3_000, "401"), (-60, "401")], Some(600), "two"),
            (&[(-3_000, "renewal"), (-60, "401")], None, "a renewal is ours"),
            (&[(-3_601, "401"), (-60, "401")], None, "the hour is over"),
            (&[(-3_000, "401"), (-2_000, "401"), (-60, "first")], None, "another credential"),
            (&[(-3_000, "401"), (-2_000, "first"), (-60, "401")], None, "one of this credential"),
            (&[(-3_000, "first"), (-2_000, "401"), (-60, "401")], Some(1_600), "two of it"),
            (&[(-3_000, "401"), (-2_000, "401"), (-60, REFUSED)], None, "the password keeps us out"),
            (&[(-3_000, REFUSED), (-2_000, "401"), (-60, "401")], Some(1_600), "it was mended"),
        ] {
            assert_eq!(forced_allowed_at(logins(past), at(0)), expected.map(at), "{why}");
        }
    }
}
