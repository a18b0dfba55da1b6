//! Sweeps the least recently read products: their listing does not show stock and prices. Walks the whole listing if a
//! delivery named an unknown product.

use std::{collections::HashMap, time::Duration};

use espelho_api_client::{Error as ApiError, limit::Lane};
use espelho_model::sync::Resource;

use super::changed_rows::ChangedRows;
use crate::{
    Error, Input, StoreContext,
    live::{refresh_queue::RefreshQueue, signals::Signals},
    plan::refresh_request::{Entity, RefreshRequest},
    plan::{interval::is_due, last_page::is_last_page, load::PRODUCTS_AT_ONCE, rotation::rested},
    pull::{ProductsPull, Pull as _},
};

/// Pages of the listing: more than any store has, so that an endless listing ends here.
const MOST_PAGES: u64 = 1_000;
/// Least time between two walks of the product listing for unknown identifiers.
const WALK_EVERY: Duration = Duration::from_secs(300);

/// The sweep of products.
pub(super) struct ProductSweep<'c> {
    context: &'c StoreContext,
    queue: &'c RefreshQueue<'c>,
    signals: &'c Signals,
    /// When the listing was last walked for an unknown product.
    walked: Option<Duration>,
}

impl<'c> ProductSweep<'c> {
    /// Returns a sweep that has walked no listing yet.
    pub(super) fn new(context: &'c StoreContext, queue: &'c RefreshQueue<'c>, signals: &'c Signals) -> Self {
        Self { context, queue, signals, walked: None }
    }

    /// Queues the least recently read products that have rested for `rest`.
    pub(super) async fn sweep(&mut self, changed: &ChangedRows<'_>, rest: Duration) -> Result<(), Error> {
        let now = self.context.clock.monotonic();
        if is_due(self.walked, now, WALK_EVERY) && self.signals.take_unknown_product() {
            self.walked = Some(now);
            self.walk(changed).await?;
        }
        if !self.signals.is_mirrored() || self.queue.is_crowded() {
            return Ok(());
        }
        let context = self.context;
        let aged = context.store.staleness().products_by_age(&context.key, PRODUCTS_AT_ONCE).await?;
        let aged = rested(aged, |(_, turn_at)| *turn_at, context.clock.now(), rest);
        let requests = aged.into_iter().map(|(id, _)| (Entity::Product(id), RefreshRequest::default()));
        self.queue.push_swept(requests);
        Ok(())
    }

    async fn walk(&self, changed: &ChangedRows<'_>) -> Result<(), Error> {
        let client = self.context.client.in_lane(Lane::Poll);
        let mut pull = ProductsPull::new(client, HashMap::new(), self.context.page_parameter.clone());
        let mut page = 1;
        while page <= MOST_PAGES && !self.context.stop.is_cancelled() {
            let listing = match pull.list(page).await {
                Ok(listing) => listing,
                Err(ApiError::Refused { status: 400 | 422, refusal, .. })
                    if page == 1 && pull.simplify(&refusal) =>
                {
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            self.context.show_poisoned_rows(Input::Product, &listing).await;
            let is_end = is_last_page(page, listing.rows.len(), &listing.meta);
            changed.queue(Resource::Products, listing.rows).await?;
            if is_end {
                break;
            }
            page += 1;
        }
        Ok(())
    }
}
