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

use super::Message;
use crate::plan::{
    guards::{Guards, PriceHeld},
    tiers::{Package, Tier},
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
