//! A store's intents that are not done: how many, since when, and what to do about them.

use std::{collections::BTreeMap, fmt::Write as _};

use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Locale, Text, words},
};
use espelho_store::IntentCounts;
use serde::{Deserialize, Serialize};

use super::{
    StoreSnapshot,
    html::{escape, heads, title},
};

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

/// Returns what to do about rows of a table: each row of `espelho errors` names its own next step, and held rows only
/// wait for a release.
fn next_step(rows: &IntentRows, store: &str) -> String {
    match (rows.doubtful + rows.failed, rows.held) {
        (0, 0) => "-".to_owned(),
        (0, _) => "espelho held".to_owned(),
        _ => format!("espelho errors --store {store}"),
    }
}

/// Returns the section of the text for one store; empty if the store has no undone intents.
pub(super) fn text(store: &StoreSnapshot, locale: Locale) -> String {
    if store.wanted.is_empty() {
        return String::new();
    }
    let word = |text: Text| text.message(locale);
    let mut text = format!(
        "\n{:<22} {:>8} {:>17} {:>8} {:>8} {:>9}  {}\n",
        word(text!("status-erp")),
        word(text!("status-open")),
        word(text!("status-oldest")),
        word(text!("status-failed")),
        word(text!("status-held")),
        word(text!("status-doubtful")),
        word(text!("status-step"))
    );
    for rows in &store.wanted {
        let IntentRows { entity, open, failed, held, doubtful, .. } = rows;
        let (name, since, step) = (name(entity, locale), since(rows, locale), next_step(rows, &store.store));
        // Writing to a String cannot fail.
        let _ =
            writeln!(text, "{name:<22} {open:>8} {since:>17} {failed:>8} {held:>8} {doubtful:>9}  {step}");
    }
    text
}

/// Writes the same section of the page.
pub(super) fn write(body: &mut String, store: &StoreSnapshot, locale: Locale) {
    if store.wanted.is_empty() {
        return;
    }
    title(body, &text!("status-erp"), locale);
    heads(
        body,
        &[
            (text!("status-table"), false),
            (text!("status-open"), true),
            (text!("status-oldest"), true),
            (text!("status-failed"), true),
            (text!("status-held"), true),
            (text!("status-doubtful"), true),
            (text!("status-step"), false),
        ],
        locale,
    );
    let class = |n: u64| if n > 0 { "n failing" } else { "n" };
    for rows in &store.wanted {
        // Writing to a String cannot fail.
        let _ = write!(
            body,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"{}\">{}</td>\
             <td class=\"{}\">{}</td><td class=\"{}\">{}</td><td><code>{}</code></td></tr>",
            escape(&name(&rows.entity, locale)),
            rows.open,
            since(rows, locale),
            class(rows.failed),
            rows.failed,
            class(rows.held),
            rows.held,
            class(rows.doubtful),
            rows.doubtful,
            escape(&next_step(rows, &store.store))
        );
    }
    body.push_str("</table></div>");
}

fn since(rows: &IntentRows, locale: Locale) -> String {
    rows.oldest_open_seconds.map_or_else(|| "-".to_owned(), |seconds| locale.span(seconds))
}

fn name(entity: &str, locale: Locale) -> String {
    words::entity(entity).message(locale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::specimen;

    fn rows(failed: u64, held: u64, doubtful: u64) -> IntentRows {
        IntentRows { entity: "stock".into(), open: 3, oldest_open_seconds: Some(90), failed, held, doubtful }
    }

    #[test]
    fn the_next_step_is_about_what_only_a_person_can_settle() {
        assert_eq!(next_step(&rows(0, 0, 0), "a"), "-");
        assert_eq!(next_step(&rows(0, 1, 0), "a"), "espelho held");
        assert_eq!(next_step(&rows(1, 1, 0), "a"), "espelho errors --store a");
        assert_eq!(next_step(&rows(0, 0, 1), "a"), "espelho errors --store a");
    }

    #[test]
    fn a_store_for_which_nothing_is_wanted_says_nothing_of_it() {
        let mut store = specimen::store("loja-1");
        let locale = Locale::default();
        assert_eq!(text(&store, locale), "");
        store.wanted = vec![rows(2, 1, 0), rows(0, 1, 0)];
        let (text, mut page) = (text(&store, locale), String::new());
        assert!(text.contains("estoque") && text.contains("espelho held"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
        write(&mut page, &store, locale);
        assert!(page.contains("O que o ERP pede") && page.contains("n failing\">2<"), "{page}");
    }
}
