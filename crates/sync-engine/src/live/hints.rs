//! Which delivery says what to look at again (API document, "Catalogue" of events). Pure.

use std::collections::BTreeSet;

use espelho_api_client::webhook::{Delivery, EventGroup, EventName};
use espelho_model::ProductId;
use espelho_store::Part;

use super::want::{Entity, Expected, Urgency, Want};

/// What a delivery asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// To read something again.
    Read(Entity, Want),
    /// To be kept: no route tells what it tells.
    Fact,
    /// Nothing: it is the test of the webhook.
    Nothing,
    /// Its event is unknown and it points at nothing that is.
    Unknown,
    /// Its event is known, and its payload does not say what it is about.
    Aimless,
}

/// What a delivery asks for. An unknown event that names an order is believed to be about it.
pub fn asked_by(delivery: &Delivery) -> Asks {
    match delivery.event.group() {
        Some(EventGroup::Test) => Asks::Nothing,
        Some(EventGroup::Occurrences | EventGroup::Messages | EventGroup::Catalogue) => Asks::Fact,
        Some(EventGroup::Stock) => match delivery.product_sku_id() {
            Some(id) => Asks::Read(Entity::Product(ProductId::new(id)), hinted(BTreeSet::new())),
            None => Asks::Aimless,
        },
        Some(EventGroup::Orders | EventGroup::Logistics) | None => asked_of_order(delivery),
    }
}

fn asked_of_order(delivery: &Delivery) -> Asks {
    let Some(number) = delivery.order_number() else {
        return if delivery.event.group().is_some() { Asks::Aimless } else { Asks::Unknown };
    };
    let parts = match (delivery.event.group(), &delivery.event) {
        (_, EventName::OrderInvoiced) => BTreeSet::from([Part::Invoices, Part::Events]),
        (Some(EventGroup::Logistics), _) => BTreeSet::from([Part::Shipments, Part::Tracking]),
        _ => BTreeSet::from([Part::Order]),
    };
    let expected = delivery.order_status().map(|status| Expected { status, at: delivery.timestamp });
    Asks::Read(Entity::Order(number), Want { expected, ..hinted(parts) })
}

fn hinted(parts: BTreeSet<Part>) -> Want {
    Want { parts, urgency: Urgency::Hinted, ..Want::default() }
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    fn asked(event: &str, data: &str) -> Asks {
        let body = format!(r#"{{"event":"{event}","data":{data},"timestamp":"2026-11-20T12:00:00Z"}}"#);
        asked_by(&Delivery::parse(body.as_bytes(), FixedOffset::east_opt(0).unwrap()).unwrap())
    }

    fn parts(event: &str) -> Vec<Part> {
        match asked(event, r#"{"order_number":"MP-1","shipment_id":"S","status":"paid"}"#) {
            Asks::Read(Entity::Order(number), want) if number.as_str() == "MP-1" => {
                assert_eq!(want.urgency, Urgency::Hinted);
                want.parts.into_iter().collect()
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
                    assert_eq!(parts(name), [Part::Invoices, Part::Events]);
                }
                EventGroup::Orders => assert_eq!(parts(name), [Part::Order]),
                EventGroup::Logistics => assert_eq!(parts(name), [Part::Shipments, Part::Tracking]),
                EventGroup::Stock => {
                    let Asks::Read(entity, _) = asked(name, r#"{"product_sku_id":7}"#) else {
                        panic!("{name}")
                    };
                    assert_eq!(entity, Entity::Product(ProductId::new("7")));
                }
                EventGroup::Test => assert_eq!(asked(name, "{}"), Asks::Nothing),
                _ => assert_eq!(asked(name, "{}"), Asks::Fact),
            }
        }
    }

    #[test]
    fn an_unknown_event_is_about_the_order_that_it_names_or_about_nothing() {
        assert_eq!(parts("order.exploded"), [Part::Order]);
        assert_eq!(asked("store.exploded", r#"{"what":1}"#), Asks::Unknown);
    }

    #[test]
    fn a_known_event_without_its_identifier_asks_for_nothing_that_could_be_read() {
        for event in ["order.paid", "shipment.created", "stock.depleted"] {
            assert_eq!(asked(event, r#"{"store_id":1}"#), Asks::Aimless, "{event}");
        }
    }

    #[test]
    fn the_state_that_an_orders_event_tells_is_expected_with_its_time() {
        let Asks::Read(_, want) =
            asked("order.status_changed", r#"{"order_number":"1","new_status":"paid"}"#)
        else {
            panic!("it asks for nothing")
        };
        let expected = want.expected.unwrap();
        assert_eq!((expected.status.as_str(), expected.at.is_some()), ("paid", true));
        let Asks::Read(_, want) = asked("shipment.created", r#"{"order_number":"1"}"#) else {
            panic!("nothing")
        };
        assert_eq!(want.expected, None);
    }
}
