//! Sweeps sub-resources of orders that the mirror lacks, or has from before the order changed.

use std::time::Duration;

use espelho_store::Subresource;

use crate::{
    Error, StoreContext,
    live::{refresh_queue::RefreshQueue, signals::Signals},
    plan::refresh_request::{Entity, RefreshRequest},
    plan::schedule::Intervals,
    plan::{
        first_read::Phase,
        load::SHIPPED_AT_ONCE,
        unread_orders::{AT_ONCE, UnreadWalk, needs_open},
    },
};

/// The longest rest of an order's shipments: shorter than the age from which a change of theirs counts as missed by the deliveries
/// (`plan::refresh`), and than the label keeper waits for a label that nobody has announced.
const LONGEST_SHIPMENTS_REST: Duration = Duration::from_secs(540);

/// The sweep of sub-resources.
#[derive(Default)]
pub(super) struct SubresourceSweep {
    walk: UnreadWalk,
    /// When it first ran, as a monotonic time.
    started: Option<Duration>,
}

impl SubresourceSweep {
    /// Queues sub-resources that were not read after their order last changed: those of open orders first, then those
    /// of the latest changed ones, then some of the backlog. A first reading has the budget alone for a while, and while
    /// many stores read at once, each queues few.
    pub(super) async fn sweep(
        &mut self,
        context: &StoreContext,
        queue: &RefreshQueue<'_>,
        signals: &Signals,
        intervals: &Intervals,
        rest: Duration,
    ) -> Result<(), Error> {
        if queue.is_crowded() {
            return Ok(());
        }
        let now = context.clock.monotonic();
        let started = *self.started.get_or_insert(now);
        let is_crowded = context.memory_budget.is_crowded();
        let phase = Phase::of(signals.is_mirrored(), now.saturating_sub(started), is_crowded);
        if phase != Phase::HeadStart {
            self.sweep_unread(context, queue, phase).await?;
        }
        sweep_aged_shipments(context, queue, intervals, rest).await
    }

    async fn sweep_unread(
        &mut self,
        context: &StoreContext,
        queue: &RefreshQueue<'_>,
        phase: Phase,
    ) -> Result<(), Error> {
        let (staleness, key) = (context.store.staleness(), &context.key);
        let latest = staleness.unread_orders(key, None, AT_ONCE).await?;
        let open = match needs_open(&latest, phase) {
            true => staleness.unread_open_orders(key, AT_ONCE).await?,
            false => Vec::new(),
        };
        let (mut orders, backlog) = self.walk.latest(open, latest, phase);
        match backlog {
            Some(backlog) => {
                let below = staleness.unread_orders(key, Some(&backlog.below), AT_ONCE).await?;
                orders.extend(self.walk.backlog(below, &backlog));
            }
            None => self.walk.end(),
        }
        let requests = orders
            .into_iter()
            .map(|order| (Entity::Order(order.number), RefreshRequest::swept(order.subresources)));
        queue.push_swept(requests);
        Ok(())
    }
}

/// Queues the shipments of open orders, the least recently read first: they move, and their labels are printed, without
/// a change of the order, and the delivery that reports it may be lost. They rest for at least `rest`, but for the next one,
/// so that a route that fails is noticed; for a label somebody waits.
async fn sweep_aged_shipments(
    context: &StoreContext,
    queue: &RefreshQueue<'_>,
    intervals: &Intervals,
    rest: Duration,
) -> Result<(), Error> {
    let now = context.clock.now();
    let period = intervals.subresources.period(now);
    let rest = rest.min(LONGEST_SHIPMENTS_REST);
    let (before, with_label_before) = (now - period.max(rest), now - period);
    let staleness = context.store.staleness();
    let aged = async |before, limit| {
        // Read with shipments; the label keeper reads those alone, and must not keep the rotation from tracking.
        let tracking = Subresource::Tracking;
        staleness
            .open_orders_by_subresource_age(&context.key, tracking, (before, with_label_before), limit)
            .await
    };
    let mut orders = aged(before, SHIPPED_AT_ONCE).await?;
    if orders.is_empty() && before < with_label_before {
        orders = aged(with_label_before, 1).await?;
    }
    let request = || RefreshRequest::swept([Subresource::Shipments, Subresource::Tracking]);
    queue.push_swept(orders.into_iter().map(|number| (Entity::Order(number), request())));
    Ok(())
}
