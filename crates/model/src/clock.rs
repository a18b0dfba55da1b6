//! Time as a parameter, so that tests can control it.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};

/// A future that resolves when a sleep is over.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The source of time for every crate.
pub trait Clock: Send + Sync + 'static {
    /// Returns the wall clock, in UTC. It may jump.
    fn now(&self) -> DateTime<Utc>;
    /// Returns the time since some fixed instant of this process. It never goes back.
    fn monotonic(&self) -> Duration;
    /// Resolves after `duration` on the monotonic clock.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    started: tokio::time::Instant,
}

impl SystemClock {
    /// Returns the machine's clock, ready to be shared.
    #[expect(clippy::disallowed_methods, reason = "this file owns the system's clock")]
    pub fn shared() -> Arc<dyn Clock> {
        Arc::new(Self { started: std::time::Instant::now().into() })
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this file owns the system's clock")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "this file owns the system's clock")]
    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A clock for simulations: a fixed date plus tokio's time, which a test may pause so that hours pass in
/// milliseconds. Never use it with a socket or a database: paused time breaks their pools.
#[derive(Debug)]
pub struct SimulatedClock {
    epoch: DateTime<Utc>,
    started: tokio::time::Instant,
}

impl SimulatedClock {
    /// Creates a clock that reads `epoch` now. Call inside a tokio runtime.
    pub fn starting_at(epoch: DateTime<Utc>) -> Self {
        Self { epoch, started: tokio::time::Instant::now() }
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> DateTime<Utc> {
        self.epoch + TimeDelta::from_std(self.started.elapsed()).unwrap_or(TimeDelta::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "this file owns the clocks")]
    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}
