//! Compares listed rows with the mirror, without checkpoints: rows that are listed differently are queued.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use espelho_api_client::ListedRow;
use espelho_model::{ContentHash, sync::Resource};
use espelho_store::{Error as StoreError, Known, Subresource};
use parking_lot::Mutex;

use crate::{
    Error, StoreContext,
    live::{
        denials::Denials,
        refresh_queue::RefreshQueue,
        row_writer::{RowWriter, SETTLED},
        signals::Signals,
    },
    plan::refresh_request::{Entity, ListedState, RefreshRequest, Urgency},
    plan::{
        denied_orders::{LISTED_AT_ONCE, NEVER_FOUND, is_denied},
        failed_orders::{FailedOrders, is_set_aside},
        first_read::is_left_to_reading,
        listing_diff::is_already_mirrored,
        page::plan_page,
        unbelieved_orders::{AT_ONCE, CODE, due_again},
    },
};

/// The rows of a page that are listed differently.
struct Changed {
    /// Rows that the mirror does not know yet.
    news: Vec<ListedRow>,
    /// Orders that were denied.
    denied: Vec<ListedRow>,
    /// Orders whose details were not believed.
    unbelieved: Vec<ListedRow>,
    /// Orders that failed for another cause.
    failed: Vec<ListedRow>,
    /// The mirror's rows of the page.
    known: HashMap<String, Known>,
}

/// What compares listed rows with the mirror.
pub(super) struct ChangedRows<'c> {
    context: &'c StoreContext,
    queue: &'c RefreshQueue<'c>,
    signals: &'c Signals,
    rows: RowWriter<'c>,
    denials: Denials<'c>,
    failed: Mutex<FailedOrders>,
}

impl<'c> ChangedRows<'c> {
    /// Returns a comparison that fills `queue`.
    pub(super) fn new(context: &'c StoreContext, queue: &'c RefreshQueue<'c>, signals: &'c Signals) -> Self {
        let (rows, denials) = (RowWriter::new(context), Denials::new(context));
        Self { context, queue, signals, rows, denials, failed: Mutex::default() }
    }

    /// Queues the rows that are listed differently; returns those that are news, and denied orders: a walk that ended
    /// with the news would not reach those that were denied before.
    pub(super) async fn queue(
        &self,
        resource: Resource,
        rows: Vec<ListedRow>,
    ) -> Result<Vec<(String, ContentHash)>, Error> {
        let Changed { news, denied, unbelieved, failed, known } = self.changed(resource, rows).await?;
        let found = news.iter().chain(&denied).map(|row| (row.key.clone(), row.hash)).collect();
        let request = |urgency, row: ListedRow| {
            let is_unknown = resource == Resource::Orders && !known.contains_key(&row.key);
            let listed = ListedState::of(&row, self.context.client.naive_offset());
            let (entity, request) = request_of(resource, urgency, row);
            (entity, RefreshRequest { is_unknown, listed: Some(Box::new(listed)), ..request })
        };
        let news = news.into_iter().map(|row| request(Urgency::Found, row));
        let again = denied.into_iter().chain(unbelieved).chain(failed);
        let again = again.map(|row| request(Urgency::Swept, row));
        self.queue.push_swept(news.chain(again));
        Ok(found)
    }

    async fn changed(&self, resource: Resource, rows: Vec<ListedRow>) -> Result<Changed, StoreError> {
        let (store, key) = (&self.context.store, &self.context.key);
        let keys = || rows.iter().map(|row| row.key.clone()).collect();
        let known = store.mirror().known(key, resource, keys()).await?;
        self.denials.clear_listed(resource, keys()).await?;
        let mut changed = plan_page(&rows, &known, &HashSet::new(), false).fetch;
        changed.retain(|row| !self.context.being_read.has(resource, row));
        if resource == Resource::Orders && !self.signals.is_mirrored() {
            changed.retain(|row| known.contains_key(&row.key) || !is_left_to_reading(row.status()));
        }
        let (mut denied, mut unbelieved, mut odd) = (Vec::new(), Vec::new(), Vec::new());
        if !changed.is_empty() {
            // Products that failed lately are left to the complete reconciliation, and what is set aside to the
            // quarantine.
            let failed = store.mirror().failures(key, resource).await?;
            let failed = failed.into_iter().filter(|failure| failure.code != NEVER_FOUND);
            let failed: HashMap<String, String> = failed.map(|failure| (failure.key, failure.code)).collect();
            let (again, news): (Vec<_>, Vec<_>) =
                changed.into_iter().partition(|row| failed.contains_key(&row.key));
            changed = news;
            if resource == Resource::Orders {
                self.failed.lock().keep(|key| failed.contains_key(key));
            }
            for row in again {
                match failed.get(&row.key).map(String::as_str) {
                    Some(CODE) => unbelieved.push(row),
                    Some(code) if is_denied(code) => denied.push(row),
                    Some(code) if !is_set_aside(code) => odd.push(row),
                    _ => (),
                }
            }
        }
        match resource {
            Resource::Orders => Ok(Changed {
                denied: self.due(denied, |failed, now| due_again(failed, LISTED_AT_ONCE, now)).await?,
                unbelieved: self.due(unbelieved, |failed, now| due_again(failed, AT_ONCE, now)).await?,
                failed: self.due(odd, |failed, now| self.failed.lock().due_again(failed, now)).await?,
                news: self.without_mirrored(changed, &known).await?,
                known,
            }),
            Resource::Products => {
                let (denied, unbelieved, failed) = (Vec::new(), Vec::new(), Vec::new());
                Ok(Changed { news: changed, denied, unbelieved, failed, known })
            }
        }
    }

    /// Keeps the failed orders that `due` lets be read again now.
    async fn due(
        &self,
        mut failed: Vec<ListedRow>,
        due: impl FnOnce(Vec<(String, DateTime<Utc>)>, DateTime<Utc>) -> HashSet<String>,
    ) -> Result<Vec<ListedRow>, StoreError> {
        // The queue repeats those itself.
        failed.retain(|row| !self.queue.has_entity(&Entity::of_row(Resource::Orders, row.key.as_str())));
        if failed.is_empty() {
            return Ok(failed);
        }
        let keys = failed.iter().map(|row| row.key.clone()).collect();
        let mirror = self.context.store.mirror();
        let failed_at = mirror.failed_at(&self.context.key, Resource::Orders, keys).await?;
        let due = due(failed_at, self.context.clock.now());
        failed.retain(|row| due.contains(&row.key));
        Ok(failed)
    }

    /// Leaves out orders that were read since they were last listed, and whose row matches what was read: their rows
    /// are taken as listed. Applies only to orders that could not have changed again in the same second.
    async fn without_mirrored(
        &self,
        changed: Vec<ListedRow>,
        known: &HashMap<String, Known>,
    ) -> Result<Vec<ListedRow>, StoreError> {
        let settled: Vec<String> =
            changed.iter().filter(|row| is_settled(row, known)).map(|row| row.key.clone()).collect();
        if settled.is_empty() {
            return Ok(changed);
        }
        let lookups = self.context.store.lookups();
        let received = lookups.orders_as_received(&self.context.key, settled).await?;
        let is_mirrored = |row: &ListedRow| {
            let is_kept = |received: &String| is_already_mirrored(&lookups.as_kept(&row.text), received);
            received.get(&row.key).is_some_and(is_kept)
        };
        let (mirrored, news): (Vec<_>, Vec<_>) = changed.into_iter().partition(is_mirrored);
        self.rows.relist_orders(&mirrored, known).await?;
        Ok(news)
    }
}

/// Whether an order was read since it was last listed.
fn is_settled(row: &ListedRow, known: &HashMap<String, Known>) -> bool {
    known.get(&row.key).is_some_and(|known| known.listing_hash == SETTLED && !known.gone)
}

/// Returns the request for a row that is listed differently.
pub(super) fn request_of(resource: Resource, urgency: Urgency, row: ListedRow) -> (Entity, RefreshRequest) {
    let request = match resource {
        Resource::Orders => RefreshRequest::swept([Subresource::Order]),
        Resource::Products => RefreshRequest::default(),
    };
    let (listing_hash, has_listed_status) = (Some(row.hash), row.status().is_some());
    (
        Entity::of_row(resource, row.key),
        RefreshRequest { urgency, listing_hash, has_listed_status, ..request },
    )
}

#[cfg(test)]
mod tests {
    use espelho_api_client::RowState;
    use espelho_model::OrderNumber;

    use super::*;

    fn row(key: &str) -> ListedRow {
        let state = RowState { status: Some("paid".into()), updated_at: None };
        ListedRow { key: key.into(), hash: ContentHash::from_i64(9), text: String::new(), state }
    }

    #[test]
    fn a_row_that_is_listed_differently_is_requested_with_its_fingerprint() {
        for resource in [Resource::Orders, Resource::Products] {
            for urgency in [Urgency::Found, Urgency::Swept] {
                let (entity, request) = request_of(resource, urgency, row("7"));
                assert_eq!(entity.row(), (resource, "7"));
                assert_eq!(
                    (request.urgency, request.listing_hash, request.has_listed_status),
                    (urgency, Some(ContentHash::from_i64(9)), true)
                );
                let wants_order = request.subresources.contains(Subresource::Order);
                assert_eq!(wants_order, entity == Entity::Order(OrderNumber::new("7")));
            }
        }
    }

    #[test]
    fn only_an_order_that_was_read_late_enough_after_its_change_may_be_taken_as_listed() {
        let content_hash = ContentHash::from_i64(5);
        for (listing, gone, expected) in [(1, false, true), (1, true, false), (2, false, false)] {
            let known = Known { listing_hash: ContentHash::from_i64(listing), content_hash, gone };
            let known = HashMap::from([("7".to_owned(), known)]);
            assert_eq!(is_settled(&row("7"), &known), expected, "{listing} {gone}");
            assert!(!is_settled(&row("8"), &known), "nobody knows it");
        }
    }
}
