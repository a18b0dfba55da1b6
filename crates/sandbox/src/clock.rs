//! The one place that reads the system clock and sleeps.

use std::{
    sync::atomic::{AtomicI64, Ordering::SeqCst},
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};

use crate::options::Now;

/// 9990-01-01, in milliseconds: what follows from an order still fits four digits of a year.
const END_OF_TIME: i64 = 253_086_422_400_000;

/// The sandbox's idea of now: the system's, or the test's, and how far it was moved.
pub(crate) struct Clock {
    now: Option<Now>,
    moved_millis: AtomicI64,
}

impl Clock {
    pub(crate) fn new(now: Option<Now>) -> Self {
        Self { now, moved_millis: AtomicI64::new(0) }
    }

    fn now(&self) -> DateTime<Utc> {
        match &self.now {
            Some(now) => now(),
            None => system_now(),
        }
    }

    /// Milliseconds since 1970, which the request limits count in.
    pub(crate) fn millis(&self) -> i64 {
        self.now().timestamp_millis() + self.moved_millis.load(SeqCst)
    }

    /// Seconds since 1970, which the data is dated in.
    pub(crate) fn seconds(&self) -> i64 {
        self.millis().div_euclid(1000)
    }

    /// Moves the clock forward; time never goes back. False beyond the last year that a date can be written in.
    pub(crate) fn forward(&self, seconds: u32) -> bool {
        let millis = i64::from(seconds) * 1000;
        let fits = self.millis() + millis < END_OF_TIME;
        if fits {
            self.moved_millis.fetch_add(millis, SeqCst);
        }
        fits
    }
}

#[expect(clippy::disallowed_methods, reason = "this file owns the system clock of the sandbox")]
fn system_now() -> DateTime<Utc> {
    Utc::now()
}

/// Begins to measure how long something takes in real time.
#[expect(clippy::disallowed_methods, reason = "this file owns the system clock of the sandbox")]
pub(crate) fn stopwatch() -> Instant {
    Instant::now()
}

/// Waits in real time: a stalled answer is stalled for the client's clock, not for ours.
#[expect(clippy::disallowed_methods, reason = "this file owns the system clock of the sandbox")]
pub(crate) async fn stall(duration: Duration) {
    tokio::time::sleep(duration).await;
}
