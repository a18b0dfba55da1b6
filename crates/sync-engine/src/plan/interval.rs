//! Decides whether something that is repeated at an interval is due.

use std::time::Duration;

/// Whether something is due that was last done at `last`, if it was, and is done no more often than `every`.
pub fn is_due(last: Option<Duration>, now: Duration, every: Duration) -> bool {
    last.is_none_or(|last| now >= last.saturating_add(every))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_done_is_due_and_what_was_done_is_due_after_its_interval() {
        let seconds = Duration::from_secs;
        for (last, now, expected) in [
            (None, 0, true),
            (Some(0), 59, false),
            (Some(0), 60, true),
            (Some(100), 90, false),
            (Some(100), 161, true),
        ] {
            assert_eq!(is_due(last.map(seconds), seconds(now), seconds(60)), expected, "{last:?} at {now}");
        }
    }
}
