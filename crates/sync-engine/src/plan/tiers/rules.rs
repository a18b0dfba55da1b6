//! The rules for desired tiers (API document, "Products, prices, stock": price rules 1 to 6), with their messages.

use std::{error, fmt};

use espelho_model::{text, text::Text};
use rust_decimal::Decimal;

use super::{BASE, MOST_TIERS, Mode, Tier, at, is_permitted, there};

/// The reason why the desired tiers are not possible. The text names the tier and the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// No tier is desired.
    Nothing,
    /// The base tier is not among the desired ones.
    NoBase,
    /// A desired tier begins at quantity zero.
    QuantityZero,
    /// Two desired tiers begin at the same quantity.
    Repeated {
        /// That quantity.
        min_quantity: u32,
    },
    /// A product with a single price has a second desired tier.
    NotWholesale {
        /// The second tier.
        min_quantity: u32,
    },
    /// More than five tiers are desired.
    TooMany {
        /// The sixth tier.
        min_quantity: u32,
    },
    /// The first wholesale tier would have no measures.
    NotMeasured {
        /// The first wholesale tier.
        min_quantity: u32,
    },
    /// A measure is not above zero.
    BadMeasure {
        /// The tier that has it.
        min_quantity: u32,
    },
    /// A tier has no price and no discount, where it must have a price.
    NoPrice {
        /// That tier.
        min_quantity: u32,
    },
    /// A price is not above zero.
    BadPrice {
        /// The tier that has it.
        min_quantity: u32,
    },
    /// A tier has a discount instead of its price; the discount does not count there.
    DiscountForPrice {
        /// That tier.
        min_quantity: u32,
    },
    /// Automatic wholesale has no base price to derive the others from.
    NoBasePrice,
    /// A tier has no discount though automatic wholesale derives its price.
    NoDiscount {
        /// That tier.
        min_quantity: u32,
    },
    /// A discount is below 0, or 100 or more.
    BadDiscount {
        /// The tier that has it.
        min_quantity: u32,
    },
    /// A discount is not larger than that of the tier before.
    NotIncreasing {
        /// The tier that has it.
        min_quantity: u32,
        /// The tier before.
        before: u32,
    },
    /// The current tiers break a rule, and no permitted step leads out of that.
    Current {
        /// The rule that it breaks.
        rule: u8,
        /// A tier that breaks it.
        min_quantity: u32,
    },
}

impl Forbidden {
    /// Returns the number of the price rule that forbids it.
    #[must_use]
    pub fn rule(&self) -> u8 {
        match self {
            Self::Nothing
            | Self::NoBase
            | Self::QuantityZero
            | Self::Repeated { .. }
            | Self::NotWholesale { .. }
            | Self::TooMany { .. } => 1,
            Self::NotMeasured { .. } | Self::BadMeasure { .. } => 4,
            Self::NoPrice { .. } | Self::BadPrice { .. } => 5,
            Self::DiscountForPrice { .. }
            | Self::NoBasePrice
            | Self::NoDiscount { .. }
            | Self::BadDiscount { .. }
            | Self::NotIncreasing { .. } => 6,
            Self::Current { rule, .. } => *rule,
        }
    }
}

impl Forbidden {
    /// Returns the message for people: which tier, and the next step.
    #[must_use]
    pub fn text(&self) -> Text {
        match *self {
            Self::Nothing => text!("tier-nothing"),
            Self::NoBase => text!("tier-no-base"),
            Self::QuantityZero => text!("tier-quantity-zero"),
            Self::Repeated { min_quantity } => text!("tier-repeated", tier = min_quantity),
            Self::NotWholesale { min_quantity } => text!("tier-not-wholesale", tier = min_quantity),
            Self::TooMany { min_quantity } => {
                text!("tier-too-many", tier = min_quantity, most = MOST_TIERS)
            }
            Self::NotMeasured { min_quantity } => text!("tier-not-measured", tier = min_quantity),
            Self::BadMeasure { min_quantity } => text!("tier-bad-measure", tier = min_quantity),
            Self::NoPrice { min_quantity } => text!("tier-no-price", tier = min_quantity),
            Self::BadPrice { min_quantity } => text!("tier-bad-price", tier = min_quantity),
            Self::DiscountForPrice { min_quantity } => {
                text!("tier-discount-for-price", tier = min_quantity)
            }
            Self::NoBasePrice => text!("tier-no-base-price"),
            Self::NoDiscount { min_quantity } => text!("tier-no-discount", tier = min_quantity),
            Self::BadDiscount { min_quantity } => text!("tier-bad-discount", tier = min_quantity),
            Self::NotIncreasing { min_quantity, before } => {
                text!("tier-not-increasing", tier = min_quantity, before = before)
            }
            Self::Current { rule, min_quantity } => {
                text!("tier-current", rule = rule, tier = min_quantity)
            }
        }
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text())
    }
}

impl error::Error for Forbidden {}

/// Returns the final tiers, by quantity, if the rules permit them.
pub(super) fn target(mode: Mode, current: &[Tier], desired: &[Tier]) -> Result<Vec<Tier>, Forbidden> {
    let current = there(mode, current);
    let mut desired = desired.to_vec();
    desired.sort_by_key(|tier| tier.min_quantity);
    check_quantities(mode, &desired)?;
    desired.iter().try_for_each(|tier| check_pricing(mode, tier))?;
    let effective = |tier: &Tier| {
        let tier = tier.relevant(mode);
        at(&current, tier.min_quantity).map_or(tier, |there| tier.or_package(there))
    };
    let target: Vec<_> = desired.iter().map(effective).collect();
    check_packages(&target)?;
    check_increase(&target)?;
    Ok(target)
}

/// Checks rule 1.
fn check_quantities(mode: Mode, desired: &[Tier]) -> Result<(), Forbidden> {
    let first = desired.first().ok_or(Forbidden::Nothing)?;
    if first.min_quantity == 0 {
        return Err(Forbidden::QuantityZero);
    }
    if let Some(pair) = desired.windows(2).find(|pair| pair[0].min_quantity == pair[1].min_quantity) {
        return Err(Forbidden::Repeated { min_quantity: pair[0].min_quantity });
    }
    if first.min_quantity != BASE {
        return Err(Forbidden::NoBase);
    }
    match (mode, desired.get(1), desired.get(MOST_TIERS)) {
        (Mode::Default, Some(second), _) => {
            Err(Forbidden::NotWholesale { min_quantity: second.min_quantity })
        }
        (_, _, Some(sixth)) => Err(Forbidden::TooMany { min_quantity: sixth.min_quantity }),
        _ => Ok(()),
    }
}

/// Checks rules 5 and 6 on one tier.
fn check_pricing(mode: Mode, tier: &Tier) -> Result<(), Forbidden> {
    let min_quantity = tier.min_quantity;
    if tier.is_discount(mode) {
        return match tier.discount_percent {
            None => Err(Forbidden::NoDiscount { min_quantity }),
            Some(percent) if !is_permitted(percent) => Err(Forbidden::BadDiscount { min_quantity }),
            Some(_) => Ok(()),
        };
    }
    match (tier.price, tier.discount_percent) {
        (Some(price), _) if price <= Decimal::ZERO => Err(Forbidden::BadPrice { min_quantity }),
        (Some(_), _) => Ok(()),
        (None, _) if mode == Mode::Auto => Err(Forbidden::NoBasePrice),
        (None, Some(_)) => Err(Forbidden::DiscountForPrice { min_quantity }),
        (None, None) => Err(Forbidden::NoPrice { min_quantity }),
    }
}

/// Checks rule 4.
fn check_packages(target: &[Tier]) -> Result<(), Forbidden> {
    let is_bad = |tier: &&Tier| tier.package.is_some_and(|package| !package.is_whole());
    if let Some(Tier { min_quantity, .. }) = target.iter().find(is_bad) {
        return Err(Forbidden::BadMeasure { min_quantity: *min_quantity });
    }
    match target.get(1) {
        Some(Tier { min_quantity, package: None, .. }) => {
            Err(Forbidden::NotMeasured { min_quantity: *min_quantity })
        }
        _ => Ok(()),
    }
}

/// Checks rule 6 on all tiers together. `target` has only discounts that count.
fn check_increase(target: &[Tier]) -> Result<(), Forbidden> {
    let is_flat = |pair: &&[Tier]| {
        pair[0].discount_percent.is_some() && pair[1].discount_percent <= pair[0].discount_percent
    };
    target.windows(2).find(is_flat).map_or(Ok(()), |pair| {
        Err(Forbidden::NotIncreasing { min_quantity: pair[1].min_quantity, before: pair[0].min_quantity })
    })
}
