//! The orders of a person, and what identifies the person in them.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    person::{Identifier, Person},
};

use crate::{Error, driver::Row, mirror::erased::KEY, operations::Erasures};

macro_rules! orders_where {
    ($condition:literal) => {
        concat!(
            "SELECT order_number, customer_id, customer_name, CAST(raw AS TEXT) FROM orders WHERE store = $1 AND ",
            $condition,
            " ORDER BY order_number"
        )
    };
}

pub(crate) const BY_NUMBER: &str = orders_where!("order_number = $2");
pub(crate) const BY_CUSTOMER: &str = orders_where!("customer_id = $2");
pub(crate) const BY_TEXT: &str = orders_where!("lower(CAST(raw AS TEXT)) LIKE $2 ESCAPE '!'");
pub(crate) const KNOWN: &str = "SELECT at, (SELECT count(*) FROM erasures e WHERE e.store = erased_people.store \
    AND e.at >= erased_people.at) FROM erased_people WHERE store = $1 AND identifier = $2";
/// A person that the mirror has orders of.
#[derive(Clone, Debug, Default)]
pub struct FoundPerson {
    /// The numbers of the orders.
    pub orders: BTreeSet<String>,
    /// The person, as these orders tell of them.
    pub person: Person,
    /// True if it is everybody in the store: the people of all orders, deliveries and occurrences.
    pub(super) is_everyone: bool,
    /// The person of each order, if it is everybody: a row is searched for the person of its own order alone.
    pub(super) by_order: BTreeMap<String, Person>,
    /// The identifiers that an operator typed, if they led to the orders.
    pub asked: Vec<Identifier>,
}

impl Erasures<'_> {
    /// Finds the orders of the person that `asked` identifies: by an order number, a customer id, a CPF or CNPJ, or an
    /// e-mail address. Orders with the same customer id or document are of the same person.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find(self, store: &StoreKey, asked: &str) -> Result<Option<FoundPerson>, Error> {
        let asked = asked.trim();
        let mut found = FoundPerson::default();
        let mut start = Vec::new();
        for row in self.orders(BY_NUMBER, store, asked).await? {
            start.extend(strong(&found.learn(&row)?));
        }
        // The number of an order may be the id of another customer.
        if found.orders.is_empty() {
            start = Identifier::of_text(asked);
            start.retain(|asked| asked.is_of_one_person() || matches!(asked, Identifier::Email(_)));
            start.extend(self.hashed(&start).await?);
            found.asked.clone_from(&start);
        }
        self.follow(store, start, &mut found).await?;
        Ok((!found.orders.is_empty()).then_some(found))
    }

    /// Returns the key of the fingerprints, if one was made.
    async fn key(self) -> Result<Option<String>, Error> {
        let rows = self.database.fetch("read the key of erasures", KEY, Vec::new()).await?;
        rows.first().map(|row| row.text(0)).transpose()
    }

    /// Returns identifiers as a policy that hashes them has them in the mirror.
    async fn hashed(self, identifiers: &[Identifier]) -> Result<Vec<Identifier>, Error> {
        let key = self.key().await?;
        Ok(key.iter().flat_map(|key| identifiers.iter().map(|known| known.hashed(key))).collect())
    }

    /// Tells whether a number is an order's and, in the same store, the customer id of somebody else.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_ambiguous(
        self,
        store: &StoreKey,
        asked: &str,
        found: &FoundPerson,
    ) -> Result<bool, Error> {
        let of_customer = self.orders(BY_CUSTOMER, store, asked.trim()).await?;
        let numbers: Vec<String> = of_customer.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        Ok(numbers.iter().any(|number| !found.orders.contains(number)))
    }

    /// When the person that `asked` identifies was erased, if so, and whether that erasure came to its end.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn erased_at(
        self,
        store: &StoreKey,
        asked: &str,
    ) -> Result<Option<(DateTime<Utc>, bool)>, Error> {
        let Some(key) = self.key().await? else { return Ok(None) };
        for identifier in Identifier::of_text(asked) {
            let print = identifier.fingerprint(&key);
            let values = vec![store.as_str().into(), print.into()];
            let rows = self.database.fetch("recognize an erased person", KNOWN, values).await?;
            if let Some(row) = rows.first() {
                return Ok(Some((row.time(0)?, row.count(1)? > 0)));
            }
        }
        Ok(None)
    }

    pub(super) async fn orders(
        self,
        sql: &'static str,
        store: &StoreKey,
        key: &str,
    ) -> Result<Vec<Row>, Error> {
        self.database.fetch("find a person's orders", sql, vec![store.as_str().into(), key.into()]).await
    }

    /// Adds the orders that identifiers lead to, and those that these lead to.
    pub(super) async fn follow(
        self,
        store: &StoreKey,
        start: Vec<Identifier>,
        found: &mut FoundPerson,
    ) -> Result<(), Error> {
        let (mut open, mut searched) = (start, BTreeSet::new());
        while let Some(identifier) = open.pop() {
            if !searched.insert(identifier.clone()) {
                continue;
            }
            let rows = match &identifier {
                Identifier::Customer(id) => self.orders(BY_CUSTOMER, store, id).await?,
                Identifier::Document(id) => self.orders(BY_TEXT, store, &within(&spread(id))).await?,
                Identifier::Email(address) => self.orders(BY_TEXT, store, &within(&escaped(address))).await?,
            };
            for row in rows {
                let is_theirs = matches!(identifier, Identifier::Customer(_))
                    || person_of(&row)?.identifiers().contains(&identifier);
                if is_theirs {
                    open.extend(strong(&found.learn(&row)?));
                    found.person.identify(identifier.clone());
                }
            }
        }
        Ok(())
    }
}

impl FoundPerson {
    /// Adds an order of everybody's.
    pub(super) fn learn_of_one(&mut self, row: &Row) -> Result<(), Error> {
        let number = row.text(0)?;
        self.by_order.insert(number.clone(), person_of(row)?);
        self.orders.insert(number);
        Ok(())
    }

    /// Returns the person to search for in rows of an order.
    pub(super) fn person_of(&self, order: &str) -> &Person {
        self.by_order.get(order).unwrap_or(&self.person)
    }

    /// Adds an order; returns its person.
    pub(super) fn learn(&mut self, row: &Row) -> Result<Person, Error> {
        let person = person_of(row)?;
        self.orders.insert(row.text(0)?);
        self.person.add(person.clone());
        Ok(person)
    }
}

/// Reads the person of an order from its object and its columns.
fn person_of(row: &Row) -> Result<Person, Error> {
    let mut person = Person::of(&row.text(3)?);
    let columns = serde_json::json!({
        "customer_id": row.optional_text(1)?, "customer_name": row.optional_text(2)?,
    });
    person.add(Person::of(&columns.to_string()));
    Ok(person)
}

/// Returns the identifiers that lead to other orders of the same person.
pub(super) fn strong(person: &Person) -> Vec<Identifier> {
    person.identifiers().iter().filter(|known| known.is_of_one_person()).cloned().collect()
}

/// Returns a pattern that finds a text anywhere.
fn within(text: &str) -> String {
    format!("%{text}%")
}

fn escaped(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}

/// Returns a pattern that finds a document with and without punctuation: 123.456.789-09, 12.345.678/0001-95.
fn spread(id: &str) -> String {
    let id = id.to_lowercase();
    let ends: &[usize] = if id.len() == 11 { &[3, 6, 9] } else { &[2, 5, 8, 12] };
    let parts = id.char_indices().map(|(at, c)| match ends.contains(&at) {
        true => format!("%{c}"),
        false => c.to_string(),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_found_with_and_without_punctuation() {
        assert_eq!(within(&spread("12345678909")), "%123%456%789%09%");
        assert_eq!(spread("12ABC34501DE35"), "12%abc%345%01de%35");
        assert_eq!(within(&escaped("a_b%c!@d.example")), "%a!_b!%c!!@d.example%");
    }
}
