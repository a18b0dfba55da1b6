//! Writes a page: rows and checkpoint, in one transaction.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use espelho_api_client::{Error as ApiError, HeldAnswers};
use espelho_model::{
    containment::contained,
    sync::{Counts, Resource},
    text,
    text::{Locale, Text},
};
use espelho_store::{Error as StoreError, Failure, KeptPage, Known, LeaseTx, Op};

use super::{
    PassOptions, Pull, RowWrite,
    page::{Asked, Details, Page, ReadPage, Unread},
};
use crate::{
    Error, Input, StoreContext,
    plan::{refresh::PassReading, refresh_request::ListedState, upsert::UNREAD},
    quarantine::Poison,
    report::{failure, with_causes},
};

/// The details of a page, sorted by what happens to them.
struct Sorted<T> {
    /// New or changed.
    writes: Vec<RowWrite<T>>,
    /// The detail has not changed; its listing row may have.
    unchanged: Vec<RowWrite<T>>,
    /// Mirrored rows whose details are older than their listing rows: they stay as they are, and are read again.
    behind: Vec<String>,
    /// Could not be read.
    failures: Vec<Failure>,
    /// Failed in an earlier run, readable now.
    mended: Vec<String>,
    /// The details' share of the memory budget.
    held: Vec<HeldAnswers>,
    /// Remarks on the details. They count once the rows are written.
    remarks: Vec<Text>,
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
    /// The database refuses the content of a row, or our own code panicked on one. Then the walk ends for the other
    /// reason, if there is one.
    Refused(Box<Refused>),
    /// The walk ends.
    Ended(Error),
}

/// A page that is to be written row by row.
pub(super) struct Refused {
    pub(super) page: Arc<Page>,
    /// The refusal, or the place of the panic.
    pub(super) error: String,
    /// Why no further page is read, if too many rows failed.
    pub(super) aborted: Option<Error>,
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
    pub(super) async fn write<P: Pull>(&mut self, read: ReadPage<'c, P::Detail>) -> Result<(), Unwritten> {
        // The memory is free again when the page is written or refused, whatever the next page waits for.
        let ReadPage { page, mut details, aborted, permit: _permit, reading: _reading } = read;
        if self.options.dry_run {
            self.counts.add(page.kept.counts);
            return Ok(());
        }
        self.step = page.kept.step;
        let ended = details.ended.take();
        if ended.is_some() {
            details.unasked.clear();
        }
        let sorted = self.sort::<P>(details, &page.known);
        let written = self.write_sorted::<P>(&page, sorted, ended.is_none(), false).await;
        match (written, ended) {
            (Err(error), None) if error.concerns_a_row() => {
                let error = with_causes(&error);
                Err(Unwritten::Refused(Box::new(Refused { page, error, aborted })))
            }
            (Err(error), ended) => {
                self.count_pieces(&page);
                Err(Unwritten::Ended(ended.unwrap_or_else(|| error.into())))
            }
            (Ok(()), None) => aborted.map_or(Ok(()), |aborted| Err(Unwritten::Ended(aborted))),
            (Ok(()), Some(ended)) => Err(Unwritten::Ended(ended)),
        }
    }

    /// Counts what is mirrored of a page that is not written: its pieces.
    pub(super) fn count_pieces(&mut self, page: &Page) {
        self.counts.changed += page.kept.counts.changed;
    }

    /// Writes a page row by row, so that only a row which the database refuses fails.
    pub(super) async fn write_row_by_row<P: Pull>(
        &mut self,
        page: &Page,
        details: Details<P::Detail>,
    ) -> Result<(), Error> {
        let sorted = self.sort::<P>(details, &page.known);
        self.write_sorted::<P>(page, sorted, true, true).await.map_err(Error::from)
    }

    /// Writes the rows that were read so far, without a checkpoint, and releases their memory. An error ends the page.
    pub(super) async fn write_piece<P: Pull>(
        &mut self,
        details: &mut Details<P::Detail>,
        known: &HashMap<String, Known>,
    ) {
        let asked = std::mem::take(&mut details.asked);
        let keys: Vec<String> = asked.iter().map(|asked| asked.row.key.clone()).collect();
        let mut sorted = self.sort::<P>(Details { asked, ..Details::default() }, known);
        let remarks = std::mem::take(&mut sorted.remarks);
        match self.write_rows_of::<P>(known, sorted, true, None).await {
            Ok(counts) => {
                self.note_remarks(remarks);
                details.pieces.add(counts);
                details.written.extend(keys);
            }
            Err(error) => drop(details.ended.get_or_insert(error.into())),
        }
    }

    fn sort<P: Pull>(
        &self,
        details: Details<P::Detail>,
        known: &HashMap<String, Known>,
    ) -> Sorted<P::Detail> {
        let mut sorted = Sorted::default();
        let (now, naive_offset) = (self.context.clock.now(), self.context.client.naive_offset());
        let locale = self.context.locale;
        sorted.failures.extend(details.unasked.into_iter().map(|row| unasked(row.key, locale)));
        for Asked { row, answer } in details.asked {
            let fetched = match answer {
                Ok(fetched) => fetched,
                Err(Unread::Api(error)) => {
                    sorted.failures.push(unread(row.key, &error, locale));
                    continue;
                }
                Err(Unread::SetAside(poison)) => {
                    let (input, store) = (Input::of_resource(P::RESOURCE), self.context.key.as_str());
                    sorted.failures.push(poison.failure(input, &row.key, store, locale));
                    continue;
                }
            };
            sorted.held.push(fetched.held);
            sorted.remarks.extend(fetched.remarks);
            if self.earlier_failures.contains(&row.key) {
                sorted.mended.push(row.key.clone());
            }
            let known = known.get(&row.key);
            let is_same = known.is_some_and(|k| k.content_hash == fetched.content_hash && !k.gone);
            let reading = P::reading(&fetched.detail, &ListedState::of(&row, naive_offset), now);
            if reading == PassReading::Older && known.is_some_and(|known| !known.gone) {
                sorted.behind.push(row.key);
                continue;
            }
            let rows = if is_same { &mut sorted.unchanged } else { &mut sorted.writes };
            rows.push(RowWrite {
                key: row.key,
                detail: fetched.detail,
                listing_hash: if reading == PassReading::OfRow { row.hash } else { UNREAD },
                content_hash: fetched.content_hash,
                op: if known.is_some() { Op::Update } else { Op::Insert },
            });
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
        let remarks = std::mem::take(&mut sorted.remarks);
        let counts = self.write_rows_of::<P>(known, sorted, row_by_row, whole.then_some(kept)).await?;
        self.note_remarks(remarks);
        match whole {
            true => {
                self.counts.add(kept.counts);
                self.counts.add(counts);
            }
            // The page is no checkpoint, but its rows are mirrored.
            false => self.counts.changed += kept.counts.changed + counts.changed,
        }
        Ok(())
    }

    fn note_remarks(&mut self, remarks: Vec<Text>) {
        remarks.into_iter().for_each(|remark| *self.remarks.entry(remark).or_default() += 1);
    }

    /// Writes rows in one transaction, with the checkpoint of their page if they are its last; returns what became of
    /// them.
    async fn write_rows_of<P: Pull>(
        &self,
        known: &HashMap<String, Known>,
        mut sorted: Sorted<P::Detail>,
        row_by_row: bool,
        checkpoint: Option<&KeptPage>,
    ) -> Result<Counts, StoreError> {
        let _writing = self.context.writing.lock().await;
        self.drop_concurrently_written::<P>(&mut sorted, known).await?;
        let Sorted { mut writes, mut unchanged, behind, mut failures, mut mended, held, remarks: _ } = sorted;
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        if self.options.deep {
            let edited = P::edited(&mut tx, &unchanged).await?;
            P::distrust(&mut tx, edited.iter().cloned().collect()).await?;
            let rows = unchanged.into_iter().partition(|row| edited.contains(&row.key));
            let edited: Vec<_>;
            (edited, unchanged) = rows;
            writes.extend(edited);
        }
        let mut counts = Counts { changed: writes.len() as u64, ..Counts::default() };
        let keys: Vec<String> = writes.iter().map(|write| write.key.clone()).collect();
        // Before the writes: one of them may ask for another reading of such a row.
        for row in unchanged {
            tx.mirror().relist(P::RESOURCE, &row.key, row.listing_hash).await?;
        }
        for key in behind {
            tx.mirror().relist(P::RESOURCE, &key, UNREAD).await?;
        }
        if row_by_row {
            let refused = self.write_rows::<P>(&mut tx, writes).await?;
            counts.changed -= refused.len() as u64;
            mended.retain(|key| refused.iter().all(|failure| failure.key != *key));
            failures.extend(refused);
        } else {
            P::write(&mut tx, writes).await?;
        }
        counts.failed = failures.len() as u64;
        tx.staleness().forget_missing(P::RESOURCE, known.keys().cloned().collect()).await?;
        tx.failures().note_failures(P::RESOURCE, &failures).await?;
        tx.failures().clear_failures(P::RESOURCE, mended).await?;
        if let Some(page) = checkpoint {
            let mut kept = page.clone();
            kept.counts.add(counts);
            tx.passes().keep_page(P::RESOURCE, &kept).await?;
        }
        tx.commit().await?;
        drop(held);
        if P::RESOURCE == Resource::Products {
            keys.iter().for_each(|key| self.context.note_product(known.get(key)));
        }
        Ok(counts)
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
        let keys = sorted.writes.iter().chain(&sorted.unchanged).map(|write| write.key.clone()).collect();
        let now = self.context.store.mirror().known(&self.context.key, P::RESOURCE, keys).await?;
        let is_as_it_was = |key: &String| {
            let content = |of: &HashMap<String, Known>| of.get(key).map(|k| (k.content_hash, k.gone));
            content(known) == content(&now)
        };
        sorted.writes.retain(|write| is_as_it_was(&write.key));
        sorted.unchanged.retain(|row| is_as_it_was(&row.key));
        Ok(())
    }

    /// Writes rows one after the other; returns those that the database refused.
    async fn write_rows<P: Pull>(
        &self,
        tx: &mut LeaseTx<'_>,
        writes: Vec<RowWrite<P::Detail>>,
    ) -> Result<Vec<Failure>, StoreError> {
        let mut refused = Vec::new();
        for write in writes {
            let key = write.key.clone();
            tx.savepoint().await?;
            match contained(P::write(tx, vec![write])).await {
                Ok(Ok(())) => (),
                Ok(Err(error)) if error.concerns_a_row() => {
                    tx.rollback_to_savepoint().await?;
                    refused.push(unwritten(key, &error, self.context.locale));
                }
                Ok(Err(error)) => return Err(error),
                Err(panicked) => {
                    tx.rollback_to_savepoint().await?;
                    let poison = Poison { place: Some(panicked.place) };
                    let (input, store) = (Input::of_resource(P::RESOURCE), self.context.key.as_str());
                    refused.push(poison.failure(input, &key, store, self.context.locale));
                }
            }
        }
        Ok(refused)
    }
}

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Self {
            writes: Vec::new(),
            unchanged: Vec::new(),
            behind: Vec::new(),
            failures: Vec::new(),
            mended: Vec::new(),
            held: Vec::new(),
            remarks: Vec::new(),
        }
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
