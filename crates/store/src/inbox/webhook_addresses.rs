//! The address that our last login registered for a store's webhook (API document, "Authentication" 10).
//!
//! A credential has one webhook, and a login with another address moves it in place. No answer of the API shows that
//! address, so two installations with one credential would silently move it back and forth. We keep the address that
//! we registered, and move it only on the operator's word.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{Error, inbox::Inbox};

pub(crate) const LOAD: &str =
    "SELECT url, registered_at FROM webhook_addresses WHERE store = $1 AND username = $2 AND base_url = $3";
pub(crate) const SAVE: &str = "INSERT INTO webhook_addresses (store, username, base_url, url, registered_at) VALUES \
    ($1, $2, $3, $4, $5) \
    ON CONFLICT (store, username, base_url) DO UPDATE SET url = excluded.url, registered_at = CASE \
    WHEN webhook_addresses.url = excluded.url AND webhook_addresses.registered_at <= excluded.registered_at \
    THEN webhook_addresses.registered_at ELSE excluded.registered_at END";
pub(crate) const FORGET: &str = "DELETE FROM webhook_addresses WHERE store = $1";

/// The owner of a webhook.
#[derive(Clone, Copy, Debug)]
pub struct WebhookOwner<'o> {
    /// The store.
    pub store: &'o StoreKey,
    /// The credential.
    pub username: &'o str,
    /// The marketplace.
    pub base_url: &'o str,
}

/// The address of a credential's webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookAddress {
    /// The address.
    pub url: String,
    /// Since when logins register this address without a change.
    pub since: DateTime<Utc>,
}

impl Inbox<'_> {
    /// The address that our last login registered for a credential's webhook; `None` without such a login.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn webhook_address(self, owner: WebhookOwner<'_>) -> Result<Option<WebhookAddress>, Error> {
        let values = vec![owner.store.as_str().into(), owner.username.into(), owner.base_url.into()];
        let rows = self.inbox.fetch("read the webhook's address", LOAD, values).await?;
        rows.first()
            .map(|row| Ok(WebhookAddress { url: row.text("url")?, since: row.time("registered_at")? }))
            .transpose()
    }

    /// Refuses an address other than the registered one.
    ///
    /// # Errors
    /// [`Error::WebhookElsewhere`].
    pub async fn refuse_to_move_webhook(self, owner: WebhookOwner<'_>, url: &str) -> Result<(), Error> {
        match self.webhook_address(owner).await? {
            Some(registered) if registered.url != url => Err(Error::WebhookElsewhere {
                store: owner.store.clone(),
                registered: registered.url,
                configured: url.into(),
            }),
            _ => Ok(()),
        }
    }

    /// Records the address that a login registered for a credential's webhook.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_webhook_address(self, owner: WebhookOwner<'_>, url: &str) -> Result<(), Error> {
        let [store, username, base_url] = [owner.store.as_str(), owner.username, owner.base_url];
        let values =
            vec![store.into(), username.into(), base_url.into(), url.into(), self.clock.now().into()];
        self.inbox.execute("keep the webhook's address", SAVE, values).await.map(drop)
    }

    /// Allows the next login to register another address; returns whether one was recorded.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn let_webhook_move(self, store: &StoreKey) -> Result<bool, Error> {
        let values = vec![store.as_str().into()];
        Ok(self.inbox.execute("forget the webhook's address", FORGET, values).await? > 0)
    }
}
