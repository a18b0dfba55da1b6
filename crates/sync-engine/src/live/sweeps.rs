//! Sweeps by listing, without checkpoints: rows whose listing differs from the mirror are queued.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    time::Duration,
};

use espelho_api_client::{Error as ApiError, ListPage, ListedRow, PageMeta, resources::orders::OrderQuery};
use espelho_model::{
    ContentHash, OrderNumber, ProductId,
    order::{STATUSES, TERMINAL_STATUSES},
    sync::Resource,
};
use espelho_store::{Known, Subresource};

use super::{
    Live,
    refresh::SETTLED,
    refresh_request::{Entity, RefreshRequest, Urgency},
};
use crate::{
    Problem,
    plan::{listed::is_already_mirrored, load::PRODUCTS_AT_ONCE, page::plan_page, window::Window},
    pull::{ProductsPull, Pull as _},
};

/// Rows per page.
const LIMIT: u32 = 100;
/// Pages of new orders in one sweep. The complete reconciliation reads what is behind them.
const NEW_PAGES: u64 = 20;
/// Pages of any listing: more than any store has, so that an endless listing ends here.
const MOST_PAGES: u64 = 1_000;
/// Orders no longer listed as open that are read again in one sweep.
const CLOSED_AT_ONCE: usize = 200;
/// Least time between two walks of the product listing for unknown identifiers.
const WALK_EVERY: Duration = Duration::from_secs(300);
/// The queue length at which a sweep adds nothing more.
pub(super) const CROWDED: usize = 200;

impl Live<'_> {
    /// Sweeps the newest orders, page by page until a page has nothing new; if many are new, once more, because the
    /// pages shift meanwhile.
    pub(super) async fn sweep_new_orders(&self) -> Result<(), Problem> {
        let mut query = self.query(Some("-created_at"));
        // Until the mirror is complete, the reconciliation reads what is behind.
        let pages = if self.known().mirrored { NEW_PAGES } else { 1 };
        let is_behind = std::mem::take(&mut self.known().is_behind);
        let mut window = Window::new(if is_behind { pages } else { 1 }, pages);
        loop {
            let listing = self.list(&mut query, window.page()).await?;
            let is_end = is_last_page(window.page(), listing.rows.len(), &listing.meta);
            let listed: Vec<_> = listing.rows.iter().map(|row| (row.key.clone(), row.hash)).collect();
            let keys: Vec<_> = listed.iter().map(|(key, hash)| (key.as_str(), *hash)).collect();
            let fresh = window.fresh(&keys);
            let rows = listing.rows.into_iter().enumerate();
            let rows = rows.filter(|(at, _)| fresh.contains(at)).map(|(_, row)| row).collect();
            let new = self.compare(Resource::Orders, rows).await?;
            let new: Vec<_> = new.iter().map(|(key, hash)| (key.as_str(), *hash)).collect();
            if !window.go_on(&keys, &new, is_end) || self.is_stopping() {
                return Ok(());
            }
        }
    }

    /// Sweeps all orders that may still change. Also queues those that the mirror has as open and the marketplace no
    /// longer lists as open: they have changed.
    pub(super) async fn sweep_open_orders(&self) -> Result<(), Problem> {
        if !self.known().mirrored {
            return Ok(());
        }
        let open: Vec<&str> =
            STATUSES.into_iter().filter(|status| !TERMINAL_STATUSES.contains(status)).collect();
        let mut query = self.query(Some("created_at"));
        query.statuses = open.iter().map(|status| (*status).to_owned()).collect();
        let mut seen = HashSet::new();
        for page in 1..=MOST_PAGES {
            let listing = self.list(&mut query, page).await?;
            let (rows, before) = (listing.rows.len(), seen.len());
            seen.extend(listing.rows.iter().map(|row| row.key.clone()));
            self.compare(Resource::Orders, listing.rows).await?;
            if is_last_page(page, rows, &listing.meta) {
                return self.read_closed_orders(&open, &seen).await;
            }
            if seen.len() == before || self.is_stopping() {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn read_closed_orders(&self, open: &[&str], seen: &HashSet<String>) -> Result<(), Problem> {
        let (store, key) = (&self.context.store, &self.context.key);
        let (mut closed, mut after) = (Vec::new(), String::new());
        while closed.len() < CLOSED_AT_ONCE {
            let orders = store.staleness().open_orders(key, None, &after, 1_000).await;
            let orders = orders.map_err(|e| Problem::from_store(&e))?;
            let Some(last) = orders.last() else { break };
            last.number.as_str().clone_into(&mut after);
            let unlisted = orders.into_iter().filter(|order| {
                let listed_by = order.status.as_deref().is_some_and(|status| open.contains(&status));
                listed_by && !seen.contains(order.number.as_str())
            });
            closed.extend(unlisted.map(|order| order.number));
        }
        closed.truncate(CLOSED_AT_ONCE);
        let subresources = || BTreeSet::from([Subresource::Order]);
        let request = || RefreshRequest {
            subresources: subresources(),
            urgency: Urgency::Found,
            ..RefreshRequest::default()
        };
        self.push_swept(closed.into_iter().map(|number| (Entity::Order(number), request())));
        Ok(())
    }

    /// Sweeps the least recently read products: their listing does not show stock and prices. Walks the whole listing
    /// if a delivery named an unknown product.
    pub(super) async fn sweep_products(&self) -> Result<(), Problem> {
        let now = self.context.clock.monotonic();
        let walks = {
            let mut known = self.known();
            let walks = known.has_unknown_product && known.walked.is_none_or(|at| now >= at + WALK_EVERY);
            if walks {
                (known.has_unknown_product, known.walked) = (false, Some(now));
            }
            walks
        };
        if walks {
            self.walk_products().await?;
        }
        if !self.known().mirrored || self.is_crowded() {
            return Ok(());
        }
        let aged = self.context.store.staleness().products_by_age(&self.context.key, PRODUCTS_AT_ONCE).await;
        let aged = aged.map_err(|e| Problem::from_store(&e))?;
        self.push_swept(aged.into_iter().map(|(id, _)| (Entity::Product(id), RefreshRequest::default())));
        Ok(())
    }

    async fn walk_products(&self) -> Result<(), Problem> {
        let mut pull = ProductsPull::new(self.poll(), Vec::new(), self.context.page_parameter.clone());
        let mut page = 1;
        while page <= MOST_PAGES && !self.is_stopping() {
            let listing = match pull.list(page).await {
                Ok(listing) => listing,
                Err(ApiError::Refused { status: 400 | 422, refusal, .. })
                    if page == 1 && pull.simplify(&refusal) =>
                {
                    continue;
                }
                Err(error) => return Err(Problem::from_api(&error)),
            };
            let is_end = is_last_page(page, listing.rows.len(), &listing.meta);
            self.compare(Resource::Products, listing.rows).await?;
            if is_end {
                break;
            }
            page += 1;
        }
        Ok(())
    }

    /// Queues the rows that are listed differently; returns them.
    async fn compare(
        &self,
        resource: Resource,
        rows: Vec<ListedRow>,
    ) -> Result<Vec<(String, ContentHash)>, Problem> {
        let (store, key) = (&self.context.store, &self.context.key);
        let keys = rows.iter().map(|row| row.key.clone()).collect();
        let known = store.mirror().known(key, resource, keys).await.map_err(|e| Problem::from_store(&e))?;
        let listed = rows.iter().map(|row| row.key.clone()).collect();
        self.note_listed(resource, listed).await.map_err(|e| Problem::from_store(&e))?;
        let mut fetch = plan_page(&rows, &known, &HashSet::new(), false).fetch;
        if !fetch.is_empty() {
            // Rows that failed lately are left to the complete reconciliation.
            let failed = store.mirror().failures(key, resource).await.map_err(|e| Problem::from_store(&e))?;
            let failed: HashSet<String> = failed.into_iter().map(|failure| failure.key).collect();
            fetch.retain(|row| !failed.contains(&row.key));
        }
        if resource == Resource::Orders {
            self.take_as_listed(&mut fetch, &known).await?;
        }
        let found = fetch.iter().map(|row| (row.key.clone(), row.hash)).collect();
        self.push_swept(fetch.into_iter().map(|row| {
            let found = RefreshRequest {
                listing_hash: Some(row.hash),
                urgency: Urgency::Found,
                ..RefreshRequest::default()
            };
            match resource {
                Resource::Orders => {
                    let subresources = BTreeSet::from([Subresource::Order]);
                    (Entity::Order(OrderNumber::new(row.key)), RefreshRequest { subresources, ..found })
                }
                Resource::Products => (Entity::Product(ProductId::new(row.key)), found),
            }
        }));
        Ok(found)
    }

    /// Leaves out orders that were read since they were last listed, and whose row matches what was read: their rows
    /// are taken as listed. Applies only to orders that could not have changed again in the same second.
    async fn take_as_listed(
        &self,
        fetch: &mut Vec<ListedRow>,
        known: &HashMap<String, Known>,
    ) -> Result<(), Problem> {
        let settled =
            |row: &&ListedRow| known.get(&row.key).is_some_and(|k| k.listing_hash == SETTLED && !k.gone);
        let keys: Vec<String> = fetch.iter().filter(settled).map(|row| row.key.clone()).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let (store, key) = (&self.context.store, &self.context.key);
        let failed = |e: espelho_store::Error| Problem::from_store(&e);
        let received = store.lookups().orders_as_received(key, keys).await.map_err(failed)?;
        let says_nothing = |row: &ListedRow| {
            received.get(&row.key).is_some_and(|received| is_already_mirrored(&row.text, received))
        };
        let (same, news): (Vec<_>, Vec<_>) = std::mem::take(fetch).into_iter().partition(says_nothing);
        *fetch = news;
        let _writing = self.context.writing.lock().await;
        let keys = same.iter().map(|row| row.key.clone()).collect();
        let now = store.mirror().known(key, Resource::Orders, keys).await.map_err(failed)?;
        let written = async {
            let mut tx = store.begin(&self.context.lease).await?;
            for row in &same {
                // The next sweep compares rows that were written meanwhile.
                if now.get(&row.key) == known.get(&row.key) {
                    tx.mirror().relist(Resource::Orders, &row.key, row.hash).await?;
                }
            }
            tx.commit().await
        };
        if same.is_empty() { Ok(()) } else { written.await.map_err(failed) }
    }

    fn query(&self, sort: Option<&str>) -> OrderQuery {
        OrderQuery {
            sort: sort.map(str::to_owned),
            limit: Some(LIMIT),
            page_parameter: self.context.page_parameter.clone(),
            ..OrderQuery::default()
        }
    }

    /// Reads a page of orders. If the server refuses the request, simplifies it; the server's own order is newest
    /// first.
    async fn list(&self, query: &mut OrderQuery, page: u64) -> Result<ListPage, Problem> {
        loop {
            self.known().pages += 1;
            match self.poll().list_orders(&OrderQuery { page, ..query.clone() }).await {
                Ok(listing) => return Ok(listing),
                Err(ApiError::Refused { status: 404 | 416, .. }) if page > 1 => {
                    return Ok(ListPage { rows: Vec::new(), rows_without_id: 0, meta: PageMeta::default() });
                }
                Err(ApiError::Refused { status: 400 | 422, .. })
                    if page == 1 && (query.sort.take().is_some() || query.limit.take().is_some()) => {}
                Err(error) => return Err(Problem::from_api(&error)),
            }
        }
    }
}

/// Whether the listing ends with this page, as far as the server reports; an empty page ends it in any case.
pub(super) fn is_last_page(page: u64, rows: usize, meta: &PageMeta) -> bool {
    rows == 0
        || meta.has_next == Some(false)
        || meta.last_page.is_some_and(|last| last > 0 && page >= last)
        || meta.has_next.is_none()
            && meta.last_page.is_none()
            && meta.total.is_some_and(|total| total <= rows as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_ends_where_the_server_says_so_or_where_nothing_comes() {
        let check = |page, rows, meta: PageMeta, expected| {
            assert_eq!(is_last_page(page, rows, &meta), expected, "{meta:?}");
        };
        let none = PageMeta::default();
        check(1, 0, PageMeta { has_next: Some(true), ..none }, true);
        check(1, 100, none, false);
        check(1, 100, PageMeta { has_next: Some(false), ..none }, true);
        check(3, 100, PageMeta { last_page: Some(3), ..none }, true);
        check(2, 100, PageMeta { last_page: Some(3), ..none }, false);
        check(1, 100, PageMeta { last_page: Some(0), ..none }, false);
        check(1, 7, PageMeta { total: Some(7), ..none }, true);
        check(1, 7, PageMeta { total: Some(8), ..none }, false);
    }
}
