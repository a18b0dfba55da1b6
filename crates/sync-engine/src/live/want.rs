//! What is wanted of an entity, and what may be heard of it meanwhile.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use espelho_model::{ContentHash, OrderNumber, ProductId, order::Order};
use espelho_store::Part;

/// Something of the marketplace that is read by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Entity {
    /// An order, with whichever of its sides are wanted.
    Order(OrderNumber),
    /// A product with its prices and stock.
    Product(ProductId),
}

/// Which of the two crews reads it, each in a lane of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// A delivery has told of it.
    Hinted,
    /// A sweep has found it.
    #[default]
    Swept,
}

/// The state that an event speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The order's status.
    pub status: String,
    /// When the delivery was built.
    pub at: Option<DateTime<Utc>>,
}

impl Expected {
    /// Whether an order is in that state or a later one. It is not asked in which order statuses follow each other:
    /// whatever changed after the delivery was built is later.
    pub fn is_shown_by(&self, order: &Order) -> bool {
        let is_later = || self.at.is_some_and(|at| order.updated_at.is_some_and(|updated| updated >= at));
        order.status.as_deref() == Some(self.status.as_str()) || is_later()
    }

    /// Of two expectations the one that implies the other: the later.
    fn later(self, other: Self) -> Self {
        if other.at >= self.at { other } else { self }
    }
}

/// What is wanted of an entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Want {
    /// Which sides of an order; nothing for a product, which is read whole.
    pub parts: BTreeSet<Part>,
    /// What it should show by now.
    pub expected: Option<Expected>,
    /// The fingerprint of its listing row, where a sweep has seen it.
    pub listing_hash: Option<ContentHash>,
    /// Who reads it.
    pub urgency: Urgency,
    /// The deliveries that wait for it, by their places in the inbox.
    pub ids: Vec<i64>,
}

impl Want {
    /// Wants everything that either of them wants.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self.expected = match (self.expected, other.expected) {
            (Some(one), Some(other)) => Some(one.later(other)),
            (one, other) => one.or(other),
        };
        self.listing_hash = other.listing_hash.or(self.listing_hash);
        self.urgency = self.urgency.min(other.urgency);
        self.ids.extend(other.ids);
        self
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
        Order {
            number: OrderNumber::new("1"),
            status: Some(status.into()),
            workflow_type: None,
            order_type: None,
            channel: None,
            delivery_method: None,
            checkout_group_id: None,
            customer_id: None,
            customer_name: None,
            total_products: None,
            total_shipping: None,
            total_discounts: None,
            total_order: None,
            items_count: None,
            lines_count: None,
            payment_method: None,
            payment_status: None,
            payment_expires_at: None,
            is_collective: None,
            is_awaiting_campaign: None,
            release_at: None,
            picked_up_at: None,
            notes: None,
            created_at: None,
            updated_at: at(updated),
            items: Vec::new(),
            raw: RawJson::new(&payload),
        }
    }

    #[test]
    fn an_order_shows_what_an_event_told_when_it_is_there_or_has_changed_since() {
        let check = |status: &str, updated, expected| {
            let told = Expected { status: "paid".into(), at: at(100) };
            assert_eq!(told.is_shown_by(&order(status, updated)), expected, "{status} {updated}");
        };
        check("paid", 0, true);
        check("waiting_payment", 99, false);
        check("preparing", 100, true);
        check("cancelled", 101, true);
        let timeless = Expected { status: "paid".into(), at: None };
        assert!(!timeless.is_shown_by(&order("preparing", 500)));
    }

    #[test]
    fn of_two_expectations_the_later_counts_whichever_came_first() {
        let want = |second: i64| Want {
            expected: Some(Expected { status: second.to_string(), at: at(second) }),
            ..Want::default()
        };
        for (one, other) in [(1, 2), (2, 1)] {
            let both = want(one).and(want(other)).and(Want::default());
            assert_eq!(both.expected.unwrap().status, "2");
        }
    }

    #[test]
    fn two_wants_together_lose_nothing_of_either() {
        let hinted = Want {
            parts: BTreeSet::from([Part::Order]),
            urgency: Urgency::Hinted,
            ids: vec![1],
            ..Want::default()
        };
        let hash = Some(ContentHash::of(b"row"));
        let swept = Want { parts: BTreeSet::from([Part::Events]), listing_hash: hash, ..Want::default() };
        for both in [hinted.clone().and(swept.clone()), swept.and(hinted)] {
            assert_eq!(both.parts, BTreeSet::from([Part::Order, Part::Events]));
            assert_eq!((both.listing_hash, both.urgency, both.ids), (hash, Urgency::Hinted, vec![1]));
        }
    }
}
