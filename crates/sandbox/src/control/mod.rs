//! What a test may do behind the API's back: as the buyers, the platform, the portal, or as a fault.

pub(crate) mod endpoint;
pub(crate) mod endpoints;

use std::{fmt, sync::Arc};

use crate::{
    money::Milli,
    orders::{
        Order, Raw,
        vocabulary::{Channel, OrderType, PaymentMethod, Status, Workflow},
    },
    stats::Stats,
    text,
    world::World,
};

/// A handle to a running sandbox; cheap to clone.
///
/// Methods that name something answer whether it exists.
#[derive(Clone)]
pub struct Control(Arc<World>);

impl Control {
    pub(crate) fn new(world: Arc<World>) -> Self {
        Self(world)
    }

    /// The world, for the control endpoints that each area adds in its own folder.
    pub(crate) fn world(&self) -> &Arc<World> {
        &self.0
    }

    /// Whether the `/_sandbox/` routes are served.
    pub fn is_served(&self) -> bool {
        self.0.options.control
    }

    /// Moves the clock forward and does everything that becomes due on the way, in order. False beyond the year 9989.
    pub fn forward(&self, seconds: u32) -> bool {
        let moved = self.0.clock.forward(seconds);
        self.0.run_due_jobs();
        moved
    }

    /// Takes an order away without a trace.
    pub fn remove_order(&self, store: &str, number: &str) -> bool {
        self.0.store(store).is_some_and(|store| {
            let removed = store.orders_mut().remove(number);
            store.shipments().forget(number);
            removed
        })
    }

    /// Adds an order whose detail and listing row are these bytes, verbatim. The envelope around them is ours.
    ///
    /// `status`, `created_at` and `updated_at` are taken from the row where they can be read; otherwise the order is
    /// a paid one of now. The rest of it matches no filter.
    pub fn add_order_raw(
        &self,
        store: &str,
        number: &str,
        detail_json: String,
        listing_json: String,
    ) -> bool {
        let Some(store) = self.0.store(store) else { return false };
        let order = raw_order(number, detail_json, listing_json, self.0.clock.seconds());
        store.orders_mut().insert(order);
        true
    }

    /// How many orders a store has.
    pub fn order_count(&self, store: &str) -> usize {
        self.0.store(store).map_or(0, |store| store.orders().len())
    }

    /// The numbers of the server.
    pub fn stats(&self) -> Stats {
        self.0.counters.snapshot()
    }

    /// Sets every counter to zero.
    pub fn reset_stats(&self) {
        self.0.counters.reset();
        for store in &self.0.stores {
            store.forget_fetches();
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Control").field(&self.0.stores.len()).finish()
    }
}

/// An order with bodies from outside; only its place in the listing is ours.
fn raw_order(number: &str, detail: String, listing: String, now: i64) -> Order {
    let row: serde_json::Value = serde_json::from_str(&listing).unwrap_or_default();
    let text = |name: &str| row.get(name).and_then(serde_json::Value::as_str);
    let created_at = text("created_at").and_then(text::instant).unwrap_or(now);
    Order {
        number: number.into(),
        serial: 0,
        status: text("status").and_then(Status::parse).unwrap_or(Status::Paid),
        workflow: Workflow::Standard,
        kind: OrderType::Standard,
        channel: Channel::Marketplace,
        payment: PaymentMethod::CreditCard,
        customer: u32::MAX,
        lines: Box::default(),
        shipping: Milli(0),
        discounts: Milli(0),
        created_at,
        updated_at: text("updated_at").and_then(text::instant).unwrap_or(created_at),
        release_at: None,
        picked_up_at: None,
        notes: None,
        raw: Some(Box::new(Raw { detail, listing })),
        life: None,
    }
}
