//! Whether a stock movement happened, from what was read before and after. Pure.
//!
//! What changes a location's physical quantity: our movement, and lines that leave it at dispatch (API document, "Order line stock
//! status": `committed`). So `after - before + dispatched` is our movement's delta or zero; anything else is somebody
//! else's doing, and proves nothing.

use rust_decimal::Decimal;

/// What the equation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It did.
    Yes,
    /// It did not.
    No,
    /// Somebody else moved stock too: it cannot be told.
    Unclear,
}

/// What was read around a movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Around {
    /// The physical quantity before it.
    pub before: Decimal,
    /// The physical quantity after it.
    pub after: Decimal,
    /// What certainly left at dispatch in between.
    pub dispatched: Decimal,
    /// What may have left in between: so close to the readings that the clock cannot tell.
    pub perhaps: Decimal,
}

/// Whether a movement by `delta` happened.
pub fn moved(delta: Decimal, around: Around) -> Moved {
    if delta.is_zero() {
        return Moved::No;
    }
    let left = around.after - around.before + around.dispatched;
    match (left == delta, left.is_zero()) {
        _ if !around.perhaps.is_zero() => Moved::Unclear,
        (true, _) => Moved::Yes,
        (_, true) => Moved::No,
        _ => Moved::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(number: i64) -> Decimal {
        Decimal::from(number)
    }

    proptest! {
        // withstands: F001
        #[test]
        fn with_sales_only_it_is_always_told_and_never_wrongly(
            before in 0i64..1_000, delta in (-50i64..=50).prop_filter("moves", |d| *d != 0), dispatched in 0i64..100, happened: bool,
        ) {
            let after = before - dispatched + if happened { delta } else { 0 };
            let around = Around {
                before: whole(before), after: whole(after), dispatched: whole(dispatched), perhaps: Decimal::ZERO,
            };
            prop_assert_eq!(moved(whole(delta), around), if happened { Moved::Yes } else { Moved::No });
        }

        // withstands: F001
        #[test]
        fn what_somebody_else_moved_is_never_taken_for_ours_unless_it_is_as_much(
            before in 0i64..1_000, delta in (-50i64..=50).prop_filter("moves", |d| *d != 0), edit in -50i64..=50, happened: bool,
        ) {
            prop_assume!(edit != 0 && edit != delta && edit != -delta);
            let after = before + edit + if happened { delta } else { 0 };
            let around = Around {
                before: whole(before), after: whole(after), dispatched: Decimal::ZERO, perhaps: Decimal::ZERO,
            };
            prop_assert_eq!(moved(whole(delta), around), Moved::Unclear);
        }
    }

    #[test]
    fn a_dispatch_that_the_clock_cannot_place_leaves_it_open() {
        let around =
            Around { before: whole(5), after: whole(5), dispatched: Decimal::ZERO, perhaps: Decimal::ONE };
        assert_eq!(moved(whole(2), around), Moved::Unclear);
    }
}
