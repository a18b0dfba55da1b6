//! The consolidated tracking of an order (API document, "Orders").

use chrono::FixedOffset;
use espelho_model::{
    OrderNumber, RawJson,
    tracking::{OrderTracking, ShipmentTracking, TrackingStep},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ApiRequest, Error,
    resources::{Read, handles::OrdersApi},
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader, object},
        within::object_with,
    },
};

/// Builds the request for an order's tracking.
pub fn request(number: &OrderNumber) -> ApiRequest {
    ApiRequest::get("/api/v1/sellers/orders/{id}/tracking", &[number.as_str()])
}

impl OrdersApi<'_> {
    /// Reads the tracking of an order's shipments.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn tracking(self, number: &OrderNumber) -> Result<Read<OrderTracking>, Error> {
        self.requests
            .read_object(&request(number), |payload| parse(payload, self.requests.naive_offset()))
            .await
    }
}

/// The answer. The order's own `tracking_code`, `tracking_url` and `estimated_delivery_at` are always null, and not
/// read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TrackingWire<'a> {
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    delivered_at: Field<'a>,
    #[serde(borrow)]
    picked_up_at: Field<'a>,
    #[serde(borrow)]
    shipments: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ShipmentWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    shipment_id: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    tracking_code: Field<'a>,
    #[serde(borrow)]
    tracking_url: Field<'a>,
    #[serde(borrow)]
    estimated_delivery_at: Field<'a>,
    #[serde(borrow)]
    steps: Field<'a>,
    #[serde(borrow)]
    events: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StepWire<'a> {
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    key: Field<'a>,
    #[serde(borrow)]
    description: Field<'a>,
    #[serde(borrow)]
    label: Field<'a>,
    #[serde(borrow)]
    at: Field<'a>,
    #[serde(borrow)]
    occurred_at: Field<'a>,
    #[serde(borrow)]
    date: Field<'a>,
    #[serde(borrow)]
    created_at: Field<'a>,
}

/// An answer without any of these is not understood.
const MEMBERS: [&str; 7] = [
    "status",
    "delivered_at",
    "picked_up_at",
    "shipments",
    "tracking_code",
    "tracking_url",
    "estimated_delivery_at",
];

pub(crate) fn parse(payload: &str, naive: FixedOffset) -> Result<Read<OrderTracking>, BodyError> {
    let payload = object_with(payload, &MEMBERS, "tracking")?;
    let wire: TrackingWire<'_> = object(payload)?;
    let mut read = FieldReader::new(naive);
    let rows = read.list("shipments", wire.shipments);
    let value = OrderTracking {
        shipments: rows.into_iter().filter_map(|row| read_shipment(&mut read, row)).collect(),
        status: read.text("status", wire.status),
        delivered_at: read.time("delivered_at", wire.delivered_at),
        picked_up_at: read.time("picked_up_at", wire.picked_up_at),
        raw: RawJson::new(payload),
    };
    Ok(Read { value, unreadable: read.into_unreadable() })
}

fn read_shipment(read: &mut FieldReader, row: &RawValue) -> Option<ShipmentTracking> {
    let wire: ShipmentWire<'_> = read.nested("shipments[]", Some(row))?;
    let steps = read.list("shipments[].steps", wire.steps.or(wire.events));
    Some(ShipmentTracking {
        steps: steps.into_iter().filter_map(|step| read_step(read, step)).collect(),
        id: read.text("shipments[].id", wire.id.or(wire.shipment_id)),
        status: read.text("shipments[].status", wire.status),
        tracking_code: read.text("shipments[].tracking_code", wire.tracking_code),
        tracking_url: read.text("shipments[].tracking_url", wire.tracking_url),
        estimated_delivery_at: read.time("shipments[].estimated_delivery_at", wire.estimated_delivery_at),
        raw: RawJson::new(row.get()),
    })
}

fn read_step(read: &mut FieldReader, row: &RawValue) -> Option<TrackingStep> {
    let wire: StepWire<'_> = read.nested("shipments[].steps[]", Some(row))?;
    let at = wire.at.or(wire.occurred_at).or(wire.date).or(wire.created_at);
    Some(TrackingStep {
        status: read.text("shipments[].steps[].status", wire.status.or(wire.key)),
        description: read.text("shipments[].steps[].description", wire.description.or(wire.label)),
        at: read.time("shipments[].steps[].at", at),
        raw: RawJson::new(row.get()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Read<OrderTracking> {
        parse(payload, FixedOffset::east_opt(0).unwrap()).unwrap_or_else(|e| panic!("{payload}: {e:?}"))
    }

    #[test]
    fn the_request_of_tracking_names_the_order() {
        let request = request(&OrderNumber::new("MP-1"));
        assert_eq!(request.describe(), "GET /api/v1/sellers/orders/MP-1/tracking");
    }

    // proves: ORD-059, ORD-060, ORD-061
    #[test]
    fn each_shipment_has_its_code_its_estimate_and_its_steps() {
        let tracking = read(
            r#"{"status":"shipped","delivered_at":null,"picked_up_at":"2026-11-22T09:00:00Z","tracking_code":null,"tracking_url":null,"estimated_delivery_at":null,"shipments":[{"id":"01S","tracking_code":"BR1","tracking_url":"https://t.example/BR1","estimated_delivery_at":"2026-11-25","steps":[{"status":"in_transit","label":"Em trânsito","at":"2026-11-21T10:00:00Z"}]},{"id":"02S","tracking_code":null,"steps":[]}]}"#,
        );
        assert_eq!(tracking.unreadable, Vec::<&str>::new());
        let tracking = tracking.value;
        assert_eq!((tracking.status.as_deref(), tracking.delivered_at), (Some("shipped"), None));
        assert!(tracking.picked_up_at.is_some());
        let first = &tracking.shipments[0];
        assert_eq!(first.tracking_code.as_deref(), Some("BR1"));
        assert_eq!(first.tracking_url.as_deref(), Some("https://t.example/BR1"));
        assert_eq!(first.estimated_delivery_at.unwrap().to_rfc3339(), "2026-11-25T00:00:00+00:00");
        assert_eq!(first.steps[0].description.as_deref(), Some("Em trânsito"));
        assert_eq!(tracking.shipments[1].tracking_code, None);
    }

    // proves: ORD-107
    #[test]
    fn an_order_that_is_not_on_its_way_has_no_shipments_and_no_error() {
        let tracking = read(r#"{"status":"paid","shipments":null}"#);
        assert_eq!((tracking.value.shipments, tracking.unreadable), (Vec::new(), Vec::new()));
    }
}
