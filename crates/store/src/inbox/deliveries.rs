//! The inbox of the webhook receiver: an acknowledged delivery is on disk until its store's task has handled it.
//!
//! On SQLite the inbox is a second file whose commits wait for the disk; on PostgreSQL it is in the same database.

use std::{collections::BTreeSet, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    person::{DeliverySubject, Person},
};

use crate::{
    Error, Prunable,
    driver::{Insert, Row, Tx, Value},
    inbox::{Inbox, watch::CHANNEL},
    mirror::{erased::ErasedSubjects, protected},
};

/// An acknowledgement waits no longer for the mirror's file.
const MIRROR_ANSWERS_WITHIN: Duration = Duration::from_secs(1);
/// Rows that one statement of [`Inbox::prune_inbox`] deletes, so that no acknowledgement waits long behind it.
const PRUNED_AT_ONCE: u64 = 1_000;
pub(crate) const UNHANDLED: &str = "SELECT id, received_at, event, digest, body FROM webhook_inbox \
    WHERE store = $1 AND handled_at IS NULL AND id > $2 ORDER BY id LIMIT $3";
pub(crate) const LAST: &str = "SELECT CAST(COALESCE(max(id), 0) AS BIGINT) FROM webhook_inbox";
pub(crate) const OF_EVENT: &str = "SELECT id, received_at, event, digest, body FROM webhook_inbox \
    WHERE store = $1 AND id > $2 AND event = $3 ORDER BY id LIMIT $4";
pub(crate) const HANDLED: &str = "UPDATE webhook_inbox SET handled_at = $1 WHERE handled_at IS NULL AND id";
pub(crate) const BACKLOG: &str = "SELECT count(*) FROM webhook_inbox WHERE store = $1 AND handled_at IS NULL";
pub(crate) const PRUNE: &str = "DELETE FROM webhook_inbox WHERE id IN \
    (SELECT id FROM webhook_inbox WHERE handled_at < $1 ORDER BY handled_at LIMIT 1000)";
pub(crate) const PRUNABLE: &str = "SELECT count(*), CAST(COALESCE(sum(octet_length(body)), 0) AS BIGINT) \
    FROM webhook_inbox WHERE handled_at < $1";
pub(crate) const KEEP: Insert = Insert {
    operation: "keep deliveries",
    head: "INSERT INTO webhook_inbox (store, received_at, event, digest, body)",
    columns: 5,
    tail: "",
};

/// A delivery with a valid signature (API document, "Delivery").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// The store that it was addressed to.
    pub store: StoreKey,
    /// When it arrived.
    pub received_at: DateTime<Utc>,
    /// The event's name, if the body has one that fits the column.
    pub event: Option<String>,
    /// SHA-256 of the body, in hex.
    pub digest: String,
    /// The body as it was signed.
    pub body: Vec<u8>,
}

/// A delivery in the inbox: a row of `webhook_inbox`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDelivery {
    /// Its number in the inbox.
    pub id: i64,
    /// When it arrived.
    pub received_at: DateTime<Utc>,
    /// The event's name, if the body has one that fits the column.
    pub event: Option<String>,
    /// SHA-256 of the body, in hex.
    pub digest: String,
    /// The body as it was signed.
    pub body: Vec<u8>,
}

impl Inbox<'_> {
    /// Stores deliveries in the inbox, all or none; they are durable when this returns.
    ///
    /// # Errors
    /// When the database does not answer, or its disk is full.
    pub async fn keep_deliveries(self, deliveries: Vec<NewDelivery>) -> Result<(), Error> {
        let mut tx = self.inbox.begin().await?;
        let deliveries = self.without_people(&mut tx, deliveries).await?;
        let mut values: Vec<Value> = Vec::with_capacity(deliveries.len() * KEEP.columns);
        let stores: BTreeSet<StoreKey> = deliveries.iter().map(|delivery| delivery.store.clone()).collect();
        for NewDelivery { store, received_at, event, digest, body } in deliveries {
            let body = protected::delivery(self.privacy, event.as_deref(), body);
            values.extend([
                store.as_str().into(),
                received_at.into(),
                event.into(),
                digest.into(),
                body.into(),
            ]);
        }
        tx.insert(&KEEP, values).await?;
        let kept = tx.commit().await;
        // Their owner may be another process. After an error too: they may be durable nevertheless.
        self.notifications.note(CHANNEL, stores);
        kept
    }

    /// Takes the person out of deliveries about orders whose person was erased. On SQLite the mirror is another file:
    /// one that does not answer soon must not keep a delivery out.
    async fn without_people(
        self,
        tx: &mut Tx,
        mut deliveries: Vec<NewDelivery>,
    ) -> Result<Vec<NewDelivery>, Error> {
        if let Tx::Postgres(_) = tx {
            self.redact(tx, &mut deliveries).await?;
            return Ok(deliveries);
        }
        let looked = tokio::time::timeout(MIRROR_ANSWERS_WITHIN, self.redact(tx, &mut deliveries)).await;
        let looked = match looked {
            Ok(looked) => looked.err().map(|error| error.to_string()),
            Err(_) => Some("the mirror does not answer".to_owned()),
        };
        if let Some(error) = looked {
            tracing::warn!(error, "deliveries are kept without a look at who was erased");
        }
        Ok(deliveries)
    }

    async fn redact(self, tx: &mut Tx, deliveries: &mut [NewDelivery]) -> Result<(), Error> {
        if !ErasedSubjects::is_any(self.database, tx).await? {
            return Ok(());
        }
        let stores: BTreeSet<StoreKey> = deliveries.iter().map(|delivery| delivery.store.clone()).collect();
        for store in stores {
            let of_store = deliveries.iter_mut().filter(|delivery| delivery.store == store);
            let with_subject = of_store.map(|delivery| (DeliverySubject::of(&delivery.body), delivery));
            let addressed: Vec<(DeliverySubject, &mut NewDelivery)> = with_subject.collect();
            let orders = addressed.iter().filter_map(|(subject, _)| subject.order.clone()).collect();
            let conversations =
                addressed.iter().filter_map(|(subject, _)| subject.conversation.clone()).collect();
            let erased = ErasedSubjects::among(self.database, tx, &store, orders, conversations).await?;
            for (_, delivery) in addressed.into_iter().filter(|(subject, _)| erased.has(subject)) {
                let body = String::from_utf8_lossy(&delivery.body);
                delivery.body = Person::of(&body).redact("", &body).into_bytes();
            }
        }
        Ok(())
    }

    /// Up to `limit` unhandled deliveries of a store with ids above `after`, in the order of their ids.
    ///
    /// `after` pages through the inbox within one reading. It is no bookmark: PostgreSQL may commit a lower id after
    /// a higher one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn unhandled(
        self,
        store: &StoreKey,
        after: i64,
        limit: i64,
    ) -> Result<Vec<StoredDelivery>, Error> {
        let values = vec![store.as_str().into(), after.into(), limit.into()];
        let rows = self.inbox.fetch("read the inbox", UNHANDLED, values).await?;
        rows.iter().map(delivery).collect()
    }

    /// The number of the last delivery, of whichever store; 0 without one. It marks a moment for [`Inbox::deliveries_of`].
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn last_delivery(self) -> Result<i64, Error> {
        let rows = self.inbox.fetch("read the last delivery", LAST, Vec::new()).await?;
        rows.first().map_or(Ok(0), |row| row.int(0))
    }

    /// Up to `limit` deliveries of one event to a store with ids above `after`, handled or not, in the order of their ids.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn deliveries_of(
        self,
        store: &StoreKey,
        event: &str,
        after: i64,
        limit: i64,
    ) -> Result<Vec<StoredDelivery>, Error> {
        let values = vec![store.as_str().into(), after.into(), event.into(), limit.into()];
        let rows = self.inbox.fetch("read deliveries of an event", OF_EVENT, values).await?;
        rows.iter().map(delivery).collect()
    }

    /// Marks deliveries as handled; returns how many were not before. Those already marked keep their time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mark_handled(self, ids: Vec<i64>) -> Result<u64, Error> {
        let mut tx = self.inbox.begin().await?;
        let first = [self.clock.now().into()];
        let marked = tx.execute_in("mark deliveries as handled", HANDLED, &first, ids).await?;
        tx.commit().await?;
        Ok(marked)
    }

    /// The number of unhandled deliveries of a store.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn backlog(self, store: &StoreKey) -> Result<u64, Error> {
        let rows = self.inbox.fetch("count the inbox", BACKLOG, vec![store.as_str().into()]).await?;
        let count = rows.first().map_or(Ok(0), |row| row.int(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// The deliveries that [`Inbox::prune_inbox`] would delete, with the bytes of their bodies.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn prunable_deliveries(self, before: DateTime<Utc>) -> Result<Prunable, Error> {
        Prunable::of(&self.inbox.fetch("count old deliveries", PRUNABLE, vec![before.into()]).await?)
    }

    /// Deletes deliveries that were handled before `before`; returns their number. Unhandled deliveries stay,
    /// however old.
    ///
    /// # Errors
    /// When the database does not answer; the batches deleted until then stay deleted.
    pub async fn prune_inbox(self, before: DateTime<Utc>) -> Result<u64, Error> {
        let mut pruned = 0;
        loop {
            let deleted = self.inbox.execute("prune the inbox", PRUNE, vec![before.into()]).await?;
            pruned += deleted;
            if deleted < PRUNED_AT_ONCE {
                return Ok(pruned);
            }
        }
    }
}

fn delivery(row: &Row) -> Result<StoredDelivery, Error> {
    Ok(StoredDelivery {
        id: row.int("id")?,
        received_at: row.time("received_at")?,
        event: row.optional_text("event")?,
        digest: row.text("digest")?,
        body: row.bytes("body")?,
    })
}
