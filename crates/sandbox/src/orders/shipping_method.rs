//! Shipping methods, as the buyer chooses them at checkout.

use super::Order;
use crate::shipments::CarriedBy;

/// A way to send an order.
pub(crate) struct ShippingMethod {
    /// Identifier and name; where the shop delivers without a carrier there is none.
    pub(crate) carrier: Option<(u64, &'static str)>,
    pub(crate) display: &'static str,
    pub(crate) days: u64,
    pub(crate) by: CarriedBy,
}

/// Every shipping method. Generated orders use the first five.
pub(crate) const SHIPPING_METHODS: [ShippingMethod; 6] = [
    ShippingMethod {
        carrier: Some((1, "Correios")),
        display: "Correios PAC",
        days: 9,
        by: CarriedBy::Platform,
    },
    ShippingMethod {
        carrier: Some((1, "Correios")),
        display: "Correios SEDEX",
        days: 4,
        by: CarriedBy::Platform,
    },
    ShippingMethod {
        carrier: Some((2, "Jadlog")),
        display: "Jadlog .Package",
        days: 7,
        by: CarriedBy::Platform,
    },
    ShippingMethod {
        carrier: Some((3, "Loggi")),
        display: "Loggi Expresso",
        days: 3,
        by: CarriedBy::Driver { is_done: false },
    },
    ShippingMethod {
        carrier: Some((4, "Transportadora própria")),
        display: "Entrega da loja",
        days: 5,
        by: CarriedBy::Seller,
    },
    ShippingMethod { carrier: None, display: "Entrega combinada com a loja", days: 5, by: CarriedBy::Seller },
];

/// The kind of carrier that a test names.
pub(crate) fn named(kind: &str) -> Option<&'static ShippingMethod> {
    position(kind).map(|at| &SHIPPING_METHODS[usize::from(at) % SHIPPING_METHODS.len()])
}

/// The position in [`SHIPPING_METHODS`] of the kind of carrier that a test names.
pub(super) fn position(kind: &str) -> Option<u8> {
    Some(match kind {
        "platform" => 0,
        "driver" => 3,
        "seller" => 4,
        "none" => 5,
        _ => return None,
    })
}

impl Order {
    /// The shipping method of the order.
    pub(crate) fn shipping_method(&self) -> &'static ShippingMethod {
        let chosen = self.life.as_ref().and_then(|life| life.carrier);
        &SHIPPING_METHODS[chosen.map_or((self.serial % 5) as usize, usize::from) % SHIPPING_METHODS.len()]
    }

    /// When it is promised to arrive.
    pub(crate) fn promised_at(&self) -> i64 {
        let chosen = self.life.as_ref().and_then(|life| life.promised_at);
        chosen.unwrap_or(self.created_at + 86_400 * (self.shipping_method().days + self.serial % 20) as i64)
    }
}
