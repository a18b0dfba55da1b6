//! Rows that the marketplace answered with 404, until it shows them again or they count as gone.

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, sync::Resource};

use crate::{
    Error,
    driver::{Insert, Row, Value},
    mirror::{Mirror, StalenessWriter},
};

pub(crate) const LOAD: &str =
    "SELECT since, confirmations, last_at FROM missing WHERE store = $1 AND resource = $2 AND key = $3";
pub(crate) const DUE: &str = "SELECT key FROM missing WHERE store = $1 AND resource = $2 AND last_at <= $3 \
    ORDER BY last_at, key LIMIT $4";
pub(crate) const AMONG: &str = "SELECT key FROM missing WHERE store = $1 AND resource = $2 AND key";
pub(crate) const COUNT: &str = "SELECT count(*) FROM missing WHERE store = $1 AND resource = $2";
pub(crate) const FORGET: &str = "DELETE FROM missing WHERE store = $1 AND resource = $2 AND key";
pub(crate) const NOTE: Insert = Insert {
    operation: "note a missing row",
    head: "INSERT INTO missing (store, resource, key, since, confirmations, last_at)",
    columns: 6,
    tail: "ON CONFLICT (store, resource, key) DO UPDATE SET since = excluded.since, \
           confirmations = excluded.confirmations, last_at = excluded.last_at",
};

/// The record of a mirrored row that the marketplace answers with 404.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// When the first 404 came.
    pub since: DateTime<Utc>,
    /// The number of 404s that count, including the first.
    pub confirmations: u32,
    /// When the last of them came.
    pub last_at: DateTime<Utc>,
}

impl Mirror<'_> {
    /// The record of a missing row.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn missing(
        self,
        store: &StoreKey,
        resource: Resource,
        key: &str,
    ) -> Result<Option<Missing>, Error> {
        let values = vec![store.as_str().into(), resource.as_str().into(), key.into()];
        let rows = self.database.fetch("read a missing row", LOAD, values).await?;
        let missing = |row: &Row| {
            let confirmations = u32::try_from(row.int("confirmations")?).unwrap_or(u32::MAX);
            Ok(Missing { since: row.time("since")?, confirmations, last_at: row.time("last_at")? })
        };
        rows.first().map(missing).transpose()
    }

    /// The number of missing rows.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn missing_count(self, store: &StoreKey, resource: Resource) -> Result<u64, Error> {
        let values = vec![store.as_str().into(), resource.as_str().into()];
        let rows = self.database.fetch("count missing rows", COUNT, values).await?;
        rows.first().map_or(Ok(0), |row| Ok(row.int(0)?.unsigned_abs()))
    }

    /// Up to `limit` missing rows whose last counted 404 came no later than `until`, the longest wait first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn missing_until(
        self,
        store: &StoreKey,
        resource: Resource,
        until: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<String>, Error> {
        let values: Vec<Value> =
            vec![store.as_str().into(), resource.as_str().into(), until.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read missing rows", DUE, values).await?;
        rows.iter().map(|row| row.text("key")).collect()
    }

    /// The missing rows among some keys.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn missing_among(
        self,
        store: &StoreKey,
        resource: Resource,
        keys: Vec<String>,
    ) -> Result<Vec<String>, Error> {
        let first = [store.as_str().into(), resource.as_str().into()];
        let rows = self.database.fetch_in("look up missing rows", AMONG, &first, keys).await?;
        rows.iter().map(|row| row.text("key")).collect()
    }
}

impl StalenessWriter<'_, '_> {
    /// Records a missing row.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_missing(
        &mut self,
        resource: Resource,
        key: &str,
        missing: Missing,
    ) -> Result<(), Error> {
        let Missing { since, confirmations, last_at } = missing;
        let store = self.page.store_key().as_str().to_owned();
        let values: Vec<Value> = vec![
            store.as_str().into(),
            resource.as_str().into(),
            key.into(),
            since.into(),
            i64::from(confirmations).into(),
            last_at.into(),
        ];
        self.page.tx.insert(&NOTE, values).await.map(drop)
    }

    /// Clears the record of missing rows: the marketplace shows them again, or they count as gone.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_missing(&mut self, resource: Resource, keys: Vec<String>) -> Result<(), Error> {
        let first = [self.page.store_key().as_str().into(), resource.as_str().into()];
        self.page.tx.execute_in("forget missing rows", FORGET, &first, keys).await.map(drop)
    }
}
