//! Decides when to sweep for refused deliveries: a continuous flood must not cause continuous sweeps.

use std::time::Duration;

/// Least time between two sweeps for refused deliveries, however many are refused.
const AFTER_A_GAP: Duration = Duration::from_secs(60);

/// The last sweep for refused deliveries that is planned or done.
#[derive(Debug, Default)]
pub struct SweepThrottle(Option<Duration>);

impl SweepThrottle {
    /// Returns when to sweep after a gap that was reported at `now`.
    pub fn due(&mut self, now: Duration) -> Duration {
        let due = match self.0 {
            Some(planned) if planned > now => planned,
            Some(last) => now.max(last + AFTER_A_GAP),
            None => now,
        };
        self.0 = Some(due);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F046
    #[test]
    fn after_a_gap_is_looked_at_once_and_not_more_than_once_a_minute_however_many_there_are() {
        let (mut after_gap, seconds) = (SweepThrottle::default(), Duration::from_secs);
        assert_eq!(after_gap.due(seconds(100)), seconds(100));
        for now in [101, 102, 150] {
            assert_eq!(after_gap.due(seconds(now)), seconds(160), "at {now}");
        }
        assert_eq!(after_gap.due(seconds(161)), seconds(220));
        assert_eq!(after_gap.due(seconds(500)), seconds(500));
    }
}
