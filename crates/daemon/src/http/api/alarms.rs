//! The alarms, as every other surface shows them.

use axum::{extract::State as Extract, http::HeaderMap, response::Response};
use espelho_model::text::Language;
use serde_json::json;

use super::{
    super::{State, locale},
    access::{Caller, Parameters},
    json,
    problem::Problem,
    query, schema,
    tokens::Scope,
};
use crate::alarms::{ShownAlarm, ShownVerdict};

/// Lists what is wrong now: the state and the alarms of `/status`.
#[utoipa::path(
    get,
    path = "/alarms",
    tag = "read",
    params(schema::AlarmParameters),
    responses(schema::AlarmsAnswers)
)]
pub(super) async fn alarms(
    Extract(state): Extract<State>,
    caller: Caller,
    Parameters(pairs): Parameters,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.demand(Scope::Read)?;
    let mut lang = None;
    for (at, (name, value)) in pairs.iter().enumerate() {
        query::refuse_repeated(&pairs[..at], name)?;
        match name.as_str() {
            "lang" if Language::parse(value).is_some() => lang = Some(value.as_str()),
            "lang" => return Err(query::bad_value(name, value, espelho_model::text!("http-rule-language"))),
            _ => return Err(query::unknown(name, &["lang"])),
        }
    }
    let locale = locale::locale(lang, &headers, state.snapshots.locale);
    let (at, shown) = match state.snapshots.board.latest() {
        Some(posted) => (posted.seen.at, posted.shown(locale)),
        None => (state.clock.now(), ShownVerdict { state: "unknown".to_owned(), ..ShownVerdict::default() }),
    };
    let is_seen = |store: &Option<String>| store.as_ref().is_none_or(|store| caller.0.sees(store));
    let alarms: Vec<_> = shown.alarms.into_iter().filter(|alarm| is_seen(&alarm.store)).collect();
    // A token for some stores does not tell that another store fails.
    let state = match caller.0.sees_all() {
        true => shown.state.as_str(),
        false => state_of(&alarms, &shown.unproved),
    };
    Ok(json(&json!({"state": state, "at": at, "alarms": alarms})))
}

/// Returns the state that some of the alarms make.
fn state_of(alarms: &[ShownAlarm], unproved: &[String]) -> &'static str {
    match alarms {
        _ if alarms.iter().any(ShownAlarm::is_failing) => "failing",
        [_, ..] => "warning",
        [] if unproved.is_empty() => "ok",
        [] => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_that_of_the_alarms_that_are_shown() {
        let alarm = |severity: &str| ShownAlarm { severity: severity.to_owned(), ..ShownAlarm::default() };
        let unproved = ["nothing was read yet".to_owned()];
        for (alarms, unproved, expected) in [
            (vec![], &unproved[..0], "ok"),
            (vec![], &unproved[..], "unknown"),
            (vec![alarm("warning")], &unproved[..], "warning"),
            (vec![alarm("warning"), alarm("failing")], &unproved[..0], "failing"),
        ] {
            assert_eq!(state_of(&alarms, unproved), expected, "{alarms:?}");
        }
    }
}
