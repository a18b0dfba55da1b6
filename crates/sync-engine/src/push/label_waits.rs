//! Since when commands wait for labels that are generated, and for the files of labels that are ready.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The interval at which the order is reported to the mirror, which then reads its shipments again.
const REPORT_INTERVAL: Duration = Duration::from_secs(15);

/// The waits, by the command's number. All times are those of the monotonic clock.
#[derive(Default)]
pub(crate) struct LabelWaits {
    waits: Mutex<Waits>,
}

#[derive(Default)]
struct Waits {
    /// When polling began.
    polling_since: HashMap<i64, Duration>,
    /// Since when files are awaited, and when the order was last reported to the mirror.
    files_since: HashMap<i64, (Duration, Duration)>,
}

impl LabelWaits {
    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how long a command has polled its labels. The first call begins.
    pub(super) fn polled_for(&self, command: i64, now: Duration) -> Duration {
        now.saturating_sub(*self.waits().polling_since.entry(command).or_insert(now))
    }

    /// Returns how long a command has awaited its files, and whether its order is to be reported now. The first call
    /// begins.
    pub(super) fn awaited_for(&self, command: i64, now: Duration) -> (Duration, bool) {
        let mut waits = self.waits();
        let (since, reported_at) = *waits.files_since.entry(command).or_insert((now, Duration::ZERO));
        let is_due = reported_at == Duration::ZERO || now >= reported_at + REPORT_INTERVAL;
        if is_due {
            waits.files_since.insert(command, (since, now));
        }
        (now.saturating_sub(since), is_due)
    }

    /// Forgets a command that is over.
    pub(super) fn end(&self, command: i64) {
        let mut waits = self.waits();
        waits.polling_since.remove(&command);
        waits.files_since.remove(&command);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_reported_at_once_and_then_every_fifteen_seconds_until_its_command_is_over() {
        let (waits, second) = (LabelWaits::default(), Duration::from_secs(1));
        let expected = [(10, 0, true), (11, 1, false), (24, 14, false), (25, 15, true), (39, 29, false)];
        for (now, waited, is_due) in expected {
            assert_eq!(waits.awaited_for(7, second * now), (second * waited, is_due), "at {now} s");
        }
        assert_eq!(waits.polled_for(7, second * 39), Duration::ZERO);
        assert_eq!(waits.polled_for(7, second * 40), second);
        waits.end(7);
        assert_eq!(waits.awaited_for(7, second * 40), (Duration::ZERO, true));
        assert_eq!(waits.polled_for(7, second * 40), Duration::ZERO);
    }
}
