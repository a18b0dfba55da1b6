//! Searches the shortest legal way from the current tiers to the desired ones.

use std::collections::{BTreeSet, HashMap};

use rust_decimal::Decimal;

use super::{BASE, Forbidden, INTERIM_SCALE, MOST_TIERS, Mode, Step, Tier, at, is_permitted};

/// Returns the shortest permitted steps from the current tiers to the desired ones.
pub(super) fn way(mode: Mode, current: &[Tier], target: &[Tier]) -> Result<Vec<Step>, Forbidden> {
    let board = Board::new(mode, current, target);
    let way = board.way(Care::Legal).or_else(|| board.way(Care::NoWorse));
    let way = way.ok_or_else(|| board.broken())?;
    Ok(way.windows(2).filter_map(|pair| board.step(pair[0], pair[1])).collect())
}

/// The stage of a tier: its index in [`Slot::forms`]. A tier only moves to a later stage, or becomes absent.
type Stage = usize;

const ABSENT: Stage = 0;
const AS_IS: Stage = 1;
/// As it is, but with the desired measures.
const MEASURED: Stage = 2;
/// With a discount that is neither its current nor its desired one.
const INTERIM: Stage = 3;
const WANTED: Stage = 4;
const STAGES: usize = 5;

/// Bits of a stage in a [`State`].
const STAGE_BITS: usize = 3;

/// The stages of all tiers, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State(u64);

impl State {
    fn stage(self, slot: usize) -> Stage {
        usize::from((self.0 >> (slot * STAGE_BITS)).to_le_bytes()[0] & 0b111)
    }

    fn with(self, slot: usize, stage: Stage) -> Self {
        let shift = slot * STAGE_BITS;
        Self(self.0 & !(0b111 << shift) | (stage as u64) << shift)
    }
}

/// A tier in one of its stages.
#[derive(Clone, Copy, Debug)]
struct Form {
    tier: Tier,
    /// The rank of its discount among all of them, if it has a permitted one.
    discount: Option<usize>,
    /// The ranks of its price among all of them: with the current base, and with the desired base.
    prices: [usize; 2],
}

/// A tier in all its stages.
#[derive(Clone, Copy, Debug)]
struct Slot {
    min_quantity: u32,
    forms: [Option<Form>; STAGES],
    start: Stage,
    goal: Stage,
}

/// The faults of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Faults {
    /// Tiers beyond what the mode permits (rule 1).
    excess: usize,
    /// There is no tier, or no base (rule 1).
    is_empty: bool,
    is_baseless: bool,
    /// The first wholesale tier has no measures (rule 4).
    is_unmeasured: bool,
    /// A bit for each tier whose discount is missing, or not larger than those before (rule 6).
    discounts: u32,
}

impl Faults {
    fn is_no_worse_than(self, before: Self) -> bool {
        self.excess <= before.excess
            && self.is_empty <= before.is_empty
            && self.is_baseless <= before.is_baseless
            && self.is_unmeasured <= before.is_unmeasured
            && self.discounts & !before.discounts == 0
    }
}

/// The strictness of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// Every step ends in a legal state.
    Legal,
    /// No step makes anything worse, or writes a tier that is wrong in itself: for a start that is not legal.
    NoWorse,
}

/// The first way to a state, or the cheapest among equally short ones.
#[derive(Clone, Copy, Debug)]
struct Reached {
    from: State,
    steps: usize,
    /// How many quantities cost too much, over all states up to this one.
    dear: usize,
}

/// The data of a search.
#[derive(Debug)]
struct Board {
    mode: Mode,
    /// By quantity; the first is the base.
    slots: Vec<Slot>,
    /// The higher cost of each slot's quantity: before or after.
    ceiling: Vec<usize>,
    start: State,
    goal: State,
}

impl Board {
    fn new(mode: Mode, current: &[Tier], target: &[Tier]) -> Self {
        let quantities: BTreeSet<u32> = current.iter().chain(target).map(|tier| tier.min_quantity).collect();
        let interims = interims(current, target);
        let drafts: Vec<_> = quantities
            .iter()
            .map(|quantity| draft(mode, at(current, *quantity), at(target, *quantity), &interims))
            .collect();
        let slots = ranked(&drafts, mode);
        let pack = |stage: fn(&Slot) -> Stage| {
            slots.iter().enumerate().fold(State(0), |state, (place, slot)| state.with(place, stage(slot)))
        };
        let (start, goal) = (pack(|slot| slot.start), pack(|slot| slot.goal));
        let mut board = Self { mode, slots, ceiling: Vec::new(), start, goal };
        board.ceiling =
            board.costs(start).zip(board.costs(goal)).map(|(before, after)| before.max(after)).collect();
        board
    }

    fn form(&self, state: State, slot: usize) -> Option<&Form> {
        self.slots[slot].forms[state.stage(slot)].as_ref()
    }

    /// Returns the tiers of a state, with their slots.
    fn present(&self, state: State) -> impl Iterator<Item = (usize, &Form)> {
        (0..self.slots.len()).filter_map(move |slot| self.form(state, slot).map(|form| (slot, form)))
    }

    /// Returns the cost of each slot's quantity in a state: that of the last tier that begins at or below it (rule 1).
    fn costs(&self, state: State) -> impl Iterator<Item = usize> {
        let base = usize::from(state.stage(0) == WANTED);
        (0..self.slots.len()).scan(0, move |cost, slot| {
            if let Some(form) = self.form(state, slot) {
                *cost = form.prices[base];
            }
            Some(*cost)
        })
    }

    fn dear(&self, state: State) -> usize {
        self.costs(state).zip(&self.ceiling).filter(|(cost, most)| cost > most).count()
    }

    fn faults(&self, state: State) -> Faults {
        let (mut faults, mut tiers, mut last, mut is_first) = (Faults::default(), 0, None, true);
        for (slot, form) in self.present(state) {
            tiers += 1;
            if slot == 0 {
                continue;
            }
            faults.is_unmeasured |= is_first && form.tier.package.is_none();
            is_first = false;
            match form.discount {
                _ if self.mode != Mode::Auto => (),
                Some(discount) if last.is_none_or(|last| discount > last) => last = Some(discount),
                _ => faults.discounts |= 1 << slot,
            }
        }
        let most = if self.mode == Mode::Default { 1 } else { MOST_TIERS };
        faults.excess = tiers - most.min(tiers);
        faults.is_empty = tiers == 0;
        faults.is_baseless = state.stage(0) == ABSENT;
        faults
    }

    /// Says whether a tier that was just written is right in itself, whatever else is wrong.
    fn is_right(&self, state: State, slot: usize) -> bool {
        let Some(form) = self.form(state, slot) else { return true };
        if slot == 0 {
            return true;
        }
        let is_first =
            self.present(state).find(|(other, _)| *other > 0).is_some_and(|(first, _)| first == slot);
        let fits = |(other, beside): (usize, &Form)| {
            other == slot
                || form
                    .discount
                    .zip(beside.discount)
                    .is_none_or(|(own, its)| own != its && (own < its) == (slot < other))
        };
        (form.tier.package.is_some() || !is_first)
            && (self.mode != Mode::Auto || form.discount.is_some() && self.present(state).all(fits))
    }

    fn permits(&self, care: Care, from: State, to: State, slot: usize) -> bool {
        let faults = self.faults(to);
        match care {
            Care::Legal => faults == Faults::default(),
            Care::NoWorse => faults.is_no_worse_than(self.faults(from)) && self.is_right(to, slot),
        }
    }

    /// Returns the states that one request can reach from a state, with the slot that it changes.
    fn moves(&self, state: State) -> impl Iterator<Item = (usize, State)> {
        self.slots.iter().enumerate().flat_map(move |(place, slot)| {
            let now = state.stage(place);
            let is_move = move |to: &Stage| match *to {
                ABSENT => now != ABSENT && place > 0,
                to => to > now && slot.forms[to].is_some(),
            };
            (0..STAGES).filter(is_move).map(move |to| (place, state.with(place, to)))
        })
    }

    /// Returns the states on the best way from the start to the goal, both included.
    fn way(&self, care: Care) -> Option<Vec<State>> {
        let first = Reached { from: self.start, steps: 0, dear: 0 };
        let mut reached = HashMap::from([(self.start, first)]);
        let mut layer = vec![self.start];
        while !layer.is_empty() && !reached.contains_key(&self.goal) {
            layer = self.next_layer(care, &layer, &mut reached);
        }
        let mut last = *reached.get(&self.goal)?;
        let mut way = vec![self.goal];
        while last.steps > 0 {
            way.push(last.from);
            last = *reached.get(&last.from)?;
        }
        way.reverse();
        Some(way)
    }

    /// Returns the new states one request beyond a layer of them.
    fn next_layer(&self, care: Care, layer: &[State], reached: &mut HashMap<State, Reached>) -> Vec<State> {
        let mut next = Vec::new();
        for from in layer {
            let Some(before) = reached.get(from).copied() else { continue };
            let steps = before.steps + 1;
            for (slot, to) in self.moves(*from) {
                let known = reached.get(&to).copied();
                // A state that was reached in fewer steps stays; one that is as cheap as the state before cannot
                // improve.
                if known.is_some_and(|known| known.steps < steps || known.dear <= before.dear) {
                    continue;
                }
                if !self.permits(care, *from, to, slot) {
                    continue;
                }
                let dear = before.dear + self.dear(to);
                if known.is_none_or(|known| dear < known.dear) {
                    reached.insert(to, Reached { from: *from, steps, dear });
                }
                if known.is_none() {
                    next.push(to);
                }
            }
        }
        next
    }

    /// Returns the request that leads from a state to one of its moves.
    fn step(&self, from: State, to: State) -> Option<Step> {
        let slot = (0..self.slots.len()).find(|slot| from.stage(*slot) != to.stage(*slot))?;
        Some(match (self.form(from, slot), self.form(to, slot)) {
            (_, None) => Step::Delete(self.slots[slot].min_quantity),
            (None, Some(form)) => Step::Post(form.tier),
            (Some(before), Some(form)) => {
                let package = form.tier.package.filter(|package| before.tier.package != Some(*package));
                Step::Put(Tier { package, ..form.tier })
            }
        })
    }

    /// Returns the rule that the start breaks, when no way leads out of it.
    fn broken(&self) -> Forbidden {
        let faults = self.faults(self.start);
        let rule = match faults {
            Faults { is_unmeasured: true, excess: 0, is_baseless: false, .. } => 4,
            Faults { excess: 0, is_baseless: false, .. } => 6,
            _ => 1,
        };
        let mut above = self.present(self.start).filter(|(slot, _)| *slot > 0);
        let is_named = |slot: usize| rule != 6 || faults.discounts & 1 << slot != 0;
        let tier = above.find(|(slot, _)| is_named(*slot));
        let min_quantity = tier.map_or(BASE, |(_, form)| form.tier.min_quantity);
        Forbidden::Current { rule, min_quantity }
    }
}

/// A tier in its stages, before it is compared with the others.
type Draft = [Option<Tier>; STAGES];

/// Returns the stages of one tier. A tier that is already as desired has no other stage.
fn draft(mode: Mode, there: Option<&Tier>, desired: Option<&Tier>, interims: &[Tier]) -> (Draft, Stage) {
    let mut draft = [None; STAGES];
    draft[WANTED] = desired.copied();
    let Some(tier) = there.or(desired) else { return (draft, ABSENT) };
    draft[INTERIM] = at(interims, tier.min_quantity).copied();
    if there == desired {
        return (draft, WANTED);
    }
    draft[AS_IS] = there.copied();
    if let (Mode::Auto, Some(there), Some(desired)) = (mode, there, desired)
        && there.package != desired.package
        && there.discount_percent != desired.discount_percent
    {
        draft[MEASURED] = Some(Tier { package: desired.package, ..*there });
    }
    (draft, if there.is_some() { AS_IS } else { ABSENT })
}

/// Returns interim discounts for the two tiers of a handover: the first wholesale tier leaves, a new one takes over its
/// measures (rule 4), and their discounts do not permit both (rule 6). Either the higher tier's discount is raised or
/// the lower tier's is lowered, whichever of them is the new one. The search takes one that fits, and prefers the one
/// that makes nothing more expensive.
fn interims(current: &[Tier], target: &[Tier]) -> Vec<Tier> {
    let first_above = |tiers: &[Tier]| tiers.iter().find(|tier| tier.min_quantity > BASE).copied();
    let handover = first_above(current).zip(first_above(target)).filter(|(old, new)| {
        at(target, old.min_quantity).is_none() && at(current, new.min_quantity).is_none()
    });
    let Some((old, new)) = handover else { return Vec::new() };
    let (low, high) = if old.min_quantity < new.min_quantity { (old, new) } else { (new, old) };
    let Some((below, above)) = low.discount().zip(high.discount()).filter(|(below, above)| above <= below)
    else {
        return Vec::new();
    };
    let known = current.iter().chain(target).filter_map(Tier::discount);
    let next = known.filter(|percent| *percent > below).min().unwrap_or(Decimal::ONE_HUNDRED);
    let with = |tier: Tier, percent| Tier { discount_percent: Some(percent), ..tier };
    let raised = just_above(below, next).map(|percent| with(high, percent));
    let lowered = just_below(above).map(|percent| with(low, percent));
    raised.into_iter().chain(lowered).collect()
}

/// Returns the first round number above a discount that is still below another.
fn just_above(percent: Decimal, next: Decimal) -> Option<Decimal> {
    let rounder = |scale| percent.trunc_with_scale(scale) + Decimal::new(1, scale);
    (0..=INTERIM_SCALE).map(rounder).find(|rounder| *rounder < next)
}

/// Returns the last whole number below a discount.
fn just_below(percent: Decimal) -> Option<Decimal> {
    Some(percent.ceil() - Decimal::ONE).filter(|below| is_permitted(*below))
}

/// Builds slots from drafts. Discounts and prices become ranks, which are quick to compare.
fn ranked(drafts: &[(Draft, Stage)], mode: Mode) -> Vec<Slot> {
    let tiers = || drafts.iter().flat_map(|(draft, _)| draft.iter().flatten());
    let discounts: BTreeSet<Decimal> = tiers().filter_map(Tier::discount).collect();
    let base = drafts.first().map_or([None; STAGES], |(draft, _)| *draft);
    let bases = [base[AS_IS].or(base[WANTED]), base[WANTED]].map(|tier| tier.and_then(|tier| tier.price));
    let prices = |tier: &Tier| bases.map(|base| price(mode, tier, base.unwrap_or_default()));
    let all_prices: BTreeSet<Decimal> = tiers().flat_map(prices).collect();
    let form = |tier: Tier| Form {
        tier,
        discount: tier.discount().map(|percent| discounts.range(..percent).count()),
        // Zero stands for no price at all.
        prices: prices(&tier).map(|price| all_prices.range(..price).count() + 1),
    };
    let slot = |(draft, start): &(Draft, Stage)| Slot {
        min_quantity: draft.iter().flatten().next().map_or(BASE, |tier| tier.min_quantity),
        forms: draft.map(|tier| tier.map(form)),
        start: *start,
        goal: if draft[WANTED].is_some() { WANTED } else { ABSENT },
    };
    drafts.iter().map(slot).collect()
}

/// Returns a hundred times the price of a unit (rule 6).
fn price(mode: Mode, tier: &Tier, base: Decimal) -> Decimal {
    let (price, percent) = if tier.is_discount(mode) {
        (base, tier.discount().unwrap_or_default())
    } else {
        (tier.price.unwrap_or_default(), Decimal::ZERO)
    };
    price.checked_mul(Decimal::ONE_HUNDRED - percent).unwrap_or(Decimal::MAX)
}
