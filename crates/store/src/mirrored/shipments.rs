//! Shipments, their labels, and where the labels' files are.

use espelho_model::{
    ContentHash, LabelId, OrderNumber, ShipmentId, StoreKey,
    shipment::{LabelFormat, Shipment, ShipmentLabel},
    sync::Counts,
};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{Error, Op, PageTx, Store, driver::Row};

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

pub(crate) const READY: &str = "SELECT id, shipment_id, order_number, format, content_hash FROM shipment_labels AS l \
    WHERE store = $1 AND id > $2 AND gone_at IS NULL AND is_ready AND file IS NULL \
    AND NOT EXISTS (SELECT 1 FROM orders AS o WHERE o.store = l.store AND o.order_number = l.order_number \
    AND o.gone_at IS NOT NULL) ORDER BY id LIMIT $3";
pub(crate) const KEEP_FILE: &str = "UPDATE shipment_labels SET file = $4, mirrored_at = $5 \
    WHERE store = $1 AND id = $2 AND content_hash = $3 AND gone_at IS NULL RETURNING order_number";

/// A label whose file can be had and was not fetched yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyLabel {
    /// The label.
    pub id: LabelId,
    /// Its shipment.
    pub shipment: Option<ShipmentId>,
    /// Its order.
    pub order: OrderNumber,
    /// What kind of file it is.
    pub format: Option<LabelFormat>,
    /// Which state of the label this is; a file that was fetched for it belongs to no other.
    pub version: ContentHash,
}

impl PageTx<'_> {
    /// Mirrors all the shipments that an order has, with their labels (API document, "Shipment"). A label that is the
    /// same keeps its file; one that changed has none until it is fetched again; one that is no longer there is gone,
    /// and so is what its file was good for.
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
        let mut counts = self.write_whole(&SHIPMENTS, Some(order.as_str()), records).await?;
        counts.add(self.write_whole(&LABELS, Some(order.as_str()), labels).await?);
        Ok(counts)
    }

    /// Notes where a label's file was put. `false`, and nothing noted, when the label changed or went meanwhile.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_label_file(
        &mut self,
        label: &LabelId,
        version: ContentHash,
        file: &str,
    ) -> Result<bool, Error> {
        let store = self.store_key().as_str().into();
        let values =
            vec![store, label.as_str().into(), version.as_i64().into(), file.into(), self.at().into()];
        let rows = self.tx.fetch("note a label's file", KEEP_FILE.to_owned(), values).await?;
        let Some(row) = rows.first() else { return Ok(false) };
        let key = format!("{}/{label}", row.text(0)?);
        self.announce(LABELS.entity, [(key, Op::Update)]);
        Ok(true)
    }
}

impl Store {
    /// Up to `limit` labels after `after`, by id, that are ready and have no file yet. Those of orders that are gone
    /// are left out: nobody prints them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn labels_to_fetch(
        &self,
        store: &StoreKey,
        after: &str,
        limit: u32,
    ) -> Result<Vec<ReadyLabel>, Error> {
        let values = vec![store.as_str().into(), after.into(), i64::from(limit).into()];
        let rows = self.database.fetch("read ready labels", READY, values).await?;
        let label = |row: &Row| {
            Ok(ReadyLabel {
                id: LabelId::new(row.text(0)?),
                shipment: row.optional_text(1)?.map(ShipmentId::new),
                order: OrderNumber::new(row.text(2)?),
                format: row.optional_text(3)?.as_deref().map(LabelFormat::new),
                version: ContentHash::from_i64(row.int(4)?),
            })
        };
        rows.iter().map(label).collect()
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
