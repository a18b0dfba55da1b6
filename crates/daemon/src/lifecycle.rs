//! The service: starts everything, applies the configuration, and shuts everything down.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use espelho_model::{
    StoreKey, text,
    text::{Language, Locale, Text},
};
use espelho_store::FileTrouble;
use espelho_sync_engine::{Problem, Trouble, plan::alarms::FoundIn};
use futures_util::future::join_all;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use sd_notify::NotifyState;
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};
use tokio_cron_scheduler::{Job, JobScheduler};

use crate::{
    alarms::{Board, Keeper},
    config::{Configuration, Installation},
    context::{Shared, host_name},
    health::Health,
    http::{
        self,
        api::TokenList,
        webhook::{self, ACK_BUCKETS, OpenError, Webhooks},
    },
    lease_watcher, lock_table,
    measure::LAG_BUCKETS,
    metric::{self, Metric, list},
    notices::{Channels, DeadMan, Notifier},
    operators::OperatorsFile,
    panics::Panics,
    passwords::{News, Passwords},
    pause_watch, ports,
    reload::{self, Reloads},
    status::Live,
    stores::{Changes, Stores},
    telemetry, unknown_stores, watchdog,
};

/// How often the samples of the metrics are aggregated.
const UPKEEP: Duration = Duration::from_secs(5);
/// How long all tasks may take to finish after the service is told to stop.
const DRAIN: Duration = Duration::from_secs(30);
/// How long the database's connections may take to close.
const CLOSING: Duration = Duration::from_secs(10);
/// How often the identity of the database's files is checked. Deliveries that come in between are in the saved copy.
const FILES_EVERY: Duration = Duration::from_secs(2);
/// How long the last health answers may take after that.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// The longest wait of a reload for the settings of the database server. Its stores wait for it in any case.
const SETTINGS: Duration = Duration::from_secs(5);

/// The service.
pub(crate) struct Service {
    shared: Shared,
    configuration: Configuration,
    health: Arc<Health>,
    stores: Stores,
    webhooks: Option<Webhooks>,
    passwords: Passwords,
    /// The tokens of the HTTP API.
    tokens: Arc<TokenList>,
    /// The operators of the page, with their tokens.
    operators: OperatorsFile,
}

/// Events that reach the service from outside, beside requests.
#[derive(Default)]
pub(crate) struct Outside {
    pub(crate) panics: Panics,
    /// Absent if nobody can change the configuration.
    pub(crate) reloads: Option<Reloads>,
}

/// The reason why the service ends.
#[derive(Debug, PartialEq)]
enum End {
    Asked,
    /// A task that must not end has ended.
    Ended(Text),
    Panicked(String),
    /// The contents of the disk are not known.
    Disk,
    /// The database's file was deleted or replaced: what is written is lost with this process.
    Files(FileTrouble),
}

impl End {
    /// Returns the reason that counts: a panic before all others, then a stop that was asked for. A task that either of them
    /// ended may have been seen to end first.
    fn settled(self, panicked: Option<&String>, is_asked: bool) -> Self {
        match panicked {
            Some(said) => Self::Panicked(said.clone()),
            None if is_asked => Self::Asked,
            None => self,
        }
    }
}

impl Service {
    /// Returns a service that has not started.
    pub(crate) fn new(shared: Shared, configuration: Configuration) -> Self {
        let health = Arc::default();
        let stores = Stores::new(&shared, &health);
        let passwords = Passwords::of(&configuration.stores, Arc::clone(&shared.clock));
        let tokens = Arc::new(TokenList::of(configuration.tokens.clone()));
        let operators = OperatorsFile::new(configuration.installation.http.operators_file.as_deref());
        Self { shared, configuration, health, stores, webhooks: None, passwords, tokens, operators }
    }

    /// Serves until the shared stop is cancelled.
    pub(crate) async fn run(
        mut self,
        listener: TcpListener,
        webhooks: Option<webhook::BoundSocket>,
        mut outside: Outside,
    ) -> Result<(), Problem> {
        lock_table::require(&self.shared.store, self.configuration.stores.len()).await?;
        if outside.reloads.is_some() {
            self.health.take_reloads();
        }
        let metrics = install_metrics();
        tokio::spawn(keep_metrics_small(metrics.clone(), self.shared.clone()));
        let address = listener.local_addr().unwrap_or(self.configuration.installation.http.listen);
        tracing::info!(%address, "health and metrics are served");
        let listen = self.configuration.installation.http.listen;
        let (board, locale) = (Arc::<Board>::default(), self.configuration.locale());
        let live = self.live().await;
        let (health, shown) = ((&self.health, &board), (&self.stores.shown, live.clone()));
        let access = (Arc::clone(&self.tokens), self.operators.clone());
        let state = http::State::new(&self.shared, listen, health, shown, (metrics, locale), access);
        // Monitoring already asks while thousands of stores are still being taken.
        self.stores.announce(&self.configuration);
        let mut web = tokio::spawn(http::serve(listener, state, self.shared.stop.clone()));
        let told = self.tell_people(&board, locale);
        let alarms = tokio::spawn(self.keeper(Arc::clone(&board), live, locale).run());
        let begun = match self.stores.begin(&self.configuration).await {
            Ok(()) => self.schedule().await,
            Err(problem) => Err(problem),
        };
        let mut schedule = begun.inspect_err(|_| self.shared.stop.cancel())?;
        if let Some(front) = webhooks {
            self.receive(front);
        }
        self.watch_database(locale);
        let watch = &self.shared.watch;
        let tell = [
            tokio::spawn(watchdog::feed(Arc::clone(watch))),
            tokio::spawn(watchdog::write_status_line(
                Arc::clone(watch),
                Arc::clone(&self.health),
                board,
                self.shared.locale,
            )),
        ];
        watchdog::tell(&[NotifyState::Ready]);
        let end = loop {
            tokio::select! {
                () = self.shared.stop.cancelled() => break End::Asked,
                said = outside.panics.first() => break End::Panicked(said),
                () = espelho_store::Error::disk_gave_up() => break End::Disk,
                trouble = lost_files(&self.shared) => break End::Files(trouble),
                () = failure_of(&mut self.webhooks) => break End::Ended(text!("run-ended-webhooks")),
                () = self.stores.failed() => break End::Ended(text!("run-ended-store")),
                _ = &mut web => break End::Ended(text!("run-ended-server")),
                news = self.passwords.news() => {
                    self.take_passwords(news);
                    schedule = self.reschedule(schedule).await;
                    continue;
                }
                moved = self.shared.webhooks_that_may_move(&self.configuration.stores) => {
                    tracing::info!(stores = ?moved, "webhooks may move to their configured addresses: the stores log in again");
                    self.stores.follow_and_restart(&self.configuration, &moved);
                    schedule = self.reschedule(schedule).await;
                    continue;
                }
                news = news_of(&mut outside.reloads) => {
                    if let reload::News::Mistakes(mistakes) = news {
                        self.health.note_files(&mistakes, self.shared.clock.now());
                        continue;
                    }
                }
            }
            schedule = self.reload(outside.reloads.as_mut(), schedule).await;
        };
        let end = end.settled(outside.panics.said(), self.shared.stop.is_cancelled());
        self.shared.stop.cancel();
        let say_goodbye = |locale| {
            tell.iter().for_each(JoinHandle::abort);
            watchdog::tell_last(&[
                NotifyState::Stopping,
                NotifyState::Status(&text!("service-stopping").message(locale)),
            ]);
        };
        // While a copy is saved, systemd is told that the process lives: a large database takes a while.
        let saves = matches!(end, End::Files(_));
        if !saves {
            say_goodbye(self.shared.locale);
        }
        self.drain(schedule, web, [alarms, told]).await;
        let ended = match end {
            End::Asked => Ok(()),
            End::Ended(what) => Err(ended(text!("run-ended", what = what))),
            End::Disk => Err(ended(text!("run-ended-disk"))),
            End::Files(trouble) => Err(self.save(&trouble).await),
            End::Panicked(said) => Err(ended(text!("run-panicked", said = said))),
        };
        if saves {
            say_goodbye(self.shared.locale);
        }
        self.close().await;
        ended
    }

    /// Starts to watch what other processes write to the database: deliveries, intents and pauses.
    fn watch_database(&self, locale: Locale) {
        let Shared { store, clock, stop, suspension, .. } = &self.shared;
        let own = || (store.clone(), Arc::clone(clock), Arc::clone(&self.stores.wakers), stop.clone());
        let (store, clock, wakers, stop) = own();
        tokio::spawn(lease_watcher::hear_of_deliveries(store, clock, wakers, stop));
        let (store, clock, wakers, stop) = own();
        tokio::spawn(lease_watcher::watch_intents(store, clock, wakers, stop));
        let (store, clock, wakers, stop) = own();
        tokio::spawn(pause_watch::follow(store, clock, suspension.clone(), wakers, stop));
        let (store, clock, wakers, stop) = own();
        tokio::spawn(unknown_stores::answer(store, clock, wakers, locale, stop));
    }

    async fn live(&self) -> Live {
        // Without an identity the commands believe this service, as they believe one of an older version.
        let installation = self.shared.store.make_installation().await;
        if let Err(error) = &installation {
            tracing::debug!(%error, "the installation has no identity");
        }
        Live {
            health: Arc::clone(&self.health),
            limiters: Arc::clone(&self.shared.limiters),
            store_metrics: Arc::clone(&self.shared.store_metrics),
            admin_queue: Arc::clone(&self.shared.admin_queue),
            store: self.shared.store.clone(),
            started_at: self.shared.clock.now(),
            installation: installation.ok(),
            notice_channels: self.channels().names(),
        }
    }

    /// Returns the channels by which people hear of alarms.
    fn channels(&self) -> Channels {
        Channels::of(&self.configuration.notices, self.configuration.locale(), Arc::clone(&self.shared.clock))
    }

    /// Starts to tell people of alarms, by what is configured; returns the task of the messages.
    fn tell_people(&self, board: &Arc<Board>, locale: Locale) -> JoinHandle<()> {
        let Shared { store, clock, stop, .. } = &self.shared;
        let (config, channels) = (&self.configuration.notices, self.channels());
        if let Some(ping) = &config.ping {
            let dead_man = DeadMan {
                config: ping.clone(),
                channels: channels.clone(),
                board: Arc::clone(board),
                clock: Arc::clone(clock),
                stop: stop.clone(),
            };
            tokio::spawn(dead_man.run());
        }
        let file = match store.file() {
            Some(file) => {
                let mut name = file.as_os_str().to_owned();
                name.push("-notices");
                name.into()
            }
            // Several services of one machine may share the directory, and not the port.
            None => {
                let port = self.configuration.installation.http.listen.port();
                self.shared.state.join(format!("notices-{port}.json"))
            }
        };
        let notifier = Notifier {
            store: store.clone(),
            clock: Arc::clone(clock),
            board: Arc::clone(board),
            channels,
            program_time: config.exec.as_ref().map(|exec| exec.timeout).unwrap_or_default(),
            rules: config.rules,
            locale,
            instance: self.shared.owner.clone(),
            host: host_name(),
            file,
            stop: stop.clone(),
        };
        tokio::spawn(notifier.run())
    }

    fn keeper(&self, board: Arc<Board>, live: Live, locale: Locale) -> Keeper {
        Keeper {
            store: self.shared.store.clone(),
            clock: Arc::clone(&self.shared.clock),
            shown: Arc::clone(&self.stores.shown),
            live,
            instance: self.shared.owner.clone(),
            machine: self.shared.store.leases().is_shared().then(host_name),
            locale,
            board,
            suspension: self.shared.suspension.clone(),
            stop: self.shared.stop.clone(),
        }
    }

    /// Starts to receive webhooks, for all stores of the installation: deliveries for another instance's stores wait in
    /// the inbox.
    fn receive(&mut self, (listener, tls): webhook::BoundSocket) {
        if let Ok(address) = listener.local_addr() {
            tracing::info!(%address, tls = tls.is_some(), "webhooks are received");
            self.note_socket(address);
        }
        let limits = self.configuration.installation.webhooks.limits();
        let Shared { store, clock, watch, .. } = &self.shared;
        let (wakers, on) = (Arc::clone(&self.stores.wakers), (store.clone(), Arc::clone(clock)));
        let receiving = self.configuration.receiving();
        let tell = (wakers, Arc::clone(&self.health));
        let start = || Webhooks::start(listener, tls, limits, receiving, tell, on);
        self.webhooks = Some(watch.within(None, start));
    }

    /// Notes that systemd's socket is used in place of the configured address: our own would have that address.
    fn note_socket(&self, address: SocketAddr) {
        let configured = self.configuration.installation.webhooks.listen;
        if configured.port() == 0 || address == configured {
            return;
        }
        let _ = self.health.webhook_socket.set(address);
        let (socket, listen) = (address.to_string(), configured.to_string());
        let text = text!("doctor-receiver-socket", address = socket, configured = listen);
        let next_step = text.next(Locale::of(Language::English)).unwrap_or_default();
        tracing::warn!(%address, %configured, next_step, "espelho.socket is used in place of webhooks.listen");
    }

    /// Applies the passwords that the files have now: their stores restart, and nothing else changes. Notes the files that
    /// cannot be read.
    fn take_passwords(&mut self, news: Vec<(StoreKey, News)>) {
        for (key, news) in news {
            let unreadable = match news {
                News::Changed(password) => {
                    tracing::info!(store = %key, "the password file has changed: the store restarts with the new password");
                    let stores = self.configuration.stores.iter_mut();
                    stores
                        .filter(|store| store.key == key)
                        .for_each(|store| store.password = password.clone());
                    None
                }
                News::Unreadable(why) => {
                    let error = why.message(Locale::of(Language::English));
                    tracing::warn!(store = %key, error, "the store works on with the password that was read before");
                    Some((self.shared.clock.now(), why))
                }
                News::Readable => {
                    tracing::info!(store = %key, "the password file can be read again");
                    None
                }
            };
            self.health.change(&key, |health| {
                // One trouble may follow the other: it began with the first.
                let since = health.unreadable_password.as_ref().map(|(since, _)| *since);
                health.unreadable_password = unreadable.map(|(now, why)| (since.unwrap_or(now), why));
            });
        }
        self.stores.follow(&self.configuration);
    }

    /// Applies the configuration as it is now, or says why not and keeps the old one.
    async fn reload(&mut self, reloads: Option<&mut Reloads>, schedule: JobScheduler) -> JobScheduler {
        watchdog::tell_reloading();
        let schedule = match reloads.map(Reloads::read) {
            Some(Ok(new)) => self.follow(new, schedule).await,
            Some(Err(mistakes)) => {
                self.health.note_refused_reload(FoundIn::Files, &mistakes, self.shared.clock.now());
                schedule
            }
            None => schedule,
        };
        watchdog::tell(&[NotifyState::Ready]);
        schedule
    }

    async fn follow(&mut self, mut new: Configuration, schedule: JobScheduler) -> JobScheduler {
        let old = &self.configuration.installation;
        let needs_restart = old.fixed_differences(&new.installation);
        let (tokens_file, operators_file) =
            (new.installation.http.tokens_file.take(), new.installation.http.operators_file.take());
        // A change that needs a restart is not half applied before it.
        new.installation =
            Installation { schedule: new.installation.schedule, log: new.installation.log, ..old.clone() };
        (new.installation.http.tokens_file, new.installation.http.operators_file) =
            (tokens_file, operators_file);
        new.installation.log.format = old.log.format;
        let front = match &self.webhooks {
            Some(_) => Ok(None),
            None => webhook::open(&new),
        };
        let front = match front {
            Ok(front) => front,
            Err(error) => {
                reload::refused(&error.to_string());
                self.health.note_refused_reload(FoundIn::Files, &[unopened(&error)], self.shared.clock.now());
                return schedule;
            }
        };
        // A database that does not answer tells nothing, and the stores wait for it in any case.
        let shortage = lock_table::shortage(&self.shared.store, new.stores.len());
        if let Ok(Ok(Some(shortage))) = tokio::time::timeout(SETTINGS, shortage).await {
            reload::refused(&shortage.without_quotes().to_string());
            self.health.note_refused_reload(FoundIn::Database, &[shortage], self.shared.clock.now());
            return schedule;
        }
        self.configuration = new;
        self.tokens.replace(self.configuration.tokens.clone());
        self.operators.replace(self.configuration.installation.http.operators_file.as_deref());
        self.passwords.follow(&self.configuration.stores);
        // The new configuration has read every password.
        for store in &self.configuration.stores {
            self.health.change(&store.key, |health| health.unreadable_password = None);
        }
        let Changes { added, removed, changed } = self.stores.follow(&self.configuration);
        telemetry::change_level(&self.configuration.installation.log.level);
        if let Some(front) = front {
            self.receive(front);
        } else if let Some(webhooks) = &self.webhooks {
            webhooks.serve(self.configuration.receiving());
            webhooks.refresh_certificate();
        }
        if !needs_restart.is_empty() {
            let needs_a_restart = needs_restart.join(", ");
            tracing::warn!(needs_a_restart, "part of the new configuration needs a restart");
        }
        tracing::info!(?added, ?removed, ?changed, "the configuration was read again");
        self.health.note_reload(&needs_restart);
        self.reschedule(schedule).await
    }

    /// Reschedules the wakers of the running stores: restarted stores have new wakers.
    async fn reschedule(&self, schedule: JobScheduler) -> JobScheduler {
        match self.schedule().await {
            Ok(new) => {
                end_of(schedule).await;
                new
            }
            // The expression was checked with the configuration.
            Err(problem) => {
                reload::refused(&problem.error);
                schedule
            }
        }
    }

    /// Lets all tasks finish at once, within their time limit.
    async fn drain(&mut self, schedule: JobScheduler, web: JoinHandle<()>, alarms: [JoinHandle<()>; 2]) {
        tracing::info!("stopping: finishing the pages under way");
        let webhooks = self.webhooks.take();
        let ending = async {
            tokio::join!(end_of(schedule), self.stores.ended(), async {
                if let Some(webhooks) = webhooks {
                    webhooks.stop().await;
                }
            });
            // The web server answers until the others have ended; a slow reader of its last answer is not waited for.
            if !web.is_finished() {
                let _ = tokio::time::timeout(LAST_ANSWERS, web).await;
            }
            let _ = tokio::time::timeout(LAST_ANSWERS, join_all(alarms)).await;
        };
        if tokio::time::timeout(DRAIN, ending).await.is_err() {
            tracing::warn!("shutdown took too long; unwritten data will be read or sent again");
        }
    }

    /// Closes the database; a server that does not answer is not waited for.
    async fn close(&self) {
        if tokio::time::timeout(CLOSING, self.shared.store.close()).await.is_err() {
            tracing::warn!("the database did not close in time");
        }
    }

    /// Saves what only this process can still read, and returns why the service ends.
    async fn save(&self, trouble: &FileTrouble) -> Problem {
        let file = trouble.path().display().to_string();
        ended(match self.shared.store.save_lost_files().await {
            Ok(copy) => {
                let copy = copy.map(|copy| copy.display().to_string()).unwrap_or_default();
                text!("run-ended-files", file = file, copy = copy)
            }
            Err(error) => {
                text!("run-ended-files-unsaved", file = file, cause = Problem::from_store(&error).error)
            }
        })
    }

    async fn schedule(&self) -> Result<JobScheduler, Problem> {
        schedule(&self.configuration.installation.schedule.reconcile, self.stores.wakers()).await
    }
}

/// Returns why the receiver of a new configuration cannot be opened.
fn unopened(error: &OpenError) -> Text {
    match error {
        OpenError::Certificate(why) => why.clone(),
        OpenError::Listen(address, error) => ports::reason("webhooks.listen", *address, error),
    }
}

fn ended(text: Text) -> Problem {
    Problem::of(Trouble::Failure, "ended", text)
}

async fn news_of(reloads: &mut Option<Reloads>) -> reload::News {
    match reloads {
        Some(reloads) => reloads.news().await,
        None => std::future::pending().await,
    }
}

async fn end_of(mut schedule: JobScheduler) {
    if let Err(error) = schedule.shutdown().await {
        tracing::warn!(%error, "the scheduler did not stop");
    }
}

/// Resolves when the database's file was deleted or replaced.
async fn lost_files(shared: &Shared) -> FileTrouble {
    loop {
        if let Some(trouble) = shared.store.file_trouble().filter(FileTrouble::loses_writes) {
            return trouble;
        }
        shared.clock.sleep(FILES_EVERY).await;
    }
}

/// Resolves when the receiver has failed: a receiver that no longer receives is worse than a service that restarts.
async fn failure_of(webhooks: &mut Option<Webhooks>) {
    match webhooks {
        Some(webhooks) => webhooks.failed().await,
        None => std::future::pending().await,
    }
}

/// Aggregates the samples of histograms, which are otherwise kept one by one until a scrape.
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
        let with = |builder: PrometheusBuilder, metric: &Metric, buckets: &[f64]| {
            // It refuses only an empty list of buckets.
            builder.set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), buckets).unwrap_or_default()
        };
        let builder = with(PrometheusBuilder::new(), &list::WEBHOOK_ACK, &ACK_BUCKETS);
        let recorder = with(builder, &list::MIRROR_LAG, &LAG_BUCKETS).build_recorder();
        let handle = recorder.handle();
        // It fails only if another library installed a recorder first; then /metrics is empty.
        let _ = metrics::set_global_recorder(recorder);
        metric::describe_all();
        handle
    };
    let handle = HANDLE.get_or_init(install).clone();
    list::BUILD_INFO.gauge(&[env!("CARGO_PKG_VERSION")]).set(1.0);
    handle
}

/// Schedules a cron job that only wakes the stores: several ticks during one run become one.
async fn schedule(expression: &str, wakers: Vec<Arc<Notify>>) -> Result<JobScheduler, Problem> {
    let failed = |error: &dyn std::error::Error| {
        let text = text!("run-schedule", problem = error.to_string());
        Problem::new(Trouble::Configuration, "schedule", error, text)
    };
    let scheduler = JobScheduler::new().await.map_err(|e| failed(&e))?;
    let wake = move |_, _: JobScheduler| wakers.iter().for_each(|waker| waker.notify_one());
    let job = Job::new(expression, wake).map_err(|e| failed(&e))?;
    scheduler.add(job).await.map_err(|e| failed(&e))?;
    scheduler.start().await.map_err(|e| failed(&e))?;
    Ok(scheduler)
}

#[cfg(test)]
mod tests;
