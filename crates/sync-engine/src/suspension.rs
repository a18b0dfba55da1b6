//! The suspension of work: what the work on stores does not begin, because an operator paused it, or because the database
//! takes no writes and every answer of the marketplace would be lost.

use std::sync::Arc;

use espelho_model::{Clock, StoreKey, pause::Pause};
use tokio::sync::watch;

use crate::plan::pauses::{Activity, held_until};

/// The reasons to hold the work.
#[derive(Clone, Debug, Default)]
struct State {
    pauses: Arc<[Pause]>,
    refuses_writes: bool,
}

/// The suspension of all stores of a process. Whoever has a copy sees the same.
#[derive(Clone, Debug)]
pub struct WorkSuspension(Arc<watch::Sender<State>>);

impl Default for WorkSuspension {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }
}

impl WorkSuspension {
    /// Replaces the pauses by what the database has now.
    pub fn set_pauses(&self, pauses: Vec<Pause>) {
        self.0.send_if_modified(|state| {
            let is_new = state.pauses[..] != pauses[..];
            if is_new {
                state.pauses = pauses.into();
            }
            is_new
        });
    }

    /// Notes whether the database refuses writes; returns whether that is new.
    pub fn set_refuses_writes(&self, refuses: bool) -> bool {
        self.0.send_if_modified(|state| std::mem::replace(&mut state.refuses_writes, refuses) != refuses)
    }

    /// Tells whether an activity of a store must not begin now.
    pub(crate) fn holds(&self, store: &StoreKey, activity: Activity, clock: &dyn Clock) -> bool {
        let state = self.0.borrow();
        state.refuses_writes || held_until(&state.pauses, store, activity, clock.now()).is_some()
    }

    /// Tells whether a pause holds an activity of a store.
    pub(crate) fn is_paused(&self, store: &StoreKey, activity: Activity, clock: &dyn Clock) -> bool {
        held_until(&self.0.borrow().pauses, store, activity, clock.now()).is_some()
    }

    /// Resolves once nothing holds an activity of a store.
    pub(crate) async fn released(&self, store: &StoreKey, activity: Activity, clock: &dyn Clock) {
        let mut changes = self.0.subscribe();
        loop {
            let (refuses, until) = {
                let state = changes.borrow_and_update();
                (state.refuses_writes, held_until(&state.pauses, store, activity, clock.now()))
            };
            let ends = async {
                match until.filter(|_| !refuses) {
                    // At least a little, however the clock rounds.
                    Some(until) => {
                        let left = (until - clock.now()).to_std().unwrap_or_default();
                        clock.sleep(left + std::time::Duration::from_millis(10)).await;
                    }
                    None => std::future::pending().await,
                }
            };
            if !refuses && until.is_none() {
                return;
            }
            // The sender lives as long as this handle.
            tokio::select! { _ = changes.changed() => (), () = ends => () }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use espelho_model::{clock::SystemClock, pause::PauseScope};
    use futures_util::FutureExt as _;

    use super::*;

    fn key() -> StoreKey {
        StoreKey::new("a").unwrap()
    }

    #[tokio::test]
    async fn work_is_held_by_a_pause_or_a_database_without_writes_and_released_with_both() {
        let (suspension, clock) = (WorkSuspension::default(), SystemClock::shared());
        let is_released = |activity| suspension.released(&key(), activity, &*clock).now_or_never().is_some();
        assert!(is_released(Activity::Pull) && !suspension.holds(&key(), Activity::Pull, &*clock));
        let since = clock.now();
        let pause = |scope, until| Pause { store: key(), scope, since, until, paused_by: "ana".into() };
        suspension.set_pauses(vec![pause(PauseScope::Pull, since + TimeDelta::hours(1))]);
        assert!(!is_released(Activity::Pull) && is_released(Activity::Push));
        assert!(suspension.set_refuses_writes(true) && !suspension.set_refuses_writes(true));
        assert!(!is_released(Activity::Push) && !suspension.is_paused(&key(), Activity::Push, &*clock));
        suspension.set_pauses(vec![]);
        assert!(!is_released(Activity::Pull), "the database still takes no writes");
        let waits = suspension.clone();
        let waiting = tokio::spawn(async move {
            waits.released(&key(), Activity::Pull, &*SystemClock::shared()).await;
        });
        assert!(suspension.set_refuses_writes(false));
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn a_pause_ends_by_itself() {
        let (suspension, clock) = (WorkSuspension::default(), SystemClock::shared());
        let (since, until) = (clock.now(), clock.now() + TimeDelta::milliseconds(50));
        let pause = Pause { store: key(), scope: PauseScope::All, since, until, paused_by: "ana".into() };
        suspension.set_pauses(vec![pause]);
        suspension.released(&key(), Activity::Stock, &*clock).await;
        assert!(clock.now() >= until);
    }
}
