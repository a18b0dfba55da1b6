//! The polling schedule for labels (API document, "Limits": label polling).

use std::time::Duration;

/// The pace of the first seconds, in which most labels become ready.
const EAGER: Duration = Duration::from_secs(2);
const EAGER_FOR: Duration = Duration::from_secs(15);
const PATIENT: Duration = Duration::from_secs(5);
const GIVEN_UP_AFTER: Duration = Duration::from_secs(120);

/// The waits between two polls: 2 s for the first 15 s, then 5 s, and none after 2 minutes.
///
/// Pure: it adds up the waits that it returned, and the caller sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelPolling {
    waited: Duration,
}

impl LabelPolling {
    /// Returns the total wait so far.
    pub fn waited(&self) -> Duration {
        self.waited
    }
}

impl Iterator for LabelPolling {
    type Item = Duration;

    /// Returns the wait before the next poll; `None` when it is time to give up.
    fn next(&mut self) -> Option<Duration> {
        let wait = if self.waited < EAGER_FOR { EAGER } else { PATIENT };
        let wait = wait.min(GIVEN_UP_AFTER.saturating_sub(self.waited));
        if wait.is_zero() {
            return None;
        }
        self.waited += wait;
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: LIM-006
    #[test]
    fn labels_are_looked_for_every_two_seconds_then_every_five_and_given_up_after_two_minutes() {
        let waits: Vec<u64> = LabelPolling::default().map(|wait| wait.as_secs()).collect();
        let eager = waits.iter().take_while(|&&wait| wait == 2).count();
        // 2, 4 … 16: the eighth poll is the first after the first 15 seconds.
        assert_eq!(eager, 8);
        assert_eq!(waits.iter().sum::<u64>(), 120);
        let (last, patient) = waits[eager..].split_last().unwrap();
        assert!(patient.iter().all(|&wait| wait == 5), "{waits:?}");
        assert!((1..=5).contains(last), "the last look is at the end of the two minutes");
    }

    #[test]
    fn a_schedule_that_ended_stays_ended() {
        let mut polling = LabelPolling::default();
        assert_eq!(polling.by_ref().count(), 29);
        assert_eq!((polling.next(), polling.waited()), (None, Duration::from_secs(120)));
    }
}
