//! Everything that a running sandbox holds.

use std::{collections::HashMap, sync::Arc};

use crate::{
    answer::Refusal,
    auth::{Attempts, State, Token, Tokens},
    clock::Clock,
    error::Error,
    faults::Faults,
    olist,
    options::Options,
    route::Access,
    seed,
    stats::Counters,
    store::Store,
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
    by_key: HashMap<String, usize>,
    by_username: HashMap<String, usize>,
}

impl World {
    /// Generates or loads the stores.
    pub(crate) fn build(options: Options) -> Result<Self, Error> {
        let stores = match &options.olist {
            Some(source) => olist::stores(source, options.seed)?,
            None => seed::stores(&options),
        };
        let by_key = stores.iter().enumerate().map(|(at, store)| (store.key.clone(), at)).collect();
        let username = |store: &Store| store.credential().username.clone();
        let by_username = stores.iter().enumerate().map(|(at, store)| (username(store), at)).collect();
        Ok(Self {
            clock: Clock::new(options.now.clone()),
            tokens: Tokens::new(options.seed),
            attempts: Attempts::default(),
            faults: Faults::default(),
            counters: Counters::default(),
            by_key,
            by_username,
            stores,
            options,
        })
    }

    pub(crate) fn store(&self, key: &str) -> Option<&Store> {
        self.by_key.get(key).map(|at| &self.stores[*at])
    }

    pub(crate) fn store_of_username(&self, username: &str) -> Option<(usize, &Store)> {
        self.by_username.get(username).map(|at| (*at, &self.stores[*at]))
    }

    /// The token of a request: well-formed, known, not expired, its credential not switched off.
    pub(crate) fn authenticate(&self, header: Option<&str>) -> Option<(Arc<Token>, &Store)> {
        let token = self.tokens.of_header(header?)?;
        let store = &self.stores[token.store];
        let is_live = self.clock.seconds() < token.expires_at;
        (is_live && store.credential().state != State::Inactive).then_some((token, store))
    }

    /// Refuses a token that lacks the ability of a route, where scopes are strict.
    pub(crate) fn authorize(&self, store: &Store, access: Access) -> Result<(), Refusal> {
        let Access::Ability(ability) = access else { return Ok(()) };
        let lacks = || !store.credential().abilities.iter().any(|held| held == ability);
        if self.options.strict_scopes && lacks() {
            return Err(Refusal::Abilities(vec![ability]));
        }
        Ok(())
    }
}
