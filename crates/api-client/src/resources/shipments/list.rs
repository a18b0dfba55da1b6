//! The shipments of an order (API document, "Shipment").

use chrono::FixedOffset;
use espelho_model::{
    OrderNumber, RawJson, ShipmentId,
    shipment::{LABEL_STATUSES, SHIPMENT_STATUSES, SHIPMENT_TYPES, Shipment},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::labels::read_label;
use crate::{
    ApiRequest, Error,
    resources::{Read, handles::ShipmentsApi},
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader},
        masked::masked,
        within::rows,
    },
};

/// Builds the request for an order's shipments.
pub fn request(number: &OrderNumber) -> ApiRequest {
    ApiRequest::get("/api/v1/sellers/orders/{id}/shipments", &[number.as_str()])
}

impl ShipmentsApi<'_> {
    /// Reads the shipments of an order, from any carrier. An order without shipments is a 404.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn of_order(self, number: &OrderNumber) -> Result<Read<Vec<Shipment>>, Error> {
        let read = self
            .requests
            .read_object(&request(number), |payload| parse(payload, self.requests.naive_offset()))
            .await?;
        let metrics = self.requests.metrics();
        for shipment in &read.value {
            metrics.value("shipment.status", shipment.status.as_deref(), &SHIPMENT_STATUSES);
            metrics.value("shipment.type", shipment.shipment_type.as_deref(), &SHIPMENT_TYPES);
            for label in &shipment.labels {
                metrics.value("label.status", label.status.as_deref(), &LABEL_STATUSES);
            }
        }
        Ok(read)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ShipmentWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    tracking_code: Field<'a>,
    #[serde(borrow)]
    carrier: Field<'a>,
    #[serde(borrow)]
    carrier_id: Field<'a>,
    #[serde(borrow)]
    carrier_name: Field<'a>,
    #[serde(borrow)]
    labels: Field<'a>,
    #[serde(borrow)]
    labels_ready: Field<'a>,
    #[serde(borrow)]
    labels_total: Field<'a>,
    #[serde(borrow)]
    is_pickup: Field<'a>,
    #[serde(borrow)]
    label_generation_blocked: Field<'a>,
    #[serde(borrow)]
    allows_manual_confirmation: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CarrierWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
}

pub(crate) fn parse(payload: &str, naive: FixedOffset) -> Result<Read<Vec<Shipment>>, BodyError> {
    let mut read = FieldReader::new(naive);
    let rows = rows(payload, &["shipments"])?;
    let value = rows.into_iter().filter_map(|row| read_shipment(&mut read, row)).collect();
    Ok(Read { value, unreadable: read.into_unreadable() })
}

fn read_shipment(read: &mut FieldReader, row: &RawValue) -> Option<Shipment> {
    let wire: ShipmentWire<'_> = read.nested("shipments[]", Some(row))?;
    let id = ShipmentId::new(read.id("shipments[].id", wire.id)?);
    let carrier: CarrierWire<'_> = read.nested("shipments[].carrier", wire.carrier).unwrap_or_default();
    let labels = read.list("shipments[].labels", wire.labels);
    Some(Shipment {
        id,
        shipment_type: read.text("shipments[].type", wire.kind),
        status: read.text("shipments[].status", wire.status),
        tracking_code: read.text("shipments[].tracking_code", wire.tracking_code),
        carrier_id: read.text("shipments[].carrier.id", carrier.id.or(wire.carrier_id)),
        carrier_name: read.text("shipments[].carrier.name", carrier.name.or(wire.carrier_name)),
        is_pickup: read.boolean("shipments[].is_pickup", wire.is_pickup),
        label_generation_blocked: read
            .boolean("shipments[].label_generation_blocked", wire.label_generation_blocked),
        allows_manual_confirmation: read
            .boolean("shipments[].allows_manual_confirmation", wire.allows_manual_confirmation),
        labels_ready: read.integer("shipments[].labels_ready", wire.labels_ready),
        labels_total: read.integer("shipments[].labels_total", wire.labels_total),
        labels: labels.into_iter().filter_map(|label| read_label(read, label)).collect(),
        raw: RawJson::new(&masked(row.get())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Read<Vec<Shipment>> {
        parse(payload, FixedOffset::east_opt(0).unwrap()).unwrap_or_else(|e| panic!("{payload}: {e:?}"))
    }

    // proves: ORD-045
    #[test]
    fn the_request_of_shipments_names_the_order() {
        let request = request(&OrderNumber::new("MP-1"));
        assert_eq!(request.describe(), "GET /api/v1/sellers/orders/MP-1/shipments");
    }

    const SHIPMENT: &str = r#"{"id":"01JSHIPMENT","type":"sales_order","status":"in_transit","tracking_code":"BR1","carrier":{"id":4,"name":"Correios"},"labels":[{"id":"01L","format":"a4","format_label":"A4","status":"completed","is_ready":true,"completed_at":"2026-11-20T12:00:00Z"},{"id":"02L","format":"zebra","status":"processing","is_ready":false}],"labels_ready":1,"labels_total":"2","is_pickup":false,"label_generation_blocked":0,"allows_manual_confirmation":true}"#;

    // proves: SHP-001, SHP-004, SHP-005, SHP-006, SHP-007, SHP-008, SHP-009, SHP-011, SHP-012, SHP-013, SHP-015
    #[test]
    fn shipments_are_read_with_carrier_labels_and_flags_in_every_shape() {
        for payload in
            [format!(r#"{{"shipments":[{SHIPMENT},{{"id":"02S"}}]}}"#), format!(r#"[{SHIPMENT},{{"id":2}}]"#)]
        {
            let shipments = read(&payload);
            assert_eq!(shipments.unreadable, Vec::<&str>::new());
            let [first, second] = &shipments.value[..] else { panic!("{:?}", shipments.value) };
            assert_eq!((first.id.as_str(), first.status.as_deref()), ("01JSHIPMENT", Some("in_transit")));
            assert_eq!(first.shipment_type.as_deref(), Some("sales_order"));
            assert_eq!(first.tracking_code.as_deref(), Some("BR1"));
            assert_eq!(
                (first.carrier_id.as_deref(), first.carrier_name.as_deref()),
                (Some("4"), Some("Correios"))
            );
            assert_eq!((first.labels_ready, first.labels_total), (Some(1), Some(2)));
            let flags = [first.is_pickup, first.label_generation_blocked, first.allows_manual_confirmation];
            assert_eq!(flags, [Some(false), Some(false), Some(true)]);
            assert_eq!(
                first.labels.iter().map(|label| label.id.as_str()).collect::<Vec<_>>(),
                ["01L", "02L"]
            );
            assert_eq!(first.raw.as_str(), SHIPMENT);
            assert_eq!((&second.labels[..], second.tracking_code.as_deref()), (&[][..], None));
        }
    }

    // proves: SHP-010
    #[test]
    fn a_pickup_shipment_has_neither_carrier_nor_tracking() {
        let pickup = r#"[{"id":"01S","type":"pickup","status":"pending","carrier":null,"tracking_code":null,"is_pickup":true}]"#;
        let pickup = &read(pickup).value[0];
        assert_eq!(
            (pickup.is_pickup, &pickup.carrier_name, &pickup.tracking_code),
            (Some(true), &None, &None)
        );
        assert!(pickup.unknown_values().is_empty());
    }

    #[test]
    fn a_shipment_without_id_is_left_out_and_named_and_an_answer_without_a_list_is_no_answer() {
        let shipments = read(r#"[{"id":"","status":"pending"},{"id":"01S","carrier":"Correios"}]"#);
        assert_eq!(shipments.value.len(), 1);
        assert_eq!(shipments.unreadable, ["shipments[].id", "shipments[].carrier"]);
        assert!(parse(r#"{"order_number":"MP-1"}"#, FixedOffset::east_opt(0).unwrap()).is_err());
    }
}
