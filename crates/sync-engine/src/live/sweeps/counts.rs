//! Compares the marketplace's counts with the mirror's: a cheap check that shows where a more expensive sweep is worth
//! it.
//!
//! The summary route counts the current day only, so it cannot be compared; totals of listings can.

use espelho_api_client::{
    Client,
    limit::Lane,
    resources::{orders::OrderQuery, products::ProductQuery},
};
use espelho_store::RemoteCount;

use crate::{
    Error, StoreContext,
    live::signals::Signals,
    plan::schedule::Sweep,
    plan::{
        counts::{KINDS, Repair, behind_since, repair},
        open_orders::open_statuses,
    },
    pull::is_final,
};

/// Compares the totals of orders, open orders and products; wakes the sweep that repairs a difference.
pub(super) async fn sweep_counts(context: &StoreContext, signals: &Signals) -> Result<(), Error> {
    // The first reconciliation reads what is missing; until then the counts only show how much that is.
    let is_mirrored = signals.is_mirrored();
    let before = context.store.runs().remote_counts(&context.key).await?;
    let local = context.store.runs().live_counts(&context.key).await?;
    let remote = remote_totals(context).await?;
    let at = context.clock.now();
    let mut counts = Vec::new();
    for ((kind, remote), local) in KINDS.into_iter().zip(remote).zip(local) {
        let Some(remote) = remote else { continue };
        let before = before.iter().find(|count| count.kind == kind);
        let behind_since = behind_since(kind, before, (remote, local), at, is_mirrored);
        counts.push(RemoteCount { kind: kind.to_owned(), remote, local, at, behind_since });
        if remote == local || !is_mirrored {
            continue;
        }
        tracing::debug!(store = %context.key, kind, remote, local, "the counts of marketplace and mirror differ");
        wake(signals, repair(kind, remote, local));
    }
    let written = async {
        let mut tx = context.store.begin(&context.lease).await?;
        tx.sweeps().note_remote_counts(counts).await?;
        tx.commit().await
    };
    written.await.map_err(Error::from)
}

fn wake(signals: &Signals, repair: Option<Repair>) {
    match repair {
        Some(Repair::AllNewOrders) => {
            signals.note_behind();
            signals.wake(Sweep::NewOrders);
        }
        Some(Repair::OpenOrders) => signals.wake(Sweep::OpenOrders),
        Some(Repair::AllProducts) => {
            signals.note_unknown_product();
            signals.wake(Sweep::Products);
        }
        None => (),
    }
}

/// Returns the totals that the listings report; `None` for a listing without one.
async fn remote_totals(context: &StoreContext) -> Result<[Option<u64>; 3], Error> {
    let client: Client = context.client.in_lane(Lane::Poll);
    let page_parameter = &context.page_parameter;
    let query = || OrderQuery {
        limit: Some(1),
        page: 1,
        page_parameter: page_parameter.clone(),
        ..OrderQuery::default()
    };
    let open = OrderQuery { statuses: open_statuses().into_iter().map(str::to_owned).collect(), ..query() };
    let products = ProductQuery { per_page: Some(1), page: 1, page_parameter: page_parameter.clone() };
    let asked = [
        client.orders().list(&query()).await,
        client.orders().list(&open).await,
        client.products().list(&products).await,
    ];
    let mut totals = [None; 3];
    for (total, answer) in totals.iter_mut().zip(asked) {
        match answer {
            Ok(page) => *total = page.meta.total,
            Err(error) if is_final(&error) => (),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(totals)
}
