//! One pass over a resource.

use std::collections::{BTreeMap, HashMap, HashSet};

use espelho_api_client::{Class, Error as ApiError, ListPage, ListedRow};
use espelho_model::{
    ContentHash,
    sync::{Counts, RunState},
};
use espelho_store::{KeptPage, Known, Pass};
use futures_util::{StreamExt as _, stream};

use super::{Fetched, Pull, sweep};
use crate::{
    Problem, ResourceReport, StoreContext, Trouble,
    plan::{
        page::plan_page,
        paging::{Pager, Step},
    },
};

/// Details read at once. More only fills the marketplace's queue: at 300 a minute, two would do.
const AT_ONCE: usize = 16;
/// Rows failing one after the other, none succeeding, before the marketplace is taken to be down.
const HOPELESS: usize = 20;
/// A pass that began longer ago is begun anew: its first pages are no longer true.
const STALE_HOURS: i64 = 24;

/// What a pass is to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassOptions {
    /// Begin at the first page even if an interrupted pass could be resumed.
    pub restart: bool,
    /// Compare and count, and change nothing.
    pub dry_run: bool,
    /// Whether the listing holds all rows, so that a missing one is gone.
    pub covers_everything: bool,
    /// Mark rows as gone however many they are.
    pub accept_gone: bool,
}

/// Reads a resource to its end, or as far as it can be read.
pub async fn run_pass<P: Pull>(context: &StoreContext, pull: P, options: PassOptions) -> ResourceReport {
    let mut walk = Walk {
        context,
        pull,
        options,
        pager: Pager::new(0),
        step: 0,
        failed_before: HashSet::new(),
        failing_in_a_row: 0,
        remarks: BTreeMap::new(),
        report: ResourceReport::new(P::RESOURCE),
    };
    let ended = walk.walk_to_the_end().await;
    context.progress.end(&context.key, P::RESOURCE);
    walk.conclude(ended.err())
}

/// A pass under way.
pub(super) struct Walk<'c, P> {
    pub(super) context: &'c StoreContext,
    pub(super) pull: P,
    pub(super) options: PassOptions,
    pub(super) pager: Pager,
    step: u64,
    pub(super) failed_before: HashSet<String>,
    failing_in_a_row: usize,
    pub(super) remarks: BTreeMap<String, u64>,
    pub(super) report: ResourceReport,
}

/// A row whose detail was asked for.
pub(super) struct Asked<T> {
    pub(super) row: ListedRow,
    pub(super) answer: Result<Fetched<T>, ApiError>,
}

impl<P: Pull> Walk<'_, P> {
    async fn walk_to_the_end(&mut self) -> Result<(), Problem> {
        let store = &self.context.store;
        let failures =
            store.failures(&self.context.key, P::RESOURCE).await.map_err(|e| Problem::from_store(&e))?;
        self.failed_before = failures.into_iter().map(|failure| failure.key).collect();
        let mut page = self.take_up().await?;
        self.context.progress.begin(&self.context.key, P::RESOURCE, self.pager.seen());
        loop {
            self.stop_if_asked()?;
            let listing = self.list(page).await?;
            let keys: Vec<ContentHash> =
                listing.rows.iter().map(|row| ContentHash::of(row.key.as_bytes())).collect();
            let before = self.pager.seen();
            let next = self.pager.after(page, &keys, listing.meta).map_err(|stuck| self.stuck(stuck))?;
            let new_rows = self.pager.seen() - before;
            self.mirror_page(page, new_rows, keys, listing).await?;
            match next {
                Step::Read(following) => page = following,
                Step::Finished => break,
            }
        }
        sweep::finish(self).await
    }

    /// Takes up an interrupted pass, or begins one; gives the page to read first.
    async fn take_up(&mut self) -> Result<u64, Problem> {
        self.pager = Pager::new(self.pull.limit());
        let kept = self
            .context
            .store
            .pass(&self.context.key, P::RESOURCE)
            .await
            .map_err(|e| Problem::from_store(&e))?;
        match kept.filter(|pass| !self.options.restart && !self.options.dry_run && self.can_resume(pass)) {
            Some(pass) => {
                let (pager, next) = Pager::resumed(self.pull.limit(), &pass.pages);
                self.pager = pager;
                self.step = pass.pages.last().map_or(0, |page| page.step);
                pass.pages.iter().for_each(|page| self.report.counts.add(page.counts));
                self.report.resumed_at = (next > 1).then_some(next);
                Ok(next)
            }
            None => self.begin().await.map(|()| 1),
        }
    }

    fn can_resume(&self, pass: &Pass) -> bool {
        let age = self.context.clock.now() - pass.started_at;
        pass.scope == self.pull.scope() && age.num_hours() < STALE_HOURS
    }

    async fn begin(&mut self) -> Result<(), Problem> {
        if self.options.dry_run {
            return Ok(());
        }
        let begun = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.begin_pass(P::RESOURCE, &self.pull.scope()).await?;
            tx.commit().await
        };
        begun.await.map_err(|e| Problem::from_store(&e))
    }

    /// Reads a page of the listing; where the server refuses how we ask, asks for less from the first page on.
    async fn list(&mut self, page: u64) -> Result<ListPage, Problem> {
        loop {
            let error = match self.pull.list(page).await {
                Ok(listing) => {
                    self.report.pages += 1;
                    return Ok(listing);
                }
                Err(error) => error,
            };
            let refused = matches!(error, ApiError::Refused { status: 400 | 422, .. });
            if !(refused && page == 1 && self.pull.ask_for_less(&error)) {
                return Err(Problem::from_api(&error));
            }
            tracing::warn!(store = %self.context.key, %error, "the listing is asked for in a simpler way");
            self.pager = Pager::new(self.pull.limit());
            self.begin().await?;
        }
    }

    async fn mirror_page(
        &mut self,
        page: u64,
        new_rows: u64,
        keys: Vec<ContentHash>,
        listing: ListPage,
    ) -> Result<(), Problem> {
        let ListPage { rows, nameless, meta } = listing;
        if nameless > 0 {
            *self.remarks.entry("listed rows without an identifier".into()).or_default() += nameless as u64;
        }
        let known = self.look_up(&rows).await?;
        let plan = plan_page(&rows, &known, &self.failed_before);
        let mut counts = Counts { seen: new_rows, ..Counts::default() };
        if self.options.dry_run {
            counts.changed = plan.fetch.len() as u64;
        } else {
            self.step += 1;
            let kept = KeptPage { step: self.step, page, total: meta.total, counts, keys };
            counts = self.read_and_write(plan.fetch, kept, &known).await?;
        }
        self.report.counts.add(counts);
        self.context.progress.advance(&self.context.key, P::RESOURCE, self.pager.seen(), self.pager.total());
        Ok(())
    }

    async fn look_up(&self, rows: &[ListedRow]) -> Result<HashMap<String, Known>, Problem> {
        let keys = rows.iter().map(|row| row.key.clone()).collect();
        let known = self.context.store.known(&self.context.key, P::RESOURCE, keys).await;
        known.map_err(|e| Problem::from_store(&e))
    }

    /// Reads details, some at a time. An error that concerns more than its row ends the pass.
    pub(super) async fn read_details(
        &mut self,
        rows: Vec<ListedRow>,
    ) -> Result<Vec<Asked<P::Detail>>, Problem> {
        let pull = &self.pull;
        let asking = rows.into_iter().map(|row| async move {
            let answer = pull.detail(&row.key).await;
            Asked { row, answer }
        });
        let mut asking = stream::iter(asking).buffer_unordered(AT_ONCE);
        let mut all = Vec::new();
        while let Some(asked) = asking.next().await {
            self.report.details += 1;
            match &asked.answer {
                Ok(_) => self.failing_in_a_row = 0,
                Err(error) if concerns_all(error) => return Err(Problem::from_api(error)),
                Err(error) => {
                    self.failing_in_a_row += 1;
                    if self.failing_in_a_row >= HOPELESS {
                        return Err(Problem::from_api(error));
                    }
                }
            }
            all.push(asked);
        }
        Ok(all)
    }

    fn stop_if_asked(&self) -> Result<(), Problem> {
        match self.context.stop.is_cancelled() {
            false => Ok(()),
            true => Err(Problem {
                trouble: Trouble::Stopped,
                code: "stopped".into(),
                error: "stopped before the end".into(),
                hint: "run again: it resumes where it stopped".into(),
            }),
        }
    }

    fn stuck(&self, stuck: crate::plan::paging::Stuck) -> Problem {
        let hint = "set assumptions.page_parameter in the store's file to the name that the marketplace uses";
        Problem::new(Trouble::Failure, "paging", &stuck, hint)
    }

    fn conclude(mut self, problem: Option<Problem>) -> ResourceReport {
        let notes = self.remarks.into_iter().map(|(remark, rows)| format!("{remark} ({rows} rows)"));
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

/// Errors that would meet every row alike.
fn concerns_all(error: &ApiError) -> bool {
    error.is_authentication()
        || matches!(
            error,
            ApiError::Unreachable { .. }
                | ApiError::Vault { .. }
                | ApiError::Ledger { .. }
                | ApiError::Setup(_)
                | ApiError::Refused { status: 403 | 429, .. }
        )
        || error.class() == Class::Ambiguous
}
