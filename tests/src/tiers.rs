//! Tests the price tier planner: the planner's steps for pair after pair of current and desired tiers are executed on
//! the sandbox and read back. The desired tiers of one pair are the current tiers of the next, so every state is
//! reached through the API.

use std::fmt;

use espelho_api_client::{
    Client,
    resources::products::{
        BaseUnit, NewProduct, PriceType,
        draft::{NewSku, ProductName, ProductSwitches},
    },
};
use espelho_model::ProductId;
use espelho_sandbox::Sandbox;
use espelho_sync_engine::{
    plan::tiers::{Mode, Package, Step, Tier, plan},
    push::{current_tiers, mode_of, request_of},
};
use rust_decimal::Decimal;

use crate::{Random, seller::visitor};

/// Pairs on one product, before another product begins without tiers.
const CHAIN: usize = 100;
/// Products in progress at once.
const HANDS: usize = 8;
/// The highest quantity at which a wholesale tier begins: low, so that many tiers exist both before and after.
const LAST_QUANTITY: u64 = 9;
/// The most complaints that are kept.
const TOLD: usize = 20;

/// The results of many pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Planned pairs: automatic wholesale, manual wholesale, a single price.
    pub pairs: [usize; 3],
    /// Requests that change something.
    pub requests: usize,
    /// The most requests for one pair.
    pub most: usize,
    /// Pairs without a change.
    pub idle: usize,
    /// Requests that the sandbox refused.
    pub refused: usize,
    /// Desired tiers that the rules permit but the planner rejected.
    pub forbidden: usize,
    /// Pairs whose final tiers are not the desired ones.
    pub wrong: usize,
    /// The first complaints about these, as text.
    pub complaints: Vec<String>,
}

/// Executes this many pairs, the same ones for the same seed.
///
/// # Panics
/// When the sandbox does not answer a request that is not about tiers.
pub async fn execute(sandbox: &Sandbox, pairs: usize, seed: u64) -> Executed {
    let client = visitor(sandbox).await;
    let hands = (0..HANDS).map(|hand| {
        let own = pairs / HANDS + usize::from(hand < pairs % HANDS);
        let random = Random::seeded(seed.wrapping_mul(1_000).wrapping_add(hand as u64));
        tokio::spawn(Hand { client: client.clone(), random, executed: Executed::default() }.work(hand, own))
    });
    let mut all = Executed::default();
    for hand in hands.collect::<Vec<_>>() {
        all.add(hand.await.expect("no hand panics"));
    }
    all
}

/// A worker. Each works on a product of its own.
struct Hand {
    client: Client,
    random: Random,
    executed: Executed,
}

impl Hand {
    async fn work(mut self, hand: usize, pairs: usize) -> Executed {
        for begun in (0..pairs).step_by(CHAIN) {
            let mode = match self.random.up_to(10) {
                1 => Mode::Default,
                2..=5 => Mode::Manual,
                _ => Mode::Auto,
            };
            let product = self.create(mode, &format!("TIERS-{hand}-{begun}")).await;
            for _ in begun..pairs.min(begun + CHAIN) {
                self.pair(&product, mode).await;
            }
        }
        self.executed
    }

    async fn create(&self, mode: Mode, sku: &str) -> ProductId {
        let is_wholesale = mode != Mode::Default;
        let product = NewProduct {
            name: ProductName::new("name", sku).expect("a name"),
            sku: NewSku::new("sku", sku).expect("a SKU"),
            base_unit: BaseUnit::Un,
            price_type: if is_wholesale { PriceType::Wholesale } else { PriceType::Default },
            dimensions: None,
            switches: ProductSwitches {
                auto_wholesale_pricing: Some(mode == Mode::Auto),
                ..ProductSwitches::default()
            },
        };
        let created = self.client.products().create(&product).await.expect("a product can be created");
        created.value.expect("its id is told")
    }

    /// Executes one pair: the current tiers, and new desired ones.
    async fn pair(&mut self, product: &ProductId, mode: Mode) {
        let before = self.client.products().get(product).await.expect("a product can be read").value;
        assert_eq!(mode_of(&before), mode, "the product has the mode that it was created with");
        let current = current_tiers(&before);
        let wanted = wanted(&mut self.random, mode, &current);
        self.executed.pairs[place(mode)] += 1;
        let steps = match plan(mode, &current, &wanted) {
            Ok(steps) => steps,
            Err(forbidden) => {
                self.executed.forbidden += 1;
                return self.complain(format!("{forbidden}: {mode:?} {current:?} → {wanted:?}"));
            }
        };
        self.executed.most = self.executed.most.max(steps.len());
        self.executed.idle += usize::from(steps.is_empty());
        for step in &steps {
            if let Some(problem) = self.refusal(*step, product, &before).await {
                self.executed.refused += 1;
                return self.complain(format!("{problem}: {step:?} of {steps:?}, {mode:?} {current:?}"));
            }
        }
        let after = current_tiers(&self.client.products().get(product).await.expect("it can be read").value);
        if pictured(mode, &after, &[]) != pictured(mode, &wanted, &current) {
            self.executed.wrong += 1;
            self.complain(format!("{mode:?} {current:?} → {wanted:?} by {steps:?} came to {after:?}"));
        }
    }

    /// Executes a step; returns the refusal, if there is one.
    async fn refusal(
        &mut self,
        step: Step,
        product: &ProductId,
        detail: &espelho_api_client::resources::products::ProductDetail,
    ) -> Option<String> {
        let request = match request_of(step, product, detail) {
            Ok(request) => request,
            Err(invalid) => return Some(invalid.to_string()),
        };
        self.executed.requests += 1;
        self.client.requests().perform(&request).await.err().map(|error| format!("{error:?}"))
    }

    fn complain(&mut self, complaint: String) {
        if self.executed.complaints.len() < TOLD {
            self.executed.complaints.push(complaint);
        }
    }
}

/// Draws tiers that the rules permit, more or less like the current ones.
fn wanted(random: &mut Random, mode: Mode, current: &[Tier]) -> Vec<Tier> {
    let there = |quantity: u32| current.iter().find(|tier| tier.min_quantity == quantity);
    let count = if mode == Mode::Default { 0 } else { random.up_to(5) - 1 };
    let mut quantities: Vec<u32> = Vec::new();
    while (quantities.len() as u64) < count {
        let quantity = (1 + random.up_to(LAST_QUANTITY - 1)) as u32;
        if !quantities.contains(&quantity) {
            quantities.push(quantity);
        }
    }
    quantities.sort_unstable();
    // Steps of a half in a narrow range: they coincide with the current ones, and cross them.
    let mut discount = Decimal::new(random.up_to(8) as i64 * 5 - 5, 1);
    let mut tiers = Vec::new();
    for quantity in [1].into_iter().chain(quantities) {
        let now = there(quantity).filter(|_| random.up_to(3) == 1);
        let own = now.and_then(|tier| tier.discount_percent).filter(|own| *own >= discount);
        let percent = own.unwrap_or(discount);
        let is_derived = mode == Mode::Auto && quantity > 1;
        discount = percent + Decimal::new(random.up_to(6) as i64 * 5, 1);
        let price = now.and_then(|tier| tier.price);
        let price = price.unwrap_or_else(|| Decimal::new(random.up_to(400) as i64 * 25, 3));
        // The first wholesale tier must have measures, which may be the existing ones.
        let is_first = tiers.len() == 1;
        let has_own = there(quantity).is_some_and(|tier| tier.package.is_some());
        let is_silent = random.up_to(2) == 1 && (!is_first || has_own);
        let size = Decimal::new(random.up_to(3) as i64 * 15, 1);
        let package = Package { weight: size, height: size * Decimal::TWO, width: size, length: size };
        tiers.push(Tier {
            min_quantity: quantity,
            price: (!is_derived).then_some(price),
            discount_percent: is_derived.then_some(percent),
            package: (quantity > 1 && !is_silent).then_some(package),
        });
    }
    tiers
}

/// A tier as buyers see it.
type Pictured = (u32, Option<Decimal>, Option<Decimal>, Option<[Decimal; 4]>);

/// Returns tiers as buyers see them: quantity, price or discount, and measures. Missing measures keep the previous
/// values.
fn pictured(mode: Mode, tiers: &[Tier], before: &[Tier]) -> Vec<Pictured> {
    let measures = |tier: &Tier| tier.package.map(|p| [p.weight, p.height, p.width, p.length]);
    let seen = |tier: &Tier| {
        let kept = before.iter().find(|old| old.min_quantity == tier.min_quantity).and_then(measures);
        let is_derived = mode == Mode::Auto && tier.min_quantity > 1;
        let package = measures(tier).or(kept).filter(|_| tier.min_quantity > 1);
        let (price, discount) = (tier.price.map(|n| n.normalize()), tier.discount_percent);
        (tier.min_quantity, price.filter(|_| !is_derived), discount.filter(|_| is_derived), package)
    };
    tiers.iter().map(seen).collect()
}

fn place(mode: Mode) -> usize {
    match mode {
        Mode::Auto => 0,
        Mode::Manual => 1,
        Mode::Default => 2,
    }
}

impl Executed {
    /// Returns whether the marketplace accepted everything and ended with the desired tiers.
    pub fn is_flawless(&self) -> bool {
        self.refused + self.forbidden + self.wrong == 0
    }

    fn add(&mut self, other: Self) {
        for (sum, own) in self.pairs.iter_mut().zip(other.pairs) {
            *sum += own;
        }
        self.requests += other.requests;
        self.most = self.most.max(other.most);
        self.idle += other.idle;
        self.refused += other.refused;
        self.forbidden += other.forbidden;
        self.wrong += other.wrong;
        self.complaints.extend(other.complaints);
        self.complaints.truncate(TOLD);
    }
}

impl fmt::Display for Executed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [auto, manual, single] = self.pairs;
        let Self { requests, most, idle, refused, forbidden, wrong, .. } = self;
        write!(
            f,
            "{} pairs ({auto} automatic, {manual} manual, {single} single price; {idle} ask for nothing new), {requests} requests, \
             {most} at most for one; refused {refused}, forbidden {forbidden}, not as wanted {wrong}",
            auto + manual + single
        )?;
        self.complaints.iter().try_for_each(|complaint| write!(f, "\n{complaint}"))
    }
}
