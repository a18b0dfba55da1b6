//! Which requests turn the price tiers of a product into those that are wanted (API document, "Products, prices, stock":
//! price rules 1 to 6). Pure.
//!
//! Every request is judged by the marketplace on its own, so every state on the way has to be legal. A breadth-first search
//! goes over what each tier may be meanwhile: absent, as it is, as wanted. That is not always the shortest way with automatic
//! wholesale, where the tier that takes over the measures (rule 4) may not fit beside the one that leaves (rule 6). So there
//! are two more: as it is with the wanted measures, and, for these two tiers alone, an interim discount.
//!
//! The order of preference:
//! 1. states that are wholly legal (from a state that is not, as a second best, steps that make nothing worse);
//! 2. the fewest requests;
//! 3. the fewest times, counted over all states on the way and all quantities at which a tier begins, that a quantity costs
//!    more than both before and after;
//! 4. the lowest tier first.

use std::{
    collections::{BTreeSet, HashMap},
    error, fmt,
};

use rust_decimal::Decimal;

/// The base tier (rule 1).
const BASE: u32 = 1;

/// The most tiers of a wholesale product (rule 1).
const MOST_TIERS: usize = 5;

/// The most tiers a search starts from: what the portal left beyond is deleted beforehand, lest the states become too many.
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

/// A price tier: as it is, as wanted, or as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// From which quantity on it applies.
    pub min_quantity: u32,
    /// What one unit costs. Derived above the base with [`Mode::Auto`], and then never looked at.
    pub price: Option<Decimal>,
    /// The discount on the base price, in per cent. Counts above the base with [`Mode::Auto`] only.
    pub discount_percent: Option<Decimal>,
    /// What the package measures. In a wanted tier `None` leaves it as it is.
    pub package: Option<Package>,
}

/// One request. Its tier is exactly what is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Creates a tier.
    Post(Tier),
    /// Changes a tier. Carries the price wherever leaving it out would zero it (rule 5).
    Put(Tier),
    /// Deletes the tier that begins at a quantity.
    Delete(u32),
}

/// Why the wanted tiers cannot be had. The text names the tier and the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// No tier is wanted at all.
    Nothing,
    /// The base tier is not among those wanted.
    NoBase,
    /// A tier is to begin at quantity zero.
    QuantityZero,
    /// Two wanted tiers begin at the same quantity.
    Repeated {
        /// That quantity.
        min_quantity: u32,
    },
    /// A product with a single price is to have a second tier.
    NotWholesale {
        /// The second tier.
        min_quantity: u32,
    },
    /// More than five tiers are wanted.
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
    /// A tier has a discount in place of its price, which does not count there.
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
    /// What is there now breaks a rule, and no step that the rules allow leads out of it.
    Current {
        /// The rule that it breaks.
        rule: u8,
        /// A tier that breaks it.
        min_quantity: u32,
    },
}

impl Forbidden {
    /// The number of the price rule that forbids it.
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

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => {
                write!(f, "no tier is wanted, and tier 1 cannot be deleted: give at least tier 1")
            }
            Self::NoBase => write!(f, "tier 1 is missing, on which the others rest: add it with its price"),
            Self::QuantityZero => write!(f, "a tier begins at quantity 0: let it begin at 1 or more"),
            Self::Repeated { min_quantity } => {
                write!(f, "tier {min_quantity} is given twice: keep one of them")
            }
            Self::NotWholesale { min_quantity } => write!(
                f,
                "tier {min_quantity} needs a product with price_type wholesale: change it with product.update first"
            ),
            Self::TooMany { min_quantity } => {
                write!(
                    f,
                    "tier {min_quantity} is one too many: leave at most {MOST_TIERS}, tier 1 among them"
                )
            }
            Self::NotMeasured { min_quantity } => write!(
                f,
                "tier {min_quantity} is the first wholesale tier and has no package measures: give all four"
            ),
            Self::BadMeasure { min_quantity } => {
                write!(f, "tier {min_quantity} has a package measure that is not above 0: correct it")
            }
            Self::NoPrice { min_quantity } => write!(f, "tier {min_quantity} has no price: give one above 0"),
            Self::BadPrice { min_quantity } => {
                write!(f, "tier {min_quantity} has a price that is not above 0: correct it")
            }
            Self::DiscountForPrice { min_quantity } => write!(
                f,
                "tier {min_quantity} has a discount in place of its price, which counts with automatic wholesale above \
                 tier 1 only: give its price"
            ),
            Self::NoBasePrice => {
                write!(f, "tier 1 has no price to derive the others from: give one above 0")
            }
            Self::NoDiscount { min_quantity } => write!(
                f,
                "tier {min_quantity} has no discount, and automatic wholesale derives its price: give discount_percent"
            ),
            Self::BadDiscount { min_quantity } => {
                write!(f, "tier {min_quantity} has a discount that is not from 0 to below 100: correct it")
            }
            Self::NotIncreasing { min_quantity, before } => write!(
                f,
                "tier {min_quantity} has a discount that is not larger than that of tier {before}: raise it, or lower \
                 that of tier {before}"
            ),
            Self::Current { rule, min_quantity } => write!(
                f,
                "the product's own tiers break rule {rule} at tier {min_quantity}, and no permitted request mends it: \
                 correct them in the portal first"
            ),
        }
    }
}

impl error::Error for Forbidden {}

/// The shortest sequence of requests after which the tiers of a product are those wanted, each of them permitted.
///
/// It may be longer than the shortest where discounts stand closer together than an interim one could between them: two
/// decimals are all that it takes.
///
/// # Errors
/// When a rule forbids the wanted tiers; or what is there now breaks one and cannot be mended by permitted requests.
pub fn plan(mode: Mode, current: &[Tier], wanted: &[Tier]) -> Result<Vec<Step>, Forbidden> {
    let target = target(mode, current, wanted)?;
    let (current, mut steps) = searchable(mode, current, &target)?;
    let board = Board::new(mode, &current, &target);
    let way = board.way(Care::Legal).or_else(|| board.way(Care::NoWorse));
    let way = way.ok_or_else(|| board.broken())?;
    steps.extend(way.windows(2).filter_map(|pair| board.step(pair[0], pair[1])));
    Ok(steps)
}

/// Whether nothing is left to do: there is no tier but those wanted, and they say what is wanted. Whether the rules permit
/// them is for [`plan`] to say.
#[must_use]
pub fn holds(mode: Mode, current: &[Tier], wanted: &[Tier]) -> bool {
    let is_met = |wanted: &Tier| {
        let mut there = current.iter().filter(|tier| tier.min_quantity == wanted.min_quantity);
        there.next().is_some_and(|tier| {
            let tier = tier.relevant(mode);
            wanted.relevant(mode).or_package(&tier) == tier
        }) && there.next().is_none()
    };
    let is_wanted = |tier: &Tier| wanted.iter().any(|wanted| wanted.min_quantity == tier.min_quantity);
    wanted.iter().all(is_met) && current.iter().all(is_wanted)
}

impl Package {
    fn is_whole(&self) -> bool {
        [self.weight, self.height, self.width, self.length].iter().all(|measure| *measure > Decimal::ZERO)
    }
}

impl Tier {
    /// Whether it is priced by its discount (rule 6).
    fn is_discount(&self, mode: Mode) -> bool {
        mode == Mode::Auto && self.min_quantity != BASE
    }

    /// What of a tier counts: a price or a discount, and measures above the base (rules 3 and 6).
    fn relevant(self, mode: Mode) -> Self {
        let is_discount = self.is_discount(mode);
        Self {
            min_quantity: self.min_quantity,
            price: self.price.filter(|_| !is_discount),
            discount_percent: self.discount_percent.filter(|_| is_discount),
            package: self.package.filter(|_| self.min_quantity != BASE),
        }
    }

    /// With the measures of another where it has none.
    fn or_package(self, other: &Self) -> Self {
        Self { package: self.package.or(other.package), ..self }
    }

    /// Its discount, if that is one (rule 6).
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

/// What counts of the tiers that are there, by quantity. A package with a measure of zero is none.
fn there(mode: Mode, current: &[Tier]) -> Vec<Tier> {
    let whole = |tier: &Tier| {
        let tier = tier.relevant(mode);
        Tier { package: tier.package.filter(Package::is_whole), ..tier }
    };
    let mut tiers: Vec<_> = current.iter().map(whole).collect();
    tiers.sort_by_key(|tier| tier.min_quantity);
    tiers
}

/// What the tiers are to be in the end, by quantity, if the rules permit it.
fn target(mode: Mode, current: &[Tier], wanted: &[Tier]) -> Result<Vec<Tier>, Forbidden> {
    let current = there(mode, current);
    let mut wanted = wanted.to_vec();
    wanted.sort_by_key(|tier| tier.min_quantity);
    check_quantities(mode, &wanted)?;
    wanted.iter().try_for_each(|tier| check_pricing(mode, tier))?;
    let effective = |tier: &Tier| {
        let tier = tier.relevant(mode);
        at(&current, tier.min_quantity).map_or(tier, |there| tier.or_package(there))
    };
    let target: Vec<_> = wanted.iter().map(effective).collect();
    check_packages(&target)?;
    check_increase(&target)?;
    Ok(target)
}

/// Rule 1.
fn check_quantities(mode: Mode, wanted: &[Tier]) -> Result<(), Forbidden> {
    let first = wanted.first().ok_or(Forbidden::Nothing)?;
    if first.min_quantity == 0 {
        return Err(Forbidden::QuantityZero);
    }
    if let Some(pair) = wanted.windows(2).find(|pair| pair[0].min_quantity == pair[1].min_quantity) {
        return Err(Forbidden::Repeated { min_quantity: pair[0].min_quantity });
    }
    if first.min_quantity != BASE {
        return Err(Forbidden::NoBase);
    }
    match (mode, wanted.get(1), wanted.get(MOST_TIERS)) {
        (Mode::Default, Some(second), _) => {
            Err(Forbidden::NotWholesale { min_quantity: second.min_quantity })
        }
        (_, _, Some(sixth)) => Err(Forbidden::TooMany { min_quantity: sixth.min_quantity }),
        _ => Ok(()),
    }
}

/// Rules 5 and 6, on one tier.
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

/// Rule 4.
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

/// Rule 6, on all tiers together. Only discounts that count are there.
fn check_increase(target: &[Tier]) -> Result<(), Forbidden> {
    let is_flat = |pair: &&[Tier]| {
        pair[0].discount_percent.is_some() && pair[1].discount_percent <= pair[0].discount_percent
    };
    target.windows(2).find(is_flat).map_or(Ok(()), |pair| {
        Err(Forbidden::NotIncreasing { min_quantity: pair[1].min_quantity, before: pair[0].min_quantity })
    })
}

/// What the search starts from, and the steps before it: of far too many tiers the highest that are not wanted are deleted.
/// At least two are not wanted then, so the first wholesale tier is none of them, and nothing becomes worse.
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

/// The stages of a tier: its place in [`Slot::forms`]. It only ever moves up, or becomes absent.
type Stage = usize;

const ABSENT: Stage = 0;
const AS_IS: Stage = 1;
/// As it is, but with the wanted measures.
const MEASURED: Stage = 2;
/// With a discount that it neither had nor is to keep.
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

/// What a tier is in one of its stages.
#[derive(Clone, Copy, Debug)]
struct Form {
    tier: Tier,
    /// The place of its discount among all of them, if it has one that is permitted.
    discount: Option<usize>,
    /// The place of its price among all of them, while the base is not yet and when it is as wanted.
    prices: [usize; 2],
}

/// A tier through all its stages.
#[derive(Clone, Copy, Debug)]
struct Slot {
    min_quantity: u32,
    forms: [Option<Form>; STAGES],
    start: Stage,
    goal: Stage,
}

/// What is wrong with a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Faults {
    /// Tiers beyond what the mode permits (rule 1).
    excess: usize,
    /// There is no tier, or not the base (rule 1).
    is_empty: bool,
    is_baseless: bool,
    /// The first wholesale tier has no measures (rule 4).
    is_unmeasured: bool,
    /// A bit for each tier whose discount is none, or not larger than those before (rule 6).
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

/// How careful a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// Every step ends in a legal state.
    Legal,
    /// No step makes anything worse, or writes a tier that is wrong itself: for a start that is not legal.
    NoWorse,
}

/// How a state was reached first, or cheapest among equally short ways.
#[derive(Clone, Copy, Debug)]
struct Reached {
    from: State,
    steps: usize,
    /// How many quantities cost too much in all states up to this one.
    dear: usize,
}

/// All that the search knows.
#[derive(Debug)]
struct Board {
    mode: Mode,
    /// By quantity; the first is the base.
    slots: Vec<Slot>,
    /// The most that each slot's quantity costs before and after.
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

    /// The tiers of a state, with their slots.
    fn present(&self, state: State) -> impl Iterator<Item = (usize, &Form)> {
        (0..self.slots.len()).filter_map(move |slot| self.form(state, slot).map(|form| (slot, form)))
    }

    /// What each slot's quantity costs in a state: by the last tier that begins at or below it (rule 1).
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

    /// Whether a tier that was just written is right itself, whatever else is wrong.
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

    /// What one request can make of a state, and the slot that it changes.
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

    /// The states on the best way from the start to the goal, both among them.
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

    /// The states one request further than a layer of them.
    fn next_layer(&self, care: Care, layer: &[State], reached: &mut HashMap<State, Reached>) -> Vec<State> {
        let mut next = Vec::new();
        for from in layer {
            let Some(before) = reached.get(from).copied() else { continue };
            let steps = before.steps + 1;
            for (slot, to) in self.moves(*from) {
                let known = reached.get(&to).copied();
                // What was reached in fewer steps stays; what is free of dear prices cannot become better.
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

    /// The request that leads from a state to one of its moves.
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

    /// What is wrong with the start, where nothing leads out of it.
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

/// A tier through its stages, before it is compared with the others.
type Draft = [Option<Tier>; STAGES];

/// The stages of one tier. One that is already as wanted is nothing else.
fn draft(mode: Mode, there: Option<&Tier>, wanted: Option<&Tier>, interims: &[Tier]) -> (Draft, Stage) {
    let mut draft = [None; STAGES];
    draft[WANTED] = wanted.copied();
    let Some(tier) = there.or(wanted) else { return (draft, ABSENT) };
    draft[INTERIM] = at(interims, tier.min_quantity).copied();
    if there == wanted {
        return (draft, WANTED);
    }
    draft[AS_IS] = there.copied();
    if let (Mode::Auto, Some(there), Some(wanted)) = (mode, there, wanted)
        && there.package != wanted.package
        && there.discount_percent != wanted.discount_percent
    {
        draft[MEASURED] = Some(Tier { package: wanted.package, ..*there });
    }
    (draft, if there.is_some() { AS_IS } else { ABSENT })
}

/// Interim discounts for the two tiers of a handover: the first wholesale tier leaves, a new one takes over its measures
/// (rule 4), and their discounts do not permit them both (rule 6). Either the higher tier's discount is raised or the lower
/// tier's lowered, whichever of them is the new one. The search takes what has room, rather the one that makes nothing dearer.
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

/// The first round number above a discount that is still below another.
fn just_above(percent: Decimal, next: Decimal) -> Option<Decimal> {
    let rounder = |scale| percent.trunc_with_scale(scale) + Decimal::new(1, scale);
    (0..=INTERIM_SCALE).map(rounder).find(|rounder| *rounder < next)
}

/// The last whole number below a discount.
fn just_below(percent: Decimal) -> Option<Decimal> {
    Some(percent.ceil() - Decimal::ONE).filter(|below| is_permitted(*below))
}

/// Slots of drafts. Discounts and prices become places among all of them, which are quick to compare.
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
        // Zero is for no price at all.
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

/// A hundred times what a unit costs (rule 6).
fn price(mode: Mode, tier: &Tier, base: Decimal) -> Decimal {
    let (price, percent) = if tier.is_discount(mode) {
        (base, tier.discount().unwrap_or_default())
    } else {
        (tier.price.unwrap_or_default(), Decimal::ZERO)
    };
    price.checked_mul(Decimal::ONE_HUNDRED - percent).unwrap_or(Decimal::MAX)
}

#[cfg(test)]
mod tests;
