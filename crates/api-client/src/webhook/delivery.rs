//! The envelope of a delivery, and the resource that it names (API document, "Webhook delivery envelope").

use chrono::{DateTime, FixedOffset, Utc};
use espelho_model::{OrderNumber, RawJson, ShipmentId};
use serde::Deserialize;

use super::event::EventName;
use crate::wire::fields::{Field, FieldReader, object};

/// One delivery whose envelope was read. Of its payload it has the ids of the resources to read again. The modules
/// `event_only_data` and `product_value` read more of `data`: what no route supplies, and what shows whether the routes
/// have caught up.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// `event`.
    pub event: EventName,
    /// `data`, as received; `{}` if it is absent. It becomes state only where [`Delivery::event_only_data`] says so.
    pub data: RawJson,
    /// `timestamp`: when the delivery was built; `None` if it is absent or unreadable.
    pub timestamp: Option<DateTime<Utc>>,
    /// `webhook_id`: the webhook that sent it, not the delivery.
    pub webhook_id: Option<String>,
    /// `data.store_id`: the store concerned, which may be a sub-store. Absent from `webhook.test`.
    pub store_id: Option<String>,
    /// The paths of fields whose form is not understood, as `data.order_number`.
    pub unreadable: Vec<&'static str>,
    ids: Ids,
}

/// Why a body is not a delivery.
#[derive(Debug, thiserror::Error)]
pub enum InvalidDelivery {
    /// The body is not a JSON object.
    #[error("the delivery is no JSON object")]
    NotJson(#[source] serde_json::Error),
    /// The body names no event.
    #[error("the delivery names no event")]
    NoEvent,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Ids {
    order_number: Option<String>,
    shipment_id: Option<String>,
    product_sku_id: Option<String>,
    item_id: Option<String>,
    occurrence_id: Option<String>,
    conversation_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EnvelopeWire<'a> {
    #[serde(borrow)]
    event: Field<'a>,
    #[serde(borrow)]
    data: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    webhook_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DataWire<'a> {
    #[serde(borrow)]
    store_id: Field<'a>,
    #[serde(borrow)]
    order_number: Field<'a>,
    #[serde(borrow)]
    shipment_id: Field<'a>,
    #[serde(borrow)]
    product_sku_id: Field<'a>,
    #[serde(borrow)]
    item_id: Field<'a>,
    #[serde(borrow)]
    occurrence_id: Field<'a>,
    #[serde(borrow)]
    conversation_id: Field<'a>,
}

impl Delivery {
    /// Reads a body whose signature is verified. A timestamp without an offset is read in `naive`.
    ///
    /// # Errors
    /// When it is not a JSON object, or names no event.
    pub fn parse(raw_body: &[u8], naive: FixedOffset) -> Result<Self, InvalidDelivery> {
        let text = str::from_utf8(raw_body).map_err(|error| {
            InvalidDelivery::NotJson(serde::de::Error::custom(format_args!("not UTF-8: {error}")))
        })?;
        let wire: EnvelopeWire<'_> =
            object(text.trim_start_matches('\u{feff}')).map_err(InvalidDelivery::NotJson)?;
        let mut read = FieldReader::new(naive);
        let event = read.id("event", wire.event).ok_or(InvalidDelivery::NoEvent)?;
        let data: DataWire<'_> = read.nested("data", wire.data).unwrap_or_default();
        let ids = Ids {
            order_number: read.id("data.order_number", data.order_number),
            shipment_id: read.id("data.shipment_id", data.shipment_id),
            product_sku_id: read.id("data.product_sku_id", data.product_sku_id),
            item_id: read.id("data.item_id", data.item_id),
            occurrence_id: read.id("data.occurrence_id", data.occurrence_id),
            conversation_id: read.id("data.conversation_id", data.conversation_id),
        };
        Ok(Self {
            event: EventName::new(&event),
            data: RawJson::new(wire.data.map_or("{}", |data| data.get())),
            timestamp: read.time("timestamp", wire.timestamp),
            webhook_id: read.text("webhook_id", wire.webhook_id),
            store_id: read.text("data.store_id", data.store_id),
            ids,
            unreadable: read.into_unreadable(),
        })
    }

    /// Returns the order to read again, by the identifier of every order route.
    pub fn order_number(&self) -> Option<OrderNumber> {
        self.ids.order_number.as_deref().map(OrderNumber::new)
    }

    /// Returns the shipment to read again: the `id` in its order's list of shipments.
    pub fn shipment_id(&self) -> Option<ShipmentId> {
        self.ids.shipment_id.as_deref().map(ShipmentId::new)
    }

    /// Returns the id of the SKU whose stock or price to read again (API document, "Identifier use"). It is not the SKU
    /// itself. It is tried as a product's id, which the product route may refuse.
    pub fn product_sku_id(&self) -> Option<&str> {
        self.ids.product_sku_id.as_deref()
    }

    /// Returns the listing to read again.
    pub fn item_id(&self) -> Option<&str> {
        self.ids.item_id.as_deref()
    }

    /// Returns the occurrence that the delivery names.
    pub fn occurrence_id(&self) -> Option<&str> {
        self.ids.occurrence_id.as_deref()
    }

    /// Returns the conversation that the delivery names.
    pub fn conversation_id(&self) -> Option<&str> {
        self.ids.conversation_id.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::webhook::EventGroup;

    fn utc() -> FixedOffset {
        FixedOffset::east_opt(0).unwrap()
    }

    fn delivery(event: &str, data: &str) -> Delivery {
        let body = format!(
            r#"{{"event":"{event}","data":{data},"timestamp":"2026-11-20T12:00:00Z","webhook_id":"8a5b0c1e-0000-4000-8000-000000000001"}}"#
        );
        Delivery::parse(body.as_bytes(), utc()).unwrap_or_else(|e| panic!("{body}: {e}"))
    }

    /// Returns the resources that a delivery names: order, shipment, SKU, listing, occurrence, conversation.
    fn targets(delivery: &Delivery) -> [Option<String>; 6] {
        [
            delivery.order_number().map(OrderNumber::into_string),
            delivery.shipment_id().map(ShipmentId::into_string),
            delivery.product_sku_id().map(str::to_owned),
            delivery.item_id().map(str::to_owned),
            delivery.occurrence_id().map(str::to_owned),
            delivery.conversation_id().map(str::to_owned),
        ]
    }

    // proves: WHK-003, WHK-006, ENV-004
    #[test]
    fn the_envelope_is_read_with_the_store_it_is_about() {
        let delivery =
            delivery("order.paid", r#"{"store_id":12,"order_number":"MP-1","total_order":"19.90"}"#);
        assert_eq!(delivery.event, EventName::OrderPaid);
        assert_eq!(delivery.event.group(), Some(EventGroup::Orders));
        assert_eq!(delivery.store_id.as_deref(), Some("12"));
        assert_eq!(delivery.webhook_id.as_deref(), Some("8a5b0c1e-0000-4000-8000-000000000001"));
        assert_eq!(delivery.timestamp.unwrap().to_rfc3339(), "2026-11-20T12:00:00+00:00");
        assert!(delivery.data.as_str().contains("19.90"), "the payload is kept as it came");
        assert!(delivery.unreadable.is_empty());
    }

    // proves: EVT-038, EVT-039, EVT-040
    #[test]
    fn every_event_points_at_what_the_document_says_it_is_about() {
        let order = r#"{"store_id":1,"order_number":"MP-1","status":"paid","customer_id":9}"#;
        let shipment = r#"{"store_id":1,"order_number":"MP-1","shipment_id":"01S","tracking_code":null}"#;
        let occurrence =
            r#"{"store_id":1,"occurrence_id":5,"title":"Atraso","severity":"high","status":"open"}"#;
        let talk = r#"{"store_id":1,"conversation_id":"C1","order_number":"MP-1","type":"order"}"#;
        let message = r#"{"store_id":1,"conversation_id":"C1","message_id":"M1","body":"oi"}"#;
        let sku = r#"{"store_id":1,"product_sku_id":123,"new_quantity":3,"location_id":7}"#;
        let listing = r#"{"store_id":1,"item_id":"MPB-0000000000001","title":"Caneca"}"#;
        for event in EventName::ALL {
            let (data, expected) = match event.group().unwrap() {
                EventGroup::Orders => (order, [Some("MP-1"), None, None, None, None, None]),
                EventGroup::Logistics => (shipment, [Some("MP-1"), Some("01S"), None, None, None, None]),
                EventGroup::Occurrences => (occurrence, [None, None, None, None, Some("5"), None]),
                EventGroup::Messages if *event == EventName::ConversationOpened => {
                    (talk, [Some("MP-1"), None, None, None, None, Some("C1")])
                }
                EventGroup::Messages => (message, [None, None, None, None, None, Some("C1")]),
                EventGroup::Stock => (sku, [None, None, Some("123"), None, None, None]),
                EventGroup::Catalogue => (listing, [None, None, None, Some("MPB-0000000000001"), None, None]),
                EventGroup::Test => (r#"{"source":"integration.webhook-test"}"#, [None; 6]),
            };
            let delivery = delivery(event.as_str(), data);
            assert_eq!(delivery.event, *event);
            assert_eq!(targets(&delivery), expected.map(|id| id.map(str::to_owned)), "{event}");
            assert_eq!(delivery.store_id.is_none(), event.group() == Some(EventGroup::Test), "{event}");
        }
    }

    // proves: EVT-035
    #[test]
    fn a_test_delivery_has_no_store_and_points_at_nothing() {
        let test = r#"{"source":"integration.webhook-test","webhook_id":"8a5b","message":"Teste","sent_at":"2026-11-20T12:00:00Z"}"#;
        let test = delivery("webhook.test", test);
        assert_eq!((test.event.clone(), test.store_id.clone()), (EventName::WebhookTest, None));
        assert_eq!(targets(&test), [const { None }; 6]);
    }

    #[test]
    fn an_unknown_event_is_kept_with_whatever_it_points_at() {
        let odd = delivery("order.exploded", r#"{"order_number":123456789012345678901234567890}"#);
        assert_eq!(odd.event, EventName::Other("order.exploded".into()));
        assert_eq!(odd.order_number(), Some(OrderNumber::new("123456789012345678901234567890")));
    }

    #[test]
    fn an_odd_payload_is_named_and_points_at_nothing_but_is_a_delivery() {
        for data in ["null", "[]", "{}"] {
            assert!(delivery("order.paid", data).unreadable.is_empty(), "{data}");
        }
        assert_eq!(delivery("order.paid", "3").unreadable, ["data"]);
        let odd = delivery("order.paid", r#"{"order_number":{"x":1},"shipment_id":""}"#);
        assert_eq!(
            (targets(&odd), odd.unreadable),
            ([const { None }; 6], vec!["data.order_number", "data.shipment_id"])
        );
    }

    #[test]
    fn what_names_no_event_is_no_delivery() {
        let parse = |body: &[u8]| Delivery::parse(body, utc());
        for bad in [&b"{}"[..], br#"{"event":null}"#, br#"{"event":""}"#, br#"{"event":{}}"#] {
            assert!(matches!(parse(bad), Err(InvalidDelivery::NoEvent)));
        }
        for bad in [&b""[..], b"[]", b"{\"event\":\"x\"", b"\xff\xfe", b"event=order.paid"] {
            assert!(matches!(parse(bad), Err(InvalidDelivery::NotJson(_))), "{bad:?}");
        }
        assert!(parse(b"\xEF\xBB\xBF{\"event\":\"order.paid\"}").is_ok());
    }

    // withstands: F051
    #[test]
    fn what_is_made_to_hurt_is_refused_or_read_for_what_it_is_about() {
        let parse = |body: &[u8]| Delivery::parse(body, utc());
        let twice = br#"{"event":"order.paid","event":"order.cancelled","data":{"order_number":"1"}}"#;
        let text = [&br#"{"event":"order.paid","data":{"order_number":""#[..], b"\xc3\x28", b"\"}}"].concat();
        let deep = format!(r#"{{"event":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for bad in [&twice[..], &text, deep.as_bytes(), "[".repeat(200_000).as_bytes()] {
            assert!(parse(bad).is_err(), "{}", String::from_utf8_lossy(&bad[..bad.len().min(100)]));
        }
        let twice =
            parse(br#"{"event":"order.paid","data":{"order_number":"1","order_number":"2"}}"#).unwrap();
        assert_eq!((twice.order_number(), twice.unreadable), (None, vec!["data"]), "nobody knows which");
        let digits = "9".repeat(100_000);
        for huge in
            [digits.as_str(), "1e999999999", &format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))]
        {
            let body = format!(r#"{{"event":"order.paid","data":{{"order_number":"MP-1","total":{huge}}}}}"#);
            assert_eq!(parse(body.as_bytes()).unwrap().order_number(), Some(OrderNumber::new("MP-1")));
        }
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Delivery::parse(&body, utc());
        }
    }
}
