//! The generated world: stores, people, products and orders from a seed, shaped like a real Brazilian marketplace.
//!
//! The newest generated order stands before [`ANCHOR`], so that the same seed and counts give the same bytes on any
//! day; [`Options::recent_orders`] moves all of them by whole days to the day of the start.

mod goods;
mod names;
mod orders;
mod people;
mod status;

use std::sync::Arc;

pub(crate) use self::{
    goods::{locations, stock_of},
    orders::new_order,
    people::person_name,
    status::line_stock,
};
use crate::{
    auth::Credential,
    options::Options,
    orders::state::Orders,
    people::Person,
    products::Catalogue,
    random::Random,
    store::{Identity, Store},
};

/// 2026-03-31 22:00 in Brasília: after the newest generated order, unless it is moved.
pub(crate) const ANCHOR: i64 = 1_775_005_200;

/// The most buyers that are generated, for any number of orders.
const MAX_PEOPLE: usize = 100_000;

/// Generates every store.
pub(crate) fn stores(options: &Options, now: i64) -> Vec<Store> {
    // 96,096 persons placed the 99,441 orders that the distributions were measured on.
    let wanted = options.stores.saturating_mul(options.orders).saturating_mul(96) / 100;
    let people = Arc::new(people::people(options.seed, wanted.clamp(1, MAX_PEOPLE)));
    let later = options.recent_orders.then(|| whole_days(now - ANCHOR));
    (0..options.stores).map(|at| store(options, at, &people, later)).collect()
}

/// A span cut to days, so that an order keeps its time of day.
fn whole_days(seconds: i64) -> i64 {
    seconds.div_euclid(86_400) * 86_400
}

fn store(options: &Options, at: usize, people: &Arc<Vec<Person>>, later: Option<i64>) -> Store {
    let id = at as u64 + 1;
    let mut random = Random::of(&[options.seed, id]);
    let shop = names::SHOPS[at % names::SHOPS.len()];
    let name = if at < names::SHOPS.len() { shop.to_owned() } else { format!("{shop} {id}") };
    let (city, state) = random.weighted(&names::PLACES);
    let key = format!("loja-{id}");
    let identity = Identity {
        id,
        uid: random.ulid(),
        key: key.clone(),
        name,
        city: city.to_owned(),
        state: state.to_owned(),
    };
    let credential = credential(&key, &mut random);
    let (products, locations) = goods::catalogue(&mut random, id, options.products);
    let catalogue = Catalogue::new(id, products, locations);
    let mut orders = orders::orders(&mut random, id, options.orders, &catalogue, people.len());
    if let Some(later) = later {
        orders::postpone(&mut orders, later);
    }
    Store::new(identity, credential, Arc::clone(people), Orders::new(orders), catalogue)
}

/// A credential in the documented shape: `<store_slug>@<8 characters>`, 20 characters.
pub(crate) fn credential(slug: &str, random: &mut Random) -> Credential {
    Credential::new(format!("{slug}@{}", random.slug(8)), random.word(20))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_anchor_is_a_readable_evening() {
        assert_eq!(crate::text::instant("2026-03-31T22:00:00-03:00"), Some(super::ANCHOR));
    }

    #[test]
    fn recent_orders_end_within_a_day_of_the_start_and_no_open_one_is_near_its_deadline() {
        const DAY: i64 = 86_400;
        let options = super::Options { orders: 400, recent_orders: true, ..super::Options::default() };
        for now in [super::ANCHOR + 7, super::ANCHOR + 200 * DAY - 1] {
            let stores = super::stores(&options, now);
            let orders = stores[0].orders();
            let newest = orders.iter().map(|order| order.created_at.max(order.updated_at)).max().unwrap();
            assert!((now - DAY..=now).contains(&newest), "{newest}");
            let open: Vec<_> = orders.iter().filter(|order| order.status.is_in_the_shop()).collect();
            assert!(open.len() > 20, "{}", open.len());
            assert!(open.iter().all(|order| order.promised_at() - now > DAY));
        }
    }
}
