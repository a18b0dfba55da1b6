//! Writes a page: rows and checkpoint, in one transaction.

use std::collections::{BTreeMap, HashMap, HashSet};

use espelho_api_client::{Error as ApiError, ListedRow};
use espelho_model::{
    sync::{Counts, Resource},
    text,
    text::{Locale, Text},
};
use espelho_store::{Error as StoreError, Failure, Known, Op, PageTx};

use super::{
    PassOptions, Pull, RowWrite,
    read::{Asked, Details, Page, ReadPage},
};
use crate::{
    Error, StoreContext,
    report::{failure, with_causes},
};

/// The details of a page, sorted by what happens to them.
struct Sorted<T> {
    /// New or changed.
    writes: Vec<RowWrite<T>>,
    /// The listing row changed, the detail did not.
    relisted: Vec<ListedRow>,
    /// Could not be read.
    failures: Vec<Failure>,
    /// Failed in an earlier run, readable now.
    mended: Vec<String>,
}

/// Writes the pages of a pass.
pub(super) struct Writer<'c> {
    context: &'c StoreContext,
    options: PassOptions,
    pub(super) earlier_failures: HashSet<String>,
    /// The last page that was written, or tried.
    pub(super) step: u64,
    pub(super) counts: Counts,
    pub(super) remarks: BTreeMap<Text, u64>,
}

/// Why a page was not written, or is the last.
pub(super) enum Unwritten {
    /// The database refuses the content of a row. Then the walk ends for the other reason, if there is one.
    Refused(Box<(Page, StoreError, Option<Error>)>),
    /// The walk ends.
    Ended(Error),
}

impl<'c> Writer<'c> {
    pub(super) fn new(context: &'c StoreContext, options: PassOptions) -> Self {
        Self {
            context,
            options,
            earlier_failures: HashSet::new(),
            step: 0,
            counts: Counts::default(),
            remarks: BTreeMap::new(),
        }
    }

    /// Writes a page with its checkpoint.
    pub(super) async fn write<P: Pull>(&mut self, read: ReadPage<'_, P::Detail>) -> Result<(), Unwritten> {
        // The memory is free again when the page is written or dropped, whatever the next page waits for.
        let ReadPage { page, mut details, hopeless, permit: _permit } = read;
        if self.options.dry_run {
            self.counts.add(page.kept.counts);
            return Ok(());
        }
        self.step = page.kept.step;
        let ended = details.ended.take();
        if ended.is_some() {
            details.unasked.clear();
        }
        let sorted = self.sort(details, &page.known);
        let written = self.write_sorted::<P>(&page, sorted, ended.is_none(), false).await;
        match (written, ended) {
            (Err(error), None) if error.concerns_a_row() => {
                Err(Unwritten::Refused(Box::new((page, error, hopeless))))
            }
            (Err(error), None) => Err(Unwritten::Ended(error.into())),
            (Ok(()), None) => hopeless.map_or(Ok(()), |hopeless| Err(Unwritten::Ended(hopeless))),
            (_, Some(ended)) => Err(Unwritten::Ended(ended)),
        }
    }

    /// Writes a page row by row, so that only a row which the database refuses fails.
    pub(super) async fn write_row_by_row<P: Pull>(
        &mut self,
        page: &Page,
        details: Details<P::Detail>,
    ) -> Result<(), Error> {
        let sorted = self.sort(details, &page.known);
        self.write_sorted::<P>(page, sorted, true, true).await.map_err(Error::from)
    }

    fn sort<T>(&mut self, details: Details<T>, known: &HashMap<String, Known>) -> Sorted<T> {
        let mut sorted =
            Sorted { writes: Vec::new(), relisted: Vec::new(), failures: Vec::new(), mended: Vec::new() };
        let locale = self.context.locale;
        sorted.failures.extend(details.unasked.into_iter().map(|row| unasked(row.key, locale)));
        for Asked { row, answer } in details.asked {
            let fetched = match answer {
                Ok(fetched) => fetched,
                Err(error) => {
                    sorted.failures.push(unread(row.key, &error, locale));
                    continue;
                }
            };
            fetched.remarks.into_iter().for_each(|remark| *self.remarks.entry(remark).or_default() += 1);
            if self.earlier_failures.contains(&row.key) {
                sorted.mended.push(row.key.clone());
            }
            match known.get(&row.key) {
                Some(k) if k.content_hash == fetched.content_hash && !k.gone => sorted.relisted.push(row),
                known => sorted.writes.push(RowWrite {
                    key: row.key,
                    detail: fetched.detail,
                    listing_hash: row.hash,
                    content_hash: fetched.content_hash,
                    op: if known.is_some() { Op::Update } else { Op::Insert },
                }),
            }
        }
        sorted
    }

    /// Writes a sorted page; `whole` makes it a checkpoint.
    async fn write_sorted<P: Pull>(
        &mut self,
        Page { kept, known, .. }: &Page,
        mut sorted: Sorted<P::Detail>,
        whole: bool,
        row_by_row: bool,
    ) -> Result<(), StoreError> {
        let mut kept = kept.clone();
        let _writing = self.context.writing.lock().await;
        self.drop_concurrently_written::<P>(&mut sorted, known).await?;
        let Sorted { writes, relisted, mut failures, mut mended } = sorted;
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        kept.counts.changed = writes.len() as u64;
        let keys: Vec<String> = writes.iter().map(|write| write.key.clone()).collect();
        if row_by_row {
            let refused = self.write_rows::<P>(&mut tx, writes).await?;
            kept.counts.changed -= refused.len() as u64;
            mended.retain(|key| refused.iter().all(|failure| failure.key != *key));
            failures.extend(refused);
        } else {
            P::write(&mut tx, writes).await?;
        }
        kept.counts.failed = failures.len() as u64;
        for row in relisted {
            tx.mirror().relist(P::RESOURCE, &row.key, row.hash).await?;
        }
        tx.staleness().forget_missing(P::RESOURCE, known.keys().cloned().collect()).await?;
        tx.failures().note_failures(P::RESOURCE, &failures).await?;
        tx.failures().clear_failures(P::RESOURCE, mended).await?;
        if whole {
            tx.passes().keep_page(P::RESOURCE, &kept).await?;
        }
        tx.commit().await?;
        if P::RESOURCE == Resource::Products {
            keys.iter().for_each(|key| self.context.note_product(known.get(key)));
        }
        match whole {
            true => self.counts.add(kept.counts),
            // The page is no checkpoint, but its rows are mirrored.
            false => self.counts.changed += kept.counts.changed,
        }
        Ok(())
    }

    /// Leaves out rows that another task has written since the lookup: that task may have read them later. Their
    /// listing still differs, so the next pass reads them.
    async fn drop_concurrently_written<P: Pull>(
        &self,
        sorted: &mut Sorted<P::Detail>,
        known: &HashMap<String, Known>,
    ) -> Result<(), StoreError> {
        if !self.options.beside_live {
            return Ok(());
        }
        let keys = sorted.writes.iter().map(|write| &write.key);
        let keys = keys.chain(sorted.relisted.iter().map(|row| &row.key)).cloned().collect();
        let now = self.context.store.mirror().known(&self.context.key, P::RESOURCE, keys).await?;
        let is_as_it_was = |key: &String| {
            let content = |of: &HashMap<String, Known>| of.get(key).map(|k| (k.content_hash, k.gone));
            content(known) == content(&now)
        };
        sorted.writes.retain(|write| is_as_it_was(&write.key));
        sorted.relisted.retain(|row| is_as_it_was(&row.key));
        Ok(())
    }

    /// Writes rows one after the other; returns those that the database refused.
    async fn write_rows<P: Pull>(
        &self,
        tx: &mut PageTx<'_>,
        writes: Vec<RowWrite<P::Detail>>,
    ) -> Result<Vec<Failure>, StoreError> {
        let mut refused = Vec::new();
        for write in writes {
            let key = write.key.clone();
            tx.mark().await?;
            match P::write(tx, vec![write]).await {
                Ok(()) => (),
                Err(error) if error.concerns_a_row() => {
                    tx.undo_to_mark().await?;
                    refused.push(unwritten(key, &error, self.context.locale));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(refused)
    }
}

fn unread(key: String, error: &ApiError, locale: Locale) -> Failure {
    failure(key, error.code(), error.text(), locale)
}

fn unasked(key: String, locale: Locale) -> Failure {
    failure(key, "not_asked".into(), text!("run-not-asked"), locale)
}

fn unwritten(key: String, error: &StoreError, locale: Locale) -> Failure {
    let text = text!("database-unwritable", cause = with_causes(error));
    failure(key, "unwritable".into(), text, locale)
}
