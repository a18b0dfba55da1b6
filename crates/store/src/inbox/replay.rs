//! Finds kept deliveries, and opens handled ones again: the store's task then handles them as if they had just arrived.
//!
//! A delivery keeps its row, so nothing takes it for a duplicate. Handling it again doubles nothing: its entity is read
//! anew, and event-only data counts by the time of the delivery.

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, time::serialize_fixed_width};
use serde::Serialize;

use crate::{
    Error,
    driver::Row,
    inbox::{Inbox, watch::CHANNEL},
};

pub(crate) const MATCHING: &str = "SELECT id, store, received_at, event, handled_at FROM webhook_inbox \
    WHERE store = $1 AND id > $2 AND received_at >= $3 AND (event = $4 OR $4 = '') AND (id = $5 OR $5 < 0) \
    AND (substr(digest, 1, 32) = $6 OR $6 = '') ORDER BY id LIMIT 1000";
pub(crate) const REPLAY: &str =
    "UPDATE webhook_inbox SET handled_at = NULL WHERE handled_at IS NOT NULL AND id";

/// The digits of a digest that name a delivery, as in `sync_failures`.
const DIGEST_DIGITS: usize = 32;

/// The name of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryName {
    /// Its number in the inbox.
    Id(i64),
    /// The first 32 digits of its body's digest; equal bodies share them.
    Digest(String),
}

impl DeliveryName {
    /// Reads a number, or a digest of at least 32 hexadecimal digits; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digest = text.len() >= DIGEST_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match is_digest {
            true => Some(Self::Digest(text[..DIGEST_DIGITS].to_ascii_lowercase())),
            false => text.parse().ok().filter(|id| *id > 0).map(Self::Id),
        }
    }
}

/// A selection of deliveries; the default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliverySelection {
    /// Only those of this name.
    pub name: Option<DeliveryName>,
    /// Only those that arrived then or later.
    pub since: Option<DateTime<Utc>>,
    /// Only those of this event.
    pub event: Option<String>,
}

/// A kept delivery without its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryRow {
    /// Its number in the inbox.
    pub id: i64,
    /// Its store.
    pub store: String,
    /// When it arrived.
    #[serde(serialize_with = "serialize_fixed_width")]
    pub received_at: DateTime<Utc>,
    /// The event's name, if the body has one.
    pub event: Option<String>,
    /// When it was handled; `None` while it waits.
    #[serde(serialize_with = "serialize_fixed_width")]
    pub handled_at: Option<DateTime<Utc>>,
}

impl Inbox<'_> {
    /// Up to 1,000 kept deliveries of a store with ids above `after`, in the order of their ids.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn deliveries(
        self,
        store: &StoreKey,
        selection: &DeliverySelection,
        after: i64,
    ) -> Result<Vec<DeliveryRow>, Error> {
        let (id, digest) = match &selection.name {
            Some(DeliveryName::Id(id)) => (*id, ""),
            Some(DeliveryName::Digest(digest)) => (-1, digest.as_str()),
            None => (-1, ""),
        };
        let values = vec![
            store.as_str().into(),
            after.into(),
            selection.since.unwrap_or(DateTime::UNIX_EPOCH).into(),
            selection.event.as_deref().unwrap_or_default().into(),
            id.into(),
            digest.into(),
        ];
        let rows = self.inbox.fetch("find deliveries", MATCHING, values).await?;
        rows.iter().map(delivery_row).collect()
    }

    /// Opens handled deliveries of a store again, all or none; returns their number. Those that are open stay so.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn replay(self, store: &StoreKey, ids: Vec<i64>) -> Result<u64, Error> {
        let mut tx = self.inbox.begin().await?;
        let opened = tx.execute_in("replay deliveries", REPLAY, &[], ids).await?;
        tx.commit().await?;
        self.notifications.note(CHANNEL, [store.clone()]);
        if let Err(error) = self.notifications.send(self.inbox).await {
            tracing::debug!(%error, "cannot notify the service; it finds the deliveries by itself");
        }
        Ok(opened)
    }
}

pub(crate) fn delivery_row(row: &Row) -> Result<DeliveryRow, Error> {
    Ok(DeliveryRow {
        id: row.int("id")?,
        store: row.text("store")?,
        received_at: row.time("received_at")?,
        event: row.optional_text("event")?,
        handled_at: row.optional_time("handled_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_named_by_its_number_or_its_digest() {
        let digest = "0123456789abcdef0123456789ABCDEF";
        let named = || Some(DeliveryName::Digest(digest.to_ascii_lowercase()));
        for (text, expected) in [
            ("7", Some(DeliveryName::Id(7))),
            ("9223372036854775807", Some(DeliveryName::Id(i64::MAX))),
            (digest, named()),
            (&format!("{digest}{digest}"), named()),
            ("00000000000000000000000000000001", Some(DeliveryName::Digest(format!("{:0>32}", 1)))),
            ("0", None),
            ("-1", None),
            ("9223372036854775808", None),
            ("order.paid", None),
            ("", None),
        ] {
            assert_eq!(DeliveryName::parse(text), expected, "{text:?}");
        }
    }
}
