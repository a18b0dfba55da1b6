//! Data that exists only in deliveries (API document, "Events"). The document shows no route that reads occurrences (it
//! mentions one without its path), conversations or the result of a listing's review, so these payloads are stored. The
//! module also reads the status in an order's event, which shows when the marketplace has caught up.

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use espelho_model::{
    ConversationId, ItemId, MessageId, OccurrenceId,
    conversation::{CLOSED, Conversation, ConversationMessage, OPEN},
    listing::Listing,
    occurrence::Occurrence,
};

use super::{Delivery, EventGroup, EventName};
use crate::wire::{
    fields::{FieldReader, object},
    shape,
};

/// Event-only data of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub enum EventOnlyData {
    /// An occurrence was opened or ended.
    Occurrence(Occurrence),
    /// A conversation was opened or closed.
    Conversation(Conversation),
    /// A message was added to a conversation.
    Message(ConversationMessage),
    /// A review approved or rejected a listing, with the time of the event.
    Review(Box<Listing>, DateTime<Utc>),
}

shape! { OccurrenceWire { title, severity, status, trigger_key } }
shape! {
    ConversationWire {
        #[serde(rename = "type")]
        kind,
        reason, message_id, sender_type, body,
    }
}
shape! { ReviewWire { title, reason } }
shape! { StatusWire { status, new_status, order_status } }

/// A timestamp that is further ahead of its receipt is wrong: no two clocks differ by more.
const MOST_AHEAD: TimeDelta = TimeDelta::hours(24);

impl Delivery {
    /// Returns the event-only data of the delivery, if its event carries any and its payload has the required ids. A
    /// delivery without a timestamp, or with one of a far future, gets the time of its receipt: the newer word counts,
    /// and nothing would ever be newer than the year 9999.
    pub fn event_only_data(&self, received_at: DateTime<Utc>) -> Option<EventOnlyData> {
        let at = self.timestamp.filter(|at| *at - received_at <= MOST_AHEAD).unwrap_or(received_at);
        match self.event.group()? {
            EventGroup::Occurrences => self.occurrence(at).map(EventOnlyData::Occurrence),
            EventGroup::Messages if self.event == EventName::ConversationMessage => {
                self.message(at).map(EventOnlyData::Message)
            }
            EventGroup::Messages => self.conversation(at).map(EventOnlyData::Conversation),
            EventGroup::Catalogue => {
                self.review().map(|listing| EventOnlyData::Review(Box::new(listing), at))
            }
            _ => None,
        }
    }

    /// Returns the status that the order had when the delivery was built, if the event contains it.
    pub fn order_status(&self) -> Option<String> {
        let wire: StatusWire<'_> = object(self.data.as_str()).ok()?;
        let mut read = reader();
        match self.event {
            EventName::OrderCreated | EventName::OrderPaid | EventName::OrderRefunded => {
                read.text("status", wire.status)
            }
            EventName::OrderStatusChanged => read.text("new_status", wire.new_status),
            EventName::OrderItemStockStatusChanged => read.text("order_status", wire.order_status),
            EventName::OrderCancelled => Some("cancelled".to_owned()),
            _ => None,
        }
    }

    fn occurrence(&self, updated_at: DateTime<Utc>) -> Option<Occurrence> {
        let wire: OccurrenceWire<'_> = object(self.data.as_str()).ok()?;
        let mut read = reader();
        Some(Occurrence {
            id: OccurrenceId::new(self.occurrence_id()?),
            title: read.text("title", wire.title),
            severity: read.labelled("severity", wire.severity).0,
            status: read.labelled("status", wire.status).0,
            trigger_key: read.text("trigger_key", wire.trigger_key),
            updated_at,
            raw: self.data.clone(),
        })
    }

    fn conversation(&self, at: DateTime<Utc>) -> Option<Conversation> {
        let wire: ConversationWire<'_> = object(self.data.as_str()).ok()?;
        let mut read = reader();
        let is_closed = self.event == EventName::ConversationClosed;
        Some(Conversation {
            id: ConversationId::new(self.conversation_id()?),
            order_number: self.order_number(),
            conversation_type: read.labelled("type", wire.kind).0,
            status: Some(if is_closed { CLOSED } else { OPEN }.to_owned()),
            reason: read.text("reason", wire.reason),
            opened_at: (!is_closed).then_some(at),
            closed_at: is_closed.then_some(at),
            updated_at: at,
            raw: self.data.clone(),
        })
    }

    fn message(&self, at: DateTime<Utc>) -> Option<ConversationMessage> {
        let wire: ConversationWire<'_> = object(self.data.as_str()).ok()?;
        let mut read = reader();
        Some(ConversationMessage {
            id: MessageId::new(read.id("message_id", wire.message_id)?),
            conversation_id: ConversationId::new(self.conversation_id()?),
            sender_type: read.labelled("sender_type", wire.sender_type).0,
            body: read.text("body", wire.body),
            created_at: Some(at),
            raw: self.data.clone(),
        })
    }

    /// Reads a review. An approved listing is on sale and a rejected one is a draft again (API document, "Listing
    /// status").
    fn review(&self) -> Option<Listing> {
        let wire: ReviewWire<'_> = object(self.data.as_str()).ok()?;
        let mut read = reader();
        let status = if self.event == EventName::PublicationApproved { "active" } else { "draft" };
        Some(Listing {
            item_id: ItemId::new(self.item_id()?),
            title: read.text("title", wire.title),
            listing_type: None,
            type_label: None,
            status: Some(status.to_owned()),
            status_label: None,
            gtin_type: None,
            gtin: None,
            department: None,
            category: None,
            score: None,
            rejection_reason: read.text("reason", wire.reason),
            slug: None,
            short_description: None,
            price_range: None,
            store: None,
            raw: self.data.clone(),
        })
    }
}

/// Returns a reader. These payloads have no times, so the offset does not matter.
pub(super) fn reader() -> FieldReader {
    FieldReader::new(FixedOffset::east_opt(0).unwrap_or_else(|| unreachable!("zero is an offset")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(event: &str, data: &str) -> Delivery {
        let body = format!(
            r#"{{"event":"{event}","data":{data},"timestamp":"2026-11-20T12:00:00Z","webhook_id":"w"}}"#
        );
        Delivery::parse(body.as_bytes(), FixedOffset::east_opt(0).unwrap()).unwrap()
    }

    fn event_only_data(event: &str, data: &str) -> Option<EventOnlyData> {
        delivery(event, data).event_only_data(received_at())
    }

    fn received_at() -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_176_005, 0).unwrap()
    }

    #[test]
    fn a_time_of_a_far_future_counts_as_the_time_of_receipt() {
        let data = r#"{"occurrence_id":5,"title":"Atraso","status":"open"}"#;
        let told = |hours: i64| {
            let built_at = received_at() + TimeDelta::hours(hours);
            let mut delivery = delivery("occurrence.created", data);
            delivery.timestamp = Some(built_at);
            match delivery.event_only_data(received_at()) {
                Some(EventOnlyData::Occurrence(told)) => told.updated_at - received_at(),
                other => panic!("{other:?}"),
            }
        };
        let years = 24 * 366 * 7_000;
        for (ahead, expected) in [(-48, -48), (0, 0), (24, 24), (25, 0), (years, 0)] {
            assert_eq!(told(ahead), TimeDelta::hours(expected), "{ahead} hours ahead");
        }
    }

    #[test]
    fn an_occurrence_is_what_its_deliveries_tell() {
        let data = r#"{"store_id":1,"occurrence_id":5,"title":"Atraso","severity":"high","status":"open","trigger_key":"late"}"#;
        let Some(EventOnlyData::Occurrence(told)) = event_only_data("occurrence.created", data) else {
            panic!("no occurrence")
        };
        assert_eq!((told.id.as_str(), told.title.as_deref()), ("5", Some("Atraso")));
        assert_eq!((told.severity.as_deref(), told.status.as_deref()), (Some("high"), Some("open")));
        assert_eq!(told.updated_at.to_rfc3339(), "2026-11-20T12:00:00+00:00");
        assert_eq!(told.raw.as_str(), data);
    }

    #[test]
    fn a_conversation_is_opened_written_into_and_closed() {
        let opened = event_only_data(
            "conversation.opened",
            r#"{"conversation_id":"C1","order_number":"MP-1","type":"order"}"#,
        );
        let Some(EventOnlyData::Conversation(opened)) = opened else { panic!("not opened") };
        assert_eq!(
            (opened.status.as_deref(), opened.conversation_type.as_deref()),
            (Some("open"), Some("order"))
        );
        assert!(opened.opened_at.is_some() && opened.closed_at.is_none());
        let said = event_only_data(
            "conversation.message",
            r#"{"conversation_id":"C1","message_id":9,"sender_type":"customer","body":"oi"}"#,
        );
        let Some(EventOnlyData::Message(said)) = said else { panic!("nothing said") };
        assert_eq!((said.id.as_str(), said.conversation_id.as_str()), ("9", "C1"));
        assert_eq!((said.sender_type.as_deref(), said.body.as_deref()), (Some("customer"), Some("oi")));
        let closed =
            event_only_data("conversation.closed", r#"{"conversation_id":"C1","reason":"resolved"}"#);
        let Some(EventOnlyData::Conversation(closed)) = closed else { panic!("not closed") };
        assert_eq!((closed.status.as_deref(), closed.reason.as_deref()), (Some("closed"), Some("resolved")));
        assert!(closed.opened_at.is_none() && closed.closed_at.is_some());
    }

    #[test]
    fn a_review_says_what_became_of_the_listing() {
        let Some(EventOnlyData::Review(listing, _)) =
            event_only_data("publication.rejected", r#"{"item_id":"MPB-0000000000001","reason":"foto"}"#)
        else {
            panic!("no review")
        };
        assert_eq!(
            (listing.status.as_deref(), listing.rejection_reason.as_deref()),
            (Some("draft"), Some("foto"))
        );
        let Some(EventOnlyData::Review(listing, at)) =
            event_only_data("publication.approved", r#"{"item_id":"MPB-0000000000001","title":"Caneca"}"#)
        else {
            panic!("no review")
        };
        assert_eq!((listing.status.as_deref(), listing.title.as_deref()), (Some("active"), Some("Caneca")));
        assert_eq!(at.timestamp(), 1_795_176_000);
    }

    #[test]
    fn what_names_nothing_or_can_be_read_by_a_route_is_no_fact() {
        for (event, data) in [
            ("occurrence.created", r#"{"title":"x"}"#),
            ("conversation.message", r#"{"conversation_id":"C1","body":"x"}"#),
            ("publication.approved", "{}"),
            ("order.paid", r#"{"order_number":"1","status":"paid"}"#),
            ("webhook.test", "{}"),
            ("order.exploded", r#"{"occurrence_id":1}"#),
        ] {
            assert_eq!(event_only_data(event, data), None, "{event}");
        }
    }

    #[test]
    fn an_orders_event_tells_the_status_that_the_order_had() {
        let check = |event: &str, data: &str, expected: Option<&str>| {
            assert_eq!(delivery(event, data).order_status().as_deref(), expected, "{event}");
        };
        check("order.created", r#"{"status":"waiting_payment"}"#, Some("waiting_payment"));
        check("order.status_changed", r#"{"old_status":"paid","new_status":"preparing"}"#, Some("preparing"));
        check("order.cancelled", r#"{"previous_status":"paid"}"#, Some("cancelled"));
        check("order.item_stock_status_changed", r#"{"order_status":"paid"}"#, Some("paid"));
        check("order.invoiced", r#"{"status":"x"}"#, None);
        check("shipment.out_for_delivery", r#"{"status":"in_transit"}"#, None);
        check("order.paid", "[]", None);
    }
}
