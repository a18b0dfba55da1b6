//! Requests to refresh an entity, and how they are merged.

use std::cmp::Ordering;

use chrono::{DateTime, FixedOffset, Utc};
use enumflags2::BitFlags;
use espelho_api_client::ListedRow;
use espelho_model::{
    ContentHash, OrderNumber, ProductId,
    order::{Order, TERMINAL_STATUSES},
    sync::Resource,
};
use espelho_store::Subresource;

use super::expected_values::ExpectedValues;

/// An entity of the marketplace that is read by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Entity {
    /// An order, with any of its sub-resources.
    Order(OrderNumber),
    /// A product with its prices and stock.
    Product(ProductId),
}

impl Entity {
    /// Returns the entity of a listed row.
    pub fn of_row(resource: Resource, key: impl Into<String>) -> Self {
        match resource {
            Resource::Orders => Self::Order(OrderNumber::new(key)),
            Resource::Products => Self::Product(ProductId::new(key)),
        }
    }

    /// Returns the resource and the key of its row.
    pub fn row(&self) -> (Resource, &str) {
        match self {
            Self::Order(number) => (Resource::Orders, number.as_str()),
            Self::Product(id) => (Resource::Products, id.as_str()),
        }
    }
}

/// How soon an entity is read, and by which of the two worker pools, each in a lane of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// A delivery reported it.
    Hinted,
    /// A sweep found that it changed.
    Found,
    /// Its turn has come, or one of its sub-resources is requested.
    #[default]
    Swept,
}

/// The state of an order that an event reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The order's status.
    pub status: String,
    /// When the delivery was built.
    pub at: Option<DateTime<Utc>>,
}

impl Expected {
    /// Whether an order is in that state or a later one. The order of the statuses does not matter: any change after
    /// the delivery was built is later. A change in the same second may precede the event: times have whole seconds,
    /// and the routes may be behind.
    pub fn is_shown_by(&self, order: &Order) -> bool {
        let is_later = || self.at.is_some_and(|at| order.updated_at.is_some_and(|updated| updated > at));
        order.status.as_deref() == Some(self.status.as_str()) || is_later()
    }

    /// Returns the later of two expectations, which implies the other. Deliveries of one second arrive in any order,
    /// with the same time: of those, it returns the one further along an order's workflow, if the document has both
    /// words.
    fn later(self, other: Self) -> Self {
        let is_earlier = match (stage(&self.status), stage(&other.status)) {
            (Some(own), Some(others)) if self.at == other.at => others < own,
            _ => other.at < self.at,
        };
        if is_earlier { self } else { other }
    }
}

/// Returns how far along its workflow an order is (API document, "Order" workflows); `None` for a word that the
/// document does not have.
fn stage(status: &str) -> Option<usize> {
    const STAGES: [&[&str]; 10] = [
        &["waiting_payment"],
        &["awaiting_availability", "awaiting_restock"],
        &["paid"],
        &["awaiting_campaign_conclusion"],
        &["production_started", "awaiting_materials", "production_in_progress"],
        &["production_finished"],
        &["preparing"],
        &["ready_to_ship", "ready_for_pickup"],
        &["shipped", "picked_up", "pickup_expired"],
        &TERMINAL_STATUSES,
    ];
    STAGES.iter().position(|stage| stage.contains(&status))
}

/// The state of an order that its listing row shows, as far as the row has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedState {
    /// The status.
    pub status: Option<String>,
    /// When the order last changed.
    pub at: Option<DateTime<Utc>>,
}

impl ListedState {
    /// Returns the state that a row shows. `naive_offset` is the offset of a time that carries none.
    pub fn of(row: &ListedRow, naive_offset: FixedOffset) -> Self {
        Self { status: row.status().map(str::to_owned), at: row.updated_at(naive_offset) }
    }

    /// Says whether a detail is older than the row, by its time.
    pub fn is_newer_than(&self, at: Option<DateTime<Utc>>) -> bool {
        self.at.zip(at).is_some_and(|(listed, read)| read < listed)
    }

    /// Says whether a detail shows another state, which is no later one: by its time, and where the row or the detail has
    /// none, or both the same, by its status. Only two words of the document are two states.
    pub fn is_contradicted_by(&self, status: Option<&str>, at: Option<DateTime<Utc>>) -> bool {
        let is_other = || {
            let [listed, read] =
                [self.status.as_deref(), status].map(|status| status.filter(|own| stage(own).is_some()));
            listed.zip(read).is_some_and(|(listed, read)| listed != read)
        };
        match self.at.zip(at).map(|(listed, read)| read.cmp(&listed)) {
            Some(Ordering::Less) => true,
            Some(Ordering::Greater) => false,
            Some(Ordering::Equal) | None => is_other(),
        }
    }
}

/// What to refresh of an entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefreshRequest {
    /// Which sub-resources of an order; empty for a product, which is read in full.
    pub subresources: BitFlags<Subresource>,
    /// Less urgent sub-resources, read after the others: what a delivery reported does not wait for them.
    pub afterwards: BitFlags<Subresource>,
    /// The state that an order should show by now.
    pub expected: Option<Box<Expected>>,
    /// The values that a product should show by now.
    pub expected_values: ExpectedValues,
    /// The fingerprint of its listing row, if a sweep has seen it.
    pub listing_hash: Option<ContentHash>,
    /// The order as that row shows it, as far as it does.
    pub listed: Option<Box<ListedState>>,
    /// True if that row has a status.
    pub has_listed_status: bool,
    /// True for an order whose denial is on record, because a listing has shown it: another denial is recorded too.
    pub was_denied: bool,
    /// True for an order that a listing shows and the mirror does not have.
    pub is_unknown: bool,
    /// When the first event about it happened, as far as known.
    pub reported_at: Option<DateTime<Utc>>,
    /// Which worker pool reads it.
    pub urgency: Urgency,
    /// The deliveries that wait for it, by their inbox ids.
    pub ids: Vec<i64>,
}

impl RefreshRequest {
    /// Returns the request of a sweep for these sub-resources of an order.
    pub fn swept(subresources: impl IntoIterator<Item = Subresource>) -> Self {
        Self { subresources: subresources.into_iter().collect(), ..Self::default() }
    }

    /// Returns the request for what a sweep found changed.
    pub fn found(subresources: impl IntoIterator<Item = Subresource>) -> Self {
        Self { urgency: Urgency::Found, ..Self::swept(subresources) }
    }

    /// Returns the request for what a delivery reported.
    pub fn hinted(subresources: impl IntoIterator<Item = Subresource>) -> Self {
        Self { urgency: Urgency::Hinted, ..Self::swept(subresources) }
    }

    /// Merges two requests; nothing of either is lost.
    #[must_use]
    pub fn and(mut self, mut other: Self) -> Self {
        match self.urgency.cmp(&other.urgency) {
            Ordering::Less => other.defer(),
            Ordering::Greater => self.defer(),
            Ordering::Equal => (),
        }
        self.subresources |= other.subresources;
        self.afterwards = (self.afterwards | other.afterwards) & !self.subresources;
        self.expected = match (self.expected, other.expected) {
            (Some(one), Some(other)) => Some(Box::new(one.later(*other))),
            (one, other) => one.or(other),
        };
        self.expected_values = self.expected_values.and(other.expected_values);
        if other.listing_hash.is_some() {
            (self.listing_hash, self.listed) = (other.listing_hash, other.listed);
        }
        self.has_listed_status |= other.has_listed_status;
        self.was_denied |= other.was_denied;
        self.is_unknown |= other.is_unknown;
        self.reported_at = [self.reported_at, other.reported_at].into_iter().flatten().min();
        self.urgency = self.urgency.min(other.urgency);
        self.ids.extend(other.ids);
        self
    }

    /// Moves the sub-resources behind the more urgent request: the order itself is one request, and each sub-resource
    /// one more.
    fn defer(&mut self) {
        self.afterwards |= self.subresources & !BitFlags::from(Subresource::Order);
        self.subresources &= Subresource::Order;
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::RawJson;

    use super::*;

    fn at(second: i64) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp(second, 0)
    }

    fn order(status: &str, updated: i64) -> Order {
        let payload = format!(r#"{{"status":"{status}"}}"#);
        let bare = Order::bare(OrderNumber::new("1"), RawJson::new(&payload));
        Order { status: Some(status.into()), updated_at: at(updated), ..bare }
    }

    // withstands: F034
    #[test]
    fn an_order_shows_what_an_event_told_when_it_is_there_or_has_changed_since() {
        let check = |status: &str, updated, expected| {
            let told = Expected { status: "paid".into(), at: at(100) };
            assert_eq!(told.is_shown_by(&order(status, updated)), expected, "{status} {updated}");
        };
        check("paid", 0, true);
        check("waiting_payment", 99, false);
        check("preparing", 100, false);
        check("cancelled", 101, true);
        let timeless = Expected { status: "paid".into(), at: None };
        assert!(!timeless.is_shown_by(&order("preparing", 500)));
    }

    #[test]
    fn of_two_expectations_the_later_counts_whichever_came_first() {
        let request = |second: i64| RefreshRequest {
            expected: Some(Box::new(Expected { status: second.to_string(), at: at(second) })),
            ..RefreshRequest::default()
        };
        for (one, other) in [(1, 2), (2, 1)] {
            let both = request(one).and(request(other)).and(RefreshRequest::default());
            assert_eq!(both.expected.unwrap().status, "2");
        }
    }

    #[test]
    fn of_two_expectations_of_one_second_the_one_further_along_counts_whichever_came_first() {
        let request = |status: &str| RefreshRequest {
            expected: Some(Box::new(Expected { status: status.into(), at: at(100) })),
            ..RefreshRequest::default()
        };
        let check = |earlier: &str, later: &str| {
            for (one, other) in [(earlier, later), (later, earlier)] {
                let both = request(one).and(request(other)).expected.unwrap();
                assert_eq!(both.status, later, "{one} and {other}");
            }
        };
        check("waiting_payment", "paid");
        check("awaiting_restock", "paid");
        check("paid", "production_started");
        check("production_finished", "preparing");
        check("preparing", "ready_for_pickup");
        check("shipped", "delivered");
        check("paid", "cancelled");
        let unknown = request("paid").and(request("teleported")).expected.unwrap();
        assert_eq!(unknown.status, "teleported", "of a word that nobody knows the last to come counts");
    }

    #[test]
    fn every_word_of_the_document_has_its_place_on_an_orders_way() {
        for status in espelho_model::order::STATUSES {
            assert!(stage(status).is_some(), "{status}");
        }
    }

    #[test]
    fn what_a_delivery_tells_of_does_not_wait_for_sides_that_a_sweep_wants() {
        let hinted = RefreshRequest {
            subresources: BitFlags::from_iter([Subresource::Shipments]),
            urgency: Urgency::Hinted,
            ..RefreshRequest::default()
        };
        let fetched_subresources =
            BitFlags::from_iter([Subresource::Order, Subresource::Shipments, Subresource::Events]);
        let swept = RefreshRequest { subresources: fetched_subresources, ..RefreshRequest::default() };
        for both in [hinted.clone().and(swept.clone()), swept.and(hinted)] {
            assert_eq!(both.subresources, BitFlags::from_iter([Subresource::Order, Subresource::Shipments]));
            assert_eq!(both.afterwards, BitFlags::from_iter([Subresource::Events]));
        }
    }

    #[test]
    fn two_wants_together_lose_nothing_of_either() {
        let hinted = RefreshRequest {
            subresources: BitFlags::from_iter([Subresource::Order]),
            urgency: Urgency::Hinted,
            ids: vec![1],
            ..RefreshRequest::default()
        };
        let hash = Some(ContentHash::of(b"row"));
        let swept = RefreshRequest {
            subresources: BitFlags::from_iter([Subresource::Events]),
            listing_hash: hash,
            has_listed_status: true,
            was_denied: true,
            is_unknown: true,
            ..RefreshRequest::default()
        };
        for both in [hinted.clone().and(swept.clone()), swept.and(hinted)] {
            assert_eq!(both.subresources, BitFlags::from_iter([Subresource::Order]));
            assert_eq!(both.afterwards, BitFlags::from_iter([Subresource::Events]));
            assert_eq!((both.listing_hash, both.urgency, both.ids), (hash, Urgency::Hinted, vec![1]));
            assert!(both.has_listed_status && both.was_denied && both.is_unknown);
        }
    }
}
