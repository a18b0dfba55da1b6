//! Order fields that the document leaves open: destination and deadlines (API document, "Order": fields of `customer`
//! and `shipping` "not shown"; docs/ASSUMPTIONS.md lists the names that are tried).
//!
//! These fields are never reported as unreadable: a value of another type counts as a different field.

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use espelho_model::{raw::storable, time::parse_timestamp};

use crate::wire::fields::{Field, object};

type Members<'a> = BTreeMap<String, Field<'a>>;

const CITY: &[&str] = &["city"];
const STATE: &[&str] = &["state", "uf", "state_code"];
const SHIP_BY_OF_SHIPPING: &[&str] =
    &["ship_by", "dispatch_by", "dispatch_deadline", "dispatch_deadline_at", "deadline_at", "deadline"];
const SHIP_BY_OF_DEADLINE: &[&str] = &["dispatch", "at", "date"];
const SHIP_BY: &[&str] = &["ship_by", "dispatch_deadline", "dispatch_deadline_at"];
const INVOICE_BY_OF_NFE: &[&str] = &["deadline_at", "deadline"];
const INVOICE_BY: &[&str] =
    &["invoice_by", "fiscal_deadline", "fiscal_deadline_at", "nfe_deadline", "nfe_deadline_at"];
const PICK_BY: &[&str] = &["pick_by", "picking_deadline", "picking_deadline_at"];

/// The objects of one order that may contain these fields.
pub(super) struct OpenFields<'a> {
    order: Members<'a>,
    shipping: Members<'a>,
    /// Objects that may contain an address, the likeliest first.
    addresses: Vec<Members<'a>>,
    naive: FixedOffset,
}

impl<'a> OpenFields<'a> {
    /// Reads the objects from an order as received. A time without an offset is read in `naive`.
    pub(super) fn of(payload: &'a str, naive: FixedOffset) -> Self {
        let order: Members<'a> = object(payload).unwrap_or_default();
        let [customer, shipping] = ["customer", "shipping"].map(|name| nested(&order, name));
        let inner = [
            (&customer, "address"),
            (&customer, "shipping_address"),
            (&customer, "delivery_address"),
            (&order, "shipping_address"),
            (&order, "delivery_address"),
            (&shipping, "address"),
        ];
        let inner: Vec<_> = inner.map(|(outer, name)| nested(outer, name)).into();
        let addresses = [customer].into_iter().chain(inner).chain([shipping.clone()]).collect();
        Self { order, shipping, addresses, naive }
    }

    pub(super) fn city(&self) -> Option<String> {
        self.addresses.iter().find_map(|address| first_text(address, CITY))
    }

    pub(super) fn state(&self) -> Option<String> {
        self.addresses.iter().find_map(|address| first_text(address, STATE))
    }

    /// Returns the deadline for handing over the goods.
    pub(super) fn ship_by(&self) -> Option<DateTime<Utc>> {
        self.first_moment(&self.shipping, SHIP_BY_OF_SHIPPING)
            .or_else(|| self.first_moment(&nested(&self.shipping, "deadline"), SHIP_BY_OF_DEADLINE))
            .or_else(|| self.first_moment(&self.order, SHIP_BY))
    }

    /// Returns the deadline for issuing a fiscal document.
    pub(super) fn invoice_by(&self) -> Option<DateTime<Utc>> {
        self.first_moment(&nested(&self.shipping, "nfe_requirements"), INVOICE_BY_OF_NFE)
            .or_else(|| self.first_moment(&self.order, INVOICE_BY))
    }

    /// Returns the deadline for having the order ready.
    pub(super) fn pick_by(&self) -> Option<DateTime<Utc>> {
        self.first_moment(&self.order, PICK_BY)
    }

    fn first_moment(&self, members: &Members<'_>, names: &[&str]) -> Option<DateTime<Utc>> {
        names.iter().find_map(|&name| deadline(&text(members.get(name).copied().flatten())?, self.naive))
    }
}

fn nested<'a>(outer: &Members<'a>, name: &str) -> Members<'a> {
    outer.get(name).copied().flatten().and_then(|inner| object(inner.get()).ok()).unwrap_or_default()
}

fn first_text(members: &Members<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|&name| text(members.get(name).copied().flatten()))
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

    fn of(order: &Value) -> [Option<String>; 5] {
        let payload = order.to_string();
        let fields = OpenFields::of(&payload, FixedOffset::west_opt(3 * 3600).unwrap());
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
