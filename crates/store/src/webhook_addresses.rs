//! The address that a store's webhook was last given by a login of ours (API document, "Authentication" 10).
//!
//! A credential has one webhook, and a login with another address moves it in place. No answer tells where it points, so two
//! installations with one credential would move it to and fro in silence. What we have registered is kept, and only
//! another word of the operator's lets it move.

use espelho_model::StoreKey;

use crate::{Error, Store};

pub(crate) const LOAD: &str =
    "SELECT url FROM webhook_addresses WHERE store = $1 AND username = $2 AND base_url = $3";
pub(crate) const SAVE: &str = "INSERT INTO webhook_addresses (store, username, base_url, url, registered_at) VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (store, username, base_url) DO UPDATE SET url = excluded.url, registered_at = excluded.registered_at";
pub(crate) const FORGET: &str = "DELETE FROM webhook_addresses WHERE store = $1";

/// Whose webhook it is.
#[derive(Clone, Copy, Debug)]
pub struct WebhookOwner<'o> {
    /// The store.
    pub store: &'o StoreKey,
    /// The credential.
    pub username: &'o str,
    /// The marketplace.
    pub base_url: &'o str,
}

impl Store {
    /// The address that a credential's webhook was last given; `None` where no login of ours has.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn webhook_address(&self, owner: WebhookOwner<'_>) -> Result<Option<String>, Error> {
        let values = vec![owner.store.as_str().into(), owner.username.into(), owner.base_url.into()];
        let rows = self.inbox.fetch("read the webhook's address", LOAD, values).await?;
        rows.first().map(|row| row.text(0)).transpose()
    }

    /// Refuses an address other than the one that the webhook was last given.
    ///
    /// # Errors
    /// [`Error::WebhookElsewhere`].
    pub async fn refuse_to_move_webhook(&self, owner: WebhookOwner<'_>, url: &str) -> Result<(), Error> {
        match self.webhook_address(owner).await? {
            Some(registered) if registered != url => Err(Error::WebhookElsewhere {
                store: owner.store.clone(),
                registered,
                configured: url.into(),
            }),
            _ => Ok(()),
        }
    }

    /// Puts on record the address that a login has given to a credential's webhook.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_webhook_address(&self, owner: WebhookOwner<'_>, url: &str) -> Result<(), Error> {
        let [store, username, base_url] = [owner.store.as_str(), owner.username, owner.base_url];
        let values =
            vec![store.into(), username.into(), base_url.into(), url.into(), self.clock.now().into()];
        self.inbox.execute("keep the webhook's address", SAVE, values).await.map(drop)
    }

    /// Lets a store's webhook be given another address; whether it had one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn let_webhook_move(&self, store: &StoreKey) -> Result<bool, Error> {
        let values = vec![store.as_str().into()];
        Ok(self.inbox.execute("forget the webhook's address", FORGET, values).await? > 0)
    }
}
