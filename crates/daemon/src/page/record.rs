//! The page of what people have done, here and by the command line, from the record in the database: nothing that it says
//! comes from its address.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use chrono::{DateTime, Utc};
use espelho_model::{
    next_step::is_intent,
    push::PushState,
    text,
    text::{Arg, Text, words as catalogue},
};
use espelho_store::{ActedRow, Action, NewAction};

use super::{
    frame::{Fragment, Page, Reader, framed},
    sheet::{Cell, Sheet},
    words::{Words, store_address},
};
use crate::{acts::Deed, decisions::change_in_words, terminal::shown};

/// The rows of a record that are shown.
const SHOWN: usize = 3;

/// A row of the ERP: its store, and its table and key as in `v_errors`.
pub(crate) type RowName = [String; 3];

#[derive(Template)]
#[template(path = "acts.html", whitespace = "minimize")]
struct Acts {
    heading: String,
    done: Option<String>,
    sheet: Sheet,
    none: String,
}

/// Returns the name of an act.
pub(super) fn heading(act: &str) -> Text {
    match (Deed::parse(act), act) {
        (Some(deed), _) => deed.name(),
        (None, "replay") => text!("page-mend-replay"),
        (None, "pause") => text!("page-mend-pause"),
        (None, _) => text!("page-mend-resume"),
    }
}

/// Returns the rows that the page of these acts shows, under all names that a record may mean.
pub(crate) fn shown_rows(actions: &[Action]) -> BTreeSet<RowName> {
    actions.iter().flat_map(|action| rows_of(&action.new)).flatten().collect()
}

/// Renders what was done, the newest first. `states` has the states of [`shown_rows`] now, unless they cannot be read;
/// `done` is the number of what the reader has just done, as the address says.
pub(crate) fn acts(
    actions: &[Action],
    states: Option<&BTreeMap<RowName, String>>,
    done: Option<i64>,
    reader: &Reader,
) -> Page {
    let words = Words(reader.locale);
    let columns = [
        (text!("page-when"), false),
        (text!("page-who"), false),
        (text!("page-what"), false),
        (text!("status-store"), false),
        (text!("page-count"), true),
        (text!("page-before"), false),
        (text!("page-after"), false),
    ];
    let mut sheet = Sheet::new(&text!("page-acts"), &columns, words.0);
    sheet.rows.extend(actions.iter().map(|action| {
        let store = match action.new.store.as_str() {
            "" => Cell::new(words.say(&text!("status-all-stores"))),
            store => Cell::foreign(store).to(store_address(store)),
        };
        let under_way = || Cell::new(words.say(&text!("page-cut-short"))).toned("warning");
        vec![
            Cell::new(words.0.time(action.at)),
            Cell::foreign(&action.new.actor),
            Cell::new(words.say(&heading(&action.new.act))).with_note(Some(shown(&action.new.command))),
            store,
            Cell::new(action.count.map_or_else(|| "–".to_owned(), |count| words.number(count))),
            Cell::new(before(&action.new.act, &action.new.before, words)),
            action
                .after
                .as_deref()
                .map_or_else(under_way, |after| Cell::new(outcome(&action.new.act, after, words)))
                .with_note(states.and_then(|states| states_now(&action.new, states, words))),
        ]
    }));
    let page = Acts {
        heading: words.say(&text!("page-acts")),
        done: done.and_then(|id| just_done(actions, id, reader)).map(|text| words.say(&text)),
        none: words.say(&text!("page-no-acts")),
        sheet,
    };
    let title = format!("{} · espelho", page.heading);
    framed(title, "list", &[Fragment::new("acts", &page)], false, reader)
}

/// Returns how many rows an act of the reader has changed, by its record; `None` for acts of others and for numbers of none.
fn just_done(actions: &[Action], id: i64, reader: &Reader) -> Option<Text> {
    let session = reader.session.as_ref()?;
    let action = actions.iter().find(|action| action.id == id && action.new.actor == session.name)?;
    let count = action.count.filter(|_| action.after.is_some())?;
    Some(text!("page-act-done", count = Arg::from(count)))
}

/// Returns the first rows of a record.
fn before(act: &str, before: &str, words: Words) -> String {
    let lines: Vec<String> = before.lines().take(SHOWN).map(|line| row_words(act, line, words)).collect();
    let more = before.lines().count().saturating_sub(lines.len());
    let more = if more > 0 { format!(" … +{more}") } else { String::new() };
    format!("{}{more}", lines.join(" · "))
}

/// Returns a row of a record or of a question in the reader's words: its store, then its table or a pause's scope, then its
/// key as it is and what changes.
pub(super) fn row_words(act: &str, line: &str, words: Words) -> String {
    let line = &ActedRow::read(line).name;
    let mut parts = line.splitn(3, ' ');
    let (Some(store), Some(word)) = (parts.next(), parts.next()) else { return shown(line) };
    let name = match act {
        _ if Deed::parse(act).is_some() && is_intent(word) => words.entity(word),
        "resume" => words.say(&Text::new(format!("word-pause-{word}"))),
        _ => return shown(line),
    };
    let rest = parts.next().map(|rest| {
        // A key may hold a colon too; a change has an arrow.
        let at = rest.rfind(": ").filter(|at| rest[*at..].contains(" → "));
        let (key, change) = rest.split_at(at.unwrap_or(rest.len()));
        format!(" {}{}", shown(key), shown(&change_in_words(word, change, words.0)))
    });
    let rest = rest.unwrap_or_default();
    format!("{} {name}{rest}", shown(store))
}

/// Returns the names that the first lines of a record may mean, for each line the likeliest first; none for an act on
/// something else than rows of the ERP.
fn rows_of(act: &NewAction) -> Vec<Vec<RowName>> {
    match Deed::parse(&act.act) {
        Some(_) => act.before.lines().take(SHOWN).filter_map(names_of).collect(),
        None => Vec::new(),
    }
}

/// Returns the names that a line may mean: a change follows the key after the last colon, and a key may hold one too.
fn names_of(line: &str) -> Option<Vec<RowName>> {
    let line = ActedRow::read(line).name;
    let mut parts = line.splitn(3, ' ');
    let (store, entity, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let before_change = rest.rsplit_once(": ").map(|(key, _)| key);
    let keys = [Some(rest), before_change].into_iter().flatten();
    is_intent(entity).then(|| keys.map(|key| [store, entity, key].map(str::to_owned)).collect())
}

/// Returns the states that the first rows of an act have by now, in the order of the record.
fn states_now(act: &NewAction, states: &BTreeMap<RowName, String>, words: Words) -> Option<String> {
    let state = |names: Vec<RowName>| match names.iter().find_map(|name| states.get(name)) {
        Some(state) => outcome(&act.act, state, words),
        None => words.say(&text!("page-after-deleted")),
    };
    let states: Vec<String> = rows_of(act).into_iter().map(state).collect();
    (!states.is_empty()).then(|| words.say(&text!("page-after-now", states = states.join(" · "))))
}

/// Returns the outcome of an act in the reader's words: what was decided, where the rows' state would not say it.
fn outcome(act: &str, after: &str, words: Words) -> String {
    let until = after.strip_prefix("paused until ").and_then(|time| time.parse::<DateTime<Utc>>().ok());
    let is_settled = Deed::parse(act) == Some(Deed::Happened) && after == PushState::Ignored.as_str();
    let text = match (after, until) {
        _ if is_settled => text!("page-after-happened"),
        (_, Some(until)) => text!("page-after-paused", until = until),
        ("resumed", _) => text!("page-after-resumed"),
        ("open", _) => text!("page-delivery-open"),
        (state, _) if state.parse::<PushState>().is_ok() => catalogue::push_state(state),
        _ => return shown(after),
    };
    words.say(&text)
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;

    #[test]
    fn the_rows_of_an_act_say_their_states_of_now() {
        const SEVERAL: &str = "loja-1 command 8\nloja-1 command 7\nloja-1 command 9\nloja-1 command 8";
        let states = [
            (["loja-1", "command", "8"], "done"),
            (["loja-1", "command", "9"], "ignored"),
            (["loja-1", "stock", "A: B/1"], "failed"),
            (["loja-1", "stock", "A/1"], "of a later version"),
        ];
        let states = states.map(|(name, state)| (name.map(str::to_owned), state.to_owned()));
        let states = BTreeMap::from(states);
        for (act, before, expected) in [
            ("retry", "loja-1 command 8", Some("agora: feito")),
            ("retry", SEVERAL, Some("agora: feito · registro excluído · ignorado")),
            ("happened", "loja-1 command 9", Some("agora: encerrado: aconteceu")),
            ("release", "loja-1 stock A: B/1: 3 → 4", Some("agora: falhou")),
            ("release", "loja-1 stock A: B/1", Some("agora: falhou")),
            ("release", "loja-1 stock A/1: 4", Some("agora: of a later version")),
            (
                "release",
                "loja-1 stock A/1: 3 → 4\theld many_to_zero 2026-11-27T10:00:00.000000Z",
                Some("agora: of a later version"),
            ),
            ("release", "loja-1 stock A", Some("agora: registro excluído")),
            ("release", "", None),
            ("pause", "loja-1", None),
            ("replay", "loja-1 7 order.paid", None),
        ] {
            let words = Words(Locale::default());
            let new = NewAction {
                actor: "ana".into(),
                act: act.into(),
                store: String::new(),
                command: String::new(),
                before: before.into(),
            };
            assert_eq!(states_now(&new, &states, words).as_deref(), expected, "{act} {before}");
        }
    }

    #[test]
    fn a_record_is_read_in_the_readers_language() {
        let words = Words(Locale::default());
        for (act, line, expected) in [
            ("release", "loja-1 stock A B/1: 3 → 4", "loja-1 estoque A B/1: 3 → 4"),
            ("release", "loja-1 price A: B/1: 68.00 → 0.05", "loja-1 preço A: B/1: R$ 68,00 → R$ 0,05"),
            ("happened", "loja-1 command 8", "loja-1 comando 8"),
            ("ignore", "loja-1 command 8\tfailed x 2026-11-27T10:00:00.000000Z", "loja-1 comando 8"),
            ("resume", "loja-1 push", "loja-1 envio"),
            ("pause", "loja-1", "loja-1"),
            ("replay", "loja-1 7 order.paid", "loja-1 7 order.paid"),
            ("release", "… 20", "… 20"),
        ] {
            assert_eq!(row_words(act, line, words), expected);
        }
        for (act, after, expected) in [
            ("ignore", "ignored", "ignorado"),
            ("happened", "ignored", "encerrado: aconteceu"),
            ("happened", "new", "novo"),
            ("retry", "new", "novo"),
            ("replay", "open", "na fila"),
            ("resume", "resumed", "pausa encerrada"),
            ("pause", "paused until 2026-11-26T12:00:00.000000Z", "em pausa até 26/11/2026 09:00"),
            ("later", "of a later version", "of a later version"),
        ] {
            assert_eq!(outcome(act, after, words), expected);
        }
    }
}
