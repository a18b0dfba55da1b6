//! Opening what work on a store needs.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use espelho_api_client::{Client, Http, Settings, WebhookBlock, limit::Quota};
use espelho_model::{Clock, StoreKey, clock::SystemClock};
use espelho_store::Store;
use espelho_sync_engine::{Problem, Progress, StoreContext, StoreMemory};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Configuration, Environment, StoreConfig},
    handover::Desk,
    status::Gates,
};

/// How long one exchange with the marketplace may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Attempts of a read: half a second, one, two and four between them.
const ATTEMPTS: u32 = 5;

/// What all stores of the installation share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub progress: Arc<dyn Progress>,
    pub stop: CancellationToken,
    /// The budgets of the stores that this process works on, to be shown.
    pub gates: Arc<Gates>,
    /// Runs that other processes ask this one for.
    pub desk: Arc<Desk>,
    production: Http,
    sandbox: Http,
    owner: String,
}

impl Shared {
    /// Opens the database (and migrates it), and sets up the connections.
    pub(crate) async fn open(
        configuration: &Configuration,
        doing: &str,
        progress: Arc<dyn Progress>,
        stop: CancellationToken,
    ) -> Result<Self, Problem> {
        let clock = SystemClock::shared();
        let url = database_url(&configuration.installation.database.url);
        let store = Store::open(&url, Arc::clone(&clock)).await.map_err(|e| Problem::from_store(&e))?;
        let http = |allow_http| Http::new(allow_http, TIMEOUT).map_err(|e| Problem::from_api(&e));
        let owner = format!("espelho {doing} (process {} on {})", std::process::id(), host_name());
        let desk = Arc::new(Desk::new(progress));
        Ok(Self {
            store,
            clock,
            progress: Arc::<Desk>::clone(&desk),
            stop,
            gates: Arc::default(),
            desk,
            production: http(false)?,
            sandbox: http(true)?,
            owner,
        })
    }

    /// Takes a store's lease and opens its client.
    pub(crate) async fn context(&self, config: &StoreConfig) -> Result<StoreContext, Problem> {
        let lease =
            self.store.acquire(&config.key, &self.owner).await.map_err(|e| Problem::from_store(&e))?;
        match self.client(config).await {
            Ok(client) => Ok(StoreContext {
                key: config.key.clone(),
                client,
                store: self.store.clone(),
                lease,
                clock: Arc::clone(&self.clock),
                progress: Arc::clone(&self.progress),
                stop: self.stop.child_token(),
                gone_guard: config.gone_guard,
                page_parameter: config.page_parameter.clone(),
                writing: Arc::default(),
            }),
            Err(problem) => {
                if let Err(error) = lease.release().await {
                    tracing::warn!(store = %config.key, %error, "the lease ends with the connection");
                }
                Err(problem)
            }
        }
    }

    /// When the store's owner, whoever it is or was, was last seen. Where the database does not say it, nobody was.
    pub(crate) async fn last_seen(&self, store: &StoreKey) -> Option<DateTime<Utc>> {
        match self.store.last_seen(store).await {
            Ok(seen) => seen,
            Err(error) => {
                tracing::debug!(%store, %error, "when the store was last owned is not known");
                None
            }
        }
    }

    async fn client(&self, config: &StoreConfig) -> Result<Client, Problem> {
        let environment = config.environment.as_str();
        let identified = self.store.identify(&config.key, environment, &config.base_url).await;
        identified.map_err(|e| Problem::from_store(&e))?;
        // A webhook that was made in the seller portal has its secret in a file; the login must not make a second one.
        let webhook = config.webhook.as_ref().filter(|webhook| webhook.secret.is_none());
        let webhook = webhook
            .map(|webhook| WebhookBlock { url: webhook.public_url.clone(), events: webhook.events.clone() });
        let memory = StoreMemory::new(
            self.store.clone(),
            config.key.clone(),
            config.username.clone(),
            config.base_url.clone(),
        );
        let memory = if webhook.is_some() { memory.wanting_a_secret() } else { memory };
        let settings = Settings {
            base_url: config.base_url.clone(),
            username: config.username.clone(),
            password: config.password.clone(),
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
        let client = client.map_err(|e| Problem::from_api(&e))?;
        self.gates.note(&config.key, client.gate());
        Ok(client)
    }
}

/// A relative SQLite path lies in systemd's state directory where there is one.
pub(crate) fn database_url(url: &str) -> String {
    let state = std::env::var("STATE_DIRECTORY").ok();
    match (url.strip_prefix("sqlite:"), state) {
        (Some(path), Some(state)) if !path.starts_with('/') => format!("sqlite:{state}/{path}"),
        _ => url.to_owned(),
    }
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| "this machine".to_owned(), |name| name.trim().to_owned())
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
                // Every write is a transaction, so leaving at once loses nothing but the current page.
                std::process::exit(130);
            }
            stop.cancel();
        }
    });
    Ok(())
}
