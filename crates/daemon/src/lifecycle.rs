//! The service: a task for each store, woken by the schedule, and a clean end.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::RunState};
use espelho_sync_engine::{Options, Problem, StoreContext, StoreReport, Trouble, reconcile};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::{net::TcpListener, sync::Notify, task::JoinSet};
use tokio_cron_scheduler::{Job, JobScheduler};

use crate::{
    config::{Configuration, StoreConfig},
    context::Shared,
    http::{
        self,
        webhook::{ACK_BUCKETS, ACK_DURATION, Signals, Tls, Webhooks},
    },
};

/// How often a store that another instance holds is asked for again.
const LEASE_RETRY: Duration = Duration::from_secs(5);
/// How often what metrics have gathered is summed up.
const UPKEEP: Duration = Duration::from_secs(5);
/// How long the tasks may take to finish their page once the service is told to stop.
const DRAIN: Duration = Duration::from_secs(30);

/// The service.
pub(crate) struct Service {
    shared: Shared,
    configuration: Configuration,
    health: Arc<Health>,
}

/// What health checks and metrics are made from.
#[derive(Default)]
pub(crate) struct Health {
    stores: Mutex<BTreeMap<StoreKey, StoreHealth>>,
}

/// How a store is.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoreHealth {
    /// Whether this process works on it.
    pub held: bool,
    /// When its last reconciliation ended, and how.
    pub last: Option<(DateTime<Utc>, RunState)>,
    /// What went wrong last, until it goes well.
    pub problem: Option<String>,
}

impl Health {
    /// All stores, by name.
    pub(crate) fn snapshot(&self) -> BTreeMap<StoreKey, StoreHealth> {
        self.stores().clone()
    }

    fn change(&self, store: &StoreKey, change: impl FnOnce(&mut StoreHealth)) {
        change(self.stores().entry(store.clone()).or_default());
    }

    fn stores(&self) -> MutexGuard<'_, BTreeMap<StoreKey, StoreHealth>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// A service that has not begun.
    pub(crate) fn new(shared: Shared, configuration: Configuration) -> Self {
        Self { shared, configuration, health: Arc::default() }
    }

    /// Serves until the shared stop is cancelled.
    pub(crate) async fn run(
        self,
        listener: TcpListener,
        webhooks: Option<(TcpListener, Option<Tls>)>,
    ) -> Result<(), Problem> {
        let metrics = install_metrics();
        tokio::spawn(keep_metrics_small(metrics.clone(), self.shared.clone()));
        let wakers: Vec<(StoreConfig, Arc<Notify>)> =
            self.configuration.stores.iter().map(|store| (store.clone(), Arc::new(Notify::new()))).collect();
        let mut stores = JoinSet::new();
        let mut refused = Vec::new();
        for (config, waker) in &wakers {
            self.health.change(&config.key, |_| ());
            let taken = match self.shared.context(config).await {
                Ok(context) => Some(context),
                // One store's trouble is not the others': its task asks again.
                Err(problem) => {
                    let (error, next_step) = (&problem.error, &problem.hint);
                    tracing::error!(store = %config.key, code = problem.code, error, next_step, "waiting for the store");
                    self.health.change(&config.key, |health| health.problem = Some(problem.error.clone()));
                    refused.push(problem);
                    None
                }
            };
            let task = StoreTask {
                shared: self.shared.clone(),
                config: config.clone(),
                waker: Arc::clone(waker),
                health: Arc::clone(&self.health),
            };
            stores.spawn(task.run(taken));
        }
        let all_refused = refused.len() == wakers.len();
        if let Some(problem) = refused.into_iter().next().filter(|_| all_refused) {
            return Err(problem);
        }
        let wakers = wakers.into_iter().map(|(_, waker)| waker).collect();
        let schedule = schedule(&self.configuration.installation.schedule.reconcile, wakers).await?;
        let state = http::State::new(&self.shared, &self.configuration, &self.health, metrics);
        if let Ok(address) = listener.local_addr() {
            tracing::info!(%address, "health and metrics are served");
        }
        let mut webhooks = webhooks.map(|(listener, tls)| self.receive(listener, tls));
        let web = tokio::spawn(http::serve(listener, state, self.shared.stop.clone()));
        notify(&[sd_notify::NotifyState::Ready]);
        let failed = tokio::select! {
            () = self.shared.stop.cancelled() => false,
            () = failure_of(&mut webhooks) => true,
        };
        self.shared.stop.cancel();
        notify(&[sd_notify::NotifyState::Stopping]);
        tokio::join!(self.drain(schedule, stores), async {
            if let Some(webhooks) = webhooks
                && tokio::time::timeout(DRAIN, webhooks.stop()).await.is_err()
            {
                tracing::warn!("deliveries under way took too long; they will be sent again");
            }
        });
        // It was told to stop by the same token; the process ends in any case.
        let _ = web.await;
        self.shared.store.close().await;
        match failed {
            false => Ok(()),
            true => Err(Problem {
                trouble: Trouble::Failure,
                code: "receiver".into(),
                error: "the webhook receiver has ended by itself".into(),
                hint: "start the service again; report it with the log above".into(),
            }),
        }
    }

    /// Begins to receive webhooks, for all stores of the installation: what another instance owns waits in the inbox.
    fn receive(&self, listener: TcpListener, tls: Option<Tls>) -> Webhooks {
        if let Ok(address) = listener.local_addr() {
            tracing::info!(%address, tls = tls.is_some(), "webhooks are received");
        }
        let receives =
            |store: &StoreConfig| Some((store.key.clone(), store.webhook.as_ref()?.secret.clone()));
        let stores: Vec<_> = self.configuration.stores.iter().filter_map(receives).collect();
        let signals: Signals = stores.iter().map(|(key, _)| (key.clone(), Arc::default())).collect();
        let limits = self.configuration.installation.webhooks.limits();
        let Shared { store, clock, .. } = &self.shared;
        let on = (store.clone(), Arc::clone(clock));
        Webhooks::start(listener, tls, limits, stores, Arc::new(signals), on)
    }

    async fn drain(&self, mut schedule: JobScheduler, mut stores: JoinSet<()>) {
        tracing::info!("stopping: finishing the pages under way");
        if let Err(error) = schedule.shutdown().await {
            tracing::warn!(%error, "the scheduler did not stop");
        }
        let all_done = async { while stores.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, all_done).await.is_err() {
            tracing::warn!("a page took too long; it will be read again");
        }
    }
}

/// A receiver that no longer receives is worse than a service that starts again.
async fn failure_of(webhooks: &mut Option<Webhooks>) {
    match webhooks {
        Some(webhooks) => webhooks.failed().await,
        None => std::future::pending().await,
    }
}

/// A store's own task: takes the lease, reconciles whenever it is woken.
struct StoreTask {
    shared: Shared,
    config: StoreConfig,
    waker: Arc<Notify>,
    health: Arc<Health>,
}

impl StoreTask {
    async fn run(self, taken: Option<StoreContext>) {
        let mut taken = taken;
        loop {
            let context = match taken.take() {
                Some(context) => context,
                None => match self.wait_for_lease().await {
                    Some(context) => context,
                    None => return,
                },
            };
            self.work(&context).await;
            self.health.change(&self.config.key, |health| health.held = false);
            if let Err(error) = context.lease.release().await {
                tracing::warn!(store = %self.config.key, %error, "the lease ends with the connection");
            }
            if self.shared.stop.is_cancelled() {
                return;
            }
        }
    }

    /// Reconciles whenever it is woken, until the service stops or the lease is lost.
    async fn work(&self, context: &StoreContext) {
        let key = &self.config.key;
        self.health.change(key, |health| (health.held, health.problem) = (true, None));
        tracing::info!(store = %key, fence = context.lease.fence(), "the store is ours");
        let options = Options { kind: "scheduled", ..Options::default() };
        while !self.shared.stop.is_cancelled() {
            let report = reconcile(context, &options).await;
            self.note(&report);
            if report.problems().any(|problem| problem.trouble == Trouble::Held) {
                return;
            }
            if !self.wait(context).await {
                return;
            }
        }
    }

    /// Waits until it is woken, and meanwhile does the runs that others ask for; whether the store is still ours.
    async fn wait(&self, context: &StoreContext) -> bool {
        loop {
            let job = tokio::select! {
                () = self.waker.notified() => return true,
                () = self.shared.stop.cancelled() => return true,
                job = self.shared.desk.next(&self.config.key) => job,
            };
            let report = self.shared.desk.work(context, job).await;
            self.note(&report);
            if report.problems().any(|problem| problem.trouble == Trouble::Held) {
                return false;
            }
        }
    }

    async fn wait_for_lease(&self) -> Option<StoreContext> {
        loop {
            tokio::select! {
                () = self.shared.clock.sleep(LEASE_RETRY) => {}
                () = self.shared.stop.cancelled() => return None,
            }
            match self.shared.context(&self.config).await {
                Ok(context) => return Some(context),
                Err(problem) => {
                    self.health.change(&self.config.key, |health| health.problem = Some(problem.error));
                }
            }
        }
    }

    fn note(&self, report: &StoreReport) {
        let (key, counts, now) = (&self.config.key, report.counts(), self.shared.clock.now());
        let problem = report.problems().next();
        let state = report.state.as_str();
        match problem {
            None => tracing::info!(
                store = %key, state, requests = report.requests, seen = counts.seen, changed = counts.changed,
                gone = counts.gone, failed = counts.failed, duration_ms = (report.seconds * 1000.0) as u64, "reconciled"
            ),
            Some(problem) => tracing::error!(
                store = %key, state, code = problem.code, error = problem.error, next_step = problem.hint, "not reconciled"
            ),
        }
        let problem = problem.map(|problem| format!("{}; {}", problem.error, problem.hint));
        self.health.change(key, |health| {
            health.last = Some((now, report.state));
            health.problem = problem;
        });
        measure(report, now);
    }
}

/// The metrics of one run. Names as in `docs/OPERATIONS.md`.
fn measure(report: &StoreReport, now: DateTime<Utc>) {
    let store = report.store.to_string();
    metrics::counter!("espelho_api_requests_total", "store" => store.clone()).increment(report.requests);
    metrics::counter!("espelho_rate_limited_total", "store" => store.clone()).increment(report.rate_limited);
    metrics::counter!("espelho_logins_total", "store" => store.clone()).increment(report.logins);
    for resource in &report.resources {
        let labels = [("store", store.clone()), ("kind", resource.resource.to_string())];
        let counts = resource.counts;
        metrics::counter!("espelho_rows_changed_total", &labels).increment(counts.changed);
        metrics::gauge!("espelho_rows_failed", &labels).set(counts.failed as f64);
        if resource.state == RunState::Complete {
            metrics::gauge!("espelho_sweep_last_success_timestamp_seconds", &labels)
                .set(now.timestamp() as f64);
        }
    }
}

/// Samples of histograms are kept one by one until they are asked for or this comes by.
async fn keep_metrics_small(metrics: PrometheusHandle, shared: Shared) {
    while !shared.stop.is_cancelled() {
        metrics.run_upkeep();
        tokio::select! { () = shared.clock.sleep(UPKEEP) => {}, () = shared.stop.cancelled() => {} }
    }
}

/// A second service in one process (tests, the demo) shares the first one's recorder.
fn install_metrics() -> PrometheusHandle {
    static HANDLE: std::sync::OnceLock<PrometheusHandle> = std::sync::OnceLock::new();
    let install = || {
        let buckets = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(ACK_DURATION.to_owned()), &ACK_BUCKETS);
        // It refuses an empty list of buckets only.
        let recorder = buckets.unwrap_or_default().build_recorder();
        let handle = recorder.handle();
        // It fails only where another library installed a recorder first; then /metrics is empty.
        let _ = metrics::set_global_recorder(recorder);
        handle
    };
    let handle = HANDLE.get_or_init(install).clone();
    metrics::gauge!("espelho_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    handle
}

/// A cron job that does nothing but wake the stores: several ticks while one works become one.
async fn schedule(expression: &str, wakers: Vec<Arc<Notify>>) -> Result<JobScheduler, Problem> {
    let failed = |error: &dyn std::error::Error| {
        Problem::new(Trouble::Configuration, "schedule", error, "correct schedule.reconcile in espelho.toml")
    };
    let scheduler = JobScheduler::new().await.map_err(|e| failed(&e))?;
    let wake = move |_, _: JobScheduler| wakers.iter().for_each(|waker| waker.notify_one());
    let job = Job::new(expression, wake).map_err(|e| failed(&e))?;
    scheduler.add(job).await.map_err(|e| failed(&e))?;
    scheduler.start().await.map_err(|e| failed(&e))?;
    Ok(scheduler)
}

/// Tells systemd, where there is one.
fn notify(states: &[sd_notify::NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "systemd was not told");
    }
}
