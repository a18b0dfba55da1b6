//! Tiers that the marketplace shows at zero beside a request of ours: that sells for nothing, and is said before anything else.

use espelho_model::text;
use rust_decimal::Decimal;

use super::Message;
use crate::plan::tiers::{Forbidden, Tier};

/// Says whether one of the tiers is at zero.
pub fn has_zero(tiers: &[Tier]) -> bool {
    tiers.iter().any(|tier| tier.price.is_some_and(|price| price.is_zero()))
}

/// The words for a price of zero that a reading shows after a request.
pub fn is_zero() -> Message {
    Message::new("price_zero", text!("push-price-shown-zero"))
}

/// The words for tiers that a rule forbids, beside the `current` ones.
pub fn against_rules(forbidden: &Forbidden, current: &[Tier]) -> Message {
    let (rule, problem) = (forbidden.rule(), forbidden.text());
    match has_zero(current) {
        true => Message::new("price_zero", text!("push-price-zero-and-rule", rule = rule, problem = problem)),
        false => Message::new("price_rule", text!("push-price-rule", rule = rule, problem = problem)),
    }
}

/// Says whether the tier that begins at a quantity is at zero.
pub fn is_tier_zero(min_quantity: i64, tiers: &[Tier]) -> bool {
    let is_it = |tier: &&Tier| i64::from(tier.min_quantity) == min_quantity;
    tiers.iter().filter(is_it).any(|tier| tier.price == Some(Decimal::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(min_quantity: u32, price: i64) -> Tier {
        Tier { min_quantity, price: Some(Decimal::from(price)), discount_percent: None, package: None }
    }

    // withstands: F013
    #[test]
    fn tiers_against_the_rules_are_told_with_the_zero_that_stands_beside_them() {
        let unread = Tier { price: None, ..tier(10, 0) };
        let rows: [(&[Tier], &str); 4] = [
            (&[tier(1, 10)], "price_rule"),
            (&[tier(1, 10), unread], "price_rule"),
            (&[tier(1, 10), tier(10, 0)], "price_zero"),
            (&[], "price_rule"),
        ];
        for (current, expected) in rows {
            let message = against_rules(&Forbidden::NoPrice { min_quantity: 10 }, current);
            assert_eq!(message.code, expected, "{current:?}");
            assert!(message.text.to_string().contains("rule 5"), "{}", message.text);
        }
    }

    #[test]
    fn a_tier_is_at_zero_by_its_own_price() {
        let tiers = [tier(1, 10), tier(10, 0), Tier { price: None, ..tier(20, 0) }];
        let zeroes: Vec<i64> =
            [1, 10, 20, 30].into_iter().filter(|tier| is_tier_zero(*tier, &tiers)).collect();
        assert_eq!(zeroes, [10]);
    }
}
