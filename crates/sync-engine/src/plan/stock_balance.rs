//! Whether a stock movement happened, from what was read before and after. Pure.
//!
//! What changes a location's physical quantity: our movement, and lines that leave it at dispatch (API document, "Order line stock
//! status": `committed`). So `after - before + dispatched` is our movement's delta or zero; anything else is somebody
//! else's doing, and proves nothing.

use std::collections::HashSet;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readings {
    /// The physical quantity before it.
    pub before: Decimal,
    /// The physical quantity after it.
    pub after: Decimal,
    /// What left at dispatch around it.
    pub sold: Sold,
}

/// What left a shelf at dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sold {
    /// What certainly left in between, order by order.
    pub certain: Vec<Decimal>,
    /// What may have left in between, order by order: so close to the readings that nothing tells.
    pub perhaps: Vec<Decimal>,
}

/// Beyond so many sums nothing is told any more.
const MOST_SUMS: usize = 2_000;

impl Sold {
    /// Every quantity that may have left in between; `None` where there are too many.
    fn sums(&self) -> Option<HashSet<Decimal>> {
        let mut sums = HashSet::from([self.certain.iter().sum()]);
        for quantity in &self.perhaps {
            let with: Vec<Decimal> = sums.iter().map(|sum| sum + quantity).collect();
            sums.extend(with);
            if sums.len() > MOST_SUMS {
                return None;
            }
        }
        Some(sums)
    }

    /// The same where nobody knows of any of it that it left from here.
    pub fn all_perhaps(self) -> Self {
        Self { certain: Vec::new(), perhaps: [self.certain, self.perhaps].concat() }
    }

    /// Whether so much may have left in between.
    pub fn may_be(&self, quantity: Decimal) -> bool {
        self.sums().is_some_and(|sums| sums.contains(&quantity))
    }
}

/// Whether a movement by `delta` happened. What may or may not have left in between does no harm as long as the quantity can be
/// explained in one way only.
pub fn moved(delta: Decimal, around: &Readings) -> Moved {
    if delta.is_zero() {
        return Moved::No;
    }
    let fallen = around.before - around.after;
    match (around.sold.may_be(fallen + delta), around.sold.may_be(fallen)) {
        (true, false) => Moved::Yes,
        (false, true) => Moved::No,
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
            let sold = Sold { certain: vec![whole(dispatched)], perhaps: Vec::new() };
            let around = Readings { before: whole(before), after: whole(after), sold };
            prop_assert_eq!(moved(whole(delta), &around), if happened { Moved::Yes } else { Moved::No });
        }

        // withstands: F001
        #[test]
        fn what_somebody_else_moved_is_never_taken_for_ours_unless_it_is_as_much(
            before in 0i64..1_000, delta in (-50i64..=50).prop_filter("moves", |d| *d != 0), edit in -50i64..=50, happened: bool,
        ) {
            prop_assume!(edit != 0 && edit != delta && edit != -delta);
            let after = before + edit + if happened { delta } else { 0 };
            let around = Readings { before: whole(before), after: whole(after), sold: Sold::default() };
            prop_assert_eq!(moved(whole(delta), &around), Moved::Unclear);
        }
    }

    fn told(before: i64, after: i64, perhaps: &[i64], delta: i64) -> Moved {
        let sold = Sold { certain: Vec::new(), perhaps: perhaps.iter().copied().map(whole).collect() };
        moved(whole(delta), &Readings { before: whole(before), after: whole(after), sold })
    }

    #[test]
    fn a_dispatch_that_cannot_be_placed_leaves_it_open_only_where_both_explain_the_quantity() {
        assert_eq!(told(5, 5, &[2], 2), Moved::Unclear, "moved up and sold, or neither");
        assert_eq!(told(5, 3, &[2], -2), Moved::Unclear, "moved down, or sold");
        assert_eq!(told(5, 5, &[2], 3), Moved::No);
        assert_eq!(told(5, 6, &[2], 3), Moved::Yes, "moved up by three and sold two");
        assert_eq!(told(5, 8, &[2], 3), Moved::Yes, "and nothing was sold");
        assert_eq!(told(5, 7, &[2], 3), Moved::Unclear, "somebody else moved stock");
        let many: Vec<i64> = (0..40).map(|n| 1 << (n % 20)).collect();
        assert_eq!(told(5, 5, &many, 1), Moved::Unclear, "more than can be told apart");
    }

    proptest! {
        // withstands: F001
        #[test]
        fn dispatches_that_cannot_be_placed_never_make_it_wrong(
            before in 100i64..1_000, delta in (-5i64..=5).prop_filter("moves", |d| *d != 0),
            sales in proptest::collection::vec((1i64..=4, any::<bool>()), 0..6), happened: bool,
        ) {
            let sold: i64 = sales.iter().filter(|(_, left)| *left).map(|(quantity, _)| quantity).sum();
            let perhaps: Vec<i64> = sales.iter().map(|(quantity, _)| *quantity).collect();
            let after = before - sold + if happened { delta } else { 0 };
            let wrong = if happened { Moved::No } else { Moved::Yes };
            prop_assert_ne!(told(before, after, &perhaps, delta), wrong);
        }
    }
}
