//! The queue of intents: scans the open work, and gives each free worker the most urgent job that is due.

use std::{
    collections::HashSet,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use espelho_api_client::{Documented, Error as ApiError};
use espelho_model::{fault, push::PushState, text, watch};
use espelho_store::{
    DatabaseTrouble, Effect, EffectState, Error as StoreError, OpenCommand as OpenCommandRow, POISONED,
};
use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::sync::Notify;

use super::{
    campaign_policy::CampaignPolicy,
    commands::CommandHandlers,
    guard_history::GuardHistory,
    journal::Journal,
    kinds::{handler_of, has_keys_in_data, subject_key},
    options::PushOptions,
    prices::PricePusher,
    row_answers::{RowAnswers, key_in_table},
    settlements::Settlements,
    stock::StockPusher,
};
use crate::{
    Error, Input, StoreContext,
    plan::pauses::Activity,
    plan::push::{
        Message, Settlement, Verdict, doubtful,
        job_queue::{FAILED_AFTER, Found, JobQueue, LONGEST_PAUSE, Rank, SHOWN_AFTER},
        jobs::{Job, OpenCommand, Scan, Work, is_recent_dispatch},
    },
    quarantine::{Attempt, Poison, panicked_problem},
    report::with_causes,
};

/// Jobs at once. Each waits for the budget most of the time.
const WORKERS: usize = 8;
/// The pause before a table that the ERP has locked is read again.
const LOCKED_PAUSE: Duration = Duration::from_secs(2);
/// A job that was queued before its kind was paused is tried again after this time.
const HELD_PAUSE: Duration = Duration::from_secs(2);
/// The marketplace counts as down when it has answered nothing at all for this long.
const OUTAGE: Duration = Duration::from_secs(20);

type Worker<'s> = BoxFuture<'s, Result<(), Error>>;

/// What the last scan found about open work that is not under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanResult {
    /// Something may be due.
    Unread,
    /// Nothing is due before this monotonic time; with `None`, not before something is written.
    NothingBefore(Option<Duration>),
}

/// The open work of one store, and the workers that carry it out.
pub(crate) struct IntentQueue<'c> {
    context: &'c StoreContext,
    options: &'c PushOptions,
    workers: Workers<'c>,
    /// The open jobs that are not under way.
    jobs: Mutex<JobQueue<Work>>,
}

/// What the jobs are carried out with.
pub(crate) struct Workers<'c> {
    pub(crate) journal: Arc<Journal<'c>>,
    pub(crate) answers: Arc<RowAnswers<'c>>,
    pub(crate) guards: Arc<GuardHistory<'c>>,
    pub(crate) policy: Arc<CampaignPolicy<'c>>,
    pub(crate) settlements: Arc<Settlements<'c>>,
    pub(crate) stock: Arc<StockPusher<'c>>,
    pub(crate) prices: Arc<PricePusher<'c>>,
    pub(crate) commands: CommandHandlers<'c>,
}

impl<'c> IntentQueue<'c> {
    /// Creates the queue of a store, empty before the first scan.
    pub(super) fn new(context: &'c StoreContext, options: &'c PushOptions, workers: Workers<'c>) -> Self {
        Self { context, options, workers, jobs: Mutex::default() }
    }

    fn queue(&self) -> MutexGuard<'_, JobQueue<Work>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes all open work, the most urgent first, until nothing is due. Returns the time until something is due,
    /// where anything waits. `written` signals new rows.
    ///
    /// # Errors
    /// Only an error that ends the work on the store: all others are in the rows.
    pub(super) async fn work(&self, written: &Notify) -> Result<Option<Duration>, Error> {
        if !(self.options.stock || self.options.prices || self.options.commands) {
            return Ok(None);
        }
        let (mut workers, mut problem, mut left) = (FuturesUnordered::new(), None, ScanResult::Unread);
        loop {
            let continues = problem.is_none() && !self.context.stop.is_cancelled();
            let has_capacity = continues && self.dispatch(&mut workers);
            let now = self.context.clock.monotonic();
            let read_again = self.queue().valid_until();
            if has_capacity && left == ScanResult::Unread && now >= read_again {
                match self.scan_while_working(&mut workers, &mut problem).await {
                    Ok(found) => left = found,
                    Err(error) => match self.after(error, None) {
                        Ok(pause) => left = ScanResult::NothingBefore(Some(now + pause)),
                        Err(end) => problem = Some(end),
                    },
                }
                continue;
            }
            if workers.is_empty() {
                match (continues, left) {
                    (false, _) => return problem.map_or(Ok(None), Err),
                    (true, ScanResult::NothingBefore(at)) => return Ok(at.map(|at| at.saturating_sub(now))),
                    (true, ScanResult::Unread) => (),
                }
            }
            let due = async {
                match left {
                    ScanResult::Unread if has_capacity => {
                        self.context.clock.sleep(read_again.saturating_sub(now)).await;
                    }
                    ScanResult::NothingBefore(Some(at)) if has_capacity => {
                        self.context.clock.sleep(at.saturating_sub(now)).await;
                    }
                    _ => std::future::pending().await,
                }
            };
            let _waiting = watch::idle();
            tokio::select! {
                Some(ended) = workers.next() => problem = problem.or(ended.err()),
                () = written.notified(), if has_capacity => (),
                () = due => (),
                () = self.context.stop.cancelled(), if continues => (),
            }
            left = ScanResult::Unread;
        }
    }

    /// Gives each free worker the most urgent job of the last scan, while that scan is valid. Returns whether a worker
    /// is still free.
    fn dispatch<'s>(&'s self, workers: &mut FuturesUnordered<Worker<'s>>) -> bool {
        while workers.len() < WORKERS {
            let Some(job) = self.take() else { return true };
            workers.push(Box::pin(watch::lane("outbox", self.run(job))));
        }
        false
    }

    fn take(&self) -> Option<Job> {
        let now = self.context.clock.monotonic();
        self.queue().take(now)
    }

    /// Scans the open work while the workers go on. The scan leaves out the work of a worker that ends meanwhile.
    async fn scan_while_working(
        &self,
        workers: &mut FuturesUnordered<Worker<'_>>,
        problem: &mut Option<Error>,
    ) -> Result<ScanResult, Error> {
        let (mut reading, mut has_ended) = (pin!(self.read()), false);
        loop {
            tokio::select! {
                biased;
                found = &mut reading => return found.map(|left| if has_ended { ScanResult::Unread } else { left }),
                Some(ended) = workers.next() => {
                    has_ended = true;
                    *problem = problem.take().or(ended.err());
                }
            }
        }
    }

    /// Scans the open work that is not under way, and queues what is due, the most urgent first.
    async fn read(&self) -> Result<ScanResult, Error> {
        let began = self.context.clock.monotonic();
        let is_locked = self.scan().await?;
        let now = self.context.clock.monotonic();
        let again = is_locked.then_some(now + LOCKED_PAUSE);
        Ok(match self.queue().end_scan(now, now.saturating_sub(began)) {
            Found::Due => ScanResult::Unread,
            Found::NothingBefore(at) => ScanResult::NothingBefore(at.into_iter().chain(again).min()),
        })
    }

    /// Offers the queue all open intents and effects that are not under way, a page at a time. Returns whether the ERP
    /// has a table locked: its rows wait, and no others.
    async fn scan(&self) -> Result<bool, Error> {
        let Workers { guards, stock, policy, .. } = &self.workers;
        guards.load().await?;
        stock.recheck_unknown_skus().await?;
        let mut is_locked = self.is_locked(policy.apply().await)?;
        self.queue().begin_scan(self.context.clock.monotonic());
        // Note the busy keys first: work that is under way now may end before its row is read, and the row is then out
        // of date.
        let mut scan = Scan::new(self.queue().busy_keys());
        self.scan_effects(&mut scan).await?;
        let holds = |activity| self.context.holds(activity);
        if self.options.stock && !holds(Activity::Stock) {
            is_locked |= self.is_locked(self.scan_levels(&mut scan).await)?;
        }
        if self.options.commands
            && !holds(Activity::Commands)
            && self.is_locked(self.scan_commands(&mut scan).await)?
        {
            scan.commands_are_locked(self.context.clock.now());
            is_locked = true;
        }
        if self.options.prices && !holds(Activity::Prices) {
            is_locked |= self.is_locked(self.scan_prices(&mut scan).await)?;
        }
        scan.finish(&mut self.queue());
        Ok(is_locked)
    }

    /// Says whether a table could not be read because the ERP has it locked.
    fn is_locked(&self, read: Result<(), Error>) -> Result<bool, Error> {
        match read {
            Ok(()) => Ok(false),
            Err(error) if is_lock(&error) => {
                let error = with_causes(&error);
                tracing::info!(store = %self.context.key, error, "a table of the ERP is locked; will retry");
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    async fn scan_effects(&self, scan: &mut Scan) -> Result<(), Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        let acting = self.workers.journal.acting();
        let mut found = Vec::new();
        for effect in store.journal().open_effects(key).await? {
            let owner = self.owner_of(&effect).await?;
            found.push((effect, owner));
        }
        if found.is_empty() {
            return Ok(());
        }
        // A command may have ended between the two reads, and its effect must not look like an orphan.
        let open: HashSet<i64> = store.journal().open_effects(key).await?.iter().map(|one| one.id).collect();
        // Both then and now: an effect may have been planned in between.
        let now_acting = self.workers.journal.acting();
        let is_acting = |id: &i64| acting.contains(id) || now_acting.contains(id);
        for (effect, owner) in found {
            if open.contains(&effect.id) && !is_acting(&effect.id) {
                scan.effect(effect, owner, &mut self.queue());
            }
        }
        Ok(())
    }

    /// Returns the open command that settles an effect, if there is one as it was when the effect was planned.
    async fn owner_of(&self, effect: &Effect) -> Result<Option<i64>, Error> {
        let (Some(id), Some(fingerprint)) = (effect.command_id, &effect.fingerprint) else { return Ok(None) };
        let (store, key) = (&self.context.store, &self.context.key);
        if !self.options.commands {
            return Ok(None);
        }
        match store.commands().is_command_open(key, id, fingerprint).await.map_err(Error::from) {
            Ok(is_open) => Ok(is_open.then_some(id)),
            // Its command may be open, and settles it then.
            Err(error) if is_lock(&error) => Ok(Some(id)),
            Err(error) => Err(error),
        }
    }

    async fn scan_commands(&self, scan: &mut Scan) -> Result<(), Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        let now = self.context.clock.now();
        let mut after = i64::MIN;
        loop {
            let page = store.commands().open_page(key, after).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.id;
            for row in page {
                if row.is_too_large {
                    self.workers.answers.refuse_command(row.id, &too_large()).await?;
                    continue;
                }
                if is_recent_dispatch(&row, now) {
                    let skus = store.lookups().skus_of_order(key, &row.key).await?;
                    skus.into_iter().for_each(|sku| scan.note_dispatched(sku));
                }
                if self.queue().wants(Rank::Command) {
                    let name = row.id.to_string();
                    match self.context.attempt_part(Input::Command, &name, self.with_keys(&row)).await {
                        Attempt::Ended(command) => scan.command(command?, &mut self.queue()),
                        // The next scan tries it once more.
                        Attempt::Panicked(_) => (),
                        Attempt::SetAside(poison) => {
                            self.set_aside(&Work::Command(row), poison).await?;
                        }
                    }
                }
            }
        }
    }

    /// Adds the keys that its kind gives a command.
    async fn with_keys(&self, row: &OpenCommandRow) -> Result<OpenCommand, Error> {
        let whole = match row.short_data.is_none() && has_keys_in_data(&row.kind) {
            true => self.context.store.commands().read(&self.context.key, row.id).await?,
            false => None,
        };
        let whole = whole.unwrap_or_else(|| row.without_long_data());
        let handler = handler_of(&whole.kind);
        Ok(OpenCommand {
            subject: subject_key(&whole),
            conflicting: handler.and_then(|own| own.conflicting_key(&whole)),
            sequence: handler.and_then(|own| own.sequence_key(&whole)),
            command: row.clone(),
        })
    }

    async fn scan_prices(&self, scan: &mut Scan) -> Result<(), Error> {
        let mut after = None;
        while self.queue().wants(Rank::Prices) {
            let page =
                self.context.store.intents().open_prices_page(&self.context.key, after.as_ref()).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.sku.clone());
            page.into_iter().for_each(|desired| scan.prices(desired, &mut self.queue()));
        }
        Ok(())
    }

    async fn scan_levels(&self, scan: &mut Scan) -> Result<(), Error> {
        let mut guard = self.workers.stock.zero_guard().await?;
        let mut after = None;
        loop {
            let page =
                self.context.store.intents().open_stock_page(&self.context.key, after.as_ref()).await?;
            let is_last = page.is_empty();
            after = page.last().cloned();
            let passed = match &mut guard {
                Some(guard) => self.workers.stock.hold_zeroes(guard, page, scan).await?,
                None => page,
            };
            scan.levels(passed, is_last, &mut self.queue());
            if is_last {
                return Ok(());
            }
        }
    }

    /// Runs one job, unless the service stops.
    async fn run(&self, job: Job) -> Result<(), Error> {
        let Job { keys, asked, work, .. } = job;
        let key = keys.first().cloned().unwrap_or_default();
        let (input, name) = input_of(&work);
        let answered = match self.context.attempt(input, &name, self.carry_out(&work)).await {
            Attempt::Ended(answered) => answered,
            Attempt::Panicked(panicked) => Err(panicked_problem(&panicked, &self.context.key).into()),
            Attempt::SetAside(poison) => self.set_aside(&work, poison).await,
        };
        if let Err(Error::Api(error)) = &answered {
            self.report_obstacle(&key, &asked, &work, error).await;
        }
        let now = self.context.clock.monotonic();
        self.queue().release(&keys);
        match answered {
            Ok(wait) => {
                self.queue().done(&key, &asked, now, wait);
                Ok(())
            }
            Err(error) => self.after(error, Some((&key, &asked))).map(drop),
        }
    }

    async fn carry_out(&self, work: &Work) -> Result<Duration, Error> {
        let (input, name) = input_of(work);
        fault::point(input.as_str(), &name);
        match work {
            _ if self.context.stop.is_cancelled() => Ok(Duration::ZERO),
            // Settling and verifying send nothing.
            _ if activity_of(work).is_some_and(|activity| self.context.holds(activity)) => Ok(HELD_PAUSE),
            Work::Settle(effect) => {
                self.workers.settlements.settle_orphan(effect).await.map(Option::unwrap_or_default)
            }
            Work::Stock(row) => self.workers.stock.push(row).await,
            Work::Verify(product, rows) => self.workers.stock.verify(product, rows).await,
            Work::Prices(desired) => self.workers.prices.push(desired).await,
            Work::Command(command) => self.workers.commands.run(command).await,
        }
    }

    /// Sets aside what panicked, or ended the process: its row says so, and is tried again when a person says so, or
    /// the ERP writes it anew. What may have been sent is in doubt.
    async fn set_aside(&self, work: &Work, poison: Poison) -> Result<Duration, Error> {
        let message = Message::new(POISONED, poison.text());
        let answers = &self.workers.answers;
        match work {
            Work::Settle(effect) => {
                let lost = Settlement::Unprovable(message);
                self.workers.journal.note_settlement(effect, &lost).await?;
            }
            Work::Stock(row) => {
                let has_left = row.state == Some(PushState::Sending);
                let verdict = if has_left { Verdict::Doubtful(message) } else { Verdict::Failed(message) };
                answers.level(row, &verdict).await?;
            }
            Work::Verify(_, rows) => {
                for row in rows {
                    answers.level(row, &Verdict::Doubtful(message.clone())).await?;
                }
            }
            Work::Prices(desired) => answers.prices(desired, &Verdict::Failed(message)).await?,
            Work::Command(row) => {
                let has_acted = self.may_have_acted(row.id).await;
                let verdict = if has_acted { Verdict::Doubtful(message) } else { Verdict::Failed(message) };
                answers.refuse_command(row.id, &verdict).await?;
            }
        }
        let (input, name) = input_of(work);
        self.context.forget_attempts(input, &name).await;
        Ok(Duration::ZERO)
    }

    /// Writes a lasting obstacle to the rows: errors that go away by themselves do not end a row, but must not be
    /// hidden.
    async fn report_obstacle(&self, key: &str, asked: &str, work: &Work, error: &ApiError) {
        let failures = self.queue().failures(key, asked);
        if failures < SHOWN_AFTER || error.is_authentication() || error.is_not_ours() {
            return;
        }
        let message = Message::of(error);
        let message = match failures >= FAILED_AFTER {
            true => Verdict::Failed(message),
            false => Verdict::Waiting(message, LONGEST_PAUSE),
        };
        let answered = match work {
            Work::Settle(_) => Ok(()),
            Work::Stock(row) => self.workers.answers.level(row, &message).await,
            // Sent levels stay open for verification until the job gives up.
            Work::Verify(_, rows) if failures >= FAILED_AFTER => {
                let mut answered = Ok(());
                for row in rows {
                    answered = answered.and(self.workers.answers.level(row, &message).await);
                }
                answered
            }
            Work::Verify(..) => Ok(()),
            Work::Prices(desired) => self.workers.answers.prices(desired, &message).await,
            Work::Command(row) => {
                let is_lost = failures >= FAILED_AFTER && self.is_unsettled(row.id).await;
                let message = if is_lost { Verdict::Doubtful(doubtful(&error.code())) } else { message };
                self.workers.commands.report(row, &message).await
            }
        };
        if let Err(Error::Store(error)) = answered {
            tracing::info!(store = %self.context.key, key, %error, "cannot answer a row; will retry");
        }
    }

    /// Says whether an effect of a command may have happened with an unknown outcome.
    async fn is_unsettled(&self, command: i64) -> bool {
        let open = self.context.store.journal().open_effects(&self.context.key).await.unwrap_or_default();
        open.iter().any(|effect| effect.command_id == Some(command) && effect.sent_at.is_some())
    }

    /// Says whether something that a command asked for has happened, or may have.
    async fn may_have_acted(&self, command: i64) -> bool {
        let effects = self.context.store.journal().effects_by_number(&self.context.key, command).await;
        effects.map_or(true, |effects| {
            let acted = [EffectState::Sent, EffectState::Confirmed, EffectState::Doubtful];
            effects.iter().any(|effect| acted.contains(&effect.state))
        })
    }

    /// Says whether the marketplace has answered nothing for a while: a single request that it cannot answer is no
    /// outage.
    fn is_outage(&self) -> bool {
        let lost_since = self.context.client.metrics().lost_since();
        lost_since
            .is_some_and(|since| (self.context.clock.now() - since).to_std().is_ok_and(|ago| ago >= OUTAGE))
    }

    /// Decides what an error means: the end of the work on the store, or a pause. Without a job it is an error of the
    /// scan.
    fn after(&self, error: Error, job: Option<(&str, &str)>) -> Result<Duration, Error> {
        if error.ends_all() {
            return Err(error);
        }
        // The rate limiter waits for as long as the marketplace said.
        if matches!(&error, Error::Api(error) if matches!(error.kind(), Some(Documented::TooManyRequests))) {
            return Ok(Duration::ZERO);
        }
        // The next scan answers rows that cannot be read, and does not wait until it is time to look for them.
        if matches!(error, Error::Store(StoreError::Corrupt { .. })) {
            self.workers.stock.products_were_mirrored();
        }
        // A lock ends some time, and is not held against the row.
        let (now, is_outage) = (self.context.clock.monotonic(), self.is_outage() || is_lock(&error));
        let mut queue = self.queue();
        let (key, pause) = match job {
            Some((key, asked)) => (key, queue.failed(key, asked, now, is_outage)),
            None => ("scan", queue.scan_failed(now, is_outage)),
        };
        let (error, seconds) = (with_causes(&error), pause.as_secs());
        tracing::warn!(store = %self.context.key, key, error, seconds, "push task failed; will retry");
        Ok(pause)
    }
}

/// Says whether another program keeps locked what was asked for.
fn is_lock(error: &Error) -> bool {
    matches!(error, Error::Store(error) if error.trouble() == DatabaseTrouble::Busy)
}

/// The activity of a job, as far as a pause holds it.
fn activity_of(work: &Work) -> Option<Activity> {
    match work {
        Work::Settle(_) | Work::Verify(..) => None,
        Work::Stock(_) => Some(Activity::Stock),
        Work::Prices(_) => Some(Activity::Prices),
        Work::Command(_) => Some(Activity::Commands),
    }
}

/// Returns what a job works on, and its key.
fn input_of(work: &Work) -> (Input, String) {
    match work {
        Work::Settle(effect) => (Input::Effect, effect.id.to_string()),
        Work::Stock(row) => (Input::Stock, key_in_table(row)),
        Work::Verify(product, _) => (Input::Stock, format!("verify {product}")),
        Work::Prices(desired) => (Input::Price, desired.sku.to_string()),
        Work::Command(row) => (Input::Command, row.id.to_string()),
    }
}

fn too_large() -> Verdict {
    Verdict::Failed(Message::new("too_large", text!("push-too-large")))
}
