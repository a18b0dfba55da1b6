//! Writes single rows of orders and products: what was read, why it could not be read, and how it is listed.
//!
//! A row is written only if the mirror's row is still the one from before the read. Otherwise another task may have
//! written a later read.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use espelho_api_client::{ListedRow, resources::products::ProductDetail};
use espelho_model::{ContentHash, OrderNumber, ProductId, order::Order, sync::Resource, text::Text};
use espelho_store::{Error as StoreError, Known, Op, Subresource};

use super::{
    subresources::FetchedSubresource, unchanged_readings::UnchangedReading,
    write_if_changed::write_if_changed,
};
use crate::{
    StoreContext,
    plan::refresh_request::{Entity, RefreshRequest},
    plan::upsert::is_unchanged,
    pull::{Fetched, OrdersPull, ProductsPull},
    report::failure,
};

/// Replaces the fingerprint of a listing row. It says that the order was read since it was last listed, and late enough
/// after its last change to show another change in the same second.
pub(super) const SETTLED: ContentHash = ContentHash::from_i64(1);

/// The result of a write.
pub(super) enum Written {
    /// What happened to the row, if it differs.
    Row(Option<Op>),
    /// Another task wrote the row since it was looked up.
    Overtaken,
}

/// An order that was read, with its sub-resources.
pub(super) struct OrderRead {
    /// The row from before the read.
    pub(super) known: Option<Known>,
    /// The order itself, if it was requested.
    pub(super) order: Option<Fetched<Order>>,
    /// Whether its next change will show in its listing row.
    pub(super) is_settled: bool,
    /// The sub-resources that were requested.
    pub(super) subresources: Vec<FetchedSubresource>,
}

/// Writes single rows of a store.
pub(super) struct RowWriter<'c> {
    context: &'c StoreContext,
}

impl<'c> RowWriter<'c> {
    /// Returns the writer of a store's rows.
    pub(super) fn new(context: &'c StoreContext) -> Self {
        Self { context }
    }

    /// Looks up a row.
    pub(super) async fn row(&self, resource: Resource, key: &str) -> Result<Option<Known>, StoreError> {
        let known =
            self.context.store.mirror().known(&self.context.key, resource, vec![key.to_owned()]).await?;
        Ok(known.get(key).copied())
    }

    /// Writes an order, and its sub-resources, in one transaction.
    pub(super) async fn write_order(
        &self,
        number: &OrderNumber,
        request: &RefreshRequest,
        read: OrderRead,
    ) -> Result<Written, StoreError> {
        let OrderRead { known, order, is_settled, subresources } = read;
        let _writing = self.context.writing.lock().await;
        if self.is_overtaken(Resource::Orders, number.as_str(), known).await? {
            return Ok(Written::Overtaken);
        }
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        let mut noted: Vec<_> =
            subresources.iter().map(|read| (number.clone(), read.subresource, read.hash)).collect();
        let mut op = None;
        if let Some(fetched) = order {
            let listing_hash = request.listing_hash.filter(|_| is_settled);
            noted.push((number.clone(), Subresource::Order, fetched.content_hash));
            let unlisted = is_settled.then_some(SETTLED);
            let key = number.as_str();
            op = write_if_changed::<OrdersPull>(&mut tx, key, known, fetched, listing_hash, unlisted).await?;
        }
        for subresource in subresources {
            subresource.write(&mut tx, number).await?;
        }
        tx.staleness().note_subresources(noted).await?;
        tx.commit().await?;
        Ok(Written::Row(op))
    }

    /// Writes a product.
    pub(super) async fn write_product(
        &self,
        id: &ProductId,
        listing_hash: Option<ContentHash>,
        known: Option<Known>,
        fetched: Fetched<ProductDetail>,
    ) -> Result<Written, StoreError> {
        let _writing = self.context.writing.lock().await;
        if self.is_overtaken(Resource::Products, id.as_str(), known).await? {
            return Ok(Written::Overtaken);
        }
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        let key = id.as_str();
        let op = write_if_changed::<ProductsPull>(&mut tx, key, known, fetched, listing_hash, None).await?;
        tx.staleness().note_products_read(vec![id.clone()]).await?;
        tx.commit().await?;
        self.context.note_product(known.as_ref());
        Ok(Written::Row(op))
    }

    /// Notes that what was read is as the mirror has it; returns what another task wrote meanwhile, of which nothing is noted.
    pub(super) async fn note_unchanged<'r>(
        &self,
        readings: &'r [UnchangedReading],
    ) -> Result<Vec<&'r UnchangedReading>, StoreError> {
        let mirror = self.context.store.mirror();
        let _writing = self.context.writing.lock().await;
        let mut now = HashMap::new();
        for resource in [Resource::Orders, Resource::Products] {
            let rows = readings.iter().map(|reading| reading.entity.row());
            let keys: Vec<_> =
                rows.filter(|(of, _)| *of == resource).map(|(_, key)| key.to_owned()).collect();
            if !keys.is_empty() {
                now.insert(resource, mirror.known(&self.context.key, resource, keys).await?);
            }
        }
        let is_as_read = |reading: &&UnchangedReading| {
            let (resource, key) = reading.entity.row();
            is_unchanged(reading.known.as_ref(), now.get(&resource).and_then(|rows| rows.get(key)))
        };
        let (unchanged, overtaken): (Vec<_>, Vec<_>) = readings.iter().partition(is_as_read);
        let (mut products, mut subresources) = (Vec::new(), Vec::new());
        for reading in unchanged {
            match &reading.entity {
                Entity::Product(id) => products.push((id.clone(), reading.read_at)),
                Entity::Order(number) => {
                    subresources.extend(reading.subresources.iter().map(|read| (number.clone(), *read)));
                }
            }
        }
        let keys: Vec<_> = products.iter().map(|(id, _)| id.as_str().to_owned()).collect();
        let failed = match keys.is_empty() {
            true => Vec::new(),
            false => mirror.failed_at(&self.context.key, Resource::Products, keys.clone()).await?,
        };
        // One that has failed since it was read has not been mended.
        let is_mended = |(key, at): &(String, DateTime<Utc>)| {
            products.iter().any(|(id, read_at)| id.as_str() == key && at <= read_at)
        };
        let mended: Vec<_> = failed.into_iter().filter(is_mended).map(|(key, _)| key).collect();
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        if !mended.is_empty() {
            tx.failures().clear_failures(Resource::Products, mended).await?;
        }
        if !products.is_empty() {
            tx.staleness().forget_missing(Resource::Products, keys).await?;
            tx.staleness().note_products_read_at(products).await?;
        }
        tx.staleness().note_subresources_at(subresources).await?;
        tx.commit().await?;
        Ok(overtaken)
    }

    /// Takes rows of orders as listed that are mirrored as they are listed. The next sweep compares rows that were
    /// written since they were looked up.
    pub(super) async fn relist_orders(
        &self,
        rows: &[ListedRow],
        known: &HashMap<String, Known>,
    ) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let store = &self.context.store;
        let _writing = self.context.writing.lock().await;
        let keys = rows.iter().map(|row| row.key.clone()).collect();
        let now = store.mirror().known(&self.context.key, Resource::Orders, keys).await?;
        let mut tx = store.begin(&self.context.lease).await?;
        for row in rows.iter().filter(|row| now.get(&row.key) == known.get(&row.key)) {
            tx.mirror().relist(Resource::Orders, &row.key, row.hash).await?;
        }
        tx.commit().await
    }

    /// Shows on its row why an entity could not be read or written.
    pub(super) async fn note_failure(&self, entity: &Entity, code: String, text: Text) {
        let (resource, key) = entity.row();
        let noted = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            let failure = failure(key.to_owned(), code, text, self.context.locale);
            tx.failures().note_failures(resource, &[failure]).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            tracing::warn!(store = %self.context.key, %error, "a failure could not be recorded");
        }
    }

    /// Counts a reading that failed as the turn of its product in the rotation: products that cannot be read, or not
    /// for long, must not keep the others from it.
    pub(super) async fn note_unread_product(&self, id: &ProductId) {
        let noted = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.staleness().note_products_unread(vec![id.clone()]).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            tracing::warn!(store = %self.context.key, product = %id, %error, "a failed reading could not be counted as a turn");
        }
    }

    async fn is_overtaken(
        &self,
        resource: Resource,
        key: &str,
        before: Option<Known>,
    ) -> Result<bool, StoreError> {
        let now = self.row(resource, key).await?;
        Ok(!is_unchanged(before.as_ref(), now.as_ref()))
    }
}
