//! The content of a message about alarms. It is kept with the message, so that any process can tell its end in the same
//! words.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Locale, Text},
};
use serde::{Deserialize, Serialize};

use crate::alarms::ShownAlarm;

/// A message names this many stores.
const NAMED: usize = 20;

/// The content of a message, in the installation's language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Content {
    /// The name of the alarms, in a few words, with the store.
    pub title: String,
    /// The stores, the first twenty.
    pub stores: Vec<String>,
    /// How many stores it concerns; 0: it concerns none in particular.
    pub stores_count: u64,
    /// How many rows, calls or stores it hits.
    pub count: u64,
    pub since: Option<DateTime<Utc>>,
    pub text: String,
    pub next: String,
}

impl Content {
    /// Returns what is told of alarms of one code, the worst first.
    pub(crate) fn of(alarms: &[&ShownAlarm], locale: Locale) -> Self {
        let Some(first) = alarms.first() else { return Self::default() };
        let stores: BTreeSet<&str> = alarms.iter().filter_map(|alarm| alarm.store.as_deref()).collect();
        let what = named(&first.code);
        let title = match (stores.len(), stores.first()) {
            (0, _) | (_, None) => what.message(locale),
            (1, Some(store)) => text!("notice-of-store", store = *store, what = what).message(locale),
            (count, _) => text!("notice-of-stores", count = count, what = what).message(locale),
        };
        let text = match alarms.len() {
            1 => first.text.clone(),
            count => text!("notice-several", count = count, text = first.text.as_str()).message(locale),
        };
        Self {
            title,
            stores: stores.iter().take(NAMED).map(|store| (*store).to_owned()).collect(),
            stores_count: stores.len() as u64,
            count: alarms.iter().map(|alarm| alarm.count).sum(),
            since: alarms.iter().filter_map(|alarm| alarm.since).min(),
            text,
            next: first.next.clone(),
        }
    }
}

/// Returns the name of a code for people; of one that only a later version knows, the code.
fn named(code: &str) -> Text {
    let name = Text::new(format!("page-alarm-{}", code.replace('_', "-")));
    if name.is_known() { name } else { text!("notice-code", code = code) }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;
    use espelho_sync_engine::plan::alarms::Code;

    use super::*;

    fn alarm(store: Option<&str>, count: u64) -> ShownAlarm {
        ShownAlarm {
            code: "late".to_owned(),
            cause: String::new(),
            severity: "warning".to_owned(),
            store: store.map(str::to_owned),
            count,
            since: Some(DateTime::from_timestamp(1_795_000_000 - count.cast_signed(), 0).unwrap()),
            text: format!("atrasado {count}"),
            next: "espelho status".to_owned(),
            detail: String::new(),
            row: None,
        }
    }

    fn content(alarms: &[ShownAlarm]) -> Content {
        Content::of(&alarms.iter().collect::<Vec<_>>(), Locale::of(Language::English))
    }

    #[test]
    fn one_alarm_is_told_in_its_own_words_and_many_by_their_number_and_stores() {
        let one = content(&[alarm(Some("loja-1"), 3)]);
        assert_eq!((one.title.as_str(), one.text.as_str()), ("loja-1: behind its promise", "atrasado 3"));
        assert_eq!((one.count, one.stores_count), (3, 1));
        let none = content(&[alarm(None, 3)]);
        assert_eq!((none.title.as_str(), none.stores_count), ("behind its promise", 0));
        let hub: Vec<ShownAlarm> = (0..3_095).map(|n| alarm(Some(&format!("loja-{n:04}")), 2)).collect();
        let many = content(&hub);
        assert_eq!(many.title, "3,095 stores: behind its promise");
        assert!(many.text.starts_with("3,095 alarms") && many.text.ends_with("atrasado 2"), "{}", many.text);
        assert_eq!((many.count, many.stores_count, many.stores.len()), (6_190, 3_095, 20));
        assert!(serde_json::to_string(&many).unwrap().len() < 2_000, "and a message stays short");
    }

    #[test]
    fn every_code_has_a_name_for_people() {
        for code in Code::ALL {
            assert_ne!(named(code.as_str()).id(), "notice-code", "{code}");
        }
        assert_eq!(named("of_next_year").message(Locale::of(Language::English)), "of_next_year");
    }
}
