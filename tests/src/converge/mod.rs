//! Checks that a mirror has converged to the marketplace: [`activity`] keeps the marketplace busy, [`marketplace`]
//! reads all of it over plain HTTP with a credential of its own, [`mirrored`] reads all of the mirror with plain SQL,
//! and [`differences`] compares the two, row by row. None of espelho's own code is used.

pub mod activity;
pub mod marketplace;
pub mod mirrored;

use std::collections::BTreeMap;

use serde_json::Value;

pub use activity::Activity;
pub use marketplace::Marketplace;

/// The rows of every table, each with its owner and its original object.
pub type Contents = BTreeMap<&'static str, Vec<String>>;

/// Formats a row: its owner, and its object with sorted members.
pub fn row(owner: &str, object: &Value) -> String {
    format!("{owner} {object}")
}

/// Returns the differences of two contents by table; empty if they are equal.
pub fn differences(truth: &Contents, mirror: &Contents) -> BTreeMap<&'static str, Difference> {
    let tables = truth.keys().chain(mirror.keys());
    let none = Vec::new();
    let compared = tables.map(|table| {
        let (there, here) = (truth.get(table).unwrap_or(&none), mirror.get(table).unwrap_or(&none));
        (*table, Difference { missing: without(there, here), surplus: without(here, there) })
    });
    compared.filter(|(_, difference)| difference.rows() > 0).collect()
}

/// The differences of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Rows that the mirror lacks.
    pub missing: Vec<String>,
    /// Rows that the mirror should not have.
    pub surplus: Vec<String>,
}

impl Difference {
    /// Returns the number of differing rows; a wrongly mirrored row counts once.
    pub fn rows(&self) -> usize {
        self.missing.len().max(self.surplus.len())
    }
}

/// Returns the rows of `these` minus `those`, as a multiset.
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
