//! Sweeps the newest orders, page by page until a page has nothing new; if many are new, once more, because the pages
//! shift meanwhile.

use espelho_api_client::{Error as ApiError, ListPage};
use espelho_model::sync::Resource;

use super::{changed_rows::ChangedRows, order_listing::OrderListing};
use crate::{
    Error, StoreContext,
    live::signals::Signals,
    plan::{last_page::is_last_page, schedule::Sweep, window::Window},
};

/// Pages of new orders in one sweep. The complete reconciliation reads what is behind them.
const NEW_PAGES: u64 = 20;

/// Queues new and changed orders among the newest; returns how many requests the listing took.
pub(super) async fn sweep_new_orders(
    context: &StoreContext,
    signals: &Signals,
    changed: &ChangedRows<'_>,
) -> Result<u64, Error> {
    let mut orders = OrderListing::new(context, "-created_at", &[]);
    // Until the mirror is complete, the reconciliation reads what is behind.
    let pages = if signals.is_mirrored() { NEW_PAGES } else { 1 };
    let is_behind = signals.take_behind();
    let mut window = Window::new(if is_behind { pages } else { 1 }, pages);
    loop {
        let listing = orders.page(window.page()).await?;
        if window.page() == 1 && listing.rows.is_empty() {
            check_empty(context, signals, &listing).await?;
        }
        let is_end = is_last_page(window.page(), listing.rows.len(), &listing.meta);
        let listed: Vec<_> = listing.rows.iter().map(|row| (row.key.clone(), row.hash)).collect();
        let keys: Vec<_> = listed.iter().map(|(key, hash)| (key.as_str(), *hash)).collect();
        let fresh = window.fresh(&keys);
        let rows = listing.rows.into_iter().enumerate();
        let rows = rows.filter(|(at, _)| fresh.contains(at)).map(|(_, row)| row).collect();
        let new = changed.queue(Resource::Orders, rows).await?;
        let new: Vec<_> = new.iter().map(|(key, hash)| (key.as_str(), *hash)).collect();
        if !window.go_on(&keys, &new, is_end) || context.stop.is_cancelled() {
            return Ok(orders.requests());
        }
    }
}

/// Refuses to believe that a store has no orders while the mirror has some: the marketplace deletes none, and nothing
/// new would ever come. The counts, which are woken, say it on every surface.
async fn check_empty(context: &StoreContext, signals: &Signals, listing: &ListPage) -> Result<(), Error> {
    if !signals.is_mirrored() || listing.meta.total.is_some_and(|total| total > 0) {
        return Ok(());
    }
    let [mirrored, ..] = context.store.runs().live_counts(&context.key).await?;
    if mirrored == 0 {
        return Ok(());
    }
    signals.wake(Sweep::Counts);
    let problem = format!("no orders at all, of which the mirror has {mirrored}");
    Err(ApiError::Unexpected { request: "GET /api/v1/sellers/orders".to_owned(), read: true, problem }.into())
}
