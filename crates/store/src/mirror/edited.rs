//! Finds rows that somebody has edited in the mirror: their columns are not those of the marketplace's object.
//!
//! A fingerprint tells whether the object has changed since it was mirrored. It does not tell whether the columns are
//! still those of the object, so a deep pass and an audit compare the columns themselves. JSON columns are left out:
//! PostgreSQL stores them in a form of its own.

use std::collections::{HashMap, HashSet};

use espelho_model::time::fixed_width;
use rust_decimal::Decimal;

use crate::{
    Error,
    cells::{Kind, MirroredRow, comparable_number, selected},
    driver::{Insert, Value},
    mirror::page::LeaseTx,
};

/// Columns that do not come from the object: fingerprints, the time of the write, and what was not read since.
const OWN: [&str; 4] = ["listing_hash", "content_hash", "mirrored_at", "unread_since"];

/// The rows of one table to compare with what a write would put into them.
pub(crate) struct Comparison<'v> {
    /// The statement that would write them.
    pub(crate) insert: &'v Insert,
    /// Its values, row after row.
    pub(crate) values: &'v [Value],
    /// The column whose value groups rows: all rows of a group are compared, and the group is what is found.
    pub(crate) group: &'static str,
    /// The groups.
    pub(crate) groups: Vec<String>,
    /// A column that belongs to the key before the group, with its value.
    pub(crate) within: Option<(&'static str, String)>,
    /// The rows' person was erased: a column that is blank is no edit, or the next deep pass would bring the person back.
    pub(crate) is_erased: bool,
}

/// The values that identify a row, in the order of the key.
type Identity = Vec<Option<String>>;

impl LeaseTx<'_> {
    /// From now on, rows are compared by their columns too before they are found unchanged.
    pub fn compare_columns(&mut self) {
        self.compares_columns = true;
    }

    /// Returns the groups with a row that was edited, deleted or added in the mirror.
    pub(crate) async fn edited(&mut self, comparison: Comparison<'_>) -> Result<HashSet<String>, Error> {
        let Comparison { insert, values, group, groups, within, is_erased } = comparison;
        let table = TableOfInsert::of(insert);
        let columns = table.compared(values);
        let mut first: Vec<Value> = vec![self.store_key().as_str().into()];
        let mut condition = String::new();
        if let Some((column, value)) = within {
            condition = format!(" AND {column} = $2");
            first.push(value.into());
        }
        // With no row to compare, every stored row is one too many; the group alone tells whose it is.
        let columns = if columns.is_empty() { vec![(0, group, Kind::Text)] } else { columns };
        let read: Vec<(&'static str, Kind)> = columns.iter().map(|(_, name, kind)| (*name, *kind)).collect();
        let head = format!(
            "SELECT {} FROM {} WHERE store = $1{condition} AND gone_at IS NULL AND {group}",
            selected(&read),
            table.name
        );
        let mut stored: HashMap<Identity, MirroredRow> = HashMap::new();
        let mut found = HashSet::new();
        for row in self.tx.fetch_in("compare rows by their columns", &head, &first, groups).await? {
            let row = MirroredRow::read(&read, &row)?;
            match values.is_empty() {
                true => found.extend(row.comparable(group)),
                false => drop(stored.insert(table.key.iter().map(|key| row.comparable(key)).collect(), row)),
            }
        }
        for expected in values.chunks(insert.columns) {
            let of = |column: &str| {
                let place = table.columns.iter().position(|name| *name == column);
                place.and_then(|place| comparable(&expected[place]))
            };
            let row = stored.remove(&table.key.iter().map(|key| of(key)).collect::<Identity>());
            let is_alike = row.is_some_and(|row| {
                columns.iter().all(|(place, name, _)| {
                    let stored = row.comparable(name);
                    stored == comparable(&expected[*place]) || (is_erased && stored.is_none())
                })
            });
            if !is_alike {
                found.extend(of(group));
            }
        }
        found.extend(stored.into_values().filter_map(|row| row.comparable(group)));
        Ok(found)
    }
}

/// The table of an insert, read from its statement.
struct TableOfInsert {
    name: &'static str,
    columns: Vec<&'static str>,
    /// The columns of the conflict, without the store.
    key: Vec<&'static str>,
}

impl TableOfInsert {
    fn of(insert: &Insert) -> Self {
        let list = |text: &'static str| -> Vec<&'static str> {
            let (_, rest) = text.split_once('(').unwrap_or_default();
            let (list, _) = rest.split_once(')').unwrap_or_default();
            list.split(',').map(str::trim).collect()
        };
        let name = insert.head.strip_prefix("INSERT INTO ").and_then(|rest| rest.split_once(' '));
        let key = list(insert.tail).into_iter().filter(|column| *column != "store").collect();
        Self { name: name.map_or("", |(name, _)| name), columns: list(insert.head), key }
    }

    /// The columns to compare, with their places and kinds; none if there is no row.
    fn compared(&self, values: &[Value]) -> Vec<(usize, &'static str, Kind)> {
        let columns = self.columns.iter().zip(values).enumerate();
        let compared = columns.filter(|(_, (name, _))| **name != "store" && !OWN.contains(*name));
        compared.filter_map(|(place, (name, value))| kind(value).map(|kind| (place, *name, kind))).collect()
    }
}

/// The kind of column that a value is for; `None` for what is not compared.
fn kind(value: &Value) -> Option<Kind> {
    match value {
        Value::Text(_) | Value::Key(_) => Some(Kind::Text),
        Value::Int(_) => Some(Kind::Integer),
        Value::Bool(_) => Some(Kind::Flag),
        Value::Decimal(_) => Some(Kind::Number),
        Value::Time(_) => Some(Kind::Time),
        Value::Json(_) | Value::Bytes(_) => None,
    }
}

/// The text by which a value is compared; `None` for NULL.
fn comparable(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => text.clone(),
        Value::Key(text) => Some(String::from(&**text)),
        Value::Int(number) => number.map(|number| comparable_number(Decimal::from(number))),
        Value::Bool(flag) => flag.map(|flag| flag.to_string()),
        Value::Decimal(number) => number.map(comparable_number),
        Value::Time(at) => at.map(fixed_width),
        Value::Json(_) | Value::Bytes(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mirror::{orders, products};

    #[test]
    fn an_insert_names_its_table_its_columns_and_its_key() {
        for (insert, name, key) in [
            (&orders::UPSERT, "orders", vec!["order_number"]),
            (&orders::UPSERT_ITEMS, "order_items", vec!["order_number", "id"]),
            (&products::UPSERT_PRICES, "product_prices", vec!["product_id", "min_quantity"]),
            (&products::UPSERT_STOCK, "product_stock", vec!["sku", "location_id"]),
        ] {
            let table = TableOfInsert::of(insert);
            assert_eq!((table.name, table.key), (name, key));
            assert_eq!(table.columns.len(), insert.columns, "{name}");
            assert_eq!(table.columns.first(), Some(&"store"), "{name}");
        }
    }
}
