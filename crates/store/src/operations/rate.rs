//! The spent request budget of a store, in blocks.

use chrono::{DateTime, Utc};
use espelho_model::StoreKey;

use crate::{
    Error,
    driver::{Insert, Value},
    mirror::rows::last_of_each,
    operations::Tokens,
};

pub(crate) const LOAD: &str =
    "SELECT block, requests, free_at FROM rate_blocks WHERE store = $1 ORDER BY block";
pub(crate) const FORGET: &str = "DELETE FROM rate_blocks WHERE store = $1 AND free_at < $2";
pub(crate) const KEEP: Insert = Insert {
    operation: "keep the request budget",
    head: "INSERT INTO rate_blocks (store, block, requests, free_at)",
    columns: 4,
    tail: "ON CONFLICT (store, block) DO UPDATE SET requests = excluded.requests, free_at = excluded.free_at",
};

/// A block of requests that were or may have been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateBlock {
    /// Identifies the block within the store.
    pub block: i64,
    /// How many requests.
    pub requests: i64,
    /// When they stop counting; `None` while the block is in use.
    pub free_at: Option<DateTime<Utc>>,
}

impl Tokens<'_> {
    /// The recorded blocks.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn rate_blocks(self, store: &StoreKey) -> Result<Vec<RateBlock>, Error> {
        let rows = self.database.fetch("read the request budget", LOAD, vec![store.as_str().into()]).await?;
        rows.iter()
            .map(|row| {
                Ok(RateBlock {
                    block: row.int("block")?,
                    requests: row.int("requests")?,
                    free_at: row.optional_time("free_at")?,
                })
            })
            .collect()
    }

    /// Writes blocks and deletes those that were free before `now`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_rate_blocks(
        self,
        store: &StoreKey,
        blocks: &[RateBlock],
        now: DateTime<Utc>,
    ) -> Result<(), Error> {
        let mut tx = self.database.begin().await?;
        tx.execute(KEEP.operation, FORGET, vec![store.as_str().into(), now.into()]).await?;
        let blocks = last_of_each(blocks.to_vec(), |block| block.block);
        let values = blocks.into_iter().flat_map(|b| -> [Value; 4] {
            [store.as_str().into(), b.block.into(), b.requests.into(), b.free_at.into()]
        });
        tx.insert(&KEEP, values.collect()).await?;
        tx.commit().await
    }
}
