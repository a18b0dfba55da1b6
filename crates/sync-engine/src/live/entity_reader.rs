//! Reads one entity, and hands it to the row writer.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_api_client::{Client, Error as ApiError};
use espelho_model::{OrderNumber, ProductId, RawJson, containment::Panicked, order::Order, sync::Resource};
use espelho_store::{Error as StoreError, KnownSubresource, Op, Subresource};
use parking_lot::Mutex;
use tracing::Instrument as _;

use super::{
    identity::StoreIdentity,
    lanes::lane_of,
    refresh_queue::RefreshQueue,
    row_writer::{OrderRead, RowWriter, Written},
    signals::Signals,
    sold_products::SoldProducts,
    subresources::FetchedSubresource,
    unchanged_readings::{UnchangedReading, UnchangedReadings},
};
use crate::{
    Input, StoreContext, order_trace,
    plan::located_levels::LocationNames,
    plan::push::doubts::Doubts,
    plan::refresh::{
        are_known, goes_back, is_in_rotation, is_known, is_settled, is_shown, may_be_behind,
        may_need_tracking, order_events, product_events, products_of, proves_missed_events, reads_order,
        steps, subresource_events, subresources_to_read,
    },
    plan::refresh_request::{Entity, RefreshRequest, Urgency},
    plan::upsert::{RowPlan, plan_row},
    pull::{OrdersPull, ProductsPull, Pull as _},
    quarantine::{Attempt, Poison},
};

/// Stock locations are looked up anew after this time.
const LOCATIONS_LAST: Duration = Duration::from_secs(10);

/// Why a refresh failed.
pub(super) enum Cause {
    /// The marketplace did not answer it.
    Api(ApiError),
    /// The marketplace reports that the order does not exist.
    Denied(ApiError),
    /// The order's detail is not believed. It is read again by the queue, and then by sweeps.
    Unbelieved(ApiError),
    /// The database did not take it.
    Store(StoreError),
    /// Another task wrote the row meanwhile, or a delivery reported the entity.
    Overtaken,
    /// The service stops; the inbox returns what waits.
    Stopping,
    /// It panicked, and is read once more.
    Panicked(Panicked),
    /// It is set aside.
    SetAside(Poison),
}

impl From<StoreError> for Cause {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Cause {
    /// Converts the error of an order itself: for its sub-resources, a 404 may only mean that there is none yet.
    fn of_order(self) -> Self {
        match self {
            Self::Api(error) if error.is_absent() => Self::Denied(error),
            Self::Api(error @ ApiError::Unexpected { .. }) => Self::Unbelieved(error),
            other => other,
        }
    }
}

/// The result of a refresh.
pub(super) struct Refreshed {
    /// Whether it shows the expected state.
    pub(super) is_shown: bool,
    /// What it did to the mirror's row.
    pub(super) op: Option<Op>,
    /// The events that should have reported the change.
    pub(super) events: Vec<&'static str>,
    /// True if webhooks of this store report the order's changes.
    pub(super) is_reported_here: bool,
    /// When it changed, as the marketplace reports it.
    pub(super) changed_at: Option<DateTime<Utc>>,
}

impl Refreshed {
    /// A reading that found what the mirror has.
    fn unchanged(is_shown: bool) -> Self {
        Self { is_shown, op: None, events: Vec::new(), is_reported_here: true, changed_at: None }
    }
}

/// Reads entities of a store.
pub(super) struct EntityReader<'c> {
    context: &'c StoreContext,
    queue: &'c RefreshQueue<'c>,
    sold: &'c SoldProducts<'c>,
    signals: &'c Signals,
    identity: &'c StoreIdentity,
    /// Whether deliveries arrive at all.
    receives: bool,
    rows: RowWriter<'c>,
    unchanged: &'c UnchangedReadings<'c>,
    /// The orders whose details their listing rows contradict, and since when.
    contradicted: Mutex<Doubts>,
    /// The stock locations, and when they were looked up, as a monotonic time.
    locations: Mutex<Option<(Duration, LocationNames)>>,
}

impl<'c> EntityReader<'c> {
    /// Returns a reader that tells `sold` the products of changed orders, gives way to what `queue` has hints of, and leaves
    /// readings of the rotation that changed nothing to `unchanged`.
    pub(super) fn new(
        context: &'c StoreContext,
        queue: &'c RefreshQueue<'c>,
        sold: &'c SoldProducts<'c>,
        signals: &'c Signals,
        identity: &'c StoreIdentity,
        unchanged: &'c UnchangedReadings<'c>,
        receives: bool,
    ) -> Self {
        Self {
            context,
            queue,
            sold,
            signals,
            identity,
            receives,
            rows: RowWriter::new(context),
            unchanged,
            contradicted: Mutex::default(),
            locations: Mutex::default(),
        }
    }

    /// Reads what a request asks for of an entity, and writes it, unless the entity is set aside.
    pub(super) async fn read(&self, entity: &Entity, request: &RefreshRequest) -> Result<Refreshed, Cause> {
        let (input, key) = (Input::of_entity(entity), entity.row().1);
        let span = order_trace::reading(&self.context.key, entity, request);
        let reading = self.read_entity(entity, request).instrument(span);
        match self.context.attempt(input, key, reading).await {
            Attempt::Ended(read) => read,
            Attempt::Panicked(panicked) => Err(Cause::Panicked(panicked)),
            Attempt::SetAside(poison) => Err(Cause::SetAside(poison)),
        }
    }

    async fn read_entity(&self, entity: &Entity, request: &RefreshRequest) -> Result<Refreshed, Cause> {
        match entity {
            Entity::Order(number) => self.read_order(number, entity, request).await,
            Entity::Product(id) => self.read_product(id, entity, request).await,
        }
    }

    async fn read_order(
        &self,
        number: &OrderNumber,
        entity: &Entity,
        request: &RefreshRequest,
    ) -> Result<Refreshed, Cause> {
        let mut whole: Option<Refreshed> = None;
        for step in steps(request) {
            let read = self.read_step(number, entity, &step).await?;
            whole = Some(match whole {
                None => read,
                Some(first) => {
                    let events = first.events.into_iter().chain(read.events).collect();
                    Refreshed { events, op: first.op.or(read.op), ..first }
                }
            });
        }
        whole.ok_or(Cause::Overtaken)
    }

    async fn read_step(
        &self,
        number: &OrderNumber,
        entity: &Entity,
        request: &RefreshRequest,
    ) -> Result<Refreshed, Cause> {
        let read_at = self.context.clock.now();
        let known = self.rows.row(Resource::Orders, number.as_str()).await?;
        let (client, _held) = self.context.client.in_lane(lane_of(request.urgency)).holding();
        let pull = OrdersPull::new(client.clone(), None, self.context.page_parameter.clone());
        let order = match reads_order(request, known.is_some_and(|known| !known.gone)) {
            true => {
                let asking = pull.detail(number.as_str());
                Some(self.answer(entity, request, asking).await.map_err(Cause::of_order)?)
            }
            false => None,
        };
        if let Some(fetched) = &order {
            let doubt = OrdersPull::doubt(self.context, &fetched.detail, request.has_listed_status).await?;
            if let Some(error) = doubt {
                return Err(Cause::Unbelieved(error));
            }
        }
        let (before, mirrored_at) = match &order {
            Some(_) => self.context.store.lookups().order_status(&self.context.key, number).await?,
            None => (None, None),
        };
        let changed_at = order.as_ref().and_then(|fetched| fetched.detail.updated_at);
        let raw = order.as_ref().map(|fetched| fetched.detail.raw.clone());
        let now = self.context.clock.now();
        let is_behind =
            order.as_ref().is_some_and(|fetched| self.is_behind(number, request, &fetched.detail));
        let is_stale = goes_back(request, mirrored_at, changed_at, is_behind);
        let order = order.filter(|_| !is_stale);
        let detail = order.as_ref().map(|fetched| &fetched.detail);
        let is_shown = !is_stale && is_shown(request, detail);
        let subresources = self.read_subresources(&client, number, entity, request).await?;
        let read: Vec<_> = subresources.iter().map(|fetched| (fetched.subresource, fetched.hash)).collect();
        let proves_missed = proves_missed_events(request, !read.is_empty(), self.receives);
        let before_reading = match proves_missed || is_in_rotation(request) {
            true => self.context.store.staleness().order_subresources(&self.context.key, number).await?,
            false => Vec::new(),
        };
        if order.is_none() && is_in_rotation(request) && are_known(&before_reading, &read) {
            let as_known =
                |(subresource, content_hash)| KnownSubresource { subresource, read_at, content_hash };
            let (entity, subresources) = (entity.clone(), read.into_iter().map(as_known).collect());
            self.unchanged.add(UnchangedReading { entity, known, subresources, read_at });
            return Ok(Refreshed::unchanged(is_shown));
        }
        let are_changed = !is_in_rotation(request) || !are_known(&before_reading, &read);
        let missed_events = match proves_missed {
            true => subresource_events(&read, &before_reading, now),
            false => Vec::new(),
        };
        let (sold, status) = products_and_status(detail);
        let is_settled = order.is_some() && !is_behind && is_settled(changed_at, now);
        let read = OrderRead { known, order, is_settled, subresources };
        let Written::Row(op) = self.rows.write_order(number, request, read).await? else {
            return Err(Cause::Overtaken);
        };
        if op.is_some() {
            self.sold.note(sold);
        }
        if op.is_some() || are_changed {
            self.note_changed();
        }
        if request.subresources.contains(Subresource::Shipments) {
            self.signals.note_shipped();
        }
        let events = order_events(op, status != before, missed_events);
        let is_reported_here = events.is_empty() || self.is_reported_here(number, raw).await?;
        Ok(Refreshed { is_shown, op, events, is_reported_here, changed_at })
    }

    /// Says whether an order's detail is from a copy that lags behind the listing row that led to it.
    fn is_behind(&self, number: &OrderNumber, request: &RefreshRequest, order: &Order) -> bool {
        let Some(row) = request.listing_hash else { return false };
        let is_contradicted = request
            .listed
            .as_ref()
            .is_some_and(|listed| listed.is_contradicted_by(order.status.as_deref(), order.updated_at));
        let mut doubts = self.contradicted.lock();
        if !is_contradicted {
            doubts.end(number.as_str());
            return false;
        }
        let now = self.context.clock.monotonic();
        let contradicted_for = doubts.doubted_for(number.as_str().to_owned(), row.as_i64(), now);
        may_be_behind(contradicted_for)
    }

    /// Tells if webhooks of this store report changes of an order, by the object that was read, or else by the mirror's.
    async fn is_reported_here(
        &self,
        number: &OrderNumber,
        read: Option<RawJson>,
    ) -> Result<bool, StoreError> {
        if let Some(raw) = read {
            return Ok(self.identity.is_reported_here(&raw));
        }
        let orders = vec![number.as_str().to_owned()];
        let mirrored = self.context.store.lookups().orders_as_received(&self.context.key, orders).await?;
        Ok(mirrored.values().all(|order| self.identity.is_reported_here(&RawJson::new(order))))
    }

    /// Reads the requested sub-resources. If shipments have changed, tracking is read after them.
    async fn read_subresources(
        &self,
        client: &Client,
        number: &OrderNumber,
        entity: &Entity,
        request: &RefreshRequest,
    ) -> Result<Vec<FetchedSubresource>, Cause> {
        let mut left = subresources_to_read(request);
        let mut read = Vec::new();
        while let Some(subresource) = left.iter().next() {
            left.remove(subresource);
            let asking = FetchedSubresource::read(client, number, subresource);
            let fetched = self.answer(entity, request, asking).await?;
            if may_need_tracking(subresource, left) {
                let known =
                    self.context.store.staleness().order_subresources(&self.context.key, number).await?;
                let is_known = is_known(&known, subresource, fetched.hash);
                left.extend((!is_known).then_some(Subresource::Tracking));
            }
            read.push(fetched);
        }
        Ok(read)
    }

    async fn read_product(
        &self,
        id: &ProductId,
        entity: &Entity,
        request: &RefreshRequest,
    ) -> Result<Refreshed, Cause> {
        let read_at = self.context.clock.now();
        let known = self.rows.row(Resource::Products, id.as_str()).await?;
        let locations = self.locations().await?;
        let client = self.context.client.in_lane(lane_of(request.urgency));
        let pull = ProductsPull::new(client, locations, self.context.page_parameter.clone());
        let fetched = self.answer(entity, request, pull.detail(id.as_str())).await?;
        let product = &fetched.detail.product;
        let (after, is_shown) =
            ((product.quantity, product.price), request.expected_values.are_shown_by(product));
        if is_in_rotation(request)
            && plan_row(known, fetched.content_hash, request.listing_hash, None) == RowPlan::Keep
        {
            let (entity, subresources) = (entity.clone(), Vec::new());
            self.unchanged.add(UnchangedReading { entity, known, subresources, read_at });
            return Ok(Refreshed::unchanged(is_shown));
        }
        self.note_changed();
        let before = self.context.store.lookups().product_levels(&self.context.key, id).await?;
        let written = self.rows.write_product(id, request.listing_hash, known, fetched).await?;
        let Written::Row(op) = written else { return Err(Cause::Overtaken) };
        let events = product_events(op, before, after);
        Ok(Refreshed { is_shown, op, events, is_reported_here: true, changed_at: None })
    }

    /// The stock locations as the mirror describes them. A run of the rotation looks them up once, not for each product; of
    /// a location that it does not know yet, a product's answer has its description asked for.
    async fn locations(&self) -> Result<LocationNames, StoreError> {
        let now = self.context.clock.monotonic();
        if let Some((at, names)) = &*self.locations.lock()
            && now.saturating_sub(*at) < LOCATIONS_LAST
        {
            return Ok(names.clone());
        }
        let names = self.context.store.mirror().location_names(&self.context.key).await?;
        *self.locations.lock() = Some((now, names.clone()));
        Ok(names)
    }

    /// Records that the store is not quiet: only readings of the rotation that find what the mirror has tell nothing.
    fn note_changed(&self) {
        self.signals.note_changed(self.context.clock.monotonic());
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
                Urgency::Found | Urgency::Swept => self.queue.hinted(entity).await,
            }
        };
        tokio::select! {
            answer = asking => answer.map_err(Cause::Api),
            () = hinted => Err(Cause::Overtaken),
            () = self.context.stop.cancelled() => Err(Cause::Stopping),
        }
    }
}

/// Returns the products and the status of an order that was read.
fn products_and_status(order: Option<&Order>) -> (Vec<ProductId>, Option<String>) {
    order.map_or_else(Default::default, |order| (products_of(order), order.status.clone()))
}
