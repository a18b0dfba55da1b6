//! Catches up with the downtime before anything else: deliveries, new orders, orders that may have changed.

use std::time::Duration;

use super::{options::Options, refresh_queue::RefreshQueue, signals::Signals, sweeps::Sweeps};
use crate::{
    Error, StoreContext,
    plan::downtime::{was_mirrored, worth_a_word},
    plan::schedule::Sweep,
};

/// How often the end of the catch-up is checked.
const GLANCE: Duration = Duration::from_millis(50);
/// When the reconciliation starts even if the catch-up has not ended.
const LONGEST: Duration = Duration::from_secs(600);

/// Logs how long the store was down, if that was long.
pub(super) fn log_downtime(context: &StoreContext, options: &Options) {
    if let Some(minutes) = worth_a_word(options.last_seen, context.clock.now()) {
        tracing::info!(store = %context.key, "down {minutes} min; catching up");
    }
}

/// Sweeps for what was missed since an earlier owner's end, if the mirror was complete once.
pub(super) async fn catch_up(
    context: &StoreContext,
    queue: &RefreshQueue<'_>,
    signals: &Signals,
    sweeps: &mut Sweeps<'_>,
) -> Result<(), Error> {
    let runs = context.store.runs().last_run_states(&context.key).await;
    if !was_mirrored(&runs?) {
        return Ok(());
    }
    signals.note_mirrored();
    let (started, before) = (context.clock.monotonic(), context.client.stats().requests);
    for sweep in [Sweep::NewOrders, Sweep::OpenOrders] {
        sweeps.boxed_sweep(sweep).await?;
    }
    let is_over = || context.clock.monotonic() > started + LONGEST;
    while !queue.is_quiet() && !context.stop.is_cancelled() && !is_over() {
        context.clock.sleep(GLANCE).await;
    }
    let requests = context.client.stats().requests - before;
    let seconds = (context.clock.monotonic() - started).as_secs();
    tracing::info!(store = %context.key, requests, seconds, "caught up");
    Ok(())
}
