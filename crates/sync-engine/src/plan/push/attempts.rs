//! Attempts that came to nothing: when an effect is over, when the next attempt is due, and when to give up.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{text, time::past};
use espelho_store::{Effect, EffectState};

use super::{Message, Verdict};

/// How often something is sent that is proved each time not to have happened.
const MAX_ATTEMPTS: usize = 16;
/// The pause after the first attempt, doubled after each up to [`LONGEST_PAUSE`]: all of them take three hours.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(1_800);
/// After this time nothing of an effect is under way any more: the client gives up after 30 seconds, and the
/// marketplace is given ten more. What must not happen twice is not sent again before that.
pub const OVER_AFTER: TimeDelta = TimeDelta::seconds(40);
/// An effect that may happen twice counts as over this long after it was first looked for.
const SETTLES_WITHIN: Duration = Duration::from_secs(2);
/// How long ago an effect was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentFor {
    /// By the monotonic clock: this process sent it.
    Monotonic(Duration),
    /// By the wall clock: another process did. A service that is killed again and again would never wait long enough
    /// by its own clock.
    Wall(TimeDelta),
    /// It was never sent.
    Never,
}

/// Says whether an effect may still happen although it does not show. `looked_for` is how long ago it was first looked
/// for.
pub fn may_be_under_way(is_repeatable: bool, sent: SentFor, looked_for: Duration) -> bool {
    let is_over = match sent {
        SentFor::Monotonic(age) => TimeDelta::from_std(age).is_ok_and(|age| age >= OVER_AFTER),
        SentFor::Wall(age) => age >= OVER_AFTER,
        SentFor::Never => true,
    };
    let settles = is_repeatable && looked_for >= SETTLES_WITHIN;
    !(is_over || settles)
}

/// Says whether the last attempts, the newest first, failed so often that the next one waits, or that there is none.
/// An attempt that was refused has said why, and one that never left cost nothing: neither counts.
pub fn backoff_or_give_up<'e>(
    effects: impl Iterator<Item = &'e Effect>,
    now: DateTime<Utc>,
) -> Option<Verdict> {
    let counts = |effect: &&Effect| effect.state != EffectState::Refuted || effect.code.is_none();
    let failed: Vec<&Effect> =
        effects.filter(counts).take_while(|effect| effect.state == EffectState::Refuted).collect();
    let last = failed.first()?;
    if failed.len() >= MAX_ATTEMPTS {
        return Some(Verdict::Failed(gave_up(failed.len())));
    }
    let pause = FIRST_PAUSE.saturating_mul(1 << (failed.len() - 1).min(16)).min(LONGEST_PAUSE);
    // An attempt of the future, from before the clock was set back, waits for nothing.
    let passed =
        past(Some(last.planned_at), now).map_or(pause, |then| (now - then).to_std().unwrap_or_default());
    (passed < pause).then(|| Verdict::RetryAfter(pause - passed))
}

fn gave_up(attempts: usize) -> Message {
    Message::new("gave_up", text!("push-gave-up", attempts = attempts))
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{at, effect},
        *,
    };

    fn attempt(state: EffectState, code: Option<&str>) -> Effect {
        Effect { code: code.map(str::to_owned), ..effect("stock.set", None, state) }
    }

    fn waits(effects: &[Effect], seconds: i64) -> Option<Verdict> {
        backoff_or_give_up(effects.iter(), at(seconds))
    }

    // withstands: F030
    #[test]
    fn what_comes_to_nothing_is_tried_less_and_less_often_and_given_up_in_the_end() {
        let failed = || attempt(EffectState::Refuted, None);
        assert_eq!(waits(&[], 0), None);
        assert_eq!(waits(&[failed()], 0), Some(Verdict::RetryAfter(Duration::from_secs(2))));
        assert_eq!(waits(&[failed()], 2), None);
        assert_eq!(waits(&[failed()], -7_200), None, "the clock was set back");
        let five: Vec<Effect> = (0..5).map(|_| failed()).collect();
        assert_eq!(waits(&five, 30), Some(Verdict::RetryAfter(Duration::from_secs(2))));
        let many: Vec<Effect> = (0..MAX_ATTEMPTS).map(|_| failed()).collect();
        assert_eq!(waits(&many[1..], 1_799), Some(Verdict::RetryAfter(Duration::from_secs(1))));
        assert_eq!(waits(&many[1..], 1_800), None);
        let Some(Verdict::Failed(message)) = waits(&many, 10_000) else {
            panic!("{:?}", waits(&many, 10_000))
        };
        assert_eq!(message.code, "gave_up");
    }

    #[test]
    fn pauses_double_from_two_seconds_up_to_half_an_hour() {
        let pauses: Vec<u64> = (1..MAX_ATTEMPTS)
            .map(|times| {
                let failed: Vec<Effect> = (0..times).map(|_| attempt(EffectState::Refuted, None)).collect();
                waits(&failed, 0).and_then(|verdict| verdict.retry_after()).unwrap().as_secs()
            })
            .collect();
        assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_800, 1_800, 1_800, 1_800, 1_800]);
    }

    #[test]
    fn a_refused_attempt_and_one_that_never_left_do_not_count_and_a_confirmed_one_starts_over() {
        let failed = || attempt(EffectState::Refuted, None);
        let refused = attempt(EffectState::Refuted, Some("VALIDATION_ERROR"));
        assert_eq!(waits(std::slice::from_ref(&refused), 0), None);
        assert_eq!(waits(&[refused, failed()], 0), Some(Verdict::RetryAfter(Duration::from_secs(2))));
        let mut effects = vec![failed(), attempt(EffectState::Confirmed, None)];
        effects.extend((0..MAX_ATTEMPTS).map(|_| failed()));
        assert_eq!(waits(&effects, 0), Some(Verdict::RetryAfter(Duration::from_secs(2))));
        for state in [EffectState::Doubtful, EffectState::Sent, EffectState::Planned, EffectState::Confirmed]
        {
            assert_eq!(waits(&[attempt(state, None), failed()], 0), None, "{state:?}");
        }
    }

    // withstands: F001
    #[test]
    fn what_must_not_happen_twice_is_over_after_forty_seconds_and_the_rest_two_seconds_after_the_first_look()
    {
        let second = Duration::from_secs(1);
        assert!(may_be_under_way(false, SentFor::Monotonic(second * 39), second * 39));
        assert!(!may_be_under_way(false, SentFor::Monotonic(second * 40), second));
        assert!(may_be_under_way(false, SentFor::Wall(TimeDelta::milliseconds(39_999)), second * 999));
        assert!(!may_be_under_way(false, SentFor::Wall(OVER_AFTER), Duration::ZERO));
        assert!(!may_be_under_way(false, SentFor::Never, Duration::ZERO));
        assert!(may_be_under_way(true, SentFor::Monotonic(second), Duration::from_millis(1_999)));
        assert!(!may_be_under_way(true, SentFor::Monotonic(second), second * 2));
        assert!(!may_be_under_way(true, SentFor::Monotonic(second * 40), Duration::ZERO));
        // A wall clock that was set back says nothing.
        assert!(may_be_under_way(false, SentFor::Wall(TimeDelta::hours(-1)), second));
    }
}
