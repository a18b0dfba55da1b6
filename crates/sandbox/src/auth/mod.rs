//! Credentials, tokens and the login ("Authentication" of the document).

mod attempts;
pub(crate) mod control;
mod credentials;
pub(crate) mod login;
mod token;

use std::sync::Arc;

pub(crate) use self::{
    attempts::Attempts,
    credentials::{Credentials, First},
    token::{Token, Tokens},
};

/// The token issue.
pub(crate) const LOGIN: &str = "/api/integration/auth";

/// A credential of a store.
pub(crate) struct Credential {
    pub(crate) username: String,
    pub(crate) password: String,
    pub(crate) state: State,
    /// The abilities of its tokens.
    pub(crate) abilities: Vec<String>,
    /// The one token that is active.
    pub(crate) token: Option<Arc<Token>>,
}

/// The state of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It logs in.
    Active,
    /// Switched off in the portal: neither the login nor its token works.
    Inactive,
    /// Deleted in the portal: no login, while the current token lives on until it expires.
    Revoked,
}

impl Credential {
    /// An active credential with every ability that an integration token can have.
    pub(crate) fn new(username: String, password: String) -> Self {
        let abilities = ["store_products_read", "store_products_write"].map(String::from).to_vec();
        Self { username, password, state: State::Active, abilities, token: None }
    }

    /// Whether its tokens may do this.
    pub(crate) fn may(&self, ability: &str) -> bool {
        self.abilities.iter().any(|held| held == ability)
    }
}
