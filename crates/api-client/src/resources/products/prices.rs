//! Writes price tiers (API document, "Products, prices, stock": price rules).
//!
//! A PUT without `price` sets it to zero in manual mode. So a tier has either a price or, for a product known to
//! derive its prices, a discount; a tier without both does not exist.

use espelho_model::{ProductId, RawJson, text};
use rust_decimal::Decimal;
use serde::Serialize;

use super::{ProductDetail, measures::Package};
use crate::{
    ApiRequest, Error, Invalid,
    resources::handles::ProductsApi,
    wire::outward::{Exact, amount},
};

const TIERS: &str = "/api/products/{id}/prices";
const TIER: &str = "/api/products/{id}/prices/{min_quantity}";

amount! {
    /// A unit price in BRL, above zero, with at most three decimals.
    Price
}

amount! {
    /// A discount in per cent: at least 0, below 100.
    Discount
}

/// The quantity from which a wholesale tier applies: 2 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WholesaleQuantity(u32);

/// Proof that a product derives its wholesale prices from discounts. Only the product itself can give it: in manual
/// mode the marketplace ignores a discount and sets the missing price to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutomaticPricing(());

/// A tier above the base, with a price or a discount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholesaleTier<P> {
    /// The quantity from which it applies.
    pub min_quantity: WholesaleQuantity,
    /// Its price or discount.
    pub pricing: P,
    /// The package measures. `None` inherits (or keeps) the existing ones.
    pub package: Option<Package>,
}

/// One complete tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Applies from one unit: a price and nothing else. Its measures are the product's.
    Base(Price),
    /// A wholesale tier with a price of its own.
    Manual(WholesaleTier<Price>),
    /// A wholesale tier derived from the base price.
    Automatic(AutomaticPricing, WholesaleTier<Discount>),
}

impl Price {
    /// Takes a price.
    ///
    /// # Errors
    /// When it is zero or less, which is a typical mistake, or has more decimals than the marketplace keeps.
    pub fn new(amount: Decimal) -> Result<Self, Invalid> {
        match amount > Decimal::ZERO {
            true => Self::allowing_zero(amount),
            false => Err(Invalid::value("price", amount, text!("value-rule-above-zero"))),
        }
    }

    /// Takes a price that may be zero on purpose.
    ///
    /// # Errors
    /// When it is below zero, or has more decimals than the marketplace keeps.
    pub fn allowing_zero(amount: Decimal) -> Result<Self, Invalid> {
        if amount < Decimal::ZERO {
            return Err(Invalid::value("price", amount, text!("value-rule-zero-or-more")));
        }
        match amount.normalize().scale() > 3 {
            true => Err(Invalid::value("price", amount, text!("value-rule-decimals"))),
            false => Ok(Self(amount)),
        }
    }
}

impl Discount {
    /// Takes a discount.
    ///
    /// # Errors
    /// When it is below 0, or 100 or more.
    pub fn new(per_cent: Decimal) -> Result<Self, Invalid> {
        match per_cent >= Decimal::ZERO && per_cent < Decimal::ONE_HUNDRED {
            true => Ok(Self(per_cent)),
            false => Err(Invalid::value("discount_percent", per_cent, text!("value-rule-discount"))),
        }
    }
}

impl WholesaleQuantity {
    /// Takes a quantity.
    ///
    /// # Errors
    /// When it is 0, or 1, which belongs to the base tier.
    pub fn new(quantity: u32) -> Result<Self, Invalid> {
        match quantity {
            0 | 1 => Err(Invalid::value("min_quantity", quantity, text!("value-rule-wholesale-quantity"))),
            _ => Ok(Self(quantity)),
        }
    }

    /// Returns the quantity.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl AutomaticPricing {
    /// Derives the proof from a fresh answer of the product's detail route. In manual mode a discount without a price
    /// sets the price to zero (rule 5), so the mirrored value is not reliable enough.
    ///
    /// # Errors
    /// When the product is not `wholesale` with `auto_wholesale_pricing` on.
    pub fn of(detail: &ProductDetail) -> Result<Self, Invalid> {
        let product = &detail.product;
        let is_on = product.auto_wholesale_pricing == Some(true);
        match is_on && product.price_type.as_deref() == Some("wholesale") {
            true => Ok(Self(())),
            false => {
                let rule = text!("value-rule-automatic");
                Err(Invalid::value("auto_wholesale_pricing", if is_on { "on" } else { "off" }, rule))
            }
        }
    }
}

#[derive(Default, Serialize)]
struct TierBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    min_quantity: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<Price>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discount_percent: Option<Discount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package_weight: Option<Exact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package_height: Option<Exact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package_width: Option<Exact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package_length: Option<Exact>,
}

impl TierBody {
    fn packed(self, package: Option<Package>) -> Self {
        let measures = package.map(Package::measures);
        Self {
            package_weight: measures.map(|m| Exact(m.weight)),
            package_height: measures.map(|m| Exact(m.height)),
            package_width: measures.map(|m| Exact(m.width)),
            package_length: measures.map(|m| Exact(m.length)),
            ..self
        }
    }
}

impl Tier {
    /// Returns the quantity from which it applies.
    pub fn min_quantity(&self) -> u32 {
        match self {
            Self::Base(_) => 1,
            Self::Manual(tier) => tier.min_quantity.get(),
            Self::Automatic(_, tier) => tier.min_quantity.get(),
        }
    }

    /// Returns its package measures.
    pub fn package(&self) -> Option<Package> {
        match self {
            Self::Base(_) => None,
            Self::Manual(tier) => tier.package,
            Self::Automatic(_, tier) => tier.package,
        }
    }

    fn body(&self) -> TierBody {
        let body = match self {
            Self::Base(price) => TierBody { price: Some(*price), ..TierBody::default() },
            Self::Manual(tier) => TierBody { price: Some(tier.pricing), ..TierBody::default() },
            Self::Automatic(_, tier) => {
                TierBody { discount_percent: Some(tier.pricing), ..TierBody::default() }
            }
        };
        body.packed(self.package())
    }

    /// Builds the request that creates the tier.
    pub fn create_request(&self, product: &ProductId) -> ApiRequest {
        let body = TierBody { min_quantity: Some(self.min_quantity()), ..self.body() };
        ApiRequest::post(TIERS, &[product.as_str()]).json(&body)
    }

    /// Builds the request that changes the tier of the same quantity. It always carries the price or discount.
    pub fn update_request(&self, product: &ProductId) -> ApiRequest {
        ApiRequest::put(TIER, &[product.as_str(), &self.min_quantity().to_string()]).json(&self.body())
    }
}

/// Builds the request that deletes a tier. The base tier cannot be deleted: a product always has one.
pub fn delete_request(product: &ProductId, tier: WholesaleQuantity) -> ApiRequest {
    ApiRequest::delete(TIER, &[product.as_str(), &tier.get().to_string()])
}

impl ProductsApi<'_> {
    /// Creates a tier.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn create_tier(self, product: &ProductId, tier: &Tier) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&tier.create_request(product)).await
    }

    /// Changes a tier.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn update_tier(self, product: &ProductId, tier: &Tier) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&tier.update_request(product)).await
    }

    /// Deletes a tier.
    ///
    /// # Errors
    /// As every call; a refusal with 422 when other tiers inherit its measures.
    pub async fn delete_tier(self, product: &ProductId, tier: WholesaleQuantity) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&delete_request(product, tier)).await
    }
}

#[cfg(test)]
mod tests {
    use super::{super::measures::tests::measures, *};
    use crate::{resources::products::detail::parse_product, wire::outward::sent};

    fn id() -> ProductId {
        ProductId::new("P1")
    }

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn package() -> Option<Package> {
        Some(Package::new(measures(["10", "20.5", "30", "0.75"])).unwrap())
    }

    fn tier<P>(min_quantity: u32, pricing: P, package: Option<Package>) -> WholesaleTier<P> {
        WholesaleTier { min_quantity: WholesaleQuantity::new(min_quantity).unwrap(), pricing, package }
    }

    fn product(price_type: &str, automatic: bool) -> ProductDetail {
        let json =
            format!(r#"{{"id":"P1","price_type":"{price_type}","auto_wholesale_pricing":{automatic}}}"#);
        parse_product(&json, &id(), chrono::FixedOffset::east_opt(0).unwrap()).unwrap().value
    }

    // proves: PRC-006, PRC-008, PRC-023, PRC-024
    #[test]
    fn a_price_is_sent_with_every_change_of_a_tier() {
        let base = Tier::Base(Price::new(decimal("0.1") + decimal("0.2")).unwrap());
        assert_eq!(
            sent(&base.create_request(&id())),
            r#"POST /api/products/P1/prices {"min_quantity":1,"price":0.3}"#
        );
        assert_eq!(sent(&base.update_request(&id())), r#"PUT /api/products/P1/prices/1 {"price":0.3}"#);
        let price = Price::new(decimal("12.345")).unwrap();
        let packed = Tier::Manual(tier(10, price, package()));
        let measures =
            r#""package_weight":0.75,"package_height":10,"package_width":20.5,"package_length":30"#;
        assert_eq!(
            sent(&packed.create_request(&id())),
            format!(r#"POST /api/products/P1/prices {{"min_quantity":10,"price":12.345,{measures}}}"#)
        );
        assert_eq!(
            sent(&packed.update_request(&id())),
            format!(r#"PUT /api/products/P1/prices/10 {{"price":12.345,{measures}}}"#)
        );
        let bare = Tier::Manual(tier(10, price, None));
        assert_eq!(sent(&bare.update_request(&id())), r#"PUT /api/products/P1/prices/10 {"price":12.345}"#);
    }

    // proves: PRC-007
    #[test]
    fn a_derived_tier_sends_its_discount_and_no_price() {
        let automatic = AutomaticPricing::of(&product("wholesale", true)).unwrap();
        let discount = Discount::new(decimal("7.50")).unwrap();
        let derived = Tier::Automatic(automatic, tier(5, discount, None));
        assert_eq!(
            sent(&derived.create_request(&id())),
            r#"POST /api/products/P1/prices {"min_quantity":5,"discount_percent":7.5}"#
        );
        assert_eq!(
            sent(&derived.update_request(&id())),
            r#"PUT /api/products/P1/prices/5 {"discount_percent":7.5}"#
        );
    }

    // proves: PRC-023
    #[test]
    fn a_product_in_manual_mode_never_gets_a_discount_in_place_of_its_price() {
        for (price_type, automatic) in [("wholesale", false), ("default", true), ("default", false)] {
            assert!(
                AutomaticPricing::of(&product(price_type, automatic)).is_err(),
                "{price_type} {automatic}"
            );
        }
        let mut silent = product("wholesale", true);
        silent.product.auto_wholesale_pricing = None;
        assert!(AutomaticPricing::of(&silent).is_err());
    }

    // proves: PRC-009
    #[test]
    fn a_tier_is_deleted_by_its_quantity_and_the_base_cannot_be() {
        let ten = WholesaleQuantity::new(10).unwrap();
        assert_eq!(sent(&delete_request(&id(), ten)), "DELETE /api/products/P1/prices/10");
        for base in [0, 1] {
            assert!(WholesaleQuantity::new(base).is_err());
        }
    }

    #[test]
    fn a_price_of_zero_is_refused_unless_it_is_meant() {
        for bad in ["0", "0.00", "-0.01"] {
            assert!(Price::new(decimal(bad)).is_err(), "{bad}");
        }
        assert_eq!(Price::allowing_zero(decimal("0.00")).unwrap().get(), decimal("0"));
        assert!(Price::allowing_zero(decimal("-0.001")).is_err());
        assert!(Price::new(decimal("0.001")).is_ok());
        assert!(Price::new(decimal("1.2340")).is_ok());
        assert_eq!(
            Price::new(decimal("1.2345")).unwrap_err().to_string(),
            "price is 1.2345; it must be a number with 3 decimals at most"
        );
    }

    // proves: PRC-025
    #[test]
    fn a_discount_is_at_least_nothing_and_less_than_everything() {
        for good in ["0", "0.5", "99.99"] {
            assert!(Discount::new(decimal(good)).is_ok(), "{good}");
        }
        for bad in ["-0.01", "100", "100.01"] {
            assert!(Discount::new(decimal(bad)).is_err(), "{bad}");
        }
    }
}
