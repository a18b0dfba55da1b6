//! Reconciles completely, on the schedule and on demand, and serves the other admin requests between two of these.

use std::time::Duration;

use espelho_api_client::limit::Lane;
use espelho_model::{
    sync::{Counts, RunState},
    watch,
};
use futures_util::future::BoxFuture;

use super::{
    observer::Observer,
    options::{AdminRequest, Wakers},
    signals::Signals,
};
use crate::{
    Audit, AuditOptions, Error, StoreContext, StoreReport, audit,
    error::ends_all,
    plan::{
        pauses::Activity,
        reconciled::{is_cut_short, is_whole},
        repetition::{Repetition, is_repeated},
        schedule::Sweep,
    },
    reconcile::{PAUSED, reconcile},
};

/// The kind of the reconciliations that nobody asked for.
const SCHEDULED: &str = "scheduled";

/// Receives the report of a reconciliation.
type Done = Box<dyn FnOnce(&StoreReport) + Send>;

/// The complete reconciliations of a store.
pub(super) struct Reconciler<'c> {
    context: &'c StoreContext,
    observer: &'c dyn Observer,
    signals: &'c Signals,
    /// Whether the last reconciliation ended early, so that it resumes as soon as the marketplace answers again.
    is_cut_short: bool,
    /// True while a scheduled reconciliation waits for the end of a pause.
    is_put_off: bool,
    repetition: Repetition,
    /// When the last scheduled reconciliation is repeated, if it ended early: a monotonic time.
    repeat_at: Option<Duration>,
}

impl<'c> Reconciler<'c> {
    /// Returns a reconciler that tells `signals` when the mirror is complete.
    pub(super) fn new(context: &'c StoreContext, observer: &'c dyn Observer, signals: &'c Signals) -> Self {
        let repetition = Repetition::default();
        Self {
            context,
            observer,
            signals,
            is_cut_short: false,
            is_put_off: false,
            repetition,
            repeat_at: None,
        }
    }

    /// Reconciles completely, now and whenever it is due.
    pub(super) async fn run(&mut self, wakers: Wakers<'_>) -> Result<(), Error> {
        let options =
            crate::Options { kind: SCHEDULED, lane: Some(Lane::Backfill), ..crate::Options::default() };
        while !self.context.stop.is_cancelled() {
            // Requests of people are served meanwhile: each is told that reading is paused.
            self.is_put_off = self.context.holds(Activity::Pull);
            if !self.is_put_off {
                self.boxed_reconcile(&options, Box::new(|_| ())).await?;
            }
            self.serve_until_due(wakers).await?;
        }
        Ok(())
    }

    /// Serves admin requests until a scheduled reconciliation is due: never two at once, because they share their
    /// checkpoints.
    async fn serve_until_due(&mut self, wakers: Wakers<'_>) -> Result<(), Error> {
        loop {
            let waiting = watch::idle();
            let admin_request = tokio::select! {
                () = wakers.reconcile.notified() => return Ok(()),
                () = self.context.stop.cancelled() => return Ok(()),
                // A reconciliation that failed when contact was lost resumes where it ended.
                () = self.signals.recovered(), if self.is_cut_short => return Ok(()),
                () = self.repetition_is_due() => return Ok(()),
                // Boxed: thousands of stores wait here, and hardly any is paused.
                () = async { Box::pin(self.context.released(Activity::Pull)).await }, if self.is_put_off => {
                    return Ok(());
                }
                admin_request = wakers.admin_requests.next() => admin_request,
            };
            drop(waiting);
            match admin_request {
                AdminRequest::Reconcile(options, done) => self.boxed_reconcile(&options, done).await?,
                // Never beside a reconciliation: the audit would report rows that the reconciliation is about to write.
                AdminRequest::Audit(options, done) => {
                    done(&*self.boxed_audit(&options).await);
                    // It may have found a difference, and what somebody looks at is fresh.
                    self.signals.note_changed(self.context.clock.monotonic());
                }
            }
        }
    }

    /// Resolves when a reconciliation that ended early is due again.
    async fn repetition_is_due(&self) {
        match self.repeat_at {
            Some(at) => self.context.clock.sleep(at.saturating_sub(self.context.clock.monotonic())).await,
            None => std::future::pending().await,
        }
    }

    /// Tells if the last count showed that the mirror lacks rows.
    async fn was_behind(&self) -> bool {
        let counts = self.context.store.runs().remote_counts(&self.context.key).await;
        counts.is_ok_and(|counts| counts.iter().any(|count| count.behind_since.is_some()))
    }

    /// Decides when a scheduled reconciliation is repeated.
    fn plan_repetition(&mut self, report: &StoreReport) {
        let pause = self.repetition.after(is_repeated(report));
        self.repeat_at = pause.map(|pause| self.context.clock.monotonic() + pause);
        if let Some(pause) = pause {
            let seconds = pause.as_secs();
            tracing::info!(store = %self.context.key, seconds, "a reconciliation ended early; will be repeated");
        }
    }

    // Not `async`: the future of an `async` function would also reserve space for the boxed value.
    fn boxed_audit<'s>(&'s self, options: &'s AuditOptions) -> BoxFuture<'s, Box<Audit>> {
        let seed = self.context.clock.now().timestamp().unsigned_abs();
        Box::pin(async move { Box::new(audit(self.context, options, seed).await) })
    }

    fn boxed_reconcile<'s>(
        &'s mut self,
        options: &'s crate::Options,
        done: Done,
    ) -> BoxFuture<'s, Result<(), Error>> {
        Box::pin(self.reconcile(options, done))
    }

    async fn reconcile(&mut self, options: &crate::Options, done: Done) -> Result<(), Error> {
        let began = self.context.clock.now();
        let report = reconcile(self.context, options).await;
        done(&report);
        if report.problem.as_ref().is_some_and(|problem| problem.code == PAUSED) {
            // Nothing was read, and nothing is wrong.
            return Ok(());
        }
        self.observer.reconciled(&report);
        let Counts { changed, gone, failed, .. } = report.counts();
        if changed + gone + failed > 0 {
            self.signals.note_changed(self.context.clock.monotonic());
        }
        self.observer.stats(self.context.client.stats());
        // Any other skips what its listing shows unchanged.
        let reads_all =
            options.deep && options.only.is_empty() && options.since.is_none() && !options.dry_run;
        if reads_all && report.state == RunState::Complete {
            self.context.client.metrics().forget_unreadable_before(began);
        }
        if is_whole(&report) && (!self.signals.is_mirrored() || self.was_behind().await) {
            self.signals.note_mirrored();
            // The last count compared the marketplace with a mirror that lacked what was found now.
            self.signals.wake(Sweep::Counts);
            // Sub-resources have waited for the end of a first reading.
            self.signals.wake(Sweep::Subresources);
        }
        if options.kind == SCHEDULED {
            self.plan_repetition(&report);
        }
        self.is_cut_short = is_cut_short(&report, self.context.client.metrics().is_lost());
        report
            .problems()
            .find(|problem| ends_all(problem.trouble))
            .map_or(Ok(()), |problem| Err(problem.clone().into()))
    }
}
