//! The price rules, one by one, and a walk of random requests that no rule may let astray.

use super::*;
use crate::{options::Options, random::Random, world::World};

/// A product without prices.
fn product(is_wholesale: bool, automatic: bool) -> Product {
    let world = World::build(Options { orders: 0, products: 1, ..Options::default() }, Vec::new()).unwrap();
    let mut product = world.stores[0].catalogue().slot(0).clone();
    product.tiers.clear();
    (product.is_wholesale, product.auto_wholesale_pricing) = (is_wholesale, automatic);
    product
}

fn price(reais: i64) -> TierChange {
    TierChange { price: Some(Milli::whole(reais)), ..TierChange::default() }
}

fn off(percent: i64) -> TierChange {
    TierChange { discount: Some(Some(Milli::whole(percent))), ..TierChange::default() }
}

fn packed(mut wanted: TierChange) -> TierChange {
    wanted.package = [Some(Some(Milli::whole(1))); 4];
    wanted
}

fn values(product: &Product) -> Vec<(u32, i64)> {
    product.tiers.iter().map(|tier| (tier.min_quantity, tier.value.0)).collect()
}

fn field(outcome: Result<(), FieldErrors>) -> String {
    outcome.unwrap_err().as_slice()[0].0.to_string()
}

// proves: PRC-013
#[test]
fn the_tier_that_applies_begins_at_or_below_the_quantity() {
    let mut product = product(true, false);
    for (at, reais) in [(1, 10), (10, 9), (50, 8)] {
        product.add_tier(at, &packed(price(reais))).unwrap();
    }
    for (quantity, reais) in [(1, 10), (9, 10), (10, 9), (49, 9), (50, 8), (u32::MAX, 8)] {
        assert_eq!(product.price_for(quantity), Some(Milli::whole(reais)), "{quantity}");
    }
    assert_eq!(product.price_for(0), None);
    product.tiers.clear();
    assert_eq!(product.price_for(1), None);
}

// proves: PRC-010, PRC-011, PRC-012
#[test]
fn tiers_begin_at_one_and_number_one_or_at_most_five() {
    let mut single = product(false, false);
    assert_eq!(field(single.add_tier(2, &packed(price(9)))), "min_quantity");
    single.add_tier(1, &price(10)).unwrap();
    assert_eq!(field(single.add_tier(2, &packed(price(9)))), "min_quantity");
    assert_eq!(field(single.add_tier(1, &price(9))), "min_quantity");
    assert_eq!(field(single.remove_tier(0)), "min_quantity");
    let mut wholesale = product(true, false);
    assert_eq!(field(wholesale.add_tier(5, &packed(price(9)))), "min_quantity");
    for at in [1, 40, 10, 30, 20] {
        wholesale.add_tier(at, &packed(price(9))).unwrap();
    }
    assert_eq!(values(&wholesale).iter().map(|tier| tier.0).collect::<Vec<_>>(), [1, 10, 20, 30, 40]);
    assert_eq!(field(wholesale.add_tier(50, &packed(price(9)))), "min_quantity");
    assert_eq!(field(wholesale.remove_tier(0)), "min_quantity");
}

// proves: PRC-014
#[test]
fn wholesale_ends_only_with_a_single_tier() {
    let mut product = product(true, false);
    product.add_tier(1, &price(10)).unwrap();
    product.add_tier(10, &packed(price(9))).unwrap();
    assert_eq!(field(product.set_pricing(false, false)), "price_type");
    assert!(product.is_wholesale);
    product.remove_tier(1).unwrap();
    product.set_pricing(false, false).unwrap();
    assert!(!product.is_wholesale);
}

// proves: PRC-016, PRC-017, PRC-018, PRC-019, PRC-020
#[test]
fn the_first_wholesale_tier_has_all_measures_and_the_others_may_inherit_them() {
    let mut product = product(true, false);
    product.add_tier(1, &price(10)).unwrap();
    assert_eq!(product.add_tier(10, &price(9)).unwrap_err().as_slice().len(), 4);
    for (at, measure) in MEASURES.into_iter().enumerate() {
        let mut partial = packed(price(9));
        partial.package[at] = None;
        assert_eq!(field(product.add_tier(10, &partial)), measure);
        partial.package[at] = Some(Some(Milli(0)));
        assert_eq!(field(product.add_tier(10, &partial)), measure);
    }
    product.add_tier(10, &packed(price(9))).unwrap();
    product.add_tier(20, &price(8)).unwrap();
    assert!(product.tiers[2].package.is_none());
    let before_the_first = product.add_tier(5, &price(9));
    assert_eq!(field(before_the_first), MEASURES[0]);
    assert_eq!(field(product.remove_tier(1)), MEASURES[0]);
    product.remove_tier(2).unwrap();
    product.remove_tier(1).unwrap();
    assert_eq!(values(&product), [(1, 10_000)]);
}

// proves: PRC-021, PRC-023, PRC-024
#[test]
fn a_change_keeps_measures_but_zeroes_a_price_that_is_not_sent_again() {
    let mut product = product(true, false);
    product.add_tier(1, &price(10)).unwrap();
    product.add_tier(10, &packed(price(9))).unwrap();
    let mut heavier = price(9);
    heavier.package[0] = Some(Some(Milli(2_500)));
    product.change_tier(1, &heavier).unwrap();
    let package = product.tiers[1].package.unwrap();
    assert_eq!((package.weight, package.height, package.length), (Milli(2_500), Milli(1_000), Milli(1_000)));
    product.change_tier(1, &TierChange::default()).unwrap();
    product.change_tier(0, &TierChange::default()).unwrap();
    assert_eq!(values(&product), [(1, 0), (10, 0)]);
    assert_eq!(product.tiers[1].package, Some(package));
    let cleared = TierChange { package: [Some(None); 4], ..price(9) };
    assert_eq!(field(product.change_tier(1, &cleared)), MEASURES[0]);
}

// proves: PRC-007, PRC-022, PRC-025, PRC-026, PRC-027, PRC-028, PRC-029
#[test]
fn automatic_tiers_follow_the_base_price_by_growing_discounts() {
    let mut product = product(true, true);
    assert_eq!(field(product.add_tier(10, &packed(off(5)))), "min_quantity");
    assert_eq!(field(product.add_tier(1, &off(5))), "price");
    product.add_tier(1, &price(100)).unwrap();
    assert_eq!(field(product.add_tier(10, &packed(price(90)))), "discount_percent");
    for refused in [off(100), off(-1)] {
        assert_eq!(field(product.add_tier(10, &packed(refused))), "discount_percent");
    }
    product.add_tier(10, &packed(off(5))).unwrap();
    product.add_tier(30, &off(12)).unwrap();
    assert_eq!(values(&product), [(1, 100_000), (10, 95_000), (30, 88_000)]);
    for (at, percent) in [(20, 5), (20, 12), (40, 12), (5, 5)] {
        assert_eq!(field(product.add_tier(at, &packed(off(percent)))), "discount_percent", "{at} {percent}");
    }
    product.add_tier(20, &off(6)).unwrap();
    product.change_tier(0, &price(50)).unwrap();
    assert_eq!(values(&product), [(1, 50_000), (10, 47_500), (20, 47_000), (30, 44_000)]);
    product.change_tier(1, &TierChange::default()).unwrap();
    assert_eq!(product.tiers[1].value, Milli(47_500), "an automatic tier needs no price to be sent again");
    product.change_tier(0, &TierChange::default()).unwrap();
    assert!(product.tiers.iter().all(|tier| tier.value == Milli(0)), "the base price does");
}

// proves: PRC-030
#[test]
fn a_discount_is_ignored_in_manual_mode() {
    let mut product = product(true, false);
    product.add_tier(1, &price(100)).unwrap();
    product.add_tier(10, &packed(TierChange { discount: off(5).discount, ..price(93) })).unwrap();
    product.add_tier(20, &TierChange { discount: off(2).discount, ..price(91) }).unwrap();
    assert_eq!(values(&product), [(1, 100_000), (10, 93_000), (20, 91_000)]);
    assert!(product.tiers.iter().all(|tier| tier.discount_percent.is_none()));
}

#[test]
fn automatic_mode_is_refused_while_tiers_have_no_discounts() {
    let mut product = product(true, false);
    product.add_tier(1, &price(100)).unwrap();
    product.add_tier(10, &packed(price(93))).unwrap();
    assert_eq!(field(product.set_pricing(true, true)), "auto_wholesale_pricing");
    product.tiers[1].discount_percent = Some(Milli::whole(50));
    product.auto_wholesale_pricing = false;
    product.set_pricing(true, true).unwrap();
    assert_eq!(values(&product), [(1, 100_000), (10, 50_000)]);
}

#[test]
fn a_derived_price_is_never_above_the_base_price() {
    assert_eq!(discounted(Milli(19_995), Milli(0)), Milli(19_995));
    assert_eq!(discounted(Milli(10_000), Milli::whole(33)), Milli(6_700));
    assert_eq!(discounted(Milli(99_999_999_999), Milli(99_990)), Milli(10_000_000));
    assert_eq!(discounted(Milli(19_990), Milli::whole(5)), Milli(19_000), "18.9905 is rounded up");
}

/// After every sequence of requests, the tiers satisfy every rule at once.
// proves: PRC-005, PRC-011, PRC-012, PRC-016, PRC-020, PRC-026, PRC-029
#[test]
fn no_sequence_of_requests_leaves_tiers_that_break_a_rule() {
    for seed in 0..200 {
        let mut random = Random::of(&[seed, 77]);
        let mut product = product(true, random.chance(500));
        for _ in 0..40 {
            step(&mut product, &mut random);
            check(&product);
        }
    }
}

fn step(product: &mut Product, random: &mut Random) {
    let wanted = TierChange {
        price: random.chance(700).then(|| Milli(random.below(100_000) as i64)),
        discount: random.chance(700).then(|| Some(Milli(random.below(11_000) as i64 * 10))),
        package: std::array::from_fn(|_| random.chance(800).then_some(Some(Milli(500)))),
    };
    let at = random.position(product.tiers.len());
    let _ = match random.below(4) {
        0 | 1 => product.add_tier(1 + random.below(8) as u32, &wanted),
        2 if !product.tiers.is_empty() => product.change_tier(at, &wanted),
        3 if !product.tiers.is_empty() => product.remove_tier(at),
        _ => product.set_pricing(random.chance(700), random.chance(500)),
    };
}

fn check(product: &Product) {
    let tiers = &product.tiers;
    assert!(tiers.len() <= if product.is_wholesale { 5 } else { 1 });
    assert!(tiers.first().is_none_or(|tier| tier.min_quantity == 1 && tier.package.is_none()));
    assert!(tiers.is_sorted_by(|a, b| a.min_quantity < b.min_quantity));
    assert!(tiers.get(1).is_none_or(|tier| tier.package.is_some()));
    if product.auto_wholesale_pricing {
        let discounts: Vec<_> = tiers.iter().skip(1).map(|tier| tier.discount_percent.unwrap()).collect();
        assert!(discounts.is_sorted_by(|a, b| a < b));
        let derived = |tier: &Tier| discounted(tiers[0].value, tier.discount_percent.unwrap_or_default());
        assert!(tiers.iter().all(|tier| tier.value == derived(tier)));
    }
}
