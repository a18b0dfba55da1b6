//! The tier list of a product (API document, "Products, prices, stock": price rules 1, 4 and 6).

use espelho_model::{ProductId, text};

use super::{
    draft::PriceType,
    prices::{AutomaticPricing, Discount, Price, Tier, WholesaleQuantity, WholesaleTier},
};
use crate::{ApiRequest, Invalid};

/// The most tiers, including the base tier.
const MOST_TIERS: usize = 5;

/// All tiers of a product, by quantity. Every list that can be built obeys the price rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierList {
    price_type: PriceType,
    tiers: Vec<Tier>,
}

impl TierList {
    /// Builds the single tier of a `default` product.
    pub fn single(price: Price) -> Self {
        Self { price_type: PriceType::Default, tiers: vec![Tier::Base(price)] }
    }

    /// Builds the tiers of a `wholesale` product with prices of its own.
    ///
    /// # Errors
    /// When there are more than five tiers in all, two begin at the same quantity, or the first wholesale tier has no
    /// package measures.
    pub fn manual(base: Price, above: Vec<WholesaleTier<Price>>) -> Result<Self, Invalid> {
        Self::wholesale(base, above.into_iter().map(Tier::Manual).collect())
    }

    /// Builds the tiers of a `wholesale` product that derives its prices.
    ///
    /// # Errors
    /// As for [`TierList::manual`], and when a discount is not larger than that of the tier before.
    pub fn automatic(
        mode: AutomaticPricing,
        base: Price,
        above: Vec<WholesaleTier<Discount>>,
    ) -> Result<Self, Invalid> {
        Self::wholesale(base, above.into_iter().map(|tier| Tier::Automatic(mode, tier)).collect())
    }

    fn wholesale(base: Price, above: Vec<Tier>) -> Result<Self, Invalid> {
        let mut tiers = vec![Tier::Base(base)];
        tiers.extend(above);
        tiers.sort_by_key(Tier::min_quantity);
        check(&tiers)?;
        Ok(Self { price_type: PriceType::Wholesale, tiers })
    }

    /// Returns the tiers, by quantity. The first is the base.
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// Returns the `price_type` of a product with these tiers.
    pub fn price_type(&self) -> PriceType {
        self.price_type
    }

    /// Returns the tier that applies to a quantity: the last one that begins at or below it.
    pub fn applying_to(&self, quantity: u32) -> Option<&Tier> {
        self.tiers.iter().rev().find(|tier| tier.min_quantity() <= quantity)
    }

    /// Returns the list without one of the wholesale tiers.
    ///
    /// # Errors
    /// When the remaining tiers are invalid without it: they would have no tier to inherit measures from.
    pub fn without(&self, quantity: WholesaleQuantity) -> Result<Self, Invalid> {
        let mut rest = self.clone();
        rest.tiers.retain(|tier| tier.min_quantity() != quantity.get());
        check(&rest.tiers)?;
        Ok(rest)
    }

    /// Builds the requests that create the tiers, in the order that the marketplace requires: the base first, because
    /// the others may be derived from it.
    pub fn create_requests(&self, product: &ProductId) -> Vec<ApiRequest> {
        self.tiers.iter().map(|tier| tier.create_request(product)).collect()
    }
}

/// Checks tiers, sorted by quantity, against the rules.
fn check(tiers: &[Tier]) -> Result<(), Invalid> {
    let broken = |tier: &Tier, rule| Err(Invalid::Tier { min_quantity: tier.min_quantity(), rule });
    if let Some(sixth) = tiers.get(MOST_TIERS) {
        return broken(sixth, text!("tier-most"));
    }
    if let Some(first) = tiers.get(1).filter(|tier| tier.package().is_none()) {
        return broken(first, text!("tier-first-measured"));
    }
    for pair in tiers.windows(2) {
        let [before, tier] = pair else { continue };
        if before.min_quantity() == tier.min_quantity() {
            return broken(tier, text!("tier-repeated-quantity"));
        }
        if let (Tier::Automatic(_, before), Tier::Automatic(_, after)) = (before, tier)
            && after.pricing <= before.pricing
        {
            return broken(tier, text!("tier-larger-discount"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::Decimal;
    use serde_json::Value;

    use super::{
        super::measures::{Package, tests::measures},
        *,
    };
    use crate::resources::products::{ProductDetail, detail::parse_product};

    fn product() -> ProductDetail {
        let json = r#"{"id":"P1","price_type":"wholesale","auto_wholesale_pricing":true}"#;
        let utc = chrono::FixedOffset::east_opt(0).unwrap();
        parse_product(json, &ProductId::new("P1"), utc).unwrap().value
    }

    fn price(cents: i64) -> Price {
        Price::new(Decimal::new(cents, 2)).unwrap()
    }

    fn tier<P>(quantity: u32, pricing: P, is_packed: bool) -> WholesaleTier<P> {
        let package = is_packed.then(|| Package::new(measures(["1", "2", "3", "0.5"])).unwrap());
        WholesaleTier { min_quantity: WholesaleQuantity::new(quantity).unwrap(), pricing, package }
    }

    fn derived(tiers: &[(u32, i64, bool)]) -> Result<TierList, Invalid> {
        let discount = |per_mille| Discount::new(Decimal::new(per_mille, 1)).unwrap();
        let above = tiers.iter().map(|(quantity, off, packed)| tier(*quantity, discount(*off), *packed));
        TierList::automatic(AutomaticPricing::of(&product()).unwrap(), price(1000), above.collect())
    }

    fn manual(tiers: &[(u32, i64, bool)]) -> Result<TierList, Invalid> {
        let above = tiers.iter().map(|(quantity, cents, packed)| tier(*quantity, price(*cents), *packed));
        TierList::manual(price(1000), above.collect())
    }

    fn rule(result: Result<TierList, Invalid>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_default_product_has_the_base_tier_alone() {
        let list = TierList::single(price(1990));
        assert_eq!(list.tiers(), [Tier::Base(price(1990))]);
        assert_eq!(
            (list.price_type(), manual(&[]).unwrap().price_type()),
            (PriceType::Default, PriceType::Wholesale)
        );
    }

    // proves: ERR-026
    #[test]
    fn tiers_that_cannot_stand_together_are_refused_with_the_rule() {
        assert!(manual(&[(2, 900, true), (3, 800, false), (4, 700, false), (5, 600, false)]).is_ok());
        let six = manual(&[(2, 9, true), (3, 8, true), (4, 7, true), (5, 6, true), (6, 5, true)]);
        assert_eq!(rule(six), "tier 6: a product has at most 5 tiers, the base among them");
        let bare = manual(&[(10, 8, true), (5, 9, false)]);
        assert_eq!(rule(bare), "tier 5: the first wholesale tier must have all four package measures");
        assert_eq!(
            rule(manual(&[(5, 9, true), (5, 8, true)])),
            "tier 5: two tiers begin at the same quantity"
        );
        let flat = derived(&[(5, 50, true), (10, 50, false)]);
        assert_eq!(rule(flat), "tier 10: its discount must be larger than that of the tier before");
    }

    #[test]
    fn a_tier_whose_measures_others_inherit_cannot_go() {
        let list = manual(&[(5, 900, true), (10, 800, false)]).unwrap();
        let [five, ten] = [5, 10].map(|quantity| WholesaleQuantity::new(quantity).unwrap());
        assert!(list.without(five).is_err());
        let rest = list.without(ten).unwrap().without(five).unwrap();
        assert_eq!(rest.tiers(), [Tier::Base(price(1000))]);
    }

    #[test]
    fn the_last_tier_at_or_below_the_quantity_applies() {
        let list = manual(&[(5, 900, true), (10, 800, false)]).unwrap();
        let begins = |quantity| list.applying_to(quantity).map(Tier::min_quantity);
        assert_eq!(
            [0, 1, 4, 5, 9, 10, 99].map(begins),
            [None, Some(1), Some(1), Some(5), Some(5), Some(10), Some(10)]
        );
    }

    /// Checks the rules independently, on the request bodies.
    fn assert_obeys(bodies: &[Value], is_derived: bool) {
        let quantities: Vec<_> = bodies.iter().map(|body| body["min_quantity"].as_u64().unwrap()).collect();
        assert!((1..=5).contains(&quantities.len()) && quantities[0] == 1);
        assert!(quantities.is_sorted_by(|a, b| a < b));
        assert_eq!(bodies[0].as_object().unwrap().len(), 2, "the base has quantity and price alone");
        let of_package = ["package_weight", "package_height", "package_width", "package_length"];
        for (at, body) in bodies.iter().enumerate() {
            let given =
                of_package.iter().filter(|name| body[**name].as_f64().is_some_and(|m| m > 0.0)).count();
            assert!(given == 4 || (given == 0 && at != 1), "{body}");
            let is_discount = is_derived && at > 0;
            assert_eq!(body.get("discount_percent").is_some(), is_discount, "{body}");
            assert_eq!(body.get("price").is_none_or(|p| p.as_f64() <= Some(0.0)), is_discount, "{body}");
        }
        let discounts: Vec<_> = bodies.iter().filter_map(|body| body["discount_percent"].as_f64()).collect();
        assert!(discounts.is_sorted_by(|a, b| a < b));
        assert!(discounts.iter().all(|d| (0.0..100.0).contains(d)));
    }

    proptest! {
        // proves: PRC-017, PRC-023, PRC-024, PRC-025, ERR-026
        #[test]
        fn every_list_that_can_be_built_obeys_the_price_rules(
            tiers in prop::collection::vec((2u32..9, 1i64..1000, any::<bool>()), 0..6),
        ) {
            for (list, is_derived) in [(manual(&tiers), false), (derived(&tiers), true)] {
                let Ok(list) = list else { continue };
                let requests = list.create_requests(&ProductId::new("P1"));
                let bodies: Vec<_> = requests.iter().map(|request| request.json_body().unwrap()).collect();
                assert_obeys(&bodies, is_derived);
            }
        }

        #[test]
        fn a_good_list_is_taken_in_any_order(
            quantities in prop::collection::btree_set(2u32..50, 0..5), seed in any::<u64>(),
        ) {
            let quantities: Vec<_> = quantities.into_iter().collect();
            let mut tiers: Vec<_> =
                quantities.iter().enumerate().map(|(at, q)| (*q, 10 * (at as i64 + 1), at == 0)).collect();
            let by = tiers.len().max(1);
            tiers.rotate_left(usize::try_from(seed % by as u64).unwrap());
            prop_assert!(manual(&tiers).is_ok());
            prop_assert!(derived(&tiers).is_ok());
        }
    }
}
