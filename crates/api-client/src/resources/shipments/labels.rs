//! The labels of shipments: generating and listing them (API document, "Shipments and labels").

use chrono::{FixedOffset, Offset as _, Utc};
use espelho_model::{
    LabelId, OrderNumber, RawJson, ShipmentId,
    shipment::{LabelFormat, ShipmentLabel},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ApiRequest, Error,
    resources::{Read, handles::ShipmentsApi},
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader, object},
        masked::masked,
        within::rows,
    },
};

/// Builds the request that regenerates the labels of an order. It discards the existing ones.
pub fn generate_request(number: &OrderNumber) -> ApiRequest {
    ApiRequest::post("/api/v1/sellers/orders/{id}/shipment-labels/generate", &[number.as_str()])
}

/// Builds the request for a shipment's labels.
pub fn labels_request(shipment: &ShipmentId) -> ApiRequest {
    ApiRequest::get("/api/seller/logistics/shipments/{id}/labels", &[shipment.as_str()])
}

/// The result of a label generation request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedLabels {
    /// `queued_shipments`: the shipments that are not blocked.
    pub shipments: Vec<ShipmentId>,
    /// `total`.
    pub total: Option<i64>,
}

/// The labels of one shipment.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    /// `shipment_id`.
    pub shipment_id: Option<ShipmentId>,
    /// The labels.
    pub labels: Vec<ShipmentLabel>,
    /// `formats_pending`: formats whose files are still being generated.
    pub formats_pending: Vec<LabelFormat>,
}

impl ShipmentsApi<'_> {
    /// Discards the labels of an order and generates new ones for every shipment that is not blocked.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn generate_labels(self, number: &OrderNumber) -> Result<Read<QueuedLabels>, Error> {
        self.requests.read_with(&generate_request(number), parse_queued).await
    }

    /// Reads the labels of a shipment.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn labels(self, shipment: &ShipmentId) -> Result<Read<Labels>, Error> {
        self.requests
            .read_object(&labels_request(shipment), |payload| {
                parse_labels(payload, self.requests.naive_offset())
            })
            .await
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LabelWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    format: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    is_ready: Field<'a>,
    #[serde(borrow)]
    completed_at: Field<'a>,
    #[serde(borrow)]
    source: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LabelsWire<'a> {
    #[serde(borrow)]
    shipment_id: Field<'a>,
    #[serde(borrow)]
    formats_pending: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct QueuedWire<'a> {
    #[serde(borrow)]
    queued_shipments: Field<'a>,
    #[serde(borrow)]
    total: Field<'a>,
}

pub(super) fn read_label(read: &mut FieldReader, row: &RawValue) -> Option<ShipmentLabel> {
    let wire: LabelWire<'_> = read.nested("labels[]", Some(row))?;
    let status = read.text("labels[].status", wire.status);
    let said = read.boolean("labels[].is_ready", wire.is_ready);
    Some(ShipmentLabel {
        id: LabelId::new(read.id("labels[].id", wire.id)?),
        format: read.text("labels[].format", wire.format).map(|format| LabelFormat::new(&format)),
        // The document equates the two fields, so a missing `is_ready` follows from the status.
        is_ready: said.or_else(|| status.as_deref().map(|status| status == "completed")),
        completed_at: read.time("labels[].completed_at", wire.completed_at),
        source: read.text("labels[].source", wire.source),
        status,
        raw: RawJson::new(&masked(row.get())),
    })
}

pub(crate) fn parse_labels(payload: &str, naive: FixedOffset) -> Result<Read<Labels>, BodyError> {
    let mut read = FieldReader::new(naive);
    let sent = rows(payload, &["labels"])?;
    let wire: LabelsWire<'_> = object(payload).unwrap_or_default();
    let pending = read.list("formats_pending", wire.formats_pending);
    let formats = pending.into_iter().filter_map(|format| read.text("formats_pending[]", Some(format)));
    let formats_pending = formats.map(|format| LabelFormat::new(&format)).collect();
    let value = Labels {
        shipment_id: read.id("shipment_id", wire.shipment_id).map(ShipmentId::new),
        labels: sent.into_iter().filter_map(|row| read_label(&mut read, row)).collect(),
        formats_pending,
    };
    Ok(Read { value, unreadable: read.into_unreadable() })
}

/// Reads the 202. It means that the work is queued, whatever else can be read.
fn parse_queued(payload: &str) -> Result<Read<QueuedLabels>, BodyError> {
    let mut read = FieldReader::new(Utc.fix());
    let wire: QueuedWire<'_> = object(payload).unwrap_or_default();
    let queued = read.list("queued_shipments", wire.queued_shipments);
    let ids = queued.into_iter().filter_map(|id| read.id("queued_shipments[]", Some(id)));
    let value = QueuedLabels {
        shipments: ids.map(ShipmentId::new).collect(),
        total: read.integer("total", wire.total),
    };
    Ok(Read { value, unreadable: read.into_unreadable() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Read<Labels> {
        parse_labels(payload, FixedOffset::east_opt(0).unwrap())
            .unwrap_or_else(|e| panic!("{payload}: {e:?}"))
    }

    // proves: SHP-023, SHP-028
    #[test]
    fn the_request_of_labels_names_the_order_to_make_them_and_the_shipment_to_see_them() {
        let generate = generate_request(&OrderNumber::new("MP-1"));
        assert_eq!(generate.describe(), "POST /api/v1/sellers/orders/MP-1/shipment-labels/generate");
        assert_eq!(generate.json_body(), None);
        let labels = labels_request(&ShipmentId::new("01S"));
        assert_eq!(labels.describe(), "GET /api/seller/logistics/shipments/01S/labels");
    }

    // proves: SHP-024
    #[test]
    fn what_is_queued_is_read_and_what_cannot_be_read_is_named() {
        let queued = parse_queued(r#"{"queued_shipments":["01S",2],"total":2}"#).unwrap();
        let ids: Vec<_> = queued.value.shipments.iter().map(ShipmentId::as_str).collect();
        assert_eq!((ids, queued.value.total, queued.unreadable), (vec!["01S", "2"], Some(2), Vec::new()));
        let odd = parse_queued(r#"{"queued_shipments":2,"total":"2"}"#).unwrap();
        assert_eq!((odd.value.shipments.len(), odd.unreadable), (0, vec!["queued_shipments"]));
        assert_eq!(parse_queued("[]").unwrap().value.total, None, "the labels are queued all the same");
    }

    // proves: SHP-015, SHP-017, SHP-018, SHP-019, SHP-029
    #[test]
    fn labels_say_which_formats_are_ready_and_which_are_still_made() {
        let ready = r#"{"id":77,"format":"a4","format_label":"A4","status":"completed","status_label":"Pronta","is_ready":true,"completed_at":"2026-11-20T12:00:00Z","source":"platform","source_label":"Plataforma"}"#;
        let labels = read(&format!(
            r#"{{"shipment_id":"01S","labels":[{ready},{{"id":"2","format":"zebra","status":"processing"}}],"formats_pending":["zebra","braille"]}}"#
        ));
        assert_eq!(labels.unreadable, Vec::<&str>::new());
        let labels = labels.value;
        assert_eq!(labels.shipment_id, Some(ShipmentId::new("01S")));
        assert_eq!(labels.formats_pending, [LabelFormat::Zebra, LabelFormat::Other("braille".into())]);
        let first = &labels.labels[0];
        assert_eq!(
            (first.id.as_str(), first.format.clone(), first.is_ready),
            ("77", Some(LabelFormat::A4), Some(true))
        );
        assert_eq!(first.completed_at.unwrap().to_rfc3339(), "2026-11-20T12:00:00+00:00");
        assert_eq!((first.source.as_deref(), first.raw.as_str()), (Some("platform"), ready));
        assert_eq!(labels.labels[1].is_ready, Some(false), "readiness is said by the status too");
    }

    #[test]
    fn a_bare_list_of_labels_is_read_too() {
        let labels = read(r#"[{"id":"1","format":"thermal","status":"completed"}]"#).value;
        assert_eq!((labels.labels[0].is_ready, labels.shipment_id), (Some(true), None));
    }
}
