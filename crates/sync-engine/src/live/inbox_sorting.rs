//! Sorts deliveries by what they require. Pure.

use espelho_api_client::webhook::{Delivery, EventOnlyData, InvalidDelivery};
use espelho_model::{
    text,
    text::{Locale, Text},
};
use espelho_store::{Failure, StoredDelivery};

use super::observer::Handled;
use crate::{
    plan::event_routing::{Routing, route},
    plan::refresh_request::{Entity, RefreshRequest},
    report::{failure, with_causes},
};

/// Deliveries, sorted by what they require.
#[derive(Default)]
pub(super) struct Sorted {
    /// The language of the texts on failures.
    pub(super) locale: Locale,
    /// Entities to read again. Their deliveries are handled when they are written, so they are not among `handled`.
    pub(super) reads: Vec<(Entity, RefreshRequest)>,
    /// Data to write, each item with the key of its delivery ([`key_of`]).
    pub(super) event_only_data: Vec<(String, EventOnlyData)>,
    /// Deliveries that cannot be used, as rows of `sync_failures`.
    pub(super) malformed: Vec<Failure>,
    /// Deliveries that are handled once event-only data and failures are written.
    pub(super) handled: Vec<(i64, Handled)>,
}

impl Sorted {
    /// Adds a delivery, or the reason why its body is none; `own` is the store's identifier at the marketplace
    /// (`data.store_id`), if it is known.
    pub(super) fn add(
        &mut self,
        stored: &StoredDelivery,
        delivery: Result<Delivery, InvalidDelivery>,
        own: Option<&str>,
    ) {
        match delivery {
            Ok(delivery) => self.add_valid(stored, &delivery, own),
            Err(error) => {
                let text = text!("run-unreadable-delivery", problem = with_causes(&error));
                self.note(stored, Handled::Malformed, "unreadable", text);
            }
        }
    }

    fn add_valid(&mut self, stored: &StoredDelivery, delivery: &Delivery, own: Option<&str>) {
        if let (Some(named), Some(own)) = (delivery.store_id.as_deref(), own)
            && named != own
        {
            let text = text!("run-foreign-store", told = named, own = own);
            return self.note(stored, Handled::Foreign, "foreign_store", text);
        }
        match route(delivery) {
            Routing::Read(entity, request) => {
                let reported_at = delivery.timestamp.or(Some(stored.received_at));
                self.reads.push((entity, RefreshRequest { ids: vec![stored.id], reported_at, ..*request }));
            }
            Routing::EventOnlyData => match delivery.event_only_data(stored.received_at) {
                Some(data) => {
                    self.event_only_data.push((key_of(stored), data));
                    self.handled.push((stored.id, Handled::EventOnlyData));
                }
                None => self.note(stored, Handled::Malformed, "aimless", unaddressed(delivery)),
            },
            Routing::Nothing => self.handled.push((stored.id, Handled::Test)),
            Routing::Unknown => self.handled.push((stored.id, Handled::Unknown)),
            Routing::Unaddressed => self.note(stored, Handled::Malformed, "aimless", unaddressed(delivery)),
        }
    }

    /// Adds a delivery that is set aside.
    pub(super) fn set_aside(&mut self, stored: &StoredDelivery, failure: Failure) {
        self.malformed.push(failure);
        self.handled.push((stored.id, Handled::Malformed));
    }

    fn note(&mut self, stored: &StoredDelivery, what: Handled, code: &str, text: Text) {
        self.malformed.push(failure(key_of(stored), code.into(), text, self.locale));
        self.handled.push((stored.id, what));
    }
}

/// Returns the key of a failure: equal bodies are one failure, however often they arrive.
pub(super) fn key_of(stored: &StoredDelivery) -> String {
    stored.digest.chars().take(32).collect()
}

fn unaddressed(delivery: &Delivery) -> Text {
    text!("run-aimless-delivery", event = delivery.event.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{DateTime, FixedOffset};

    /// Sorts one delivery of a store whose identifier is "7".
    fn sorted(body: &str) -> Sorted {
        let stored = StoredDelivery {
            id: 5,
            received_at: DateTime::UNIX_EPOCH,
            event: None,
            digest: "0123456789abcdef".repeat(4),
            body: body.as_bytes().to_vec(),
        };
        let mut sorted = Sorted::default();
        let parsed = Delivery::parse(&stored.body, FixedOffset::east_opt(0).unwrap());
        sorted.add(&stored, parsed, Some("7"));
        sorted
    }

    #[test]
    fn each_delivery_is_read_for_or_kept_or_noted() {
        for (body, handled, code) in [
            (r#"{"event":"webhook.test","data":{}}"#, Some(Handled::Test), None),
            (r#"{"event":"store.exploded","data":{}}"#, Some(Handled::Unknown), None),
            (r#"{"event":"order.paid","data":{}}"#, Some(Handled::Malformed), Some("aimless")),
            (
                r#"{"event":"order.paid","data":{"order_number":"1","store_id":8}}"#,
                Some(Handled::Foreign),
                Some("foreign_store"),
            ),
            ("no delivery", Some(Handled::Malformed), Some("unreadable")),
            (r#"{"event":"order.paid","data":{"order_number":"1","store_id":7}}"#, None, None),
        ] {
            let sorted = sorted(body);
            assert_eq!(sorted.handled.first().map(|(_, what)| *what), handled, "{body}");
            assert_eq!(sorted.malformed.first().map(|failure| failure.code.as_str()), code, "{body}");
            assert_eq!(sorted.reads.len(), usize::from(handled.is_none()), "{body}");
        }
    }

    #[test]
    fn a_delivery_that_asks_for_a_read_is_handled_by_the_read() {
        let sorted = sorted(
            r#"{"event":"order.paid","data":{"order_number":"1"},"timestamp":"2026-11-20T12:00:00Z"}"#,
        );
        let [(entity, request)] = &sorted.reads[..] else { panic!("it asks for one read") };
        assert_eq!(entity.row().1, "1");
        assert_eq!(request.ids, [5]);
        assert!(request.reported_at.is_some_and(|at| at > DateTime::UNIX_EPOCH), "it says when it happened");
        assert!(sorted.handled.is_empty());
    }

    #[test]
    fn a_delivery_without_a_time_counts_from_its_arrival() {
        let sorted = sorted(r#"{"event":"order.paid","data":{"order_number":"1"}}"#);
        assert_eq!(sorted.reads[0].1.reported_at, Some(DateTime::UNIX_EPOCH));
    }

    #[test]
    fn equal_bodies_are_one_failure() {
        let keys: Vec<_> =
            ["no delivery", "neither"].map(|body| sorted(body).malformed[0].key.clone()).into();
        assert_eq!(keys[0], keys[1], "the key is the beginning of the digest");
        assert_eq!(keys[0].len(), 32);
    }
}
