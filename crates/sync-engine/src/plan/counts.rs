//! Decides which sweep repairs a difference between the marketplace's counts and the mirror's.

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

#[cfg(test)]
mod tests {
    use super::*;

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
