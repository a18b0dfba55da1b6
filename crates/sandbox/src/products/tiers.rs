//! The numbered price rules of the document, on one product.
//!
//! Each change is made on a copy of the tiers, which must then be a whole that the rules allow.

use super::{Dimensions, Product, Tier};
use crate::{money::Milli, refusal::FieldErrors};

/// The most tiers of a wholesale product.
const MAX_TIERS: usize = 5;

/// A change of a tier. The outer `None` is a field that was not sent, the inner one a null.
#[derive(Clone, Debug, Default)]
pub(super) struct TierChange {
    pub(super) price: Option<Milli>,
    pub(super) discount: Option<Option<Milli>>,
    pub(super) package: Package,
}

/// Package measures as sent, in the order of [`MEASURES`].
pub(super) type Package = [Option<Option<Milli>>; 4];

/// Their fields.
pub(super) const MEASURES: [&str; 4] =
    ["package_weight", "package_height", "package_width", "package_length"];

impl Product {
    /// The price of one unit when `quantity` of them are bought, if the product has a price at all (rule 1).
    pub(crate) fn price_for(&self, quantity: u32) -> Option<Milli> {
        // Tiers ascend: the last one that begins at or below the quantity applies.
        self.tiers.iter().rev().find(|tier| tier.min_quantity <= quantity).map(|tier| tier.value)
    }

    /// Adds a tier (rules 1, 3, 4, 6).
    pub(super) fn add_tier(&mut self, min_quantity: u32, change: &TierChange) -> Result<(), FieldErrors> {
        let mut tiers = self.tiers.clone();
        let at = tiers.partition_point(|tier| tier.min_quantity < min_quantity);
        if tiers.get(at).is_some_and(|tier| tier.min_quantity == min_quantity) {
            return Err(FieldErrors::one("min_quantity", "Já existe um preço para esta quantidade mínima."));
        }
        let is_derived = self.auto_wholesale_pricing && min_quantity > 1;
        if !is_derived && change.price.is_none() {
            return Err(FieldErrors::one("price", "O campo price é obrigatório."));
        }
        let blank = Tier { min_quantity, value: Milli(0), discount_percent: None, package: None };
        tiers.insert(at, self.written(blank, change)?);
        self.adopt(tiers)
    }

    /// Changes a tier (rule 5): what is not sent stays, but for the price, which becomes zero.
    pub(super) fn change_tier(&mut self, at: usize, change: &TierChange) -> Result<(), FieldErrors> {
        let mut tiers = self.tiers.clone();
        tiers[at] = self.written(tiers[at].clone(), change)?;
        self.adopt(tiers)
    }

    /// Removes a tier (rules 1 and 4).
    pub(super) fn remove_tier(&mut self, at: usize) -> Result<(), FieldErrors> {
        let mut tiers = self.tiers.clone();
        tiers.remove(at);
        if tiers.is_empty() {
            return Err(FieldErrors::one("min_quantity", "O produto deve manter ao menos um preço."));
        }
        self.adopt(tiers)
    }

    /// Sets `price_type` (rule 2) and automatic wholesale, which derives the prices at once.
    pub(super) fn set_pricing(&mut self, is_wholesale: bool, automatic: bool) -> Result<(), FieldErrors> {
        if !is_wholesale && self.tiers.len() > 1 {
            return Err(FieldErrors::one(
                "price_type",
                "Remova os preços de atacado até restar um só antes de voltar ao preço único.",
            ));
        }
        let turned_on = automatic && !self.auto_wholesale_pricing;
        (self.is_wholesale, self.auto_wholesale_pricing) = (is_wholesale, automatic);
        if !turned_on {
            return Ok(());
        }
        self.adopt(self.tiers.clone()).map_err(|_| {
            FieldErrors::one(
                "auto_wholesale_pricing",
                "Os preços de atacado existentes não têm descontos crescentes; remova-os primeiro.",
            )
        })
    }

    /// Sets the price of a single unit; automatic wholesale tiers follow it.
    pub(crate) fn set_base_price(&mut self, price: Milli) {
        match self.tiers.first_mut() {
            Some(base) => base.value = price,
            None => {
                let base = Tier { min_quantity: 1, value: price, discount_percent: None, package: None };
                self.tiers.push(base);
            }
        }
        self.derive();
    }

    /// A tier with what was sent written into it.
    fn written(&self, mut tier: Tier, change: &TierChange) -> Result<Tier, FieldErrors> {
        if tier.min_quantity == 1 {
            tier.value = change.price.unwrap_or_default();
            return Ok(tier);
        }
        tier.package = packaged(tier.package, &change.package)?;
        if !self.auto_wholesale_pricing {
            tier.value = change.price.unwrap_or_default();
        } else if let Some(discount) = change.discount {
            tier.discount_percent = discount;
        }
        Ok(tier)
    }

    /// Takes over tiers that the rules allow, and derives their prices.
    fn adopt(&mut self, tiers: Vec<Tier>) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::new();
        if tiers.first().is_some_and(|tier| tier.min_quantity != 1) {
            errors.add("min_quantity", "O preço base (min_quantity 1) deve existir antes dos demais.");
        }
        if !self.is_wholesale && tiers.len() > 1 {
            errors.add("min_quantity", "Um produto de preço único tem apenas o preço de min_quantity 1.");
        }
        if tiers.len() > MAX_TIERS {
            errors.add("min_quantity", format!("O produto pode ter no máximo {MAX_TIERS} preços."));
        }
        let mut wholesale = tiers.iter().filter(|tier| tier.min_quantity > 1);
        if wholesale.next().is_some_and(|tier| tier.package.is_none()) {
            for measure in MEASURES {
                errors.add(
                    measure,
                    format!("O campo {measure} é obrigatório no primeiro preço de atacado, do qual os demais herdam."),
                );
            }
        }
        if self.auto_wholesale_pricing {
            check_discounts(&tiers, &mut errors);
        }
        if errors.is_empty() {
            self.tiers = tiers;
            self.derive();
            return Ok(());
        }
        Err(errors)
    }

    /// Derives the automatic wholesale prices from the base price (rule 6).
    fn derive(&mut self) {
        let Some((base, others)) = self.tiers.split_first_mut() else { return };
        for tier in others.iter_mut().filter(|_| self.auto_wholesale_pricing) {
            tier.value = discounted(base.value, tier.discount_percent.unwrap_or_default());
        }
    }
}

/// The measures of a wholesale tier after what was sent: all four above zero, or none.
fn packaged(current: Option<Dimensions>, sent: &Package) -> Result<Option<Dimensions>, FieldErrors> {
    let kept = [
        current.map(|package| package.weight),
        current.map(|package| package.height),
        current.map(|package| package.width),
        current.map(|package| package.length),
    ];
    let measures: [Option<Milli>; 4] = std::array::from_fn(|at| sent[at].unwrap_or(kept[at]));
    let mut errors = FieldErrors::new();
    for (name, measure) in MEASURES.iter().zip(measures) {
        if measure.is_some_and(|measure| measure <= Milli(0)) {
            errors.add(*name, format!("O campo {name} deve ser maior que zero."));
        }
        if measure.is_none() && measures.iter().any(Option::is_some) {
            errors.add(*name, format!("Informe as quatro medidas da embalagem: falta {name}."));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let [weight, height, width, length] = measures;
    Ok(weight.zip(height).zip(width.zip(length)).map(|((weight, height), (width, length))| Dimensions {
        height,
        width,
        length,
        weight,
    }))
}

/// Every automatic tier has a discount from 0 to below 100, larger than that of the tier before it.
fn check_discounts(tiers: &[Tier], errors: &mut FieldErrors) {
    let mut last: Option<Milli> = None;
    for tier in tiers.iter().filter(|tier| tier.min_quantity > 1) {
        let problem = match tier.discount_percent {
            None => "é obrigatório com o atacado automático",
            Some(percent) if percent < Milli(0) || percent >= Milli::whole(100) => {
                "deve ser no mínimo 0 e menor que 100"
            }
            Some(percent) if last.is_some_and(|last| percent <= last) => {
                "deve crescer a cada quantidade mínima maior"
            }
            Some(percent) => {
                last = Some(percent);
                continue;
            }
        };
        errors.add("discount_percent", format!("O campo discount_percent {problem}."));
        return;
    }
}

/// The base price less a discount, rounded up to a cent where that does not undo the discount.
fn discounted(base: Milli, percent: Milli) -> Milli {
    // Thousandths of a thousandth of a percent, so that it is rounded in one step.
    let left = i128::from(base.0) * i128::from(100_000 - percent.0);
    let cents = (left + 999_999).div_euclid(1_000_000);
    i64::try_from(cents).map_or(base, |cents| Milli::cents(cents).min(base))
}

#[cfg(test)]
#[path = "tiers_tests.rs"]
mod tests;
