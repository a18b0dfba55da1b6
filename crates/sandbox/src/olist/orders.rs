//! The tables of the data set joined: orders with their units, buyers and payments.

use std::{collections::HashMap, path::Path, sync::Arc};

use super::{
    products::{self, Goods},
    table::{self, Record},
};
use crate::{
    error::Error,
    money::Milli,
    orders::vocabulary::{PaymentMethod, Status},
    people::Person,
    random::Random,
    seed::person_name,
    text::wall_clock,
};

/// The data set in memory.
pub(super) struct Data {
    pub(super) people: Arc<Vec<Person>>,
    pub(super) products: Vec<Goods>,
    pub(super) sellers: Vec<Seller>,
    pub(super) orders: Vec<Purchase>,
}

/// A seller.
pub(super) struct Seller {
    pub(super) id: Box<str>,
    pub(super) city: Box<str>,
    pub(super) state: Box<str>,
}

/// An order with its units.
pub(super) struct Purchase {
    pub(super) id: Box<str>,
    pub(super) person: u32,
    pub(super) status: Status,
    pub(super) payment: PaymentMethod,
    pub(super) created_at: i64,
    /// The latest instant that the data set knows of the order.
    pub(super) updated_at: i64,
    pub(super) units: Vec<Unit>,
}

/// One unit of a product; a quantity of three is three of these.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub(super) product: u32,
    pub(super) seller: u32,
    pub(super) price: Milli,
    pub(super) freight: Milli,
}

type Positions = HashMap<Box<str>, u32>;

/// Reads every table.
pub(super) fn load(dir: &Path) -> Result<Data, Error> {
    let (people, customers) = people(dir)?;
    let products = products::load(dir)?;
    let sellers = sellers(dir)?;
    let payments = payments(dir)?;
    let mut orders = purchases(dir, &customers, &payments)?;
    let product_at = positions(products.iter().map(|product| &product.id));
    let seller_at = positions(sellers.iter().map(|seller| &seller.id));
    let order_at = positions(orders.iter().map(|order| &order.id));
    table::read(dir, "olist_order_items_dataset", |record| {
        let order = known(record, 0, "order_id", &order_at)?;
        orders[order as usize].units.push(Unit {
            product: known(record, 2, "product_id", &product_at)?,
            seller: known(record, 3, "seller_id", &seller_at)?,
            price: record.value(5, "price", Milli::parse)?,
            freight: record.value(6, "freight_value", Milli::parse)?,
        });
        Ok(())
    })?;
    Ok(Data { people: Arc::new(people), products, sellers, orders })
}

fn positions<'a>(ids: impl Iterator<Item = &'a Box<str>>) -> Positions {
    ids.cloned().zip(0..).collect()
}

/// The position that a foreign key leads to.
fn known(record: &Record<'_>, column: usize, name: &'static str, of: &Positions) -> Result<u32, Error> {
    record.value(column, name, |id| of.get(id).copied())
}

/// The buyers as persons, and the person of each customer record: one person has a record for every order.
fn people(dir: &Path) -> Result<(Vec<Person>, Positions), Error> {
    let (mut people, mut persons, mut customers) = (Vec::new(), Positions::new(), Positions::new());
    let mut places: HashMap<Box<str>, Arc<str>> = HashMap::new();
    table::read(dir, "olist_customers_dataset", |record| {
        let unique = record.text(1);
        let mut place = |text: &str| Arc::clone(places.entry(text.into()).or_insert_with(|| text.into()));
        let next = people.len() as u32;
        let person = *persons.entry(unique.into()).or_insert(next);
        if person == next {
            let mut random = Random::of_text(unique);
            let (uid, name) = (random.ulid(), person_name(&mut random));
            people.push(Person::new(uid, name, place(record.text(3)), place(record.text(4))));
        }
        customers.insert(record.text(0).into(), person);
        Ok(())
    })?;
    Ok((people, customers))
}

fn sellers(dir: &Path) -> Result<Vec<Seller>, Error> {
    let mut sellers = Vec::new();
    table::read(dir, "olist_sellers_dataset", |record| {
        sellers.push(Seller {
            id: record.text(0).into(),
            city: record.text(2).into(),
            state: record.text(3).into(),
        });
        Ok(())
    })?;
    Ok(sellers)
}

/// The method of the largest payment of each order.
fn payments(dir: &Path) -> Result<HashMap<Box<str>, (PaymentMethod, Milli)>, Error> {
    let mut payments = HashMap::new();
    table::read(dir, "olist_order_payments_dataset", |record| {
        let value = record.value(4, "payment_value", Milli::parse)?;
        // `not_defined` stands on three orders without a payment; any method will do for them.
        let method = PaymentMethod::parse(record.text(2)).unwrap_or(PaymentMethod::Voucher);
        let largest = payments.entry(Box::<str>::from(record.text(0))).or_insert((method, value));
        if value > largest.1 {
            *largest = (method, value);
        }
        Ok(())
    })?;
    Ok(payments)
}

fn purchases(
    dir: &Path,
    customers: &Positions,
    payments: &HashMap<Box<str>, (PaymentMethod, Milli)>,
) -> Result<Vec<Purchase>, Error> {
    let mut orders = Vec::new();
    table::read(dir, "olist_orders_dataset", |record| {
        let created_at = record.value(3, "order_purchase_timestamp", wall_clock)?;
        let later = (4..=6).filter_map(|column| wall_clock(record.text(column)));
        orders.push(Purchase {
            id: record.text(0).into(),
            person: known(record, 1, "customer_id", customers)?,
            status: record.value(2, "order_status", status)?,
            payment: payments.get(record.text(0)).map_or(PaymentMethod::Voucher, |(method, _)| *method),
            created_at,
            updated_at: later.fold(created_at, i64::max),
            units: Vec::new(),
        });
        Ok(())
    })?;
    Ok(orders)
}

/// The order status that a final state of the data set stands for.
fn status(text: &str) -> Option<Status> {
    Some(match text {
        "delivered" => Status::Delivered,
        "shipped" => Status::Shipped,
        "canceled" | "unavailable" => Status::Cancelled,
        "invoiced" => Status::ReadyToShip,
        "processing" => Status::Preparing,
        "approved" => Status::Paid,
        "created" => Status::WaitingPayment,
        _ => return None,
    })
}
