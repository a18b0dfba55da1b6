//! Opening what work on a store needs.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use espelho_api_client::{Client, Http, Settings, WebhookBlock, client_metrics::Timings, limit::Quota};
use espelho_model::{Clock, StoreKey, clock::SystemClock, text, text::Locale, watch::Watch};
use espelho_store::{InFlight, LabelFolder, Lease, Store, WebhookOwner};
use espelho_sync_engine::{
    BeingRead, ClientStorage, LeaseOwner, Marketplaces, MemoryBudget, Problem, Progress, Quarantine,
    StoreContext, Trouble, WorkSuspension, count_left_overs, labels::Labels, plan::retention::Retention,
};
use signal_hook::consts::SIGABRT;
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Configuration, Environment, LabelsSection, StoreConfig, WebhookConfig},
    handover::AdminQueue,
    health::Elsewhere,
    lease_watcher::LeaseWatcher,
    passwords, pause_watch,
    place::Place,
    ports,
    status::RateLimiters,
    store_metrics::StoreMetrics,
    upgrade,
};

/// The time limit of one exchange with the marketplace.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The attempts of a read, with half a second, one, two and four seconds between them.
const ATTEMPTS: u32 = 5;
/// How often a webhook that is registered elsewhere is checked; only while there is one.
const ELSEWHERE_EVERY: Duration = Duration::from_secs(5);

/// What all stores of the installation share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub store: Store,
    /// The watch, as the clock that everybody uses.
    pub clock: Arc<dyn Clock>,
    pub watch: Arc<Watch>,
    pub progress: Arc<dyn Progress>,
    pub stop: CancellationToken,
    /// The budgets of the stores that this process works on, for display.
    pub limiters: Arc<RateLimiters>,
    /// The metrics of their clients.
    pub store_metrics: Arc<StoreMetrics>,
    /// Webhooks that were registered at another address than the configured one.
    pub elsewhere: Arc<Elsewhere>,
    /// The runs that other processes request from this one.
    pub admin_queue: Arc<AdminQueue>,
    memory_budget: Arc<MemoryBudget>,
    marketplaces: Arc<Marketplaces>,
    /// The operators' pauses, and whether the database takes writes.
    pub suspension: WorkSuspension,
    /// The inputs under way, noted for the next process.
    pub in_flight: Arc<InFlight>,
    /// Watches which stores are free.
    pub lease_watcher: Arc<LeaseWatcher>,
    production: Http,
    sandbox: Http,
    /// The name of this process among those that share the database.
    pub owner: String,
    labels: LabelsSection,
    retention: Retention,
    /// The base of relative paths.
    pub state: PathBuf,
    /// The installation's language and time zone, for texts that people read.
    pub locale: Locale,
}

impl Shared {
    /// Opens the database (and migrates it), and sets up the connections.
    pub(crate) async fn open(
        configuration: &Configuration,
        doing: &str,
        progress: Arc<dyn Progress>,
        stop: CancellationToken,
    ) -> Result<Self, Problem> {
        Self::open_by(SystemClock::shared(), configuration, doing, progress, stop).await
    }

    /// Opens with the caller's clock.
    pub(crate) async fn open_by(
        clock: Arc<dyn Clock>,
        configuration: &Configuration,
        doing: &str,
        progress: Arc<dyn Progress>,
        stop: CancellationToken,
    ) -> Result<Self, Problem> {
        let watch = Watch::over(clock);
        let clock: Arc<dyn Clock> = Arc::<Watch>::clone(&watch);
        let place = Place::to_open(configuration, false)?;
        refuse_beside_service(configuration, &place).await?;
        let installation = &configuration.installation;
        let store = upgrade::open(configuration, &place, &clock).await?;
        let store = store.with_privacy(installation.privacy).await?;
        let suspension = WorkSuspension::default();
        pause_watch::read(&store, &suspension).await?;
        let memory = Arc::default();
        let http = |allow_http| -> Result<Http, Problem> {
            Ok(Http::new(allow_http, TIMEOUT)?.with_memory(Arc::clone(&memory)))
        };
        let owner = format!("espelho {doing} (process {} on {})", std::process::id(), host_name());
        let in_flight = note_attempts(&store, &place, &*clock).await?;
        let admin_queue = Arc::new(AdminQueue::new(progress));
        let watched = store.clone();
        tokio::spawn(async move { watched.leases().watch_over_leases().await });
        let writing = store.clone();
        tokio::spawn(async move { writing.follow_writes().await });
        let lease_watcher = Arc::new(LeaseWatcher::new(store.clone(), Arc::clone(&clock)));
        Ok(Self {
            store,
            clock,
            watch,
            progress: Arc::<AdminQueue>::clone(&admin_queue),
            stop,
            limiters: Arc::default(),
            store_metrics: Arc::default(),
            elsewhere: Arc::default(),
            admin_queue,
            memory_budget: Arc::default(),
            marketplaces: Arc::default(),
            suspension,
            in_flight,
            lease_watcher,
            production: http(false)?,
            sandbox: http(true)?,
            owner,
            labels: installation.labels.clone(),
            retention: installation.retention.limits(installation.labels.keep_days),
            state: place.base(),
            locale: configuration.locale(),
        })
    }

    /// Returns a copy with its own stop signal, for work that ends before the service does.
    pub(crate) fn with_stop(&self, stop: CancellationToken) -> Self {
        Self { stop, ..self.clone() }
    }

    /// Takes a store's lease and opens its client. This may wait for the previous owner.
    pub(crate) async fn context(&self, config: &StoreConfig) -> Result<StoreContext, Problem> {
        let lease = self.store.leases().acquire(&config.key, &self.owner).await;
        let lease = lease?;
        let lease = self.identified(config, lease).await?;
        self.open_under(config, lease).await
    }

    /// Takes a store's lease if it is free at this moment.
    pub(crate) async fn take(&self, config: &StoreConfig) -> Result<Lease, Problem> {
        let lease = self.store.leases().acquire_now(&config.key, &self.owner).await;
        self.identified(config, lease?).await
    }

    /// Opens what work on a store needs, once no other process can work on it: until then its budget is still being
    /// spent.
    pub(crate) async fn open_under(
        &self,
        config: &StoreConfig,
        lease: Lease,
    ) -> Result<StoreContext, Problem> {
        let stopped = tokio::select! {
            () = lease.lease_guard().wait_until_active() => false,
            () = self.stop.cancelled() => true,
        };
        let opened = match stopped {
            true => Err(stopped_early()),
            false => self.client_and_quarantine(config).await,
        };
        match opened {
            Ok((client, quarantine)) => Ok(StoreContext {
                key: config.key.clone(),
                client: client.owned_by(LeaseOwner::of(&lease, self.stop.clone(), Arc::clone(&self.clock))),
                store: self.store.clone(),
                lease,
                locale: self.locale,
                clock: Arc::clone(&self.clock),
                progress: Arc::clone(&self.progress),
                stop: self.stop.child_token(),
                gone_guard: config.gone_guard,
                page_parameter: config.page_parameter.clone(),
                retention: self.retention,
                labels: self.labels(config),
                writing: Arc::default(),
                new_products: Arc::default(),
                memory_budget: Arc::clone(&self.memory_budget),
                marketplace: self.marketplaces.at(&config.base_url),
                suspension: self.suspension.clone(),
                quarantine: Arc::new(quarantine),
                being_read: BeingRead::default(),
            }),
            Err(problem) => {
                give_back(config, lease).await;
                Err(problem)
            }
        }
    }

    /// Returns which label files are fetched, and to which folder.
    fn labels(&self, config: &StoreConfig) -> Option<Labels> {
        let labels = config.labels.clone()?;
        let folder = label_folder(&self.labels, &self.state);
        let keep_days = self.labels.keep_days;
        Some(Labels { folder, formats: labels.formats, hosts: labels.hosts, days: labels.days, keep_days })
    }

    async fn identified(&self, config: &StoreConfig, lease: Lease) -> Result<Lease, Problem> {
        let environment = config.environment.as_str();
        match self.store.mirror().identify(&config.key, environment, &config.base_url).await {
            Ok(()) => Ok(lease),
            Err(error) => {
                give_back(config, lease).await;
                Err(error.into())
            }
        }
    }

    /// Returns when the store's owner, present or past, was last seen. If the database does not say it, nobody was
    /// seen.
    pub(crate) async fn last_seen(&self, store: &StoreKey) -> Option<DateTime<Utc>> {
        match self.store.leases().last_seen(store).await {
            Ok(seen) => seen,
            Err(error) => {
                tracing::debug!(%store, %error, "cannot read when the store was last owned");
                None
            }
        }
    }

    /// Returns how long the marketplaces took to answer, and how long requests waited for their budget.
    pub(crate) fn timings(&self) -> [Timings; 2] {
        [&self.production, &self.sandbox].map(|http| http.timings().clone())
    }

    async fn client_and_quarantine(&self, config: &StoreConfig) -> Result<(Client, Quarantine), Problem> {
        let quarantine = Quarantine::load(&self.store, &config.key, Arc::clone(&self.in_flight)).await?;
        Ok((self.client(config).await?, quarantine))
    }

    async fn client(&self, config: &StoreConfig) -> Result<Client, Problem> {
        let webhook = self
            .made_by_login(config)
            .await?
            .map(|webhook| WebhookBlock { url: webhook.public_url.clone(), events: webhook.events.clone() });
        let memory = ClientStorage::new(
            self.store.clone(),
            config.key.clone(),
            config.username.clone(),
            config.base_url.clone(),
        );
        let memory = match &webhook {
            Some(webhook) => memory.with_webhook(webhook.url.clone()),
            None => memory,
        };
        let settings = Settings {
            base_url: config.base_url.clone(),
            username: config.username.clone(),
            password: passwords::source(config),
            quota: Quota::per_minute(config.requests_per_minute),
            http: match config.environment {
                Environment::Production => self.production.clone(),
                Environment::Sandbox => self.sandbox.clone(),
            },
            naive_offset: config.naive_offset,
            attempts: ATTEMPTS,
            webhook,
        };
        let client = Client::open(settings, Arc::clone(&self.clock), memory.clone(), memory).await;
        let client = client?;
        self.limiters.note(&config.key, client.limiter());
        self.store_metrics.note(&config.key, client.metrics());
        Ok(client)
    }

    /// Returns the webhook that logins make. A webhook that was made in the seller portal has its secret in a file; a
    /// login must not make a second one. Nor must a login take the credential's only webhook from its registered
    /// address, which may belong to another installation by now, until the operator allows it: until then the sweeps
    /// find what the webhook would have reported.
    async fn made_by_login<'c>(&self, config: &'c StoreConfig) -> Result<Option<&'c WebhookConfig>, Problem> {
        let Some(webhook) = config.webhook.as_ref().filter(|webhook| webhook.secret.is_none()) else {
            return Ok(None);
        };
        match self.refuse_to_move(config, webhook).await {
            Ok(()) => {
                self.elsewhere.forget(&config.key);
                Ok(Some(webhook))
            }
            Err(error @ espelho_store::Error::WebhookElsewhere { .. }) => {
                if let espelho_store::Error::WebhookElsewhere { registered, .. } = &error {
                    self.elsewhere.note(&config.key, registered);
                }
                let next_step = error.hint();
                tracing::error!(store = %config.key, %error, next_step, "the webhook stays where it is; working without it");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn refuse_to_move(
        &self,
        config: &StoreConfig,
        webhook: &WebhookConfig,
    ) -> Result<(), espelho_store::Error> {
        self.store.inbox().refuse_to_move_webhook(webhook_owner(config), &webhook.public_url).await
    }

    /// Returns when the address of a store's webhook was registered; `None` where a login is still to register one. A
    /// webhook that was made in the marketplace's portal counts as old.
    pub(crate) async fn webhook_address_since(
        &self,
        config: &StoreConfig,
    ) -> Result<Option<DateTime<Utc>>, espelho_store::Error> {
        let Some(webhook) = &config.webhook else { return Ok(None) };
        if webhook.secret.is_some() {
            return Ok(Some(DateTime::UNIX_EPOCH));
        }
        let registered = self.store.inbox().webhook_address(webhook_owner(config)).await?;
        // Where the configuration wants another one, deliveries go to this one until the operator moves it.
        Ok(registered.map(|known| known.since))
    }

    /// Waits until the operator allows webhooks that are registered elsewhere to move (`espelho webhook move`).
    pub(crate) async fn webhooks_that_may_move(&self, stores: &[StoreConfig]) -> Vec<StoreKey> {
        loop {
            self.clock.sleep(ELSEWHERE_EVERY).await;
            let mut allowed = Vec::new();
            for config in stores.iter().filter(|config| self.elsewhere.of(&config.key).is_some()) {
                let Some(webhook) = &config.webhook else { continue };
                if self.refuse_to_move(config, webhook).await.is_ok() {
                    allowed.push(config.key.clone());
                }
            }
            if !allowed.is_empty() {
                // Only after all have been checked: the caller may stop waiting at any `await`.
                allowed.iter().for_each(|key| self.elsewhere.forget(key));
                return allowed;
            }
        }
    }
}

/// Refuses to make a second database while a service works on these stores with another one: the command runs in
/// another folder than the service, or lacks its `STATE_DIRECTORY`.
pub(crate) async fn refuse_beside_service(
    configuration: &Configuration,
    place: &Place,
) -> Result<(), Problem> {
    let address = configuration.installation.http.listen;
    match place.is_new_and_relative() && ports::is_served(address, &configuration.stores).await {
        true => Err(place.beside_service(address)),
        false => Ok(()),
    }
}

/// Returns the folder of the label files.
pub(crate) fn label_folder(labels: &LabelsSection, state: &Path) -> LabelFolder {
    LabelFolder::new(state, &labels.directory)
}

/// Counts the attempts during which earlier processes ended, and begins the file of this one. A process that cannot
/// write there works all the same: only what ends it is then not known.
async fn note_attempts(store: &Store, place: &Place, clock: &dyn Clock) -> Result<Arc<InFlight>, Problem> {
    let folder = match store.file() {
        Some(file) => {
            let mut folder = file.as_os_str().to_owned();
            folder.push("-in-flight");
            PathBuf::from(folder)
        }
        None => place.base().join("in-flight"),
    };
    match InFlight::left_overs(&folder) {
        Ok(left) => {
            count_left_overs(store, &left.inputs).await?;
            left.forget();
        }
        Err(error) => {
            tracing::warn!(folder = %folder.display(), %error, "cannot read what ended processes left");
        }
    }
    let name = format!("{}-{}", std::process::id(), clock.now().timestamp_micros());
    let noting = InFlight::open(&folder, &name).and_then(|in_flight| {
        note_aborts(&in_flight)?;
        Ok(in_flight)
    });
    Ok(noting.unwrap_or_else(|error| {
        tracing::warn!(folder = %folder.display(), %error, "what is worked on is not noted");
        Arc::default()
    }))
}

/// Has an abort of this process noted beside its inputs. The process still ends by SIGABRT.
fn note_aborts(in_flight: &InFlight) -> std::io::Result<()> {
    if let Some(note) = in_flight.abort_note()? {
        // The handlers run in this order: the second one ends the process.
        signal_hook::low_level::pipe::register(SIGABRT, note)?;
        signal_hook::flag::register_conditional_default(SIGABRT, Arc::new(AtomicBool::new(true)))?;
    }
    Ok(())
}

/// Tells whether the owner of a lease is a service, by the name that [`Shared::open`] gives it; else it is a command, which
/// ends by itself.
pub(crate) fn is_service(owner: &str) -> bool {
    ["espelho run ", "espelho demo "].iter().any(|doing| owner.starts_with(doing))
}

/// Releases a store's lease.
pub(crate) async fn give_back(config: &StoreConfig, lease: Lease) {
    if let Err(error) = lease.release().await {
        tracing::warn!(store = %config.key, %error, "lease not released; it ends with the connection");
    }
}

pub(crate) fn webhook_owner(config: &StoreConfig) -> WebhookOwner<'_> {
    WebhookOwner { store: &config.key, username: &config.username, base_url: &config.base_url }
}

fn stopped_early() -> Problem {
    Problem::of(Trouble::Stopped, "stopped", text!("run-stopped-before"))
}

/// Returns the name of this machine.
pub(crate) fn host_name() -> String {
    // The unit of the service sees no more of /proc than processes.
    let names = ["/proc/sys/kernel/hostname", "/etc/hostname"].into_iter().map(std::fs::read_to_string);
    let name = names.flatten().map(|name| name.trim().to_owned()).find(|name| !name.is_empty());
    name.unwrap_or_else(|| "this machine".to_owned())
}

/// Cancels `stop` on the first SIGINT or SIGTERM, and ends the process on the second.
pub(crate) fn stop_on_signals(stop: &CancellationToken) -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).context("no handler for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("no handler for SIGTERM")?;
    let stop = stop.clone();
    tokio::spawn(async move {
        for _ in 0..2 {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
            if stop.is_cancelled() {
                // Every write is a transaction, so an immediate exit loses only the current page.
                std::process::exit(130);
            }
            stop.cancel();
        }
    });
    Ok(())
}
