//! Warnings that anyone on the network can cause: each is logged once a minute at most.

use std::time::Duration;

use parking_lot::Mutex;

/// How often one warning is logged.
const INTERVAL: Duration = Duration::from_secs(60);

/// When a warning was last logged, by a monotonic clock.
#[derive(Default)]
pub(super) struct Warning(Mutex<Option<Duration>>);

impl Warning {
    /// Tells whether the warning is to be logged now, and notes that it is.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        let mut logged_at = self.0.lock();
        let is_due = logged_at.is_none_or(|at| now.saturating_sub(at) >= INTERVAL);
        if is_due {
            *logged_at = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_logged_at_once_and_then_once_a_minute() {
        let warning = Warning::default();
        let due: Vec<u64> = (0..=130).filter(|second| warning.is_due(Duration::from_secs(*second))).collect();
        assert_eq!(due, [0, 60, 120]);
    }
}
