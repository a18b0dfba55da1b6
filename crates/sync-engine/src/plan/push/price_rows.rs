//! Price rows (`erp_prices`): which rows ask for something, the tier that each asks for, all tiers that result, and the
//! guards. [`super::super::tiers`] plans the steps.

use std::collections::HashMap;

use espelho_model::{
    Sku,
    push::PushState,
    text,
    text::{Arg, Text},
};
use espelho_store::TierIntent;
use rust_decimal::Decimal;

use super::{Message, Verdict};
use crate::plan::{
    guards::{Guards, PriceHeld},
    tiers::{Mode, Package, Tier},
};

/// Returns why the guards hold a row, and the price that results from it. `floor` is the SKU's own floor, where it has one.
pub fn held_by_price_guard(
    guards: &Guards,
    floor: Option<Decimal>,
    row: &TierIntent,
    current: &[Tier],
) -> Option<(PriceHeld, Decimal)> {
    let base = current.iter().find(|tier| tier.min_quantity == 1).and_then(|tier| tier.price);
    // A value that is no discount is refused by its rule, and not offered for release.
    let cut = |percent: Decimal| {
        let is_one = percent >= Decimal::ZERO && percent < Decimal::ONE_HUNDRED;
        base.filter(|_| is_one).map(|base| base * (Decimal::ONE_HUNDRED - percent) / Decimal::ONE_HUNDRED)
    };
    let price = row.price().or_else(|| row.discount().and_then(cut))?;
    // The current unit price for this quantity, from the tier that applies to it.
    let applies = |tier: &&Tier| i64::from(tier.min_quantity) <= row.min_quantity;
    let before = current.iter().filter(applies).max_by_key(|tier| tier.min_quantity);
    let mut guards = guards.clone();
    guards.price_floor = floor.unwrap_or(guards.price_floor);
    Some((guards.holds_price(before.and_then(|tier| tier.price), price)?, price))
}

/// Returns all desired tiers: those that the ERP asks for, and the current ones that stay. A tier that the ERP has
/// `named` and does not ask for now (a row that is held or ignored) stays as it is.
pub fn merge_tiers(asked: &[Tier], current: &[Tier], named: &[i64], removes_missing: bool) -> Vec<Tier> {
    let mut tiers = asked.to_vec();
    let is_asked = |tier: &Tier| asked.iter().any(|own| own.min_quantity == tier.min_quantity);
    // The base tier can never go; the others go only where the ERP's list is the whole list.
    let stays = |tier: &&Tier| {
        let is_named = named.contains(&i64::from(tier.min_quantity));
        !is_asked(tier) && (tier.min_quantity == 1 || !removes_missing || is_named)
    };
    tiers.extend(current.iter().filter(stays).copied());
    tiers.sort_by_key(|tier| tier.min_quantity);
    tiers
}

/// Says whether a row is answered: a failed row may have failed because of another row that was corrected.
pub fn is_asked(row: &TierIntent) -> bool {
    row.is_open() || row.state == Some(PushState::Failed)
}

/// Says whether a person released a row's value from the guards.
pub fn is_released(sku: &Sku, row: &TierIntent, released: &HashMap<String, String>) -> bool {
    released.get(&key_in_table(sku, row)) == Some(&row.value())
}

/// The key of a tier in `v_errors`, in releases and on the command line.
pub fn key_in_table(sku: &Sku, row: &TierIntent) -> String {
    format!("{sku}/{}", row.min_quantity)
}

/// Returns the tier that a row asks for, or what is wrong with it.
///
/// # Errors
/// When the row is no tier.
pub fn tier_of(row: &TierIntent) -> Result<Tier, Text> {
    if row.is_garbled() {
        return Err(text!("value-tier-garbled", tier = row.min_quantity));
    }
    let min_quantity = u32::try_from(row.min_quantity).ok().filter(|quantity| *quantity > 0);
    let min_quantity = min_quantity.ok_or_else(|| {
        let rule = text!("value-rule-one-or-more");
        text!("value-rule", field = "min_quantity", value = row.min_quantity.to_string(), rule = rule)
    })?;
    let package = match row.package {
        [None, None, None, None] => None,
        [Some(weight), Some(height), Some(width), Some(length)] => {
            Some(Package { weight, height, width, length })
        }
        _ => return Err(text!("value-tier-package", tier = min_quantity)),
    };
    if row.price().is_some_and(|price| price < Decimal::ZERO) {
        return Err(text!("value-tier-negative", tier = min_quantity));
    }
    Ok(Tier { min_quantity, price: row.price(), discount_percent: row.discount(), package })
}

/// A step that was refused, and the tiers of the product after it.
#[derive(Clone, Debug)]
pub struct RefusedStep {
    /// The quantity from which its tier applies.
    pub min_quantity: u32,
    /// The verdict for the row of that tier.
    pub verdict: Verdict,
    /// How the product is priced.
    pub mode: Mode,
    /// Its tiers now.
    pub current: Vec<Tier>,
}

/// Returns the verdict for each row after a refused step. A row whose tier is there is done, the row of the refused
/// tier has the refusal, and the others say which tier they follow. A refused step that no row names concerns all.
pub fn verdicts_after_refusal(rows: &[TierIntent], refused: &RefusedStep) -> Vec<Verdict> {
    let is_refused = |row: &TierIntent| row.min_quantity == i64::from(refused.min_quantity);
    if !rows.iter().any(is_refused) {
        return vec![refused.verdict.clone(); rows.len()];
    }
    let verdict = |row: &TierIntent| match tier_of(row) {
        _ if is_refused(row) => refused.verdict.clone(),
        Ok(tier) if tier.is_met(refused.mode, &refused.current) => Verdict::Done(None),
        _ => {
            let text = text!("push-tier-refused", tier = refused.min_quantity);
            Verdict::Failed(Message::new("tier_refused", text))
        }
    };
    rows.iter().map(verdict).collect()
}

/// The words for a price that a guard holds.
pub fn held_message(held: &PriceHeld, price: Decimal) -> Message {
    let price = Arg::Money(price);
    match held {
        PriceHeld::Zero => Message::new("price_zero", text!("push-price-zero")),
        PriceHeld::BelowFloor(floor) => {
            let floor = Arg::Money(*floor);
            Message::new("price_floor", text!("push-price-floor", price = price, floor = floor))
        }
        PriceHeld::Jumps(percent) => {
            let percent = Arg::Quantity(*percent);
            Message::new("price_jump", text!("push-price-jump", price = price, percent = percent))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(min_quantity: u32, price: i64) -> Tier {
        Tier { min_quantity, price: Some(Decimal::from(price)), discount_percent: None, package: None }
    }

    fn number(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn row(min_quantity: i64, price: Option<&str>, discount: Option<&str>) -> TierIntent {
        TierIntent {
            min_quantity,
            price: price.map(str::to_owned),
            discount_percent: discount.map(str::to_owned),
            package: [None; 4],
            package_written: String::new(),
            state: Some(PushState::New),
            updated_at: None,
            code: None,
        }
    }

    fn in_state(state: Option<PushState>) -> TierIntent {
        TierIntent { state, ..row(1, Some("10"), None) }
    }

    /// What the guards hold of a row, with nothing else but the tiers of 1 at 100 and of 10 at 50.
    fn held(row: &TierIntent, floor: Option<&str>) -> Option<(PriceHeld, Decimal)> {
        let current = [tier(10, 50), tier(1, 100)];
        held_by_price_guard(&Guards::default(), floor.map(number), row, &current)
    }

    #[test]
    fn after_a_refused_step_each_row_says_what_became_of_its_own_tier() {
        let refusal = Verdict::Failed(Message::new("VALIDATION_ERROR", text!("push-price-zero")));
        let rows = [row(1, Some("90"), None), row(10, Some("95"), None), row(50, Some("40"), None)];
        let after = |min_quantity| {
            let (mode, current) = (Mode::Manual, vec![tier(1, 90), tier(10, 50)]);
            let refused = RefusedStep { min_quantity, verdict: refusal.clone(), mode, current };
            verdicts_after_refusal(&rows, &refused)
        };
        let follows = Message::new("tier_refused", text!("push-tier-refused", tier = 10_u32));
        assert_eq!(after(10), [Verdict::Done(None), refusal.clone(), Verdict::Failed(follows)]);
        let all = vec![refusal.clone(); 3];
        assert_eq!(after(30), all, "a tier that no row names could not be deleted");
    }

    #[test]
    fn a_price_is_compared_with_that_of_the_tier_which_applies_to_its_quantity() {
        let jumps = |min_quantity, price| {
            let (held, of) = held(&row(min_quantity, Some(price), None), None)?;
            assert_eq!(of, number(price));
            Some(held)
        };
        let fall = |percent: &str| Some(PriceHeld::Jumps(number(percent)));
        assert_eq!(jumps(1, "15"), fall("-85"));
        assert_eq!((jumps(9, "15"), jumps(9, "20")), (fall("-85"), None), "the tier of 1 applies");
        assert_eq!((jumps(10, "15"), jumps(10, "9")), (None, fall("-82")), "the tier of 10 applies");
        assert_eq!((jumps(11, "15"), jumps(11, "251")), (None, fall("402")));
        let first = held_by_price_guard(&Guards::default(), None, &row(5, Some("1"), None), &[tier(10, 50)]);
        assert_eq!(first, None, "nothing applies yet");
    }

    #[test]
    fn a_discount_is_guarded_by_the_price_that_results_from_the_base_tier() {
        let discount = |min_quantity, percent| held(&row(min_quantity, None, Some(percent)), None);
        assert_eq!(discount(1, "81"), Some((PriceHeld::Jumps(number("-81")), number("19"))));
        assert_eq!((discount(1, "80"), discount(1, "0")), (None, None));
        assert_eq!(
            discount(10, "92"),
            Some((PriceHeld::Jumps(number("-84")), number("8"))),
            "of 100, not of 50"
        );
        for no_discount in ["100", "101", "-1", "-900"] {
            assert_eq!(discount(1, no_discount), None, "{no_discount}: its rule refuses it");
        }
        let without_base = [tier(10, 50)];
        let row = row(10, None, Some("99"));
        assert_eq!(held_by_price_guard(&Guards::default(), None, &row, &without_base), None);
    }

    #[test]
    fn the_floor_of_a_sku_is_in_place_of_that_of_the_shop() {
        let guards = Guards { price_floor: number("30"), ..Guards::default() };
        let held = |floor, price| {
            let row = row(1, Some(price), None);
            held_by_price_guard(&guards, floor, &row, &[tier(1, 40)]).map(|(held, _)| held)
        };
        let below = |floor| Some(PriceHeld::BelowFloor(number(floor)));
        assert_eq!((held(None, "29"), held(None, "30")), (below("30"), None));
        assert_eq!((held(Some(number("35")), "34"), held(Some(number("20")), "29")), (below("35"), None));
    }

    #[test]
    fn open_and_failed_rows_are_answered() {
        use PushState::{Done, Failed, Held, Ignored, New, Sending, Superseded, Waiting};
        for state in [New, Waiting, Sending, Failed] {
            assert!(is_asked(&in_state(Some(state))), "{state:?}");
        }
        for state in [Done, Held, Ignored, Superseded] {
            assert!(!is_asked(&in_state(Some(state))), "{state:?}");
        }
        assert!(!is_asked(&in_state(None)), "a state that nobody knows");
    }

    #[test]
    fn a_release_is_for_one_tier_and_one_value() {
        let (sku, row) = (Sku::new("A"), row(10, Some("9.90"), None));
        let released = |key: &str, value: &str| {
            is_released(&sku, &row, &HashMap::from([(key.to_owned(), value.to_owned())]))
        };
        assert_eq!(key_in_table(&sku, &row), "A/10");
        assert!(released("A/10", "9.90"));
        assert!(!released("A/10", "9.91") && !released("A/1", "9.90") && !released("B/10", "9.90"));
        assert!(!is_released(&sku, &row, &HashMap::new()));
    }

    #[test]
    fn a_row_is_a_tier_when_each_of_its_values_is_one() {
        let plain = tier_of(&row(1, Some("9.90"), None)).unwrap();
        assert_eq!(
            plain,
            Tier { min_quantity: 1, price: Some(number("9.90")), discount_percent: None, package: None }
        );
        let discount = tier_of(&row(10, None, Some("5"))).unwrap();
        assert_eq!((discount.min_quantity, discount.discount_percent), (10, Some(number("5"))));
        assert!(tier_of(&row(1, Some("0"), None)).is_ok(), "the guards hold it");
        for (min_quantity, price, discount) in [
            (0, Some("1"), None),
            (-1, Some("1"), None),
            (i64::MAX, Some("1"), None),
            (1, Some("-0.01"), None),
            (1, Some("caro"), None),
            (1, None, Some("pouco")),
        ] {
            assert!(tier_of(&row(min_quantity, price, discount)).is_err(), "{min_quantity} {price:?}");
        }
    }

    #[test]
    fn a_package_has_all_its_measures_or_none() {
        let of = |package: [Option<i64>; 4]| {
            let package = package.map(|measure| measure.map(Decimal::from));
            tier_of(&TierIntent { package, ..row(1, Some("9.90"), None) }).map(|tier| tier.package)
        };
        let [weight, height, width, length] = [1, 2, 3, 4].map(Decimal::from);
        assert_eq!(
            of([Some(1), Some(2), Some(3), Some(4)]),
            Ok(Some(Package { weight, height, width, length }))
        );
        assert_eq!(of([None; 4]), Ok(None));
        assert!(of([Some(1), Some(2), Some(3), None]).is_err() && of([None, None, None, Some(4)]).is_err());
    }

    #[test]
    fn tiers_that_the_erp_does_not_write_stay_unless_its_list_is_the_whole_list() {
        let current = [tier(1, 10), tier(5, 9), tier(10, 8)];
        let merged = |asked: &[Tier], named: &[i64], removes_missing: bool| {
            let tiers = merge_tiers(asked, &current, named, removes_missing);
            let plain = |tier: &Tier| (tier.min_quantity, tier.price.unwrap_or_default().to_string());
            tiers.iter().map(plain).collect::<Vec<_>>()
        };
        let of = |tiers: &[(u32, &str)]| -> Vec<(u32, String)> {
            tiers.iter().map(|(quantity, price)| (*quantity, (*price).to_owned())).collect()
        };
        assert_eq!(merged(&[tier(5, 7)], &[5], false), of(&[(1, "10"), (5, "7"), (10, "8")]));
        assert_eq!(merged(&[tier(5, 7)], &[5], true), of(&[(1, "10"), (5, "7")]), "the base tier never goes");
        assert_eq!(
            merged(&[tier(5, 7)], &[5, 10], true),
            of(&[(1, "10"), (5, "7"), (10, "8")]),
            "10 is held"
        );
        assert_eq!(merged(&[tier(2, 9)], &[], false)[1], (2, "9".to_owned()), "in order");
        assert_eq!(merged(&[], &[], false), of(&[(1, "10"), (5, "9"), (10, "8")]));
    }
}
