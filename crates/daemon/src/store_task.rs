//! A store's own task: takes the lease, and keeps the store in step until the service stops or the lease is lost.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use espelho_sync_engine::{
    Problem, StoreContext,
    live::{self, Signals, schedule::Intervals},
};
use tokio::sync::Notify;

use crate::{config::StoreConfig, context::Shared, health::Health, measure::Measure};

/// How often a store that another instance holds is asked for again.
const LEASE_RETRY: Duration = Duration::from_secs(5);
/// Until a store whose work has ended with an error is worked on again.
const WORK_RETRY: Duration = Duration::from_secs(30);

/// The task of a store.
pub(crate) struct StoreTask {
    pub(crate) shared: Shared,
    pub(crate) config: StoreConfig,
    pub(crate) intervals: Intervals,
    /// Woken by the schedule.
    pub(crate) waker: Arc<Notify>,
    /// Woken by the receiver.
    pub(crate) inbox: Arc<Notify>,
    pub(crate) health: Arc<Health>,
}

/// A store that is ours, and when its last owner was seen.
type Taken = (StoreContext, Option<DateTime<Utc>>);

impl StoreTask {
    /// Works on the store whenever it is ours, until the service stops.
    pub(crate) async fn run(self, taken: Option<Taken>) {
        let mut taken = taken;
        loop {
            let (context, last_seen) = match taken.take() {
                Some(taken) => taken,
                None => match self.wait_for_lease().await {
                    Some(taken) => taken,
                    None => return,
                },
            };
            let context = self.work(context, last_seen).await;
            self.health.change(&self.config.key, |health| health.held = false);
            if let Err(error) = context.lease.release().await {
                tracing::warn!(store = %self.config.key, %error, "the lease ends with the connection");
            }
            if self.shared.stop.is_cancelled() {
                return;
            }
        }
    }

    /// Keeps the store in step until the service stops or the lease is lost; gives the context back.
    async fn work(&self, mut context: StoreContext, last_seen: Option<DateTime<Utc>>) -> StoreContext {
        let key = &self.config.key;
        self.health.change(key, |health| (health.held, health.problem) = (true, None));
        tracing::info!(store = %key, fence = context.lease.fence(), "the store is ours");
        let measure = Measure::new(key.clone(), Arc::clone(&self.health), Arc::clone(&self.shared.clock));
        let mut options =
            live::Options { intervals: self.intervals, receives: self.config.webhook.is_some(), last_seen };
        while !self.shared.stop.is_cancelled() {
            let errands = self.shared.desk.of_store(key);
            let signals = Signals { errands: &errands, inbox: &self.inbox, reconcile: &self.waker };
            let ended = live::run(&context, signals, &options, &measure).await;
            let Some(problem) = ended else { return context };
            self.tell(&problem);
            if problem.is_lost() {
                return context;
            }
            self.wait_before_working_again(&problem).await;
            context.stop = self.shared.stop.child_token();
            options.last_seen = None;
        }
        context
    }

    /// A credential that is refused will be refused again: each attempt more ends somebody's token. The schedule tries it.
    async fn wait_before_working_again(&self, problem: &Problem) {
        let retry = async {
            match problem.is_authentication() {
                true => std::future::pending().await,
                false => self.shared.clock.sleep(WORK_RETRY).await,
            }
        };
        tokio::select! {
            () = self.waker.notified() => {}
            () = retry => {}
            () = self.shared.stop.cancelled() => {}
        }
    }

    fn tell(&self, problem: &Problem) {
        let (error, next_step) = (&problem.error, &problem.hint);
        tracing::error!(store = %self.config.key, code = problem.code, error, next_step, "the work on the store ended");
        let problem = format!("{error}; {next_step}");
        self.health.change(&self.config.key, |health| health.problem = Some(problem));
    }

    async fn wait_for_lease(&self) -> Option<Taken> {
        loop {
            tokio::select! {
                () = self.shared.clock.sleep(LEASE_RETRY) => {}
                () = self.shared.stop.cancelled() => return None,
            }
            let last_seen = self.shared.last_seen(&self.config.key).await;
            match self.shared.context(&self.config).await {
                Ok(context) => return Some((context, last_seen)),
                Err(problem) => {
                    self.health.change(&self.config.key, |health| health.problem = Some(problem.error));
                }
            }
        }
    }
}
