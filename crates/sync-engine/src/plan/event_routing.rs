//! Decides which refresh a delivery requires (API document, "Catalogue" of events). Pure.

use enumflags2::BitFlags;
use espelho_api_client::webhook::{Delivery, EventGroup, EventName};
use espelho_model::ProductId;
use espelho_store::Subresource;

use super::{
    expected_values::ExpectedValues,
    refresh_request::{Entity, Expected, RefreshRequest, Urgency},
};

/// The work that a delivery gives the store's task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routing {
    /// A refresh of an entity.
    Read(Entity, Box<RefreshRequest>),
    /// Its data must be kept: the API document shows no route that returns it.
    EventOnlyData,
    /// Nothing: it is the test of the webhook.
    Nothing,
    /// Its event is unknown, and it names no order.
    Unknown,
    /// Its event is known, but its payload does not name its entity.
    Unaddressed,
}

/// Routes a delivery. An unknown event that names an order counts as an event of that order.
pub fn route(delivery: &Delivery) -> Routing {
    match delivery.event.group() {
        Some(EventGroup::Test) => Routing::Nothing,
        Some(EventGroup::Occurrences | EventGroup::Messages | EventGroup::Catalogue) => {
            Routing::EventOnlyData
        }
        Some(EventGroup::Stock) => match delivery.product_sku_id() {
            Some(id) => {
                let expected_values = ExpectedValues::of(delivery);
                let request = RefreshRequest { expected_values, ..hinted(BitFlags::empty()) };
                Routing::Read(Entity::Product(ProductId::new(id)), Box::new(request))
            }
            None => Routing::Unaddressed,
        },
        Some(EventGroup::Orders | EventGroup::Logistics) | None => route_to_order(delivery),
    }
}

fn route_to_order(delivery: &Delivery) -> Routing {
    let Some(number) = delivery.order_number() else {
        return if delivery.event.group().is_some() { Routing::Unaddressed } else { Routing::Unknown };
    };
    let subresources = match (delivery.event.group(), &delivery.event) {
        (_, EventName::OrderInvoiced) => Subresource::Invoices | Subresource::Events,
        (Some(EventGroup::Logistics), _) => Subresource::Shipments | Subresource::Tracking,
        _ => Subresource::Order.into(),
    };
    let expected = delivery.order_status().map(|status| Expected { status, at: delivery.timestamp });
    Routing::Read(
        Entity::Order(number),
        Box::new(RefreshRequest { expected: expected.map(Box::new), ..hinted(subresources) }),
    )
}

fn hinted(subresources: BitFlags<Subresource>) -> RefreshRequest {
    RefreshRequest { subresources, urgency: Urgency::Hinted, ..RefreshRequest::default() }
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    fn asked(event: &str, data: &str) -> Routing {
        let body = format!(r#"{{"event":"{event}","data":{data},"timestamp":"2026-11-20T12:00:00Z"}}"#);
        route(&Delivery::parse(body.as_bytes(), FixedOffset::east_opt(0).unwrap()).unwrap())
    }

    fn subresources(event: &str) -> Vec<Subresource> {
        match asked(event, r#"{"order_number":"MP-1","shipment_id":"S","status":"paid"}"#) {
            Routing::Read(Entity::Order(number), request) if number.as_str() == "MP-1" => {
                assert_eq!(request.urgency, Urgency::Hinted);
                request.subresources.into_iter().collect()
            }
            other => panic!("{event}: {other:?}"),
        }
    }

    #[test]
    fn every_event_of_the_catalogue_asks_for_what_it_is_about() {
        for event in EventName::ALL {
            let name = event.as_str();
            match event.group().unwrap() {
                EventGroup::Orders if *event == EventName::OrderInvoiced => {
                    assert_eq!(subresources(name), [Subresource::Invoices, Subresource::Events]);
                }
                EventGroup::Orders => assert_eq!(subresources(name), [Subresource::Order]),
                EventGroup::Logistics => {
                    assert_eq!(subresources(name), [Subresource::Shipments, Subresource::Tracking]);
                }
                EventGroup::Stock => {
                    let Routing::Read(entity, _) = asked(name, r#"{"product_sku_id":7}"#) else {
                        panic!("{name}")
                    };
                    assert_eq!(entity, Entity::Product(ProductId::new("7")));
                }
                EventGroup::Test => assert_eq!(asked(name, "{}"), Routing::Nothing),
                _ => assert_eq!(asked(name, "{}"), Routing::EventOnlyData),
            }
        }
    }

    #[test]
    fn an_unknown_event_is_about_the_order_that_it_names_or_about_nothing() {
        assert_eq!(subresources("order.exploded"), [Subresource::Order]);
        assert_eq!(asked("store.exploded", r#"{"what":1}"#), Routing::Unknown);
    }

    #[test]
    fn a_known_event_without_its_identifier_asks_for_nothing_that_could_be_read() {
        for event in ["order.paid", "shipment.created", "stock.depleted"] {
            assert_eq!(asked(event, r#"{"store_id":1}"#), Routing::Unaddressed, "{event}");
        }
    }

    #[test]
    fn the_state_that_an_orders_event_tells_is_expected_with_its_time() {
        let Routing::Read(_, request) =
            asked("order.status_changed", r#"{"order_number":"1","new_status":"paid"}"#)
        else {
            panic!("it asks for nothing")
        };
        let expected = request.expected.unwrap();
        assert_eq!((expected.status.as_str(), expected.at.is_some()), ("paid", true));
        let Routing::Read(_, request) = asked("shipment.created", r#"{"order_number":"1"}"#) else {
            panic!("nothing")
        };
        assert_eq!(request.expected, None);
    }

    // withstands: F034
    #[test]
    fn the_value_that_a_products_event_tells_is_expected() {
        let price = r#"{"product_sku_id":7,"old_price":68,"new_price":70,"min_quantity":1}"#;
        let level = r#"{"product_sku_id":7,"old_quantity":5,"new_quantity":4,"location_id":1}"#;
        for (event, data, expected) in [
            ("product.price_updated", price, true),
            ("product.stock_updated", level, true),
            ("stock.depleted", r#"{"product_sku_id":7,"previous_quantity":4,"location_id":1}"#, true),
            ("stock.restored", r#"{"product_sku_id":7,"new_quantity":4,"location_id":1}"#, true),
            ("product.stock_updated", r#"{"product_sku_id":7}"#, false),
        ] {
            let Routing::Read(_, request) = asked(event, data) else { panic!("{event} asks for nothing") };
            assert_eq!(request.expected_values != ExpectedValues::default(), expected, "{event} {data}");
        }
    }
}
