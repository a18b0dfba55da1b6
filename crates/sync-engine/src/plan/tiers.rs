//! Plans the requests that turn a product's price tiers into the desired ones (API document, "Products, prices, stock":
//! price rules 1 to 6). Pure.
//!
//! The marketplace judges every request on its own, so every state on the way must be legal. A breadth-first search
//! goes over the stages that each tier can have: absent, as it is, as desired. With automatic wholesale these do not
//! always give the shortest way: the tier that takes over the measures (rule 4) may not fit beside the one that leaves
//! (rule 6). So there are two more stages: as it is with the desired measures, and, for these two tiers alone, an
//! interim discount.
//!
//! The order of preference:
//! 1. states that are wholly legal (from a state that is not, as a second best, steps that make nothing worse);
//! 2. the fewest requests;
//! 3. the fewest times, counted over all states on the way and all quantities at which a tier begins, that a quantity
//!    costs more than both before and after;
//! 4. the lowest tier first.

mod rules;
mod search;

use rust_decimal::Decimal;

pub use rules::Forbidden;
use rules::target;

/// The base tier (rule 1).
const BASE: u32 = 1;

/// The most tiers of a wholesale product (rule 1).
const MOST_TIERS: usize = 5;

/// The most tiers that a search starts from. Tiers beyond that, left by the portal, are deleted first, so that the
/// states do not become too many.
const MOST_SEARCHED: usize = MOST_TIERS + 1;

/// Decimals of an interim discount, at most. The document names no limit for discounts; prices have cents.
const INTERIM_SCALE: u32 = 2;

/// How a product is priced. Planning never changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `price_type` `default`: the base tier alone.
    Default,
    /// `wholesale`, each tier with a price of its own.
    Manual,
    /// `wholesale` with `auto_wholesale_pricing`: tiers above the base are discounts.
    Auto,
}

/// Measures of a package, all above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// In kg.
    pub weight: Decimal,
    /// In cm.
    pub height: Decimal,
    /// In cm.
    pub width: Decimal,
    /// In cm.
    pub length: Decimal,
}

/// A price tier: as it is, as desired, or as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The quantity from which it applies.
    pub min_quantity: u32,
    /// The price of one unit. Above the base with [`Mode::Auto`] it is derived, and not read.
    pub price: Option<Decimal>,
    /// The discount on the base price, in per cent. Counts above the base with [`Mode::Auto`] only.
    pub discount_percent: Option<Decimal>,
    /// The measures of the package. In a desired tier `None` leaves them as they are.
    pub package: Option<Package>,
}

/// One request. Its tier is exactly the tier to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Creates a tier.
    Post(Tier),
    /// Changes a tier. Carries the price wherever leaving it out would zero it (rule 5).
    Put(Tier),
    /// Deletes the tier that begins at a quantity.
    Delete(u32),
}

/// Returns the shortest sequence of permitted requests that turns a product's tiers into the desired ones.
///
/// A shorter sequence may exist where two discounts are so close that no interim discount with two decimals fits
/// between them.
///
/// # Errors
/// When a rule forbids the desired tiers; or when the current tiers break a rule and permitted requests cannot repair
/// that.
pub fn plan(mode: Mode, current: &[Tier], desired: &[Tier]) -> Result<Vec<Step>, Forbidden> {
    let target = target(mode, current, desired)?;
    let (current, mut steps) = searchable(mode, current, &target)?;
    steps.extend(search::way(mode, &current, &target)?);
    Ok(steps)
}

/// Says whether nothing is left to do: the tiers are the desired ones, with the desired values. Only [`plan`] says
/// whether the rules permit them.
#[must_use]
pub fn holds(mode: Mode, current: &[Tier], desired: &[Tier]) -> bool {
    let is_desired = |tier: &Tier| desired.iter().any(|desired| desired.min_quantity == tier.min_quantity);
    desired.iter().all(|tier| tier.is_met(mode, current)) && current.iter().all(is_desired)
}

impl Package {
    fn is_whole(&self) -> bool {
        [self.weight, self.height, self.width, self.length].iter().all(|measure| *measure > Decimal::ZERO)
    }
}

impl Step {
    /// Returns the quantity from which its tier applies.
    pub fn min_quantity(&self) -> u32 {
        match self {
            Self::Post(tier) | Self::Put(tier) => tier.min_quantity,
            Self::Delete(quantity) => *quantity,
        }
    }
}

impl Tier {
    /// Says whether the current tiers have this one once, with its values.
    pub fn is_met(&self, mode: Mode, current: &[Self]) -> bool {
        let mut there = current.iter().filter(|tier| tier.min_quantity == self.min_quantity);
        there.next().is_some_and(|tier| {
            let tier = tier.relevant(mode);
            self.relevant(mode).or_package(&tier) == tier
        }) && there.next().is_none()
    }

    /// Returns the price of one unit that results beside a base price: its own, or the rest that its
    /// discount leaves of the base price (rule 6). `None` where the rules refuse the tier.
    pub fn resulting_price(&self, mode: Mode, base: Option<Decimal>) -> Option<Decimal> {
        if !self.is_discount(mode) {
            return self.price;
        }
        let left = (Decimal::ONE_HUNDRED - self.discount()?) / Decimal::ONE_HUNDRED;
        base.map(|base| base * left)
    }

    /// Says whether it is priced by its discount (rule 6).
    pub(crate) fn is_discount(&self, mode: Mode) -> bool {
        mode == Mode::Auto && self.min_quantity != BASE
    }

    /// Returns the tier with what counts: a price or a discount, and measures above the base (rules 3 and 6).
    fn relevant(self, mode: Mode) -> Self {
        let is_discount = self.is_discount(mode);
        Self {
            min_quantity: self.min_quantity,
            price: self.price.filter(|_| !is_discount),
            discount_percent: self.discount_percent.filter(|_| is_discount),
            package: self.package.filter(|_| self.min_quantity != BASE),
        }
    }

    /// Returns the tier, with the measures of another where it has none.
    fn or_package(self, other: &Self) -> Self {
        Self { package: self.package.or(other.package), ..self }
    }

    /// Returns its discount, if that is a permitted one (rule 6).
    fn discount(&self) -> Option<Decimal> {
        self.discount_percent.filter(|percent| is_permitted(*percent))
    }
}

fn is_permitted(percent: Decimal) -> bool {
    percent >= Decimal::ZERO && percent < Decimal::ONE_HUNDRED
}

fn at(tiers: &[Tier], min_quantity: u32) -> Option<&Tier> {
    tiers.iter().find(|tier| tier.min_quantity == min_quantity)
}

/// Returns what counts of the current tiers, by quantity. A package with a measure of zero is none.
fn there(mode: Mode, current: &[Tier]) -> Vec<Tier> {
    let whole = |tier: &Tier| {
        let tier = tier.relevant(mode);
        Tier { package: tier.package.filter(Package::is_whole), ..tier }
    };
    let mut tiers: Vec<_> = current.iter().map(whole).collect();
    tiers.sort_by_key(|tier| tier.min_quantity);
    tiers
}

/// Returns the tiers that the search starts from, and the steps before it: of far too many tiers the highest that are
/// not desired are deleted. At least two are not desired then, so the first wholesale tier is none of them, and nothing
/// becomes worse.
fn searchable(mode: Mode, current: &[Tier], target: &[Tier]) -> Result<(Vec<Tier>, Vec<Step>), Forbidden> {
    let mut tiers = there(mode, current);
    let is_twice = |pair: &&[Tier]| pair[0].min_quantity == pair[1].min_quantity;
    let unclear = tiers.first().filter(|tier| tier.min_quantity == 0);
    if let Some(tier) = unclear.or_else(|| tiers.windows(2).find(is_twice).map(|pair| &pair[0])) {
        return Err(Forbidden::Current { rule: 1, min_quantity: tier.min_quantity });
    }
    let mut steps = Vec::new();
    while tiers.len() > MOST_SEARCHED {
        let leaving = tiers.iter().rposition(|tier| at(target, tier.min_quantity).is_none());
        let Some(place) = leaving else { break };
        steps.push(Step::Delete(tiers.remove(place).min_quantity));
    }
    Ok((tiers, steps))
}

#[cfg(test)]
mod tests;
