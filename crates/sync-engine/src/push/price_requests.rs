//! A product's prices between the planner and the API: its pricing mode, its tiers, and the request of a step.

use espelho_api_client::{
    ApiRequest, Invalid,
    resources::products::{
        ProductDetail,
        measures::{Measures, Package as ApiPackage},
        prices::{
            AutomaticPricing, Discount, Price, Tier as ApiTier, WholesaleQuantity, WholesaleTier,
            delete_request,
        },
    },
};
use espelho_model::{ProductId, Sku, product::PriceTier};
use serde_json::Value;

use crate::plan::tiers::{Mode, Package, Step, Tier};

/// Returns the key of a step: the steps of one product run one after the other.
pub(super) fn key_of(product: &ProductId, detail: &ProductDetail) -> String {
    format!("prices/{}", detail.product.sku.as_ref().map_or(product.as_str(), Sku::as_str))
}

/// Returns the pricing mode of a product.
pub fn mode_of(detail: &ProductDetail) -> Mode {
    mode_after(&Value::Null, detail)
}

/// Returns the pricing mode of a product after a change, with the API document's names.
pub(super) fn mode_after(data: &Value, detail: &ProductDetail) -> Mode {
    let price_type = data["price_type"].as_str().or(detail.product.price_type.as_deref());
    let is_automatic = data["auto_wholesale_pricing"].as_bool().or(detail.product.auto_wholesale_pricing);
    match price_type {
        Some("wholesale") if is_automatic == Some(true) => Mode::Auto,
        Some("wholesale") => Mode::Manual,
        _ => Mode::Default,
    }
}

/// Returns a product's current tiers, for the planner.
pub fn current_tiers(detail: &ProductDetail) -> Vec<Tier> {
    detail.product.prices.iter().filter_map(current_tier).collect()
}

fn current_tier(tier: &PriceTier) -> Option<Tier> {
    let package = match (tier.package_weight, tier.package_height, tier.package_width, tier.package_length) {
        (Some(weight), Some(height), Some(width), Some(length)) => {
            Some(Package { weight, height, width, length })
        }
        _ => None,
    };
    Some(Tier {
        min_quantity: u32::try_from(tier.min_quantity).ok()?,
        price: tier.value,
        discount_percent: tier.discount_percent,
        package,
    })
}

/// Returns the request of a planned step.
///
/// # Errors
/// When the request would be invalid: a discount for a product that does not derive its prices, a number with too many
/// decimals.
pub fn request_of(step: Step, product: &ProductId, detail: &ProductDetail) -> Result<ApiRequest, Invalid> {
    Ok(match step {
        Step::Post(tier) => api_tier(tier, detail)?.create_request(product),
        Step::Put(tier) => api_tier(tier, detail)?.update_request(product),
        Step::Delete(quantity) => delete_request(product, WholesaleQuantity::new(quantity)?),
    })
}

fn api_tier(tier: Tier, detail: &ProductDetail) -> Result<ApiTier, Invalid> {
    if tier.min_quantity == 1 {
        return Ok(ApiTier::Base(Price::new(tier.price.unwrap_or_default())?));
    }
    let min_quantity = WholesaleQuantity::new(tier.min_quantity)?;
    let package = tier.package.map(api_package).transpose()?;
    match tier.price {
        Some(price) => {
            Ok(ApiTier::Manual(WholesaleTier { min_quantity, pricing: Price::new(price)?, package }))
        }
        None => {
            let pricing = Discount::new(tier.discount_percent.unwrap_or_default())?;
            Ok(ApiTier::Automatic(
                AutomaticPricing::of(detail)?,
                WholesaleTier { min_quantity, pricing, package },
            ))
        }
    }
}

fn api_package(Package { weight, height, width, length }: Package) -> Result<ApiPackage, Invalid> {
    ApiPackage::new(Measures { height, width, length, weight })
}
