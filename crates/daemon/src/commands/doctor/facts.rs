//! The facts for the checks, and their observations so far: each check fills in what later checks use.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use espelho_api_client::{Http, Reachability};
use espelho_model::{Clock, StoreKey, clock::SystemClock, text, text::Language};
use espelho_store::Store;
use espelho_sync_engine::{Examination, Problem, Question, Silent, TokenProof};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::{
    access::{Access, Silence},
    finding::{Finding, SkipReason},
};
use crate::{
    config::{ConfigError, Configuration, Environment, StoreConfig},
    context::Shared,
};

/// The time limit of one exchange; every check has less.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Facts about the installation.
pub(super) struct Facts {
    /// Without the stores whose files have a mistake.
    pub configuration: Configuration,
    pub mistakes: Mistakes,
    /// Where the configuration was read from.
    pub directory: PathBuf,
    /// Whether to prove the passwords.
    pub login: bool,
    /// The store whose webhook a login registers.
    pub registers: Option<StoreKey>,
    /// The language of the output.
    pub language: Language,
    pub clock: Arc<dyn Clock>,
    pub database: OnceLock<Database>,
    /// Filled while another program keeps the database from writing.
    pub busy: OnceLock<()>,
    /// The service's answer at `/status`; another version may have another shape.
    pub service: OnceLock<Value>,
    shared: OnceCell<Shared>,
}

/// The mistakes of the configuration.
#[derive(Default)]
pub(super) struct Mistakes {
    pub found: Vec<ConfigError>,
    /// The stores that are not examined for them.
    pub left_out: Vec<StoreKey>,
}

impl Mistakes {
    pub(super) fn are_any(&self) -> bool {
        !self.found.is_empty()
    }

    /// Returns those that the service has too. What only another user may read is none, if that user is the service's.
    pub(super) fn own(&self) -> impl Iterator<Item = &ConfigError> {
        self.found.iter().filter(|mistake| !mistake.is_of_another_user())
    }
}

/// The database.
pub(super) enum Database {
    Open(Store),
    /// Nobody has created it yet, so no token is on record.
    NotYet,
    /// This user may not open it; for the service's user that is not known.
    Denied,
}

/// Facts about one store.
pub(super) struct StoreFacts<'f> {
    pub all: &'f Facts,
    pub config: &'f StoreConfig,
    /// The answer of the public route, if there was one.
    pub reached: OnceLock<Reachability>,
    /// The access to the marketplace with the store's token.
    pub access: OnceLock<Access>,
    pub token: OnceLock<TokenProof>,
}

impl Facts {
    pub(super) fn new(
        (configuration, mistakes): (Configuration, Mistakes),
        directory: PathBuf,
        login: bool,
        language: Language,
    ) -> Self {
        let (clock, database, service) = (SystemClock::shared(), OnceLock::new(), OnceLock::new());
        let (shared, registers) = (OnceCell::new(), None);
        Self {
            configuration,
            mistakes,
            directory,
            login,
            registers,
            language,
            clock,
            database,
            busy: OnceLock::new(),
            service,
            shared,
        }
    }

    /// Lets a login of this store register its webhook.
    pub(super) fn registering(self, store: Option<&StoreKey>) -> Self {
        Self { registers: store.cloned(), ..self }
    }

    /// Returns what work on stores needs; opens it when the first store is free.
    pub(super) async fn shared(&self) -> Result<&Shared, Problem> {
        let open = || Shared::open(&self.configuration, "doctor", Arc::new(Silent), CancellationToken::new());
        self.shared.get_or_try_init(open).await
    }

    pub(super) fn store(&self) -> Option<&Store> {
        match self.database.get()? {
            Database::Open(store) => Some(store),
            Database::NotYet | Database::Denied => None,
        }
    }

    /// Returns the database, or the finding of a check that has nothing to look at without it.
    pub(super) fn opened(&self) -> Result<&Store, Finding> {
        match (self.store(), self.database.get()) {
            (Some(store), _) => Ok(store),
            (None, Some(Database::NotYet)) => Err(Finding::absent(text!("doctor-database-none"))),
            (None, _) => Err(Finding::skipped(self.no_database())),
        }
    }

    /// Returns why no database is open here, though there may be one.
    pub(super) fn no_database(&self) -> SkipReason {
        match self.is_denied() {
            true => SkipReason::AnotherUser,
            false => SkipReason::NoDatabase,
        }
    }

    /// Returns why a check took too long, if that is known.
    pub(super) fn delay(&self) -> Option<SkipReason> {
        self.busy.get().map(|()| SkipReason::Busy)
    }

    /// Tells if this user may not open the database, and the service's user may.
    pub(super) fn is_denied(&self) -> bool {
        matches!(self.database.get(), Some(Database::Denied))
    }

    /// Returns the service's status, if the service runs.
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

    /// Returns connections as the store's environment allows them.
    pub(super) fn http(&self) -> Result<Http, espelho_api_client::Error> {
        Http::new(self.config.environment == Environment::Sandbox, TIMEOUT)
    }

    /// Returns the path of the store's file.
    pub(super) fn file(&self) -> String {
        let name = format!("{}.toml", self.config.key);
        self.all.directory.join("stores").join(name).display().to_string()
    }

    /// Returns what the service's status says about this store.
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

impl StoreFacts<'_> {
    /// Asks the store's owner, unless an earlier finding shows that asking is useless.
    pub(super) async fn ask(&self, question: Question) -> Result<Examination, Silence> {
        let Some(access) = self.access.get() else {
            return Err(Silence::NotAsked(self.no_access()));
        };
        if matches!(access, Access::Withheld(_)) {
            return Err(Silence::NotAsked(self.no_token()));
        }
        if self.reached.get().is_none() {
            return Err(Silence::NotAsked(SkipReason::NotReached));
        }
        let answer = access.ask(question, &self.config.page_parameter, &self.all.clock).await;
        answer.ok_or(Silence::NoAnswer)
    }

    /// Asks a question that needs a working token.
    pub(super) async fn ask_with_token(&self, question: Question) -> Result<Examination, Silence> {
        match self.token.get() {
            Some(_) => self.ask(question).await,
            None => Err(Silence::NotAsked(self.no_token())),
        }
    }

    /// Returns why there is no proved token.
    pub(super) fn no_token(&self) -> SkipReason {
        match self.access.get() {
            Some(Access::Withheld(reason)) => *reason,
            Some(_) => SkipReason::NoToken,
            None => match self.no_access() {
                SkipReason::NoAccess => SkipReason::NoToken,
                reason => reason,
            },
        }
    }

    /// Returns why doctor has no access to the marketplace for the store.
    fn no_access(&self) -> SkipReason {
        match self.all.database.get() {
            Some(Database::Denied) | None => self.all.no_database(),
            Some(Database::Open(_) | Database::NotYet) => SkipReason::NoAccess,
        }
    }
}
