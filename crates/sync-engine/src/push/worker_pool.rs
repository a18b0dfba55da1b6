//! The worker pool: runs a few jobs at once, always the most urgent of those that are due.

use std::{pin::pin, time::Duration};

use espelho_api_client::{Documented, Error as ApiError};
use espelho_model::watch;
use espelho_store::Command;
use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::sync::Notify;

use super::{
    Pusher,
    cause::Cause,
    job::{Job, Work},
};
use crate::{
    Problem, Trouble,
    plan::push::{
        Message, Verdict, doubtful,
        job_queue::{FAILED_AFTER, Found, LONGEST_PAUSE, SHOWN_AFTER},
    },
};

/// Jobs at once. Each waits for the budget most of the time.
const WORKERS: usize = 8;
/// The marketplace counts as down when it has answered nothing at all for this long.
const OUTAGE: Duration = Duration::from_secs(20);

type Worker<'s> = BoxFuture<'s, Result<(), Problem>>;

/// What the last scan found about open work that is not under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanResult {
    /// Something may be due.
    Unread,
    /// Nothing is due before this monotonic time; with `None`, not before something is written.
    NothingBefore(Option<Duration>),
}

impl Pusher<'_> {
    /// Processes all open work, the most urgent first, until nothing is due. Returns the time until something is due,
    /// where anything waits. `written` signals new rows.
    ///
    /// # Errors
    /// Only an error that ends the work on the store: all others are in the rows.
    pub async fn work(&self, written: &Notify) -> Result<Option<Duration>, Problem> {
        if !(self.options.stock || self.options.prices || self.options.commands) {
            return Ok(None);
        }
        let (mut workers, mut problem, mut left) = (FuturesUnordered::new(), None, ScanResult::Unread);
        loop {
            let continues = problem.is_none() && !self.context.stop.is_cancelled();
            let has_capacity = continues && self.dispatch(&mut workers);
            let now = self.context.clock.monotonic();
            let read_again = self.state().jobs.valid_until();
            if has_capacity && left == ScanResult::Unread && now >= read_again {
                match self.scan_while_working(&mut workers, &mut problem).await {
                    Ok(found) => left = found,
                    Err(cause) => match self.after(&cause, None) {
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
        self.state().jobs.take(now)
    }

    /// Scans the open work while the workers go on. The scan leaves out the work of a worker that ends meanwhile.
    async fn scan_while_working(
        &self,
        workers: &mut FuturesUnordered<Worker<'_>>,
        problem: &mut Option<Problem>,
    ) -> Result<ScanResult, Cause> {
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
    async fn read(&self) -> Result<ScanResult, Cause> {
        let began = self.context.clock.monotonic();
        let jobs = self.jobs().await?;
        let now = self.context.clock.monotonic();
        Ok(match self.state().jobs.fill(jobs, now, now.saturating_sub(began)) {
            Found::Due => ScanResult::Unread,
            Found::NothingBefore(at) => ScanResult::NothingBefore(at),
        })
    }

    /// Runs one job, unless the service stops.
    async fn run(&self, job: Job) -> Result<(), Problem> {
        let Job { keys, asked, work, .. } = job;
        let key = keys.first().cloned().unwrap_or_default();
        let answered = match &work {
            _ if self.context.stop.is_cancelled() => Ok(Duration::ZERO),
            Work::Settle(effect) => self.settle_orphan(effect).await.map(Option::unwrap_or_default),
            Work::Stock(row) => self.push_level(row).await,
            Work::Verify(product, rows) => self.verify_levels(product, rows).await,
            Work::Prices(desired) => self.push_prices(desired).await,
            Work::Command(command) => self.run_command(command).await,
        };
        if let Err(Cause::Api(error)) = &answered {
            self.report_obstacle(&key, &asked, &work, error).await;
        }
        let now = self.context.clock.monotonic();
        self.state().jobs.release(&keys);
        match answered {
            Ok(wait) => {
                self.state().jobs.done(key, asked, now, wait);
                Ok(())
            }
            Err(cause) => self.after(&cause, Some((&key, asked))).map(drop),
        }
    }

    /// Writes a lasting obstacle to the rows: errors that go away by themselves do not end a row, but must not be
    /// hidden.
    async fn report_obstacle(&self, key: &str, asked: &str, work: &Work, error: &ApiError) {
        let failures = self.state().jobs.failures(key, asked);
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
            Work::Stock(row) => self.answer_level(row, &message).await,
            // Sent levels stay open for verification until the job gives up.
            Work::Verify(_, rows) if failures >= FAILED_AFTER => {
                let mut answered = Ok(());
                for row in rows {
                    answered = answered.and(self.answer_level(row, &message).await);
                }
                answered
            }
            Work::Verify(..) => Ok(()),
            Work::Prices(desired) => self.answer_prices(desired, &message).await,
            Work::Command(command) => match (failures >= FAILED_AFTER, self.is_unsettled(command).await) {
                (true, true) => {
                    self.answer_if_changed(command, &Verdict::Doubtful(doubtful(&error.code()))).await
                }
                _ => self.answer_if_changed(command, &message).await,
            },
        };
        if let Err(Cause::Store(error)) = answered {
            tracing::info!(store = %self.context.key, key, %error, "cannot answer a row; will retry");
        }
    }

    /// Says whether an effect of a command may have happened with an unknown outcome.
    async fn is_unsettled(&self, command: &Command) -> bool {
        let open = self.context.store.journal().open_effects(&self.context.key).await.unwrap_or_default();
        open.iter().any(|effect| effect.command_id == Some(command.id) && effect.sent_at.is_some())
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
    fn after(&self, cause: &Cause, job: Option<(&str, String)>) -> Result<Duration, Problem> {
        let problem = match cause {
            Cause::Api(error) => Problem::from_api(error),
            Cause::Store(error) => Problem::from_store(error),
        };
        if matches!(problem.trouble, Trouble::Authentication | Trouble::Held | Trouble::Configuration) {
            return Err(problem);
        }
        // The rate limiter waits for as long as the marketplace said.
        if matches!(cause, Cause::Api(error) if matches!(error.kind(), Some(Documented::TooManyRequests))) {
            return Ok(Duration::ZERO);
        }
        let (now, is_outage) = (self.context.clock.monotonic(), self.is_outage());
        let mut state = self.state();
        let (key, pause) = match job {
            Some((key, asked)) => (key, state.jobs.failed(key, asked, now, is_outage)),
            None => ("scan", state.jobs.scan_failed(now, is_outage)),
        };
        let (error, seconds) = (&problem.error, pause.as_secs());
        tracing::warn!(store = %self.context.key, key, error, seconds, "push task failed; will retry");
        Ok(pause)
    }
}
