//! What the ERP wants of a store and is not done: how much, since when, and what to do about it.

use std::{collections::BTreeMap, fmt::Write as _};

use chrono::{DateTime, Utc};
use espelho_store::WantedCounts;
use serde::{Deserialize, Serialize};

use super::{
    StorePicture,
    html::{escape, heads},
    words::span,
};

/// One of the tables that the ERP writes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct WantedRows {
    /// `stock`, `price` or `command`, as in `v_errors`.
    pub entity: String,
    /// New, waiting, or being sent.
    pub open: u64,
    /// How old the oldest of these is.
    pub oldest_open_seconds: Option<i64>,
    pub failed: u64,
    /// Held by a guard, until somebody releases it.
    pub held: u64,
    /// Sent, and nothing proves what came of it.
    pub doubtful: u64,
}

/// Whether the ERP writes it, and espelho carries it out: other things are mirrored.
pub(super) fn is_wanted(entity: &str) -> bool {
    matches!(entity, "stock" | "price" | "command")
}

pub(super) fn of_store(counts: BTreeMap<String, WantedCounts>, at: DateTime<Utc>) -> Vec<WantedRows> {
    let rows = |(entity, counts): (String, WantedCounts)| WantedRows {
        entity,
        open: counts.open,
        oldest_open_seconds: counts.oldest_open.map(|since| (at - since).num_seconds().max(0)),
        failed: counts.failed,
        held: counts.held,
        doubtful: counts.doubtful,
    };
    counts.into_iter().map(rows).collect()
}

/// What to do about rows of a table: each row of `espelho errors` names its own next step, and what is held only waits for a word.
fn next_step(rows: &WantedRows, store: &str) -> String {
    match (rows.doubtful + rows.failed, rows.held) {
        (0, 0) => "-".to_owned(),
        (0, _) => "espelho held".to_owned(),
        _ => format!("espelho errors --store {store}"),
    }
}

/// A part of the text for one store; nothing where nothing is wanted.
pub(super) fn text(store: &StorePicture) -> String {
    if store.wanted.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n{:<22} {:>8} {:>8} {:>8} {:>8} {:>10}  {}\n{:<22} {:>8} {:>8} {:>8} {:>8} {:>10}  {}\n",
        "DO ERP",
        "ABERTAS",
        "DESDE",
        "FALHAS",
        "RETIDAS",
        "DUVIDOSAS",
        "PRÓXIMO PASSO",
        "FROM THE ERP",
        "OPEN",
        "SINCE",
        "FAILED",
        "HELD",
        "DOUBTFUL",
        "NEXT STEP"
    );
    for rows in &store.wanted {
        let WantedRows { entity, open, failed, held, doubtful, .. } = rows;
        let (since, step) = (since(rows), next_step(rows, &store.store));
        let (pt, en) = name(entity);
        let name = format!("{pt} / {en}");
        // Writing to a String cannot fail.
        let _ =
            writeln!(text, "{name:<22} {open:>8} {since:>8} {failed:>8} {held:>8} {doubtful:>10}  {step}");
    }
    text
}

/// The same on the page.
pub(super) fn write(body: &mut String, store: &StorePicture) {
    if store.wanted.is_empty() {
        return;
    }
    body.push_str("<h2>O que o ERP pede <span class=\"en\" lang=\"en\">What the ERP wants</span></h2>");
    heads(
        body,
        &[
            ("Tabela", "Table", false),
            ("Abertas", "Open", true),
            ("A mais antiga há", "Oldest open", true),
            ("Falhas", "Failed", true),
            ("Retidas", "Held", true),
            ("Duvidosas", "Doubtful", true),
            ("Próximo passo", "Next step", false),
        ],
    );
    let class = |n: u64| if n > 0 { "n failing" } else { "n" };
    for rows in &store.wanted {
        let (pt, en) = name(&rows.entity);
        let _ = write!(
            body,
            "<tr><td>{} <span class=\"en\" lang=\"en\">{}</span></td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"{}\">{}</td><td class=\"{}\">{}</td><td class=\"{}\">{}</td><td><code>{}</code></td></tr>",
            escape(pt),
            escape(en),
            rows.open,
            since(rows),
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

fn since(rows: &WantedRows) -> String {
    rows.oldest_open_seconds.map_or_else(|| "-".to_owned(), span)
}

fn name(entity: &str) -> (&str, &str) {
    match entity {
        "stock" => ("Saldos", "levels"),
        "price" => ("Preços", "prices"),
        "command" => ("Comandos", "commands"),
        other => (other, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::specimen;

    fn rows(failed: u64, held: u64, doubtful: u64) -> WantedRows {
        WantedRows { entity: "stock".into(), open: 3, oldest_open_seconds: Some(90), failed, held, doubtful }
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
        assert_eq!(text(&store), "");
        store.wanted = vec![rows(2, 1, 0), rows(0, 1, 0)];
        let (text, mut page) = (text(&store), String::new());
        assert!(text.contains("Saldos / levels") && text.contains("espelho held"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        write(&mut page, &store);
        assert!(page.contains("O que o ERP pede") && page.contains("n failing\">2<"), "{page}");
    }
}
