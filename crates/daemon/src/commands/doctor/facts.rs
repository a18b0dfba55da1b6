//! What the checks have to go on, and what they have seen so far: each fills in what those after it use.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use espelho_api_client::{Http, Reachability};
use espelho_model::{Clock, clock::SystemClock, text::Language};
use espelho_store::Store;
use espelho_sync_engine::{Problem, Silent, TokenProof};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::access::Access;
use crate::{
    config::{Configuration, Environment, StoreConfig},
    context::Shared,
};

/// How long one exchange may take; every check has less.
const TIMEOUT: Duration = Duration::from_secs(10);

/// About the installation.
pub(super) struct Facts {
    pub configuration: Configuration,
    /// Where the configuration was read.
    pub directory: PathBuf,
    /// Whether the passwords shall be proved.
    pub login: bool,
    /// The language of what is shown.
    pub language: Language,
    pub clock: Arc<dyn Clock>,
    pub database: OnceLock<Database>,
    /// What the service says at `/status`; of another version it may have another shape.
    pub service: OnceLock<Value>,
    shared: OnceCell<Shared>,
}

/// The database.
pub(super) enum Database {
    Open(Store),
    /// Nobody has made it yet, so that no token is on record.
    NotYet,
}

/// About one store.
pub(super) struct StoreFacts<'f> {
    pub all: &'f Facts,
    pub config: &'f StoreConfig,
    /// The answer of the public route, where there was one.
    pub reached: OnceLock<Reachability>,
    /// The way to ask the marketplace with the store's token.
    pub access: OnceLock<Access>,
    pub token: OnceLock<TokenProof>,
}

impl Facts {
    pub(super) fn new(
        configuration: Configuration,
        directory: PathBuf,
        login: bool,
        language: Language,
    ) -> Self {
        let (clock, database, service) = (SystemClock::shared(), OnceLock::new(), OnceLock::new());
        Self { configuration, directory, login, language, clock, database, service, shared: OnceCell::new() }
    }

    /// What work on stores needs; opened when the first store is free to be taken.
    pub(super) async fn shared(&self) -> Result<&Shared, Problem> {
        let open = || Shared::open(&self.configuration, "doctor", Arc::new(Silent), CancellationToken::new());
        self.shared.get_or_try_init(open).await
    }

    pub(super) fn store(&self) -> Option<&Store> {
        match self.database.get()? {
            Database::Open(store) => Some(store),
            Database::NotYet => None,
        }
    }

    /// What the service says, where it runs.
    pub(super) fn status(&self) -> Option<&Value> {
        self.service.get()
    }

    pub(super) async fn end(&self) {
        let shared = self.shared.get().map(|shared| &shared.store);
        for store in self.store().into_iter().chain(shared) {
            store.close().await;
        }
    }
}

impl<'f> StoreFacts<'f> {
    pub(super) fn new(all: &'f Facts, config: &'f StoreConfig) -> Self {
        Self { all, config, reached: OnceLock::new(), access: OnceLock::new(), token: OnceLock::new() }
    }

    /// Connections as the store's environment allows them.
    pub(super) fn http(&self) -> Result<Http, espelho_api_client::Error> {
        Http::new(self.config.environment == Environment::Sandbox, TIMEOUT)
    }

    /// The store's file.
    pub(super) fn file(&self) -> String {
        let name = format!("{}.toml", self.config.key);
        self.all.directory.join("stores").join(name).display().to_string()
    }

    /// What the service says of this store.
    pub(super) fn status(&self) -> Option<&Value> {
        let stores = self.all.status()?["stores"].as_array()?;
        stores.iter().find(|store| store["store"] == self.config.key.as_str())
    }

    pub(super) async fn end(self) {
        if let Some(access) = self.access.into_inner() {
            access.end(&*self.all.clock).await;
        }
    }
}
