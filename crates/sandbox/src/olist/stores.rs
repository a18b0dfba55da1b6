//! The orders of the data set divided among stores.

use std::{collections::HashMap, sync::Arc};

use super::orders::{Data, Purchase, Seller, Unit};
use crate::{
    money::Milli,
    orders::{
        Line, Order,
        state::Orders,
        vocabulary::{Channel, OrderType, Workflow},
    },
    products::Catalogue,
    random::Random,
    seed::{credential, line_stock, locations},
    store::{Identity, Store},
};

/// One store with every order, those without items included.
pub(super) fn one(data: Data, seed: u64) -> Store {
    let mut prices: Vec<Option<Milli>> = vec![None; data.products.len()];
    for unit in data.orders.iter().flat_map(|order| &order.units) {
        prices[unit.product as usize] = Some(unit.price);
    }
    let products = data.products.iter().zip(prices).map(|(goods, price)| goods.product(price)).collect();
    let orders = data.orders.iter().map(|order| order.sold(order.id.clone(), &order.units)).collect();
    let mut random = Random::of(&[seed, 0x0115]);
    let identity = Identity {
        id: 1,
        uid: random.ulid(),
        key: "olist".to_owned(),
        name: "Olist".to_owned(),
        city: "Curitiba".to_owned(),
        state: "PR".to_owned(),
    };
    let credential = credential("olist", &mut random);
    let catalogue = Catalogue::new(1, products, locations(1, 1));
    Store::new(identity, credential, data.people, Orders::new(orders), catalogue)
}

/// A store for each seller. Items of different sellers never share an order: such an order becomes several. An order
/// without items has no seller and is left out.
pub(super) fn per_seller(data: &Data, seed: u64) -> Vec<Store> {
    let mut builders: Vec<StoreBuilder> = data.sellers.iter().map(|_| StoreBuilder::default()).collect();
    for order in &data.orders {
        let parts = by_seller(&order.units);
        let is_split = parts.len() > 1;
        for (at, (seller, units)) in (1..).zip(parts) {
            let number = if is_split { format!("{}-{at}", order.id).into() } else { order.id.clone() };
            builders[seller as usize].add(order.sold(number, &units));
        }
    }
    let keys = keys(&data.sellers);
    let named = data.sellers.iter().zip(keys).zip(builders);
    (1..)
        .zip(named)
        .map(|(id, ((seller, key), builder))| builder.store(id, seller, key, data, seed))
        .collect()
}

/// `s-` and the first 8 characters of the seller's id, with a number behind where that is taken.
fn keys(sellers: &[Seller]) -> Vec<String> {
    let mut taken: HashMap<String, usize> = HashMap::new();
    let key = |seller: &Seller| {
        let start: String = seller.id.chars().take(8).collect();
        let count = taken.entry(start.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { format!("s-{start}") } else { format!("s-{start}-{count}") }
    };
    sellers.iter().map(key).collect()
}

/// The units of an order by seller, in the order in which the sellers appear.
fn by_seller(units: &[Unit]) -> Vec<(u32, Vec<Unit>)> {
    let mut parts: Vec<(u32, Vec<Unit>)> = Vec::new();
    for unit in units {
        match parts.iter_mut().find(|(seller, _)| *seller == unit.seller) {
            Some((_, part)) => part.push(*unit),
            None => parts.push((unit.seller, vec![*unit])),
        }
    }
    parts
}

/// A store while the orders are divided among stores.
#[derive(Default)]
struct StoreBuilder {
    orders: Vec<Order>,
    /// Positions in the data set, in the order in which they were first sold, with the last price.
    products: Vec<(u32, Milli)>,
    position: HashMap<u32, u32>,
}

impl StoreBuilder {
    /// Takes an order, whose lines name products of the data set, and makes them name products of the store.
    fn add(&mut self, mut order: Order) {
        for line in &mut order.lines {
            let next = self.products.len() as u32;
            let position = *self.position.entry(line.product).or_insert(next);
            if position == next {
                self.products.push((line.product, line.unit_price));
            }
            self.products[position as usize].1 = line.unit_price;
            line.product = position;
        }
        self.orders.push(order);
    }

    fn store(self, id: u64, seller: &Seller, key: String, data: &Data, seed: u64) -> Store {
        let mut random = Random::of(&[seed, id, 0x5E11]);
        let credential = credential(&key, &mut random);
        let identity = Identity {
            id,
            uid: random.ulid(),
            name: format!("Loja {}", key.trim_start_matches("s-")),
            key,
            city: seller.city.to_string(),
            state: seller.state.to_string(),
        };
        let sold = self.products.iter();
        let products = sold.map(|(at, price)| data.products[*at as usize].product(Some(*price))).collect();
        let catalogue = Catalogue::new(id, products, locations(id, 1));
        Store::new(identity, credential, Arc::clone(&data.people), Orders::new(self.orders), catalogue)
    }
}

impl Purchase {
    /// The order of one store: the given units as lines.
    fn sold(&self, number: Box<str>, units: &[Unit]) -> Order {
        Order {
            serial: Random::of_text(&number).number(),
            number,
            status: self.status,
            workflow: Workflow::Standard,
            kind: OrderType::Standard,
            channel: Channel::Marketplace,
            payment: self.payment,
            customer: self.person,
            lines: self.lines(units),
            shipping: units.iter().fold(Milli(0), |sum, unit| sum + unit.freight),
            discounts: Milli(0),
            created_at: self.created_at,
            updated_at: self.updated_at,
            release_at: None,
            picked_up_at: None,
            notes: None,
            raw: None,
            life: None,
        }
    }

    /// A line for each product and seller; a second price is a line of its own, so that sums stay exact.
    fn lines(&self, units: &[Unit]) -> Box<[Line]> {
        let mut lines: Vec<(u32, Line)> = Vec::new();
        for unit in units {
            let same = |(seller, line): &&mut (u32, Line)| {
                (*seller, line.product, line.unit_price) == (unit.seller, unit.product, unit.price)
            };
            if let Some((_, line)) = lines.iter_mut().find(same) {
                line.quantity += 1;
                continue;
            }
            let line = Line {
                product: unit.product,
                quantity: 1,
                unit_price: unit.price,
                price_scale: 2,
                stock: line_stock(Workflow::Standard, self.status, lines.is_empty()),
            };
            lines.push((unit.seller, line));
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }
}
