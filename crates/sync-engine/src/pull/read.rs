//! Reads a page: its listing, and the details of its new or changed rows.

use std::{
    collections::{HashMap, HashSet},
    pin::pin,
    sync::{Arc, Weak},
};

use espelho_api_client::{Error as ApiError, ListPage, ListedRow};
use espelho_model::{ContentHash, sync::Counts};
use espelho_store::{KeptPage, Known};
use futures_util::future::OptionFuture;
use parking_lot::Mutex;
use tracing::Instrument as _;

use super::{
    Fetched, PassOptions, Pull,
    abort_rules::{FAILURES_TO_ABORT_PAGE, FAILURES_TO_ABORT_PASS, concerns_all, may_concern_all},
    ahead::{Ahead, ListAttempt, list, name},
    beside::Requests,
    page::{Asked, Details, Page, ReadPage, Unread},
    write::Writer,
};
use crate::{
    Error, Input, Position, Problem, StoreContext,
    memory_budget::Permit,
    order_trace::reading_in_pass,
    plan::{
        last_page::is_beyond_the_end,
        page::{is_piece_due, plan_page},
        paging::{Pager, Step, Stuck},
        pauses::Activity,
    },
    quarantine::Attempt,
};

/// Details read at once. More would only fill the marketplace's queue: at 300 a minute, two would be enough.
const AT_ONCE: usize = 16;

/// Reads the pages of a pass, one after the other.
pub(super) struct Reader<'c, P> {
    pub(super) context: &'c StoreContext,
    pub(super) pull: P,
    pub(super) options: PassOptions,
    pub(super) pager: Pager,
    /// Counts the pages of the pass, those of an interrupted run too.
    pub(super) step: u64,
    pub(super) earlier_failures: HashSet<String>,
    /// Writes rows of the current page before its end, when memory is short or others wait for a page.
    pub(super) pieces: Writer<'c>,
    /// The page at which an interrupted pass was resumed.
    pub(super) resumed_at: Option<u64>,
    /// Rows that an earlier run processed.
    pub(super) resumed: u64,
    /// Rows in the mirror, for a listing that does not report its total.
    expected: Option<u64>,
    /// Whether the mirror had no row when the pass began, and nobody else writes one.
    began_empty: bool,
    /// Listing rows without a key.
    pub(super) rows_without_id: u64,
    /// Listing pages read.
    pub(super) pages: u64,
    /// Details requested.
    pub(super) details: u64,
    /// Rows of the page before, which is written while this one is read.
    unwritten: HashSet<String>,
    /// The page before, until it is written.
    page_before: Weak<Page>,
    /// The next page of the listing, if it is requested already. Nothing locks it: a request that waits can be sent to
    /// another thread, and not shared.
    ahead: Mutex<Option<Ahead<'c>>>,
    pub(super) failing_in_a_row: usize,
    last_failure: Option<Problem>,
}

impl<'c, P: Pull + 'c> Reader<'c, P> {
    pub(super) fn new(context: &'c StoreContext, pull: P, options: PassOptions) -> Self {
        Self {
            context,
            pager: Pager::new(pull.limit()),
            pull,
            options,
            step: 0,
            earlier_failures: HashSet::new(),
            pieces: Writer::new(context, options),
            resumed_at: None,
            resumed: 0,
            expected: None,
            began_empty: false,
            rows_without_id: 0,
            pages: 0,
            details: 0,
            unwritten: HashSet::new(),
            page_before: Weak::new(),
            ahead: Mutex::default(),
            failing_in_a_row: 0,
            last_failure: None,
        }
    }

    /// Reads a page with its details; returns it with the next step, or why the walk is stuck.
    pub(super) async fn read(
        &mut self,
        page: u64,
    ) -> Result<Result<(ReadPage<'c, P::Detail>, Step), Stuck>, Error> {
        // It is dropped where the pass ends here: a request that nobody goes on with may hold what others wait for.
        let ahead = self.ahead.get_mut().take().filter(|ahead| ahead.page() == page);
        self.stop_if_asked()?;
        let (permit, listed) = match OptionFuture::from(ahead.map(Ahead::take)).await.flatten() {
            Some((permit, listed)) => (permit, listed),
            None => tokio::select! {
                biased;
                permit = self.context.memory_budget.page() => (permit, None),
                () = self.context.stop.cancelled() => return Err(Problem::stopped().into()),
            },
        };
        self.stop_if_asked()?;
        // Made once there is a permit: thousands of stores wait for one together.
        Box::pin(self.read_with(page, permit, listed)).await
    }

    /// Reads a page, unless it is `listed` already, and its details.
    async fn read_with(
        &mut self,
        page: u64,
        mut permit: Permit<'c>,
        listed: Option<ListAttempt>,
    ) -> Result<Result<(ReadPage<'c, P::Detail>, Step), Stuck>, Error> {
        let listing = self.list_contained(page, listed).await?;
        self.context.show_poisoned_rows(Input::of_resource(P::RESOURCE), &listing).await;
        let keys: Vec<ContentHash> =
            listing.rows.iter().map(|row| ContentHash::of(row.key.as_bytes())).collect();
        let repeated: HashSet<ContentHash> =
            keys.iter().copied().filter(|key| self.pager.has_seen(*key)).collect();
        let received = listing.rows.len() + listing.rows_without_id;
        let before = self.pager.seen();
        let next = match self.pager.after(page, &keys, received, listing.meta) {
            Ok(next) => next,
            Err(stuck) => return Ok(Err(stuck)),
        };
        self.step += 1;
        let mut kept = KeptPage {
            step: self.step,
            page,
            total: listing.meta.total,
            last: next == Step::Finished,
            counts: Counts { seen: self.pager.seen() - before, ..Counts::default() },
            keys,
        };
        if page == 1 {
            // A restarted listing shows the same nameless rows again.
            self.rows_without_id = 0;
        }
        self.rows_without_id += listing.rows_without_id as u64;
        let known = self.look_up(&listing.rows, &repeated).await?;
        let mut rows = plan_page(&listing.rows, &known, &self.earlier_failures, self.options.deep).fetch;
        // A row that moved here from the page before was just read. If it has changed since, the next pass reads it.
        rows.retain(|row| !self.unwritten.contains(&row.key));
        self.unwritten = rows.iter().map(|row| row.key.clone()).collect();
        permit.keep(self.context.memory_budget.rows_at_once(rows.len()));
        let requested = if self.options.dry_run { &[][..] } else { &rows };
        let reading = self.context.being_read.begin(P::RESOURCE, requested);
        let details = if self.options.dry_run {
            kept.counts.changed = rows.len() as u64;
            Details::default()
        } else {
            let following = matches!(next, Step::Read(next) if next == page + 1).then_some(page + 1);
            self.read_details(rows.clone(), &known, permit.rows(), following).await
        };
        kept.counts.add(details.pieces);
        rows.retain(|row| !details.written.contains(&row.key));
        self.tell(0);
        let page = Arc::new(Page { kept, known, rows });
        self.page_before = Arc::downgrade(&page);
        Ok(Ok((ReadPage { page, details, aborted: self.abort_after_failures(), permit, reading }, next)))
    }

    /// Writes what was read of a page before its turn, without its checkpoint: the page before it is read again, which must
    /// not wait for memory that this one holds.
    pub(super) async fn write_early(&mut self, read: &mut ReadPage<'c, P::Detail>) {
        let ReadPage { page, details, .. } = read;
        // Those of earlier pieces are counted already.
        details.pieces = Counts::default();
        self.pieces.write_piece::<P>(details, &page.known).await;
        let written = Arc::make_mut(page);
        written.kept.counts.add(details.pieces);
        written.rows.retain(|row| !details.written.contains(&row.key));
        self.page_before = Arc::downgrade(page);
    }

    /// Reports the progress, with `left` rows of the current page still unread.
    fn tell(&self, left: u64) {
        let done = self.pager.seen().saturating_sub(left);
        let total = self.pager.total().or(self.expected.filter(|expected| *expected >= done));
        let total = total.filter(|_| !self.options.is_prelude);
        let (read, requests) = (done.saturating_sub(self.resumed), self.pages + self.details);
        let position = Position::new(done, total, read, requests);
        self.context.progress.advance(&self.context.key, P::RESOURCE.into(), position);
    }

    /// Notes how many rows the mirror has.
    pub(super) async fn count_mirrored(&mut self) -> Result<(), Error> {
        let mirrored = self.context.store.mirror().count(&self.context.key, P::RESOURCE).await?;
        self.began_empty = mirrored == 0 && !self.options.beside_live;
        // A pass over a part of the listing shows no total.
        self.expected = Some(mirrored).filter(|rows| *rows > 0 && self.options.covers_everything);
        Ok(())
    }

    /// Drops the request of the next page: what happens now may take long, and the page would be old, or its connection
    /// given up.
    pub(super) fn forget_ahead(&mut self) {
        *self.ahead.get_mut() = None;
    }

    /// Starts at the first page.
    pub(super) async fn restart(&mut self) -> Result<(), Error> {
        self.forget_ahead();
        self.pager = Pager::new(self.pull.limit());
        (self.step, self.resumed_at, self.began_empty) = (0, None, false);
        self.begin().await
    }

    /// Drops the checkpoints of an earlier pass.
    pub(super) async fn begin(&mut self) -> Result<(), Error> {
        if self.options.dry_run {
            return Ok(());
        }
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        tx.passes().begin_pass(P::RESOURCE, &self.pull.scope()).await?;
        tx.commit().await.map_err(Error::from)
    }

    /// Reads a page of the listing, unless it is `listed` already. A page that panics is read once more, and then ends
    /// the pass.
    async fn list_contained(
        &mut self,
        page: u64,
        mut listed: Option<ListAttempt>,
    ) -> Result<ListPage, Error> {
        loop {
            let ended = match listed.take() {
                Some(ended) => ended,
                None => list(self.context, &self.pull, page).await,
            };
            match ended {
                Attempt::Ended(answer) => {
                    if let Some(listing) = self.take_listing(page, answer).await? {
                        return Ok(listing);
                    }
                }
                Attempt::Panicked(_) => (),
                Attempt::SetAside(poison) => {
                    let (context, key) = (self.context, name::<P>(page));
                    context.show_poison(Input::Page, &key, &poison).await;
                    return Err(poison.problem(Input::Page, &key, context.key.as_str()).into());
                }
            }
        }
    }

    /// Takes the answer to the request of a page. If the server refused the first page of the pass, simplifies the
    /// request and returns `None`: it is to be made again.
    async fn take_listing(
        &mut self,
        page: u64,
        answer: Result<ListPage, ApiError>,
    ) -> Result<Option<ListPage>, Error> {
        let error = match answer {
            Ok(listing) => {
                self.pages += 1;
                return Ok(Some(listing));
            }
            Err(error) => error,
        };
        if self.is_beyond_the_end(page, &error) {
            return Ok(Some(ListPage::default()));
        }
        let asked_for_less = match &error {
            ApiError::Refused { status: 400 | 422, refusal, .. } if page == 1 && self.step == 0 => {
                self.pull.simplify(refusal)
            }
            _ => false,
        };
        if !asked_for_less {
            return Err(error.into());
        }
        tracing::warn!(store = %self.context.key, %error, "listing refused; retrying with a simpler request");
        self.pager = Pager::new(self.pull.limit());
        self.began_empty = false;
        self.begin().await?;
        Ok(None)
    }

    /// Whether a refusal means that the page is beyond the last one: some servers answer so. If nothing else shows that
    /// all rows were seen, only 404 and 416 count.
    fn is_beyond_the_end(&self, page: u64, error: &ApiError) -> bool {
        let all_seen = self.pager.total().is_some() && self.pager.is_whole();
        // The listing may have shrunk since the checkpoint; the total kept with the checkpoint then makes the pass
        // restart.
        let all_seen = all_seen || self.resumed_at == Some(page);
        match error {
            error if is_beyond_the_end(page, error) => true,
            ApiError::Refused { status: 400 | 422, .. } => page > 1 && all_seen,
            _ => false,
        }
    }

    /// Returns what the mirror knows of the rows of a page. A mirror that was empty when the pass began, and that nobody
    /// else writes, has only rows that this pass has seen before.
    async fn look_up(
        &self,
        rows: &[ListedRow],
        seen_before: &HashSet<ContentHash>,
    ) -> Result<HashMap<String, Known>, Error> {
        let may_be_known = |row: &&ListedRow| {
            !self.began_empty || seen_before.contains(&ContentHash::of(row.key.as_bytes()))
        };
        let keys = rows.iter().filter(may_be_known).map(|row| row.key.clone()).collect();
        let known = self.context.store.mirror().known(&self.context.key, P::RESOURCE, keys).await;
        known.map_err(Error::from)
    }

    /// Reads details, some at a time. An error that concerns more than its row ends it, and so does a stop request. If
    /// row after row fails, the rest of the page is not requested. Writes what was read when memory is short, and, as long
    /// as more is requested, before it holds more than `room` rows. Requests the `following` page of the listing behind the
    /// last detail, if the page before is written by then: a killed run reads at most two pages again.
    pub(super) async fn read_details(
        &mut self,
        rows: Vec<ListedRow>,
        known: &HashMap<String, Known>,
        room: usize,
        following: Option<u64>,
    ) -> Details<P::Detail> {
        let (context, pull) = (self.context, &self.pull);
        let mut rows = rows.into_iter();
        let mut details = Details::default();
        let ask = |row: ListedRow| async move {
            let answer = read_detail(context, pull, &row).await?;
            Ok::<_, Error>(Asked { row, answer })
        };
        let at_once = AT_ONCE.min(room);
        let mut asking: Requests<_> = rows.by_ref().take(at_once).map(ask).collect();
        let mut left = rows.len() + asking.under_way();
        loop {
            let is_listing = self.ahead.get_mut().as_ref().is_some_and(Ahead::is_under_way);
            let asked = tokio::select! {
                biased;
                asked = asking.next() => match asked {
                    Some(Ok(asked)) => asked,
                    Some(Err(error)) => {
                        details.ended.get_or_insert(error);
                        continue;
                    }
                    None => break,
                },
                () = self.context.client.memory().shortage(), if details.holds_memory() => {
                    let piece = self.pieces.write_piece::<P>(&mut details, known);
                    asking.beside(Box::pin(beside_listing(self.ahead.get_mut().as_mut(), piece))).await;
                    continue;
                }
                () = arrives(self.ahead.get_mut()), if is_listing => continue,
            };
            self.details += 1;
            left -= 1;
            self.tell(left as u64);
            match &asked.answer {
                Ok(_) => self.failing_in_a_row = 0,
                Err(Unread::Api(error)) if concerns_all(error) => {
                    details.ended.get_or_insert_with(|| Problem::from_api(error).into());
                    continue;
                }
                Err(Unread::Api(error)) if may_concern_all(error) => {
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
            let is_over = self.failing_in_a_row >= FAILURES_TO_ABORT_PAGE || details.ended.is_some();
            if !is_over && is_piece_due(details.asked.len(), at_once, room, rows.len()) {
                let piece = self.pieces.write_piece::<P>(&mut details, known);
                asking.beside(Box::pin(piece)).await;
            }
            if !is_over && details.ended.is_none() {
                asking.extend(rows.next().map(ask));
            }
            let may_list = rows.len() == 0
                && self.ahead.get_mut().is_none()
                && self.page_before.strong_count() == 0
                && self.failing_in_a_row == 0
                && details.ended.is_none();
            if let Some(following) = following.filter(|_| may_list && !context.holds(Activity::Pull)) {
                *self.ahead.get_mut() = Ahead::begin(context, pull, following);
            }
        }
        details.unasked.extend(rows);
        if details.ended.is_some() {
            *self.ahead.get_mut() = None;
        }
        details
    }

    /// Aborts a pass whose last pages all failed. Its checkpoint is behind them, so the next run starts after them.
    fn abort_after_failures(&mut self) -> Option<Error> {
        let is_over = self.failing_in_a_row >= FAILURES_TO_ABORT_PASS;
        self.last_failure.take_if(|_| is_over).map(Error::from)
    }

    fn stop_if_asked(&self) -> Result<(), Error> {
        match self.context.stop.is_cancelled() {
            false => Ok(()),
            true => Err(Problem::stopped().into()),
        }
    }
}

/// Does work while the request of the next page goes on.
async fn beside_listing(ahead: Option<&mut Ahead<'_>>, work: impl Future<Output = ()>) {
    let mut work = pin!(work);
    if let Some(ahead) = ahead.filter(|ahead| ahead.is_under_way()) {
        tokio::select! {
            biased;
            () = &mut work => return,
            () = ahead.arrives() => (),
        }
    }
    work.await;
}

async fn arrives(ahead: &mut Option<Ahead<'_>>) {
    OptionFuture::from(ahead.as_mut().map(Ahead::arrives)).await;
}

/// Reads the detail of a row; one that panics is read once more, and then set aside. Fails where the database does not
/// answer what is known of the row.
async fn read_detail<P: Pull>(
    context: &StoreContext,
    pull: &P,
    row: &ListedRow,
) -> Result<Result<Fetched<P::Detail>, Unread>, Error> {
    let key = row.key.as_str();
    loop {
        let reading = pull.detail(key).instrument(reading_in_pass(&context.key, P::RESOURCE, key));
        let fetched = match context.attempt_reading(Input::of_resource(P::RESOURCE), key, reading).await {
            Attempt::Ended(Ok(fetched)) => fetched,
            Attempt::Ended(Err(error)) => return Ok(Err(Unread::Api(error))),
            Attempt::Panicked(_) => continue,
            Attempt::SetAside(poison) => return Ok(Err(Unread::SetAside(poison))),
        };
        let doubt = P::doubt(context, &fetched.detail, row.status().is_some()).await?;
        return Ok(doubt.map_or(Ok(fetched), |error| Err(Unread::Api(error))));
    }
}
