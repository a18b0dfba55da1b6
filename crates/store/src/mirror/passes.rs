//! The checkpoint of a pass over a listing: its mirrored pages and their keys.

use chrono::{DateTime, Utc};
use espelho_model::{
    ContentHash, StoreKey,
    sync::{Counts, Resource},
};

use crate::{
    Error,
    driver::Value,
    mirror::{Mirror, PassWriter},
};

pub(crate) const LOAD: &str = "SELECT scope, started_at FROM sync_passes WHERE store = $1 AND resource = $2";
pub(crate) const BEGIN: &str = "INSERT INTO sync_passes (store, resource, scope, started_at) VALUES ($1, $2, $3, $4) \
    ON CONFLICT (store, resource) DO UPDATE SET scope = excluded.scope, started_at = excluded.started_at";
/// A few at a time: the keys of a million rows take 8 MB.
pub(crate) const PAGES: &str = "SELECT step, page, total, seen, changed, failed, keys, last FROM sync_pages WHERE \
    store = $1 AND resource = $2 AND step > $3 ORDER BY step LIMIT 200";
pub(crate) const KEEP: &str = "INSERT INTO sync_pages (store, resource, step, page, total, seen, changed, failed, \
    keys, last) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
pub(crate) const FORGET_PAGES: &str = "DELETE FROM sync_pages WHERE store = $1 AND resource = $2";
/// A few at a time: one statement for the pages of a million rows took 14 MiB of memory on SQLite.
pub(crate) const FORGET_SOME_PAGES: &str = "DELETE FROM sync_pages WHERE store = $1 AND resource = $2 \
    AND step < (SELECT min(step) + 200 FROM sync_pages WHERE store = $1 AND resource = $2)";
pub(crate) const END: &str = "DELETE FROM sync_passes WHERE store = $1 AND resource = $2";

/// A pass in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// How the pass reads the listing (order, page size, start time): only the same way can resume it.
    pub scope: String,
    /// When it began.
    pub started_at: DateTime<Utc>,
}

/// A mirrored page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPage {
    /// Its number within the pass, from 1. It is the key, because a pass may read a page number twice.
    pub step: u64,
    /// The page's number in the listing.
    pub page: u64,
    /// The row count of the whole listing, as the server reported it with this page.
    pub total: Option<u64>,
    /// Whether it was the last page.
    pub last: bool,
    /// Its counts.
    pub counts: Counts,
    /// Fingerprints of its keys, in the order of the listing.
    pub keys: Vec<ContentHash>,
}

impl Mirror<'_> {
    /// The pass in progress for a resource.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn pass(self, store: &StoreKey, resource: Resource) -> Result<Option<Pass>, Error> {
        let key = vec![store.as_str().into(), resource.as_str().into()];
        let passes = self.database.fetch("read the pass", LOAD, key).await?;
        let pass = |row: &crate::driver::Row| {
            Ok(Pass { scope: row.text("scope")?, started_at: row.time("started_at")? })
        };
        passes.first().map(pass).transpose()
    }

    /// The next mirrored pages of the pass in progress after the step `after`, in order; none after the last one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn pages_of_pass(
        self,
        store: &StoreKey,
        resource: Resource,
        after: u64,
    ) -> Result<Vec<KeptPage>, Error> {
        let values = vec![store.as_str().into(), resource.as_str().into(), stored(after).into()];
        let pages = self.database.fetch("read the pass's pages", PAGES, values).await?;
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        let kept = |row: &crate::driver::Row| {
            let [step, page, seen, changed, failed] = [
                row.int("step")?,
                row.int("page")?,
                row.int("seen")?,
                row.int("changed")?,
                row.int("failed")?,
            ]
            .map(count);
            let counts = Counts { seen, changed, gone: 0, failed };
            Ok(KeptPage {
                step,
                page,
                total: row.optional_int("total")?.map(count),
                counts,
                keys: unpack(&row.bytes("keys")?),
                last: row.truth("last")?,
            })
        };
        pages.iter().map(kept).collect()
    }
}

impl PassWriter<'_, '_> {
    /// Begins a pass and forgets the previous one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn begin_pass(&mut self, resource: Resource, scope: &str) -> Result<(), Error> {
        let of_previous = self.key(resource);
        self.page.tx.execute("forget the previous pass's pages", FORGET_PAGES, of_previous).await?;
        let values = vec![
            self.page.store_key().as_str().into(),
            resource.as_str().into(),
            scope.into(),
            self.page.at().into(),
        ];
        self.page.tx.execute("begin a pass", BEGIN, values).await.map(drop)
    }

    /// Records a page as mirrored: the checkpoint.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_page(&mut self, resource: Resource, page: &KeptPage) -> Result<(), Error> {
        let number = |n: u64| stored(n).into();
        let values = vec![
            self.page.store_key().as_str().into(),
            resource.as_str().into(),
            number(page.step),
            number(page.page),
            page.total.map(stored).into(),
            number(page.counts.seen),
            number(page.counts.changed),
            number(page.counts.failed),
            pack(&page.keys).into(),
            Some(page.last).into(),
        ];
        self.page.tx.execute("keep a page's checkpoint", KEEP, values).await.map(drop)
    }

    /// Ends a pass. Its pages stay until [`forget_pages`](Self::forget_pages) or the next pass deletes them; without the
    /// pass nobody resumes from them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end_pass(&mut self, resource: Resource) -> Result<(), Error> {
        let key = self.key(resource);
        self.page.tx.execute("end a pass", END, key).await.map(drop)
    }

    /// Deletes some pages of a pass that has ended; says whether there were any. For transactions of its own, until it
    /// finds none.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_pages(&mut self, resource: Resource) -> Result<bool, Error> {
        let key = self.key(resource);
        Ok(self.page.tx.execute("forget some pages of a pass", FORGET_SOME_PAGES, key).await? > 0)
    }

    fn key(&self, resource: Resource) -> Vec<Value> {
        vec![self.page.store_key().as_str().into(), resource.as_str().into()]
    }
}

fn stored(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn pack(keys: &[ContentHash]) -> Vec<u8> {
    keys.iter().flat_map(|key| key.as_i64().to_le_bytes()).collect()
}

fn unpack(bytes: &[u8]) -> Vec<ContentHash> {
    bytes.as_chunks::<8>().0.iter().map(|key| ContentHash::from_i64(i64::from_le_bytes(*key))).collect()
}
