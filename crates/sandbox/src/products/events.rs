//! The events of a changed product: prices and stock ("Events / Catalogue").
//!
//! `product_sku_id` is the product's `id`, so that a receiver can ask for the product. A balance is the physical
//! stock of one location; the SKU is depleted when nothing of it is left to sell in all of them, which a reservation
//! brings about too.

use serde_json::json;

use super::{Location, Product, StockEntry};
use crate::{event::Event, money::Milli};

/// The events between two states of one product.
pub(super) fn between(before: &Product, after: &Product, locations: &[Location]) -> Vec<Event> {
    let mut events = of_prices(before, after);
    events.extend(of_stock(before, after, locations));
    events
}

/// The price of every quantity at which a tier begins or began, where it changed; no price counts as zero.
fn of_prices(before: &Product, after: &Product) -> Vec<Event> {
    let tiers = before.tiers.iter().chain(&after.tiers);
    let mut quantities: Vec<u32> = tiers.map(|tier| tier.min_quantity).collect();
    quantities.sort_unstable();
    quantities.dedup();
    let price = |product: &Product, quantity| product.price_for(quantity).unwrap_or_default();
    let changes = quantities.into_iter().filter_map(|quantity| {
        let (old, new) = (price(before, quantity), price(after, quantity));
        let data = json!({
            "product_sku_id": sku_id(after),
            "old_price": old.number(),
            "new_price": new.number(),
            "min_quantity": quantity,
        });
        (old != new).then_some(Event::new("product.price_updated", data))
    });
    changes.collect()
}

fn of_stock(before: &Product, after: &Product, locations: &[Location]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut moved = None;
    for (at, location) in (0..).zip(locations) {
        let (old, new) = (entry(before, at), entry(after, at));
        if old.quantity != new.quantity {
            let data = json!({
                "product_sku_id": sku_id(after),
                "old_quantity": old.quantity.number(),
                "new_quantity": new.quantity.number(),
                "location_id": location.id,
            });
            events.push(Event::new("product.stock_updated", data));
        }
        if old.available() != new.available() {
            moved = Some(location.id);
        }
    }
    let Some(location) = moved else { return events };
    let (old, new) = (before.available(), after.available());
    if old > Milli(0) && new <= Milli(0) {
        let data = json!({
            "product_sku_id": sku_id(after), "previous_quantity": old.number(), "location_id": location,
        });
        events.push(Event::new("stock.depleted", data));
    } else if old <= Milli(0) && new > Milli(0) {
        let data = json!({
            "product_sku_id": sku_id(after), "new_quantity": new.number(), "location_id": location,
        });
        events.push(Event::new("stock.restored", data));
    }
    events
}

fn entry(product: &Product, location: u32) -> StockEntry {
    let found = product.stock.iter().find(|entry| entry.location == location);
    found.copied().unwrap_or(StockEntry { location, quantity: Milli(0), reserved: Milli(0) })
}

fn sku_id(product: &Product) -> String {
    ulid::Ulid(product.id).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        options::Options,
        products::{Catalogue, Tier},
        seed::locations,
        world::World,
    };

    /// One product in two places, with 5 and 3 of it, of which 1 is reserved in the first.
    fn catalogue() -> Catalogue {
        let world =
            World::build(Options { orders: 0, products: 1, ..Options::default() }, Vec::new()).unwrap();
        let mut product = world.stores[0].catalogue().slot(0).clone();
        let entry = |location, quantity, reserved| StockEntry {
            location,
            quantity: Milli::whole(quantity),
            reserved: Milli::whole(reserved),
        };
        product.stock = vec![entry(0, 5, 1), entry(1, 3, 0)];
        product.tiers = vec![tier(1, 10_000, None)];
        (product.is_wholesale, product.allow_sale_without_stock) = (true, false);
        product.is_available_for_sale = true;
        Catalogue::new(1, vec![product], locations(1, 2))
    }

    fn tier(min_quantity: u32, value: i64, percent: Option<i64>) -> Tier {
        Tier { min_quantity, value: Milli(value), discount_percent: percent.map(Milli::whole), package: None }
    }

    fn edited(catalogue: &mut Catalogue, edit: impl FnOnce(&mut Product)) -> Vec<Event> {
        let edited = catalogue.edit(0, |product, _| {
            edit(product);
            Ok::<_, ()>(())
        });
        edited.unwrap().1
    }

    fn names(events: &[Event]) -> Vec<&'static str> {
        events.iter().map(|event| event.name).collect()
    }

    // proves: EVT-032, EVT-040, PRC-013, PRC-027
    #[test]
    fn each_quantity_whose_price_changes_is_told_with_the_price_that_applied_before() {
        let mut catalogue = catalogue();
        let sku = ulid::Ulid(catalogue.slot(0).id).to_string();
        let reported = edited(&mut catalogue, |product| {
            product.auto_wholesale_pricing = true;
            product.tiers.push(tier(10, 9_000, Some(10)));
        });
        let data = json!({"product_sku_id": sku, "old_price": 10, "new_price": 9, "min_quantity": 10});
        assert_eq!(reported, [Event::new("product.price_updated", data)]);
        let reported = edited(&mut catalogue, |product| product.set_base_price(Milli(20_500)));
        let prices: Vec<_> = reported
            .iter()
            .map(|event| [&event.data["min_quantity"], &event.data["old_price"], &event.data["new_price"]])
            .collect();
        assert_eq!(prices, [[&json!(1), &json!(10), &json!(20.5)], [&json!(10), &json!(9), &json!(18.45)]]);
        let reported = edited(&mut catalogue, |product| product.tiers.truncate(1));
        assert_eq!(
            (&reported[0].data["old_price"], &reported[0].data["new_price"]),
            (&json!(18.45), &json!(20.5))
        );
        assert!(edited(&mut catalogue, |product| product.set_base_price(Milli(20_500))).is_empty());
    }

    // proves: EVT-029
    #[test]
    fn a_changed_balance_is_told_for_its_location() {
        let mut catalogue = catalogue();
        let sku = ulid::Ulid(catalogue.slot(0).id).to_string();
        let reported = edited(&mut catalogue, |product| product.stock[1].quantity = Milli(2_500));
        let data = json!({"product_sku_id": sku, "old_quantity": 3, "new_quantity": 2.5, "location_id": 12});
        assert_eq!(reported, [Event::new("product.stock_updated", data)]);
    }

    // proves: EVT-030, EVT-031
    #[test]
    fn the_sku_is_depleted_when_no_location_has_any_left_and_restored_when_one_has() {
        let mut catalogue = catalogue();
        assert_eq!(
            names(&edited(&mut catalogue, |product| product.set_stock(Milli(0)))),
            ["product.stock_updated", "product.stock_updated", "stock.depleted",]
        );
        let reported = edited(&mut catalogue, |product| product.set_stock(Milli(4_000)));
        let restored = reported.last().unwrap();
        assert_eq!(restored.name, "stock.restored");
        assert_eq!((&restored.data["new_quantity"], &restored.data["location_id"]), (&json!(4), &json!(11)));
        let reported = edited(&mut catalogue, |product| product.set_stock(Milli(0)));
        let depleted = reported.last().unwrap();
        assert_eq!((depleted.name, &depleted.data["previous_quantity"]), ("stock.depleted", &json!(4)));
        assert_eq!(depleted.data["location_id"], json!(11));
    }

    // proves: STK-019
    #[test]
    fn a_reservation_of_the_rest_depletes_the_sku_while_the_balance_stays() {
        let mut catalogue = catalogue();
        assert!(catalogue.can_be_bought(0));
        assert_eq!(catalogue.reserve(0, Milli::whole(2)), Some(vec![]));
        assert_eq!(catalogue.reserve(0, Milli::whole(6)), None, "only 5 are left");
        let reported = catalogue.reserve(0, Milli::whole(5)).unwrap();
        assert_eq!(names(&reported), ["stock.depleted"]);
        assert_eq!(reported[0].data["previous_quantity"], json!(5));
        assert!(!catalogue.can_be_bought(0));
        let reported = catalogue.commit(0, Milli::whole(4));
        assert_eq!(names(&reported), ["product.stock_updated"]);
        assert_eq!(catalogue.slot(0).available(), Milli(0));
        assert_eq!(names(&catalogue.release(0, Milli::whole(4))), ["stock.restored"]);
        assert_eq!(catalogue.slot(0).available(), Milli::whole(4));
        assert!(catalogue.can_be_bought(0));
    }

    #[test]
    fn no_more_is_given_back_or_taken_than_was_reserved() {
        let mut catalogue = catalogue();
        catalogue.release(0, Milli::whole(50));
        assert_eq!(catalogue.slot(0).available(), Milli::whole(8));
        assert!(catalogue.commit(0, Milli::whole(50)).is_empty());
        catalogue.reserve(0, Milli::whole(3)).unwrap();
        edited(&mut catalogue, |product| product.stock[0].quantity = Milli::whole(1));
        catalogue.commit(0, Milli::whole(3));
        assert_eq!(catalogue.slot(0).stock[0].quantity, Milli(0), "stock is never below zero");
    }

    #[test]
    fn a_refused_change_leaves_the_product_as_it_was() {
        let mut catalogue = catalogue();
        let refused = catalogue.edit(0, |product, _| {
            product.name = "Outro".into();
            Err::<(), _>("não")
        });
        assert_eq!(refused, Err("não"));
        assert_ne!(&*catalogue.slot(0).name, "Outro");
    }

    // proves: STK-019
    #[test]
    fn a_product_without_stock_can_be_bought_only_if_it_may_be_sold_without() {
        let mut catalogue = catalogue();
        edited(&mut catalogue, |product| product.set_stock(Milli(0)));
        assert!(!catalogue.can_be_bought(0));
        edited(&mut catalogue, |product| product.allow_sale_without_stock = true);
        assert!(catalogue.can_be_bought(0));
        edited(&mut catalogue, |product| product.is_available_for_sale = false);
        assert!(!catalogue.can_be_bought(0));
        edited(&mut catalogue, |product| {
            product.is_available_for_sale = true;
            product.tiers.clear();
        });
        assert!(!catalogue.can_be_bought(0), "it has no price");
    }
}
