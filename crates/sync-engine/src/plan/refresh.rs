//! Decides what the refresh of an entity reads, and what its answers mean.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use enumflags2::BitFlags;
use espelho_model::{ContentHash, ProductId, order::Order};
use espelho_store::{KnownSubresource, Op, Subresource};
use rust_decimal::Decimal;

use crate::plan::refresh_request::{ListedState, RefreshRequest, Urgency};

/// Tolerance for clocks that differ.
const SETTLED_AFTER: TimeDelta = TimeDelta::seconds(5);
/// Copies of the marketplace's data may be behind for less than this. An order whose detail still differs from its
/// listing row by then always does.
const COPIES_LAG: Duration = Duration::from_secs(600);
/// A sub-resource that was last read longer ago than this may have changed without a change of the order. If it was
/// read later, a delivery may still be under way.
const SUBRESOURCE_MAX_AGE: TimeDelta = TimeDelta::minutes(10);

/// Splits a request, so that the order itself is written before its sub-resources are read: each of those may wait for
/// its turn. Returns the parts in their order, and one part where there is nothing to split.
pub fn steps(request: &RefreshRequest) -> Vec<RefreshRequest> {
    let rest = request.subresources & !BitFlags::from(Subresource::Order);
    if rest == request.subresources || rest.is_empty() {
        return vec![request.clone()];
    }
    let first = RefreshRequest { subresources: Subresource::Order.into(), ..request.clone() };
    let rest = RefreshRequest {
        subresources: rest,
        expected: None,
        listing_hash: None,
        listed: None,
        ..request.clone()
    };
    vec![first, rest]
}

/// Whether to read the order itself. An order that is not mirrored cannot have sub-resources.
pub fn reads_order(request: &RefreshRequest, is_mirrored: bool) -> bool {
    request.subresources.contains(Subresource::Order) || !is_mirrored
}

/// Whether an order, if it was read, shows the state that a delivery reported.
pub fn is_shown(request: &RefreshRequest, order: Option<&Order>) -> bool {
    let expected = request.expected.as_ref().zip(order);
    expected.is_none_or(|(expected, order)| expected.is_shown_by(order))
}

/// True if an order that was read is older than its mirrored row: a copy of the marketplace's data that lags behind has
/// answered. Where a listing shows the older state too, that is the order's state. `is_behind` says that its listing row
/// contradicts it, and a copy may lag ([`may_be_behind`]).
pub fn goes_back(
    request: &RefreshRequest,
    mirrored: Option<DateTime<Utc>>,
    read: Option<DateTime<Utc>>,
    is_behind: bool,
) -> bool {
    let is_listed = request.listing_hash.is_some() || request.urgency != Urgency::Hinted;
    (!is_listed || is_behind) && mirrored.zip(read).is_some_and(|(mirrored, read)| read < mirrored)
}

/// True while a copy of the marketplace's data that lags behind may have answered, by the time for which the listing row of an
/// order has contradicted its detail: the detail does not count as the reading of the row.
pub fn may_be_behind(contradicted_for: Duration) -> bool {
    contradicted_for < COPIES_LAG
}

/// The place of a detail that a pass reads beside its listing row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassReading {
    /// It is the reading of the row.
    OfRow,
    /// It is written, and the next listing has the order read again.
    Again,
    /// It is older than the row, and the mirror may be newer: a mirrored order stays, and is read again.
    Older,
}

/// Decides what a pass takes a detail for. A pass has no memory of earlier readings: a row that changed longer ago than copies
/// lag shows nothing that they do not have yet.
pub fn pass_reading(
    listed: &ListedState,
    status: Option<&str>,
    at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> PassReading {
    let is_late = listed.at.is_none_or(|at| now - at < TimeDelta::from_std(COPIES_LAG).unwrap_or_default());
    match is_late && listed.is_contradicted_by(status, at) {
        false => PassReading::OfRow,
        true if listed.is_newer_than(at) => PassReading::Older,
        true => PassReading::Again,
    }
}

/// Whether the listing row of an order will differ when the order changes again: times have whole seconds, so a second
/// change in the same second does not show. Until then its row does not count as read, and the next sweep reads it.
pub fn is_settled(updated_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> bool {
    updated_at.is_none_or(|updated| now - updated > SETTLED_AFTER)
}

/// Returns the products of an order: their reserved stock changes with it.
pub fn products_of(order: &Order) -> Vec<ProductId> {
    order.items.iter().filter_map(|item| item.product_id.as_deref()).map(ProductId::new).collect()
}

/// Returns the sub-resources to read, in the order in which they are taken. Tracking is written onto shipments, which
/// are therefore read before it, so that the mirror has them.
pub fn subresources_to_read(request: &RefreshRequest) -> BitFlags<Subresource> {
    let mut left = request.subresources;
    left.remove(Subresource::Order);
    if left.contains(Subresource::Tracking) {
        left.insert(Subresource::Shipments);
    }
    left
}

/// Whether a sub-resource may need another one to be read after it: shipments, unless tracking follows in any case.
pub fn may_need_tracking(read: Subresource, left: BitFlags<Subresource>) -> bool {
    read == Subresource::Shipments && !left.contains(Subresource::Tracking)
}

/// Whether the mirror has a sub-resource with this content.
pub fn is_known(known: &[KnownSubresource], subresource: Subresource, hash: ContentHash) -> bool {
    known.iter().any(|known| known.subresource == subresource && known.content_hash == hash)
}

/// Says if the mirror has each sub-resource of a reading with the same content.
pub fn are_known(known: &[KnownSubresource], read: &[(Subresource, ContentHash)]) -> bool {
    read.iter().all(|(subresource, hash)| is_known(known, *subresource, *hash))
}

/// Says if only its turn in the rotation asked for a reading: no delivery waits for it, and no listing showed a change.
pub fn is_in_rotation(request: &RefreshRequest) -> bool {
    request.urgency == Urgency::Swept && request.ids.is_empty()
}

/// Returns the events that should have reported a change of an order.
pub fn order_events(
    op: Option<Op>,
    is_status_changed: bool,
    of_subresources: Vec<&'static str>,
) -> Vec<&'static str> {
    match op {
        Some(Op::Insert) => vec!["order.created"],
        Some(_) if is_status_changed => vec!["order.status_changed"],
        Some(_) => Vec::new(),
        None => of_subresources,
    }
}

/// Whether changed sub-resources of this request are found by a sweep that deliveries should have preceded.
pub fn proves_missed_events(request: &RefreshRequest, has_read: bool, receives: bool) -> bool {
    has_read && request.urgency != Urgency::Hinted && receives
}

/// Returns the events that should have reported changed sub-resources of an unchanged order.
pub fn subresource_events(
    read: &[(Subresource, ContentHash)],
    known: &[KnownSubresource],
    now: DateTime<Utc>,
) -> Vec<&'static str> {
    let old = now - SUBRESOURCE_MAX_AGE;
    let is_old_and_changed = |(subresource, hash): &&(Subresource, ContentHash)| {
        known.iter().any(|k| k.subresource == *subresource && k.content_hash != *hash && k.read_at < old)
    };
    let event = |(subresource, _): &(Subresource, ContentHash)| match subresource {
        Subresource::Shipments => Some("shipment.status_changed"),
        Subresource::Invoices => Some("order.invoiced"),
        _ => None,
    };
    read.iter().filter(is_old_and_changed).filter_map(event).collect()
}

/// `quantity` (physical, over all locations) and `price` (base price in BRL) of a product, as far as they are known.
pub type Levels = (Option<Decimal>, Option<Decimal>);

/// Returns the events that should have reported a change of a product. No event reports reserved stock, nor a changed
/// description.
pub fn product_events(op: Option<Op>, before: Levels, after: Levels) -> Vec<&'static str> {
    if op != Some(Op::Update) {
        return Vec::new();
    }
    let events =
        [("product.stock_updated", before.0 != after.0), ("product.price_updated", before.1 != after.1)];
    events.into_iter().filter_map(|(event, is_changed)| is_changed.then_some(event)).collect()
}

/// Whether a change proves that no delivery reported it: nothing but a sweep asked for it, and the mirror was complete.
pub fn is_missed(request: &RefreshRequest, receives: bool, is_mirrored: bool) -> bool {
    let is_told = !request.ids.is_empty() || request.urgency == Urgency::Hinted;
    !is_told && receives && is_mirrored
}

/// Returns since when the marketplace had what was read: since the event, if one reported it and its state is shown;
/// else since the change that a sweep found.
pub fn changed_since(
    request: &RefreshRequest,
    is_shown: bool,
    is_written: bool,
    changed_at: Option<DateTime<Utc>>,
    is_mirrored: bool,
) -> Option<DateTime<Utc>> {
    let told = request.reported_at.filter(|_| is_shown);
    told.or(changed_at.filter(|_| request.ids.is_empty() && is_written && is_mirrored))
}

#[cfg(test)]
mod tests;
