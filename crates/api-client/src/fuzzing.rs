//! Entry points of the fuzz targets (`tests/fuzz`), and of the test that replays their inputs. Nothing else uses them.

use std::{hint::black_box, net::Ipv4Addr};

use chrono::FixedOffset;
use espelho_model::{OrderNumber, ProductId, RawJson};
use serde_json::Value;

use crate::{
    HostPattern, SignedUrl,
    resources::{
        orders::{OrderDetails, PossibleStatuses, financial, fiscal, read, timeline, tracking},
        products, shipments,
    },
    webhook::{Delivery, verify},
    wire::{envelope, list, rows},
};

/// Reads bytes as each answer that the mirror asks for.
pub fn answer(body: &[u8]) {
    let naive = FixedOffset::west_opt(3 * 3_600).expect("an offset");
    let _ = black_box(list::parse(body, |row| Some(row.get().to_owned())));
    let _ = black_box(rows::parse(body, naive, |_, row| Some(row.get().len())));
    let Ok(payload) = envelope::payload(body) else { return };
    let payload = payload.get();
    let asked = OrderNumber::new("000100000009");
    if let Ok(order) = read::parse_order(payload, &asked, naive) {
        black_box(OrderDetails::of(&order.value.raw));
    }
    let _ = black_box(read::parse_detail(payload, &asked, naive));
    black_box(OrderDetails::of(&RawJson::new(payload)));
    let _ = black_box(products::detail::parse_product(payload, &ProductId::new("1"), naive));
    let _ = black_box(fiscal::parse(payload, naive));
    let _ = black_box(timeline::parse(payload, naive));
    let _ = black_box(financial::parse(payload, naive));
    let _ = black_box(tracking::parse(payload, naive));
    let _ = black_box(shipments::list::parse(payload, naive));
    let _ = black_box(shipments::labels::parse_labels(payload, naive));
    if let Ok(possible) = serde_json::from_str::<PossibleStatuses>(payload) {
        let data: Value = serde_json::from_str(payload).unwrap_or_default();
        possible.next_actions.iter().for_each(|action| drop(black_box(action.validate(&data))));
    }
}

/// Reads bytes as a delivery, and as its signature.
pub fn delivery(body: &[u8]) {
    let naive = FixedOffset::west_opt(3 * 3_600).expect("an offset");
    let header = String::from_utf8_lossy(body);
    black_box(verify(&"whsec_0123456789".to_owned().into(), body, &header));
    if let Ok(delivery) = Delivery::parse(body, naive) {
        black_box(delivery.event_only_data(chrono::DateTime::UNIX_EPOCH));
        black_box((delivery.order_status(), delivery.event.group()));
    }
}

/// Reads a text as a signed address.
///
/// # Panics
/// When an address may be fetched that is no public `https://` one.
pub fn signed_address(text: &str) {
    let Some(url) = SignedUrl::parse(text) else { return };
    black_box((url.to_string(), url.host().parse::<HostPattern>().is_ok()));
    if url.objection(false, &[]).is_none() {
        assert!(url.expose().starts_with("https://"), "{text:?} may be fetched");
        let is_private = url.host().parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_private() || ip.is_loopback());
        assert!(!is_private, "{text:?} may be fetched");
    }
}
