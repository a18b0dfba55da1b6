//! The operations that orders and products share: count, live keys, known rows, rows that are gone.

use std::collections::HashMap;

use espelho_model::{ContentHash, StoreKey, sync::Resource};

use super::rows::ResourceStatements;
use crate::{
    Error, Known, Op,
    driver::Value,
    mirror::{Mirror, MirrorWriter},
};

pub(crate) fn mirror_of(resource: Resource) -> &'static ResourceStatements {
    match resource {
        Resource::Orders => &super::orders::MIRROR,
        Resource::Products => &super::products::MIRROR,
    }
}

impl Mirror<'_> {
    /// The number of mirrored rows of a resource, including gone ones.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn count(self, store: &StoreKey, resource: Resource) -> Result<u64, Error> {
        let rows =
            self.database.fetch("count rows", mirror_of(resource).count, vec![store.as_str().into()]).await?;
        let count = rows.first().map_or(Ok(0), |row| row.int(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Up to 1,000 keys after `after`, in order, of rows that are not gone. This bounds the memory for a store of
    /// any size.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn live_keys(
        self,
        store: &StoreKey,
        resource: Resource,
        after: &str,
    ) -> Result<Vec<String>, Error> {
        let values = vec![store.as_str().into(), after.into()];
        let rows = self.database.fetch("read keys", mirror_of(resource).live, values).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// The mirrored state of these rows, without rows that are not mirrored.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn known(
        self,
        store: &StoreKey,
        resource: Resource,
        keys: Vec<String>,
    ) -> Result<HashMap<String, Known>, Error> {
        let first = [store.as_str().into()];
        let rows = self.database.fetch_in("look up rows", mirror_of(resource).known, &first, keys).await?;
        let known = |row: &crate::driver::Row| {
            let [listing_hash, content_hash] = [row.int(1)?, row.int(2)?].map(ContentHash::from_i64);
            let content_hash = match resource {
                Resource::Orders => self.privacy.marked(content_hash),
                Resource::Products => content_hash,
            };
            Ok((row.text(0)?, Known { listing_hash, content_hash, gone: row.truth(3)? }))
        };
        rows.iter().map(known).collect()
    }
}

impl MirrorWriter<'_, '_> {
    /// Records another listing row for an unchanged detail.
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
            vec![self.page.store_key().as_str().into(), listing_hash.as_i64().into(), key.into()];
        self.page.tx.execute("note a listing", mirror_of(resource).relist, values).await.map(drop)
    }

    /// Marks rows as gone, with their lines, tiers and levels, and appends that to the change feed. Writing a row
    /// again clears these marks.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn mark_gone(&mut self, resource: Resource, keys: Vec<String>) -> Result<u64, Error> {
        let (store, at, mirror) = (self.page.store_key().clone(), self.page.at(), mirror_of(resource));
        let changes = keys.iter().map(|key| (key.as_str(), Op::Gone));
        self.page.announce(mirror.entity, changes);
        if resource == Resource::Products {
            self.leave_skus(keys.iter().map(|key| (key.clone(), None)).collect()).await?;
        }
        let first = [store.as_str().into(), at.into()];
        for parts in mirror.dependents_gone {
            self.page.tx.execute_in("mark parts of rows as gone", parts, &first, keys.clone()).await?;
        }
        self.page.staleness().forget_missing(resource, keys.clone()).await?;
        self.page.tx.execute_in("mark rows as gone", mirror.gone, &first, keys).await
    }
}
