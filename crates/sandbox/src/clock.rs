//! The one place that reads the system clock and sleeps.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::options::Now;

/// The sandbox's idea of now: the system's, or the test's.
#[derive(Clone)]
pub(crate) struct Clock(Option<Now>);

impl Clock {
    pub(crate) fn new(now: Option<Now>) -> Self {
        Self(now)
    }

    fn now(&self) -> DateTime<Utc> {
        match &self.0 {
            Some(now) => now(),
            None => system_now(),
        }
    }

    /// Milliseconds since 1970, which the request limits count in.
    pub(crate) fn millis(&self) -> i64 {
        self.now().timestamp_millis()
    }

    /// Seconds since 1970, which the data is dated in.
    pub(crate) fn seconds(&self) -> i64 {
        self.now().timestamp()
    }
}

#[expect(clippy::disallowed_methods, reason = "this file owns the system clock of the sandbox")]
fn system_now() -> DateTime<Utc> {
    Utc::now()
}

/// Waits in real time: a stalled answer is stalled for the client's clock, not for ours.
#[expect(clippy::disallowed_methods, reason = "this file owns the system clock of the sandbox")]
pub(crate) async fn stall(duration: Duration) {
    tokio::time::sleep(duration).await;
}
