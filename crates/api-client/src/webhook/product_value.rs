//! The value in an event of a product, which shows when the marketplace has caught up (API document, "Catalogue" of
//! events). It never becomes state.

use espelho_model::LocationId;
use rust_decimal::Decimal;

use super::{Delivery, EventName, event_only_data::reader};
use crate::wire::{fields::object, shape};

/// The field of a product that an event reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProductField {
    /// The quantity at a location, or at all of them where the event names none.
    Quantity(Option<LocationId>),
    /// The price of a unit for this quantity.
    Price(i64),
    /// 1 if there is any stock, else 0, at a location if the event names one. The document leaves open which quantity the
    /// events tell that report it: that of the location or of all, with or without what is reserved.
    Availability(Option<LocationId>),
}

/// A value of a product that an event reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductValue {
    /// The field.
    pub field: ProductField,
    /// Its value before, if the event contains it.
    pub old: Option<Decimal>,
    /// Its value when the delivery was built.
    pub new: Decimal,
}

shape! { ValueWire { location_id, old_quantity, new_quantity, min_quantity, old_price, new_price } }

impl Delivery {
    /// Returns the value that a field of the product had when the delivery was built, if the event contains it.
    pub fn product_value(&self) -> Option<ProductValue> {
        let wire: ValueWire<'_> = object(self.data.as_str()).ok()?;
        let mut read = reader();
        let location = read.id("location_id", wire.location_id).map(LocationId::new);
        let (field, old, new) = match self.event {
            EventName::ProductStockUpdated => (
                ProductField::Quantity(location),
                read.decimal("old_quantity", wire.old_quantity),
                read.decimal("new_quantity", wire.new_quantity)?,
            ),
            EventName::ProductPriceUpdated => (
                ProductField::Price(read.integer("min_quantity", wire.min_quantity).unwrap_or(1)),
                read.decimal("old_price", wire.old_price),
                read.decimal("new_price", wire.new_price)?,
            ),
            EventName::StockDepleted => {
                (ProductField::Availability(location), Some(Decimal::ONE), Decimal::ZERO)
            }
            EventName::StockRestored => {
                (ProductField::Availability(location), Some(Decimal::ZERO), Decimal::ONE)
            }
            _ => return None,
        };
        Some(ProductValue { field, old, new })
    }
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    #[test]
    fn an_event_of_a_product_tells_the_value_that_it_had_before_and_has_now() {
        let at = |id: &str| ProductField::Quantity(Some(LocationId::new(id)));
        let level = r#"{"location_id":7,"old_quantity":5,"new_quantity":"2.50"}"#;
        let price = r#"{"old_price":70,"new_price":68.90,"min_quantity":10}"#;
        for (event, data, expected) in [
            ("product.stock_updated", level, Some((at("7"), Some("5"), "2.5"))),
            (
                "product.stock_updated",
                r#"{"new_quantity":3}"#,
                Some((ProductField::Quantity(None), None, "3")),
            ),
            ("product.stock_updated", r#"{"location_id":7,"old_quantity":5}"#, None),
            ("product.stock_updated", r#"{"new_quantity":"many"}"#, None),
            ("product.price_updated", price, Some((ProductField::Price(10), Some("70"), "68.9"))),
            ("product.price_updated", r#"{"new_price":1}"#, Some((ProductField::Price(1), None, "1"))),
            ("product.price_updated", r#"{"old_price":1,"new_price":null}"#, None),
            (
                "stock.depleted",
                r#"{"location_id":7,"previous_quantity":4}"#,
                Some((ProductField::Availability(Some(LocationId::new("7"))), Some("1"), "0")),
            ),
            (
                "stock.restored",
                r#"{"new_quantity":4}"#,
                Some((ProductField::Availability(None), Some("0"), "1")),
            ),
            ("order.paid", level, None),
        ] {
            let body = format!(r#"{{"event":"{event}","data":{data}}}"#);
            let delivery = Delivery::parse(body.as_bytes(), FixedOffset::east_opt(0).unwrap()).unwrap();
            let number = |text: &str| -> Decimal { text.parse().unwrap() };
            let expected = expected.map(|(field, old, new)| ProductValue {
                field,
                old: old.map(number),
                new: number(new),
            });
            assert_eq!(delivery.product_value(), expected, "{event} {data}");
        }
    }
}
