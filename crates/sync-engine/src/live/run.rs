//! Runs the workers of a store side by side in one task: one ingests the inbox, four refresh what deliveries hint at,
//! four what sweeps have found, one sweeps, one reconciles, one keeps the label files, one executes the ERP's intents,
//! one answers questions. When any of them ends, all end, so that none is missing unnoticed.

use std::time::Duration;

use espelho_api_client::limit::Lane;
use espelho_model::{
    sync::{Resource, RunState},
    watch,
};
use futures_util::future::{BoxFuture, join3, join5};
use tokio::sync::Notify;

use super::{
    AdminRequest, Live, Observer, Options, Wakers,
    batches::Run,
    ends_all,
    refresh_request::Urgency,
    schedule::{Schedule, Sweep, stretched},
};
use crate::{Audit, AuditOptions, Problem, StoreContext, StoreReport, Trouble, audit, reconcile};

/// If the store was down for longer, the log reports it: the marketplace no longer retries its deliveries, so some are
/// lost.
const RETRIED_FOR: Duration = Duration::from_secs(6 * 60);
/// Least time between two sweeps for refused deliveries, however many are refused.
const AFTER_A_GAP: Duration = Duration::from_secs(60);
/// How often the end of the catch-up is checked.
const GLANCE: Duration = Duration::from_millis(50);
/// When the reconciliation starts even if the catch-up has not ended.
const LONGEST_CATCH_UP: Duration = Duration::from_secs(600);

/// Keeps a store in step until it is stopped; returns the problem that ended it earlier, if one did.
///
/// In any case it cancels the context's `stop`: all work on the store has ended when this returns.
pub async fn run(
    context: &StoreContext,
    wakers: Wakers<'_>,
    options: &Options,
    observer: &dyn Observer,
) -> Option<Problem> {
    let live = Live::new(context, options, observer);
    live.say_how_long_it_was_away();
    let hinted = live.ending(watch::lane("hinted", live.work(Urgency::Hinted)));
    let swept = live.ending(watch::lane("swept", live.work(Urgency::Swept)));
    let taking_in = live.ending(watch::lane("inbox", live.ingest(wakers.inbox)));
    let behind = live.ending(async {
        let caught_up = live.boxed_catch_up().await;
        live.sweep_and_reconcile(wakers, caught_up).await
    });
    let labels = live.ending(watch::lane("labels", live.keep_labels()));
    let pushing = live.ending(watch::lane("outbox", live.push_out(wakers.outbox)));
    let answering = live.ending(watch::lane("inquiries", live.boxed_inquiries(wakers.admin_requests)));
    let probing = live.ending(watch::lane("probe", live.probe()));
    let watching = live.ending(watch::lane("webhooks", live.watch_webhooks()));
    let down = join5(hinted, swept, taking_in, behind, labels);
    let aside = join3(answering, probing, watching);
    let ((hinted, swept, taking_in, behind, labels), pushing, (answering, probing, watching)) =
        join3(down, pushing, aside).await;
    let ended = [hinted, swept, taking_in, behind, labels, pushing, answering, probing, watching];
    ended.into_iter().flatten().next()
}

/// Receives the report of a reconciliation.
type Done = Box<dyn FnOnce(&StoreReport) + Send>;

impl Live<'_> {
    /// Runs one worker; whenever and however it ends, it stops all others.
    async fn ending(&self, work: impl Future<Output = Result<(), Problem>>) -> Option<Problem> {
        let ended = work.await;
        self.context.stop.cancel();
        ended.err()
    }

    fn say_how_long_it_was_away(&self) {
        let away = self.options.last_seen.map(|seen| self.context.clock.now() - seen);
        let Some(away) = away.and_then(|away| away.to_std().ok()).filter(|away| *away > RETRIED_FOR) else {
            return;
        };
        let minutes = away.as_secs() / 60;
        tracing::info!(store = %self.context.key, "down {minutes} min; catching up");
    }

    fn boxed_catch_up(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(watch::lane("catch_up", self.catch_up()))
    }

    /// Catches up with the downtime before anything else: deliveries, new orders, orders that may have changed.
    async fn catch_up(&self) -> Result<(), Problem> {
        let (store, key) = (&self.context.store, &self.context.key);
        self.remember().await?;
        let runs = store.runs().last_run_states(key).await.map_err(|e| Problem::from_store(&e))?;
        let walked = [RunState::Complete, RunState::Partial].map(RunState::as_str);
        if !runs.iter().any(|state| walked.contains(&state.as_str())) {
            return Ok(());
        }
        self.known().mirrored = true;
        let (started, before) = (self.context.clock.monotonic(), self.context.client.stats().requests);
        for sweep in [Sweep::NewOrders, Sweep::OpenOrders] {
            self.boxed_sweep(sweep).await?;
        }
        let over = || self.context.clock.monotonic() > started + LONGEST_CATCH_UP;
        while !self.queue().is_quiet(self.context.clock.monotonic()) && !self.is_stopping() && !over() {
            self.context.clock.sleep(GLANCE).await;
        }
        let requests = self.context.client.stats().requests - before;
        let seconds = (self.context.clock.monotonic() - started).as_secs();
        tracing::info!(store = %key, requests, seconds, "caught up");
        Ok(())
    }

    async fn sweep_and_reconcile(
        &self,
        wakers: Wakers<'_>,
        caught_up: Result<(), Problem>,
    ) -> Result<(), Problem> {
        caught_up?;
        let (sweeping, reconciling, auditing) = join3(
            self.ending(watch::lane("sweep", self.run_sweeps(wakers.gap))),
            self.ending(watch::lane("reconcile", self.reconcile_when(wakers))),
            Box::pin(self.ending(watch::lane("audit", self.audit_daily()))),
        )
        .await;
        sweeping.or(reconciling).or(auditing).map_or(Ok(()), Err)
    }

    /// Runs the sweeps when they are due, one after the other; sweeps for orders also after a gap in the deliveries.
    async fn run_sweeps(&self, gap: &Notify) -> Result<(), Problem> {
        let clock = &self.context.clock;
        let succeeded = self.memory().succeeded.clone();
        let mut schedule =
            Schedule::new(&self.options.intervals, &self.context.key, self.moment(), &succeeded);
        let mut after_gap = GapThrottle::default();
        // The catch-up has just run these, or the first reconciliation is about to.
        for sweep in [Sweep::NewOrders, Sweep::OpenOrders] {
            schedule.ran(sweep, self.moment(), Duration::ZERO);
        }
        while !self.is_stopping() {
            let (sweep, due) = schedule.next();
            tokio::select! {
                () = clock.sleep(due.saturating_sub(clock.monotonic())) => {
                    let started = clock.monotonic();
                    // Boxed, like everything large that rarely runs: most stores wait most of the time.
                    let (went_well, pages) = self.boxed_sweep(sweep).await?;
                    let now = self.moment();
                    match went_well {
                        true => schedule.ran(sweep, now, started + stretched(pages, self.options.per_minute)),
                        false => schedule.failed(sweep, now),
                    }
                    let woken = std::mem::take(&mut self.known().woken);
                    woken.into_iter().for_each(|sweep| schedule.wake(sweep, now.monotonic));
                }
                () = self.recovered.notified() => {
                    let woken = std::mem::take(&mut self.known().woken);
                    woken.into_iter().for_each(|sweep| schedule.wake(sweep, clock.monotonic()));
                }
                () = gap.notified() => {
                    let at = after_gap.due(clock.monotonic());
                    tracing::info!(store = %self.context.key, "deliveries were refused; sweeping for what they reported");
                    [Sweep::NewOrders, Sweep::OpenOrders].into_iter().for_each(|sweep| schedule.wake(sweep, at));
                }
                () = self.context.stop.cancelled() => (),
            }
        }
        // The next owner then knows what has just run; if this cannot be written, it is repeated.
        let _ = self.boxed_save_state().await;
        Ok(())
    }

    fn boxed_save_state(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(self.save_state())
    }

    /// Not `async`, like the other boxes: the future of an `async` function would also reserve space for the boxed
    /// value.
    fn boxed_sweep(&self, sweep: Sweep) -> BoxFuture<'_, Result<(bool, u64), Problem>> {
        Box::pin(self.run_sweep(sweep))
    }

    /// Sweeps once; returns whether it succeeded, and how many listing pages it read. Returns only a problem that ends
    /// all work; other problems are reported, and the sweep is retried when it is due.
    async fn run_sweep(&self, sweep: Sweep) -> Result<(bool, u64), Problem> {
        let started_at = self.context.clock.now();
        {
            let mut known = self.known();
            (known.pages, known.is_crowded) = (0, false);
        }
        let run = self.batches().begin(sweep, started_at);
        let looking = async {
            match sweep {
                Sweep::NewOrders => self.save_state().await.and(self.sweep_new_orders().await),
                Sweep::OpenOrders => self.sweep_open_orders().await,
                Sweep::Products => self.sweep_products().await,
                Sweep::SoldProducts => self.sweep_sold_products().await,
                Sweep::AgedOrders => self.sweep_aged_orders().await,
                Sweep::Counts => self.sweep_counts().await,
                Sweep::Enums => self.sweep_enums().await,
                Sweep::WebhookTest => self.sweep_webhook().await,
                Sweep::Subresources => self.sweep_subresources().await,
                Sweep::Campaigns => self.sweep_campaigns().await,
                Sweep::Media => self.sweep_media().await,
                Sweep::Profile => self.forget_handled().await.and(self.sweep_profile().await),
            }
        };
        let ended = {
            let _place = self.context.memory_budget.sweep(sweep).await;
            self.known().is_sweeping_orders = matches!(sweep, Sweep::NewOrders | Sweep::OpenOrders);
            let ended = looking.await;
            self.known().is_sweeping_orders = false;
            self.queued.notify_waiters();
            ended
        };
        self.note_run(run, Run { sweep, started_at, has_queued: false }, ended.as_ref().err()).await?;
        self.observer.waiting(self.queue().oldest(self.context.clock.monotonic()));
        self.observer.stats(self.context.client.stats());
        let pages = self.known().pages;
        match ended {
            Err(problem) if ends_all(&problem) => Err(problem),
            Err(problem) => {
                let (error, next_step) = (&problem.error, problem.hint());
                tracing::warn!(store = %self.context.key, sweep = sweep.as_str(), error, next_step, "a sweep failed; will retry");
                Ok((false, pages))
            }
            Ok(()) => Ok((true, pages)),
        }
    }

    /// Reconciles completely, now and whenever it is due.
    async fn reconcile_when(&self, wakers: Wakers<'_>) -> Result<(), Problem> {
        let options =
            crate::Options { kind: "scheduled", lane: Some(Lane::Backfill), ..crate::Options::default() };
        while !self.is_stopping() {
            self.boxed_reconcile(&options, Box::new(|_| ())).await?;
            self.serve_admin_requests_until(wakers).await?;
        }
        Ok(())
    }

    /// Serves admin requests until a scheduled reconciliation is due: never two at once, because they share their
    /// checkpoints.
    async fn serve_admin_requests_until(&self, wakers: Wakers<'_>) -> Result<(), Problem> {
        loop {
            let waiting = watch::idle();
            let admin_request = tokio::select! {
                () = wakers.reconcile.notified() => return Ok(()),
                () = self.context.stop.cancelled() => return Ok(()),
                // A reconciliation that failed when contact was lost resumes where it ended.
                () = self.recovered.notified(), if self.known().is_cut_short => return Ok(()),
                admin_request = wakers.admin_requests.next() => admin_request,
            };
            drop(waiting);
            match admin_request {
                AdminRequest::Reconcile(options, done) => self.boxed_reconcile(&options, done).await?,
                // Never beside a reconciliation: the audit would report rows that the reconciliation is about to write.
                AdminRequest::Audit(options, done) => done(&*self.boxed_compare(&options).await),
            }
        }
    }

    fn boxed_compare<'s>(&'s self, options: &'s AuditOptions) -> BoxFuture<'s, Box<Audit>> {
        let seed = self.context.clock.now().timestamp().unsigned_abs();
        Box::pin(async move { Box::new(audit(self.context, options, seed).await) })
    }

    fn boxed_reconcile<'s>(
        &'s self,
        options: &'s crate::Options,
        done: Done,
    ) -> BoxFuture<'s, Result<(), Problem>> {
        Box::pin(self.reconcile_with(options, done))
    }

    async fn reconcile_with(&self, options: &crate::Options, done: Done) -> Result<(), Problem> {
        let report = reconcile(self.context, options).await;
        done(&report);
        self.observer.reconciled(&report);
        self.observer.stats(self.context.client.stats());
        if is_whole(&report) {
            self.known().mirrored = true;
        }
        let has_failed = report.problems().any(|problem| problem.trouble == Trouble::Failure);
        self.known().is_cut_short = has_failed && self.context.client.metrics().is_lost();
        report.problems().find(|problem| ends_all(problem)).map_or(Ok(()), |problem| Err(problem.clone()))
    }
}

/// When to sweep for refused deliveries: a continuous flood must not cause continuous sweeps.
#[derive(Default)]
struct GapThrottle(Option<Duration>);

impl GapThrottle {
    /// Returns when to sweep after a gap that was reported at `now`.
    fn due(&mut self, now: Duration) -> Duration {
        let due = match self.0 {
            Some(planned) if planned > now => planned,
            Some(last) => now.max(last + AFTER_A_GAP),
            None => now,
        };
        self.0 = Some(due);
        due
    }
}

/// Whether the orders were walked to the end; some of them may have failed.
fn is_whole(report: &StoreReport) -> bool {
    let orders = report.resources.iter().find(|resource| resource.resource == Resource::Orders.into());
    orders.is_some_and(|orders| orders.state != RunState::Failed && orders.problem.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F046
    #[test]
    fn after_a_gap_is_looked_at_once_and_not_more_than_once_a_minute_however_many_there_are() {
        let (mut after_gap, seconds) = (GapThrottle::default(), Duration::from_secs);
        assert_eq!(after_gap.due(seconds(100)), seconds(100));
        for now in [101, 102, 150] {
            assert_eq!(after_gap.due(seconds(now)), seconds(160), "at {now}");
        }
        assert_eq!(after_gap.due(seconds(161)), seconds(220));
        assert_eq!(after_gap.due(seconds(500)), seconds(500));
    }
}
