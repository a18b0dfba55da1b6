//! A clock that advances only when a test says so.

use std::{
    future::ready,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{Clock, clock::Sleep};

/// The start of every test: early on a Black Friday, at an odd microsecond.
pub(crate) fn opening_hour() -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_795_761_000_123_456).unwrap()
}

/// [`opening_hour`] plus the test's advances.
#[derive(Debug, Default)]
pub(crate) struct HandClock {
    elapsed_us: AtomicU64,
}

impl HandClock {
    /// Advances the clock.
    pub(crate) fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap();
        self.elapsed_us.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> DateTime<Utc> {
        opening_hour() + TimeDelta::from_std(self.monotonic()).unwrap()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.elapsed_us.load(Ordering::SeqCst))
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.advance(duration);
        Box::pin(ready(()))
    }
}
