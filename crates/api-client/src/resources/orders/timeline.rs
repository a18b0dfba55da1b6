//! The timeline of an order: changes of status, notes, fiscal actions (API document, "Orders").

use chrono::FixedOffset;
use espelho_model::{ContentHash, OrderNumber, RawJson, timeline::OrderEvent};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ApiRequest, Error,
    resources::{Read, handles::OrdersApi},
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader},
        within::{Keys, rows},
    },
};

/// Builds the request for an order's timeline.
pub fn request(number: &OrderNumber) -> ApiRequest {
    ApiRequest::get("/api/v1/sellers/orders/{id}/events", &[number.as_str()])
}

impl OrdersApi<'_> {
    /// Reads the timeline of an order, in the server's order.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn events(self, number: &OrderNumber) -> Result<Read<Vec<OrderEvent>>, Error> {
        self.requests
            .read_object(&request(number), |payload| parse(payload, self.requests.naive_offset()))
            .await
    }
}

/// An event. The document names its author and `metadata`; the other names are likely ones.
#[derive(Default, Deserialize)]
#[serde(default)]
struct EventWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    uid: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    event_type: Field<'a>,
    #[serde(borrow)]
    event: Field<'a>,
    #[serde(borrow)]
    description: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    title: Field<'a>,
    #[serde(borrow)]
    old_status: Field<'a>,
    #[serde(borrow)]
    from_status: Field<'a>,
    #[serde(borrow)]
    new_status: Field<'a>,
    #[serde(borrow)]
    to_status: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    author_type: Field<'a>,
    #[serde(borrow)]
    author_name: Field<'a>,
    #[serde(borrow)]
    metadata: Field<'a>,
    #[serde(borrow)]
    created_at: Field<'a>,
    #[serde(borrow)]
    occurred_at: Field<'a>,
}

/// Status fields that an event's metadata may contain.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MetadataWire<'a> {
    #[serde(borrow)]
    old_status: Field<'a>,
    #[serde(borrow)]
    from: Field<'a>,
    #[serde(borrow)]
    new_status: Field<'a>,
    #[serde(borrow)]
    to: Field<'a>,
    #[serde(borrow)]
    from_status: Field<'a>,
    #[serde(borrow)]
    previous_status: Field<'a>,
    #[serde(borrow)]
    to_status: Field<'a>,
}

pub(crate) fn parse(payload: &str, naive: FixedOffset) -> Result<Read<Vec<OrderEvent>>, BodyError> {
    let (mut read, mut keys) = (FieldReader::new(naive), Keys::default());
    let rows = rows(payload, &["events", "timeline"])?;
    let value = rows.into_iter().filter_map(|row| read_event(&mut read, &mut keys, row)).collect();
    Ok(Read { value, unreadable: read.into_unreadable() })
}

fn read_event(read: &mut FieldReader, keys: &mut Keys, row: &RawValue) -> Option<OrderEvent> {
    let wire: EventWire<'_> = read.nested("events[]", Some(row))?;
    // The document names an event's metadata but no status fields: they may be inside it.
    let told: MetadataWire<'_> =
        wire.metadata.and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default();
    let own = read.id("events[].id", wire.id.or(wire.uid));
    // The event's position changes when an event arrives before it; its text does not.
    let own = own.unwrap_or_else(|| format!("{:016x}", ContentHash::of(row.get().as_bytes()).as_i64()));
    Some(OrderEvent {
        id: keys.give(Some(own)),
        event_type: read.text("events[].type", wire.kind.or(wire.event_type).or(wire.event)),
        description: read.text("events[].description", wire.description.or(wire.message).or(wire.title)),
        old_status: read.text(
            "events[].old_status",
            wire.old_status
                .or(wire.from_status)
                .or(told.old_status)
                .or(told.from)
                .or(told.from_status)
                .or(told.previous_status),
        ),
        new_status: read.text(
            "events[].new_status",
            wire.new_status
                .or(wire.to_status)
                .or(wire.status)
                .or(told.new_status)
                .or(told.to)
                .or(told.to_status),
        ),
        author_type: read.text("events[].author_type", wire.author_type),
        author_name: read.text("events[].author_name", wire.author_name),
        metadata: wire.metadata.map(|metadata| RawJson::new(metadata.get())),
        created_at: read.time("events[].created_at", wire.created_at.or(wire.occurred_at)),
        raw: RawJson::new(row.get()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Read<Vec<OrderEvent>> {
        parse(payload, FixedOffset::east_opt(0).unwrap()).unwrap_or_else(|e| panic!("{payload}: {e:?}"))
    }

    #[test]
    fn the_request_of_a_timeline_names_the_order() {
        let request = request(&OrderNumber::new("MP-1"));
        assert_eq!(request.describe(), "GET /api/v1/sellers/orders/MP-1/events");
    }

    // proves: ORD-063, ENV-004
    #[test]
    fn an_event_has_its_author_metadata_and_time_in_every_place_of_the_list() {
        let event = r#"{"id":7,"type":"status_changed","description":"Pedido em preparo","old_status":"paid","new_status":"preparing","author_type":"seller","author_name":"Ana","metadata":{"ip":"1.2.3.4"},"created_at":"2026-11-20T10:00:00-03:00"}"#;
        for payload in [format!("[{event}]"), format!(r#"{{"events":[{event}]}}"#)] {
            let events = read(&payload);
            assert_eq!(events.unreadable, Vec::<&str>::new());
            let found = &events.value[0];
            assert_eq!(found.id, "7");
            assert_eq!(found.author_type.as_deref(), Some("seller"));
            assert_eq!(found.author_name.as_deref(), Some("Ana"));
            assert_eq!(found.metadata.as_ref().map(RawJson::as_str), Some(r#"{"ip":"1.2.3.4"}"#));
            assert_eq!(
                (found.old_status.as_deref(), found.new_status.as_deref()),
                (Some("paid"), Some("preparing"))
            );
            assert_eq!(found.created_at.unwrap().to_rfc3339(), "2026-11-20T13:00:00+00:00");
            assert_eq!(found.raw.as_str(), event);
        }
    }

    // proves: ORD-062
    #[test]
    fn changes_of_status_notes_and_fiscal_actions_are_read_in_the_servers_order() {
        let events = read(
            r#"{"data":[{"id":3,"type":"fiscal","message":"NF-e emitida","author_type":"system"},{"id":2,"type":"note","title":"ligar antes","author_type":"seller"},{"id":1,"type":"status_changed","from_status":"paid","to_status":"preparing","author_type":"admin","occurred_at":"2026-11-20 10:00:00"}]}"#,
        );
        assert_eq!(events.unreadable, Vec::<&str>::new());
        let kinds: Vec<_> = events.value.iter().map(|event| event.event_type.as_deref().unwrap()).collect();
        assert_eq!(kinds, ["fiscal", "note", "status_changed"]);
        assert_eq!(events.value[1].description.as_deref(), Some("ligar antes"));
        assert_eq!(events.value[2].new_status.as_deref(), Some("preparing"));
    }

    #[test]
    fn an_event_without_id_keeps_its_key_when_others_arrive_before_it() {
        let (old, new) = (r#"{"event":"note","author_type":"system"}"#, r#"{"event":"paid"}"#);
        let before = read(&format!("[{old}]")).value;
        let after = read(&format!("[{new},{old},{old}]")).value;
        assert_eq!(before[0].id, after[1].id);
        assert_eq!(after[2].id, format!("{}-2", after[1].id), "the same twice is two rows");
    }

    #[test]
    fn an_author_type_that_the_document_does_not_know_is_kept_and_a_broken_time_is_named() {
        let events = read(r#"[{"id":"1","author_type":"robot","created_at":"ontem"},3]"#);
        assert_eq!(events.value[0].author_type.as_deref(), Some("robot"));
        assert_eq!(events.unreadable, ["events[].created_at", "events[]"]);
        assert_eq!(events.value.len(), 1);
    }
}
