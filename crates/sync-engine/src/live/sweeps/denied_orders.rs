//! Sweeps the orders that the marketplace listed and denied, and that the sweep for new orders has not just listed:
//! searches the listing for them, and reads them again.

use espelho_model::{OrderNumber, sync::Resource};
use espelho_store::Subresource;
use futures_util::future::BoxFuture;

use super::{changed_rows::request_of, order_listing::OrderListing};
use crate::{
    Error, StoreContext,
    live::refresh_queue::RefreshQueue,
    plan::refresh_request::{Entity, RefreshRequest, Urgency},
    plan::{
        denied_orders::{Search, is_denied, search},
        unbelieved_orders::{AT_ONCE, due_again},
    },
};

/// Queues denied orders that are still listed, and ends the failures of those that are listed no more.
///
/// Boxed, because there are seldom any.
pub(super) fn boxed_sweep_denied_orders<'s>(
    context: &'s StoreContext,
    queue: &'s RefreshQueue<'_>,
) -> BoxFuture<'s, Result<(), Error>> {
    Box::pin(sweep_denied_orders(context, queue))
}

async fn sweep_denied_orders(context: &StoreContext, queue: &RefreshQueue<'_>) -> Result<(), Error> {
    let failures = context.store.mirror().failures(&context.key, Resource::Orders).await?;
    let denied = failures.into_iter().filter(|failure| is_denied(&failure.code));
    // Orders that a page has shown, or a delivery reported, are being read already.
    let denied = denied.filter(|failure| !queue.has_entity(&order(&failure.key)));
    let denied: Vec<String> = denied.map(|failure| failure.key).collect();
    if denied.is_empty() {
        return Ok(());
    }
    let failed_at = context.store.mirror().failed_at(&context.key, Resource::Orders, denied).await?;
    let (mut again, mut unlisted) = (Vec::new(), Vec::new());
    for number in due_again(failed_at, AT_ONCE, context.clock.now()) {
        let found = match OrderListing::of_order(context, &number).page(1).await {
            Ok(listing) => search(&number, listing.rows, &listing.meta),
            Err(error) if error.ends_all() => return Err(error),
            Err(error) => {
                let problem = error.problem();
                tracing::warn!(store = %context.key, order = number, error = problem.error, "a denied order could not be searched for; it is read");
                Search::Unclear
            }
        };
        match found {
            Search::Listed(row) => again.push(request_of(Resource::Orders, Urgency::Swept, row)),
            Search::Unlisted => unlisted.push(number),
            Search::Unclear => {
                // Another denial is recorded again, so that the next orders have their turn.
                let request =
                    RefreshRequest { was_denied: true, ..RefreshRequest::swept([Subresource::Order]) };
                again.push((order(&number), request));
            }
        }
        if context.stop.is_cancelled() {
            break;
        }
    }
    queue.push_swept(again);
    if unlisted.is_empty() {
        return Ok(());
    }
    tracing::info!(store = %context.key, orders = unlisted.len(), "denied orders are listed no more");
    let ended = async {
        let mut tx = context.store.begin(&context.lease).await?;
        tx.failures().clear_failures(Resource::Orders, unlisted).await?;
        tx.commit().await
    };
    ended.await.map_err(Error::from)
}

fn order(number: &str) -> Entity {
    Entity::Order(OrderNumber::new(number))
}
