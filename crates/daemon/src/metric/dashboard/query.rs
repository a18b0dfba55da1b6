//! The metrics and labels that a query names, held against the list of metrics.

use std::collections::BTreeSet;

use super::super::{Kind, Metric, list::ALL};

/// A metric as a query names it, with the labels that the query speaks of.
pub(super) fn metric_named(name: &str) -> Option<&'static Metric> {
    let parts = ["_bucket", "_count", "_sum"];
    ALL.iter().copied().find(|metric| {
        metric.name == name
            || metric.kind == Kind::Histogram
                && parts.iter().any(|part| name == format!("{}{part}", metric.name))
    })
}

/// The names of metrics in a text.
pub(super) fn names_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("espelho_") || word.starts_with("process_")).collect()
}

/// The labels that a query selects or groups by.
pub(super) fn labels_in(expr: &str) -> BTreeSet<&str> {
    let mut labels = BTreeSet::new();
    for grouped in expr.split("by (").skip(1) {
        let list = grouped.split(')').next().unwrap_or_default();
        labels.extend(list.split(',').map(str::trim));
    }
    for selected in expr.split('{').skip(1) {
        let list = selected.split('}').next().unwrap_or_default();
        labels.extend(list.split(',').filter_map(|matcher| matcher.split(['=', '!']).next()).map(str::trim));
    }
    labels
}

/// Labels that every scrape and every histogram has.
pub(super) const GIVEN: [&str; 3] = ["instance", "job", "le"];

pub(super) fn is_known(expr: &str) -> Result<(), String> {
    let names = names_in(expr);
    if names.is_empty() {
        return Err(format!("no metric in {expr}"));
    }
    let unknown: Vec<_> = names.iter().filter(|name| metric_named(name).is_none()).collect();
    if !unknown.is_empty() {
        return Err(format!("{unknown:?} in {expr}"));
    }
    let known: BTreeSet<&str> = names
        .iter()
        .filter_map(|name| metric_named(name))
        .flat_map(|metric| metric.labels)
        .copied()
        .collect();
    let foreign: Vec<&str> = labels_in(expr)
        .into_iter()
        .filter(|label| !known.contains(label) && !GIVEN.contains(label))
        .collect();
    if foreign.is_empty() { Ok(()) } else { Err(format!("no such label {foreign:?} in {expr}")) }
}
