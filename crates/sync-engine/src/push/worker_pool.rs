//! Hands: a few things are under way at once, and whoever is free takes the most urgent of what is left.

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
use crate::plan::push::{Message, Verdict, doubtful};
use crate::{Problem, Trouble};

/// How many jobs are under way at once. Each of them waits for the budget most of the time.
const WORKERS: usize = 8;
/// A reading of everything that is wanted counts for so many times as long as it took: where much is wanted, to read it all
/// whenever a hand is free would be most of the work.
const READING_COUNTS: u32 = 8;
/// But for no longer than this: what is urgent and new is not known before the next one.
const READING_COUNTS_FOR: Duration = Duration::from_secs(2);
/// After so many errors in a row, half a minute, the row says what is in the way.
const SAID_AFTER: u32 = 4;
/// After so many it fails: that is a day.
const FAILED_AFTER: u32 = 290;
/// Between two attempts after an error that passes, doubled each time up to the last.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LAST_PAUSE: Duration = Duration::from_secs(300);
/// While the marketplace has answered nothing at all for so long, nothing pauses longer and nothing is given up: what waits goes on
/// soon after an outage, however long that was.
const OUTAGE: Duration = Duration::from_secs(20);

/// The key of the reading itself.
const READING: &str = "";

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
            let read_again = self.state().read_again;
            if has_capacity && left == Left::Unread && now >= read_again {
                match self.read_beside(&mut workers, &mut problem).await {
                    Ok(found) => left = found,
                    Err(cause) => match self.after(&cause, READING, String::new()) {
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
        let mut state = self.state();
        if self.context.clock.monotonic() >= state.read_again {
            return None;
        }
        let is_free =
            |job: &Job| !job.keys.iter().any(|key| state.busy.iter().flatten().any(|busy| busy == key));
        // Of what has a key in common the first goes ahead; the other is left for the next reading.
        let at = state.queue.iter().position(is_free)?;
        let job = state.queue.remove(at)?;
        state.busy.push(job.keys.clone());
        Some(job)
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
        let mut state = self.state();
        state.failures.remove(READING);
        state.later.retain(|_, (_, at)| *at > now);
        let pause = |job: &Job| {
            let (asked, at) = state.later.get(job.key())?;
            (*asked == job.asked).then_some(*at)
        };
        let (due, waiting): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| pause(job).is_none());
        let next = waiting.iter().filter_map(pause).min();
        state.queue = due.into();
        let counts_for = (now.saturating_sub(began) * READING_COUNTS).min(READING_COUNTS_FOR);
        Ok(match state.queue.is_empty() {
            true => {
                state.read_again = now + counts_for;
                Left::NothingBefore(next)
            }
            // At least until the hands have something.
            false => {
                state.read_again = now + counts_for.max(Duration::from_millis(1));
                Left::Unread
            }
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
        self.state().free(&keys);
        match answered {
            Ok(wait) => {
                let mut state = self.state();
                state.failures.remove(&key);
                state.later.insert(key, (asked, now + wait));
                Ok(())
            }
            Err(cause) => self.after(&cause, &key, asked).map(drop),
        }
    }

    /// Says in the rows what keeps them waiting, when that is so for long: errors that pass do not end them, and must not hide.
    async fn report_obstacle(&self, key: &str, asked: &str, work: &Work, error: &ApiError) {
        let failures =
            self.state().failures.get(key).filter(|(then, _)| then == asked).map_or(0, |(_, n)| *n);
        if failures < SAID_AFTER || error.is_authentication() || error.is_not_ours() {
            return;
        }
        let message = Message::of(error);
        let message = match failures >= FAILED_AFTER {
            true => Verdict::Failed(message),
            false => Verdict::Waiting(message, LAST_PAUSE),
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
        let open = self.context.store.open_effects(&self.context.key).await.unwrap_or_default();
        open.iter().any(|effect| effect.command_id == Some(command.id) && effect.sent_at.is_some())
    }

    /// Whether the marketplace has answered nothing for a while: a single thing that it cannot answer is none.
    fn is_outage(&self) -> bool {
        let lost_since = self.context.client.metrics().lost_since();
        lost_since
            .is_some_and(|since| (self.context.clock.now() - since).to_std().is_ok_and(|ago| ago >= OUTAGE))
    }

    /// What an error means: the end of the work on the store, or a pause.
    fn after(&self, cause: &Cause, key: &str, asked: String) -> Result<Duration, Problem> {
        let problem = match cause {
            Cause::Api(error) => Problem::from_api(error),
            Cause::Store(error) => Problem::from_store(error),
        };
        if matches!(problem.trouble, Trouble::Authentication | Trouble::Held | Trouble::Configuration) {
            return Err(problem);
        }
        let mut state = self.state();
        // Who is asked to wait waits at the gate, for as long as was said.
        if matches!(cause, Cause::Api(error) if matches!(error.kind(), Some(Documented::TooManyRequests))) {
            return Ok(Duration::ZERO);
        }
        let (then, failures) = state.failures.entry(key.to_owned()).or_default();
        // What is asked for next has met no error yet.
        if *then != asked {
            (*then, *failures) = (asked.clone(), 0);
        }
        let pause = count_failure(failures, self.is_outage());
        state.later.insert(key.to_owned(), (asked, self.context.clock.monotonic() + pause));
        let (error, seconds) = (&problem.error, pause.as_secs());
        tracing::warn!(store = %self.context.key, key, error, seconds, "what is wanted is looked at again later");
        Ok(pause)
    }
}

/// Counts one more failure in a row; the pause after it.
fn count_failure(failures: &mut u32, is_outage: bool) -> Duration {
    let most = if is_outage { SAID_AFTER + 1 } else { u32::MAX };
    *failures = failures.saturating_add(1).min(most.max(*failures));
    let longest = if is_outage { OUTAGE } else { LAST_PAUSE };
    FIRST_PAUSE.saturating_mul(1 << (*failures - 1).min(10)).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_five_minutes_and_in_an_outage_stay_short_and_are_not_held_against_the_row() {
        let pauses = |is_outage: bool, times: u32| {
            let (mut failures, mut pauses) = (0, Vec::new());
            (0..times).for_each(|_| pauses.push(count_failure(&mut failures, is_outage).as_secs()));
            (pauses, failures)
        };
        assert_eq!(pauses(false, 10), (vec![2, 4, 8, 16, 32, 64, 128, 256, 300, 300], 10));
        assert_eq!(pauses(true, 7), (vec![2, 4, 8, 16, 20, 20, 20], SAID_AFTER + 1));
        let mut failures = 100;
        assert_eq!((count_failure(&mut failures, true), failures), (OUTAGE, 100));
    }
}
