//! Whether a mirror has become what the marketplace is: [`activity`] keeps the marketplace busy, [`marketplace`] reads all of
//! it over plain HTTP with a credential of its own, [`mirrored`] reads all of the mirror with plain SQL, and [`differences`]
//! holds one against the other, row for row. Nothing of espelho's own code is used.

pub mod activity;
pub mod marketplace;
pub mod mirrored;

use std::collections::BTreeMap;

use serde_json::Value;

pub use activity::Activity;
pub use marketplace::Marketplace;

/// The rows of every table, each as whose it is and the object that it was made from.
pub type Contents = BTreeMap<&'static str, Vec<String>>;

/// A row: what it belongs to, and its object with its members in one order.
pub fn row(owner: &str, object: &Value) -> String {
    format!("{owner} {object}")
}

/// What one has and the other has not, by table; nothing where both are the same.
pub fn differences(truth: &Contents, mirror: &Contents) -> BTreeMap<&'static str, Difference> {
    let tables = truth.keys().chain(mirror.keys());
    let none = Vec::new();
    let compared = tables.map(|table| {
        let (there, here) = (truth.get(table).unwrap_or(&none), mirror.get(table).unwrap_or(&none));
        (*table, Difference { missing: without(there, here), surplus: without(here, there) })
    });
    compared.filter(|(_, difference)| difference.rows() > 0).collect()
}

/// How a table differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Rows that the mirror should have.
    pub missing: Vec<String>,
    /// Rows that it should not have.
    pub surplus: Vec<String>,
}

impl Difference {
    /// How many rows those are; one that is mirrored wrongly counts once.
    pub fn rows(&self) -> usize {
        self.missing.len().max(self.surplus.len())
    }
}

/// The rows of `these` that are not in `those`, as often as they are more often in it.
fn without(these: &[String], those: &[String]) -> Vec<String> {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for row in those {
        *left.entry(row).or_default() += 1;
    }
    let mut new = Vec::new();
    for row in these {
        match left.get_mut(row.as_str()) {
            Some(count) if *count > 0 => *count -= 1,
            _ => new.push(row.clone()),
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(rows: &[&str]) -> Contents {
        BTreeMap::from([("orders", rows.iter().map(|row| (*row).to_owned()).collect())])
    }

    #[test]
    fn a_row_that_is_missing_wrong_or_doubled_is_a_difference() {
        let check = |truth: &[&str], mirror: &[&str], rows: usize| {
            let found = differences(&contents(truth), &contents(mirror));
            assert_eq!(found.get("orders").map_or(0, Difference::rows), rows, "{found:?}");
        };
        check(&["a", "b"], &["b", "a"], 0);
        check(&["a", "b"], &["a"], 1);
        check(&["a"], &["a", "a"], 1);
        check(&["a"], &["b"], 1);
        check(&[], &["b"], 1);
    }
}
