//! Decides whether a stock movement happened, from the readings before and after it. Pure.
//!
//! Two things change a location's physical quantity: our movement, and lines that leave it at dispatch (API document,
//! "Order line stock status": `committed`). So `after - before + dispatched` is our movement's delta or zero. Anything
//! else is somebody else's change, and proves nothing.

use std::collections::HashSet;

use rust_decimal::Decimal;

/// The result of the equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It happened.
    Yes,
    /// It did not happen.
    No,
    /// Somebody else moved stock too: nothing proves either.
    Unclear,
}

/// The readings around a movement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readings {
    /// The physical quantity before it.
    pub before: Decimal,
    /// The physical quantity after it.
    pub after: Decimal,
    /// The quantities that were dispatched around it.
    pub sold: Dispatched,
}

/// Quantities that were dispatched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dispatched {
    /// Quantities that certainly left in between, order by order.
    pub certain: Vec<Decimal>,
    /// Quantities that may have left in between, order by order: too close to the readings to tell.
    pub possible: Vec<Decimal>,
    /// True if an order that may have dispatched some is listed and denied: nobody knows what left with it.
    pub is_incomplete: bool,
}

/// The reason why a level is lower than it was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// Dispatches may have taken the difference.
    Sold,
    /// No dispatch takes as much.
    NotSold,
    /// The dispatches are not all known.
    Unknown,
}

/// Beyond this many sums the result is unclear.
const MAX_SUMS: usize = 2_000;

impl Dispatched {
    /// Returns every total that may have left in between; `None` where there are too many.
    fn sums(&self) -> Option<HashSet<Decimal>> {
        let mut sums = HashSet::from([self.certain.iter().sum()]);
        for quantity in &self.possible {
            let with: Vec<Decimal> = sums.iter().map(|sum| sum + quantity).collect();
            sums.extend(with);
            if sums.len() > MAX_SUMS {
                return None;
            }
        }
        Some(sums)
    }

    /// Returns the same quantities, each of them as one that may have left.
    pub fn all_possible(self) -> Self {
        Self { certain: Vec::new(), possible: [self.certain, self.possible].concat(), ..self }
    }

    /// Returns the reason why a level is lower by `lower`.
    pub fn explains(&self, lower: Decimal) -> Explanation {
        match (self.may_be(lower), self.is_incomplete) {
            (true, _) => Explanation::Sold,
            (false, true) => Explanation::Unknown,
            (false, false) => Explanation::NotSold,
        }
    }

    /// Says whether nothing left in between, for all that is known.
    pub fn is_nothing(&self) -> bool {
        self.certain.is_empty() && self.possible.is_empty() && !self.is_incomplete
    }

    /// Says whether this quantity may have left in between.
    pub fn may_be(&self, quantity: Decimal) -> bool {
        self.sums().is_some_and(|sums| sums.contains(&quantity))
    }
}

/// Says whether a movement by `delta` happened. Uncertain dispatches do no harm as long as the quantity has only one
/// explanation.
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

    #[test]
    fn two_thousand_sums_are_looked_through_and_no_more() {
        // Each quantity is the number of sums before it, so that no two sums are the same.
        let mut possible: Vec<Decimal> =
            [1, 1, 1, 1, 5, 5, 5, 5, 25, 25, 25, 25, 125, 250, 500, 1_000].map(whole).into();
        let may_be = |possible: &[Decimal], quantity| {
            Dispatched { possible: possible.to_vec(), ..Dispatched::default() }.may_be(whole(quantity))
        };
        assert!(may_be(&possible, 0) && may_be(&possible, 1_999) && !may_be(&possible, 2_000));
        possible.push(whole(2_000));
        assert!(!may_be(&possible, 0), "too many to tell");
    }

    #[test]
    fn an_order_that_is_denied_leaves_unknown_what_the_others_do_not_explain() {
        let sold =
            |is_incomplete| Dispatched { possible: vec![whole(2)], is_incomplete, ..Dispatched::default() };
        for (is_incomplete, lower, expected) in [
            (false, 2, Explanation::Sold),
            (false, 3, Explanation::NotSold),
            (true, 2, Explanation::Sold),
            (true, 3, Explanation::Unknown),
        ] {
            assert_eq!(sold(is_incomplete).explains(whole(lower)), expected, "{is_incomplete} {lower}");
        }
    }

    proptest! {
        // withstands: F001
        #[test]
        fn with_sales_only_it_is_always_told_and_never_wrongly(
            before in 0i64..1_000, delta in (-50i64..=50).prop_filter("moves", |d| *d != 0), dispatched in 0i64..100, happened: bool,
        ) {
            let after = before - dispatched + if happened { delta } else { 0 };
            let sold = Dispatched { certain: vec![whole(dispatched)], ..Dispatched::default() };
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
            let around = Readings { before: whole(before), after: whole(after), sold: Dispatched::default() };
            prop_assert_eq!(moved(whole(delta), &around), Moved::Unclear);
        }
    }

    fn told(before: i64, after: i64, possible: &[i64], delta: i64) -> Moved {
        let sold =
            Dispatched { possible: possible.iter().copied().map(whole).collect(), ..Dispatched::default() };
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
            let possible: Vec<i64> = sales.iter().map(|(quantity, _)| *quantity).collect();
            let after = before - sold + if happened { delta } else { 0 };
            let wrong = if happened { Moved::No } else { Moved::Yes };
            prop_assert_ne!(told(before, after, &possible, delta), wrong);
        }
    }
}
