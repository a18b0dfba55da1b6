//! Products behind the API's back: the acts of the platform and of buyers.

use rust_decimal::Decimal;
use serde::Deserialize;

use super::{Catalogue, Location, Product, edit::PRICES, stock::MAX_QUANTITY};
use crate::{
    announce::send,
    answer::Answer,
    call::Call,
    control::{
        endpoint::{ControlEndpoint, body, control, done},
        handles::ProductsControl,
    },
    event::Event,
    money::Milli,
    refusal::Refusal,
};

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::post(
        "products/{store}/{product}/price",
        r#"sets the base price: {"price": 19.99}"#,
        price,
    ),
    ControlEndpoint::post(
        "products/{store}/{product}/stock",
        r#"sets the physical stock, all of it in the first location: {"quantity": 7}"#,
        stock,
    ),
    ControlEndpoint::post(
        "products/{store}/{product}/reserve",
        r#"reserves stock for a buyer, or answers 404 when there is too little: {"quantity": 2}"#,
        reserve,
    ),
    ControlEndpoint::post(
        "products/{store}/{product}/commit",
        r#"takes reserved stock out of the physical one, as a dispatch does: {"quantity": 2}"#,
        commit,
    ),
    ControlEndpoint::post(
        "products/{store}/{product}/release",
        r#"gives reserved stock back, as a cancellation does: {"quantity": 2}"#,
        release,
    ),
    ControlEndpoint::get(
        "products/{store}/{product}/buyable",
        "whether a buyer could order the product",
        buyable,
    ),
    ControlEndpoint::delete(
        "products/{store}/{product}",
        "takes a product off the listing and its routes",
        remove,
    ),
    ControlEndpoint::post(
        "stores/{store}/mirror",
        r#"puts a sub-store into mirror mode or out of it: {"active": true}"#,
        mirror,
    ),
];

/// Products are named by SKU or identifier.
impl ProductsControl<'_> {
    /// Sets the base price of a product; automatic wholesale prices follow, and the webhooks receive the events.
    pub fn edit_price(self, store: &str, product: &str, price: impl Into<Decimal>) -> bool {
        let price = Milli::from_decimal(price.into()).filter(|price| PRICES.contains(price));
        let Some(price) = price else { return false };
        self.edit_product(store, product, |product, _| product.set_base_price(price))
    }

    /// Sets the physical stock of a product in the store's first location; the other locations are emptied.
    pub fn set_stock(self, store: &str, product: &str, quantity: impl Into<Decimal>) -> bool {
        let Some(quantity) = amount(quantity) else { return false };
        self.edit_product(store, product, |product, _| product.set_stock(quantity))
    }

    /// Reserves stock for a buyer; false also when there is too little.
    pub fn reserve_stock(self, store: &str, product: &str, quantity: impl Into<Decimal>) -> bool {
        self.move_stock(store, product, quantity, Catalogue::reserve)
    }

    /// Takes reserved stock out of the physical one, as a dispatch does.
    pub fn commit_stock(self, store: &str, product: &str, quantity: impl Into<Decimal>) -> bool {
        self.move_stock(store, product, quantity, |catalogue, slot, quantity| {
            Some(catalogue.commit(slot, quantity))
        })
    }

    /// Gives reserved stock back, as a cancellation does.
    pub fn release_stock(self, store: &str, product: &str, quantity: impl Into<Decimal>) -> bool {
        self.move_stock(store, product, quantity, |catalogue, slot, quantity| {
            Some(catalogue.release(slot, quantity))
        })
    }

    /// Whether a buyer could order the product now.
    pub fn can_be_bought(self, store: &str, product: &str) -> bool {
        self.world().store(store).is_some_and(|store| {
            let catalogue = store.catalogue();
            catalogue.slot_of(product).is_some_and(|slot| catalogue.can_be_bought(slot))
        })
    }

    /// Takes a product off the listing and its routes; orders still name it.
    pub fn remove(self, store: &str, product: &str) -> bool {
        self.world().store(store).is_some_and(|store| store.catalogue_mut().remove(product))
    }

    /// Puts a sub-store into mirror mode or out of it: in it, the store cannot create products.
    pub fn set_mirror_mode(self, store: &str, active: bool) -> bool {
        self.world().store(store).map(|store| store.mirror(active)).is_some()
    }

    fn edit_product(self, store: &str, product: &str, edit: impl FnOnce(&mut Product, &[Location])) -> bool {
        self.change_product(store, product, |catalogue, slot| {
            let edited = catalogue.edit(slot, |product, locations| {
                edit(product, locations);
                Ok::<_, std::convert::Infallible>(())
            });
            edited.ok().map(|((), events)| events)
        })
    }

    fn move_stock(
        self,
        store: &str,
        product: &str,
        quantity: impl Into<Decimal>,
        work: impl FnOnce(&mut Catalogue, u32, Milli) -> Option<Vec<Event>>,
    ) -> bool {
        amount(quantity).is_some_and(|quantity| {
            self.change_product(store, product, |catalogue, slot| work(catalogue, slot, quantity))
        })
    }

    /// Changes a product, and sends the events once nothing is locked.
    fn change_product(
        self,
        store: &str,
        product: &str,
        work: impl FnOnce(&mut Catalogue, u32) -> Option<Vec<Event>>,
    ) -> bool {
        let Some(store) = self.world().store(store) else { return false };
        let events = {
            let mut catalogue = store.catalogue_mut();
            catalogue.slot_of(product).and_then(|slot| work(&mut catalogue, slot))
        };
        let Some(events) = events else { return false };
        send(self.world(), store, events);
        true
    }
}

/// A quantity that a location could hold.
fn amount(quantity: impl Into<Decimal>) -> Option<Milli> {
    Milli::from_decimal(quantity.into()).filter(|quantity| (Milli(0)..=MAX_QUANTITY).contains(quantity))
}

#[derive(Deserialize)]
struct Price {
    price: serde_json::Number,
}

#[derive(Deserialize)]
struct Quantity {
    quantity: serde_json::Number,
}

#[derive(Deserialize)]
struct Active {
    active: bool,
}

/// A number that no decimal can hold becomes one that no product has, which is then not found.
fn decimal(number: &serde_json::Number) -> Decimal {
    number.to_string().parse().unwrap_or(Decimal::MIN)
}

fn price(call: &Call) -> Result<Answer, Refusal> {
    let Price { price } = body(call)?;
    done(control(call).products().edit_price(call.id(0), call.id(1), decimal(&price)))
}

fn stock(call: &Call) -> Result<Answer, Refusal> {
    let Quantity { quantity } = body(call)?;
    done(control(call).products().set_stock(call.id(0), call.id(1), decimal(&quantity)))
}

fn reserve(call: &Call) -> Result<Answer, Refusal> {
    let Quantity { quantity } = body(call)?;
    done(control(call).products().reserve_stock(call.id(0), call.id(1), decimal(&quantity)))
}

fn commit(call: &Call) -> Result<Answer, Refusal> {
    let Quantity { quantity } = body(call)?;
    done(control(call).products().commit_stock(call.id(0), call.id(1), decimal(&quantity)))
}

fn release(call: &Call) -> Result<Answer, Refusal> {
    let Quantity { quantity } = body(call)?;
    done(control(call).products().release_stock(call.id(0), call.id(1), decimal(&quantity)))
}

fn buyable(call: &Call) -> Result<Answer, Refusal> {
    let can_be_bought = control(call).products().can_be_bought(call.id(0), call.id(1));
    Ok(Answer::value(&serde_json::json!({"can_be_bought": can_be_bought})))
}

fn remove(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).products().remove(call.id(0), call.id(1)))
}

fn mirror(call: &Call) -> Result<Answer, Refusal> {
    let Active { active } = body(call)?;
    done(control(call).products().set_mirror_mode(call.id(0), active))
}
