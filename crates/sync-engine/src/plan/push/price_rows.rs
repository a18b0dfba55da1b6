//! Price rows (`erp_prices`): which rows ask for something, the tier that each asks for, all tiers that result, and the
//! guards. [`super::super::tiers`] plans the steps.

use std::collections::HashMap;

use espelho_model::{
    Sku,
    money::unreadable,
    push::PushState,
    text,
    text::{Arg, Text},
};
use espelho_store::TierIntent;
use rust_decimal::Decimal;

use super::{
    Message, Verdict,
    price_zero::{is_tier_zero, is_zero},
};
use crate::plan::{
    guards::{Guards, PriceHeld},
    tiers::{Mode, Package, Tier},
};

/// The prices of a product before and after the planned steps, and the rows that are answered with them.
#[derive(Clone, Copy, Debug)]
pub struct PriceChange<'a> {
    /// How the product is priced.
    pub mode: Mode,
    /// Its tiers now.
    pub current: &'a [Tier],
    /// Its tiers after the steps.
    pub desired: &'a [Tier],
    /// The rows that are answered.
    pub rows: &'a [TierIntent],
}

impl PriceChange<'_> {
    /// Says whether the guards look at a tier's price for a row. A change that no answered row causes (a row
    /// done before is applied again with them) concerns them all.
    fn concerns(&self, row: &TierIntent, tier: &Tier) -> bool {
        let changes = || self.follows_base(tier) || !tier.is_met(self.mode, self.current);
        let has_cause = || self.rows.iter().any(|row| self.is_cause(row, tier));
        self.is_cause(row, tier) || (changes() && !has_cause())
    }

    /// Says whether a row asks for another tier than there is, or for the base price, which changes the tier's too. A row
    /// that is written again as it is causes nothing: it need not be released beside the base price.
    fn is_cause(&self, row: &TierIntent, tier: &Tier) -> bool {
        let is_base = row.min_quantity == 1;
        let is_own = i64::from(tier.min_quantity) == row.min_quantity;
        (is_own && (is_base || !tier.is_met(self.mode, self.current))) || (is_base && self.follows_base(tier))
    }

    /// Says whether the base price changes, and the tier's price with it.
    fn follows_base(&self, tier: &Tier) -> bool {
        tier.is_discount(self.mode) && price_at(1, self.desired) != price_at(1, self.current)
    }
}

/// Returns why the guards hold a row, and the price that results from it on the marketplace: the lowest,
/// where several are held. `floor` is the SKU's own floor, where it has one.
pub fn held_by_price_guard(
    guards: &Guards,
    floor: Option<Decimal>,
    row: &TierIntent,
    change: &PriceChange<'_>,
) -> Option<(PriceHeld, Decimal)> {
    let guards = with_floor(guards, floor);
    let base = price_at(1, change.desired);
    let held = |tier: &Tier| {
        // A value that the rules refuse has no price, and is not offered for release.
        let price = tier.resulting_price(change.mode, base)?;
        Some((guards.holds_price(price_at(tier.min_quantity, change.current), price)?, price))
    };
    let concerned = change.desired.iter().filter(|tier| change.concerns(row, tier));
    concerned.filter_map(held).min_by_key(|(_, price)| *price)
}

/// Returns why the guards hold a product's change from one mode to another, and the lowest price that they
/// hold. Automatic wholesale brings back discounts that did not count before.
pub fn held_by_mode_guard(
    guards: &Guards,
    floor: Option<Decimal>,
    [before, after]: [Mode; 2],
    current: &[Tier],
) -> Option<(PriceHeld, Decimal)> {
    if before == after {
        return None;
    }
    let guards = with_floor(guards, floor);
    let base = price_at(1, current);
    let held = |tier: &Tier| {
        let price = tier.resulting_price(after, base).filter(|price| tier.price != Some(*price))?;
        Some((guards.holds_price(tier.price, price)?, price))
    };
    current.iter().filter_map(held).min_by_key(|(_, price)| *price)
}

fn with_floor(guards: &Guards, floor: Option<Decimal>) -> Guards {
    Guards { price_floor: floor.unwrap_or(guards.price_floor), ..guards.clone() }
}

/// Returns the unit price at a quantity, from the tier that applies to it.
fn price_at(quantity: u32, tiers: &[Tier]) -> Option<Decimal> {
    let applies = |tier: &&Tier| tier.min_quantity <= quantity;
    tiers.iter().filter(applies).max_by_key(|tier| tier.min_quantity)?.price
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
    let release = released.get(&key_in_table(sku, row));
    release.is_some_and(|release| TierIntent::parts_of_release(release).0 == row.value())
}

/// Says whether a person released a row's value at a price that was shown to them, and that the resulting one
/// does not go beyond: a base price that changed since changes the price beside a discount too.
pub fn is_released_at(
    sku: &Sku,
    row: &TierIntent,
    released: &HashMap<String, String>,
    held: &PriceHeld,
    price: Decimal,
) -> bool {
    let Some(release) = released.get(&key_in_table(sku, row)) else { return false };
    let (value, shown) = TierIntent::parts_of_release(release);
    let is_within = |shown: Decimal| match held {
        PriceHeld::Zero => false,
        PriceHeld::Jumps(percent) if percent.is_sign_positive() => price <= shown,
        PriceHeld::BelowFloor(_) | PriceHeld::Jumps(_) => price >= shown,
    };
    value == row.value() && shown.is_some_and(is_within)
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
    if let Some((field, written)) = row.garbled() {
        return Err(text!("value-tier", tier = row.min_quantity, rule = unreadable(field, written)));
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
/// tier has the refusal, and the others say which tier they follow. A refused step that no row names concerns all. A row
/// whose tier is at zero says that.
pub fn verdicts_after_refusal(rows: &[TierIntent], refused: &RefusedStep) -> Vec<Verdict> {
    let is_refused = |row: &TierIntent| row.min_quantity == i64::from(refused.min_quantity);
    let is_named = rows.iter().any(is_refused);
    let is_over = refused.verdict.retry_after().is_none();
    let verdict = |row: &TierIntent| match tier_of(row) {
        _ if is_over && is_tier_zero(row.min_quantity, &refused.current) => Verdict::Failed(is_zero()),
        _ if is_refused(row) || !is_named => refused.verdict.clone(),
        Ok(tier) if tier.is_met(refused.mode, &refused.current) => Verdict::Done(None),
        _ => {
            let text = text!("push-tier-refused", tier = refused.min_quantity);
            Verdict::Failed(Message::new("tier_refused", text))
        }
    };
    rows.iter().map(verdict).collect()
}

/// The words for the price of a SKU that a guard holds.
pub fn held_message(sku: &str, held: &PriceHeld, price: Decimal) -> Message {
    let price = Arg::Money(price);
    match held {
        PriceHeld::Zero => Message::new("price_zero", text!("push-price-zero-of", sku = sku)),
        PriceHeld::BelowFloor(floor) => {
            let floor = Arg::Money(*floor);
            Message::new("price_floor", text!("push-price-floor-of", sku = sku, price = price, floor = floor))
        }
        PriceHeld::Jumps(percent) => {
            let way = if percent.is_sign_negative() { "falls" } else { "rises" };
            let percent = Arg::Quantity(percent.abs());
            let text = text!("push-price-jump-of", sku = sku, way = way, price = price, percent = percent);
            Message::new("price_jump", text)
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

    #[test]
    fn a_value_that_cannot_be_read_is_named_with_what_is_wrong_with_it() {
        let precise = format!("84.99{}1", "0".repeat(28));
        for (price, discount, expected) in [
            (Some(&*precise), None, format!("tier 1: price is “{precise}”, which has more decimals")),
            (Some("1e308"), None, "tier 1: price is “1e308”, which is larger".to_owned()),
            (None, Some("ten"), "tier 1: discount_percent is “ten”, which is not a number".to_owned()),
        ] {
            let problem = tier_of(&row(1, price, discount)).unwrap_err().to_string();
            assert!(problem.starts_with(&expected), "{problem}");
        }
    }

    /// A tier whose price is derived; the price is the mirrored one.
    fn derived(min_quantity: u32, price: Option<&str>, discount: &str) -> Tier {
        let price = price.map(number);
        Tier { min_quantity, price, discount_percent: Some(number(discount)), package: None }
    }

    /// Returns what the guards hold of each row, in order. All rows are answered, but those that are done.
    fn all_held(
        guards: &Guards,
        floor: Option<&str>,
        mode: Mode,
        current: &[Tier],
        rows: &[TierIntent],
    ) -> Vec<Option<(PriceHeld, Decimal)>> {
        let asked: Vec<Tier> = rows.iter().map(|row| tier_of(row).unwrap()).collect();
        let desired = merge_tiers(&asked, current, &[], false);
        let rows: Vec<TierIntent> = rows.iter().filter(|row| is_asked(row)).cloned().collect();
        let change = PriceChange { mode, current, desired: &desired, rows: &rows };
        let floor = floor.map(number);
        rows.iter().map(|row| held_by_price_guard(guards, floor, row, &change)).collect()
    }

    fn held_in(mode: Mode, current: &[Tier], row: TierIntent) -> Option<(PriceHeld, Decimal)> {
        all_held(&Guards::default(), None, mode, current, &[row]).remove(0)
    }

    fn jump(percent: &str, price: &str) -> Option<(PriceHeld, Decimal)> {
        Some((PriceHeld::Jumps(number(percent)), number(price)))
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
        let beside_zero = |verdict: &Verdict| {
            let (mode, current) = (Mode::Manual, vec![tier(1, 90), tier(10, 50), tier(50, 0)]);
            let refused = RefusedStep { min_quantity: 10, verdict: verdict.clone(), mode, current };
            verdicts_after_refusal(&rows, &refused)
        };
        let zero = Verdict::Failed(is_zero());
        assert_eq!(beside_zero(&refusal), [Verdict::Done(None), refusal.clone(), zero]);
        let again = Verdict::RetryAfter(std::time::Duration::ZERO);
        assert_ne!(beside_zero(&again)[2], Verdict::Failed(is_zero()), "the next attempt reads it again");
    }

    #[test]
    fn a_price_is_compared_with_that_of_the_tier_which_applies_to_its_quantity() {
        let current = [tier(10, 50), tier(1, 100)];
        for (min_quantity, price, expected) in [
            (1, "15", jump("-85", "15")),
            (9, "15", jump("-85", "15")),
            (9, "20", None),
            (10, "15", None),
            (10, "9", jump("-82", "9")),
            (11, "15", None),
            (11, "251", jump("402", "251")),
        ] {
            let row = row(min_quantity, Some(price), None);
            assert_eq!(held_in(Mode::Manual, &current, row), expected, "{min_quantity}: {price}");
        }
        let first = held_in(Mode::Manual, &[tier(10, 50)], row(5, Some("1"), None));
        assert_eq!(first, None, "nothing applies yet");
    }

    #[test]
    fn a_discount_is_guarded_by_the_price_that_results_from_the_base_tier() {
        let current = [derived(10, Some("50"), "50"), tier(1, 100)];
        let discount =
            |min_quantity, percent| held_in(Mode::Auto, &current, row(min_quantity, None, Some(percent)));
        assert_eq!(discount(5, "81"), jump("-81", "19"));
        assert_eq!((discount(5, "80"), discount(5, "0")), (None, None));
        assert_eq!(discount(10, "92"), jump("-84", "8"), "of 100, not of 50");
        for no_discount in ["100", "101", "-1", "-900"] {
            assert_eq!(discount(5, no_discount), None, "{no_discount}: its rule refuses it");
        }
        let without_base = [derived(10, Some("50"), "50")];
        assert_eq!(held_in(Mode::Auto, &without_base, row(10, None, Some("99"))), None);
    }

    #[test]
    fn the_price_that_is_not_sent_in_a_mode_is_not_guarded() {
        let current = [tier(1, 100), derived(10, Some("60"), "40")];
        let both = |price, discount| row(10, Some(price), Some(discount));
        for (mode, row, expected) in [
            (Mode::Auto, both("60", "95"), jump("-91.7", "5")),
            (Mode::Auto, both("1", "45"), None),
            (Mode::Manual, both("60", "95"), None),
            (Mode::Manual, both("5", "45"), jump("-91.7", "5")),
            (Mode::Manual, TierIntent { min_quantity: 1, ..both("5", "45") }, jump("-95", "5")),
            (Mode::Auto, TierIntent { min_quantity: 1, ..both("21", "95") }, None),
            (Mode::Default, TierIntent { min_quantity: 1, ..both("5", "45") }, jump("-95", "5")),
        ] {
            assert_eq!(held_in(mode, &current, row.clone()), expected, "{mode:?} {row:?}");
        }
    }

    #[test]
    fn every_price_that_results_is_guarded_for_the_row_that_causes_it() {
        let current = [tier(1, 200), derived(40, Some("120"), "40")];
        let base = |price| row(1, Some(price), None);
        let discount = |percent| row(40, None, Some(percent));
        let done = |row: TierIntent| TierIntent { state: Some(PushState::Done), ..row };
        let floor = |price| Some((PriceHeld::BelowFloor(number("20")), number(price)));
        for (rows, expected, why) in [
            (vec![base("45")], vec![None], "27 results from 40 %"),
            (vec![discount("80")], vec![None], "40 results from 200"),
            (vec![base("45"), discount("80")], vec![floor("9"), floor("9")], "both cause it"),
            (vec![base("30"), discount("40")], vec![floor("18"), None], "the discount is as it was"),
            (vec![base("30")], vec![floor("18")], "the derived tier falls below the floor"),
            (vec![base("200"), discount("95")], vec![None, floor("10")], "the base is as it was"),
            (vec![base("201"), discount("41")], vec![None, None], "as it should be"),
            (vec![base("10"), discount("10")], vec![floor("9"), floor("9")], "the lowest of two"),
            (vec![done(base("30")), row(60, None, Some("41"))], vec![floor("17.7")], "applied again"),
            (vec![done(discount("95")), base("190")], vec![floor("9.5")], "applied again with the base"),
            (vec![done(discount("40")), row(60, None, Some("41"))], vec![None], "as it was"),
        ] {
            let held = all_held(&Guards::default(), Some("20"), Mode::Auto, &current, &rows);
            assert_eq!(held, expected, "{why}");
        }
        let fall = Guards { price_max_fall_percent: number("50"), ..Guards::default() };
        let held = all_held(&fall, None, Mode::Auto, &current, &[base("110"), discount("60")]);
        assert_eq!(held, [jump("-63.3", "44"), jump("-63.3", "44")], "compared with its mirrored price");
        let manual = [tier(1, 200), tier(40, 4)];
        let held = all_held(&Guards::default(), Some("20"), Mode::Manual, &manual, &[base("45")]);
        assert_eq!(held, [None], "prices of their own do not follow");
    }

    #[test]
    fn a_mode_that_brings_back_discounts_is_guarded() {
        let current = [tier(1, 200), derived(40, Some("150"), "95"), tier(60, 140)];
        let held = |modes| held_by_mode_guard(&Guards::default(), None, modes, &current);
        assert_eq!(held([Mode::Manual, Mode::Auto]), jump("-93.3", "10"));
        assert_eq!(held([Mode::Auto, Mode::Auto]), None, "nothing changes");
        assert_eq!(held([Mode::Auto, Mode::Manual]), None, "the prices stay");
        let mild = [tier(1, 200), derived(40, Some("150"), "25"), derived(60, Some("150"), "30")];
        let floor = |floor: &str| {
            let modes = [Mode::Manual, Mode::Auto];
            held_by_mode_guard(&Guards::default(), Some(number(floor)), modes, &mild)
        };
        assert_eq!(floor("140"), None);
        assert_eq!(floor("141"), Some((PriceHeld::BelowFloor(number("141")), number("140"))));
    }

    #[test]
    fn the_floor_of_a_sku_is_in_place_of_that_of_the_shop() {
        let guards = Guards { price_floor: number("30"), ..Guards::default() };
        let held = |floor, price| {
            let rows = [row(1, Some(price), None)];
            let held = all_held(&guards, floor, Mode::Default, &[tier(1, 40)], &rows).remove(0);
            held.map(|(held, _)| held)
        };
        let below = |floor| Some(PriceHeld::BelowFloor(number(floor)));
        assert_eq!((held(None, "29"), held(None, "30")), (below("30"), None));
        assert_eq!((held(Some("35"), "34"), held(Some("20"), "29")), (below("35"), None));
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
        assert!(released("A/10", "9.90") && released("A/10", "9.90 = 9.90"));
        assert!(!released("A/10", "9.91") && !released("A/1", "9.90") && !released("B/10", "9.90"));
        assert!(!is_released(&sku, &row, &HashMap::new()));
        let both = TierIntent { discount_percent: Some("95".to_owned()), ..row };
        let released =
            |value: &str| is_released(&sku, &both, &HashMap::from([("A/10".to_owned(), value.to_owned())]));
        assert!(released("9.90 -95 %"));
        assert!(!released("9.90") && !released("-95 %") && !released("9.90 -94 %"));
    }

    #[test]
    fn a_release_is_for_the_price_that_was_shown_and_none_beyond_it() {
        use PriceHeld::{BelowFloor, Jumps, Zero};
        let sku = Sku::new("A");
        let (fall, rise, floor) = (Jumps(number("-90")), Jumps(number("900")), BelowFloor(number("50")));
        for (discount, release, held, price, expected) in [
            ("90", "-90 % = 10.00", &fall, "10.00", true),
            ("90", "-90 % = 10.00", &fall, "10", true),
            ("90", "-90 % = 10.00", &fall, "12", true),
            ("90", "-90 % = 10.00", &fall, "9.99", false),
            ("90", "-90 % = 10.00", &floor, "10.00", true),
            ("90", "-90 % = 10.00", &floor, "9.99", false),
            ("90", "-90 % = 10.00", &rise, "10.00", true),
            ("90", "-90 % = 10.00", &rise, "9", true),
            ("90", "-90 % = 10.00", &rise, "10.01", false),
            ("91", "-90 % = 10.00", &fall, "10.00", false),
            ("90", "-90 %", &fall, "10.00", false),
            ("90", "-90 % = caro", &fall, "10.00", false),
            ("90", "-90 % = 0", &Zero, "0", false),
        ] {
            let row = row(10, None, Some(discount));
            let released = HashMap::from([("A/10".to_owned(), release.to_owned())]);
            let is_released = is_released_at(&sku, &row, &released, held, number(price));
            assert_eq!(is_released, expected, "{discount} {release} {held:?} {price}");
        }
        let row = row(10, None, Some("90"));
        assert!(!is_released_at(&sku, &row, &HashMap::new(), &fall, number("10")));
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

    #[test]
    fn what_a_guard_holds_names_the_product_and_the_price() {
        let locale = text::Locale::default();
        for (held, expected) in [
            (PriceHeld::Zero, "O preço de CAN-01 seria zero."),
            (PriceHeld::BelowFloor(number("2")), "O preço de CAN-01, R$ 0,05, está abaixo do piso R$ 2,00."),
            (PriceHeld::Jumps(number("-99.9")), "O preço de CAN-01 cairia 99,9 % de uma vez, para R$ 0,05."),
            (PriceHeld::Jumps(number("900")), "O preço de CAN-01 subiria 900 % de uma vez, para R$ 0,05."),
        ] {
            let said = held_message("CAN-01", &held, number("0.05")).text.message(locale);
            assert_eq!(said.replace('\u{a0}', " "), expected);
        }
    }
}
