//! Shipments and their labels.

use espelho_model::{
    OrderNumber,
    shipment::{Shipment, ShipmentLabel},
    sync::Counts,
};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{Error, mirror::MirrorWriter};

pub(crate) static SHIPMENTS: Table = Table::new(
    "shipments",
    "shipment",
    Scope::Beside("order_number"),
    "id",
    &[
        "type",
        "status",
        "tracking_code",
        "carrier_id",
        "carrier_name",
        "is_pickup",
        "label_generation_blocked",
        "allows_manual_confirmation",
        "labels_ready",
        "labels_total",
    ],
);
pub(crate) static LABELS: Table = Table::new(
    "shipment_labels",
    "shipment_label",
    Scope::Beside("order_number"),
    "id",
    &["shipment_id", "format", "status", "is_ready", "completed_at", "source"],
)
.voiding(&["file"]);

impl MirrorWriter<'_, '_> {
    /// Mirrors all shipments of an order with their labels (API document, "Shipment"). An unchanged label keeps its
    /// file; a changed one loses it until the next download; a vanished one is gone, and its file is void.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_shipments(
        &mut self,
        order: &OrderNumber,
        shipments: Vec<Shipment>,
    ) -> Result<Counts, Error> {
        let mut labels = Vec::new();
        let mut records = Vec::with_capacity(shipments.len());
        for mut shipment in shipments {
            let of = std::mem::take(&mut shipment.labels);
            labels.extend(of.into_iter().map(|label| label_record(shipment.id.as_str(), label)));
            records.push(shipment_record(shipment));
        }
        let mut counts = self.page.tables().write_whole(&SHIPMENTS, Some(order.as_str()), records).await?;
        let of_labels = self.page.tables().write_whole(&LABELS, Some(order.as_str()), labels).await?;
        if of_labels.changed + of_labels.gone > 0 {
            self.page.label_files().void_label_files(order).await?;
        }
        counts.add(of_labels);
        Ok(counts)
    }
}

fn shipment_record(shipment: Shipment) -> Record {
    let values = [
        shipment.shipment_type.into(),
        shipment.status.into(),
        shipment.tracking_code.into(),
        shipment.carrier_id.into(),
        shipment.carrier_name.into(),
        shipment.is_pickup.into(),
        shipment.label_generation_blocked.into(),
        shipment.allows_manual_confirmation.into(),
        shipment.labels_ready.into(),
        shipment.labels_total.into(),
    ];
    Record::new(shipment.id.into_string(), values, shipment.raw)
}

fn label_record(shipment: &str, label: ShipmentLabel) -> Record {
    let values = [
        shipment.into(),
        label.format.map(|format| format.as_str().to_owned()).into(),
        label.status.into(),
        label.is_ready.into(),
        label.completed_at.into(),
        label.source.into(),
    ];
    Record::new(label.id.into_string(), values, label.raw)
}
