//! One pass over a resource: while one page is written, the next one is read.

use std::{collections::HashSet, sync::Arc};

use espelho_model::{
    containment::contained,
    sync::{Counts, RunState},
    text,
    text::Arg,
};
use espelho_store::Pass;
use futures_util::future::{OptionFuture, join};

use super::{
    PassOptions, Pull,
    page::ReadPage,
    read::Reader,
    write::{Refused, Unwritten, Writer},
};
use crate::{
    Error, Problem, ResourceReport, StoreContext, Trouble,
    memory_budget::Permit,
    plan::paging::{Pager, Step, Stuck},
    plan::pauses::Activity,
    quarantine::panicked_problem,
};

/// A pass that started earlier than this restarts: its first pages are out of date.
const STALE_HOURS: i64 = 24;

/// Reads a resource to its end, or as far as possible.
pub async fn run_pass<P: Pull>(context: &StoreContext, pull: P, options: PassOptions) -> ResourceReport {
    let mut walk = Walk {
        reader: Reader::new(context, pull, options),
        writer: Writer::new(context, options),
        report: ResourceReport::new(P::RESOURCE),
    };
    let ended = walk.walk_to_the_end().await;
    context.progress.end(&context.key, P::RESOURCE.into());
    walk.conclude(ended.err().map(Problem::from))
}

/// A pass in progress.
pub(super) struct Walk<'c, P> {
    pub(super) reader: Reader<'c, P>,
    pub(super) writer: Writer<'c>,
    pub(super) report: ResourceReport,
}

impl<'c, P: Pull + 'c> Walk<'c, P> {
    async fn walk_to_the_end(&mut self) -> Result<(), Error> {
        let (store, key) = (&self.reader.context.store, &self.reader.context.key);
        let failures = store.mirror().failures(key, P::RESOURCE).await?;
        let failures: HashSet<String> = failures.into_iter().map(|failure| failure.key).collect();
        self.reader.earlier_failures = failures.clone();
        self.reader.pieces.earlier_failures = failures.clone();
        self.writer.earlier_failures = failures;
        let mut next = self.take_up().await?;
        self.reader.resumed = self.reader.pager.seen();
        self.reader.count_mirrored().await?;
        self.reader.context.progress.begin(key, P::RESOURCE.into(), self.reader.resumed);
        let mut unwritten = None;
        while next != Step::Finished || unwritten.is_some() {
            let context = self.reader.context;
            if next != Step::Finished && context.holds(Activity::Pull) {
                self.reader.forget_ahead();
                // The page that was read is written first, so that a restart in the pause repeats nothing.
                if let Some(read) = unwritten.take() {
                    let written = Box::pin(write::<P>(context, &mut self.writer, read)).await;
                    self.settle_write(written).await?;
                }
                Box::pin(context.released(Activity::Pull)).await;
            }
            let page = match next {
                Step::Read(page) => Some(page),
                Step::Finished => None,
            };
            let writing = unwritten.take().map(|read| write::<P>(context, &mut self.writer, read));
            let reading = OptionFuture::from(page.map(|page| self.reader.read(page)));
            let (written, mut read) = join(OptionFuture::from(writing), reading).await;
            if let (Some(Err(Unwritten::Refused(_))), Some(Ok(Ok((read, _))))) = (&written, &mut read) {
                Box::pin(self.reader.write_early(read)).await;
            }
            if let Err(error) = self.settle_write(written.unwrap_or(Ok(()))).await {
                if let Some(Ok(Ok((read, _)))) = &read {
                    self.writer.count_pieces(&read.page);
                }
                return Err(error);
            }
            next = match read.transpose()? {
                None => Step::Finished,
                Some(Ok((read, following))) => {
                    let next = if read.is_last() { Step::Finished } else { following };
                    unwritten = Some(read);
                    next
                }
                // An old checkpoint may no longer match the listing: restart the walk.
                Some(Err(_)) if self.reader.resumed_at == page => self.restart().await?,
                Some(Err(stuck)) => return Err(stuck_at(stuck).into()),
            };
        }
        Box::pin(self.finish()).await
    }

    async fn settle_write(&mut self, written: Result<(), Unwritten>) -> Result<(), Error> {
        match written {
            Ok(()) => Ok(()),
            Err(Unwritten::Refused(refused)) => Box::pin(self.write_row_by_row(*refused)).await,
            Err(Unwritten::Ended(error)) => Err(error),
        }
    }

    /// Reads a page that the database refused once more, and writes it row by row, so that only the refused row fails.
    async fn write_row_by_row(&mut self, refused: Refused) -> Result<(), Error> {
        let Refused { mut page, error, aborted } = refused;
        tracing::warn!(store = %self.reader.context.key, page = page.kept.page, error, "a page could not be written; writing it row by row");
        self.reader.forget_ahead();
        // The page behind it may have failed: that says nothing of this one.
        self.reader.failing_in_a_row = 0;
        // It must not wait for room: its store may have some already, for the page that it has read meanwhile.
        let mut permit = self.reader.context.memory_budget.page_now();
        let wanted = self.reader.context.memory_budget.rows_at_once(page.rows.len());
        permit.iter_mut().for_each(|permit| permit.keep(wanted));
        let room = permit.as_ref().map_or(1, Permit::rows);
        let mut details = self.reader.read_details(page.rows.clone(), &page.known, room, None).await;
        Arc::make_mut(&mut page).kept.counts.add(details.pieces);
        let written = match details.ended.take() {
            Some(ended) => Err(ended),
            None => self.writer.write_row_by_row::<P>(&page, details).await,
        };
        if written.is_err() {
            self.writer.count_pieces(&page);
        }
        written?;
        aborted.map_or(Ok(()), Err)
    }

    async fn restart(&mut self) -> Result<Step, Error> {
        let (key, resource) = (&self.reader.context.key, P::RESOURCE);
        tracing::warn!(store = %key, %resource, "the checkpoint does not match the listing; restarting the pass");
        self.writer.counts = Counts::default();
        self.writer.step = 0;
        self.reader.restart().await?;
        Ok(Step::Read(1))
    }

    /// Resumes an interrupted pass, or starts one; returns the first step.
    async fn take_up(&mut self) -> Result<Step, Error> {
        let reader = &mut self.reader;
        let kept = reader.context.store.mirror().pass(&reader.context.key, P::RESOURCE).await?;
        let wanted = !reader.options.restart && !reader.options.dry_run;
        let now = reader.context.clock.now();
        let is_fresh = |pass: &Pass| (now - pass.started_at).num_hours() < STALE_HOURS;
        let resumable = kept.filter(|pass| wanted && is_fresh(pass) && reader.pull.ask_as(&pass.scope));
        reader.pager = Pager::new(reader.pull.limit());
        if resumable.is_none() {
            return reader.begin().await.map(|()| Step::Read(1));
        }
        let (store, key) = (&reader.context.store, &reader.context.key);
        let mut next = Step::Read(1);
        reader.step = 0;
        loop {
            let pages = store.mirror().pages_of_pass(key, P::RESOURCE, reader.step).await?;
            let Some(last) = pages.last() else { break };
            for page in &pages {
                next = reader.pager.resume(page);
                self.writer.counts.add(page.counts);
            }
            reader.step = last.step;
        }
        reader.resumed_at = match next {
            Step::Read(page) if page > 1 => Some(page),
            _ => None,
        };
        self.writer.step = reader.step;
        Ok(next)
    }

    fn conclude(mut self, problem: Option<Problem>) -> ResourceReport {
        let (reader, writer, report) = (self.reader, self.writer, &mut self.report);
        report.pages += reader.pages;
        report.details += reader.details;
        report.resumed_at = reader.resumed_at;
        report.counts.add(writer.counts);
        let mut remarks = writer.remarks;
        reader.pieces.remarks.into_iter().for_each(|(remark, n)| *remarks.entry(remark).or_default() += n);
        if reader.rows_without_id > 0 {
            // Without a key they cannot be listed as failures, but they are not mirrored either.
            report.counts.failed += reader.rows_without_id;
            remarks.insert(text!("run-note-nameless"), reader.rows_without_id);
        }
        let said = |(remark, rows)| text!("run-note-count", remark = Arg::from(remark), rows = rows);
        report.notes.extend(remarks.into_iter().map(said));
        report.state = match &problem {
            Some(_) if writer.step == 0 && report.counts.seen == 0 => RunState::Failed,
            None if report.counts.failed == 0 => RunState::Complete,
            _ => RunState::Partial,
        };
        report.problem = problem;
        self.report
    }
}

/// Writes a page; one that panics is read once more and written row by row.
async fn write<'c, P: Pull>(
    context: &StoreContext,
    writer: &mut Writer<'c>,
    read: ReadPage<'c, P::Detail>,
) -> Result<(), Unwritten> {
    let (page, is_last) = (Arc::clone(&read.page), read.is_last());
    match contained(writer.write::<P>(read)).await {
        Ok(written) => written,
        Err(panicked) => {
            let error = panicked.to_string();
            // Why nothing is read after the last page went with it.
            let aborted = is_last.then(|| panicked_problem(&panicked, &context.key).into());
            Err(Unwritten::Refused(Box::new(Refused { page, error, aborted })))
        }
    }
}

fn stuck_at(stuck: Stuck) -> Problem {
    Problem::new(Trouble::Failure, "paging", &stuck, stuck.text())
}
