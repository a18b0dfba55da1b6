//! Changes in the shop, and the expected state of the mirror.

use std::time::Duration;

use espelho_sandbox::{Control, Sandbox};
use espelho_tests::{Random, converge::marketplace::Marketplace, truth::Reader};

/// Three changes are 5.6 events: each step of an order is one, and its shipments have some of their own. This makes
/// five events a second.
const PACE: Duration = Duration::from_millis(375);
/// The statuses of an order in sequence. All but the last are open.
const WAY: [&str; 5] = ["paid", "preparing", "ready_to_ship", "shipped", "delivered"];
const OPEN: usize = WAY.len() - 1;

/// Makes one change after the other.
pub(crate) struct Changing {
    control: Control,
    store: String,
    random: Random,
    orders: Vec<(String, usize)>,
    skus: Vec<String>,
    hints: bool,
    done: u64,
}

/// A change: the row, and its expected content.
pub(crate) struct Change {
    pub(crate) key: String,
    pub(crate) shows: String,
}

/// Makes this many orders open, and ends all others.
pub(crate) async fn open_and_close(sandbox: &Sandbox, open: usize) {
    let (control, store) = (sandbox.control(), sandbox.stores().remove(0).key);
    for (at, number) in names(sandbox).await.0.iter().enumerate() {
        let status = WAY[if at < open { at % OPEN } else { OPEN }];
        // An order that has this status already is unchanged.
        control.orders().set_status(&store, number, status);
    }
}

/// Reads order numbers and SKUs with a credential of its own.
async fn names(sandbox: &Sandbox) -> (Vec<String>, Vec<String>) {
    let (skus, orders) = Marketplace::of(sandbox).await.names().await;
    (orders, skus)
}

impl Changing {
    pub(crate) async fn of(sandbox: &Sandbox, hints: bool) -> Self {
        let (control, store) = (sandbox.control(), sandbox.stores().remove(0).key);
        let (orders, skus) = names(sandbox).await;
        let access = control.credentials().create(&store).unwrap();
        let reader = Reader::log_in_with(sandbox, &access).await;
        let rows = reader.all("/api/v1/sellers/orders?limit=100").await;
        let stage = |number: &String| {
            let row = rows.iter().find(|row| row["order_number"] == number.as_str())?;
            WAY[..OPEN].iter().position(|status| row["status"] == *status)
        };
        let orders = orders.into_iter().filter_map(|n| Some((stage(&n)?, n))).map(|(at, n)| (n, at));
        let (orders, random) = (orders.collect::<Vec<_>>(), Random::seeded(7));
        assert!(!orders.is_empty() && !skus.is_empty(), "there is nothing to change");
        Self { control, store, random, orders, skus, hints, done: 0 }
    }

    /// Returns the number of deliveries attempted so far.
    pub(crate) fn events(&self) -> usize {
        self.control
            .webhooks()
            .deliveries(&self.store)
            .iter()
            .filter(|delivery| delivery.attempt == 1)
            .count()
    }

    /// Returns whether a webhook is registered.
    pub(crate) fn is_heard(&self) -> bool {
        !self.control.webhooks().of_store(&self.store).is_empty()
    }

    /// Returns the interval between two changes.
    pub(crate) fn pace(&self) -> Duration {
        if self.hints { PACE } else { Duration::from_secs(1) }
    }

    /// Makes the next change. With hints, two of three changes take an order two steps at once, as the platform does,
    /// which is two events of one order; the third changes a stock. Without hints, an order takes one step.
    pub(crate) fn change(&mut self) -> Vec<Change> {
        self.done += 1;
        if !self.hints {
            return vec![self.step_of_an_order()];
        }
        match self.done % 3 {
            0 => vec![self.stock()],
            _ => vec![self.two_steps_of_an_order()],
        }
    }

    /// Advances an order by one step; no order goes back.
    fn step(&mut self, at: usize) -> Change {
        let (number, stage) = &mut self.orders[at];
        *stage += 1;
        assert!(self.control.orders().set_status(&self.store, number, WAY[*stage]));
        Change { key: number.clone(), shows: WAY[*stage].to_owned() }
    }

    /// Picks an order that has this many steps left.
    fn order_before(&mut self, steps: usize) -> usize {
        let last = WAY.len() - 1 - steps;
        let able: Vec<_> = (0..self.orders.len()).filter(|at| self.orders[*at].1 <= last).collect();
        assert!(!able.is_empty(), "all orders are at the end of their way: take more of them");
        able[self.random.up_to(able.len() as u64) as usize - 1]
    }

    fn step_of_an_order(&mut self) -> Change {
        let at = self.order_before(1);
        self.step(at)
    }

    fn two_steps_of_an_order(&mut self) -> Change {
        let at = self.order_before(2);
        self.step(at);
        self.step(at)
    }

    fn stock(&mut self) -> Change {
        let sku = self.skus[self.random.up_to(self.skus.len() as u64) as usize - 1].clone();
        let quantity = 10_000 + self.done;
        assert!(self.control.products().set_stock(&self.store, &sku, quantity));
        Change { key: sku, shows: quantity.to_string() }
    }
}
