//! The tracking of shipments, from a route of its own.

use std::sync::Arc;

use espelho_model::{OrderNumber, RawJson, person::Person, sync::Counts, tracking::OrderTracking};

use super::shipments::SHIPMENTS;
use crate::{
    Error, Op,
    mirror::{MirrorWriter, protected},
};

pub(crate) const WRITE: &str = "UPDATE shipments SET tracking_url = $4, estimated_delivery_at = $5, tracking = $6, \
    mirrored_at = $7 WHERE store = $1 AND order_number = $2 AND id = $3 AND gone_at IS NULL \
    AND (tracking_url IS DISTINCT FROM $4 OR estimated_delivery_at IS DISTINCT FROM $5 OR tracking IS DISTINCT FROM \
    $6)";

impl MirrorWriter<'_, '_> {
    /// Mirrors the tracking of an order's shipments (API document, "Orders": the tracking route) onto the mirrored
    /// shipments. Skips shipments that are not named or not mirrored: the caller writes an order's shipments before
    /// their tracking.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_tracking(
        &mut self,
        order: &OrderNumber,
        tracking: OrderTracking,
    ) -> Result<Counts, Error> {
        let mut counts = Counts::default();
        let is_erased = !self.page.erased_orders(vec![order.as_str().to_owned()]).await?.is_empty();
        let person = Person::of(tracking.raw.as_str());
        let privacy = Arc::clone(self.page.privacy());
        for way in tracking.shipments {
            counts.seen += 1;
            let Some(id) = way.id else { continue };
            let raw = match is_erased {
                true => RawJson::new(&person.redact("tracking", way.raw.as_str())),
                false => way.raw,
            };
            let raw = protected::part(&privacy, &tracking.raw, "tracking", raw);
            let url =
                way.tracking_url.and_then(|url| person.protect_column(&privacy, "", "tracking_url", url));
            let values = vec![
                self.page.store_key().as_str().into(),
                order.as_str().into(),
                id.as_str().into(),
                url.into(),
                way.estimated_delivery_at.into(),
                raw.into(),
                self.page.at().into(),
            ];
            if self.page.tx.execute("mirror a shipment's way", WRITE, values).await? > 0 {
                counts.changed += 1;
                self.page.announce(SHIPMENTS.entity, [(format!("{order}/{id}"), Op::Update)]);
            }
        }
        Ok(counts)
    }
}
