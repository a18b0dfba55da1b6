//! What a test may do behind the API's back: the buyers, the platform, the portal, and bad luck.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use rust_decimal::Decimal;

use crate::{
    auth::State,
    faults::FaultRule,
    money::Milli,
    orders::{
        Order, Raw,
        vocabulary::{Channel, OrderType, PaymentMethod, Status, Workflow},
    },
    seed::{newborn, random::Random},
    stats::Stats,
    store::Store,
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

    /// Moves an order to a status, whatever the state machine says, and bumps `updated_at`.
    pub fn set_order_status(&self, store: &str, number: &str, status: &str) -> bool {
        let Some(status) = Status::parse(status) else { return false };
        self.edit_order(store, number, |order, now| order.enter(status, now))
    }

    /// Replaces an order's notes and bumps `updated_at`.
    pub fn set_notes(&self, store: &str, number: &str, notes: Option<&str>) -> bool {
        self.edit_order(store, number, |order, now| {
            order.notes = notes.map(Into::into);
            order.touch(now);
        })
    }

    fn edit_order(&self, store: &str, number: &str, edit: impl FnOnce(&mut Order, i64)) -> bool {
        let now = self.0.clock.seconds();
        self.0.store(store).is_some_and(|store| store.orders_mut().edit(number, |order| edit(order, now)))
    }

    /// Takes an order away without a trace.
    pub fn remove_order(&self, store: &str, number: &str) -> bool {
        self.0.store(store).is_some_and(|store| store.orders_mut().remove(number))
    }

    /// Has a buyer place an order now: paid, not yet prepared. Its number; empty when there is no such store.
    pub fn insert_order(&self, store: &str) -> String {
        let Some(store) = self.0.store(store) else { return String::new() };
        let birth = store.born.fetch_add(1, Relaxed) + 1;
        let mut random = Random::of(&[self.0.options.seed, store.id, birth, 0xB127]);
        let order = newborn(&mut random, store, birth, self.0.clock.seconds());
        let number = order.number.to_string();
        store.orders_mut().insert(order);
        number
    }

    /// Adds an order whose detail and listing row are these bytes, verbatim. The envelope around them is ours.
    ///
    /// `status`, `created_at` and `updated_at` are taken from the row where they can be read; otherwise the order is a paid
    /// one of now. The rest of it matches no filter.
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

    /// Sets the base price of a product, named by SKU or identifier.
    pub fn edit_product_price(&self, store: &str, product: &str, price: impl Into<Decimal>) -> bool {
        let Some(price) = Milli::from_decimal(price.into()) else { return false };
        self.edit_catalogue(store, |catalogue| {
            let Some(product) = catalogue.find_mut(product) else { return false };
            product.set_base_price(price);
            true
        })
    }

    /// Sets the physical stock of a SKU in the store's first location; the other locations are emptied.
    pub fn set_stock(&self, store: &str, sku: &str, quantity: impl Into<Decimal>) -> bool {
        let Some(quantity) = Milli::from_decimal(quantity.into()) else { return false };
        self.edit_catalogue(store, |catalogue| {
            let Some(product) = catalogue.find_mut(sku) else { return false };
            product.set_stock(quantity);
            true
        })
    }

    /// Takes a product, named by SKU or identifier, off the listing and its routes; orders still name it.
    pub fn remove_product(&self, store: &str, product: &str) -> bool {
        self.edit_catalogue(store, |catalogue| catalogue.remove(product))
    }

    fn edit_catalogue(
        &self,
        store: &str,
        edit: impl FnOnce(&mut crate::products::Catalogue) -> bool,
    ) -> bool {
        self.0.store(store).is_some_and(|store| edit(&mut store.catalogue_mut()))
    }

    /// Makes the current token of a store worthless, as a login by another program would.
    pub fn kill_token(&self, store: &str) -> bool {
        self.0.store(store).is_some_and(|store| match store.credential().token.take() {
            Some(token) => {
                self.0.tokens.kill(&token);
                true
            }
            None => false,
        })
    }

    /// Changes the password; the current token lives on.
    pub fn set_password(&self, store: &str, password: &str) -> bool {
        self.with(store, |store| password.clone_into(&mut store.credential().password))
    }

    /// Deletes the credential: no more logins, while the current token lives on until it expires.
    pub fn revoke_credential(&self, store: &str) -> bool {
        self.with(store, |store| store.credential().revoke())
    }

    /// Switches the credential off or on; while it is off, neither logins nor its token work.
    pub fn set_credential_active(&self, store: &str, active: bool) -> bool {
        let state = if active { State::Active } else { State::Inactive };
        self.with(store, |store| store.credential().state = state)
    }

    /// Sets what the tokens of a store may do, such as `store_products_read`.
    pub fn set_abilities(&self, store: &str, abilities: &[&str]) -> bool {
        let abilities = abilities.iter().map(|ability| (*ability).to_owned()).collect();
        self.with(store, |store| store.credential().abilities = abilities)
    }

    fn with(&self, store: &str, change: impl FnOnce(&Store)) -> bool {
        self.0.store(store).map(change).is_some()
    }

    /// Adds a rule that spoils answers.
    pub fn fault(&self, rule: FaultRule) {
        self.0.faults.add(rule);
    }

    /// Forgets every rule.
    pub fn clear_faults(&self) {
        self.0.faults.clear();
    }

    /// What the sandbox saw.
    pub fn stats(&self) -> Stats {
        self.0.counters.snapshot()
    }

    /// Begins to count anew.
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

/// An order of which only the place in the listing is ours.
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
    }
}
