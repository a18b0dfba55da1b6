//! The worker pool: runs a few jobs at once, each the most urgent of those that are due.

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
/// The marketplace is away when it has answered nothing at all for so long.
const OUTAGE: Duration = Duration::from_secs(20);

type Worker<'s> = BoxFuture<'s, Result<(), Problem>>;

/// What is known of what is wanted and not under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Something may be due.
    Unread,
    /// Nothing is due before then, by the monotonic clock; not before something is written where it is `None`.
    NothingBefore(Option<Duration>),
}

impl Pusher<'_> {
    /// Does everything that is wanted, the most urgent first, until nothing is due; gives after how long something will be, where
    /// anything waits. `written` tells of what was written meanwhile.
    ///
    /// # Errors
    /// Only what ends the work on the store: the rest stands in the rows.
    pub async fn work(&self, written: &Notify) -> Result<Option<Duration>, Problem> {
        if !(self.options.stock || self.options.prices || self.options.commands) {
            return Ok(None);
        }
        let (mut workers, mut problem, mut left) = (FuturesUnordered::new(), None, Left::Unread);
        loop {
            let goes_on = problem.is_none() && !self.context.stop.is_cancelled();
            let has_capacity = goes_on && self.dispatch(&mut workers);
            let now = self.context.clock.monotonic();
            let read_again = self.state().jobs.valid_until();
            if has_capacity && left == Left::Unread && now >= read_again {
                match self.read_beside(&mut workers, &mut problem).await {
                    Ok(found) => left = found,
                    Err(cause) => match self.after(&cause, None) {
                        Ok(pause) => left = Left::NothingBefore(Some(now + pause)),
                        Err(end) => problem = Some(end),
                    },
                }
                continue;
            }
            if workers.is_empty() {
                match (goes_on, left) {
                    (false, _) => return problem.map_or(Ok(None), Err),
                    (true, Left::NothingBefore(at)) => return Ok(at.map(|at| at.saturating_sub(now))),
                    (true, Left::Unread) => (),
                }
            }
            let due = async {
                match left {
                    Left::Unread if has_capacity => {
                        self.context.clock.sleep(read_again.saturating_sub(now)).await;
                    }
                    Left::NothingBefore(Some(at)) if has_capacity => {
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
                () = self.context.stop.cancelled(), if goes_on => (),
            }
            left = Left::Unread;
        }
    }

    /// Gives each free hand the next of the last reading, while that counts; whether a hand is free still.
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

    /// Reads everything that is wanted, while what is under way goes on. What ends meanwhile was left out of the reading.
    async fn read_beside(
        &self,
        workers: &mut FuturesUnordered<Worker<'_>>,
        problem: &mut Option<Problem>,
    ) -> Result<Left, Cause> {
        let (mut reading, mut has_ended) = (pin!(self.read()), false);
        loop {
            tokio::select! {
                biased;
                found = &mut reading => return found.map(|left| if has_ended { Left::Unread } else { left }),
                Some(ended) = workers.next() => {
                    has_ended = true;
                    *problem = problem.take().or(ended.err());
                }
            }
        }
    }

    /// Reads everything that is wanted and not under way, and keeps what of it is due, the most urgent first.
    async fn read(&self) -> Result<Left, Cause> {
        let began = self.context.clock.monotonic();
        let jobs = self.jobs().await?;
        let now = self.context.clock.monotonic();
        Ok(match self.state().jobs.fill(jobs, now, now.saturating_sub(began)) {
            Found::Due => Left::Unread,
            Found::NothingBefore(at) => Left::NothingBefore(at),
        })
    }

    /// Does one job, unless the service ends.
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

    /// Says in the rows what keeps them waiting, when that is so for long: errors that pass do not end them, and must not hide.
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
        let listener = match work {
            Work::Settle(_) => Ok(()),
            Work::Stock(row) => self.answer_level(row, &message).await,
            // What was sent stays what is looked at, until nobody looks any more.
            Work::Verify(_, rows) if failures >= FAILED_AFTER => {
                let mut listener = Ok(());
                for row in rows {
                    listener = listener.and(self.answer_level(row, &message).await);
                }
                listener
            }
            Work::Verify(..) => Ok(()),
            Work::Prices(desired) => self.answer_prices(desired, &message).await,
            Work::Command(command) => match (failures >= FAILED_AFTER, self.is_unsettled(command).await) {
                (true, true) => {
                    self.answer_if_news(command, &Verdict::Doubtful(doubtful(&error.code()))).await
                }
                _ => self.answer_if_news(command, &message).await,
            },
        };
        if let Err(Cause::Store(error)) = listener {
            tracing::info!(store = %self.context.key, key, %error, "a row is answered later");
        }
    }

    /// Whether something of a command may have happened, and nobody knows.
    async fn is_unsettled(&self, command: &Command) -> bool {
        let open = self.context.store.journal().open_effects(&self.context.key).await.unwrap_or_default();
        open.iter().any(|effect| effect.command_id == Some(command.id) && effect.sent_at.is_some())
    }

    /// Whether the marketplace has answered nothing for a while: a single thing that it cannot answer is none.
    fn is_outage(&self) -> bool {
        let lost_since = self.context.client.metrics().lost_since();
        lost_since
            .is_some_and(|since| (self.context.clock.now() - since).to_std().is_ok_and(|ago| ago >= OUTAGE))
    }

    /// What an error means: the end of the work on the store, or a pause. Without a job it is the scan's.
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
