//! What the aggregates' files share: looking up what is known, finding and marking what is gone.

use std::collections::HashMap;

use espelho_model::{ContentHash, StoreKey, sync::Resource};

use crate::{Error, Known, Op, PageTx, Store, driver::Value};

/// The statements of a mirrored resource; its key column differs, the rest is the same everywhere.
pub(crate) struct Mirror {
    /// The name in `changes.entity`.
    pub(crate) entity: &'static str,
    /// `SELECT key, listing_hash, content_hash, gone … WHERE store = $1 AND key`
    pub(crate) known: &'static str,
    /// `SELECT count(*) … WHERE store = $1`
    pub(crate) count: &'static str,
    /// `SELECT key … WHERE store = $1 AND key > $2 AND gone_at IS NULL ORDER BY key LIMIT 1000`
    pub(crate) live: &'static str,
    /// `UPDATE … SET gone_at = $2 WHERE store = $1 AND gone_at IS NULL AND key`
    pub(crate) gone: &'static str,
    /// The same for the rows that hang on it, by their parent's key.
    pub(crate) subresources_gone: &'static [&'static str],
    /// `UPDATE … SET listing_hash = $2 WHERE store = $1 AND key = $3`
    pub(crate) relist: &'static str,
}

pub(crate) fn mirror_of(resource: Resource) -> &'static Mirror {
    match resource {
        Resource::Orders => &crate::orders::MIRROR,
        Resource::Products => &crate::products::MIRROR,
    }
}

impl Store {
    /// How many rows of a resource the mirror holds, gone ones included.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn count(&self, store: &StoreKey, resource: Resource) -> Result<u64, Error> {
        let rows =
            self.database.fetch("count rows", mirror_of(resource).count, vec![store.as_str().into()]).await?;
        let count = rows.first().map_or(Ok(0), |row| row.int(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Up to 1,000 keys after `after`, in order, of rows that are not gone. Memory stays bounded however
    /// large the store is.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn live_keys(
        &self,
        store: &StoreKey,
        resource: Resource,
        after: &str,
    ) -> Result<Vec<String>, Error> {
        let values = vec![store.as_str().into(), after.into()];
        let rows = self.database.fetch("read keys", mirror_of(resource).live, values).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// What the mirror knows about these rows; rows it does not have are absent.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn known(
        &self,
        store: &StoreKey,
        resource: Resource,
        keys: Vec<String>,
    ) -> Result<HashMap<String, Known>, Error> {
        let first = [store.as_str().into()];
        let rows = self.database.fetch_in("look up rows", mirror_of(resource).known, &first, keys).await?;
        let known = |row: &crate::driver::Row| {
            let [listing_hash, content_hash] = [row.int(1)?, row.int(2)?].map(ContentHash::from_i64);
            Ok((row.text(0)?, Known { listing_hash, content_hash, gone: row.truth(3)? }))
        };
        rows.iter().map(known).collect()
    }
}

impl PageTx<'_> {
    /// Notes that a row is listed differently though its detail is the same.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn relist(
        &mut self,
        resource: Resource,
        key: &str,
        listing_hash: ContentHash,
    ) -> Result<(), Error> {
        let values: Vec<Value> =
            vec![self.store_key().as_str().into(), listing_hash.as_i64().into(), key.into()];
        self.tx.execute("note a listing", mirror_of(resource).relist, values).await.map(drop)
    }

    /// Marks rows as gone, with the lines, tiers and levels that hang on them, and says so in the change feed.
    /// A row that comes back takes its parts' marks off as it is written.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mark_gone(&mut self, resource: Resource, keys: Vec<String>) -> Result<u64, Error> {
        let (store, at, mirror) = (self.store_key().clone(), self.at(), mirror_of(resource));
        let changes = keys.iter().map(|key| (key.as_str(), Op::Gone));
        self.announce(mirror.entity, changes);
        let first = [store.as_str().into(), at.into()];
        for parts in mirror.subresources_gone {
            self.tx.execute_in("mark parts of rows as gone", parts, &first, keys.clone()).await?;
        }
        self.forget_missing(resource, keys.clone()).await?;
        self.tx.execute_in("mark rows as gone", mirror.gone, &first, keys).await
    }
}

/// PostgreSQL refuses a statement that touches a row twice, so of rows with one key the last is kept.
pub(crate) fn last_of_each<T, K: std::hash::Hash + Eq>(rows: Vec<T>, key_of: impl Fn(&T) -> K) -> Vec<T> {
    let last: HashMap<K, usize> = rows.iter().enumerate().map(|(at, row)| (key_of(row), at)).collect();
    if last.len() == rows.len() {
        return rows;
    }
    rows.into_iter().enumerate().filter(|(at, row)| last[&key_of(row)] == *at).map(|(_, row)| row).collect()
}
