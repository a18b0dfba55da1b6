//! The abilities that the credential lacks, as far as that is proved now.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::next_step::{self, RowAct, command_line};

use super::{Rows, StoreObservation};

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
    let writes = writes.filter(|writes| is_fresh(writes.last) || refused_intents(store).is_some());
    let of_writes = writes.into_iter().flat_map(|writes| &writes.scopes);
    let mut names: Vec<&str> = store.missing_scopes.iter().chain(of_writes).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the command that has the refused rows of the ERP sent again, if there are any.
pub(super) fn retry(store: &StoreObservation) -> Option<String> {
    let command = |rows: &Rows| {
        command_line(RowAct::Retry, next_step::Rows::OfCause(&rows.code), Some(store.key.as_str()))
    };
    refused_intents(store).map(command)
}

fn refused_intents(store: &StoreObservation) -> Option<&Rows> {
    let is_intent = |rows: &&Rows| {
        let entity = rows.example.split_once(' ').map_or("", |(entity, _)| entity);
        matches!(entity, "stock" | "price" | "command")
    };
    store.rows.iter().filter(|rows| rows.count > 0 && are_refused(rows)).find(is_intent)
}
