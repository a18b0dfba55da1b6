//! Alarms of rows that need attention: one for each cause.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{StoreKey, text};

use super::{Alarm, Code, RowState, Rows, Severity, StoreSeen};

/// A row may wait for an invoice this long before anybody needs to know.
const WAITS: TimeDelta = TimeDelta::hours(1);

/// The codes of rows that were refused for lack of an ability.
const MISSING_ABILITIES: [&str; 2] = ["FORBIDDEN", "http_403"];

/// Returns the alarms of a store's rows.
pub(super) fn of_store(store: &StoreSeen, at: DateTime<Utc>) -> Vec<Alarm> {
    let mut by_cause = BTreeMap::<(Code, &str), Rows>::new();
    // A missing ability explains the rows that were refused for it.
    let is_explained =
        |rows: &&Rows| !store.missing_scopes.is_empty() && MISSING_ABILITIES.contains(&rows.code.as_str());
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
    // A failed row says more than one that is done with a note.
    known.state = known.state.min(more.state);
}

fn alarm(store: Option<&StoreKey>, code: Code, rows: &Rows) -> Alarm {
    let severity = match rows.state {
        RowState::Failed | RowState::Doubtful => Severity::Failing,
        RowState::Noted | RowState::Held | RowState::Waiting => Severity::Warning,
    };
    let name = store.map(ToString::to_string).unwrap_or_default();
    let (count, example, words, cause) =
        (rows.count, rows.example.as_str(), rows.words.clone(), rows.code.as_str());
    let text = match (code, rows.state) {
        (Code::UnknownStore, _) => text!("alarm-unknown-store", count = count, words = words),
        (_, RowState::Noted) => {
            text!("alarm-noted", count = count, words = words, code = cause, store = name)
        }
        (Code::Held, _) if cause == "price_zero" => {
            text!("alarm-held-zero", count = count, words = words, row = example, store = name)
        }
        (Code::Held, _) => text!("alarm-held", count = count, words = words, row = example, store = name),
        (Code::Doubtful, _) => {
            text!("alarm-doubtful", count = count, words = words, row = example, store = name)
        }
        (Code::Waiting, _) => {
            text!("alarm-waiting", count = count, words = words, row = example, store = name)
        }
        _ => text!("alarm-failed", count = count, words = words, code = cause, store = name),
    };
    let (store, cause, since) = (store.cloned(), cause.to_owned(), rows.since);
    Alarm { code, severity, store, cause, count, since, text }
}
