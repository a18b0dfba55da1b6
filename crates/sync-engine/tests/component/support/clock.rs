//! The clock of the tests: it moves only when the rig moves it, so that an hour costs nothing.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{Clock, clock::Sleep};

/// A clock that stands still until it is moved.
pub(crate) struct TestClock {
    /// The machine's time at the start: the database writes its own time into the ERP's rows.
    beginning: DateTime<Utc>,
    elapsed: Mutex<Duration>,
    sleepers: Mutex<BTreeMap<(Duration, u64), Waker>>,
    readings: AtomicU64,
    next: AtomicU64,
}

/// One sleep. It leaves the clock when it is dropped.
struct Sleeper {
    clock: Arc<TestClock>,
    key: (Duration, u64),
}

/// The clock as the product takes it.
pub(crate) struct SharedClock(pub(crate) Arc<TestClock>);

impl TestClock {
    pub(crate) fn starting_at(beginning: DateTime<Utc>) -> Arc<Self> {
        Arc::new(Self {
            beginning,
            elapsed: Mutex::default(),
            sleepers: Mutex::default(),
            readings: AtomicU64::new(0),
            next: AtomicU64::new(0),
        })
    }

    /// How often the clock was read: who works reads it all the time.
    pub(crate) fn readings(&self) -> u64 {
        self.readings.load(SeqCst)
    }

    pub(crate) fn wall(&self) -> DateTime<Utc> {
        self.beginning + TimeDelta::from_std(self.elapsed()).unwrap()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        *self.elapsed.lock().unwrap()
    }

    /// Moves to the time at which the next sleeper wakes, `longest` at most; a second where nobody sleeps.
    pub(crate) fn move_on(&self, longest: Duration) {
        let next = self.sleepers().keys().next().map(|(at, _)| *at);
        let now = self.elapsed();
        let next = next.unwrap_or(now + Duration::from_secs(1));
        self.move_to(next.clamp(now, now + longest));
    }

    /// Moves to the time at which the next sleeper wakes, or to `end` if that is earlier.
    pub(crate) fn move_towards(&self, end: Duration) {
        let next = self.sleepers().keys().next().map_or(end, |(at, _)| *at);
        self.move_to(next.min(end).max(self.elapsed()));
    }

    /// Moves at once past everything that is due meanwhile, as after a machine has slept.
    pub(crate) fn leap(&self, duration: Duration) {
        self.move_to(self.elapsed() + duration);
    }

    fn move_to(&self, time: Duration) {
        *self.elapsed.lock().unwrap() = time;
        let mut sleepers = self.sleepers();
        let later = sleepers.split_off(&(time, u64::MAX));
        std::mem::replace(&mut *sleepers, later).into_values().for_each(Waker::wake);
    }

    fn sleepers(&self) -> MutexGuard<'_, BTreeMap<(Duration, u64), Waker>> {
        self.sleepers.lock().unwrap()
    }
}

impl Clock for SharedClock {
    fn now(&self) -> DateTime<Utc> {
        self.0.readings.fetch_add(1, SeqCst);
        self.0.wall()
    }

    fn monotonic(&self) -> Duration {
        self.0.readings.fetch_add(1, SeqCst);
        self.0.elapsed()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let at = self.0.elapsed().saturating_add(duration);
        Box::pin(Sleeper { clock: Arc::clone(&self.0), key: (at, self.0.next.fetch_add(1, SeqCst)) })
    }
}

impl Future for Sleeper {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut sleepers = self.clock.sleepers();
        if self.key.0 <= self.clock.elapsed() {
            return Poll::Ready(());
        }
        sleepers.insert(self.key, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.clock.sleepers().remove(&self.key);
    }
}
