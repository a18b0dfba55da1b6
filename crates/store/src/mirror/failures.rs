//! Rows that the mirror could not take, with cause and next step, until it can.

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::Resource, text::Text};
use serde::{Deserialize, Serialize};

use crate::{
    Error,
    driver::{Insert, Value},
    mirror::{FailureWriter, Mirror, rows::last_of_each},
};

pub(crate) const LOAD: &str = "SELECT key, code, error, hint FROM sync_failures WHERE store = $1 AND resource = $2 \
    ORDER BY key";
pub(crate) const CLEAR: &str = "DELETE FROM sync_failures WHERE store = $1 AND resource = $2 AND key";
pub(crate) const FAILED_AT: &str =
    "SELECT key, at FROM sync_failures WHERE store = $1 AND resource = $2 AND key";
/// Malformed deliveries: what was set aside is on record for longer, until a person decides.
pub(crate) const PRUNE: &str = "DELETE FROM sync_failures WHERE resource = 'webhooks' AND at < $1 \
    AND code NOT IN ('poisoned', 'panicked')";
pub(crate) const KEEP: Insert = Insert {
    operation: "note a failed row",
    head: "INSERT INTO sync_failures (store, resource, key, code, error, hint, said, at)",
    columns: 8,
    tail: "ON CONFLICT (store, resource, key) DO UPDATE SET code = excluded.code, error = excluded.error, \
           hint = excluded.hint, said = excluded.said, at = excluded.at",
};

/// A row that the mirror could not take.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Failure {
    /// The row's identifier.
    pub key: String,
    /// A short stable code.
    pub code: String,
    /// The cause, for people.
    pub error: String,
    /// The next step.
    pub hint: String,
    /// The catalogue's message behind both, for other languages; reports leave it out.
    #[serde(skip)]
    pub message: Option<Text>,
}

impl Mirror<'_> {
    /// The failed rows of a resource, with their causes.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn failures(self, store: &StoreKey, resource: Resource) -> Result<Vec<Failure>, Error> {
        let values = vec![store.as_str().into(), resource.as_str().into()];
        let rows = self.database.fetch("read the failed rows", LOAD, values).await?;
        rows.iter()
            .map(|row| {
                Ok(Failure {
                    key: row.text("key")?,
                    code: row.text("code")?,
                    error: row.text("error")?,
                    hint: row.text("hint")?,
                    message: None,
                })
            })
            .collect()
    }

    /// Returns which of these rows of a resource failed, and when they did last.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn failed_at(
        self,
        store: &StoreKey,
        resource: Resource,
        keys: Vec<String>,
    ) -> Result<Vec<(String, DateTime<Utc>)>, Error> {
        let first = [store.as_str().into(), resource.as_str().into()];
        let rows = self.database.fetch_in("read when rows failed", FAILED_AT, &first, keys).await?;
        rows.iter().map(|row| Ok((row.text("key")?, row.time("at")?))).collect()
    }

    /// Deletes what is known of deliveries that were malformed before `before`, of all stores: their bodies are deleted
    /// then, and nobody can look at them any more.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prune_malformed_deliveries(self, before: DateTime<Utc>) -> Result<u64, Error> {
        self.database.execute("prune the malformed deliveries", PRUNE, vec![before.into()]).await
    }
}

impl FailureWriter<'_, '_> {
    /// Records failed rows.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_failures(&mut self, resource: Resource, failures: &[Failure]) -> Result<(), Error> {
        self.note_all(resource.as_str(), failures).await
    }

    /// Records malformed deliveries; their keys are the fingerprints of their bodies.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_malformed_deliveries(&mut self, failures: &[Failure]) -> Result<(), Error> {
        self.note_all("webhooks", failures).await
    }

    /// Records labels whose download failed, by their ids.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_label_failures(&mut self, failures: &[Failure]) -> Result<(), Error> {
        self.note_all("shipment_label", failures).await
    }

    /// Records campaigns that could not be read to their end, by their ids.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_campaign_failures(&mut self, failures: &[Failure]) -> Result<(), Error> {
        self.note_all("campaign", failures).await
    }

    /// Clears the failures of campaigns that were read, or that are not read any more.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn clear_campaign_failures(&mut self, campaigns: Vec<String>) -> Result<(), Error> {
        let first = [self.page.store_key().as_str().into(), "campaign".into()];
        self.page.tx.execute_in("clear failed campaigns", CLEAR, &first, campaigns).await.map(drop)
    }

    async fn note_all(&mut self, resource: &'static str, failures: &[Failure]) -> Result<(), Error> {
        let (store, at) = (self.page.store_key().as_str().to_owned(), self.page.at());
        let failures = last_of_each(failures.iter().collect(), |failure| failure.key.clone());
        let values = failures.into_iter().flat_map(|f| -> [Value; 8] {
            let [key, code, error, hint] =
                [&f.key, &f.code, &f.error, &f.hint].map(|text| text.as_str().into());
            let message = f.message.as_ref().and_then(|message| serde_json::to_string(message).ok());
            [store.as_str().into(), resource.into(), key, code, error, hint, message.into(), at.into()]
        });
        let values = values.collect();
        self.page.tx.insert(&KEEP, values).await.map(drop)
    }

    /// Clears the failures of rows that are mirrored now.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn clear_failures(&mut self, resource: Resource, keys: Vec<String>) -> Result<(), Error> {
        let first = [self.page.store_key().as_str().into(), resource.as_str().into()];
        self.page.tx.execute_in("clear failed rows", CLEAR, &first, keys).await.map(drop)
    }
}
