//! Decides by the seller of an order whether webhooks of this store report changes of the order.
//!
//! Events of a sub-store go to the webhooks of that sub-store, whose own orders say `is_substore` too (API document,
//! "Webhooks"). So the ids of seller and store decide. Where they cannot be compared, an order counts until the orders
//! themselves show that this store is no sub-store: a sub-store that does not tell its id would never learn of lost
//! deliveries otherwise.

use espelho_api_client::resources::orders::{OrderDetails, details::Party};
use espelho_model::RawJson;

/// The sellers that the orders of a store have shown.
#[derive(Clone, Debug, Default)]
pub struct Sellers {
    /// The sub-store that was seen first.
    substore: Option<Party>,
    /// A sub-store reads no order of its parent, and none of another sub-store.
    is_parent: bool,
}

impl Sellers {
    /// Tells if webhooks of this store (`own`, its id if that is known) report changes of an order, and notes its seller.
    pub fn reports_here(&mut self, order: &RawJson, own: Option<&str>) -> bool {
        let seller = OrderDetails::of(order).value.sold_by;
        match seller.is_substore {
            Some(true) => (),
            Some(false) => {
                self.is_parent = true;
                return true;
            }
            None => return true,
        }
        let first = self.substore.get_or_insert_with(|| seller.clone());
        self.is_parent |= is_other(first, &seller);
        own.and_then(|own| has_id(&seller, own)).unwrap_or(!self.is_parent)
    }
}

/// Tells if a seller has this id; `None` if it has none of the same kind.
fn has_id(seller: &Party, own: &str) -> Option<bool> {
    let ids = || [&seller.id, &seller.uid].into_iter().flatten();
    let is_comparable = ids().any(|id| kind(id) == kind(own));
    is_comparable.then(|| ids().any(|id| id == own))
}

/// Tells if two sellers are certainly not the same.
fn is_other(one: &Party, other: &Party) -> bool {
    let differ = |one: &Option<String>, other: &Option<String>| match (one, other) {
        (Some(one), Some(other)) => kind(one) == kind(other) && one != other,
        _ => false,
    };
    differ(&one.id, &other.id) || differ(&one.uid, &other.uid)
}

/// The kind of an id: a number, or a text of some length, as a ULID and a UUID are.
fn kind(id: &str) -> usize {
    if id.bytes().all(|letter| letter.is_ascii_digit()) { 0 } else { id.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ULID: &str = "01J8Z5T3Q4N7V9X2B6C8D0E1F3";
    const OTHER_ULID: &str = "01J8Z5T3Q4N7V9X2B6C8D0E1F4";
    const OWN: &str = r#"{"id": 1, "is_substore": false}"#;
    const SUBSTORE: &str = r#"{"id": 2, "is_substore": true}"#;
    const OTHER_SUBSTORE: &str = r#"{"id": 3, "is_substore": true}"#;
    const NAMELESS: &str = r#"{"is_substore": true}"#;

    /// Tells if the last of these orders counts, by their `sold_by`.
    fn last_counts(sold_by: &[&str], own: Option<&str>) -> bool {
        let mut sellers = Sellers::default();
        sold_by.iter().fold(false, |_, sold_by| {
            let order = format!(r#"{{"order_number": "7", "sold_by": {sold_by}}}"#);
            sellers.reports_here(&RawJson::new(&order), own)
        })
    }

    // withstands: F050
    #[test]
    fn changes_of_another_stores_order_are_reported_to_that_store() {
        let of_both = format!(r#"{{"id": 2, "uid": "{ULID}", "is_substore": true}}"#);
        for (sold_by, own, expected, why) in [
            (OWN, Some("1"), true, "it is ours"),
            (SUBSTORE, Some("1"), false, "a sub-store of ours sold it"),
            (r#"{"id": "2", "is_substore": true}"#, Some("2"), true, "we are the sub-store"),
            (of_both.as_str(), Some(ULID), true, "we are the sub-store, by the other kind of id"),
            (of_both.as_str(), Some(OTHER_ULID), false, "another sub-store, by the other kind of id"),
            (r#"{"id": 2}"#, Some("1"), true, "nothing says that it is a sub-store's"),
            ("null", Some("1"), true, "nothing says who sold it"),
        ] {
            assert_eq!(last_counts(&[sold_by], own), expected, "{why}");
        }
    }

    #[test]
    fn where_ids_cannot_be_compared_an_order_counts_until_the_orders_show_that_this_store_is_no_sub_store() {
        let of_uid = |id: &str| format!(r#"{{"uid": "{id}", "is_substore": true}}"#);
        let [one, other] = [ULID, OTHER_ULID].map(of_uid);
        let [one, other] = [one.as_str(), other.as_str()];
        for (sold_by, own, expected, why) in [
            (&[SUBSTORE][..], None, true, "it may be ours"),
            (&[SUBSTORE, SUBSTORE], None, true, "all of them are of one"),
            (&[NAMELESS], Some("1"), true, "the sub-store has no id to compare"),
            (&[NAMELESS, SUBSTORE], None, true, "it may be the same"),
            (&[SUBSTORE], Some("main-store"), true, "an id of another kind"),
            (&[OWN, SUBSTORE], None, false, "a sub-store reads no order of its parent"),
            (&[OWN, SUBSTORE], Some("main-store"), false, "with an id of another kind too"),
            (&[OWN, NAMELESS], Some("1"), false, "without an id of its own too"),
            (&[OTHER_SUBSTORE, SUBSTORE], None, false, "a sub-store reads no order of another one"),
            (&[other, one], None, false, "by the other kind of id too"),
            (&[r#"{"id": 2}"#, SUBSTORE], None, true, "the first does not say if it is a sub-store's"),
            (&[OTHER_SUBSTORE, SUBSTORE], Some("2"), true, "the ids decide where they can be compared"),
            (&[OWN, SUBSTORE, OWN], None, true, "orders of its own count all the same"),
        ] {
            assert_eq!(last_counts(sold_by, own), expected, "{why}");
        }
    }
}
