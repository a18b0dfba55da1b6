//! Decides what a store must know about the time before the work on it started.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_model::sync::RunState;

/// If the store was down for longer, the log reports it: the marketplace no longer retries its deliveries, so some are
/// lost.
const RETRIED_FOR: Duration = Duration::from_secs(6 * 60);

/// Returns for how many minutes the store was down, if deliveries may be lost.
pub fn worth_a_word(last_seen: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Option<u64> {
    let away = (now - last_seen?).to_std().ok().filter(|away| *away > RETRIED_FOR)?;
    Some(away.as_secs() / 60)
}

/// Whether the mirror was complete once, by the states of its last runs.
pub fn was_mirrored(runs: &[impl AsRef<str>]) -> bool {
    let walked = [RunState::Complete, RunState::Partial].map(RunState::as_str);
    runs.iter().any(|state| walked.contains(&state.as_ref()))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_downtime_is_told_when_the_marketplace_no_longer_retries_its_deliveries() {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        for (seconds, expected) in [(0, None), (360, None), (361, Some(6)), (3_600, Some(60)), (-60, None)] {
            assert_eq!(worth_a_word(Some(now - TimeDelta::seconds(seconds)), now), expected, "{seconds} s");
        }
        assert_eq!(worth_a_word(None, now), None, "nobody was here before");
    }

    #[test]
    fn a_mirror_was_complete_once_if_any_run_walked_to_the_end() {
        for (runs, expected) in [
            (&[][..], false),
            (&["failed"], false),
            (&["running", "failed"], false),
            (&["failed", "partial"], true),
            (&["complete"], true),
        ] {
            assert_eq!(was_mirrored(runs), expected, "{runs:?}");
        }
    }
}
