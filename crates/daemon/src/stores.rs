//! The stores that the service works on: one task each, started, stopped and restarted as the configuration requires.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use espelho_model::{StoreKey, text, watch};
use espelho_store::Lease;
use espelho_sync_engine::Problem;
use futures_util::{StreamExt as _, stream};
use sd_notify::NotifyState;
use tokio::{
    sync::Notify,
    task::{JoinError, JoinSet},
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Configuration, Schedule, StoreConfig},
    context::{Shared, give_back, is_service},
    health::{Health, StoreHealth},
    http::webhook::{StoreWakers, WakerRegistry},
    status::{ShownStores, process},
    store_task::{StoreTask, Taken},
    watchdog,
};

/// The number of stores taken at once at the start: enough to keep a server busy, and SQLite's one writer.
const AT_ONCE: usize = 8;
/// How long the service may take to release stores that it has only just taken.
const GIVING_BACK: Duration = Duration::from_secs(2);

/// How long the start waits for a store that a command holds: `doctor` has it for seconds, a reconciliation for minutes.
const COMMAND_WAIT: Duration = Duration::from_secs(60);
/// How often the start looks whether a store is its own by now.
const COMMAND_LOOK: Duration = Duration::from_secs(1);
/// How long systemd is asked to wait from the beginning of that wait.
const START_EXTENSION: Duration = Duration::from_secs(90);

/// The stores of the installation.
pub(crate) struct Stores {
    shared: Shared,
    health: Arc<Health>,
    /// The wakers that the receiver notifies.
    pub(crate) wakers: Arc<WakerRegistry>,
    /// The stores that the pages show.
    pub(crate) shown: Arc<ShownStores>,
    running: BTreeMap<StoreKey, Running>,
    tasks: JoinSet<StoreKey>,
}

/// A store's task, seen from outside.
struct Running {
    config: Arc<StoreConfig>,
    schedule: Arc<Schedule>,
    stop: CancellationToken,
    /// Cancelled when the task has ended and its lease is released.
    ended: CancellationToken,
    waker: Arc<Notify>,
    /// True until the work begins with a password that this process had not before.
    has_new_password: Arc<AtomicBool>,
}

/// The changes of a new configuration.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) added: Vec<String>,
    pub(crate) removed: Vec<String>,
    pub(crate) changed: Vec<String>,
}

impl Stores {
    /// Returns a set without stores.
    pub(crate) fn new(shared: &Shared, health: &Arc<Health>) -> Self {
        Self {
            shared: shared.clone(),
            health: Arc::clone(health),
            wakers: Arc::default(),
            shown: Arc::default(),
            running: BTreeMap::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Shows all stores on the pages; this process does not hold them yet.
    pub(crate) fn announce(&self, configuration: &Configuration) {
        configuration.stores.iter().for_each(|config| self.health.add(&config.key));
        self.shown.set(configuration.shown());
    }

    /// Starts the work on all stores; fails if none of them can be taken, also after a wait for those that commands hold.
    pub(crate) async fn begin(&mut self, configuration: &Configuration) -> Result<(), Problem> {
        let schedule = Arc::new(configuration.installation.schedule.clone());
        let (mut refused, mut held) = (Vec::new(), Vec::new());
        let tasks: Vec<_> =
            configuration.stores.iter().map(|config| self.task(config, &schedule, false)).collect();
        // All stores are taken before the work on any starts: otherwise the first run of one store would keep the
        // others waiting.
        let take = |(task, running): (StoreTask, Running)| async move { (task.take().await, task, running) };
        let asked = tasks.into_iter().map(take);
        let told_to_stop = Box::pin(self.shared.stop.clone().cancelled_owned());
        let asked: Vec<_> = stream::iter(asked).buffered(AT_ONCE).take_until(told_to_stop).collect().await;
        if self.shared.stop.is_cancelled() {
            self.give_up(asked).await;
            return Ok(());
        }
        for (taken, task, running) in asked {
            if taken.as_ref().is_err_and(Problem::is_lost) {
                held.push(running.config.key.clone());
            }
            let taken = taken.map_err(|problem| refused.push(problem)).ok();
            self.spawn(running, task, move |task| task.run(taken));
        }
        self.shown.set(configuration.shown());
        // If several instances share the stores, an instance without one stands by until it is needed.
        let stands_by = self.shared.store.leases().is_shared() && refused.iter().all(Problem::is_lost);
        let all_refused = refused.len() == configuration.stores.len() && !stands_by;
        if all_refused && Box::pin(self.outwait_commands(&held)).await {
            return Ok(());
        }
        refused.into_iter().next().filter(|_| all_refused).map_or(Ok(()), Err)
    }

    /// Waits until a task has taken its store from the command that held it, or the service is told to stop; returns `false`
    /// once that takes too long, and at once where services hold the stores: they do not end soon.
    async fn outwait_commands(&self, held: &[StoreKey]) -> bool {
        let clock = &self.shared.clock;
        let deadline = clock.monotonic() + COMMAND_WAIT;
        let mut is_told = false;
        while let Some((store, owner)) = self.held_by_command(held).await {
            if !std::mem::replace(&mut is_told, true) {
                let seconds = COMMAND_WAIT.as_secs();
                tracing::warn!(%store, owner, seconds, "a command holds the store; the start waits for its end");
                let status = text!("service-waits", store = store.as_str(), owner = process(&owner));
                let extension = u32::try_from(START_EXTENSION.as_micros()).unwrap_or(u32::MAX);
                watchdog::tell(&[
                    NotifyState::Status(&status.message(self.shared.locale)),
                    NotifyState::ExtendTimeoutUsec(extension),
                ]);
            }
            tokio::select! {
                () = clock.sleep(COMMAND_LOOK) => {}
                () = self.shared.stop.cancelled() => return true,
            }
            if self.health.snapshot().values().any(StoreHealth::is_held) {
                return true;
            }
            if clock.monotonic() >= deadline {
                return false;
            }
        }
        false
    }

    /// Returns the first of these stores that a command holds, and which.
    async fn held_by_command(&self, held: &[StoreKey]) -> Option<(StoreKey, String)> {
        for store in held {
            match self.shared.store.leases().owner_on_record(store).await {
                Ok(owner) if ends_soon(owner.as_deref(), &self.shared.owner) => {
                    return Some((store.clone(), owner.unwrap_or_default()));
                }
                Ok(_) => {}
                Err(error) => tracing::debug!(%store, %error, "cannot read who holds the store"),
            }
        }
        None
    }

    /// Releases the leases that were taken before the service was told to stop. The next owner needs the time of the
    /// release only if several instances share the stores; a lock file is free with its process.
    async fn give_up(&self, asked: Vec<(Result<Taken, Problem>, StoreTask, Running)>) {
        if !self.shared.store.leases().is_shared() {
            return;
        }
        let taken = asked.into_iter().filter_map(|(taken, task, _)| Some((taken.ok()?.0, task.config)));
        let giving_back = |(lease, config): (Lease, Arc<StoreConfig>)| async move {
            give_back(&config, lease).await;
        };
        let all_given_back = stream::iter(taken).for_each_concurrent(AT_ONCE, giving_back);
        let _ = tokio::time::timeout(GIVING_BACK, all_given_back).await;
    }

    /// Applies a new configuration. Unchanged stores do not notice.
    pub(crate) fn follow(&mut self, configuration: &Configuration) -> Changes {
        self.follow_and_restart(configuration, &[])
    }

    /// Applies a new configuration, and also restarts these stores if they are unchanged.
    pub(crate) fn follow_and_restart(
        &mut self,
        configuration: &Configuration,
        restart: &[StoreKey],
    ) -> Changes {
        let schedule = Arc::new(configuration.installation.schedule.clone());
        let mut changes = Changes::default();
        let is_configured = |key: &StoreKey| configuration.stores.iter().any(|config| config.key == *key);
        for (key, removed) in self.running.extract_if(.., |key, _| !is_configured(key)) {
            removed.stop.cancel();
            self.wakers.forget(&key);
            self.health.forget(&key);
            changes.removed.push(key.to_string());
        }
        for config in &configuration.stores {
            let mut has_new_password = false;
            let before = match self.running.get(&config.key) {
                Some(running)
                    if running.config.is_as(config)
                        && running.schedule.sweeps_as(&schedule)
                        && !restart.contains(&config.key) =>
                {
                    continue;
                }
                Some(running) => {
                    // The task before may not have come to try its own.
                    has_new_password = config.has_new_password(&running.config)
                        || running.has_new_password.load(Ordering::Relaxed);
                    running.stop.cancel();
                    changes.changed.push(config.key.to_string());
                    Some(running.ended.clone())
                }
                None => {
                    changes.added.push(config.key.to_string());
                    None
                }
            };
            let (task, running) = self.task(config, &schedule, has_new_password);
            self.spawn(running, task, async move |task| {
                // The new task gets the lease and the budget only when the old one has ended.
                if let Some(before) = before {
                    let _waiting = watch::idle();
                    before.cancelled().await;
                }
                let taken = task.take().await.ok();
                task.run(taken).await;
            });
        }
        self.shown.set(configuration.shown());
        changes
    }

    /// Returns the wakers that start a reconciliation of every store: several signals during one run become one.
    pub(crate) fn wakers(&self) -> Vec<Arc<Notify>> {
        self.running.values().map(|running| Arc::clone(&running.waker)).collect()
    }

    /// Resolves when a store's task has ended though nobody stopped it.
    pub(crate) async fn failed(&mut self) {
        loop {
            match self.tasks.join_next().await {
                Some(ended) if self.was_told_to_end(&ended) => {}
                Some(_) => return,
                None => std::future::pending().await,
            }
        }
    }

    /// Waits until all tasks have ended.
    pub(crate) async fn ended(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    fn was_told_to_end(&self, ended: &Result<StoreKey, JoinError>) -> bool {
        let Ok(key) = ended else { return false };
        // Removed, or the task before the current one.
        self.running
            .get(key)
            .is_none_or(|running| running.stop.is_cancelled() || !running.ended.is_cancelled())
    }

    fn task(
        &self,
        config: &StoreConfig,
        schedule: &Arc<Schedule>,
        has_new_password: bool,
    ) -> (StoreTask, Running) {
        let (waker, store_wakers) = (Arc::<Notify>::default(), StoreWakers::default());
        self.wakers.put(&config.key, &store_wakers);
        self.health.add(&config.key);
        let stop = self.shared.stop.child_token();
        let config = Arc::new(config.clone());
        let running = Running {
            config: Arc::clone(&config),
            schedule: Arc::clone(schedule),
            stop: stop.clone(),
            ended: CancellationToken::new(),
            waker: Arc::clone(&waker),
            has_new_password: Arc::new(AtomicBool::new(has_new_password)),
        };
        let shared = self.shared.with_stop(stop);
        let health = Arc::clone(&self.health);
        let intervals = schedule.intervals();
        let has_new_password = Arc::clone(&running.has_new_password);
        let task = StoreTask { shared, config, intervals, waker, store_wakers, health, has_new_password };
        (task, running)
    }

    fn spawn<W>(&mut self, running: Running, task: StoreTask, work: impl FnOnce(Box<StoreTask>) -> W)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let key = running.config.key.clone();
        let ended = running.ended.clone().drop_guard();
        let work = Box::pin(work(Box::new(task)));
        let work = self.shared.watch.scope(Some(&key.clone()), async move {
            watch::lane("owner", work).await;
            drop(ended);
            key
        });
        self.running.insert(running.config.key.clone(), running);
        self.tasks.spawn(work);
    }
}

/// Tells whether the holder of a store is worth waiting for: a command, one that is not on record yet, or this service's own
/// task, which has only just taken it.
fn ends_soon(owner: Option<&str>, own: &str) -> bool {
    owner.is_none_or(|owner| owner == own || !is_service(owner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_waited_for_and_other_services_are_not() {
        let own = "espelho run (process 7 on a)";
        for (owner, is_expected) in [
            (Some("espelho doctor (process 8 on a)"), true),
            (Some("espelho --resync (process 8 on a)"), true),
            (Some("espelho run (process 8 on a)"), false),
            (Some("espelho demo (process 8 on a)"), false),
            (Some(own), true),
            (None, true),
        ] {
            assert_eq!(ends_soon(owner, own), is_expected, "{owner:?}");
        }
    }
}
