//! Orders whose person was erased (`espelho forget`): what is written of them is written without the person.
//!
//! Every writer asks within its own transaction. On PostgreSQL an erasure locks `erased_orders` for a moment, so it
//! waits for the writers that did not find it there yet, and blanks what they wrote.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};
use espelho_model::{
    RawJson, StoreKey,
    order::Order,
    person::{DeliverySubject, Person},
};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::{
    Error,
    driver::{Database, Insert, Tx, Value},
    mirror::page::LeaseTx,
};

/// In place of a fingerprint: every person of a store. An order that is not younger than this record is somebody's who
/// was erased.
pub(crate) const EVERYONE: &str = "*";
/// One look-up for a commit with deliveries of many stores.
pub(crate) const ANYWHERE: &str = "SELECT 1 FROM erased_orders UNION ALL SELECT 1 FROM erased_people LIMIT 1";
pub(crate) const ANY: &str = "SELECT 1 FROM erased_orders WHERE store = $1 \
    UNION ALL SELECT 1 FROM erased_people WHERE store = $1 LIMIT 1";
pub(crate) const AMONG: &str = "SELECT order_number FROM erased_orders WHERE store = $1 AND order_number";
pub(crate) const CONVERSATIONS: &str = "SELECT c.id FROM conversations AS c JOIN erased_orders AS e \
    ON e.store = c.store AND e.order_number = c.order_number WHERE c.store = $1 AND c.id";
pub(crate) const PEOPLE: &str = "SELECT identifier, at FROM erased_people WHERE store = $1 AND identifier";
pub(crate) const KEY: &str = "SELECT secret FROM erasure_keys WHERE id = 1";
pub(crate) const MAKE_KEY: &str =
    "INSERT INTO erasure_keys (id, secret) VALUES (1, $1) ON CONFLICT (id) DO NOTHING";
pub(crate) const REMEMBER: Insert = Insert {
    operation: "remember erased orders",
    head: "INSERT INTO erased_orders (store, order_number)",
    columns: 2,
    tail: "ON CONFLICT (store, order_number) DO NOTHING",
};

/// Makes the installation's key, unless there is one.
pub(crate) async fn make_key(database: &Database) -> Result<(), Error> {
    let values = vec![random_key()?.into()];
    database.execute("make the key of erasures", MAKE_KEY, values).await.map(drop)
}

/// Returns a new key.
pub(crate) fn random_key() -> Result<String, Error> {
    let mut key = [0; 32];
    let mut filled = 0;
    while filled < key.len() {
        let failed =
            |errno: rustix::io::Errno| Error::statement("make a random key", sqlx::Error::Io(errno.into()));
        filled += getrandom(&mut key[filled..], GetRandomFlags::empty()).map_err(failed)?;
    }
    Ok(hex::encode(key))
}

/// Returns an order without its person.
pub(crate) fn without_person(mut order: Order) -> Order {
    let person = Person::of(order.raw.as_str());
    let redacted = |name: &str, raw: &RawJson| RawJson::new(&person.redact(name, raw.as_str()));
    for item in &mut order.items {
        item.raw = redacted("items", &item.raw);
    }
    let raw = redacted("", &order.raw);
    Order { customer_id: None, customer_name: None, notes: None, raw, ..order }
}

impl LeaseTx<'_> {
    /// Returns the erased ones among orders.
    pub(crate) async fn erased_orders(&mut self, numbers: Vec<String>) -> Result<HashSet<String>, Error> {
        self.erased("find erased orders", AMONG, numbers).await
    }

    /// Returns the conversations about erased orders among these.
    pub(crate) async fn erased_conversations(&mut self, ids: Vec<String>) -> Result<HashSet<String>, Error> {
        self.erased("find erased conversations", CONVERSATIONS, ids).await
    }

    async fn erased(
        &mut self,
        operation: &'static str,
        head: &'static str,
        keys: Vec<String>,
    ) -> Result<HashSet<String>, Error> {
        let first: [Value; 1] = [self.store_key().as_str().into()];
        if !self.has_erasures(&first).await? {
            return Ok(HashSet::new());
        }
        let rows = self.tx.fetch_in(operation, head, &first, keys).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    async fn has_erasures(&mut self, store: &[Value; 1]) -> Result<bool, Error> {
        if let Some(known) = self.has_erasures {
            return Ok(known);
        }
        let rows = self.tx.fetch("look for erasures", ANY.to_owned(), store.to_vec()).await?;
        Ok(*self.has_erasures.insert(!rows.is_empty()))
    }

    /// Returns the erased ones among orders that are about to be written, each with whether the mirror lacks it. An order
    /// that it lacks, and that is not younger than the erasure of its person, is one of them from now on; a person who
    /// buys again afterwards is a customer again.
    pub(crate) async fn erased_among(&mut self, orders: &[(&Order, bool)]) -> Result<HashSet<String>, Error> {
        let numbers = orders.iter().map(|(order, _)| order.number.as_str().to_owned()).collect();
        let mut erased = self.erased_orders(numbers).await?;
        let first: [Value; 1] = [self.store_key().as_str().into()];
        if !self.has_erasures(&first).await? {
            return Ok(erased);
        }
        let keys = self.tx.fetch("read the key of erasures", KEY.to_owned(), Vec::new()).await?;
        let Some(key) = keys.first().map(|row| row.text(0)).transpose()? else { return Ok(erased) };
        let mut of_person: Vec<(String, &Order)> = Vec::new();
        for (order, is_new) in orders {
            if !is_new || erased.contains(order.number.as_str()) {
                continue;
            }
            let person = Person::of(order.raw.as_str());
            let prints = person.identifiers().iter().map(|known| known.fingerprint(&key));
            of_person.extend(prints.map(|print| (print, *order)));
            of_person.push((EVERYONE.to_owned(), *order));
        }
        let prints = of_person.iter().map(|(print, _)| print.clone()).collect();
        let rows = self.tx.fetch_in("recognize erased people", PEOPLE, &first, prints).await?;
        let mut since: BTreeMap<String, DateTime<Utc>> = BTreeMap::new();
        for row in &rows {
            since.insert(row.text(0)?, row.time(1)?);
        }
        let is_older =
            |order: &Order, at: DateTime<Utc>| order.created_at.is_none_or(|created| created <= at);
        let recognized = of_person.into_iter().filter_map(|(print, order)| {
            since.get(&print).is_some_and(|at| is_older(order, *at)).then(|| order.number.as_str().to_owned())
        });
        let recognized: HashSet<String> = recognized.collect();
        let store = self.store_key().as_str().to_owned();
        let values = recognized.iter().flat_map(|number| [store.as_str().into(), number.as_str().into()]);
        self.tx.insert(&REMEMBER, values.collect()).await?;
        erased.extend(recognized);
        Ok(erased)
    }
}

/// Finds erased orders for a write to the second file, which has the deliveries and the journal. On PostgreSQL it is
/// part of that write's transaction; on SQLite the write has begun, so an erasure that is not seen here waits for it.
pub(crate) struct ErasedSubjects {
    orders: HashSet<String>,
    conversations: HashSet<String>,
}

impl ErasedSubjects {
    /// Tells whether anybody was ever erased, in any store.
    pub(crate) async fn is_any(database: &Database, tx: &mut Tx) -> Result<bool, Error> {
        let rows = match tx {
            Tx::Sqlite(_) => database.fetch("look for erasures", ANYWHERE, Vec::new()).await?,
            Tx::Postgres(_) => tx.fetch("look for erasures", ANYWHERE.to_owned(), Vec::new()).await?,
        };
        Ok(!rows.is_empty())
    }

    /// Returns the erased ones among orders and conversations of a store.
    pub(crate) async fn among(
        database: &Database,
        tx: &mut Tx,
        store: &StoreKey,
        orders: Vec<String>,
        conversations: Vec<String>,
    ) -> Result<Self, Error> {
        let first: [Value; 1] = [store.as_str().into()];
        let mut found = [HashSet::new(), HashSet::new()];
        let is_any = match tx {
            Tx::Sqlite(_) => database.fetch("look for erasures", ANY, first.to_vec()).await?,
            Tx::Postgres(_) => tx.fetch("look for erasures", ANY.to_owned(), first.to_vec()).await?,
        };
        if !is_any.is_empty() {
            for (found, (head, keys)) in
                found.iter_mut().zip([(AMONG, orders), (CONVERSATIONS, conversations)])
            {
                let rows = match tx {
                    Tx::Sqlite(_) => database.fetch_in("find what is erased", head, &first, keys).await?,
                    Tx::Postgres(_) => tx.fetch_in("find what is erased", head, &first, keys).await?,
                };
                *found = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
            }
        }
        let [orders, conversations] = found;
        Ok(Self { orders, conversations })
    }

    /// Tells whether a delivery is about one of them.
    pub(crate) fn has(&self, subject: &DeliverySubject) -> bool {
        subject.order.as_ref().is_some_and(|order| self.orders.contains(order))
            || subject.conversation.as_ref().is_some_and(|id| self.conversations.contains(id))
    }
}
