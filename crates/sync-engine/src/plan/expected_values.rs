//! The values that deliveries report of a product, and whether a product that was read shows them. Pure.
//!
//! A value is awaited while the product shows the one from before: the marketplace's reads lag behind its events. Any
//! other value is newer than the event, or its field is not the one that the event means; then nothing is awaited.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::webhook::{Delivery, ProductField};
use espelho_model::{LocationId, product::Product};
use rust_decimal::Decimal;

/// A value that was reported so much earlier than another of the same product is no longer awaited: each delivery
/// starts the waits of all, so that a value which never shows would be awaited for as long as the product sells.
const AWAITED_FOR: TimeDelta = TimeDelta::seconds(300);

/// The values that a product should show by now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedValues(BTreeMap<ProductField, ExpectedValue>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ExpectedValue {
    value: Decimal,
    /// The values from before it, as far as known.
    past: BTreeSet<Decimal>,
    /// When the delivery was built.
    at: DateTime<Utc>,
}

impl ExpectedValues {
    /// Returns the value that a delivery reports, if it has one. Without a time, the later of two would be unknown.
    pub fn of(delivery: &Delivery) -> Self {
        let reported = delivery.product_value().zip(delivery.timestamp);
        let values = reported.map(|(reported, at)| {
            let past = reported.old.into_iter().filter(|old| *old != reported.new).collect();
            (reported.field, ExpectedValue { value: reported.new, past, at })
        });
        Self(values.into_iter().collect())
    }

    /// Merges two: of each field the later value counts.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for (field, value) in other.0 {
            let merged = match self.0.remove(&field) {
                Some(own) => own.later(value),
                None => value,
            };
            self.0.insert(field, merged);
        }
        let newest = self.0.values().map(|expected| expected.at).max();
        self.0.retain(|_, expected| newest.is_some_and(|newest| newest - expected.at <= AWAITED_FOR));
        self
    }

    /// Says whether a product shows none of the values from before.
    pub fn are_shown_by(&self, product: &Product) -> bool {
        self.0.iter().all(|(field, expected)| expected.is_shown_by(product, field))
    }
}

impl ExpectedValue {
    fn is_shown_by(&self, product: &Product, field: &ProductField) -> bool {
        match field {
            ProductField::Quantity(location) => {
                let [quantity, available] = quantities(product, location.as_ref());
                // Once anything is reserved, the available number differs from the quantity from before all the time: only
                // the reported number itself says that it changed.
                quantity.is_none_or(|quantity| self.is_shown_as(quantity)) || available == Some(self.value)
            }
            ProductField::Price(quantity) => {
                price(product, *quantity).is_none_or(|value| self.is_shown_as(value))
            }
            ProductField::Availability(location) => {
                let there = quantities(product, location.as_ref());
                let known: Vec<_> = there.into_iter().chain(quantities(product, None)).flatten().collect();
                let stock_of = |quantity: &Decimal| Decimal::from(i64::from(*quantity > Decimal::ZERO));
                known.is_empty() || known.iter().any(|quantity| self.is_shown_as(stock_of(quantity)))
            }
        }
    }

    fn is_shown_as(&self, value: Decimal) -> bool {
        value == self.value || !(self.past.is_empty() || self.past.contains(&value))
    }

    /// Returns the later of two, to which the values of the other belong to the past. Deliveries of one second arrive
    /// in any order, with the same time: there the one counts whose old value the other reports as new, else the last.
    fn later(self, other: Self) -> Self {
        let follows = |one: &Self, another: &Self| one.past.contains(&another.value);
        let is_own = match self.at == other.at {
            true => follows(&self, &other) && !follows(&other, &self),
            false => other.at < self.at,
        };
        let (mut later, earlier) = if is_own { (self, other) } else { (other, self) };
        later.past.extend(earlier.past);
        later.past.insert(earlier.value);
        later.past.remove(&later.value);
        later
    }
}

/// Returns the quantity and what is available of it, at a location or at all of them.
fn quantities(product: &Product, location: Option<&LocationId>) -> [Option<Decimal>; 2] {
    let Some(location) = location else { return [product.quantity, product.available_quantity] };
    let level = product.stock.iter().find(|level| level.location_id == *location);
    // A product shows no level where it never had any.
    level.map_or([Some(Decimal::ZERO); 2], |level| [level.quantity, level.available_quantity])
}

/// Returns the price of a unit for this quantity. A tier that is gone leaves its buyers the price of the tier below.
fn price(product: &Product, quantity: i64) -> Option<Decimal> {
    let tiers = product.prices.iter().filter(|tier| tier.min_quantity <= quantity);
    tiers.max_by_key(|tier| tier.min_quantity)?.value
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use espelho_model::{
        ProductId, RawJson, Sku,
        product::{PriceTier, StockLevel},
    };

    use super::*;

    const STOCK: &str = "product.stock_updated";
    const PRICE: &str = "product.price_updated";

    /// Returns what a delivery of this minute's second reports.
    fn told(event: &str, second: u32, data: &str) -> ExpectedValues {
        let (minute, second) = (second / 60, second % 60);
        let body = format!(
            r#"{{"event":"{event}","data":{data},"timestamp":"2026-11-20T12:{minute:02}:{second:02}Z"}}"#
        );
        let delivery = Delivery::parse(body.as_bytes(), FixedOffset::east_opt(0).unwrap());
        ExpectedValues::of(&delivery.unwrap())
    }

    fn level(second: u32, old: u32, new: u32) -> ExpectedValues {
        let data = format!(r#"{{"location_id":7,"old_quantity":{old},"new_quantity":{new}}}"#);
        told(STOCK, second, &data)
    }

    fn price(second: u32, old: u32, new: u32) -> ExpectedValues {
        told(PRICE, second, &format!(r#"{{"min_quantity":1,"old_price":{old},"new_price":{new}}}"#))
    }

    /// A product with a level in location 7 and another in 8, and with the base price and another from 10 units on.
    fn product(quantity: u32, base: u32) -> Product {
        let number = |number: u32| Some(Decimal::from(number));
        let level = |location: &str, quantity: u32| StockLevel {
            sku: Sku::new("S"),
            location_id: LocationId::new(location),
            quantity: number(quantity),
            reserved_quantity: number(0),
            available_quantity: number(quantity),
            raw: RawJson::new("{}"),
        };
        let tier = |min_quantity: i64, value: u32| PriceTier {
            min_quantity,
            value: number(value),
            discount_percent: None,
            package_weight: None,
            package_height: None,
            package_width: None,
            package_length: None,
            raw: RawJson::new("{}"),
        };
        Product {
            id: ProductId::new("P"),
            sku: Some(Sku::new("S")),
            name: None,
            base_unit: None,
            price_type: None,
            is_available_for_sale: None,
            auto_wholesale_pricing: None,
            height: None,
            width: None,
            length: None,
            weight: None,
            price: number(base),
            quantity: number(quantity + 3),
            reserved_quantity: number(3),
            available_quantity: number(quantity),
            prices: vec![tier(1, base), tier(10, 50)],
            stock: vec![level("7", quantity), level("8", 3)],
            raw: RawJson::new("{}"),
        }
    }

    // withstands: F034
    #[test]
    fn a_product_shows_a_value_unless_it_still_shows_the_one_from_before() {
        for (event, data, expected, why) in [
            (STOCK, r#"{"location_id":7,"old_quantity":9,"new_quantity":5}"#, true, "it is there"),
            (STOCK, r#"{"location_id":"7","old_quantity":5.0,"new_quantity":4}"#, false, "it is the old one"),
            (STOCK, r#"{"location_id":7,"old_quantity":9,"new_quantity":8}"#, true, "it changed again"),
            (STOCK, r#"{"location_id":7,"new_quantity":4}"#, false, "nobody knows the old one"),
            (
                STOCK,
                r#"{"location_id":9,"old_quantity":0,"new_quantity":4}"#,
                false,
                "the level is not there",
            ),
            (STOCK, r#"{"location_id":9,"old_quantity":4,"new_quantity":0}"#, true, "the level is gone"),
            (STOCK, r#"{"old_quantity":8,"new_quantity":9}"#, false, "all locations have the old one"),
            (STOCK, r#"{"location_id":7,"old_quantity":5,"new_quantity":5}"#, true, "nothing changed"),
            (STOCK, r#"{"location_id":7}"#, true, "it tells nothing"),
            (PRICE, r#"{"min_quantity":1,"old_price":68,"new_price":70.00}"#, true, "it is there"),
            (PRICE, r#"{"min_quantity":1,"old_price":70,"new_price":68}"#, false, "it is the old one"),
            (PRICE, r#"{"min_quantity":10,"old_price":50,"new_price":40}"#, false, "it is the old one"),
            (PRICE, r#"{"min_quantity":20,"old_price":50,"new_price":40}"#, false, "the tier is not there"),
            (PRICE, r#"{"min_quantity":10,"old_price":50,"new_price":70}"#, false, "the tier is not gone"),
            (PRICE, r#"{"min_quantity":0,"old_price":50,"new_price":70}"#, true, "nobody buys so few"),
            ("stock.depleted", r#"{"location_id":7,"previous_quantity":5}"#, false, "some is left"),
            ("stock.restored", r#"{"location_id":7,"new_quantity":9}"#, true, "there is some"),
            ("stock.exploded", r#"{"location_id":7,"new_quantity":9}"#, true, "nobody knows the event"),
        ] {
            assert_eq!(told(event, 0, data).are_shown_by(&product(5, 70)), expected, "{event} {data}: {why}");
        }
    }

    #[test]
    fn a_quantity_is_shown_with_or_without_what_is_reserved_and_a_depletion_at_its_location_or_at_all() {
        let depleted = r#"{"location_id":7,"previous_quantity":4}"#;
        let restored = r#"{"location_id":7,"new_quantity":4}"#;
        // The quantity in location 7 and what is available of it, and both of all locations.
        for (event, data, [quantity, available, total, all_available], expected, why) in [
            (
                STOCK,
                r#"{"location_id":7,"old_quantity":9,"new_quantity":8}"#,
                [9, 8, 12, 11],
                true,
                "a sale has reserved one",
            ),
            (
                STOCK,
                r#"{"location_id":7,"old_quantity":9,"new_quantity":8}"#,
                [9, 9, 12, 12],
                false,
                "neither has changed",
            ),
            (
                STOCK,
                r#"{"location_id":7,"old_quantity":9,"new_quantity":8}"#,
                [9, 7, 12, 10],
                false,
                "what is available tells only of the reported number",
            ),
            (
                STOCK,
                r#"{"old_quantity":12,"new_quantity":11}"#,
                [9, 8, 12, 11],
                true,
                "all locations have it available",
            ),
            (STOCK, r#"{"old_quantity":12,"new_quantity":11}"#, [9, 9, 12, 12], false, "none has changed"),
            ("stock.depleted", depleted, [0, 0, 3, 3], true, "another location has some"),
            ("stock.depleted", depleted, [2, 0, 5, 3], true, "all of the location is reserved"),
            ("stock.depleted", depleted, [4, 4, 4, 0], true, "all is reserved"),
            ("stock.depleted", depleted, [4, 4, 7, 7], false, "it is there"),
            ("stock.depleted", "{}", [0, 0, 3, 0], true, "all is reserved"),
            ("stock.depleted", "{}", [0, 0, 3, 3], false, "another location has some"),
            ("stock.restored", restored, [4, 0, 4, 0], true, "all is reserved"),
            ("stock.restored", restored, [0, 0, 3, 3], true, "another location has some"),
            ("stock.restored", restored, [0, 0, 0, 0], false, "there is none"),
            ("stock.restored", "{}", [0, 0, 0, 0], false, "there is none"),
        ] {
            let mut shown = product(0, 70);
            let number = |number: u32| Some(Decimal::from(number));
            (shown.stock[0].quantity, shown.stock[0].available_quantity) =
                (number(quantity), number(available));
            (shown.quantity, shown.available_quantity) = (number(total), number(all_available));
            assert_eq!(told(event, 0, data).are_shown_by(&shown), expected, "{event} {data}: {why}");
        }
    }

    #[test]
    fn of_two_values_of_a_field_the_later_counts_and_the_other_is_past_whichever_came_first() {
        for (one, other, quantity, expected, why) in [
            (level(1, 10, 9), level(2, 9, 8), 8, true, "the later is there"),
            (level(1, 10, 9), level(2, 9, 8), 9, false, "only the earlier is there"),
            (level(1, 10, 9), level(2, 9, 8), 10, false, "neither is there"),
            (level(1, 10, 9), level(2, 9, 8), 7, true, "it changed again"),
            (level(1, 10, 9), level(1, 9, 8), 9, false, "of one second, one follows from the other"),
            (level(1, 10, 9), level(2, 9, 10), 10, true, "it went back"),
            (level(1, 10, 9), level(2, 9, 10), 9, false, "it has not gone back yet"),
        ] {
            for both in [one.clone().and(other.clone()), other.clone().and(one.clone())] {
                assert_eq!(both.are_shown_by(&product(quantity, 70)), expected, "{why}: {both:?}");
            }
        }
        let back = level(1, 10, 9).and(level(1, 9, 10));
        assert!(
            back.are_shown_by(&product(10, 70)),
            "of one second and each after the other, the last counts"
        );
    }

    #[test]
    fn values_of_several_fields_are_all_awaited_until_one_of_them_is_long_past() {
        for (second, quantity, base, expected, why) in [
            (1, 5, 70, true, "both are there"),
            (1, 4, 70, false, "the level is not"),
            (1, 5, 68, false, "the price is not"),
            (300, 5, 68, false, "it was reported shortly before"),
            (301, 5, 68, true, "it was reported long before"),
        ] {
            let (price, level) = (price(0, 68, 70), level(second, 4, 5));
            for both in [price.clone().and(level.clone()), level.clone().and(price.clone())] {
                assert_eq!(both.are_shown_by(&product(quantity, base)), expected, "{why}");
            }
        }
    }

    #[test]
    fn a_value_without_a_time_is_not_awaited() {
        let body = format!(r#"{{"event":"{STOCK}","data":{{"location_id":7,"new_quantity":4}}}}"#);
        let delivery = Delivery::parse(body.as_bytes(), FixedOffset::east_opt(0).unwrap()).unwrap();
        assert_eq!(ExpectedValues::of(&delivery), ExpectedValues::default());
    }
}
