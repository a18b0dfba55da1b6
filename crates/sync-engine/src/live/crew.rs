//! Those who work on a store, side by side in one task: one takes the inbox in, four read what deliveries hint at, four what
//! sweeps have found, one sweeps, one reconciles. Whatever ends one of them ends all, so that none is missing unnoticed.

use std::time::Duration;

use espelho_api_client::limit::Lane;
use espelho_model::sync::{Resource, RunState};
use futures_util::future::{join_all, join4};

use super::{
    Live, Observer, Options, Signals, ends_all,
    schedule::{Look, Schedule},
    want::Urgency,
};
use crate::{Problem, StoreContext, StoreReport, reconcile};

/// Readings of a crew at once: at five requests a second more would only wait.
const HANDS: usize = 4;
/// The store is announced as having been away after the marketplace's last attempt at a delivery: then some are lost.
const RETRIED_FOR: Duration = Duration::from_secs(6 * 60);
/// How often the catch-up is looked at.
const GLANCE: Duration = Duration::from_millis(50);
/// When the reconciliation begins even if the catch-up has not ended.
const LONGEST_CATCH_UP: Duration = Duration::from_secs(600);

/// Keeps a store in step until it is told to stop; gives the problem that ended it earlier, if one did.
///
/// The context's `stop` is cancelled in any case: everything that works on the store has ended when this returns.
pub async fn run(
    context: &StoreContext,
    signals: Signals<'_>,
    options: &Options,
    observer: &dyn Observer,
) -> Option<Problem> {
    let live = Live::new(context, options, observer);
    live.say_how_long_it_was_away();
    let hinted = join_all((0..HANDS).map(|_| live.ending(live.work(Urgency::Hinted))));
    let swept = join_all((0..HANDS).map(|_| live.ending(live.work(Urgency::Swept))));
    let taking_in = live.ending(live.ingest(signals.inbox));
    let behind = live.ending(async {
        let caught_up = live.catch_up().await;
        live.sweep_and_reconcile(signals, caught_up).await
    });
    let (hinted, swept, taking_in, behind) = join4(hinted, swept, taking_in, behind).await;
    hinted.into_iter().chain(swept).chain([taking_in, behind]).flatten().next()
}

impl Live<'_> {
    /// Does somebody's work; whenever and however it ends, everybody's does.
    async fn ending(&self, work: impl Future<Output = Result<(), Problem>>) -> Option<Problem> {
        let ended = work.await;
        self.context.stop.cancel();
        ended.err()
    }

    /// Renews the lease though there may be nothing to write, so that the next owner knows since when nobody was here.
    async fn say_that_it_is_alive(&self) -> Result<(), Problem> {
        let renewed = async { self.context.store.begin(&self.context.lease).await?.commit().await };
        renewed.await.map_err(|e| Problem::from_store(&e))
    }

    fn say_how_long_it_was_away(&self) {
        let away = self.options.last_seen.map(|seen| self.context.clock.now() - seen);
        let Some(away) = away.and_then(|away| away.to_std().ok()).filter(|away| *away > RETRIED_FOR) else {
            return;
        };
        let minutes = away.as_secs() / 60;
        tracing::info!(store = %self.context.key, "down {minutes} min; catching up");
    }

    /// Repairs what happened meanwhile before anything else: deliveries, new orders, orders that may have changed.
    async fn catch_up(&self) -> Result<(), Problem> {
        let (store, key) = (&self.context.store, &self.context.key);
        let runs = store.last_run_states(key).await.map_err(|e| Problem::from_store(&e))?;
        let walked = [RunState::Complete, RunState::Partial].map(RunState::as_str);
        if !runs.iter().any(|state| walked.contains(&state.as_str())) {
            return Ok(());
        }
        self.known().mirrored = true;
        let (started, before) = (self.context.clock.monotonic(), self.context.client.stats().requests);
        for look in [Look::NewOrders, Look::OpenOrders] {
            self.look(look).await?;
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
        signals: Signals<'_>,
        caught_up: Result<(), Problem>,
    ) -> Result<(), Problem> {
        caught_up?;
        let (sweeping, reconciling) =
            futures_util::future::join(self.ending(self.sweep()), self.ending(self.reconcile_when(signals)))
                .await;
        sweeping.or(reconciling).map_or(Ok(()), Err)
    }

    /// Runs the sweeps when they are due, one after the other.
    async fn sweep(&self) -> Result<(), Problem> {
        let clock = &self.context.clock;
        let mut schedule = Schedule::new(&self.options.intervals, &self.context.key, clock.monotonic());
        // The catch-up has just done these, or the first reconciliation is about to.
        for look in [Look::NewOrders, Look::OpenOrders] {
            schedule.ran(look, clock.monotonic());
        }
        while !self.is_stopping() {
            let (look, due) = schedule.next();
            tokio::select! {
                () = clock.sleep(due.saturating_sub(clock.monotonic())) => {
                    self.look(look).await?;
                    schedule.ran(look, clock.monotonic());
                }
                () = self.context.stop.cancelled() => (),
            }
        }
        Ok(())
    }

    /// Sweeps once. Only what would end everything is given back; the rest is told, and tried again when it is due.
    async fn look(&self, look: Look) -> Result<(), Problem> {
        let looking = async {
            match look {
                Look::NewOrders => self.say_that_it_is_alive().await.and(self.look_at_new_orders().await),
                Look::OpenOrders => self.look_at_open_orders().await,
                Look::Products => self.look_at_products().await,
                Look::Parts => self.look_at_parts().await,
                Look::Campaigns => self.look_at_campaigns().await,
                Look::Media => self.look_at_media().await,
                Look::Profile => self.forget_handled().await.and(self.look_at_profile().await),
            }
        };
        let ended = looking.await;
        let problem = ended.as_ref().err();
        self.observer.looked(look, problem);
        self.observer.stats(self.context.client.stats());
        match ended {
            Err(problem) if ends_all(&problem) => Err(problem),
            Err(problem) => {
                let (error, next_step) = (problem.error, problem.hint);
                tracing::warn!(store = %self.context.key, look = look.as_str(), error, next_step, "a sweep failed");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Reconciles completely, now and whenever it is time.
    async fn reconcile_when(&self, signals: Signals<'_>) -> Result<(), Problem> {
        let options =
            crate::Options { kind: "scheduled", lane: Some(Lane::Backfill), ..crate::Options::default() };
        while !self.is_stopping() {
            self.reconcile_with(&options, |_| ()).await?;
            self.run_errands_until(signals).await?;
        }
        Ok(())
    }

    /// Does what others ask for until it is time for a reconciliation of our own: never two at once, for they share
    /// their checkpoints.
    async fn run_errands_until(&self, signals: Signals<'_>) -> Result<(), Problem> {
        loop {
            let errand = tokio::select! {
                () = signals.reconcile.notified() => return Ok(()),
                () = self.context.stop.cancelled() => return Ok(()),
                errand = signals.errands.next() => errand,
            };
            self.reconcile_with(&errand.options, errand.done).await?;
        }
    }

    async fn reconcile_with(
        &self,
        options: &crate::Options,
        done: impl FnOnce(&StoreReport),
    ) -> Result<(), Problem> {
        let report = reconcile(self.context, options).await;
        done(&report);
        self.observer.reconciled(&report);
        self.observer.stats(self.context.client.stats());
        if is_whole(&report) {
            self.known().mirrored = true;
        }
        report.problems().find(|problem| ends_all(problem)).map_or(Ok(()), |problem| Err(problem.clone()))
    }
}

/// Whether the orders were walked through to the end; some of them may have failed.
fn is_whole(report: &StoreReport) -> bool {
    let orders = report.resources.iter().find(|resource| resource.resource == Resource::Orders);
    orders.is_some_and(|orders| orders.state != RunState::Failed && orders.problem.is_none())
}
