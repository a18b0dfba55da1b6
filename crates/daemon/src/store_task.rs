//! A store's own task: takes the lease, and keeps the store in step until the service stops or the lease is lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::{
    containment::{Panicked, contained},
    watch,
};
use espelho_store::{Failure, Lease, PANICKED};
use espelho_sync_engine::{
    Examination, Problem, Question, Refusal, SERVICE, StoreContext, examine,
    live::{self, AdminRequests as _, Inquiry, Wakers},
    panicked_problem,
    plan::schedule::Intervals,
};
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use crate::{
    config::{StoreConfig, WebhookConfig},
    context::{Shared, give_back},
    folder::Folder,
    health::Health,
    http::webhook::StoreWakers,
    measure::{Measure, has_own_cause, words},
    metric::list,
    password_proof::{self, Judgement, Known, PasswordRecord},
};

/// The pause before a store that could be taken but not opened is tried again.
const LEASE_RETRY: Duration = Duration::from_secs(5);
/// The pause before a store whose work ended with an error is worked on again.
const WORK_RETRY: Duration = Duration::from_secs(15);
/// The pause before a refused credential is tried again: its alarm ends within a minute of its cause.
const LOGIN_RETRY: Duration = Duration::from_secs(50);

/// The work on a store waits this long, at most, for a login that proves a credential which was refused before.
const CREDENTIAL_TRIED: Duration = Duration::from_secs(10);
/// The longest pause before a store whose work panicked is worked on again.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Work that lasted so long before its panic is tried again soon.
const STEADY: Duration = Duration::from_secs(600);
/// A panic of the work itself is shown until the work has lasted so long.
const PANICS_SHOWN: Duration = Duration::from_secs(3_600);

/// The task of a store.
pub(crate) struct StoreTask {
    pub(crate) shared: Shared,
    pub(crate) config: Arc<StoreConfig>,
    pub(crate) intervals: Intervals,
    /// Woken by the schedule.
    pub(crate) waker: Arc<Notify>,
    /// Woken by the receiver.
    pub(crate) store_wakers: StoreWakers,
    pub(crate) health: Arc<Health>,
    /// True until the work on the store begins with another password than this process had before.
    pub(crate) has_new_password: Arc<AtomicBool>,
}

/// A lease that this process holds, and when its previous owner was last seen.
pub(crate) type Taken = (Lease, Option<DateTime<Utc>>);

impl StoreTask {
    /// Takes the store, or logs why it waits: trouble with one store does not concern the others, so its task tries
    /// again.
    pub(crate) async fn take(&self) -> Result<Taken, Problem> {
        let last_seen = self.shared.last_seen(&self.config.key).await;
        match self.boxed_take().await {
            Ok(lease) => Ok((lease, last_seen)),
            Err(problem) => {
                let (key, error, next_step) = (&self.config.key, &problem.error, problem.hint());
                tracing::error!(store = %key, code = problem.code, error, next_step, "waiting for the store");
                self.note_untaken(&problem);
                Err(problem)
            }
        }
    }

    /// Works on the store whenever this process holds it, until the service stops.
    ///
    /// `self` is boxed, because the future of an `async` function has room for its arguments twice.
    pub(crate) async fn run(self: Box<Self>, taken: Option<Taken>) {
        let mut taken = taken;
        loop {
            let (lease, last_seen) = match taken.take() {
                Some(taken) => taken,
                None => match self.boxed_wait_for_lease().await {
                    Some(taken) => taken,
                    None => return,
                },
            };
            match self.boxed_open(lease).await {
                Ok(context) => {
                    // Only the holder of the store reads the files that the ERP puts there.
                    let watched = self.folder().map(Folder::watched);
                    let lease = self.boxed_work(context, last_seen).await;
                    drop(watched);
                    self.health.change(&self.config.key, |health| health.held_since = None);
                    self.boxed_give_back(lease).await;
                }
                Err(problem) => {
                    self.note_untaken(&problem);
                    self.wait(LEASE_RETRY).await;
                }
            }
            if self.shared.stop.is_cancelled() {
                return;
            }
        }
    }

    /// Keeps the store in step until the service stops or the lease is lost; returns the lease.
    async fn work(&self, mut context: Box<StoreContext>, last_seen: Option<DateTime<Utc>>) -> Lease {
        let key = &self.config.key;
        list::TASKS_RESTARTED.add(key, "", 0);
        let (now, elsewhere) = (self.shared.clock.now(), self.shared.elsewhere.of(key));
        self.health.change(key, |health| {
            (health.held_since, health.is_taking, health.problem) = (Some(now), false, None);
            health.webhook_elsewhere = elsewhere;
        });
        tracing::info!(store = %key, fence = context.lease.fence(), "store acquired");
        let measure = Measure::new(key.clone(), Arc::clone(&self.health), Arc::clone(&self.shared.clock));
        let mut options = live::Options {
            intervals: self.intervals.clone(),
            receives: self.config.webhook.is_some(),
            has_order_events: self.config.webhook.as_ref().is_some_and(WebhookConfig::has_order_events),
            has_rotation_events: self.config.webhook.as_ref().is_some_and(WebhookConfig::has_rotation_events),
            // Evidence is forgotten only where it is known to be about another address.
            address_since: Some(DateTime::UNIX_EPOCH),
            per_minute: self.config.requests_per_minute.get(),
            last_seen,
            push: self.config.push.clone(),
        };
        options.push.has_stock_events =
            self.config.webhook.as_ref().is_some_and(WebhookConfig::has_stock_events);
        self.boxed_try_credential(&context).await;
        let (mut panics, mut failures) = (0, 0);
        while !self.shared.stop.is_cancelled() {
            // A login since the last round may have registered the address.
            match Box::pin(self.shared.webhook_address_since(&self.config)).await {
                Ok(since) => options.address_since = since,
                Err(error) => {
                    tracing::warn!(store = %key, %error, "the time of the webhook's address was not read");
                }
            }
            let admin_requests = self.shared.admin_queue.of_store(key);
            let StoreWakers { inbox, gap, outbox } = &self.store_wakers;
            let wakers =
                Wakers { admin_requests: &admin_requests, inbox, gap, outbox, reconcile: &self.waker };
            // The tasks of the work are watched one by one.
            let waiting = watch::idle();
            let began = self.shared.clock.monotonic();
            let ended = tokio::select! {
                ended = contained(boxed_run(&context, wakers, &options, &measure)) => match ended {
                    Ok(ended) => ended,
                    Err(panicked) => {
                        let lasted = self.shared.clock.monotonic().saturating_sub(began);
                        panics = if lasted < STEADY { panics + 1 } else { 1 };
                        Some(self.boxed_after_panic(&context, panicked).await)
                    }
                },
                () = self.boxed_forget_panics() => None,
                () = self.boxed_try_credential_again(&context, &mut failures) => None,
                // Each task finishes its current step, and calls nothing: another process may hold the store by now.
                () = self.stop_when_lost(&context) => None,
            };
            drop(waiting);
            // Calls that were given up because of the release are no problem.
            let is_stopping = self.shared.stop.is_cancelled();
            let Some(problem) = ended.filter(|problem| !(is_stopping && problem.is_lost())) else {
                return context.lease;
            };
            self.tell(&problem);
            if problem.is_lost() {
                return context.lease;
            }
            list::TASKS_RESTARTED.add(key, "", 1);
            self.wait_before_working_again(&context, &problem, panics).await;
            context.stop = self.shared.stop.child_token();
            options.last_seen = None;
        }
        context.lease
    }

    fn boxed_try_credential<'s>(&'s self, context: &'s StoreContext) -> BoxFuture<'s, ()> {
        Box::pin(self.try_credential(context))
    }

    /// Logs in if only a login shows what the configured password is worth. The work begins at the latest after
    /// [`CREDENTIAL_TRIED`].
    async fn try_credential(&self, context: &StoreContext) {
        // A password is new once: a later start of the work has nothing new to try.
        let is_new = self.has_new_password.swap(false, Ordering::Relaxed);
        if !self.judge_password(context, is_new, 0).await.is_some_and(|judged| judged.is_login_due) {
            return;
        }
        tokio::select! {
            _ = self.log_in(context) => (),
            () = self.shared.clock.sleep(CREDENTIAL_TRIED) => (),
            () = self.shared.stop.cancelled() => (),
        }
    }

    fn boxed_try_credential_again<'s>(
        &'s self,
        context: &'s StoreContext,
        failures: &'s mut u32,
    ) -> BoxFuture<'s, ()> {
        Box::pin(self.try_credential_again(context, failures))
    }

    /// Logs in now and then for as long as no login has proved the password; `failures` counts those in a row. The
    /// work goes on meanwhile: the token lives on. It never returns.
    async fn try_credential_again(&self, context: &StoreContext, failures: &mut u32) {
        loop {
            let waiting = watch::idle();
            self.shared.clock.sleep(password_proof::LOOK).await;
            drop(waiting);
            let is_open = self.health.is_password_unproved(&self.config.key)
                || context.client.metrics().is_credential_refused();
            if !is_open {
                *failures = 0;
                continue;
            }
            // Boxed: the task sleeps nearly always.
            let judged = Box::pin(self.judge_password(context, false, *failures)).await;
            if judged.is_some_and(|judged| judged.is_login_due) && !Box::pin(self.log_in(context)).await {
                *failures += 1;
            }
        }
    }

    /// Judges the password and notes it; `None` if its record cannot be read, which proves nothing.
    async fn judge_password(&self, context: &StoreContext, is_new: bool, failures: u32) -> Option<Judgement> {
        let was_unproved = self.health.is_password_unproved(&self.config.key);
        let is_refused = context.client.metrics().is_credential_refused();
        let record = self.password_record().await.ok();
        let known = Known { is_new, was_unproved, is_refused };
        let judged = record.map(|record| record.judge(known, failures, self.shared.clock.now()));
        self.note_unproved_password(judged.is_none_or(|judged| judged.is_unproved));
        judged
    }

    /// Logs in to prove the password; returns whether it is proved. A failed login leaves the token as it is.
    async fn log_in(&self, context: &StoreContext) -> bool {
        let key = &context.key;
        match context.client.auth().log_in_unless_others_do().await {
            Ok(()) => {
                tracing::info!(store = %key, "a login has proved the password");
                self.note_unproved_password(false);
                true
            }
            Err(error) => {
                tracing::warn!(store = %key, %error, "no login has proved the password");
                false
            }
        }
    }

    /// Returns what is on record of the configured password.
    async fn password_record(&self) -> Result<PasswordRecord, espelho_store::Error> {
        let (key, tokens) = (&self.config.key, self.shared.store.tokens());
        let record = async {
            let (kept, now) = (tokens.token(key).await?, self.shared.clock.now());
            let since = password_proof::looks_back(kept.as_ref().map(|kept| kept.obtained_at), now);
            let logins = tokens.logins_since(key, since).await?;
            let logins: Vec<_> = logins.into_iter().map(|login| (login.at, login.reason)).collect();
            let is_of_token = kept.as_ref().and_then(|kept| self.config.has_password_of(kept));
            Ok(PasswordRecord::of(is_of_token, kept.is_some(), (since, now), &logins))
        };
        let record: Result<_, espelho_store::Error> = record.await;
        record.inspect_err(
            |error| tracing::warn!(store = %key, %error, "the record of the logins could not be read"),
        )
    }

    fn note_unproved_password(&self, is_unproved: bool) {
        self.health.change(&self.config.key, |health| health.is_password_unproved = is_unproved);
    }

    /// Stops the work once the store is lost. It never returns, because the work has pages to finish; but from now on
    /// nobody is told any more that the store is ours.
    async fn stop_when_lost(&self, context: &StoreContext) {
        context.lease.lease_guard().ended().await;
        tracing::warn!(store = %context.key, "lease lost; stopping the work on the store");
        self.health.change(&context.key, |health| health.held_since = None);
        context.stop.cancel();
        std::future::pending::<()>().await;
    }

    /// Waits before the work is tried again. A refused credential is tried about once a minute: the marketplace counts
    /// logins. A changed password file restarts the work by itself.
    async fn wait_before_working_again(&self, context: &StoreContext, problem: &Problem, panics: u32) {
        let retry = async {
            let pause = match problem.code.as_str() {
                _ if problem.is_authentication() => LOGIN_RETRY,
                PANICKED => after_panics(panics),
                _ => WORK_RETRY,
            };
            self.shared.clock.sleep(pause).await;
        };
        let _waiting = watch::idle();
        tokio::select! {
            () = self.waker.notified() => {}
            () = retry => {}
            () = self.boxed_password_proof(context, problem) => {}
            () = self.shared.stop.cancelled() => {}
        }
    }

    /// Shows that the work on the store has panicked, and where; the other stores' work goes on.
    fn boxed_after_panic<'s>(
        &'s self,
        context: &'s StoreContext,
        panicked: Panicked,
    ) -> BoxFuture<'s, Problem> {
        Box::pin(async move {
            context.stop.cancel();
            let (key, problem) = (&self.config.key, panicked_problem(&panicked, &self.config.key));
            let locale = self.shared.locale;
            let shown = Failure {
                key: panicked.place,
                code: problem.code.clone(),
                error: problem.message(locale),
                hint: problem.next(locale),
                message: Some(problem.text.clone()),
            };
            if let Err(error) = self.shared.store.quarantine().show(key, SERVICE, &shown).await {
                tracing::warn!(store = %key, %error, "a panic could not be shown");
            }
            problem
        })
    }

    /// Forgets panics of long ago. It never returns.
    fn boxed_forget_panics(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.shared.clock.sleep(PANICS_SHOWN).await;
            let key = &self.config.key;
            let quarantine = self.shared.store.quarantine();
            if let Err(error) = Box::pin(quarantine.hide_all(key, SERVICE, PANICKED)).await {
                tracing::warn!(store = %key, %error, "a panic could not be forgotten");
            }
            std::future::pending::<()>().await;
        })
    }

    fn boxed_password_proof<'s>(
        &'s self,
        context: &'s StoreContext,
        problem: &'s Problem,
    ) -> BoxFuture<'s, ()> {
        Box::pin(self.wait_for_password_proof(context, problem))
    }

    /// Answers every question with the problem, except the request for a login: returns when that login succeeds.
    async fn wait_for_password_proof(&self, context: &StoreContext, problem: &Problem) {
        let admin_queue = self.shared.admin_queue.of_store(&self.config.key);
        loop {
            let Inquiry { question, answer } = admin_queue.next_inquiry().await;
            let found = match question {
                Question::Password => examine(&context.client, &context.page_parameter, question).await,
                _ => {
                    let refused_fields = context.client.metrics().refused_login_fields();
                    Examination::Failed(Refusal { refused_fields, ..Refusal::from(problem) })
                }
            };
            answer(&found);
            if found == Examination::Password {
                return;
            }
        }
    }

    /// Returns the folder that is watched for files.
    fn folder(&self) -> Option<Folder> {
        let (store, clock) = (self.shared.store.clone(), Arc::clone(&self.shared.clock));
        let path = self.shared.state.join(self.config.inbox.as_ref()?);
        let (key, in_flight) = (self.config.key.clone(), Arc::clone(&self.shared.in_flight));
        Some(Folder { path, key, store, clock, in_flight, locale: self.shared.locale })
    }

    fn tell(&self, problem: &Problem) {
        let (error, next_step) = (&problem.error, problem.hint());
        tracing::error!(store = %self.config.key, code = problem.code, error, next_step, "the work on the store ended");
        let own = has_own_cause(problem).then(|| words(problem));
        self.health.change(&self.config.key, |health| health.problem = own);
    }

    // Not `async`: an async function would reserve space for the boxed future beside the box, as long as the work on
    // the store runs.
    fn boxed_open(&self, lease: Lease) -> BoxFuture<'_, Result<Box<StoreContext>, Problem>> {
        Box::pin(async move { self.shared.open_under(&self.config, lease).await.map(Box::new) })
    }

    fn boxed_work(
        &self,
        context: Box<StoreContext>,
        last_seen: Option<DateTime<Utc>>,
    ) -> BoxFuture<'_, Lease> {
        Box::pin(self.work(context, last_seen))
    }

    fn boxed_wait_for_lease(&self) -> BoxFuture<'_, Option<Taken>> {
        Box::pin(self.wait_for_lease())
    }

    fn boxed_give_back(&self, lease: Lease) -> BoxFuture<'_, ()> {
        Box::pin(give_back(&self.config, lease))
    }

    fn boxed_take(&self) -> BoxFuture<'_, Result<Lease, Problem>> {
        // Before the lock is ours: an observation between the two would take it for another process's.
        self.health.change(&self.config.key, |health| health.is_taking = true);
        Box::pin(self.shared.take(&self.config))
    }

    /// Shows why the store could not be taken or opened.
    fn note_untaken(&self, problem: &Problem) {
        self.health.change(&self.config.key, |health| {
            (health.is_taking, health.problem) = (false, Some(words(problem)));
        });
    }

    async fn wait_for_lease(&self) -> Option<Taken> {
        loop {
            tokio::select! {
                () = self.shared.lease_watcher.wait_for(&self.config.key) => {}
                () = self.shared.stop.cancelled() => return None,
            }
            let last_seen = self.shared.last_seen(&self.config.key).await;
            match self.boxed_take().await {
                Ok(lease) => return Some((lease, last_seen)),
                Err(problem) => {
                    let is_held = problem.is_lost();
                    self.note_untaken(&problem);
                    if !is_held {
                        self.wait(LEASE_RETRY).await;
                    }
                }
            }
        }
    }

    async fn wait(&self, duration: Duration) {
        tokio::select! {
            () = self.shared.clock.sleep(duration) => {}
            () = self.shared.stop.cancelled() => {}
        }
    }
}

/// Returns the pause after so many panics in a row: a second, then twice as long each time.
fn after_panics(panics: u32) -> Duration {
    Duration::from_secs(1 << panics.saturating_sub(1).min(16)).min(LONGEST_PAUSE)
}

fn boxed_run<'s>(
    context: &'s StoreContext,
    wakers: Wakers<'s>,
    options: &'s live::Options,
    measure: &'s Measure,
) -> BoxFuture<'s, Option<Problem>> {
    Box::pin(async move { live::run(context, wakers, options, measure).await.map(Problem::from) })
}
