//! A clock for tests: it stands until it is moved.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{Clock, clock::Sleep};

/// A clock that stands. It begins at the first second of 1970.
#[derive(Debug, Default)]
pub(super) struct TestClock {
    milliseconds: AtomicU64,
}

impl TestClock {
    /// Moves both clocks forward.
    pub(super) fn advance(&self, time: Duration) {
        self.milliseconds.fetch_add(time.as_millis().try_into().unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::from_std(self.monotonic()).unwrap()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.milliseconds.load(Ordering::SeqCst))
    }

    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(std::future::pending())
    }
}
