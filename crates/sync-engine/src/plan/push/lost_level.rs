//! Levels of stock whose answer was lost (effect `stock.set`): a reading tells whether one was set.

use std::cmp::Ordering;

use chrono::TimeDelta;
use rust_decimal::Decimal;

use super::{
    Settlement, doubtful,
    level_evidence::LevelEvidence,
    own_writes::LAG_RECHECK_INTERVAL,
    sent_level::{EXPLAINED_WITHIN, RECHECK_INTERVAL},
};
use crate::plan::stock_balance::Explanation;

/// Settles a set whose answer was lost. A level that is lower by what was sold since was set: setting it again
/// would bring back what is gone. `explanation` says if it was sold, `is_behind` that the reading may be from before our
/// last changes of the level: then a later reading decides. `age` is the time since it was sent.
pub fn settle(
    evidence: &LevelEvidence,
    quantity: Decimal,
    explanation: Explanation,
    is_behind: bool,
    age: TimeDelta,
) -> Settlement {
    match quantity.cmp(&evidence.target) {
        _ if is_behind => Settlement::NotYet(LAG_RECHECK_INTERVAL),
        Ordering::Equal => Settlement::Happened { answer: None, how: "the product shows it" },
        Ordering::Less if explanation == Explanation::Sold => {
            Settlement::Happened { answer: None, how: "the product shows it, less what was sold" }
        }
        Ordering::Less if explanation == Explanation::Unknown => settle_unknown(age),
        _ => Settlement::DidNotHappen { how: "the product does not show it" },
    }
}

/// Settles a set whose answer was lost, `age` after it was sent, where the marketplace shows the level without a
/// quantity, or where goods may have been sold of which it does not tell: nothing proves it, and a later reading may.
pub fn settle_unknown(age: TimeDelta) -> Settlement {
    match TimeDelta::from_std(EXPLAINED_WITHIN).is_ok_and(|patience| age < patience) {
        true => Settlement::NotYet(RECHECK_INTERVAL),
        false => Settlement::Unprovable(doubtful("unprovable")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(number: i64) -> Decimal {
        Decimal::from(number)
    }

    const LONG_AGO: TimeDelta = TimeDelta::hours(1);

    fn because(is_sold: bool) -> Explanation {
        if is_sold { Explanation::Sold } else { Explanation::NotSold }
    }

    fn set_to(target: i64) -> LevelEvidence {
        LevelEvidence {
            product: "P".into(),
            location: "1".into(),
            sku: "A".into(),
            target: whole(target),
            revision: None,
            desired: None,
            ahead_of: Vec::new(),
            journal_end: None,
            before: None,
        }
    }

    proptest! {
        // withstands: F001
        #[test]
        fn a_lost_set_is_never_taken_for_undone_where_the_product_shows_it_or_sales_explain_the_rest(
            target in 0i64..1_000, sold in 0i64..1_000,
        ) {
            prop_assume!(sold <= target);
            let settled = settle(&set_to(target), whole(target - sold), because(sold > 0), false, LONG_AGO);
            let happened = matches!(settled, Settlement::Happened { .. });
            prop_assert!(happened, "{:?}", settled);
        }

        #[test]
        fn a_level_that_is_higher_or_lower_without_a_sale_was_not_set(
            target in 0i64..1_000, there in 0i64..1_000, explained: bool,
        ) {
            prop_assume!(target != there && !(explained && there < target));
            let settled = settle(&set_to(target), whole(there), because(explained), false, LONG_AGO);
            let did_not = matches!(settled, Settlement::DidNotHappen { .. });
            prop_assert!(did_not, "{:?}", settled);
        }
    }

    #[test]
    fn a_lost_set_is_settled_by_what_the_product_shows() {
        for (there, is_explained, happened) in [
            (5, false, true),
            (5, true, true),
            (4, true, true),
            (4, false, false),
            (6, true, false),
            (6, false, false),
        ] {
            let settled = settle(&set_to(5), whole(there), because(is_explained), false, LONG_AGO);
            assert_eq!(matches!(settled, Settlement::Happened { .. }), happened, "{there} {is_explained}");
        }
    }

    // withstands: F001
    #[test]
    fn a_lower_level_is_not_set_again_where_goods_may_have_been_sold_of_which_nothing_tells() {
        for (there, seconds, expected) in
            [(4, 29, "not yet"), (4, 30, "unprovable"), (5, 30, "happened"), (6, 30, "did not happen")]
        {
            let settled =
                settle(&set_to(5), whole(there), Explanation::Unknown, false, TimeDelta::seconds(seconds));
            let said = match settled {
                Settlement::NotYet(_) => "not yet",
                Settlement::Unprovable(_) => "unprovable",
                Settlement::Happened { .. } => "happened",
                Settlement::DidNotHappen { .. } => "did not happen",
            };
            assert_eq!(said, expected, "{there} after {seconds} s");
        }
    }

    #[test]
    fn a_lost_set_waits_for_a_reading_that_shows_the_change_before_it() {
        for (there, is_explained) in [(5, false), (4, true), (4, false), (9, false)] {
            let settled = settle(&set_to(5), whole(there), because(is_explained), true, LONG_AGO);
            assert!(matches!(settled, Settlement::NotYet(_)), "{there} {is_explained}: {settled:?}");
        }
    }

    #[test]
    fn a_level_without_a_quantity_proves_nothing_of_a_lost_set() {
        for (seconds, over) in [(0, false), (29, false), (30, true), (3_600, true)] {
            let expected = match over {
                true => Settlement::Unprovable(doubtful("unprovable")),
                false => Settlement::NotYet(RECHECK_INTERVAL),
            };
            assert_eq!(settle_unknown(TimeDelta::seconds(seconds)), expected, "{seconds}");
        }
    }
}
