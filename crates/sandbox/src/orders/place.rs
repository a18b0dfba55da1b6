//! A buyer places an order, as a test wants it.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use serde::Deserialize;

use super::{
    Line, Order, announce, carriage,
    life::{Author, Entry, Life},
    shelf,
    vocabulary::{Channel, OrderType, Status, StockStatus, Workflow},
};
use crate::{
    money::Milli,
    products::Catalogue,
    seed::{newborn, random::Random},
    store::Store,
    world::World,
};

/// The order that a buyer places; see [`crate::Control::place_order`].
///
/// ```
/// # use espelho_sandbox::NewOrder;
/// let order = NewOrder { carrier: "platform".to_owned(), ..NewOrder::of("collective") };
/// assert!(order.is_paid);
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct NewOrder {
    /// One of the workflows, such as `standard`.
    pub workflow: String,
    /// `marketplace`, `direct` or `store_seller`.
    pub channel: String,
    /// Who carries it: `platform`, `seller`, `driver`, or `none`. A pickup is carried by nobody, whatever stands here.
    pub carrier: String,
    /// Whether the buyer pays at once; otherwise the order is left `waiting_payment`.
    pub is_paid: bool,
    /// How many seconds from now a collective order is released.
    pub release_after: u32,
    /// In how many seconds from now it is promised to arrive; `None` leaves it to the carrier.
    pub promised_after: Option<u32>,
    /// In how many shipments it is sent.
    pub shipments: u8,
    /// The number of an order of the same checkout; items of different origins come as an order each.
    pub same_checkout_as: Option<String>,
    /// SKUs and quantities; empty for one to five lines of the sandbox's choice.
    pub lines: Vec<(String, u32)>,
}

impl Default for NewOrder {
    fn default() -> Self {
        Self {
            workflow: "standard".to_owned(),
            channel: "marketplace".to_owned(),
            carrier: "seller".to_owned(),
            is_paid: true,
            release_after: 86_400,
            promised_after: None,
            shipments: 1,
            same_checkout_as: None,
            lines: Vec::new(),
        }
    }
}

impl NewOrder {
    /// A paid order of a workflow.
    pub fn of(workflow: &str) -> Self {
        Self { workflow: workflow.to_owned(), ..Self::default() }
    }

    /// The same order, left unpaid.
    #[must_use]
    pub fn unpaid(self) -> Self {
        Self { is_paid: false, ..self }
    }
}

/// Places an order and leaves it unpaid; its number, or `None` where something named does not exist.
pub(super) fn place(world: &Arc<World>, store: &Store, new: NewOrder) -> Option<String> {
    let NewOrder {
        workflow,
        channel,
        carrier,
        release_after,
        promised_after,
        shipments,
        same_checkout_as,
        lines,
        ..
    } = new;
    let workflow = Workflow::parse(&workflow)?;
    let channel = Channel::parse(&channel)?;
    let carrier = carriage::position(&carrier)?;
    let checkout = match same_checkout_as {
        Some(other) => Some(store.orders().get(&other)?.checkout()),
        None => None,
    };
    let now = world.clock.seconds();
    let mut order = bare(world, store, now);
    match lines.is_empty() {
        true => buyable(store, &mut order),
        false => {
            order.lines = bought(store, &lines)?;
            order.discounts = Milli(0);
        }
    }
    // What is sold without stock waits for its goods ("Order, pre-order and backorder").
    let workflow = match workflow {
        Workflow::Standard if lacks_stock(store, &order) => Workflow::Backorder,
        other => other,
    };
    if workflow == Workflow::InStorePickup {
        order.shipping = Milli(0);
    }
    for line in &mut order.lines {
        line.stock = StockStatus::Reserved;
    }
    order.workflow = workflow;
    order.channel = channel;
    order.kind = OrderType::Standard;
    order.release_at = (workflow == Workflow::Collective).then_some(now + i64::from(release_after));
    order.status = Status::WaitingPayment;
    order.life = Some(Box::new(Life {
        timeline: vec![Entry::of_status(now, Author::System, None, Status::WaitingPayment)],
        carrier: Some(carrier),
        promised_at: promised_after.map(|seconds| now + i64::from(seconds)),
        parcels: Some(shipments.clamp(1, 20)),
        checkout,
        holds_stock: true,
        ..Life::default()
    }));
    Some(born(world, store, order))
}

/// Puts a new order into the book and tells about it.
pub(super) fn born(world: &Arc<World>, store: &Store, order: Order) -> String {
    let number = order.number.to_string();
    let mut told = vec![("order.created", announce::whole(&order))];
    if order.life.as_ref().is_some_and(|life| life.was_paid) {
        told.push(("order.paid", announce::whole(&order)));
    }
    {
        let mut book = store.orders_mut();
        if order.life.as_ref().is_some_and(|life| life.holds_stock) {
            let new: Vec<_> = (0..order.lines.len()).map(|at| (at, None)).collect();
            told.extend(shelf::move_goods(store, &order, &new));
        }
        book.insert(order);
    }
    world.announce(store, told);
    super::follow::plan(world, store, &number);
    number
}

/// A paid order of the sandbox's choice, born now.
pub(super) fn bare(world: &World, store: &Store, now: i64) -> Order {
    let birth = store.born.fetch_add(1, Relaxed) + 1;
    let mut random = Random::of(&[world.options.seed, store.id, birth, 0xB127]);
    newborn(&mut random, store, birth, now)
}

/// Whether a buyer can order so many of a product.
fn can_be_bought(catalogue: &Catalogue, slot: u32, quantity: u32) -> bool {
    let product = catalogue.slot(slot);
    let is_there = product.available() >= Milli::whole(i64::from(quantity));
    catalogue.can_be_bought(slot) && (is_there || product.allow_sale_without_stock)
}

fn lacks_stock(store: &Store, order: &Order) -> bool {
    let catalogue = store.catalogue();
    let lacks =
        |line: &Line| catalogue.slot(line.product).available() < Milli::whole(i64::from(line.quantity));
    order.lines.iter().any(lacks)
}

/// Replaces what the dice chose and nobody could buy: by one of the next product that can be bought, where there is any.
fn buyable(store: &Store, order: &mut Order) {
    let catalogue = store.catalogue();
    let slots = catalogue.slots() as u32;
    for line in &mut order.lines {
        if can_be_bought(&catalogue, line.product, line.quantity) {
            continue;
        }
        let next = (1..slots).map(|step| (line.product + step) % slots);
        let Some(product) = next.into_iter().find(|slot| can_be_bought(&catalogue, *slot, 1)) else {
            continue;
        };
        let unit_price = catalogue.slot(product).price_for(1).unwrap_or(line.unit_price);
        let price_scale = if unit_price.0 % 10 == 0 { 2 } else { 3 };
        *line = Line { product, quantity: 1, unit_price, price_scale, ..*line };
    }
}

/// The lines that were asked for, each at its product's price for the quantity; `None` where one cannot be bought.
fn bought(store: &Store, wanted: &[(String, u32)]) -> Option<Box<[Line]>> {
    let catalogue = store.catalogue();
    let line = |(sku, quantity): &(String, u32)| {
        let quantity = (1..=1_000_000).contains(quantity).then_some(*quantity)?;
        let product = catalogue.slot_of_sku(sku).filter(|slot| can_be_bought(&catalogue, *slot, quantity))?;
        let unit_price = catalogue.slot(product).price_for(quantity)?;
        Some(Line {
            product,
            quantity,
            unit_price,
            price_scale: if unit_price.0 % 10 == 0 { 2 } else { 3 },
            stock: StockStatus::Reserved,
        })
    };
    wanted.iter().map(line).collect()
}
