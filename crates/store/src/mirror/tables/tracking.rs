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

pub(crate) const SHIPMENTS_OF_ORDER: &str = "SELECT id, tracking_code FROM shipments WHERE store = $1 AND order_number = $2 AND gone_at IS NULL ORDER BY id";

/// Returns the shipment that a tracking without an id is about: the only one with the same code; or the order's only one,
/// where that has no code or the tracking has none, and the order has no other tracking (`is_alone`).
fn shipment_of(code: Option<&str>, is_alone: bool, shipments: &[(String, Option<String>)]) -> Option<String> {
    let mut same = shipments.iter().filter(|(_, own)| code.is_some() && own.as_deref() == code);
    if let (Some((id, _)), None) = (same.next(), same.next()) {
        return Some(id.clone());
    }
    match shipments {
        [(id, own)] if is_alone && (code.is_none() || own.is_none()) => Some(id.clone()),
        _ => None,
    }
}

impl MirrorWriter<'_, '_> {
    /// Mirrors the tracking of an order's shipments (API document, "Orders": the tracking route) onto the mirrored
    /// shipments. The document shows no id there: in an answer without ids, the tracking code names the shipment. Skips
    /// what nothing names and what is not mirrored: the caller writes an order's shipments before their tracking.
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
        let shipments = match tracking.shipments.iter().all(|way| way.id.is_none()) {
            true => self.shipments_of(order).await?,
            false => Vec::new(),
        };
        let is_alone = tracking.shipments.len() == 1;
        for way in tracking.shipments {
            counts.seen += 1;
            let by_code = || shipment_of(way.tracking_code.as_deref(), is_alone, &shipments);
            let Some(id) = way.id.clone().or_else(by_code) else { continue };
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

    async fn shipments_of(&mut self, order: &OrderNumber) -> Result<Vec<(String, Option<String>)>, Error> {
        let values = vec![self.page.store_key().as_str().into(), order.as_str().into()];
        let sql = SHIPMENTS_OF_ORDER.to_owned();
        let rows = self.page.tx.fetch("read an order's shipments", sql, values).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.optional_text(1)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracking_without_an_id_is_about_the_shipment_with_its_code_or_the_only_one() {
        let of = |code: Option<&str>, is_alone, shipments: &[(&str, Option<&str>)]| {
            let own = |(id, code): &(&str, Option<&str>)| ((*id).to_owned(), code.map(str::to_owned));
            shipment_of(code, is_alone, &shipments.iter().map(own).collect::<Vec<_>>())
        };
        let found = |code, shipments: &[_]| of(code, true, shipments);
        let two = [("A", Some("BR1")), ("B", Some("BR2"))];
        assert_eq!(found(Some("BR2"), &two).as_deref(), Some("B"));
        assert_eq!((found(Some("BR3"), &two), found(None, &two)), (None, None), "nothing names one of two");
        assert_eq!(found(Some("BR1"), &[("A", Some("BR1")), ("B", Some("BR1"))]), None, "two have it");
        assert_eq!(found(None, &[("A", Some("BR1"))]).as_deref(), Some("A"));
        assert_eq!(found(Some("BR1"), &[("A", None)]).as_deref(), Some("A"), "its code is not mirrored yet");
        assert_eq!(found(Some("BR3"), &[("A", Some("BR1"))]), None, "another one's");
        assert_eq!(found(None, &[]), None);
        assert_eq!(of(None, false, &[("A", Some("BR1"))]), None, "one of several");
        assert_eq!(of(Some("BR1"), false, &[("A", Some("BR1"))]).as_deref(), Some("A"));
    }
}
