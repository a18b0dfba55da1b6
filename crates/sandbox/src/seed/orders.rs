//! Orders: how many lines, what they cost, when they came.

use super::{
    ANCHOR, names,
    status::{coverage, drawn, line_stock},
};
use crate::{
    money::Milli,
    orders::{
        Line, Order,
        vocabulary::{Channel, OrderType, PaymentMethod, Status, StockStatus, Workflow},
    },
    products::Catalogue,
    random::Random,
    store::Store,
};

const DAY: i64 = 86_400;

/// Purchases by hour of the day in hundredths of a percent, as measured.
const HOURS: [u32; 24] = [
    241, 118, 51, 27, 21, 19, 50, 124, 298, 481, 621, 661, 603, 655, 661, 649, 671, 618, 580, 602, 623, 625,
    585, 415,
];

/// Freight in cents by quantile.
const FREIGHT: [(u64, i64); 8] =
    [(0, 0), (10, 442), (50, 778), (250, 1308), (500, 1626), (750, 2115), (990, 8452), (1000, 40_968)];

const PAYMENTS: [(PaymentMethod, u32); 5] = [
    (PaymentMethod::CreditCard, 7392),
    (PaymentMethod::Boleto, 1904),
    (PaymentMethod::Voucher, 356),
    (PaymentMethod::DebitCard, 147),
    (PaymentMethod::Pix, 201),
];

const CHANNELS: [(Channel, u32); 3] =
    [(Channel::Marketplace, 90), (Channel::Direct, 6), (Channel::StoreSeller, 4)];

/// Generates the orders of a store, oldest first.
pub(super) fn orders(
    random: &mut Random,
    store: u64,
    count: usize,
    catalogue: &Catalogue,
    people: usize,
) -> Vec<Order> {
    let times = times(random, count);
    // The newest orders show every status there is, as far as they reach.
    let shown: Vec<_> = coverage().into_iter().take(count / 2).collect();
    let settled = count - shown.len();
    (0_usize..)
        .zip(times)
        .map(|(at, created_at)| {
            let (workflow, status) = match at.checked_sub(settled).and_then(|at| shown.get(at)) {
                Some(pair) => *pair,
                None => drawn(random, (ANCHOR - created_at) / DAY),
            };
            let number = format!("{store:04}{:08}", at + 1);
            order(random, Draft { number, workflow, status, created_at }, catalogue, people)
        })
        .collect()
}

/// Moves generated orders by a span, and those that are still in the shop to the last day: no deadline of theirs is
/// near.
pub(super) fn postpone(orders: &mut [Order], seconds: i64) {
    for order in &mut *orders {
        let days = if order.status.is_in_the_shop() { (ANCHOR - order.created_at) / DAY } else { 0 };
        let later = seconds + days * DAY;
        order.created_at += later;
        order.updated_at = (order.updated_at + later).min(ANCHOR + seconds);
        for instant in [&mut order.release_at, &mut order.picked_up_at].into_iter().flatten() {
            *instant += later;
        }
    }
    orders.sort_by_key(|order| order.created_at);
}

/// A new order of a store, paid and unprepared, created now.
pub(crate) fn new_order(random: &mut Random, store: &Store, birth: u64, now: i64) -> Order {
    let number = format!("{:04}9{birth:07}", store.id);
    let draft = Draft { number, workflow: Workflow::Standard, status: Status::Paid, created_at: now };
    let mut order = order(random, draft, &store.catalogue(), store.people.len());
    order.updated_at = now;
    order
}

/// Sorted instants over a period that grows with the number of orders.
fn times(random: &mut Random, count: usize) -> Vec<i64> {
    let days = (count as u64 / 150).clamp(45, 540);
    let hours: Vec<(i64, u32)> = (0..).zip(HOURS).collect();
    let last_midnight = crate::text::day_of(ANCHOR);
    let mut times: Vec<i64> = (0..count)
        .map(|_| {
            let day = last_midnight - random.below(days) as i64 * DAY;
            let time = day + random.weighted(&hours) * 3600 + random.below(3600) as i64;
            if time < ANCHOR { time } else { time - DAY }
        })
        .collect();
    times.sort_unstable();
    times
}

/// The properties of an order that are fixed before the random ones.
struct Draft {
    number: String,
    workflow: Workflow,
    status: Status,
    created_at: i64,
}

fn order(random: &mut Random, draft: Draft, catalogue: &Catalogue, people: usize) -> Order {
    let Draft { number, workflow, status, created_at } = draft;
    let lines = lines(random, catalogue, workflow, status);
    let is_pickup = workflow == Workflow::InStorePickup;
    let shipping = if is_pickup { 0 } else { random.quantile(&FREIGHT) };
    let is_collected =
        is_pickup && matches!(status, Status::PickedUp | Status::Delivered | Status::Completed);
    let updated_at = updated_at(random, status, created_at);
    let mut order = Order {
        number: number.into(),
        serial: random.number(),
        status,
        workflow,
        kind: if random.chance(30) { OrderType::Wholesale } else { OrderType::Standard },
        channel: random.weighted(&CHANNELS),
        payment: random.weighted(&PAYMENTS),
        customer: random.position(people) as u32,
        lines,
        shipping: Milli::cents(shipping),
        discounts: Milli(0),
        created_at,
        updated_at,
        release_at: (workflow == Workflow::Collective).then_some(created_at + 7 * DAY),
        picked_up_at: is_collected.then_some(updated_at),
        notes: random.chance(80).then(|| (*random.pick(&names::NOTES)).into()),
        raw: None,
        life: None,
    };
    if workflow == Workflow::Backorder {
        order.kind = OrderType::Standard;
    }
    if random.chance(80) {
        let percent = 5 + random.below(11) as i64;
        order.discounts = Milli(order.products_total().0 * percent / 100).ceil_cents();
    }
    order
}

/// When the order was last touched: later the further it got, never after the newest order.
fn updated_at(random: &mut Random, status: Status, created_at: i64) -> i64 {
    let hours = match status {
        Status::WaitingPayment => 0,
        Status::Paid | Status::AwaitingCampaign | Status::AwaitingAvailability => 1,
        Status::Delivered | Status::Completed => 24 * (6 + random.below(12) as i64),
        Status::Shipped => 24 * 3,
        _ => 24,
    };
    let touched = created_at + hours * 3600 + random.below(3600) as i64;
    touched.min(ANCHOR).max(created_at)
}

fn lines(random: &mut Random, catalogue: &Catalogue, workflow: Workflow, status: Status) -> Box<[Line]> {
    if catalogue.slots() == 0 {
        return Box::default();
    }
    let drawn = random.weighted(&[(1, 9672), (2, 288), (3, 30), (4, 7), (5, 3)]);
    // A backorder is a mixed order, and a mixed order has two lines at least.
    let count = if workflow == Workflow::Backorder { drawn.max(2) } else { drawn };
    let start = random.position(catalogue.slots());
    (0..count.min(catalogue.slots()))
        .map(|at| {
            let product = ((start + at * 7) % catalogue.slots()) as u32;
            line(random, catalogue, product, line_stock(workflow, status, at == 0))
        })
        .collect()
}

fn line(random: &mut Random, catalogue: &Catalogue, product: u32, stock: StockStatus) -> Line {
    let quantity = random.weighted(&[(1, 9310), (2, 525), (3, 93), (4, 38), (5, 16), (6, 16), (12, 2)]);
    // A product that has lost its price was sold when it still had one.
    let unit_price = catalogue.slot(product).base_price().unwrap_or(Milli::cents(7490));
    Line {
        product,
        quantity,
        unit_price,
        price_scale: if unit_price.0 % 10 == 0 { 2 } else { 3 },
        stock: if random.chance(20) { StockStatus::NotApplicable } else { stock },
    }
}
