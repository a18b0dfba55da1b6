//! Compares this machine's clock with the marketplace's, by the `Date` of its answer.

use espelho_model::text;

use super::{
    facts::StoreFacts,
    finding::{Finding, SkipReason},
};

/// Seconds that the clocks may differ.
const SKEW: i64 = 60;
/// Seconds of difference from which on tokens, deadlines and signatures are misread.
const WRONG: i64 = 300;

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    let Some(reached) = store.reached.get() else { return Finding::skipped(SkipReason::NotReached) };
    // The answer's head was written a moment ago; half of the round trip is less than the second to which `Date` is
    // exact.
    match reached.date {
        Some(date) => judge((date - store.all.clock.now()).num_seconds()),
        None => Finding::absent(text!("doctor-clock-untold")),
    }
}

/// Judges how far the marketplace's clock is ahead of this machine's clock.
fn judge(ahead: i64) -> Finding {
    let differs = ahead.saturating_abs();
    let text = match (differs > SKEW, ahead > 0) {
        (false, _) => return Finding::green(text!("doctor-clock", seconds = differs)),
        (true, true) => text!("doctor-clock-slow", span = text::Arg::Seconds(differs)),
        (true, false) => text!("doctor-clock-fast", span = text::Arg::Seconds(differs)),
    };
    if differs > WRONG { Finding::red(text) } else { Finding::yellow(text) }
}

#[cfg(test)]
mod tests {
    use super::{super::finding::State, *};

    #[test]
    fn a_clock_is_wrong_from_a_minute_on_and_dangerous_from_five() {
        for (ahead, state) in [
            (0, State::Green),
            (-60, State::Green),
            (61, State::Yellow),
            (-300, State::Yellow),
            (301, State::Red),
            (-7_200, State::Red),
            (i64::MIN, State::Red),
        ] {
            assert_eq!(judge(ahead).state, state, "{ahead}");
        }
    }
}
