//! The queue of intents: gives each free worker the most urgent job that is due. `scan` finds the jobs.

mod scan;

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use espelho_api_client::{Documented, Error as ApiError};
use espelho_model::{fault, push::PushState, watch};
use espelho_store::{DatabaseTrouble, EffectState, Error as StoreError, POISONED};
use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::sync::Notify;

use super::{
    campaign_policy::CampaignPolicy,
    commands::CommandHandlers,
    guard_history::GuardHistory,
    journal::Journal,
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
        Message, Settlement, Verdict,
        evidence::Evidence as _,
        in_doubt::{self, in_doubt},
        job_queue::{FAILED_AFTER, JobQueue, LONGEST_PAUSE, SHOWN_AFTER},
        jobs::{Job, Work},
        level_evidence::LevelEvidence,
    },
    quarantine::{Attempt, Poison, panicked_problem},
    report::with_causes,
};
use scan::Walks;

/// Jobs at once. Each waits for the budget most of the time.
const WORKERS: usize = 8;
/// The pause before a table that the ERP has locked is read again.
const LOCKED_PAUSE: Duration = Duration::from_secs(2);
/// A job that was queued before its kind was paused is tried again after this time.
const HELD_PAUSE: Duration = Duration::from_secs(2);
/// The marketplace counts as down when it has answered nothing at all for this long.
const OUTAGE: Duration = Duration::from_secs(20);

/// A worker: the run of one job.
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
    executors: Executors<'c>,
    /// The open jobs that are not under way.
    jobs: Mutex<JobQueue<Work>>,
    /// How far the scan has come.
    walks: Mutex<Walks>,
    /// The last logged error of a scan, and until when it is not logged again.
    logged: Mutex<Option<(String, Duration)>>,
}

/// The components that carry out the jobs, one for each kind of work. They are shared by the [`WORKERS`] futures
/// ([`Worker`]) that run jobs side by side.
pub(crate) struct Executors<'c> {
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
    pub(super) fn new(context: &'c StoreContext, options: &'c PushOptions, executors: Executors<'c>) -> Self {
        Self {
            context,
            options,
            executors,
            jobs: Mutex::default(),
            walks: Mutex::default(),
            logged: Mutex::default(),
        }
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
                self.executors.settlements.settle_orphan(effect).await.map(Option::unwrap_or_default)
            }
            Work::Stock(row) => self.executors.stock.push(row).await,
            Work::Verify(product, rows) => self.executors.stock.verify(product, rows).await,
            Work::Prices(desired) => self.executors.prices.push(desired).await,
            Work::Command(command) => self.executors.commands.run(command).await,
        }
    }

    /// Sets aside what panicked, or ended the process: its row says so, and is tried again when a person says so, or
    /// the ERP writes it anew. What may have been sent is in doubt.
    async fn set_aside(&self, work: &Work, poison: Poison) -> Result<Duration, Error> {
        let message = Message::new(POISONED, poison.text());
        let may_have_left = |kind: &str| in_doubt::set_aside(kind, POISONED, poison.text());
        let answers = &self.executors.answers;
        match work {
            Work::Settle(effect) => {
                let lost = Settlement::Unprovable(may_have_left(&effect.kind));
                self.executors.journal.note_settlement(effect, &lost).await?;
            }
            Work::Stock(row) => {
                let has_left = row.state == Some(PushState::Sending);
                let verdict = match has_left {
                    true => Verdict::Doubtful(may_have_left(LevelEvidence::KIND)),
                    false => Verdict::Failed(message),
                };
                answers.level(row, &verdict).await?;
            }
            Work::Verify(_, rows) => {
                for row in rows {
                    answers.level(row, &Verdict::Doubtful(may_have_left(LevelEvidence::KIND))).await?;
                }
            }
            Work::Prices(desired) => answers.prices(desired, &Verdict::Failed(message)).await?,
            Work::Command(row) => {
                let has_acted = self.may_have_acted(row.id).await;
                let verdict = match has_acted {
                    true => Verdict::Doubtful(may_have_left(&row.kind)),
                    false => Verdict::Failed(message),
                };
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
            Work::Stock(row) => self.executors.answers.level(row, &message).await,
            // Sent levels stay open for verification until the job gives up.
            Work::Verify(_, rows) if failures >= FAILED_AFTER => {
                let mut answered = Ok(());
                for row in rows {
                    answered = answered.and(self.executors.answers.level(row, &message).await);
                }
                answered
            }
            Work::Verify(..) => Ok(()),
            Work::Prices(desired) => self.executors.answers.prices(desired, &message).await,
            Work::Command(row) => {
                let is_lost = failures >= FAILED_AFTER && self.is_unsettled(row.id).await;
                let message =
                    if is_lost { Verdict::Doubtful(in_doubt(&row.kind, &error.code())) } else { message };
                self.executors.commands.report(row, &message).await
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
            self.executors.stock.rows_are_unreadable();
        }
        // A lock ends some time, and is not held against the row.
        let (now, is_outage) = (self.context.clock.monotonic(), self.is_outage() || is_lock(&error));
        let mut queue = self.queue();
        let (key, pause) = match job {
            Some((key, asked)) => (key, queue.failed(key, asked, now, is_outage)),
            None => ("scan", queue.scan_failed(now, is_outage)),
        };
        let (error, seconds) = (with_causes(&error), pause.as_secs());
        match job.is_none() && self.is_logged(&error, now, pause) {
            true => {
                tracing::debug!(store = %self.context.key, key, error, seconds, "push task failed; will retry");
            }
            false => {
                tracing::warn!(store = %self.context.key, key, error, seconds, "push task failed; will retry");
            }
        }
        Ok(pause)
    }

    /// Says whether this error of a scan was logged less than a pause ago. New rows cut the pause short, and must not
    /// fill the log.
    fn is_logged(&self, error: &str, now: Duration, pause: Duration) -> bool {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.as_ref().is_some_and(|(last, until)| last == error && now < *until) {
            return true;
        }
        *logged = Some((error.to_owned(), now + pause));
        false
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
