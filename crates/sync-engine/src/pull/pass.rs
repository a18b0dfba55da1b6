//! One pass over a resource.

use std::collections::{BTreeMap, HashMap, HashSet};

use espelho_api_client::{Error as ApiError, ListPage, ListedRow, PageMeta};
use espelho_model::{
    ContentHash,
    sync::{Counts, RunState},
    text,
    text::{Arg, Text},
};
use espelho_store::{KeptPage, Known, Pass};
use futures_util::{StreamExt as _, stream::FuturesUnordered};

use super::{
    Fetched, Pull,
    hopeless::{HOPELESS, HOPELESS_PAGES, concerns_all, may_concern_all},
};
use crate::{
    Error, Position, Problem, ResourceReport, StoreContext, Trouble,
    memory_budget::Permit,
    plan::{
        last_page::is_beyond_the_end,
        page::plan_page,
        paging::{Pager, Step, Stuck},
    },
};

/// Details read at once. More would only fill the marketplace's queue: at 300 a minute, two would be enough.
const AT_ONCE: usize = 16;
/// A pass that started earlier than this restarts: its first pages are out of date.
const STALE_HOURS: i64 = 24;

/// What a pass does.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassOptions {
    /// Start at the first page even if an interrupted pass could resume.
    pub restart: bool,
    /// Read every detail, even if its listing row is unchanged.
    pub deep: bool,
    /// Compare and count, change nothing.
    pub dry_run: bool,
    /// Whether the listing has all rows, so that a missing row is gone.
    pub covers_everything: bool,
    /// Mark rows gone, however many they are.
    pub accept_gone: bool,
    /// Whether the live mirror reads and writes the same rows meanwhile.
    pub beside_live: bool,
}

/// Reads a resource to its end, or as far as possible.
pub async fn run_pass<P: Pull>(context: &StoreContext, pull: P, options: PassOptions) -> ResourceReport {
    let mut walk = Walk {
        context,
        pull,
        options,
        pager: Pager::new(0),
        step: 0,
        earlier_failures: HashSet::new(),
        failing_in_a_row: 0,
        last_failure: None,
        permit: None,
        rows_without_id: 0,
        resumed: 0,
        expected: None,
        remarks: BTreeMap::new(),
        report: ResourceReport::new(P::RESOURCE),
    };
    let ended = walk.walk_to_the_end().await;
    context.progress.end(&context.key, P::RESOURCE.into());
    walk.conclude(ended.err().map(Problem::from))
}

/// A pass in progress.
pub(super) struct Walk<'c, P> {
    pub(super) context: &'c StoreContext,
    pub(super) pull: P,
    pub(super) options: PassOptions,
    pub(super) pager: Pager,
    step: u64,
    pub(super) earlier_failures: HashSet<String>,
    failing_in_a_row: usize,
    last_failure: Option<Problem>,
    /// The memory permit of the current page.
    permit: Option<Permit<'c>>,
    rows_without_id: u64,
    /// Rows that an earlier run processed.
    resumed: u64,
    /// Rows in the mirror, for a listing that does not report its total.
    expected: Option<u64>,
    pub(super) remarks: BTreeMap<Text, u64>,
    pub(super) report: ResourceReport,
}

/// The result of reading details.
pub(super) struct Details<T> {
    pub(super) asked: Vec<Asked<T>>,
    /// Rows left for another run.
    pub(super) unasked: Vec<ListedRow>,
    /// Why the page ended early, if it did: then it is no checkpoint, but the rows that were read are kept.
    pub(super) ended: Option<Error>,
}

/// A row whose detail was requested.
pub(super) struct Asked<T> {
    pub(super) row: ListedRow,
    pub(super) answer: Result<Fetched<T>, ApiError>,
}

impl<P: Pull> Walk<'_, P> {
    async fn walk_to_the_end(&mut self) -> Result<(), Error> {
        let store = &self.context.store;
        let failures = store.mirror().failures(&self.context.key, P::RESOURCE).await?;
        self.earlier_failures = failures.into_iter().map(|failure| failure.key).collect();
        let mut next = self.take_up().await?;
        self.resumed = self.pager.seen();
        self.expected = self.expect().await?;
        self.context.progress.begin(&self.context.key, P::RESOURCE.into(), self.resumed);
        while let Step::Read(page) = next {
            self.stop_if_asked()?;
            self.permit = Some(self.context.memory_budget.page().await);
            self.stop_if_asked()?;
            let read = self.read_page(page).await;
            self.permit = None;
            next = match read? {
                Ok(following) => following,
                // An old checkpoint may no longer match the listing: restart the walk.
                Err(_) if self.report.resumed_at == Some(page) => self.restart_pass().await?,
                Err(stuck) => return Err(stuck_at(stuck).into()),
            };
        }
        self.finish().await
    }

    /// Reads and mirrors a page; returns the next step, or why the walk is stuck.
    async fn read_page(&mut self, page: u64) -> Result<Result<Step, Stuck>, Error> {
        let listing = self.list(page).await?;
        let keys: Vec<ContentHash> =
            listing.rows.iter().map(|row| ContentHash::of(row.key.as_bytes())).collect();
        let received = listing.rows.len() + listing.rows_without_id;
        let before = self.pager.seen();
        let next = match self.pager.after(page, &keys, received, listing.meta) {
            Ok(next) => next,
            Err(stuck) => return Ok(Err(stuck)),
        };
        let kept = KeptPage {
            step: self.step + 1,
            page,
            total: listing.meta.total,
            last: next == Step::Finished,
            counts: Counts { seen: self.pager.seen() - before, ..Counts::default() },
            keys,
        };
        self.mirror_page(kept, listing).await?;
        Ok(Ok(next))
    }

    /// Reports the progress, with `left` rows of the current page still unread.
    fn tell(&self, left: u64) {
        let done = self.pager.seen().saturating_sub(left);
        let total = self.pager.total().or(self.expected.filter(|expected| *expected >= done));
        let (read, requests) = (done.saturating_sub(self.resumed), self.report.pages + self.report.details);
        let position = Position::new(done, total, read, requests);
        self.context.progress.advance(&self.context.key, P::RESOURCE.into(), position);
    }

    /// Returns how many rows the mirror has, if the pass covers everything.
    async fn expect(&self) -> Result<Option<u64>, Error> {
        if !self.options.covers_everything {
            return Ok(None);
        }
        let mirrored = self.context.store.mirror().count(&self.context.key, P::RESOURCE).await;
        mirrored.map(|rows| Some(rows).filter(|rows| *rows > 0)).map_err(Error::from)
    }

    async fn restart_pass(&mut self) -> Result<Step, Error> {
        tracing::warn!(store = %self.context.key, resource = %P::RESOURCE, "the checkpoint does not match the listing; restarting the pass");
        self.pager = Pager::new(self.pull.limit());
        self.report.counts = Counts::default();
        (self.step, self.report.resumed_at) = (0, None);
        self.begin().await?;
        Ok(Step::Read(1))
    }

    /// Resumes an interrupted pass, or starts one; returns the first step.
    async fn take_up(&mut self) -> Result<Step, Error> {
        let kept = self.context.store.mirror().pass(&self.context.key, P::RESOURCE).await;
        let kept = kept?;
        let wanted = !self.options.restart && !self.options.dry_run;
        let resumable = kept.filter(|pass| wanted && self.is_fresh(pass) && self.pull.ask_as(&pass.scope));
        self.pager = Pager::new(self.pull.limit());
        match resumable {
            Some(pass) => {
                let (pager, next) = Pager::resumed(self.pull.limit(), &pass.pages);
                self.pager = pager;
                self.step = pass.pages.last().map_or(0, |page| page.step);
                pass.pages.iter().for_each(|page| self.report.counts.add(page.counts));
                self.report.resumed_at = match next {
                    Step::Read(page) if page > 1 => Some(page),
                    _ => None,
                };
                Ok(next)
            }
            None => self.begin().await.map(|()| Step::Read(1)),
        }
    }

    fn is_fresh(&self, pass: &Pass) -> bool {
        (self.context.clock.now() - pass.started_at).num_hours() < STALE_HOURS
    }

    async fn begin(&mut self) -> Result<(), Error> {
        if self.options.dry_run {
            return Ok(());
        }
        let begun = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.passes().begin_pass(P::RESOURCE, &self.pull.scope()).await?;
            tx.commit().await
        };
        begun.await.map_err(Error::from)
    }

    /// Reads a page of the listing. If the server refuses the first page, simplifies the request and retries.
    async fn list(&mut self, page: u64) -> Result<ListPage, Error> {
        loop {
            let error = match self.pull.list(page).await {
                Ok(listing) => {
                    self.report.pages += 1;
                    return Ok(listing);
                }
                Err(error) => error,
            };
            if self.is_beyond_the_end(page, &error) {
                return Ok(ListPage { rows: Vec::new(), rows_without_id: 0, meta: PageMeta::default() });
            }
            let asked_for_less = match &error {
                ApiError::Refused { status: 400 | 422, refusal, .. } if page == 1 => {
                    self.pull.simplify(refusal)
                }
                _ => false,
            };
            if !asked_for_less {
                return Err(error.into());
            }
            tracing::warn!(store = %self.context.key, %error, "listing refused; retrying with a simpler request");
            self.pager = Pager::new(self.pull.limit());
            self.begin().await?;
        }
    }

    /// Whether a refusal means that the page is beyond the last one: some servers answer so. If nothing else shows that
    /// all rows were seen, only 404 and 416 count.
    fn is_beyond_the_end(&self, page: u64, error: &ApiError) -> bool {
        let all_seen = self.pager.total().is_some() && self.pager.is_whole();
        // The listing may have shrunk since the checkpoint; the total kept with the checkpoint then makes the pass
        // restart.
        let all_seen = all_seen || self.report.resumed_at == Some(page);
        match error {
            error if is_beyond_the_end(page, error) => true,
            ApiError::Refused { status: 400 | 422, .. } => page > 1 && all_seen,
            _ => false,
        }
    }

    async fn mirror_page(&mut self, mut kept: KeptPage, listing: ListPage) -> Result<(), Error> {
        let ListPage { rows, rows_without_id, .. } = listing;
        if kept.page == 1 {
            // A restarted listing shows the same nameless rows again.
            self.rows_without_id = 0;
        }
        self.rows_without_id += rows_without_id as u64;
        let known = self.look_up(&rows).await?;
        let plan = plan_page(&rows, &known, &self.earlier_failures, self.options.deep);
        if let Some(permit) = &mut self.permit {
            permit.keep(plan.fetch.len());
        }
        if self.options.dry_run {
            kept.counts.changed = plan.fetch.len() as u64;
        } else {
            self.step = kept.step;
            kept.counts = self.read_and_write(plan.fetch, kept.clone(), &known).await?;
        }
        self.report.counts.add(kept.counts);
        self.tell(0);
        self.give_up_if_hopeless()
    }

    async fn look_up(&self, rows: &[ListedRow]) -> Result<HashMap<String, Known>, Error> {
        let keys = rows.iter().map(|row| row.key.clone()).collect();
        let known = self.context.store.mirror().known(&self.context.key, P::RESOURCE, keys).await;
        known.map_err(Error::from)
    }

    /// Reads details, some at a time. An error that concerns more than its row ends it, and so does a stop request. If
    /// row after row fails, the rest of the page is not requested.
    pub(super) async fn read_details(&mut self, rows: Vec<ListedRow>) -> Details<P::Detail> {
        let pull = &self.pull;
        let mut rows = rows.into_iter();
        let mut details = Details { asked: Vec::new(), unasked: Vec::new(), ended: None };
        let mut asking = FuturesUnordered::new();
        let ask = |row: ListedRow| async move {
            let answer = pull.detail(&row.key).await;
            Asked { row, answer }
        };
        asking.extend(rows.by_ref().take(AT_ONCE).map(ask));
        let mut left = rows.len() + asking.len();
        while let Some(asked) = asking.next().await {
            self.report.details += 1;
            left -= 1;
            self.tell(left as u64);
            match &asked.answer {
                Ok(_) => self.failing_in_a_row = 0,
                Err(error) if concerns_all(error) => {
                    details.ended.get_or_insert_with(|| Problem::from_api(error).into());
                    continue;
                }
                Err(error) if may_concern_all(error) => {
                    self.failing_in_a_row += 1;
                    self.last_failure = Some(Problem::from_api(error));
                }
                // The marketplace works; only this row fails.
                Err(_) => self.failing_in_a_row = 0,
            }
            details.asked.push(asked);
            if let Err(stopped) = self.stop_if_asked() {
                details.ended.get_or_insert(stopped);
            }
            if self.failing_in_a_row < HOPELESS && details.ended.is_none() {
                asking.extend(rows.next().map(ask));
            }
        }
        details.unasked.extend(rows);
        details
    }

    /// Ends a pass whose last pages all failed. Its checkpoint is behind them, so the next run starts after them.
    fn give_up_if_hopeless(&mut self) -> Result<(), Error> {
        if self.failing_in_a_row < HOPELESS * HOPELESS_PAGES {
            return Ok(());
        }
        self.last_failure.take().map_or(Ok(()), |failure| Err(failure.into()))
    }

    fn stop_if_asked(&self) -> Result<(), Error> {
        match self.context.stop.is_cancelled() {
            false => Ok(()),
            true => Err(Problem::of(Trouble::Stopped, "stopped", text!("run-stopped")).into()),
        }
    }

    fn conclude(mut self, problem: Option<Problem>) -> ResourceReport {
        if self.rows_without_id > 0 {
            // Without a key they cannot be listed as failures, but they are not mirrored either.
            self.report.counts.failed += self.rows_without_id;
            self.remarks.insert(text!("run-note-nameless"), self.rows_without_id);
        }
        let said = |(remark, rows)| text!("run-note-count", remark = Arg::from(remark), rows = rows);
        let notes = self.remarks.into_iter().map(said);
        self.report.notes.extend(notes);
        self.report.state = match &problem {
            Some(_) if self.step == 0 && self.report.counts.seen == 0 => RunState::Failed,
            None if self.report.counts.failed == 0 => RunState::Complete,
            _ => RunState::Partial,
        };
        self.report.problem = problem;
        self.report
    }
}

fn stuck_at(stuck: Stuck) -> Problem {
    Problem::new(Trouble::Failure, "paging", &stuck, stuck.text())
}
