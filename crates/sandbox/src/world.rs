//! Everything that a running sandbox holds.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use parking_lot::RwLock;

use crate::{
    agenda::Agenda,
    auth::{Attempts, Credential, State, Token, Tokens},
    campaigns::Campaigns,
    clock::Clock,
    error::Error,
    faults::Faults,
    journal::Journal,
    olist,
    options::Options,
    price_lists::PriceLists,
    seed,
    stats::Counters,
    storage::Storage,
    store::Store,
    webhooks::Webhooks,
};

/// The marketplace.
pub(crate) struct World {
    pub(crate) options: Options,
    pub(crate) clock: Clock,
    pub(crate) stores: Vec<Store>,
    pub(crate) tokens: Tokens,
    pub(crate) attempts: Attempts,
    pub(crate) faults: Faults,
    pub(crate) counters: Counters,
    pub(crate) agenda: Agenda<Self>,
    pub(crate) storage: Storage,
    pub(crate) webhooks: Webhooks,
    pub(crate) campaigns: Campaigns,
    pub(crate) price_lists: PriceLists,
    pub(crate) journal: Journal,
    /// The address of the API, once the listener is bound.
    pub(crate) address: OnceLock<SocketAddr>,
    by_key: HashMap<String, usize>,
    /// Position of the store, and of the credential in it.
    by_username: RwLock<HashMap<String, (usize, usize)>>,
}

impl World {
    /// Generates or loads the stores. `routes` are the names that statistics count requests by.
    pub(crate) fn build(options: Options, routes: Vec<String>) -> Result<Self, Error> {
        let clock = Clock::new(options.now.clone());
        let stores = match &options.olist {
            Some(source) => olist::stores(source, options.seed)?,
            None => seed::stores(&options, clock.seconds()),
        };
        let by_key = stores.iter().enumerate().map(|(at, store)| (store.key.clone(), at)).collect();
        let username = |store: &Store| store.credential().username.clone();
        let by_username: HashMap<_, _> =
            stores.iter().enumerate().map(|(at, store)| (username(store), (at, 0))).collect();
        Ok(Self {
            campaigns: Campaigns::seeded(options.seed, clock.seconds()),
            price_lists: PriceLists::default(),
            journal: Journal::default(),
            address: OnceLock::new(),
            clock,
            tokens: Tokens::new(options.seed),
            attempts: Attempts::default(),
            faults: Faults::seeded(options.seed),
            counters: Counters::new(routes),
            agenda: Agenda::default(),
            storage: Storage::new(options.seed),
            webhooks: Webhooks::new(options.seed),
            by_key,
            by_username: RwLock::new(by_username),
            stores,
            options,
        })
    }

    pub(crate) fn store(&self, key: &str) -> Option<&Store> {
        self.by_key.get(key).map(|at| &self.stores[*at])
    }

    /// Position of a store, by its name in the control.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        self.by_key.get(key).copied()
    }

    /// Positions of the store and of the credential with this username.
    pub(crate) fn credential_of_username(&self, username: &str) -> Option<(usize, usize)> {
        self.by_username.read().get(username).copied()
    }

    /// Registers the username of a credential (positions of store and credential).
    pub(crate) fn register_username(&self, username: String, store: usize, credential: usize) {
        let mut names = self.by_username.write();
        names.insert(username, (store, credential));
    }

    /// The token of a request: well-formed, known, not expired, its credential not switched off.
    pub(crate) fn authenticate(&self, header: Option<&str>) -> Option<Arc<Token>> {
        let token = self.tokens.of_header(header?)?;
        let store = &self.stores[token.store];
        let is_live = self.clock.seconds() < token.expires_at;
        let is_off = |credential: &Credential| credential.state == State::Inactive;
        (is_live && !store.credentials().get(token.credential).is_none_or(is_off)).then_some(token)
    }

    /// Whether the credential of a token has an ability.
    pub(crate) fn may(&self, token: &Token, ability: &str) -> bool {
        let credentials = self.stores[token.store].credentials();
        credentials.get(token.credential).is_some_and(|credential| credential.may(ability))
    }

    /// Schedules a job `seconds` from now.
    pub(crate) fn run_after(&self, seconds: i64, job: impl FnOnce(&Arc<World>) + Send + 'static) {
        self.agenda.at(self.clock.millis() + seconds * 1000, job);
    }

    /// Runs every job that is due, in order.
    pub(crate) fn run_due_jobs(self: &Arc<Self>) {
        while let Some(job) = self.agenda.take_due(self.clock.millis()) {
            job(self);
        }
    }
}
