//! A buyer places an order, with the properties that a test chooses.

use serde::Deserialize;

use super::{
    Line, Order,
    entry::{Author, Entry},
    events, inventory,
    life::Life,
    shipping_method,
    state::Orders,
    vocabulary::{Channel, OrderType, Status, StockStatus, Workflow},
};
use crate::{event::Event, money::Milli, products::Catalogue};

/// The order that a buyer places; see [`place`](crate::OrdersControl::place).
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
    /// The carrier: `platform`, `seller`, `driver`, or `none`. A pickup has no carrier, and ignores this.
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

/// The words of a new order, understood.
pub(super) struct Terms {
    workflow: Workflow,
    channel: Channel,
    /// Position among the shipping methods.
    carrier: u8,
}

impl Terms {
    /// `None` where a word is unknown.
    pub(super) fn parse(new: &NewOrder) -> Option<Self> {
        Some(Self {
            workflow: Workflow::parse(&new.workflow)?,
            channel: Channel::parse(&new.channel)?,
            carrier: shipping_method::position(&new.carrier)?,
        })
    }
}

/// Makes a generated order the one that a buyer places now: unpaid, and not yet stored. `None` where a line cannot be
/// bought.
pub(super) fn placed(
    mut order: Order,
    NewOrder { lines, release_after, promised_after, shipments, .. }: NewOrder,
    Terms { workflow, channel, carrier }: Terms,
    checkout: Option<u128>,
    catalogue: &Catalogue,
    now: i64,
) -> Option<Order> {
    match lines.is_empty() {
        true => buyable(catalogue, &mut order),
        false => {
            order.lines = bought(catalogue, &lines)?;
            order.discounts = Milli(0);
        }
    }
    // An order without stock waits for its goods ("Order, pre-order and backorder").
    let workflow = match workflow {
        Workflow::Standard if lacks_stock(catalogue, &order) => Workflow::Backorder,
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
    Some(order)
}

/// Stores a new order, and returns the events.
pub(super) fn add(orders: &mut Orders, catalogue: &mut Catalogue, order: Order) -> Vec<Event> {
    let mut reported = vec![events::of_order("order.created", &order)];
    if order.life.as_ref().is_some_and(|life| life.was_paid) {
        reported.push(events::of_order("order.paid", &order));
    }
    if order.life.as_ref().is_some_and(|life| life.holds_stock) {
        let new: Vec<_> = (0..order.lines.len()).map(|at| (at, None)).collect();
        reported.extend(inventory::move_goods(catalogue, &order, &new));
    }
    orders.insert(order);
    reported
}

/// Whether a buyer can order this quantity of a product.
fn can_be_bought(catalogue: &Catalogue, slot: u32, quantity: u32) -> bool {
    let product = catalogue.slot(slot);
    let is_there = product.available() >= Milli::whole(i64::from(quantity));
    catalogue.can_be_bought(slot) && (is_there || product.allow_sale_without_stock)
}

fn lacks_stock(catalogue: &Catalogue, order: &Order) -> bool {
    let lacks =
        |line: &Line| catalogue.slot(line.product).available() < Milli::whole(i64::from(line.quantity));
    order.lines.iter().any(lacks)
}

/// Replaces lines that cannot be bought by one unit of the next product that can, where there is one.
fn buyable(catalogue: &Catalogue, order: &mut Order) {
    let slots = catalogue.slots() as u32;
    for line in &mut order.lines {
        if can_be_bought(catalogue, line.product, line.quantity) {
            continue;
        }
        let next = (1..slots).map(|step| (line.product + step) % slots);
        let Some(product) = next.into_iter().find(|slot| can_be_bought(catalogue, *slot, 1)) else {
            continue;
        };
        let unit_price = catalogue.slot(product).price_for(1).unwrap_or(line.unit_price);
        let price_scale = if unit_price.0 % 10 == 0 { 2 } else { 3 };
        *line = Line { product, quantity: 1, unit_price, price_scale, ..*line };
    }
}

/// The chosen lines, each at its product's price for the quantity; `None` where one cannot be bought.
fn bought(catalogue: &Catalogue, chosen: &[(String, u32)]) -> Option<Box<[Line]>> {
    let line = |(sku, quantity): &(String, u32)| {
        let quantity = (1..=1_000_000).contains(quantity).then_some(*quantity)?;
        let product = catalogue.slot_of_sku(sku).filter(|slot| can_be_bought(catalogue, *slot, quantity))?;
        let unit_price = catalogue.slot(product).price_for(quantity)?;
        Some(Line {
            product,
            quantity,
            unit_price,
            price_scale: if unit_price.0 % 10 == 0 { 2 } else { 3 },
            stock: StockStatus::Reserved,
        })
    };
    chosen.iter().map(line).collect()
}
