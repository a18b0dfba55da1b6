//! The stores with unhandled deliveries: one look at the inbox serves all stores of the process.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, watch};
use tokio::sync::Mutex;

use crate::{Error, inbox::Inbox};

/// A loose index scan over the index on unhandled deliveries: two look-ups for each store, however many of its deliveries
/// are unhandled.
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
    /// The oldest delivery of each store that has one; `None` if the look failed.
    oldest: Option<BTreeMap<String, DateTime<Utc>>>,
}

impl Look {
    /// Says if the look answers a question that was asked at this time (monotonic), for which it may be `age` old. Those who
    /// stood in line for it have asked before it began, however long it took.
    fn answers(&self, asked: Duration, age: Duration) -> bool {
        asked.saturating_sub(self.at) <= age
    }
}

impl Inbox<'_> {
    /// When the oldest unhandled delivery arrived, by the key of each store that has one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn oldest_by_store(self) -> Result<BTreeMap<String, DateTime<Utc>>, Error> {
        let rows = self.inbox.fetch("read the inbox's age", OLDEST_BY_STORE, Vec::new()).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.time(1)?))).collect()
    }

    /// Says if a store has unhandled deliveries, by a look at the inbox that was at most `age` old when this was asked.
    /// Thousands of stores ask every few seconds, and few of them have any. The answer is true, too, if that look failed: each
    /// store then reads for itself, and says what is wrong.
    pub async fn has_unhandled(self, store: &StoreKey, age: Duration) -> bool {
        let asked = self.clock.monotonic();
        let in_line = watch::idle();
        let mut last = self.waiting.0.lock().await;
        drop(in_line);
        if last.as_ref().is_none_or(|look| !look.answers(asked, age)) {
            let at = self.clock.monotonic();
            let oldest = self.oldest_by_store().await;
            if let Err(error) = &oldest {
                tracing::debug!(%error, "cannot look at the inboxes of all stores");
            }
            *last = Some(Look { at, oldest: oldest.ok() });
        }
        let oldest = last.as_ref().and_then(|look| look.oldest.as_ref());
        oldest.is_none_or(|oldest| oldest.contains_key(store.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_answers_those_who_asked_before_it_and_soon_after() {
        let seconds = Duration::from_secs;
        for (asked, expected, why) in [
            (10, true, "as it began"),
            (0, true, "before it: whoever stood in line for it"),
            (12, true, "two seconds later"),
            (13, false, "three seconds later"),
        ] {
            let look = Look { at: seconds(10), oldest: None };
            assert_eq!(look.answers(seconds(asked), seconds(2)), expected, "{why}");
        }
    }
}
