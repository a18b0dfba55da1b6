//! A store's intents that are not done: how many, since when, and what to do about them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use espelho_model::{
    program, text,
    text::{Arg, Locale, Text, words},
};
use espelho_store::IntentCounts;
use serde::{Deserialize, Serialize};

use super::{StatusSnapshot, StoreSnapshot, columns};

/// The seconds after which an open row has waited for long.
const LONG: i64 = 5 * 60;

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

/// Returns how many rows of a store are open.
pub(crate) fn open_rows(store: &StoreSnapshot) -> u64 {
    store.wanted.iter().map(|rows| rows.open).sum()
}

/// Says how many rows are open, if one of them has waited for long: beside many, all else may well be in order.
pub(crate) fn long_queue(snapshot: &StatusSnapshot) -> Option<Text> {
    let rows = || snapshot.stores.iter().flat_map(|store| &store.wanted).filter(|rows| rows.open > 0);
    let oldest = rows().filter_map(|rows| rows.oldest_open_seconds).max().filter(|oldest| *oldest >= LONG)?;
    let count: u64 = rows().map(|rows| rows.open).sum();
    Some(text!("status-queue-long", count = count, span = Arg::Seconds(oldest)))
}

impl IntentRows {
    /// Returns what to do about rows of a table: each row of `espelho errors` names its own next step, held rows only
    /// wait for a release, and `espelho plan` estimates how long the open ones take.
    pub(crate) fn next_step(&self, store: &str) -> String {
        match (self.doubtful + self.failed, self.held) {
            (0, 0) if self.open > 0 && self.oldest_open_seconds.is_some_and(|oldest| oldest >= LONG) => {
                format!("{} plan --store {store}", program::call())
            }
            (0, 0) => "-".to_owned(),
            (0, _) => format!("{} held --store {store}", program::call()),
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
            locale.number(rows.open),
            rows.oldest_open_seconds.map_or_else(|| "-".to_owned(), |seconds| locale.span(seconds)),
            locale.number(rows.failed),
            locale.number(rows.held),
            locale.number(rows.doubtful),
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
        assert_eq!(rows(0, 1, 0).next_step("a"), "espelho held --store a");
        assert_eq!(rows(1, 1, 0).next_step("a"), "espelho errors --store a");
        assert_eq!(rows(0, 0, 1).next_step("a"), "espelho errors --store a");
        let long = IntentRows { oldest_open_seconds: Some(LONG), ..rows(0, 0, 0) };
        assert_eq!(long.next_step("a"), "espelho plan --store a");
        assert_eq!(IntentRows { open: 0, ..long }.next_step("a"), "-");
    }

    #[test]
    fn rows_that_have_waited_for_minutes_are_said_with_all_that_wait() {
        let waiting = |open: u64, seconds: Option<i64>| {
            let rows = IntentRows { open, oldest_open_seconds: seconds, ..rows(0, 0, 0) };
            StoreSnapshot { wanted: vec![rows], ..specimen::store("a") }
        };
        for (stores, expected) in [
            (vec![], None),
            (vec![waiting(0, Some(LONG))], None),
            (vec![waiting(3_000, Some(LONG - 1))], None),
            (vec![waiting(3_000, None)], None),
            (vec![waiting(1, Some(LONG))], Some("1 linha do ERP espera há 5 min")),
            (
                vec![waiting(2_000, Some(60)), waiting(938, Some(720))],
                Some("2.938 linhas do ERP esperam, a mais antiga há 12 min"),
            ),
        ] {
            let said = long_queue(&specimen::snapshot(stores)).map(|text| text.message(Locale::default()));
            assert_eq!(said.as_deref(), expected);
        }
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
