//! Order fields that the document leaves open: destination and deadlines (API document, "Order": fields of `customer`
//! and `shipping` "not shown"; docs/ASSUMPTIONS.md lists the names that are tried).
//!
//! These fields are never reported as unreadable: a value of another type counts as a different field.

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use espelho_model::{raw::storable, time::parse_timestamp};
use serde::Deserialize;

use super::order_wire::{CustomerWire, OrderWire};
use crate::wire::{
    fields::{Field, optional_object},
    shape,
};

shape! { AddressWire { city, state, uf, state_code } }

shape! {
    /// The freight, which may carry an address.
    ShippingWire {
        city, state, uf, state_code, address, ship_by, dispatch_by, dispatch_deadline, dispatch_deadline_at, deadline_at,
        deadline, nfe_requirements,
    }
}

shape! { DeadlineWire { dispatch, at, date } }

shape! { NfeWire { deadline_at, deadline } }

/// Where the goods go, and until when what must have happened.
pub(super) struct OpenFields<'a> {
    order: &'a OrderWire<'a>,
    shipping: ShippingWire<'a>,
    /// The objects that may be an address, the likeliest first.
    addresses: [AddressWire<'a>; 8],
    naive: FixedOffset,
}

impl<'a> OpenFields<'a> {
    /// Reads the objects of an order that may contain these fields. A time without an offset is read in `naive`.
    pub(super) fn of(order: &'a OrderWire<'a>, customer: &CustomerWire<'a>, naive: FixedOffset) -> Self {
        let shipping: ShippingWire<'a> = nested(order.shipping);
        let CustomerWire { city, state, uf, state_code, .. } = *customer;
        let of_customer = AddressWire { city, state, uf, state_code };
        let ShippingWire { city, state, uf, state_code, .. } = shipping;
        let of_shipping = AddressWire { city, state, uf, state_code };
        let addresses = [
            of_customer,
            nested(customer.address),
            nested(customer.shipping_address),
            nested(customer.delivery_address),
            nested(order.shipping_address),
            nested(order.delivery_address),
            nested(shipping.address),
            of_shipping,
        ];
        Self { order, shipping, addresses, naive }
    }

    pub(super) fn city(&self) -> Option<String> {
        self.addresses.iter().find_map(|address| text(address.city))
    }

    pub(super) fn state(&self) -> Option<String> {
        self.addresses.iter().find_map(|a| [a.state, a.uf, a.state_code].into_iter().find_map(text))
    }

    /// Returns the deadline for handing over the goods.
    pub(super) fn ship_by(&self) -> Option<DateTime<Utc>> {
        let (order, shipping) = (self.order, &self.shipping);
        let of_shipping = [
            shipping.ship_by,
            shipping.dispatch_by,
            shipping.dispatch_deadline,
            shipping.dispatch_deadline_at,
            shipping.deadline_at,
            shipping.deadline,
        ];
        let inner: DeadlineWire<'_> = nested(shipping.deadline);
        self.first_moment(&of_shipping)
            .or_else(|| self.first_moment(&[inner.dispatch, inner.at, inner.date]))
            .or_else(|| {
                self.first_moment(&[order.ship_by, order.dispatch_deadline, order.dispatch_deadline_at])
            })
    }

    /// Returns the deadline for issuing a fiscal document.
    pub(super) fn invoice_by(&self) -> Option<DateTime<Utc>> {
        let order = self.order;
        let nfe: NfeWire<'_> = nested(self.shipping.nfe_requirements);
        self.first_moment(&[
            nfe.deadline_at,
            nfe.deadline,
            order.invoice_by,
            order.fiscal_deadline,
            order.fiscal_deadline_at,
            order.nfe_deadline,
            order.nfe_deadline_at,
        ])
    }

    /// Returns the deadline for having the order ready.
    pub(super) fn pick_by(&self) -> Option<DateTime<Utc>> {
        let order = self.order;
        self.first_moment(&[order.pick_by, order.picking_deadline, order.picking_deadline_at])
    }

    fn first_moment(&self, fields: &[Field<'_>]) -> Option<DateTime<Utc>> {
        fields.iter().find_map(|&field| deadline(&text(field)?, self.naive))
    }
}

fn nested<'a, T: Deserialize<'a> + Default>(field: Field<'a>) -> T {
    field.and_then(|inner| optional_object(inner.get())).unwrap_or_default()
}

fn text(field: Field<'_>) -> Option<String> {
    let json = field?.get();
    let text: String = json.starts_with('"').then(|| serde_json::from_str(&storable(json)).ok())??;
    (!text.is_empty()).then_some(text)
}

/// Reads a deadline. A date without a time lasts until the end of that day.
fn deadline(text: &str, naive: FixedOffset) -> Option<DateTime<Utc>> {
    let at = parse_timestamp(text, naive)?;
    if text.trim().len() > "2026-11-27".len() {
        return Some(at);
    }
    at.checked_add_signed(TimeDelta::days(1) - TimeDelta::seconds(1))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::fields::object;

    fn of(order: &Value) -> [Option<String>; 5] {
        let payload = order.to_string();
        let order: OrderWire<'_> = object(&payload).unwrap();
        let customer = nested(order.customer);
        let fields = OpenFields::of(&order, &customer, FixedOffset::west_opt(3 * 3600).unwrap());
        let time = |at: Option<DateTime<Utc>>| at.map(|at| at.format("%d %H:%M:%S").to_string());
        [
            fields.city(),
            fields.state(),
            time(fields.ship_by()),
            time(fields.invoice_by()),
            time(fields.pick_by()),
        ]
    }

    #[test]
    fn where_the_goods_go_is_found_wherever_it_stands() {
        let place = json!({"city": "Ji-Paraná", "uf": "RO"});
        for order in [
            json!({"customer": place}),
            json!({"customer": {"id": 1, "address": place}}),
            json!({"customer": {"city": "", "state": {"id": 3}, "delivery_address": place}}),
            json!({"customer": null, "shipping_address": place}),
            json!({"delivery_address": {"city": "Ji-Paraná", "state": "RO"}}),
            json!({"customer": {"name": "Ana"}, "shipping": {"address": place}}),
            json!({"shipping": {"city": "Ji-Paraná", "state_code": "RO"}, "customer": []}),
        ] {
            let [city, state, ..] = of(&order);
            assert_eq!((city.as_deref(), state.as_deref()), (Some("Ji-Paraná"), Some("RO")), "{order}");
        }
    }

    #[test]
    fn the_deadline_of_the_freight_is_found_under_every_likely_name() {
        let at = "2026-11-27T18:00:00-03:00";
        for order in [
            json!({"shipping": {"deadline": at}}),
            json!({"shipping": {"deadline_at": at, "deadline": 5}}),
            json!({"shipping": {"dispatch_deadline": "2026-11-27 18:00:00"}}),
            json!({"shipping": {"deadline": {"dispatch": at, "delivery": "2026-12-10"}}}),
            json!({"shipping": {"deadline": 3}, "ship_by": at}),
        ] {
            assert_eq!(of(&order)[2].as_deref(), Some("27 21:00:00"), "{order}");
        }
        for order in [json!({"shipping": {"deadline": 5}}), json!({"shipping": {"deadline": "5 dias"}})] {
            assert_eq!(of(&order)[2], None, "{order}: a span is no moment");
        }
    }

    #[test]
    fn a_deadline_that_is_a_day_lasts_until_its_end() {
        let order = json!({"shipping": {"deadline": "2026-11-27"}, "nfe_deadline": "2026-11-26", "picking_deadline_at": "2026-11-27T09:00:00Z"});
        let [.., ship_by, invoice_by, pick_by] = of(&order);
        assert_eq!(ship_by.as_deref(), Some("28 02:59:59"));
        assert_eq!(invoice_by.as_deref(), Some("27 02:59:59"));
        assert_eq!(pick_by.as_deref(), Some("27 09:00:00"));
        let order = json!({"shipping": {"nfe_requirements": {"deadline_at": "2026-11-27T12:00:00Z"}}});
        assert_eq!(of(&order)[3].as_deref(), Some("27 12:00:00"));
        assert_eq!(of(&json!({"shipping": {"nfe_requirements": ["nfe"]}}))[3], None);
    }
}
