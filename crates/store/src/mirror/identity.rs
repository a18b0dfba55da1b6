//! The environment that filled a database, so that sandbox rows never mix with production ones.

use espelho_model::StoreKey;

use crate::{Error, mirror::Mirror};

pub(crate) const STAMP: &str = "INSERT INTO stores (store, environment, base_url, first_seen_at) VALUES ($1, $2, $3, \
    $4) \
    ON CONFLICT (store) DO NOTHING";
pub(crate) const READ: &str = "SELECT environment, base_url FROM stores WHERE store = $1";
pub(crate) const MOVE: &str = "UPDATE stores SET base_url = $2 WHERE store = $1";

impl Mirror<'_> {
    /// Records a store's environment on first sight and compares it ever after.
    ///
    /// Follows a changed address within one environment (marketplaces move, sandboxes change ports). Refuses another
    /// environment.
    ///
    /// # Errors
    /// [`Error::OtherStore`] when another environment filled the database.
    pub async fn identify(self, store: &StoreKey, environment: &str, base_url: &str) -> Result<(), Error> {
        let key = store.as_str();
        let stamp = vec![key.into(), environment.into(), base_url.into(), self.clock.now().into()];
        self.database.execute("stamp the store", STAMP, stamp).await?;
        let rows = self.database.fetch("read the store's stamp", READ, vec![key.into()]).await?;
        let Some(row) = rows.first() else { return Ok(()) };
        let (kept, kept_url) = (row.text("environment")?, row.text("base_url")?);
        if kept != environment {
            return Err(Error::OtherStore {
                store: store.clone(),
                kept: format!("{kept} ({kept_url})"),
                configured: format!("{environment} ({base_url})"),
            });
        }
        if kept_url != base_url {
            tracing::warn!(store = key, from = kept_url, to = base_url, "the store's base_url has changed");
            self.database.execute("move the store", MOVE, vec![key.into(), base_url.into()]).await?;
        }
        Ok(())
    }
}
