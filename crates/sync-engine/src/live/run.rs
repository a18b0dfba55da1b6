//! Assembles the components of a store (the table in `live`) and runs them side by side in one task: futures, not tasks
//! of their own. A worker pool is one of these futures, and holds those of its workers. When any component ends, all
//! end, so that none is missing unnoticed.

use espelho_model::watch;
use futures_util::future::{BoxFuture, join3, join5};
use tokio_util::sync::CancellationToken;

use super::{
    catch_up::{catch_up, log_downtime},
    daily_audit::DailyAudit,
    entity_reader::EntityReader,
    identity::StoreIdentity,
    ingest::Ingest,
    inquiries::Inquiries,
    label_keeper::keep_labels,
    observer::Observer,
    options::{Options, Wakers},
    outbox::Outbox,
    probe::Probe,
    reconciler::Reconciler,
    refresh_queue::RefreshQueue,
    refresher::Refresher,
    signals::Signals,
    sold_products::SoldProducts,
    sweep_record::SweepRecord,
    sweeps::{SweepSources, Sweeps},
    unchanged_readings::UnchangedReadings,
    webhook_watch::WebhookWatch,
    worker_pool::WorkerPool,
};
use crate::{Error, StoreContext, plan::pauses::Activity, plan::refresh_request::Urgency};

/// Keeps a store in step until it is stopped; returns the problem that ended it earlier, if one did.
///
/// In any case it cancels the context's `stop`: all work on the store has ended when this returns.
pub async fn run(
    context: &StoreContext,
    wakers: Wakers<'_>,
    options: &Options,
    observer: &dyn Observer,
) -> Option<Error> {
    let stop = &context.stop;
    let (signals, identity) = (Signals::new(context.clock.monotonic()), StoreIdentity::new());
    let queue = RefreshQueue::new(&*context.clock);
    let sold = SoldProducts::new(&queue, &signals);
    let webhooks = WebhookWatch::new(context, observer, options);
    let record = SweepRecord::new(context, &options.intervals, observer, &queue, &webhooks);
    let unchanged = UnchangedReadings::new(&*context.clock);
    let reader = EntityReader::new(context, &queue, &sold, &signals, &identity, &unchanged, options.receives);
    let refresher = Refresher::new(context, observer, &queue, reader, &record, &webhooks, &signals);
    let hinted = WorkerPool::new(context, &queue, &refresher, &unchanged, Urgency::Hinted);
    let swept = WorkerPool::new(context, &queue, &refresher, &unchanged, Urgency::Swept);
    let mut ingest = Ingest::new(context, observer, &queue, &identity, &webhooks);
    let outbox = Outbox::new(context, &options.push, observer, &queue, &signals, &webhooks);
    let inquiries = Inquiries::new(context, &webhooks, wakers.admin_requests);
    let probe = Probe::new(context, &queue, &record, &signals, &webhooks);
    let sources =
        SweepSources { queue: &queue, signals: &signals, sold: &sold, identity: &identity, watch: &webhooks };
    let mut behind = Behind {
        context,
        wakers,
        queue: &queue,
        signals: &signals,
        record: &record,
        sweeps: Sweeps::new(context, options, observer, &record, sources),
        reconciler: Reconciler::new(context, observer, &signals),
        audit: DailyAudit::new(context, observer, &signals),
    };
    log_downtime(context, options);
    let down = join5(
        ending(stop, watch::lane("hinted", hinted.run())),
        ending(stop, watch::lane("swept", swept.run())),
        ending(stop, watch::lane("inbox", ingest.run(wakers.inbox))),
        ending(stop, behind.run()),
        ending(stop, watch::lane("labels", keep_labels(context, observer, &queue, &signals))),
    );
    let aside = join3(
        ending(stop, watch::lane("inquiries", inquiries.boxed_run())),
        ending(stop, watch::lane("probe", probe.run())),
        ending(stop, watch::lane("webhooks", webhooks.run())),
    );
    let pushing = ending(stop, watch::lane("outbox", outbox.run(wakers.outbox)));
    let ((hinted, swept, inbox, behind, labels), pushing, (answering, probing, watching)) =
        join3(down, pushing, aside).await;
    let ended = [hinted, swept, inbox, behind, labels, pushing, answering, probing, watching];
    ended.into_iter().flatten().next()
}

/// Runs one component; whenever and however it ends, it stops all others.
async fn ending(stop: &CancellationToken, work: impl Future<Output = Result<(), Error>>) -> Option<Error> {
    let ended = work.await;
    stop.cancel();
    ended.err()
}

/// What begins when the store has caught up with its downtime.
struct Behind<'c> {
    context: &'c StoreContext,
    wakers: Wakers<'c>,
    queue: &'c RefreshQueue<'c>,
    signals: &'c Signals,
    record: &'c SweepRecord<'c>,
    sweeps: Sweeps<'c>,
    reconciler: Reconciler<'c>,
    audit: DailyAudit<'c>,
}

impl Behind<'_> {
    async fn run(&mut self) -> Result<(), Error> {
        // The proof of an earlier owner counts while readings are paused, too.
        Box::pin(self.record.remember()).await?;
        if self.context.holds(Activity::Pull) {
            Box::pin(self.context.released(Activity::Pull)).await;
        }
        self.boxed_catch_up().await?;
        let (stop, wakers) = (&self.context.stop, self.wakers);
        let (sweeping, reconciling, auditing) = join3(
            ending(stop, watch::lane("sweep", self.sweeps.run(wakers.gap))),
            ending(stop, watch::lane("reconcile", self.reconciler.run(wakers))),
            Box::pin(ending(stop, watch::lane("audit", self.audit.run()))),
        )
        .await;
        sweeping.or(reconciling).or(auditing).map_or(Ok(()), Err)
    }

    // Not `async`: the future of an `async` function would also reserve space for the boxed value.
    fn boxed_catch_up(&mut self) -> BoxFuture<'_, Result<(), Error>> {
        let caught_up = catch_up(self.context, self.queue, self.signals, &mut self.sweeps);
        Box::pin(watch::lane("catch_up", caught_up))
    }
}
