//! A store's intents that are not done: how many, since when, and what to do about them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use espelho_model::{
    program, text,
    text::{Locale, Text, words},
};
use espelho_store::IntentCounts;
use serde::{Deserialize, Serialize};

use super::{StoreSnapshot, columns};

/// The undone rows of one table that the ERP writes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct IntentRows {
    /// `stock`, `price` or `command`, as in `v_errors`.
    pub entity: String,
    /// New, waiting, or being sent.
    pub open: u64,
    /// The age of the oldest of these.
    pub oldest_open_seconds: Option<i64>,
    pub failed: u64,
    /// Held by a guard until a person releases it.
    pub held: u64,
    /// Sent, and nothing proves the outcome.
    pub doubtful: u64,
}

pub(super) fn of_store(counts: BTreeMap<String, IntentCounts>, at: DateTime<Utc>) -> Vec<IntentRows> {
    let rows = |(entity, counts): (String, IntentCounts)| IntentRows {
        entity,
        open: counts.open,
        oldest_open_seconds: counts.oldest_open.map(|since| (at - since).num_seconds().max(0)),
        failed: counts.failed,
        held: counts.held,
        doubtful: counts.doubtful,
    };
    counts.into_iter().map(rows).collect()
}

impl IntentRows {
    /// Returns what to do about rows of a table: each row of `espelho errors` names its own next step, and held rows
    /// only wait for a release.
    pub(crate) fn next_step(&self, store: &str) -> String {
        match (self.doubtful + self.failed, self.held) {
            (0, 0) => "-".to_owned(),
            (0, _) => format!("{} held", program::call()),
            _ => format!("{} errors --store {store}", program::call()),
        }
    }
}

/// The headings of the table, each with whether its column holds numbers.
pub(crate) fn headings(first: Text) -> [(Text, bool); 7] {
    [
        (first, false),
        (text!("status-open"), true),
        (text!("status-oldest"), true),
        (text!("status-failed"), true),
        (text!("status-held"), true),
        (text!("status-doubtful"), true),
        (text!("status-step"), false),
    ]
}

/// Returns the section of the text for one store; empty if the store has no undone intents.
pub(super) fn lines(store: &StoreSnapshot, locale: Locale) -> Vec<String> {
    if store.wanted.is_empty() {
        return Vec::new();
    }
    let row = |rows: &IntentRows| {
        vec![
            words::entity(&rows.entity).message(locale),
            rows.open.to_string(),
            rows.oldest_open_seconds.map_or_else(|| "-".to_owned(), |seconds| locale.span(seconds)),
            rows.failed.to_string(),
            rows.held.to_string(),
            rows.doubtful.to_string(),
            rows.next_step(&store.store),
        ]
    };
    columns::lines(&headings(text!("status-erp")), store.wanted.iter().map(row).collect(), locale)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::status::specimen;

    pub(crate) fn rows(failed: u64, held: u64, doubtful: u64) -> IntentRows {
        IntentRows { entity: "stock".into(), open: 3, oldest_open_seconds: Some(90), failed, held, doubtful }
    }

    #[test]
    fn the_next_step_is_about_what_only_a_person_can_settle() {
        assert_eq!(rows(0, 0, 0).next_step("a"), "-");
        assert_eq!(rows(0, 1, 0).next_step("a"), "espelho held");
        assert_eq!(rows(1, 1, 0).next_step("a"), "espelho errors --store a");
        assert_eq!(rows(0, 0, 1).next_step("a"), "espelho errors --store a");
    }

    #[test]
    fn a_store_for_which_nothing_is_wanted_says_nothing_of_it() {
        let mut store = specimen::store("loja-1");
        let locale = Locale::default();
        assert!(lines(&store, locale).is_empty());
        store.wanted = vec![rows(2, 1, 0), rows(0, 1, 0)];
        let lines = lines(&store, locale);
        assert!(lines[1].contains("estoque") && lines[2].contains("espelho held"), "{lines:#?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 110), "{lines:#?}");
    }
}
