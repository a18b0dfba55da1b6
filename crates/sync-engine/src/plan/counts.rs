//! Decides which sweep repairs a difference between the marketplace's counts and the mirror's, and since when one has
//! lasted that no sweep has repaired.

use chrono::{DateTime, Utc};
use espelho_store::RemoteCount;

/// What is counted on both sides, in the order of the store's counts.
pub const KINDS: [&str; 3] = ["orders", "open_orders", "products"];

/// What repairs a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// A sweep of new orders that reads all its pages.
    AllNewOrders,
    /// A sweep of open orders.
    OpenOrders,
    /// A walk over the listing of products.
    AllProducts,
}

/// Returns what repairs a difference. Where the mirror has more, only a complete pass decides what is gone.
pub fn repair(kind: &str, remote: u64, local: u64) -> Option<Repair> {
    match kind {
        "orders" if remote > local => Some(Repair::AllNewOrders),
        "open_orders" if remote != local => Some(Repair::OpenOrders),
        "products" if remote > local => Some(Repair::AllProducts),
        _ => None,
    }
}

/// Returns since when the counts contradict each other at the time `at`: the mirror lacks rows that the marketplace
/// counts, or the marketplace counts none of those that the mirror has; `None` if that is not known.
///
/// A single difference proves nothing: rows arrive while it is counted, and are read a moment later. But what was counted
/// before, the mirror must have by now: the difference has woken the sweep for it. Open orders close meanwhile, so only
/// the counts of all rows tell. An empty listing is never believed while the mirror has rows, and the first count of
/// none says so.
pub fn behind_since(
    kind: &str,
    before: Option<&RemoteCount>,
    (remote, local): (u64, u64),
    at: DateTime<Utc>,
    is_mirrored: bool,
) -> Option<DateTime<Utc>> {
    if !is_mirrored || !matches!(kind, "orders" | "products") {
        return None;
    }
    if remote == 0 && local > 0 {
        let before = before.filter(|before| before.remote == 0 && before.local > 0);
        return Some(before.and_then(|before| before.behind_since).unwrap_or(at));
    }
    let before = before.filter(|_| remote > local)?;
    let was_behind = before.remote > before.local;
    (was_behind && before.remote > local).then(|| before.behind_since.unwrap_or(before.at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(minute * 60, 0).unwrap()
    }

    #[test]
    fn the_mirror_is_behind_if_it_still_lacks_what_was_counted_before() {
        let before = |remote, local, behind_since| {
            let (kind, at) = ("orders".to_owned(), at(5));
            Some(RemoteCount { kind, remote, local, at, behind_since })
        };
        let (first, lasting, now) = (Some(at(5)), Some(at(1)), Some(at(7)));
        for (kind, before, remote, local, expected, why) in [
            ("orders", None, 500, 107, None, "it was never counted before"),
            ("orders", before(107, 107, None), 500, 107, None, "the sweep for it has only been woken"),
            ("orders", before(500, 107, None), 500, 107, first, "the sweep has not found them"),
            ("orders", before(500, 107, lasting), 500, 107, lasting, "nor have others"),
            ("orders", before(500, 107, lasting), 510, 117, lasting, "what arrived meanwhile was read"),
            ("orders", before(500, 107, lasting), 500, 500, None, "they were found"),
            ("orders", before(500, 107, lasting), 107, 107, None, "it counts what there is"),
            ("orders", before(503, 500, None), 510, 506, None, "orders arrive while it is counted"),
            ("orders", before(503, 500, None), 499, 501, None, "the mirror has more"),
            ("orders", before(500, 500, None), 503, 499, None, "one is gone, and others have just arrived"),
            ("products", before(9, 8, None), 9, 8, first, "a product is missing"),
            ("open_orders", before(9, 8, None), 9, 8, None, "orders open and close meanwhile"),
            ("orders", None, 0, 30, now, "a listing that is empty at once is not believed"),
            ("orders", before(30, 30, None), 0, 30, now, "nor is one that was not"),
            ("orders", before(500, 30, lasting), 0, 30, now, "the difference was another one"),
            ("orders", before(0, 30, lasting), 0, 31, lasting, "it has stayed empty"),
            ("orders", before(0, 30, lasting), 30, 30, None, "it is back"),
            ("orders", before(0, 0, None), 0, 0, None, "a new store has none"),
            ("products", None, 0, 1, now, "a catalogue too"),
            ("open_orders", before(9, 9, None), 0, 9, None, "they may have closed"),
        ] {
            let counted = (remote, local);
            assert_eq!(behind_since(kind, before.as_ref(), counted, at(7), true), expected, "{kind}: {why}");
            assert_eq!(
                behind_since(kind, before.as_ref(), counted, at(7), false),
                None,
                "the first reading runs"
            );
        }
    }

    #[test]
    fn what_the_mirror_lacks_is_swept_for_and_what_it_has_too_much_of_is_left_to_a_pass() {
        for (kind, remote, local, expected) in [
            ("orders", 5, 5, None),
            ("orders", 6, 5, Some(Repair::AllNewOrders)),
            ("orders", 4, 5, None),
            ("open_orders", 5, 5, None),
            ("open_orders", 6, 5, Some(Repair::OpenOrders)),
            ("open_orders", 4, 5, Some(Repair::OpenOrders)),
            ("products", 5, 5, None),
            ("products", 6, 5, Some(Repair::AllProducts)),
            ("products", 4, 5, None),
            ("campaigns", 9, 1, None),
        ] {
            assert_eq!(repair(kind, remote, local), expected, "{kind}: {remote} and {local}");
        }
    }
}
