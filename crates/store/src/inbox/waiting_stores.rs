//! Which stores have open deliveries: one look at the inbox serves all stores of the process.

use std::{collections::HashSet, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;
use tokio::sync::Mutex;

use crate::{Error, inbox::Inbox};

/// A loose index scan over the index on open deliveries: one look-up for each store, however many of its rows are open.
pub(crate) const OLDEST_BY_STORE: &str = "WITH RECURSIVE waiting (store) AS (\
    SELECT min(store) FROM webhook_inbox WHERE handled_at IS NULL UNION ALL \
    SELECT (SELECT min(i.store) FROM webhook_inbox i WHERE i.handled_at IS NULL AND i.store > waiting.store) \
    FROM waiting WHERE waiting.store IS NOT NULL) \
    SELECT w.store, (SELECT i.received_at FROM webhook_inbox i WHERE i.store = w.store AND i.handled_at IS NULL \
    ORDER BY i.id LIMIT 1) AS received_at FROM waiting w WHERE w.store IS NOT NULL";

/// The last look at all stores.
#[derive(Default)]
pub(crate) struct WaitingStores(Mutex<Option<Look>>);

struct Look {
    /// When it began (monotonic).
    at: Duration,
    stores: HashSet<String>,
}

impl Inbox<'_> {
    /// When the oldest unhandled delivery arrived, by the key of each store that has one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn oldest_by_store(self) -> Result<Vec<(String, DateTime<Utc>)>, Error> {
        let rows = self.inbox.fetch("read the inbox's age", OLDEST_BY_STORE, Vec::new()).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.time(1)?))).collect()
    }

    /// Whether a store has unhandled deliveries, by a look at the inbox that is at most `age` old. Thousands of stores ask
    /// every few seconds, and few of them have any.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_waiting(self, store: &StoreKey, age: Duration) -> Result<bool, Error> {
        let mut last = self.waiting.0.lock().await;
        let now = self.clock.monotonic();
        if last.as_ref().is_none_or(|look| now.saturating_sub(look.at) > age) {
            let stores = self.oldest_by_store().await?.into_iter().map(|(store, _)| store).collect();
            *last = Some(Look { at: now, stores });
        }
        Ok(last.as_ref().is_some_and(|look| look.stores.contains(store.as_str())))
    }
}
