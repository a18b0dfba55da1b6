//! Readings of the rotation that found what the mirror has: they are noted together, in one transaction for many.
//!
//! Most readings of a quiet store are of this kind. A process that is killed before it has noted one reads that entity
//! again.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_model::Clock;
use espelho_store::{Known, KnownSubresource};
use parking_lot::Mutex;

use crate::plan::refresh_request::{Entity, RefreshRequest};

/// So many are noted at once.
const MOST: usize = 20;
/// The longest time for which one waits. A failure that its row shows ends with it.
const LONGEST: Duration = Duration::from_secs(5);

/// A reading that found what the mirror has.
pub(super) struct UnchangedReading {
    /// The order or product of the reading.
    pub(super) entity: Entity,
    /// Its row from before the reading.
    pub(super) known: Option<Known>,
    /// The sub-resources that were read, if it is an order.
    pub(super) subresources: Vec<KnownSubresource>,
    /// When the reading began: what it found was so then, or later.
    pub(super) read_at: DateTime<Utc>,
}

impl UnchangedReading {
    /// The request to read the same once more.
    pub(super) fn again(&self) -> (Entity, RefreshRequest) {
        let subresources = self.subresources.iter().map(|read| read.subresource);
        (self.entity.clone(), RefreshRequest::swept(subresources))
    }
}

/// The readings of a store that are not noted yet.
pub(super) struct UnchangedReadings<'c> {
    clock: &'c dyn Clock,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    readings: Vec<UnchangedReading>,
    /// When the first of them came, as a monotonic time.
    since: Duration,
}

impl<'c> UnchangedReadings<'c> {
    /// Returns no readings yet; their waits run on `clock`.
    pub(super) fn new(clock: &'c dyn Clock) -> Self {
        Self { clock, waiting: Mutex::default() }
    }

    /// Has a reading noted with the next ones.
    pub(super) fn add(&self, reading: UnchangedReading) {
        let mut waiting = self.waiting.lock();
        if waiting.readings.is_empty() {
            waiting.since = self.clock.monotonic();
        }
        waiting.readings.push(reading);
    }

    /// Returns the readings to note now: once they are many, or old, or nothing else is being read. Else none.
    pub(super) fn take(&self, is_quiet: bool) -> Vec<UnchangedReading> {
        let mut waiting = self.waiting.lock();
        let age = self.clock.monotonic().saturating_sub(waiting.since);
        match is_quiet || waiting.readings.len() >= MOST || age >= LONGEST {
            true => std::mem::take(&mut waiting.readings),
            false => Vec::new(),
        }
    }

    /// Waits until readings are old; for ever if there are none.
    pub(super) async fn aged(&self) {
        match self.left() {
            Some(left) => self.clock.sleep(left).await,
            None => std::future::pending().await,
        }
    }

    /// Returns the time until readings are old, if there are any.
    fn left(&self) -> Option<Duration> {
        let waiting = self.waiting.lock();
        let age = self.clock.monotonic().saturating_sub(waiting.since);
        (!waiting.readings.is_empty()).then(|| LONGEST.saturating_sub(age))
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::ProductId;

    use super::*;
    use crate::live::test_clock::TestClock;

    fn reading(id: usize) -> UnchangedReading {
        let entity = Entity::Product(ProductId::new(id.to_string()));
        UnchangedReading { entity, known: None, subresources: Vec::new(), read_at: DateTime::UNIX_EPOCH }
    }

    #[test]
    fn readings_are_noted_once_they_are_many_or_old_or_nothing_else_is_read() {
        for (count, age, is_quiet, expected, why) in [
            (0, LONGEST, true, 0, "there is none"),
            (1, Duration::ZERO, false, 0, "more may come"),
            (1, Duration::ZERO, true, 1, "no more comes"),
            (MOST - 1, LONGEST - Duration::from_millis(1), false, 0, "neither many nor old"),
            (MOST, Duration::ZERO, false, MOST, "they are many"),
            (1, LONGEST, false, 1, "the first is old"),
        ] {
            let clock = TestClock::default();
            let unchanged = UnchangedReadings::new(&clock);
            (0..count).for_each(|id| unchanged.add(reading(id)));
            clock.advance(age);
            assert_eq!(unchanged.take(is_quiet).len(), expected, "{why}");
            assert_eq!(unchanged.take(true).len(), count - expected, "{why}: none is noted twice");
        }
    }

    #[test]
    fn the_age_of_readings_is_that_of_the_first() {
        let clock = TestClock::default();
        let unchanged = UnchangedReadings::new(&clock);
        unchanged.add(reading(1));
        clock.advance(LONGEST - Duration::from_secs(1));
        unchanged.add(reading(2));
        clock.advance(Duration::from_secs(1));
        assert_eq!(unchanged.take(false).len(), 2);
        unchanged.add(reading(3));
        assert!(unchanged.take(false).is_empty(), "the wait begins anew");
    }

    #[test]
    fn the_pool_is_woken_when_the_first_reading_is_old() {
        let clock = TestClock::default();
        let unchanged = UnchangedReadings::new(&clock);
        assert_eq!(unchanged.left(), None, "there is none");
        clock.advance(Duration::from_secs(60));
        unchanged.add(reading(1));
        assert_eq!(unchanged.left(), Some(LONGEST));
        clock.advance(Duration::from_secs(2));
        unchanged.add(reading(2));
        assert_eq!(unchanged.left(), Some(LONGEST - Duration::from_secs(2)));
        clock.advance(LONGEST);
        assert_eq!(unchanged.left(), Some(Duration::ZERO));
    }
}
