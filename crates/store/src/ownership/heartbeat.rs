//! Whether the session with the advisory locks is alive, as this process knows it.
//!
//! PostgreSQL releases a session's locks when the session ends, without asking the client. So this process asks the
//! session for a heartbeat every [`HEARTBEAT_INTERVAL`], and counts nothing as held without one within [`MAX_AGE`].
//! The successor of an owner that did not release its store waits [`TAKEOVER_GRACE`] before its first call.
//! `docs/DESIGN.md` ("Ownership") has the argument.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::Clock;
use tokio::sync::watch;

/// The interval between two heartbeats.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);
/// How long the server may take to answer; after that the session is given up.
pub(crate) const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the locks count as held, from the start of the last answered question.
const MAX_AGE: Duration = Duration::from_secs(4);
/// How long the successor of an owner that did not release its store waits before its first call.
pub(crate) const TAKEOVER_GRACE: Duration = Duration::from_secs(6);

/// An instant on both clocks: one stands still while the machine sleeps, the other may be set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    monotonic: Duration,
    wall: DateTime<Utc>,
}

impl Moment {
    pub(crate) fn now(clock: &dyn Clock) -> Self {
        Self { monotonic: clock.monotonic(), wall: clock.now() }
    }

    /// Whether less than the maximum age has passed on both clocks; a wall clock that was set back counts as too
    /// old.
    fn is_fresh(self, clock: &dyn Clock) -> bool {
        let now = Self::now(clock);
        let by_wall = now.wall - self.wall;
        let fresh = TimeDelta::from_std(MAX_AGE).unwrap_or_default();
        now.monotonic.saturating_sub(self.monotonic) <= MAX_AGE && by_wall <= fresh && by_wall >= -fresh
    }
}

/// A session's number, and the start of the last question that it answered.
#[derive(Clone, Copy, Debug)]
struct LastBeat {
    session: u64,
    at: Moment,
}

/// Publishes the session's state to all listeners.
pub(crate) struct Heartbeat {
    clock: Arc<dyn Clock>,
    beat: watch::Sender<LastBeat>,
}

/// Follows the one session that held the locks at its creation.
#[derive(Clone)]
pub(crate) struct Listener {
    clock: Arc<dyn Clock>,
    session: u64,
    beat: watch::Receiver<LastBeat>,
}

impl Heartbeat {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let at = Moment::now(&*clock);
        Self { clock, beat: watch::Sender::new(LastBeat { session: 0, at }) }
    }

    /// Records that the session answered a question asked at this moment.
    pub(crate) fn answered(&self, at: Moment) {
        self.beat.send_modify(|beat| beat.at = at);
    }

    /// Records that the session has ended or may have: all its locks are lost.
    pub(crate) fn ended(&self) {
        self.beat.send_modify(|beat| beat.session += 1);
    }

    /// A listener for the current session.
    pub(crate) fn listen(&self) -> Listener {
        let beat = self.beat.subscribe();
        let session = beat.borrow().session;
        Listener { clock: Arc::clone(&self.clock), session, beat }
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
}

impl Listener {
    /// Resolves once the session is known to be alive; `false` if it has ended.
    pub(crate) async fn lives(&self) -> bool {
        let mut beat = self.beat.clone();
        loop {
            let last = *beat.borrow_and_update();
            if last.session != self.session {
                return false;
            }
            if last.at.is_fresh(&*self.clock) {
                return true;
            }
            if beat.changed().await.is_err() {
                return false;
            }
        }
    }

    /// Resolves when the session ends.
    pub(crate) async fn ended(&self) {
        let mut beat = self.beat.clone();
        // The publisher has gone together with the locks.
        let _ = beat.wait_for(|beat| beat.session != self.session).await;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{Future, ready},
        pin::pin,
        sync::Mutex,
        task::{Context, Poll, Waker},
    };

    use super::*;

    /// The two clocks of a machine, set by hand.
    struct ManualClock(Mutex<(Duration, TimeDelta)>);

    impl ManualClock {
        fn new() -> Arc<Self> {
            Arc::new(Self(Mutex::new((Duration::from_secs(100), TimeDelta::zero()))))
        }

        fn pass(&self, monotonic: Duration, wall: TimeDelta) {
            let mut hands = self.0.lock().unwrap();
            *hands = (hands.0 + monotonic, hands.1 + wall);
        }
    }

    impl Clock for ManualClock {
        fn now(&self) -> DateTime<Utc> {
            DateTime::UNIX_EPOCH + self.0.lock().unwrap().1
        }

        fn monotonic(&self) -> Duration {
            self.0.lock().unwrap().0
        }

        fn sleep(&self, _: Duration) -> espelho_model::clock::Sleep {
            Box::pin(ready(()))
        }
    }

    fn now_or_never<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    fn beating() -> (Arc<ManualClock>, Heartbeat) {
        let hands = ManualClock::new();
        let heartbeat = Heartbeat::new(Arc::<ManualClock>::clone(&hands));
        (hands, heartbeat)
    }

    #[test]
    fn whoever_was_silent_for_too_long_waits_for_the_next_sign_of_life() {
        let check = |monotonic: u64, wall: i64, lives: bool| {
            let (hands, heartbeat) = beating();
            let listener = heartbeat.listen();
            hands.pass(Duration::from_secs(monotonic), TimeDelta::seconds(wall));
            assert_eq!(now_or_never(listener.lives()), lives.then_some(true), "{monotonic} s, {wall} s");
            heartbeat.answered(Moment::now(&*heartbeat.clock));
            assert_eq!(now_or_never(listener.lives()), Some(true), "it lives after all");
        };
        check(0, 0, true);
        check(4, 4, true);
        check(5, 5, false);
        // The process was stopped, the machine slept, or the wall clock was set.
        check(60, 60, false);
        check(0, 3_600, false);
        check(0, -3_600, false);
    }

    #[test]
    fn what_a_session_held_is_lost_with_it_and_the_next_session_does_not_bring_it_back() {
        let (_, heartbeat) = beating();
        let before = heartbeat.listen();
        assert_eq!(now_or_never(before.ended()), None);
        heartbeat.ended();
        heartbeat.answered(Moment::now(&*heartbeat.clock));
        assert_eq!(now_or_never(before.lives()), Some(false));
        assert_eq!(now_or_never(before.ended()), Some(()));
        let after = heartbeat.listen();
        assert_eq!(now_or_never(after.lives()), Some(true));
        assert_eq!(now_or_never(after.ended()), None);
    }

    #[test]
    fn an_owner_stops_before_the_next_one_begins() {
        // A question starts at most one interval after the last answer and ends after the time-out. A running
        // process notices in time, and a stopped one has no time left when it continues.
        assert!(HEARTBEAT_INTERVAL + HEARTBEAT_TIMEOUT < MAX_AGE);
        assert!(
            MAX_AGE + Duration::from_secs(1) < TAKEOVER_GRACE,
            "the way of what was sent at the last instant"
        );
    }
}
