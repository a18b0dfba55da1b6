//! Alarms of rows that need attention: one for each cause.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{
    StoreKey,
    next_step::{self, PRICE_ZERO, RowAct, command_line},
    push::PushState,
    text,
    text::{Arg, Locale, Text},
};

use super::{Alarm, Code, RowState, Rows, Severity, StoreObservation, abilities};

/// A row may wait for an invoice this long before anybody needs to know.
const WAITS: TimeDelta = TimeDelta::hours(1);

/// Characters after which the store cuts a key off.
const LONGEST_KEY: usize = 200;

/// Returns the alarms of a store's rows.
pub(super) fn of_store(store: &StoreObservation, at: DateTime<Utc>) -> Vec<Alarm> {
    let mut by_cause = BTreeMap::<(Code, &str), Rows>::new();
    // A missing ability explains the rows that were refused for it.
    let is_lacking = !abilities::lacking(store, at).is_empty();
    let is_explained = |rows: &&Rows| is_lacking && abilities::are_refused(rows);
    for rows in store.rows.iter().filter(|rows| is_alarming(rows, at) && !is_explained(rows)) {
        let known = by_cause.entry((code(rows.state), &rows.code));
        known.and_modify(|known| add(known, rows)).or_insert_with(|| rows.clone());
    }
    by_cause.into_iter().map(|((code, _), rows)| alarm(Some(&store.key), code, &rows)).collect()
}

/// Returns the alarm of rows whose store is not in the configuration.
pub(super) fn of_strangers(rows: &Rows) -> Alarm {
    alarm(None, Code::UnknownStore, rows)
}

fn is_alarming(rows: &Rows, at: DateTime<Utc>) -> bool {
    rows.count > 0 && (rows.state != RowState::Waiting || rows.since.is_some_and(|since| at - since >= WAITS))
}

fn code(state: RowState) -> Code {
    match state {
        RowState::Failed | RowState::Noted => Code::Failed,
        RowState::Held => Code::Held,
        RowState::Doubtful => Code::Doubtful,
        RowState::Waiting => Code::Waiting,
    }
}

fn add(known: &mut Rows, more: &Rows) {
    known.count += more.count;
    known.since = [known.since, more.since].into_iter().flatten().min();
    // A failed row says more than one that is done with a note; its words, and the command lines for it, are its own.
    if more.state < known.state {
        known.state = more.state;
        known.example.clone_from(&more.example);
        known.words.clone_from(&more.words);
    }
}

fn alarm(store: Option<&StoreKey>, code: Code, rows: &Rows) -> Alarm {
    let severity = match rows.state {
        RowState::Failed | RowState::Doubtful => Severity::Failing,
        RowState::Noted | RowState::Held | RowState::Waiting => Severity::Warning,
    };
    let name = store.map(ToString::to_string).unwrap_or_default();
    let (count, words, cause) = (rows.count, quiet(rows), rows.code.as_str());
    let step = Steps { rows, store: store.map(StoreKey::as_str) };
    let text = match (code, rows.state) {
        (Code::UnknownStore, _) => {
            text!("alarm-unknown-store", count = count, words = words, see_all = step.all(RowAct::Look))
        }
        (Code::Held, _) if cause == PRICE_ZERO => {
            let ignore = step.one(RowAct::Ignore);
            text!("alarm-held-zero", count = count, words = words, store = name, ignore_one = ignore)
        }
        (Code::Held, _) => text!(
            "alarm-held",
            count = count,
            words = words,
            store = name,
            see_all = step.all(RowAct::Look),
            release_one = step.one(RowAct::Release),
            release_all = step.all(RowAct::Release),
            ignore_one = step.one(RowAct::Ignore),
            ignore_all = step.group(RowAct::Ignore, PushState::Held)
        ),
        (Code::Doubtful, _) => text!(
            "alarm-doubtful",
            count = count,
            words = words,
            store = name,
            // The row's own words say what to look at.
            told = told(&rows.words),
            step = Arg::Next(Box::new(rows.words.clone())),
            see_one = step.one(RowAct::Look),
            see_all = step.all(RowAct::Look),
            retry_one = step.one(RowAct::Retry),
            ignore_one = step.one(RowAct::Ignore)
        ),
        (Code::Waiting, _) => {
            let see = step.one(RowAct::Look);
            text!("alarm-waiting", count = count, words = words, store = name, see_one = see)
        }
        (_, state) => {
            let text = match state {
                RowState::Noted => text!("alarm-noted", count = count, words = words, code = cause),
                _ => text!(
                    "alarm-failed",
                    count = count,
                    words = words,
                    code = cause,
                    ignore = step.giving_up()
                ),
            };
            text.with("store", name)
                .with("told", told(&rows.words))
                .with("step", Arg::Next(Box::new(rows.words.clone())))
                .with("see_all", step.all(RowAct::Look))
        }
    };
    let (store, cause, since, detail) = (store.cloned(), cause.to_owned(), rows.since, String::new());
    let row = (count == 1 && is_whole(&rows.example)).then(|| rows.example.clone());
    Alarm { code, severity, store, cause, count, since, detail, row, text }
}

/// Returns the words of a row without those of the marketplace; the row is named in their place.
fn quiet(rows: &Rows) -> Text {
    let words = rows.words.without_quotes();
    match words == rows.words {
        true => words,
        false => {
            let (entity, key) = rows.example.split_once(' ').unwrap_or((&rows.example, ""));
            let row = Text::new("explain-entity").with("entity", entity).with("key", key);
            text!("alarm-row", row = row, words = words)
        }
    }
}

/// Tells whether the key of an example is whole: the store cuts longer ones off.
fn is_whole(example: &str) -> bool {
    example.split_once(' ').is_some_and(|(_, key)| key.chars().count() < LONGEST_KEY)
}

/// The command lines for rows of one cause.
struct Steps<'r> {
    rows: &'r Rows,
    store: Option<&'r str>,
}

impl Steps<'_> {
    /// For all of them.
    fn all(&self, act: RowAct) -> String {
        command_line(act, next_step::Rows::OfCause(&self.rows.code), self.store)
    }

    /// For those of them in one state.
    fn group(&self, act: RowAct, state: PushState) -> String {
        command_line(act, next_step::Rows::OfGroup(state, &self.rows.code), self.store)
    }

    /// Gives up failed rows of the ERP that only another row or a correction mends; `none` where something else may end
    /// them, or where their own words say it.
    fn giving_up(&self) -> String {
        let entity = self.rows.example.split_once(' ').map_or("", |(entity, _)| entity);
        let is_intent = next_step::is_intent(entity);
        let says_it = self.rows.words.next(Locale::default()).is_some_and(|step| step.contains(" ignore "));
        let state = next_step::state_to_give_up(&self.rows.code, entity);
        match (state, self.rows.count) {
            (Some(PushState::Failed), 1) if is_intent && !says_it => self.one(RowAct::Ignore),
            (Some(PushState::Failed), _) if is_intent && !says_it => {
                self.group(RowAct::Ignore, PushState::Failed)
            }
            _ => "none".to_owned(),
        }
    }

    /// For the one that is the example.
    fn one(&self, act: RowAct) -> String {
        let (entity, key) = self.rows.example.split_once(' ').unwrap_or((&self.rows.example, ""));
        command_line(act, next_step::Rows::One { entity, key }, self.store)
    }
}

/// Tells whether a row's own words have a next step.
fn told(words: &Text) -> &'static str {
    let has_step = words.next(Locale::default()).is_some_and(|step| !step.is_empty());
    if has_step { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;

    // withstands: F133
    #[test]
    fn an_alarm_names_the_row_and_the_code_and_repeats_no_word_of_the_marketplace() {
        let said = "cliente Can\u{e1}ria Ningu\u{e9}m, CPF 529.982.247-25";
        let refused =
            text!("api-refused", status = 422_u16, words = said, kind = "invalid-fields", abilities = "");
        let label = text!("run-label", order = "N-1", why = refused.clone(), next = "x");
        let invoice = text!("push-waiting-invoice-as-said", words = said);
        let own = text!("push-notes-conflict");
        for (state, words, is_named) in [
            (RowState::Failed, refused.clone(), true),
            (RowState::Noted, refused.clone(), true),
            (RowState::Doubtful, refused, true),
            (RowState::Failed, label, true),
            (RowState::Waiting, invoice, true),
            (RowState::Held, own, false),
        ] {
            let (code, example) = ("VALIDATION_ERROR".to_owned(), "command 7".to_owned());
            let rows = Rows { state, code, count: 2, since: None, example, words };
            let alarm = alarm(Some(&StoreKey::new("loja").unwrap()), super::code(state), &rows);
            for locale in Language::ALL.map(Locale::of) {
                let told = alarm.text.message(locale);
                let next = alarm.text.next(locale).unwrap_or_default();
                let has_person =
                    ["Can\u{e1}ria", "529.982"].iter().any(|of| told.contains(of) || next.contains(of));
                assert!(!has_person, "{told} {next}");
                let names_it = ["command 7: ", "comando 7: "].iter().any(|name| told.contains(name));
                assert_eq!(names_it, is_named, "{told}");
                assert!(!next.is_empty());
            }
        }
    }

    #[test]
    fn rows_that_another_row_mends_say_how_to_be_rid_of_them_once() {
        let no_transition = || Text::new("push-no-transition").with("row", "command 7");
        let plain = || text!("push-too-little-stock", before = 1, less = 2);
        for (code, example, count, words, expected) in [
            ("too_little_stock", "command 7", 1, plain(), "espelho ignore command 7 --store a"),
            (
                "too_little_stock",
                "command 7",
                2,
                plain(),
                "espelho ignore --all --state failed --code too_little_stock --store a",
            ),
            ("NOT_FOUND", "order N-1", 1, plain(), "none"),
            ("impossible_transition", "command 7", 1, no_transition(), "none"),
            ("gave_up", "command 7", 1, plain(), "none"),
        ] {
            let (code, example) = (code.to_owned(), example.to_owned());
            let rows = Rows { state: RowState::Failed, code, count, since: None, example, words };
            let steps = Steps { rows: &rows, store: Some("a") };
            assert_eq!(steps.giving_up(), expected, "{rows:?}");
        }
    }
}
