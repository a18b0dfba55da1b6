//! A model of the marketplace's rules for tiers, and a search for a shorter way than the planner's. It shares nothing with
//! the planner.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{super::*, decimal, package};

/// A tier as the marketplace keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Row {
    /// `None` where it is derived.
    pub(super) price: Option<Decimal>,
    pub(super) discount: Option<Decimal>,
    pub(super) package: Option<[Decimal; 4]>,
}

pub(super) type Rows = BTreeMap<u32, Row>;

pub(super) fn measures(package: Package) -> [Decimal; 4] {
    [package.weight, package.height, package.width, package.length]
}

/// Returns the marketplace's rows for tiers.
pub(super) fn rows(mode: Mode, tiers: &[Tier]) -> Rows {
    let row = |tier: &Tier| {
        let is_derived = mode == Mode::Auto && tier.min_quantity > 1;
        let row = Row {
            price: if is_derived { None } else { tier.price },
            discount: if is_derived { tier.discount_percent } else { None },
            package: if tier.min_quantity > 1 { tier.package.map(measures) } else { None },
        };
        (tier.min_quantity, row)
    };
    tiers.iter().map(row).collect()
}

/// Judges tiers together: legal, or the rule that they break.
pub(super) fn judge(mode: Mode, rows: &Rows) -> Result<(), u8> {
    if !rows.contains_key(&1) || rows.contains_key(&0) || rows.len() > 5 {
        return Err(1);
    }
    if mode == Mode::Default && rows.len() != 1 {
        return Err(1);
    }
    let above: Vec<&Row> = rows.iter().filter(|(quantity, _)| **quantity > 1).map(|(_, row)| row).collect();
    if above.first().is_some_and(|first| first.package.is_none()) {
        return Err(4);
    }
    let is_bad = |package: [Decimal; 4]| package.iter().any(|measure| *measure <= Decimal::ZERO);
    if above.iter().any(|row| row.package.is_some_and(is_bad)) {
        return Err(4);
    }
    for (quantity, row) in rows {
        if (mode != Mode::Auto || *quantity == 1) && row.price.is_none_or(|price| price <= Decimal::ZERO) {
            return Err(5);
        }
    }
    if mode == Mode::Auto {
        let mut last = Decimal::NEGATIVE_ONE;
        for row in above {
            let discount = row.discount.ok_or(6)?;
            if discount < Decimal::ZERO || discount >= Decimal::ONE_HUNDRED || discount <= last {
                return Err(6);
            }
            last = discount;
        }
    }
    Ok(())
}

/// Says whether a tier is right in itself, whatever else is wrong: a server that checks only the sent tier accepts it.
pub(super) fn is_right(mode: Mode, rows: &Rows, quantity: u32) -> bool {
    let Some(row) = rows.get(&quantity).filter(|_| quantity > 1) else { return true };
    let is_beside = |(other, beside): (&u32, &Row)| match beside.discount.filter(|_| *other > 1) {
        Some(discount) if *other < quantity => Some(discount) < row.discount,
        Some(discount) if *other > quantity => Some(discount) > row.discount,
        _ => true,
    };
    let is_first = rows.range(2..).next().is_some_and(|(first, _)| *first == quantity);
    (row.package.is_some() || !is_first)
        && (mode != Mode::Auto || row.discount.is_some() && rows.iter().all(is_beside))
}

/// Returns the tiers after a request, before they are judged.
pub(super) fn written(mode: Mode, rows: &Rows, step: &Step) -> Result<Rows, u8> {
    let mut rows = rows.clone();
    let (Step::Post(sent) | Step::Put(sent)) = step else {
        let Step::Delete(quantity) = step else { unreachable!() };
        return if *quantity > 1 && rows.remove(quantity).is_some() { Ok(rows) } else { Err(1) };
    };
    if matches!(step, Step::Post(_)) == rows.contains_key(&sent.min_quantity) {
        return Err(1);
    }
    let is_base = sent.min_quantity == 1;
    if is_base && sent.package.is_some() {
        return Err(3);
    }
    let is_derived = mode == Mode::Auto && !is_base;
    if !is_derived && sent.price.is_none() {
        return Err(5);
    }
    if is_derived && sent.price.is_some() || !is_derived && sent.discount_percent.is_some() {
        return Err(6);
    }
    let row = rows.entry(sent.min_quantity).or_insert(Row { price: None, discount: None, package: None });
    row.price = sent.price;
    row.discount = sent.discount_percent.or(row.discount);
    row.package = sent.package.map(measures).or(row.package);
    Ok(rows)
}

pub(super) fn apply(mode: Mode, rows: &Rows, step: &Step) -> Result<Rows, u8> {
    let rows = written(mode, rows, step)?;
    judge(mode, &rows).map(|()| rows)
}

/// Returns the desired state, if it is defined.
pub(super) fn desired_rows(mode: Mode, current: &[Tier], desired: &[Tier]) -> Result<Rows, u8> {
    let there = rows(mode, current);
    let mut rows = rows(mode, desired);
    if rows.len() != desired.len() {
        return Err(1);
    }
    for (quantity, row) in &mut rows {
        row.package = row.package.or(there.get(quantity).and_then(|row| row.package));
    }
    Ok(rows)
}

/// A search for a shorter way than the planner's, with a free choice of values.
pub(super) struct Rival {
    pub(super) mode: Mode,
    pub(super) goal: Rows,
    pub(super) requests: Vec<Step>,
    /// For each state, how many requests were left when it was found to lead nowhere.
    pub(super) hopeless: HashMap<Rows, usize>,
}

impl Rival {
    pub(super) fn new(mode: Mode, tiers: &[Tier], goal: &Rows) -> Self {
        let mut quantities: BTreeSet<u32> = tiers.iter().map(|tier| tier.min_quantity).collect();
        // One quantity that is neither current nor desired.
        quantities.extend((2..100).find(|quantity| !quantities.contains(quantity)));
        let mut requests = Vec::new();
        for quantity in quantities {
            requests.extend((quantity > 1).then_some(Step::Delete(quantity)));
            for (price, discount_percent) in Self::values(mode, quantity, tiers) {
                let packages = [None, Some(package(1)), Some(package(2)), Some(package(3))];
                for package in packages.into_iter().take(if quantity == 1 { 1 } else { 4 }) {
                    let tier = Tier { min_quantity: quantity, price, discount_percent, package };
                    requests.extend([Step::Post(tier), Step::Put(tier)]);
                }
            }
        }
        Self { mode, goal: goal.clone(), requests, hopeless: HashMap::new() }
    }

    pub(super) fn values(
        mode: Mode,
        quantity: u32,
        tiers: &[Tier],
    ) -> Vec<(Option<Decimal>, Option<Decimal>)> {
        if mode == Mode::Auto && quantity > 1 {
            // Steps of a half: between any two discounts of the strategies there is one more.
            let discounts = (0..=28).map(|half| Decimal::new(half * 5, 1));
            return discounts.map(|discount| (None, Some(discount))).collect();
        }
        let own = tiers.iter().filter(|tier| tier.min_quantity == quantity).filter_map(|tier| tier.price);
        own.chain([decimal("77")]).map(|price| (Some(price), None)).collect()
    }

    pub(super) fn distance(&self, rows: &Rows) -> usize {
        let quantities: BTreeSet<_> = rows.keys().chain(self.goal.keys()).collect();
        quantities.iter().filter(|quantity| rows.get(quantity) != self.goal.get(quantity)).count()
    }

    pub(super) fn arrives(&mut self, rows: &Rows, left: usize) -> bool {
        if *rows == self.goal {
            return true;
        }
        if self.distance(rows) > left || self.hopeless.get(rows).is_some_and(|known| *known >= left) {
            return false;
        }
        let mut next = BTreeSet::new();
        for step in &self.requests {
            // The distance is cheaper to compute than the judgement.
            if let Ok(rows) = written(self.mode, rows, step)
                && self.distance(&rows) < left
                && judge(self.mode, &rows).is_ok()
            {
                next.insert(rows);
            }
        }
        if next.iter().any(|rows| self.arrives(rows, left - 1)) {
            return true;
        }
        self.hopeless.insert(rows.clone(), left);
        false
    }
}
