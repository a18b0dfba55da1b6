//! The way of shipments, which a route of its own tells.

use espelho_model::{OrderNumber, sync::Counts, tracking::OrderTracking};

use super::shipments::SHIPMENTS;
use crate::{Error, Op, PageTx};

pub(crate) const WRITE: &str = "UPDATE shipments SET tracking_url = $4, estimated_delivery_at = $5, tracking = $6, \
    mirrored_at = $7 WHERE store = $1 AND order_number = $2 AND id = $3 AND gone_at IS NULL \
    AND (tracking_url IS DISTINCT FROM $4 OR estimated_delivery_at IS DISTINCT FROM $5 OR tracking IS DISTINCT FROM $6)";

impl PageTx<'_> {
    /// Mirrors the way of an order's shipments (API document, "Orders": the tracking route) onto the shipments that
    /// the mirror has. What the marketplace does not name, or the mirror does not have, is passed by: whoever reads the way
    /// of an order's shipments has written its shipments before.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_tracking(
        &mut self,
        order: &OrderNumber,
        tracking: OrderTracking,
    ) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        for way in tracking.shipments {
            counts.seen += 1;
            let Some(id) = way.id else { continue };
            let values = vec![
                self.store_key().as_str().into(),
                order.as_str().into(),
                id.as_str().into(),
                way.tracking_url.into(),
                way.estimated_delivery_at.into(),
                way.raw.into(),
                self.at().into(),
            ];
            if self.tx.execute("mirror a shipment's way", WRITE, values).await? > 0 {
                counts.changed += 1;
                self.announce(SHIPMENTS.entity, [(format!("{order}/{id}"), Op::Update)]);
            }
        }
        Ok(counts)
    }
}
