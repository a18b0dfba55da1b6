//! Tests the planner against a model of the rules that shares nothing with it.

mod marketplace;

use proptest::prelude::*;

use self::marketplace::{Rival, apply, desired_rows, is_right, judge, rows, written};
use super::*;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn package(size: u32) -> Package {
    let size = Decimal::from(size);
    Package { weight: size, height: size, width: size, length: size }
}

fn base(price: &str) -> Tier {
    at_price(1, price, 0)
}

/// Returns a tier with a price; size zero means no package.
fn at_price(min_quantity: u32, price: &str, size: u32) -> Tier {
    let package = (size > 0).then(|| package(size));
    Tier { min_quantity, price: Some(decimal(price)), discount_percent: None, package }
}

/// Returns a tier with a discount; size zero means no package.
fn off(min_quantity: u32, discount: &str, size: u32) -> Tier {
    let package = (size > 0).then(|| package(size));
    Tier { min_quantity, price: None, discount_percent: Some(decimal(discount)), package }
}

/// Returns the plan in short, after a check that it is permitted and reaches the goal.
fn planned(mode: Mode, current: &[Tier], desired: &[Tier]) -> String {
    let steps = plan(mode, current, desired).unwrap();
    let mut state = rows(mode, current);
    for step in &steps {
        state = apply(mode, &state, step).unwrap_or_else(|rule| panic!("{step:?} breaks {rule}: {steps:?}"));
    }
    assert_eq!(state, desired_rows(mode, current, desired).unwrap(), "{steps:?}");
    short(&steps)
}

fn short(steps: &[Step]) -> String {
    let tier = |tier: &Tier| {
        let price = tier.price.map_or(String::new(), |price| format!(" {price}"));
        let discount = tier.discount_percent.map_or(String::new(), |discount| format!(" {discount}%"));
        let package = tier.package.map_or(String::new(), |package| format!(" size {}", package.weight));
        format!("{}{price}{discount}{package}", tier.min_quantity)
    };
    let step = |step: &Step| match step {
        Step::Post(sent) => format!("post {}", tier(sent)),
        Step::Put(sent) => format!("put {}", tier(sent)),
        Step::Delete(quantity) => format!("delete {quantity}"),
    };
    steps.iter().map(step).collect::<Vec<_>>().join(", ")
}

fn refused(mode: Mode, current: &[Tier], desired: &[Tier]) -> (u8, String) {
    let forbidden = plan(mode, current, desired).unwrap_err();
    (forbidden.rule(), forbidden.to_string())
}

mod rule_1 {
    use super::*;

    #[test]
    fn a_new_product_gets_its_base_first_and_measured_tiers_before_those_that_inherit() {
        let desired = [at_price(10, "8", 0), at_price(5, "9", 1), base("10")];
        assert_eq!(planned(Mode::Manual, &[], &desired), "post 1 10, post 5 9 size 1, post 10 8");
        assert_eq!(planned(Mode::Default, &[], &[base("10")]), "post 1 10");
    }

    #[test]
    fn a_single_price_takes_no_second_tier() {
        let desired = [base("10"), at_price(5, "9", 1)];
        let (rule, text) = refused(Mode::Default, &[base("10")], &desired);
        assert_eq!(rule, 1);
        assert_eq!(
            text,
            "tier 5 needs a product with price_type wholesale: change it with product.update first"
        );
    }

    #[test]
    fn tiers_that_a_single_price_should_not_have_are_deleted_and_none_inherits_from_nobody_meanwhile() {
        let current = [base("10"), at_price(5, "9", 1), at_price(9, "8", 0)];
        let steps = plan(Mode::Default, &current, &[base("11")]).unwrap();
        assert_eq!(short(&steps), "put 1 11, delete 9, delete 5");
    }

    #[test]
    fn something_must_be_left_and_the_base_among_it() {
        assert_eq!(plan(Mode::Manual, &[base("10")], &[]), Err(Forbidden::Nothing));
        assert_eq!(plan(Mode::Manual, &[base("10")], &[at_price(5, "9", 1)]), Err(Forbidden::NoBase));
        assert_eq!(plan(Mode::Auto, &[], &[at_price(0, "9", 1), base("1")]), Err(Forbidden::QuantityZero));
        assert_eq!(Forbidden::Nothing.rule(), 1);
    }

    #[test]
    fn a_tier_is_swapped_while_there_are_five_by_deleting_before_posting() {
        let four = [base("10"), at_price(2, "9", 1), at_price(3, "8", 0), at_price(4, "7", 0)];
        let current = [&four[..], &[at_price(5, "6", 0)]].concat();
        let desired = [&four[..], &[at_price(6, "5", 0)]].concat();
        assert_eq!(planned(Mode::Manual, &current, &desired), "delete 5, post 6 5");
    }

    #[test]
    fn a_sixth_tier_and_a_repeated_one_are_named() {
        let six: Vec<_> = (1..=6).map(|quantity| at_price(quantity, "1", 1)).collect();
        assert_eq!(plan(Mode::Manual, &[], &six), Err(Forbidden::TooMany { min_quantity: 6 }));
        let twice = [base("1"), at_price(7, "1", 1), at_price(7, "2", 1)];
        assert_eq!(plan(Mode::Manual, &[], &twice), Err(Forbidden::Repeated { min_quantity: 7 }));
    }
}

mod rule_3 {
    use super::*;

    #[test]
    fn measures_of_the_base_are_neither_compared_nor_sent() {
        let measured = at_price(1, "10", 3);
        assert!(holds(Mode::Manual, &[base("10")], &[measured]));
        assert_eq!(planned(Mode::Manual, &[base("10")], &[measured]), "");
        assert_eq!(planned(Mode::Auto, &[base("9")], &[measured]), "put 1 10");
    }
}

mod rule_4 {
    use super::*;

    #[test]
    fn the_first_wholesale_tier_must_be_measured() {
        let (rule, text) = refused(Mode::Manual, &[base("1")], &[base("1"), at_price(5, "1", 0)]);
        assert_eq!(rule, 4);
        assert_eq!(text, "tier 5 is the first wholesale tier and has no package measures: give all four");
        let mut flat = at_price(5, "1", 1);
        flat.package.as_mut().unwrap().width = Decimal::ZERO;
        assert_eq!(
            plan(Mode::Manual, &[], &[base("1"), flat]),
            Err(Forbidden::BadMeasure { min_quantity: 5 })
        );
    }

    #[test]
    fn a_tier_that_others_inherit_from_is_not_deleted_without_an_heir() {
        let current = [base("10"), at_price(5, "9", 1), at_price(9, "8", 0)];
        assert_eq!(
            plan(Mode::Manual, &current, &[base("10"), at_price(9, "8", 0)]),
            Err(Forbidden::NotMeasured { min_quantity: 9 })
        );
        assert_eq!(
            planned(Mode::Manual, &current, &[base("10"), at_price(9, "8", 2)]),
            "put 9 8 size 2, delete 5"
        );
        assert_eq!(planned(Mode::Manual, &current, &[base("10")]), "delete 9, delete 5");
    }

    #[test]
    fn the_first_measured_tier_moves_up_and_down() {
        let low = [base("10"), at_price(2, "9", 1), at_price(9, "5", 0)];
        let high = [base("10"), at_price(4, "9", 1), at_price(9, "5", 0)];
        assert_eq!(planned(Mode::Manual, &low, &high), "post 4 9 size 1, delete 2");
        assert_eq!(planned(Mode::Manual, &high, &low), "post 2 9 size 1, delete 4");
    }

    #[test]
    fn among_five_the_first_moves_while_another_makes_room_and_comes_back_as_wanted() {
        let rest = [at_price(7, "7", 0), at_price(8, "6", 2)];
        let low = [&[base("10"), at_price(2, "9", 1), at_price(6, "8", 0)][..], &rest].concat();
        let high = [&[base("10"), at_price(3, "9", 1), at_price(6, "8", 0)][..], &rest].concat();
        let mut same = high.clone();
        same[4].package = None;
        // It posts the measures that it had.
        for desired in [&high, &same] {
            assert_eq!(planned(Mode::Manual, &low, desired).matches("delete").count(), 2);
            assert_eq!(plan(Mode::Manual, &low, desired).unwrap().len(), 4);
        }
        same[4].price = Some(decimal("5"));
        assert_eq!(
            planned(Mode::Manual, &low, &same),
            "delete 8, post 3 9 size 1, delete 2, post 8 5 size 2"
        );
    }

    #[test]
    fn measures_are_sent_when_they_differ_and_none_means_as_they_are() {
        let current = [base("10"), at_price(5, "9", 1)];
        assert_eq!(planned(Mode::Manual, &current, &[base("10"), at_price(5, "8", 1)]), "put 5 8");
        assert_eq!(planned(Mode::Manual, &current, &[base("10"), at_price(5, "8", 0)]), "put 5 8");
        assert_eq!(planned(Mode::Manual, &current, &[base("10"), at_price(5, "9", 2)]), "put 5 9 size 2");
    }
}

mod rule_5 {
    use super::*;

    #[test]
    fn a_price_is_given_and_above_zero() {
        let current = [base("10")];
        let bare = Tier { price: None, ..base("1") };
        assert_eq!(plan(Mode::Manual, &current, &[bare]), Err(Forbidden::NoPrice { min_quantity: 1 }));
        for price in ["0", "0.00", "-1"] {
            let (rule, text) = refused(Mode::Default, &current, &[base(price)]);
            assert_eq!(rule, 5);
            assert_eq!(text, "tier 1 has a price that is not above 0: correct it");
        }
    }
}

mod rule_6 {
    use super::*;

    #[test]
    fn a_discount_is_no_price_and_a_price_no_discount() {
        let discount = [base("10"), off(5, "10", 1)];
        assert_eq!(plan(Mode::Manual, &[], &discount), Err(Forbidden::DiscountForPrice { min_quantity: 5 }));
        let priced = [base("10"), at_price(5, "9", 1)];
        assert_eq!(plan(Mode::Auto, &[], &priced), Err(Forbidden::NoDiscount { min_quantity: 5 }));
        assert_eq!(plan(Mode::Auto, &[], &[Tier { price: None, ..base("1") }]), Err(Forbidden::NoBasePrice));
        let both = Tier { price: Some(decimal("9")), ..off(5, "10", 1) };
        assert_eq!(planned(Mode::Manual, &[], &[base("10"), both]), "post 1 10, post 5 9 size 1");
        assert_eq!(planned(Mode::Auto, &[], &[base("10"), both]), "post 1 10, post 5 10% size 1");
    }

    #[test]
    fn discounts_are_from_nothing_to_below_everything_and_increase() {
        for bad in ["-0.01", "100", "250"] {
            let desired = [base("1"), off(5, bad, 1)];
            assert_eq!(plan(Mode::Auto, &[], &desired), Err(Forbidden::BadDiscount { min_quantity: 5 }));
        }
        assert_eq!(planned(Mode::Auto, &[base("1")], &[base("1"), off(5, "0.00", 1)]), "post 5 0.00% size 1");
        for second in ["10", "10.0", "9"] {
            let (rule, text) = refused(Mode::Auto, &[], &[base("1"), off(5, "10", 1), off(9, second, 0)]);
            assert_eq!(rule, 6);
            assert!(
                text.starts_with("tier 9 has a discount that is not larger than that of tier 5: "),
                "{text}"
            );
        }
    }

    #[test]
    fn rising_discounts_are_changed_from_the_top_and_falling_ones_from_the_bottom() {
        let low = [base("10"), off(5, "10", 1), off(9, "20", 0)];
        let high = [base("10"), off(5, "20", 1), off(9, "30", 0)];
        assert_eq!(planned(Mode::Auto, &low, &high), "put 9 30%, put 5 20%");
        assert_eq!(planned(Mode::Auto, &high, &low), "put 5 10%, put 9 20%");
    }

    #[test]
    fn discounts_that_cross_each_other_wait_for_what_leaves() {
        let current = [base("10"), off(2, "5", 1), off(5, "10", 0), off(9, "20", 0)];
        let desired = [base("10"), off(2, "5", 1), off(6, "8", 0), off(9, "20", 0)];
        assert_eq!(planned(Mode::Auto, &current, &desired), "delete 5, post 6 8%");
        assert_eq!(planned(Mode::Auto, &desired, &current), "delete 6, post 5 10%");
    }

    #[test]
    fn an_heir_whose_discount_is_too_small_yet_takes_the_measures_first() {
        let current = [base("10"), off(2, "10", 1), off(5, "20", 0), off(9, "30", 0)];
        let desired = [base("10"), off(5, "8", 2), off(9, "30", 0)];
        assert_eq!(planned(Mode::Auto, &current, &desired), "put 5 20% size 2, delete 2, put 5 8%");
    }

    #[test]
    fn a_new_heir_that_does_not_fit_beside_the_one_that_leaves_gets_an_interim_discount() {
        let current = [base("10"), off(2, "10", 1), off(9, "30", 0)];
        let desired = [base("10"), off(5, "8", 2), off(9, "30", 0)];
        assert_eq!(planned(Mode::Auto, &current, &desired), "post 5 11% size 2, delete 2, put 5 8%");
        // In the other direction the tier that leaves makes way first.
        assert_eq!(planned(Mode::Auto, &desired, &current), "put 5 11%, post 2 10% size 1, delete 5");
    }

    #[test]
    fn where_there_is_no_room_above_the_lower_tier_makes_way_or_all_are_posted_anew() {
        let crowded = [base("10"), off(2, "10", 1), off(9, "10.01", 0)];
        let desired = [base("10"), off(5, "8", 2), off(9, "10.01", 0)];
        assert_eq!(planned(Mode::Auto, &crowded, &desired), "put 2 7%, post 5 8% size 2, delete 2");
        let crowded = [base("10"), off(2, "0", 1), off(9, "0.01", 0)];
        let desired = [base("10"), off(5, "0", 2), off(9, "0.01", 0)];
        assert_eq!(
            planned(Mode::Auto, &crowded, &desired),
            "delete 9, delete 2, post 5 0% size 2, post 9 0.01%"
        );
    }

    #[test]
    fn a_base_price_is_changed_alone_and_derived_prices_are_not_compared() {
        let there = Tier { price: Some(decimal("9")), ..off(5, "10", 1) };
        let desired = Tier { price: Some(decimal("4")), ..off(5, "10", 0) };
        assert!(holds(Mode::Auto, &[base("10"), there], &[base("10"), desired]));
        assert_eq!(planned(Mode::Auto, &[base("10"), there], &[base("20"), desired]), "put 1 20");
    }
}

mod preference {
    use super::*;

    #[test]
    fn a_base_price_falls_before_a_cheaper_tier_goes_and_rises_after_a_cheaper_one_came() {
        let dear = [base("10"), off(5, "10", 1)];
        let cheap = [base("9"), off(5, "0", 1)];
        assert_eq!(planned(Mode::Auto, &dear, &cheap), "put 1 9, put 5 0%");
        assert_eq!(planned(Mode::Auto, &cheap, &dear), "put 5 10%, put 1 10");
    }

    #[test]
    fn a_tier_is_posted_before_the_one_that_it_replaces_is_deleted() {
        let old = [base("10"), at_price(2, "9", 1), at_price(5, "8", 1)];
        let new = [base("10"), at_price(2, "9", 1), at_price(4, "8", 1)];
        assert_eq!(planned(Mode::Manual, &old, &new), "post 4 8 size 1, delete 5");
        assert_eq!(planned(Mode::Manual, &new, &old), "post 5 8 size 1, delete 4");
    }
}

mod illegal_starts {
    use super::*;

    #[test]
    fn of_seven_tiers_those_not_wanted_go_first() {
        let seven: Vec<_> = (1..=7).map(|quantity| at_price(quantity, "1", 1)).collect();
        let desired = [base("1"), at_price(2, "1", 1), at_price(9, "1", 0)];
        let steps = plan(Mode::Manual, &seven, &desired).unwrap();
        assert_eq!(steps.len(), 6);
        assert!(steps[..2].iter().all(|step| matches!(step, Step::Delete(3..=7))), "{steps:?}");
    }

    #[test]
    fn a_missing_base_is_posted_first() {
        let current = [at_price(5, "9", 1)];
        let steps = plan(Mode::Manual, &current, &[base("10"), at_price(5, "8", 1)]).unwrap();
        assert_eq!(short(&steps), "post 1 10, put 5 8");
    }

    #[test]
    fn discounts_that_are_missing_or_do_not_increase_are_mended_one_by_one() {
        let bare = |quantity, size| Tier { discount_percent: None, ..off(quantity, "1", size) };
        let desired = [base("10"), off(5, "10", 1), off(9, "20", 0)];
        let steps = plan(Mode::Auto, &[base("10"), bare(5, 1), bare(9, 0)], &desired).unwrap();
        assert_eq!(short(&steps), "put 5 10%, put 9 20%");
        let fallen = [base("10"), off(5, "50", 1), off(9, "5", 0)];
        assert_eq!(short(&plan(Mode::Auto, &fallen, &desired).unwrap()), "delete 9, put 5 10%, post 9 20%");
    }

    #[test]
    fn a_first_tier_without_measures_is_mended() {
        let current = [base("10"), at_price(5, "9", 0), at_price(9, "8", 0)];
        let desired = [base("10"), at_price(5, "9", 1), at_price(9, "8", 0)];
        assert_eq!(short(&plan(Mode::Manual, &current, &desired).unwrap()), "put 5 9 size 1");
    }

    #[test]
    fn what_no_permitted_step_mends_is_left_to_the_portal() {
        let (rule, text) = refused(Mode::Default, &[at_price(5, "9", 1)], &[base("10")]);
        assert_eq!(rule, 1);
        assert!(text.contains("correct them in the portal first"), "{text}");
        let twice = [base("1"), at_price(5, "1", 1), at_price(5, "2", 1)];
        let forbidden = plan(Mode::Manual, &twice, &[base("1")]).unwrap_err();
        assert_eq!(forbidden, Forbidden::Current { rule: 1, min_quantity: 5 });
    }
}

#[test]
fn decimals_are_equal_whatever_their_scale() {
    let current = [base("10"), off(5, "10", 1)];
    let desired = [base("10.00"), off(5, "10.0", 0)];
    assert!(holds(Mode::Auto, &current, &desired));
    assert_eq!(planned(Mode::Auto, &current, &desired), "");
    let mut package = package(1);
    package.height = decimal("1.000");
    let desired = [base("10"), Tier { package: Some(package), ..off(5, "10", 0) }];
    assert_eq!(planned(Mode::Auto, &current, &desired), "");
}

#[test]
fn tiers_that_are_missing_or_extra_or_different_do_not_hold() {
    let two = [base("10"), at_price(5, "9", 1)];
    assert!(holds(Mode::Manual, &two, &[two[1], two[0]]));
    for desired in [&two[..1], &[two[0], at_price(6, "9", 1)], &[two[0], at_price(5, "8", 1)]] {
        assert!(!holds(Mode::Manual, &two, desired), "{desired:?}");
        assert!(!holds(Mode::Manual, desired, &two), "{desired:?}");
    }
    assert!(!holds(Mode::Manual, &[two[0], two[1], two[1]], &two));
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![1 => Just(Mode::Default), 3 => Just(Mode::Manual), 6 => Just(Mode::Auto)]
}

/// Generates tiers with all fields set, some of which do not count.
fn tiers(most: usize) -> impl Strategy<Value = Vec<Tier>> {
    let fields = (1_i64..6, 0_i64..10, 0_u32..3);
    let quantities = prop::collection::btree_set(2_u32..9, 0..most);
    (quantities, prop::collection::vec(fields, 10)).prop_map(|(quantities, fields)| {
        let of = |(min_quantity, (price, discount, size)): (u32, (i64, i64, u32))| Tier {
            min_quantity,
            price: Some(Decimal::new(price * 10, 1)),
            discount_percent: Some(Decimal::from(discount)),
            package: (size > 0).then(|| package(size)),
        };
        [1].into_iter().chain(quantities).zip(fields).map(of).collect()
    })
}

/// Makes tiers legal: corrects what the rules forbid.
fn permitted(mode: Mode, mut tiers: Vec<Tier>) -> Vec<Tier> {
    if mode == Mode::Default {
        tiers.truncate(1);
    }
    let mut least = Decimal::ZERO;
    for tier in tiers.iter_mut().skip(1) {
        let discount = tier.discount_percent.unwrap_or_default().max(least);
        tier.discount_percent = Some(discount);
        least = discount + Decimal::ONE;
    }
    if let Some(first) = tiers.get_mut(1) {
        first.package = first.package.or(Some(package(1)));
    }
    tiers
}

/// Generates a mode, tiers that it permits, and others that it mostly permits. Many of them are equal, or have no
/// measures.
fn tasks(most: usize) -> impl Strategy<Value = (Mode, Vec<Tier>, Vec<Tier>)> {
    let flags = || any::<[bool; 8]>();
    (modes(), tiers(most), tiers(most), 0..10_u8, flags(), flags()).prop_map(
        |(mode, current, mut desired, wild, is_same, is_silent)| {
            let current = permitted(mode, current);
            for (tier, is_same) in desired.iter_mut().zip(is_same) {
                *tier = at(&current, tier.min_quantity).copied().filter(|_| is_same).unwrap_or(*tier);
            }
            if wild > 0 {
                desired = permitted(mode, desired);
            }
            for (tier, is_silent) in desired.iter_mut().zip(is_silent) {
                let is_known = at(&current, tier.min_quantity).is_some();
                tier.package = tier.package.filter(|_| !is_silent || wild > 0 && !is_known);
            }
            (mode, current, desired)
        },
    )
}

fn cases(few: u32) -> ProptestConfig {
    let cases = std::env::var("ESPELHO_PLANS").map_or(few, |text| text.parse().unwrap());
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn every_step_is_permitted_and_the_last_one_arrives_and_what_is_forbidden_is_unreachable(
        (mode, current, desired) in tasks(5),
    ) {
        let mut state = rows(mode, &current);
        prop_assert_eq!(judge(mode, &state), Ok(()));
        let goal = desired_rows(mode, &current, &desired);
        let is_legal = goal.as_ref().is_ok_and(|goal| judge(mode, goal).is_ok());
        let Ok(steps) = plan(mode, &current, &desired) else {
            prop_assert!(!is_legal);
            return Ok(());
        };
        prop_assert_eq!(steps.is_empty(), holds(mode, &current, &desired));
        for step in &steps {
            let next = apply(mode, &state, step);
            prop_assert!(next.is_ok(), "{:?} in {:?}: {:?}", step, steps, next);
            state = next.unwrap();
        }
        prop_assert_eq!(Ok(state), goal);
    }

    #[test]
    fn whatever_the_portal_left_behind_plans_arrive_and_steps_from_what_is_legal_stay_legal(
        mode in modes(), mut current in tiers(8), desired in tiers(5), has_base in any::<bool>(), bare in 0..9_usize,
    ) {
        current.drain(..usize::from(!has_base));
        if let Some(tier) = current.get_mut(bare) {
            (tier.discount_percent, tier.price) = (None, None);
        }
        let desired = permitted(mode, desired);
        let Ok(steps) = plan(mode, &current, &desired) else {
            prop_assert!(mode == Mode::Default && !has_base);
            return Ok(());
        };
        let mut state = rows(mode, &current);
        for step in &steps {
            let next = written(mode, &state, step);
            prop_assert!(next.is_ok(), "{:?} in {:?}: {:?}", step, steps, next);
            let next = next.unwrap();
            if let Step::Post(tier) | Step::Put(tier) = step {
                prop_assert!(is_right(mode, &next, tier.min_quantity), "{:?} in {:?}", step, steps);
            }
            if judge(mode, &state).is_ok() {
                prop_assert_eq!(judge(mode, &next), Ok(()), "{:?} in {:?}", step, steps);
            }
            state = next;
        }
        prop_assert_eq!(Ok(state), desired_rows(mode, &current, &desired));
    }
}

/// Says whether the planner's way is as short as any.
fn is_shortest(mode: Mode, current: &[Tier], desired: &[Tier]) -> bool {
    let (Ok(steps), Ok(goal)) = (plan(mode, current, desired), desired_rows(mode, current, desired)) else {
        return true;
    };
    let mut rival = Rival::new(mode, &[current, desired].concat(), &goal);
    steps.is_empty() || !rival.arrives(&rows(mode, current), steps.len() - 1)
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn no_free_choice_of_values_leads_to_a_shorter_plan((mode, current, desired) in tasks(4)) {
        prop_assert!(is_shortest(mode, &current, &desired), "{:?}", plan(mode, &current, &desired));
    }
}
