//! Credentials, tokens and the login ("Authentication" of the document).

mod attempts;
mod login;
mod token;
mod webhook;

use std::sync::Arc;

use self::webhook::Webhook;
pub(crate) use self::{
    attempts::Attempts,
    login::login,
    token::{Token, Tokens},
};

/// The credential of a store.
pub(crate) struct Credential {
    pub(crate) username: String,
    pub(crate) password: String,
    pub(crate) state: State,
    /// What its tokens may do.
    pub(crate) abilities: Vec<String>,
    /// The one token that is active.
    pub(crate) token: Option<Arc<Token>>,
    /// The webhook that the login call created.
    webhook: Option<Webhook>,
}

/// What became of a credential.
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
        Self { username, password, state: State::Active, abilities, token: None, webhook: None }
    }

    /// Deletes the credential, and its webhook with it.
    pub(crate) fn revoke(&mut self) {
        self.state = State::Revoked;
        self.webhook = None;
    }
}
