//! The abilities that the credential lacks, as far as that is proved now.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::next_step::{self, RowAct, command_line};

use super::{RowState, Rows, StoreObservation};

/// A write that was refused proves the lack for so long. Nothing is written to see whether the ability is there again,
/// but by then the row that was refused says so itself.
const REFUSED_WRITE_PROVES: TimeDelta = TimeDelta::seconds(60);
/// The codes of rows that were refused for lack of an ability.
const CODES: [&str; 2] = ["FORBIDDEN", "http_403"];

/// Tells whether rows were refused for lack of an ability.
pub(super) fn are_refused(rows: &Rows) -> bool {
    CODES.contains(&rows.code.as_str())
}

/// Returns the names of the abilities that are lacking: a refused read is repeated until it is accepted, and a refused
/// write counts while a row of the ERP bears the refusal, and a moment longer.
pub(super) fn lacking(store: &StoreObservation, at: DateTime<Utc>) -> Vec<&str> {
    let is_fresh = |last: DateTime<Utc>| (at - last).abs() < REFUSED_WRITE_PROVES;
    let writes = store.refused_writes.as_ref();
    let is_refused = |code: &&str| has_refused_intents(store, code);
    let writes = writes.filter(|writes| is_fresh(writes.last) || CODES.iter().any(is_refused));
    let of_writes = writes.into_iter().flat_map(|writes| &writes.scopes);
    let mut names: Vec<&str> = store.missing_scopes.iter().chain(of_writes).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the commands that have the refused rows of the ERP sent again, one for each code; `None` if there are no such
/// rows.
pub(super) fn retry(store: &StoreObservation) -> Option<String> {
    let of_code =
        |code: &&str| command_line(RowAct::Retry, next_step::Rows::OfCause(code), Some(store.key.as_str()));
    let refused = CODES.iter().filter(|code| has_refused_intents(store, code));
    let commands: Vec<String> = refused.map(of_code).collect();
    (!commands.is_empty()).then(|| commands.join("; "))
}

/// Tells whether rows of the ERP were refused with a code. A row that is done, with a remark, asks for nothing any more.
fn has_refused_intents(store: &StoreObservation, code: &str) -> bool {
    store.rows.iter().filter(|rows| rows.count > 0 && rows.code == code).any(|rows| {
        let entity = rows.example.split_once(' ').map_or("", |(entity, _)| entity);
        next_step::is_intent(entity)
            && matches!(rows.state, RowState::Failed | RowState::Held | RowState::Doubtful)
    })
}
