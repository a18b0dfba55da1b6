//! The service: a task for each store, woken by the schedule, and a clean end.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use espelho_sync_engine::{Problem, Trouble};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::{net::TcpListener, sync::Notify, task::JoinSet};
use tokio_cron_scheduler::{Job, JobScheduler};

use crate::{
    config::{Configuration, StoreConfig},
    context::Shared,
    health::Health,
    http::{
        self,
        webhook::{ACK_BUCKETS, ACK_DURATION, Signals, Tls, Webhooks},
    },
    store_task::StoreTask,
};

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
        let inboxes: Arc<Signals> =
            Arc::new(wakers.iter().map(|(config, _)| (config.key.clone(), Arc::default())).collect());
        let mut stores = JoinSet::new();
        let mut refused = Vec::new();
        for (config, waker) in &wakers {
            self.health.change(&config.key, |_| ());
            let last_seen = self.shared.last_seen(&config.key).await;
            let taken = match self.shared.context(config).await {
                Ok(context) => Some((context, last_seen)),
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
                intervals: self.configuration.installation.schedule.intervals(),
                waker: Arc::clone(waker),
                inbox: inboxes.get(&config.key).cloned().unwrap_or_default(),
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
        let mut webhooks = webhooks.map(|(listener, tls)| self.receive(listener, tls, Arc::clone(&inboxes)));
        let web = tokio::spawn(http::serve(listener, state, self.shared.stop.clone()));
        notify(&[sd_notify::NotifyState::Ready]);
        let failed = tokio::select! {
            () = self.shared.stop.cancelled() => None,
            () = failure_of(&mut webhooks) => Some("the webhook receiver"),
            // A store's task ends only when it is told to; one that has panicked is not coming back by itself.
            _ = stores.join_next() => (!self.shared.stop.is_cancelled()).then_some("the work on a store"),
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
            None => Ok(()),
            Some(what) => Err(Problem {
                trouble: Trouble::Failure,
                code: "ended".into(),
                error: format!("{what} has ended by itself"),
                hint: "start the service again; report it with the log above".into(),
            }),
        }
    }

    /// Begins to receive webhooks, for all stores of the installation: what another instance owns waits in the inbox.
    fn receive(&self, listener: TcpListener, tls: Option<Tls>, signals: Arc<Signals>) -> Webhooks {
        if let Ok(address) = listener.local_addr() {
            tracing::info!(%address, tls = tls.is_some(), "webhooks are received");
        }
        let receives =
            |store: &StoreConfig| Some((store.key.clone(), store.webhook.as_ref()?.secret.clone()));
        let stores: Vec<_> = self.configuration.stores.iter().filter_map(receives).collect();
        let limits = self.configuration.installation.webhooks.limits();
        let Shared { store, clock, .. } = &self.shared;
        let on = (store.clone(), Arc::clone(clock));
        Webhooks::start(listener, tls, limits, stores, signals, on)
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

/// Samples of histograms are kept one by one until they are asked for or this comes by.
async fn keep_metrics_small(metrics: PrometheusHandle, shared: Shared) {
    while !shared.stop.is_cancelled() {
        metrics.run_upkeep();
        tokio::select! { () = shared.clock.sleep(UPKEEP) => {}, () = shared.stop.cancelled() => {} }
    }
}

/// A second service in one process (tests, the demo) shares the first one's recorder.
fn install_metrics() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
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
