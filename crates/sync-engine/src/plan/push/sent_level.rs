//! Levels that were sent (`erp_stock` in `sending`): a later reading decides whether the marketplace has the level as it was
//! set. `unsent_level` does the same for levels that the mirror showed, `lost_level` for those whose answer was lost.

use std::time::Duration;

use espelho_model::{
    ProductId, text,
    text::{Arg, Text},
};
use rust_decimal::Decimal;

use super::{Message, Verdict, doubtful, level_history::LastSet, stock_level::Basis};
use crate::plan::stock_balance::Explanation;

/// For so long a sale that the mirror has not heard of may still explain a level that is not as it was set.
pub(super) const EXPLAINED_WITHIN: Duration = Duration::from_secs(30);
/// The time between two checks of such a level.
pub(super) const RECHECK_INTERVAL: Duration = Duration::from_secs(5);

/// A level as the marketplace shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLevel {
    /// The physical quantity.
    pub quantity: Decimal,
    /// The part of it that the platform has reserved.
    pub reserved: Decimal,
}

/// The result of comparing a level with a reading.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// The row is answered, or waits.
    Answer(Verdict),
    /// The level is lower than it should be by so much (negative: higher). The dispatches since then decide.
    Differs(Decimal),
}

/// Returns the product whose level verifies a sent level: the one that received the request, and no other that came to have
/// its SKU since. `of_sku` are the products that have it now. `None` where nothing verifies it: the product has another SKU
/// by now, or the journal does not name it and two products share the SKU; then the row begins anew.
pub fn shown_by(sent_to: Option<ProductId>, of_sku: &[ProductId]) -> Option<ProductId> {
    match (sent_to, of_sku) {
        (Some(sent_to), of_sku) => of_sku.contains(&sent_to).then_some(sent_to),
        (None, [only]) => Some(only.clone()),
        (None, _) => None,
    }
}

/// The reason why a level is not as it was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Dispatches explain it.
    Sold,
    /// An earlier set of ours, whose answer was lost, was carried out after it ([`LastSet::is_overwritten`]).
    Overwritten,
    /// Nothing that is known.
    Unexplained,
}

impl Difference {
    /// Decides between the reasons: dispatches first. `is_overwritten` says that the level shows a lost set, and that nothing
    /// may have left that would be put on sale again.
    pub fn of(explanation: Explanation, is_overwritten: bool) -> Self {
        match explanation {
            Explanation::Sold => Self::Sold,
            Explanation::NotSold if is_overwritten => Self::Overwritten,
            Explanation::NotSold | Explanation::Unknown => Self::Unexplained,
        }
    }
}

/// Compares a level that was sent with the marketplace's. The quantity that was set counts, not the one that would be set
/// by now: goods that were sold meanwhile must not be put on sale again.
pub fn compare(basis: Basis, desired: Decimal, shown: ShownLevel, set: &LastSet) -> Comparison {
    let ShownLevel { quantity, reserved } = shown;
    // Goods that were reserved when it was set have left since: what was to cover them would be sold once more.
    let was_for_others = set.moved.is_zero() && desired + reserved != set.target;
    if basis == Basis::Available && was_for_others && quantity - reserved > desired {
        return Comparison::Answer(Verdict::Requeue);
    }
    match set.expected() - quantity {
        lower if lower.is_zero() => Comparison::Answer(as_set(shown, set)),
        lower => Comparison::Differs(lower),
    }
}

/// Returns the verdict for a level that is not as it was set. `doubted_for` says how long ago that was first seen. One that was
/// overwritten is set again once no lost set may be carried out any more.
pub fn after_comparing(
    shown: ShownLevel,
    set: &LastSet,
    difference: Difference,
    doubted_for: Duration,
) -> Verdict {
    match (difference, set.may_be_overwritten_for) {
        (Difference::Sold, _) => as_set(shown, set),
        (Difference::Overwritten, Some(wait)) => Verdict::RetryAfter(wait),
        (Difference::Overwritten, None) => Verdict::Requeue,
        (Difference::Unexplained, _) if doubted_for < EXPLAINED_WITHIN => {
            Verdict::RetryAfter(RECHECK_INTERVAL)
        }
        (Difference::Unexplained, _) => Verdict::Failed(conflict(set.expected(), shown.quantity)),
    }
}

/// Returns the verdict for a sent level that the marketplace shows without a quantity, which is evidence neither
/// for nor against it. `doubted_for` says how long ago it was first seen so.
pub fn verdict_without_quantity(doubted_for: Duration) -> Verdict {
    match doubted_for < EXPLAINED_WITHIN {
        true => Verdict::RetryAfter(RECHECK_INTERVAL),
        false => Verdict::Failed(doubtful("unprovable")),
    }
}

fn as_set(ShownLevel { quantity, reserved }: ShownLevel, set: &LastSet) -> Verdict {
    match (set.may_be_overwritten_for, reserved > quantity) {
        (Some(wait), _) => Verdict::RetryAfter(wait),
        (None, true) => Verdict::DoneBut(oversold(quantity, reserved)),
        (None, false) => Verdict::Done(None),
    }
}

fn oversold(quantity: Decimal, reserved: Decimal) -> Message {
    let (reserved, quantity) = (Arg::Quantity(reserved), Arg::Quantity(quantity));
    let text: Text = text!("push-oversold", reserved = reserved, quantity = quantity);
    Message::new("oversold", text)
}

fn conflict(desired: Decimal, quantity: Decimal) -> Message {
    let (wanted, quantity) = (Arg::Quantity(desired), Arg::Quantity(quantity));
    Message::new("stock_conflict", text!("push-stock-conflict", wanted = wanted, quantity = quantity))
}

#[cfg(test)]
mod tests {
    use espelho_store::Effect;

    use super::{
        super::{
            level_history::{
                last_set,
                tests::{CONFIRMED, REFUTED, moved, set, whole},
            },
            tests::at,
        },
        *,
    };

    fn checked(basis: Basis, desired: i64, quantity: i64, reserved: i64, effects: &[Effect]) -> Comparison {
        let shown = ShownLevel { quantity: whole(quantity), reserved: whole(reserved) };
        compare(basis, whole(desired), shown, &last_set(effects, at(60)).unwrap())
    }

    #[test]
    fn a_level_that_is_as_it_was_set_is_done() {
        let done = Comparison::Answer(Verdict::Done(None));
        assert_eq!(checked(Basis::Physical, 7, 7, 0, &[set(7, CONFIRMED)]), done);
        assert_eq!(checked(Basis::Physical, 7, 7, 7, &[set(7, CONFIRMED)]), done, "all of it is reserved");
        assert_eq!(checked(Basis::Physical, 7, 5, 0, &[moved(-2, CONFIRMED), set(7, CONFIRMED)]), done);
        let Comparison::Answer(Verdict::DoneBut(message)) =
            checked(Basis::Physical, 7, 7, 8, &[set(7, CONFIRMED)])
        else {
            panic!("more is reserved than is there")
        };
        assert_eq!(message.code, "oversold");
    }

    #[test]
    fn a_level_that_differs_is_compared_with_what_was_dispatched() {
        assert_eq!(checked(Basis::Physical, 7, 5, 0, &[set(7, CONFIRMED)]), Comparison::Differs(whole(2)));
        assert_eq!(checked(Basis::Physical, 7, 9, 0, &[set(7, CONFIRMED)]), Comparison::Differs(whole(-2)));
        let shown = ShownLevel { quantity: whole(5), reserved: whole(0) };
        let last = last_set(&[set(7, CONFIRMED)], at(60)).unwrap();
        let after =
            |difference, seconds| after_comparing(shown, &last, difference, Duration::from_secs(seconds));
        assert_eq!(after(Difference::Sold, 0), Verdict::Done(None));
        assert_eq!(after(Difference::Unexplained, 0), Verdict::RetryAfter(RECHECK_INTERVAL));
        assert_eq!(after(Difference::Unexplained, 29), Verdict::RetryAfter(RECHECK_INTERVAL));
        assert_eq!(after(Difference::Unexplained, 30), Verdict::Failed(conflict(whole(7), whole(5))));
        let last = last_set(&[moved(-1, CONFIRMED), set(7, CONFIRMED)], at(60)).unwrap();
        let given_up = after_comparing(shown, &last, Difference::Unexplained, EXPLAINED_WITHIN);
        assert_eq!(given_up, Verdict::Failed(conflict(whole(6), whole(5))), "we took one ourselves");
    }

    // withstands: F001
    #[test]
    fn a_level_that_a_lost_set_has_overwritten_is_set_again_once_none_may_be_carried_out_any_more() {
        use Difference::{Overwritten, Sold, Unexplained};
        let effects = [set(0, CONFIRMED), set(12, REFUTED)];
        let shown = ShownLevel { quantity: whole(12), reserved: whole(0) };
        let wait = |seconds| Verdict::RetryAfter(Duration::from_secs(seconds));
        for (second, difference, expected) in [
            (10, Overwritten, wait(30)),
            (39, Overwritten, wait(1)),
            (40, Overwritten, Verdict::Requeue),
            (80, Overwritten, Verdict::Requeue),
            (80, Unexplained, Verdict::Failed(conflict(whole(0), whole(12)))),
        ] {
            let last = last_set(&effects, at(second)).unwrap();
            let verdict = after_comparing(shown, &last, difference, Duration::from_secs(60));
            assert_eq!(verdict, expected, "{second} {difference:?}");
        }
        for (explanation, is_overwritten, expected) in [
            (Explanation::Sold, true, Sold),
            (Explanation::Sold, false, Sold),
            (Explanation::NotSold, true, Overwritten),
            (Explanation::NotSold, false, Unexplained),
            (Explanation::Unknown, true, Unexplained),
            (Explanation::Unknown, false, Unexplained),
        ] {
            assert_eq!(Difference::of(explanation, is_overwritten), expected, "{explanation:?}");
        }
    }

    #[test]
    fn a_level_without_a_quantity_is_evidence_neither_for_nor_against_what_was_set() {
        let unprovable = doubtful("unprovable");
        for (seconds, over) in [(0_u32, false), (29, false), (30, true), (3_600, true)] {
            let verdict = match over {
                true => Verdict::Failed(unprovable.clone()),
                false => Verdict::RetryAfter(RECHECK_INTERVAL),
            };
            assert_eq!(verdict_without_quantity(Duration::from_secs(seconds.into())), verdict, "{seconds}");
        }
    }

    // withstands: F001
    #[test]
    fn what_was_set_to_cover_reserved_goods_that_have_left_is_set_again() {
        let covered = [set(9, CONFIRMED)];
        assert_eq!(checked(Basis::Available, 7, 9, 2, &covered), Comparison::Answer(Verdict::Done(None)));
        assert_eq!(
            checked(Basis::Available, 7, 9, 0, &covered),
            Comparison::Answer(Verdict::Requeue),
            "9 would be on sale"
        );
        assert_eq!(
            checked(Basis::Available, 7, 7, 0, &covered),
            Comparison::Differs(whole(2)),
            "the goods have left"
        );
        assert_eq!(
            checked(Basis::Available, 7, 9, 4, &covered),
            Comparison::Answer(Verdict::Done(None)),
            "5 are on sale"
        );
        assert_eq!(checked(Basis::Physical, 9, 9, 0, &covered), Comparison::Answer(Verdict::Done(None)));
        assert_eq!(
            checked(Basis::Available, 7, 10, 2, &covered),
            Comparison::Differs(whole(-1)),
            "what is reserved has not changed; somebody added one"
        );
        assert_eq!(
            checked(Basis::Available, 7, 9, 0, &[moved(-1, CONFIRMED), set(9, CONFIRMED)]),
            Comparison::Differs(whole(-1)),
            "we moved stock ourselves since"
        );
    }

    #[test]
    fn a_sent_level_is_shown_by_the_product_that_it_went_to_while_that_has_the_sku() {
        for (sent_to, of_sku, expected) in [
            (Some("P"), &["P"][..], Some("P")),
            (Some("P"), &["O", "P"], Some("P")),
            (Some("P"), &["O"], None),
            (Some("P"), &["O", "Q"], None),
            (Some("P"), &[], None),
            (None, &["O"], Some("O")),
            (None, &["O", "Q"], None),
            (None, &[], None),
        ] {
            let of_sku: Vec<ProductId> = of_sku.iter().copied().map(ProductId::new).collect();
            let found = shown_by(sent_to.map(ProductId::new), &of_sku);
            assert_eq!(found, expected.map(ProductId::new), "{sent_to:?} {of_sku:?}");
        }
    }
}
