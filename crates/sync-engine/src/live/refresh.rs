//! Refreshes one entity: reads it, and writes it if it differs from the mirror.
//!
//! The entity is written only if the mirror's row is still the one from before the read. Otherwise another task may
//! have written a later read, and the entity is read once more.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::{Client, Error as ApiError};
use espelho_model::{ContentHash, OrderNumber, ProductId, order::Order, sync::Resource};
use espelho_store::{Error as StoreError, Known, Op, PageTx, Subresource};

use super::{
    Handled, Live,
    queue::{Ended, Work},
    refresh_request::{Entity, RefreshRequest, Urgency},
    subresources::FetchedSubresource,
};
use crate::{
    Problem,
    pull::{Fetched, OrdersPull, ProductsPull, Pull, RowWrite},
};

/// Tolerance for clocks that differ.
const SETTLED_AFTER: TimeDelta = TimeDelta::seconds(5);

/// Replaces the fingerprint of a listing row. It says that the order was read since it was last listed, and late enough
/// after its last change to show another change in the same second.
pub(super) const SETTLED: ContentHash = ContentHash::from_i64(1);
/// A sub-resource that was last read longer ago than this may have changed without a change of the order. If it was
/// read later, a delivery may still be under way.
const SUBRESOURCE_MAX_AGE: TimeDelta = TimeDelta::minutes(10);

/// Why a refresh failed.
enum Cause {
    Api(ApiError),
    /// The marketplace reports that the order does not exist.
    Denied(ApiError),
    Store(StoreError),
    /// Another task wrote the row meanwhile, or a delivery reported the entity.
    Overtaken,
    /// The service stops; the inbox returns what waits.
    Stopping,
}

/// The result of a refresh.
struct Refreshed {
    /// Whether it shows the expected state.
    is_shown: bool,
    /// What it did to the mirror's row.
    op: Option<Op>,
    /// The events that should have reported the change.
    events: Vec<&'static str>,
    /// When it changed, as the marketplace reports it.
    changed_at: Option<DateTime<Utc>>,
}

impl From<StoreError> for Cause {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Cause {
    /// Converts the refusal of an order itself: for its sub-resources, a 404 may only mean that there is none yet.
    fn of_order(self) -> Self {
        match self {
            Self::Api(error @ ApiError::Refused { status: 404 | 410, .. }) => Self::Denied(error),
            other => other,
        }
    }
}

impl Live<'_> {
    pub(super) async fn refresh(&self, work: Work) -> Result<(), Problem> {
        let Work { entity, request, is_last } = work;
        let read = match &entity {
            Entity::Order(number) => self.read_order(number, &entity, &request).await,
            Entity::Product(id) => self.read_product(id, &entity, &request).await,
        };
        let mut problem = None;
        let ended = match read {
            Ok(read) => {
                self.count(&entity, &request, &read);
                self.measure_lag(&request, &read);
                if !read.is_shown && is_last {
                    tracing::warn!(store = %self.context.key, ?entity, "the marketplace never showed the state that a delivery reported");
                }
                if read.is_shown { Ended::Done } else { Ended::NotYet }
            }
            Err(Cause::Stopping) => return Ok(()),
            Err(Cause::Overtaken) => Ended::Again,
            Err(Cause::Store(error)) => {
                problem = Some(Problem::from_store(&error));
                self.after_store_error(&entity, &error).await?
            }
            Err(Cause::Denied(error)) => {
                problem = Some(Problem::from_api(&error));
                self.after_denial(&entity, &request, is_last, &error).await?
            }
            Err(Cause::Api(error)) => {
                problem = Some(Problem::from_api(&error));
                self.after_api_error(&entity, &request, is_last, &error).await?
            }
        };
        let ids = {
            let now = self.context.clock.monotonic();
            self.queue().done(now, &entity, ended)
        };
        self.queued.notify_waiters();
        let is_over = match ended {
            Ended::Done => !self.queue().is_waiting(&entity),
            // It was read; a state that it does not show yet is checked again.
            Ended::NotYet => true,
            Ended::Again | Ended::Failed { .. } => false,
        };
        match problem {
            _ if is_over => self.note_read(&entity).await?,
            Some(problem) => self.note_unread(&entity, &problem).await?,
            None => (),
        }
        let count = ids.len();
        if count > 0 {
            // If this fails, the inbox returns them, and they are read once more.
            match self.context.store.inbox().mark_handled(ids).await {
                Ok(_) => (0..count).for_each(|_| self.observer.handled(Handled::Read)),
                Err(error) => {
                    tracing::warn!(store = %self.context.key, %error, "deliveries could not be marked as handled; they stay in the inbox");
                }
            }
        }
        Ok(())
    }

    /// Reads an order and writes it before its sub-resources are read: each of those may wait for its turn.
    async fn read_order(
        &self,
        number: &OrderNumber,
        entity: &Entity,
        request: &RefreshRequest,
    ) -> Result<Refreshed, Cause> {
        let fetched_subresources: BTreeSet<Subresource> = request
            .subresources
            .iter()
            .copied()
            .filter(|subresource| *subresource != Subresource::Order)
            .collect();
        if fetched_subresources.is_empty() || fetched_subresources.len() == request.subresources.len() {
            return self.read_some(number, entity, request).await;
        }
        let first = RefreshRequest { subresources: BTreeSet::from([Subresource::Order]), ..request.clone() };
        let rest = RefreshRequest {
            subresources: fetched_subresources,
            expected: None,
            listing_hash: None,
            ..request.clone()
        };
        let first = self.read_some(number, entity, &first).await?;
        let rest = self.read_some(number, entity, &rest).await?;
        let events = first.events.into_iter().chain(rest.events).collect();
        Ok(Refreshed { events, op: first.op.or(rest.op), ..first })
    }

    async fn read_some(
        &self,
        number: &OrderNumber,
        entity: &Entity,
        request: &RefreshRequest,
    ) -> Result<Refreshed, Cause> {
        let known = self.row(Resource::Orders, number.as_str()).await?;
        let client = self.context.client.in_lane(request.urgency.lane());
        let pull = OrdersPull::new(client.clone(), None, self.context.page_parameter.clone());
        // An order that is not mirrored cannot have sub-resources.
        let wants_order =
            request.subresources.contains(&Subresource::Order) || known.is_none_or(|known| known.gone);
        let fetched = match wants_order {
            true => Some(
                self.answer(entity, request, pull.detail(number.as_str())).await.map_err(Cause::of_order)?,
            ),
            false => None,
        };
        let is_shown = match (&request.expected, &fetched) {
            (Some(expected), Some(fetched)) => expected.is_shown_by(&fetched.detail),
            _ => true,
        };
        let before = self.context.store.lookups().order_status(&self.context.key, number).await?;
        let changed_at = fetched.as_ref().and_then(|fetched| fetched.detail.updated_at);
        let fetched_subresources = self.read_subresources(&client, number, entity, request).await?;
        let changed_subresources =
            self.events_of_subresources(number, request, &fetched_subresources).await?;
        let (mut sold, mut status, mut is_settled) = (Vec::new(), None, false);
        if let Some(fetched) = &fetched {
            let order = &fetched.detail;
            let products = order.items.iter().filter_map(|item| item.product_id.as_deref());
            sold.extend(products.map(ProductId::new));
            (status, is_settled) = (order.status.clone(), self.is_settled(order));
        }
        let _writing = self.context.writing.lock().await;
        self.check_same(Resource::Orders, number.as_str(), known).await?;
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        let mut noted: Vec<_> = fetched_subresources
            .iter()
            .map(|fetched| (number.clone(), fetched.subresource, fetched.hash))
            .collect();
        let mut op = None;
        if let Some(fetched) = fetched {
            let listing_hash = request.listing_hash.filter(|_| is_settled);
            noted.push((number.clone(), Subresource::Order, fetched.content_hash));
            let unlisted = is_settled.then_some(SETTLED);
            op = put(&mut tx, &pull, number.as_str(), known, fetched, (listing_hash, unlisted)).await?;
        }
        for fetched in fetched_subresources {
            fetched.write(&mut tx, number).await?;
        }
        tx.staleness().note_subresources(noted).await?;
        tx.commit().await?;
        if op.is_some() {
            self.note_sold(sold);
        }
        if request.subresources.contains(&Subresource::Shipments) {
            self.shipped.notify_one();
        }
        let events = match op {
            Some(Op::Insert) => vec!["order.created"],
            Some(_) if status != before => vec!["order.status_changed"],
            Some(_) => Vec::new(),
            None => changed_subresources,
        };
        Ok(Refreshed { is_shown, op, events, changed_at })
    }

    /// Reads the requested sub-resources. Tracking is written onto shipments: shipments are read before it, so that the
    /// mirror has them, and if they have changed, tracking is read after them.
    async fn read_subresources(
        &self,
        client: &Client,
        number: &OrderNumber,
        entity: &Entity,
        request: &RefreshRequest,
    ) -> Result<Vec<FetchedSubresource>, Cause> {
        let mut left = request.subresources.clone();
        left.remove(&Subresource::Order);
        if left.contains(&Subresource::Tracking) {
            left.insert(Subresource::Shipments);
        }
        let mut fetched_subresources = Vec::new();
        while let Some(subresource) = left.pop_first() {
            let fetched =
                self.answer(entity, request, FetchedSubresource::read(client, number, subresource)).await?;
            if subresource == Subresource::Shipments && !left.contains(&Subresource::Tracking) {
                let known =
                    self.context.store.staleness().order_subresources(&self.context.key, number).await?;
                let is_known =
                    known.iter().any(|k| k.subresource == subresource && k.content_hash == fetched.hash);
                left.extend((!is_known).then_some(Subresource::Tracking));
            }
            fetched_subresources.push(fetched);
        }
        Ok(fetched_subresources)
    }

    /// Returns the events that should have reported changed sub-resources of an unchanged order, if a sweep found them.
    async fn events_of_subresources(
        &self,
        number: &OrderNumber,
        request: &RefreshRequest,
        fetched_subresources: &[FetchedSubresource],
    ) -> Result<Vec<&'static str>, StoreError> {
        if fetched_subresources.is_empty() || request.urgency == Urgency::Hinted || !self.options.receives {
            return Ok(Vec::new());
        }
        let known = self.context.store.staleness().order_subresources(&self.context.key, number).await?;
        let old = self.context.clock.now() - SUBRESOURCE_MAX_AGE;
        let is_old = |fetched: &FetchedSubresource| {
            known.iter().any(|k| {
                k.subresource == fetched.subresource && k.content_hash != fetched.hash && k.read_at < old
            })
        };
        let event = |fetched: &FetchedSubresource| match fetched.subresource {
            Subresource::Shipments => Some("shipment.status_changed"),
            Subresource::Invoices => Some("order.invoiced"),
            _ => None,
        };
        Ok(fetched_subresources.iter().filter(|fetched| is_old(fetched)).filter_map(event).collect())
    }

    async fn read_product(
        &self,
        id: &ProductId,
        entity: &Entity,
        request: &RefreshRequest,
    ) -> Result<Refreshed, Cause> {
        let known = self.row(Resource::Products, id.as_str()).await?;
        let locations = self.context.store.mirror().location_ids(&self.context.key).await?;
        let client = self.context.client.in_lane(request.urgency.lane());
        let pull = ProductsPull::new(client, locations, self.context.page_parameter.clone());
        let fetched = self.answer(entity, request, pull.detail(id.as_str())).await?;
        let before = self.context.store.lookups().product_levels(&self.context.key, id).await?;
        let after = (fetched.detail.product.quantity, fetched.detail.product.price);
        let _writing = self.context.writing.lock().await;
        self.check_same(Resource::Products, id.as_str(), known).await?;
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        let op = put(&mut tx, &pull, id.as_str(), known, fetched, (request.listing_hash, None)).await?;
        tx.staleness().note_products_read(vec![id.clone()]).await?;
        tx.commit().await?;
        // No event reports reserved stock, nor a changed description.
        let told =
            [("product.stock_updated", before.0 != after.0), ("product.price_updated", before.1 != after.1)];
        let events = match op {
            Some(Op::Update) => told.into_iter().filter_map(|(event, is)| is.then_some(event)).collect(),
            _ => Vec::new(),
        };
        Ok(Refreshed { is_shown: true, op, events, changed_at: None })
    }

    /// Whether the order's listing row will differ when the order changes again: times have whole seconds, so a second
    /// change in the same second does not show. Until then its row does not count as read, and the next sweep reads it.
    fn is_settled(&self, order: &Order) -> bool {
        order.updated_at.is_none_or(|updated| self.context.clock.now() - updated > SETTLED_AFTER)
    }

    /// Waits for the marketplace, unless the service stops. A sweep's refresh waits for its turn longer than a delivery
    /// may: it gives way to a delivery for the same entity, and is done with it or after it.
    async fn answer<T>(
        &self,
        entity: &Entity,
        request: &RefreshRequest,
        asking: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, Cause> {
        let hinted = async {
            match request.urgency {
                Urgency::Hinted => std::future::pending().await,
                Urgency::Found | Urgency::Swept => self.hinted(entity).await,
            }
        };
        tokio::select! {
            answer = asking => answer.map_err(Cause::Api),
            () = hinted => Err(Cause::Overtaken),
            () = self.context.stop.cancelled() => Err(Cause::Stopping),
        }
    }

    /// Waits until a delivery reports an entity.
    async fn hinted(&self, entity: &Entity) {
        loop {
            let queued = self.queued.notified();
            let mut queued = std::pin::pin!(queued);
            queued.as_mut().enable();
            if self.queue().is_hinted(entity) {
                return;
            }
            queued.await;
        }
    }

    async fn row(&self, resource: Resource, key: &str) -> Result<Option<Known>, StoreError> {
        let known =
            self.context.store.mirror().known(&self.context.key, resource, vec![key.to_owned()]).await?;
        Ok(known.get(key).copied())
    }

    async fn check_same(&self, resource: Resource, key: &str, before: Option<Known>) -> Result<(), Cause> {
        let content = |known: Option<Known>| known.map(|known| (known.content_hash, known.gone));
        match content(self.row(resource, key).await?) == content(before) {
            true => Ok(()),
            false => Err(Cause::Overtaken),
        }
    }

    /// Measures the lag of the mirror: after the event, if one reported the change, else after the change that a sweep
    /// found.
    fn measure_lag(&self, request: &RefreshRequest, read: &Refreshed) {
        let told = request.reported_at.filter(|_| read.is_shown);
        let found =
            read.changed_at.filter(|_| request.ids.is_empty() && read.op.is_some() && self.known().mirrored);
        if let Some(since) = told.or(found) {
            // Clocks differ, and deliveries carry whole seconds.
            self.observer.mirrored((self.context.clock.now() - since).to_std().unwrap_or_default());
        }
    }

    /// Counts a change, and whether a sweep found it and no delivery reported it.
    fn count(&self, entity: &Entity, request: &RefreshRequest, read: &Refreshed) {
        if read.op.is_some() {
            self.observer.changed(match entity {
                Entity::Order(_) => Resource::Orders,
                Entity::Product(_) => Resource::Products,
            });
        }
        let told = !request.ids.is_empty() || request.urgency == Urgency::Hinted;
        if told || !self.options.receives || !self.known().mirrored {
            return;
        }
        read.events.iter().for_each(|event| self.note_missed(event));
    }
}

/// Writes a row that was read, if it differs from the mirror.
pub(crate) async fn put<P: Pull>(
    tx: &mut PageTx<'_>,
    pull: &P,
    key: &str,
    known: Option<Known>,
    fetched: Fetched<P::Detail>,
    (listing_hash, unlisted): (Option<ContentHash>, Option<ContentHash>),
) -> Result<Option<Op>, StoreError> {
    tx.failures().clear_failures(P::RESOURCE, vec![key.to_owned()]).await?;
    tx.staleness().forget_missing(P::RESOURCE, vec![key.to_owned()]).await?;
    if let Some(known) = known
        && known.content_hash == fetched.content_hash
        && !known.gone
    {
        match listing_hash {
            Some(hash) if hash != known.listing_hash => tx.mirror().relist(P::RESOURCE, key, hash).await?,
            _ => (),
        }
        return Ok(None);
    }
    // A fingerprint from no listing differs from every listing's, so the next one is compared by detail.
    let unlisted = || unlisted.or(known.map(|k| k.listing_hash)).unwrap_or(ContentHash::from_i64(0));
    let op = if known.is_some() { Op::Update } else { Op::Insert };
    let write = RowWrite {
        key: key.to_owned(),
        detail: fetched.detail,
        listing_hash: listing_hash.unwrap_or_else(unlisted),
        content_hash: fetched.content_hash,
        op,
    };
    pull.write(tx, vec![write]).await?;
    Ok(Some(op))
}
