//! `/readyz`: whether the service can do its work, check by check.

use std::{collections::HashSet, fmt::Write as _};

use axum::{
    extract::{Query, State as Extract},
    http::StatusCode,
    response::IntoResponse,
};
use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{StoreKey, sync::RunState, text::Locale};
use espelho_sync_engine::plan::alarms::{Code, Severity, Verdict};
use serde::Deserialize;

use super::State;
use crate::{alarms::Posted, health::StoreHealth};

/// The maximum number of checks shown: a hub has thousands of stores.
const SHOWN: usize = 200;
/// A delivery that waits longer means that nothing empties the inbox any more.
const STUCK: TimeDelta = TimeDelta::minutes(15);
/// The reason of a store that has its first reconciliation since the start before it. `espelho doctor` reads it.
pub(crate) const NOT_RECONCILED: &str = "not reconciled yet";
/// With less free disk, an acknowledged delivery could not be kept for long.
const LEAST_DISK: u64 = 32 << 20;

type Check = (String, Result<(), String>);

#[derive(Deserialize)]
pub(super) struct Verbosity {
    verbose: Option<String>,
}

/// Ready when the database takes a write, the inbox is emptied, and every store is held by this process, was reconciled
/// and has a valid token. A read would stay green on a full disk.
pub(super) async fn ready(
    Extract(state): Extract<State>,
    Query(Verbosity { verbose }): Query<Verbosity>,
) -> impl IntoResponse {
    let (asking, is_verbose) = (state.clone(), verbose.is_some());
    let asked = super::in_time(&state.clock, async move { of_database(&asking, is_verbose).await }).await;
    let mut checks: Vec<Check> = asked.unwrap_or_else(|| vec![("database".into(), Err("no answer".into()))]);
    checks.push(("disk".into(), disk(&state)));
    let posted = state.snapshots.board.latest();
    let were_read = posted.as_deref().map(were_read).unwrap_or_default();
    // Monitors ask every few seconds: of thousands of stores, nothing is copied that is not shown.
    state.health.see_all(|key, health| {
        let check = of_store(health, were_read.contains(key), state.snapshots.locale);
        if is_verbose || check.is_err() {
            checks.push((format!("store {key}"), check));
        }
    });
    if let Some(posted) = &posted {
        refuse_tokens(&mut checks, &posted.verdict, |store| state.health.see(store, |_| ()).is_some());
    }
    let notes = if is_verbose { alarms(&state) } else { Vec::new() };
    answer(&checks, &notes, is_verbose)
}

/// Checks whether the database takes a write, the inbox is emptied, and every token is valid.
async fn of_database(state: &State, is_verbose: bool) -> Vec<Check> {
    let writable = match state.store.file_trouble() {
        Some(trouble) => Err(trouble.to_string()),
        None => state.store.diagnostics().prove_write().await.map_err(|error| error.to_string()),
    };
    let mut checks: Vec<Check> = vec![("database".into(), writable), ("inbox".into(), inbox(state).await)];
    checks.extend(tokens(state, is_verbose).await);
    checks
}

/// Returns the alarms, which are shown beside the checks: the service may be ready while something is wrong.
fn alarms(state: &State) -> Vec<String> {
    let Some(posted) = state.snapshots.board.latest() else { return Vec::new() };
    let shown = posted.shown(state.snapshots.locale);
    let told = shown.alarms.iter().map(|alarm| {
        let store = alarm.store.as_ref().map(|store| format!(" {store}")).unwrap_or_default();
        format!("alarm {}{store}: {} {}", alarm.code, alarm.text, alarm.next)
    });
    std::iter::once(format!("state {}", shown.state)).chain(told).collect()
}

fn answer(checks: &[Check], notes: &[String], verbose: bool) -> (StatusCode, String) {
    let ready = checks.iter().all(|(_, check)| check.is_ok());
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // Failed checks come first, so that the limit hides only good ones.
    let wrong = checks.iter().filter(|(_, check)| check.is_err());
    let fine = checks.iter().filter(|(_, check)| verbose && check.is_ok());
    let shown: Vec<_> = wrong.chain(fine).collect();
    let mut text = String::new();
    for note in notes.iter().take(SHOWN) {
        let _ = writeln!(text, "[!] {note}");
    }
    for (name, check) in shown.iter().take(SHOWN) {
        // Writing to a String cannot fail.
        let _ = match check {
            Ok(()) => writeln!(text, "[+] {name}: ok"),
            Err(why) => writeln!(text, "[-] {name}: {why}"),
        };
    }
    if let Some(more) = shown.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "... and {more} more");
    }
    text.push_str(if ready { "ready\n" } else { "not ready\n" });
    (status, text)
}

/// Returns the stores of which a complete reconciliation is on record, by this process or an earlier one.
fn were_read(posted: &Posted) -> HashSet<&StoreKey> {
    let stores = posted.seen.stores.iter();
    stores.filter(|store| store.complete_at.is_some()).map(|store| &store.key).collect()
}

/// Checks a store. What ails it is told in the installation's language, like the alarms beside it; the checks' own words are
/// the same everywhere.
fn of_store(health: &StoreHealth, was_read: bool, locale: Locale) -> Result<(), String> {
    match (health.is_held(), &health.last, &health.problem) {
        (_, _, Some(problem)) => Err(problem.message(locale)),
        (false, ..) => Err("not ours yet".to_owned()),
        (_, None, _) => Err(NOT_RECONCILED.to_owned()),
        (_, Some((_, RunState::Failed)), _) if !was_read => Err(NOT_RECONCILED.to_owned()),
        _ => Ok(()),
    }
}

/// Fails the token of each of our stores whose credential has a failing alarm, whenever that token ends. A warning keeps
/// nobody from coming here: our token works beside another program. Nor does another machine's store.
fn refuse_tokens(checks: &mut Vec<Check>, verdict: &Verdict, is_ours: impl Fn(&StoreKey) -> bool) {
    for alarm in &verdict.alarms {
        let Some(store) = alarm.store.as_ref().filter(|store| is_ours(store)) else { continue };
        let is_out = alarm.severity == Severity::Failing;
        if is_out && matches!(alarm.code, Code::CredentialRefused | Code::ForeignLogin) {
            let token = format!("token {store}");
            checks.retain(|(name, _)| *name != token);
            checks.push((token, Err(alarm.code.as_str().to_owned())));
        }
    }
}

/// Returns the expired tokens of the stores that this process holds, and the valid ones too where every check is shown.
async fn tokens(state: &State, is_verbose: bool) -> Vec<Check> {
    let now = state.clock.now();
    let ends = match state.store.overview().token_ends().await {
        Ok(ends) => ends,
        Err(error) => return vec![("tokens".into(), Err(error.to_string()))],
    };
    let is_ours = |store: &str| {
        StoreKey::new(store).is_ok_and(|key| state.health.see(&key, StoreHealth::is_held) == Some(true))
    };
    let check = |end: DateTime<Utc>| match end > now {
        true => Ok(()),
        false => Err(format!("expired at {}", end.format("%Y-%m-%dT%H:%M:%SZ"))),
    };
    ends.into_iter()
        .map(|(store, end)| (store, check(end)))
        .filter(|(store, check)| (is_verbose || check.is_err()) && is_ours(store))
        .map(|(store, check)| (format!("token {store}"), check))
        .collect()
}

/// Uses one query for all stores: it runs every few seconds, and a hub has thousands of stores.
async fn inbox(state: &State) -> Result<(), String> {
    let waiting = state.store.inbox().oldest_by_store().await.map_err(|error| error.to_string())?;
    let shown = state.snapshots.shown.get();
    let receives = shown.iter().filter(|store| store.plan.receives);
    let receiving: HashSet<&str> = receives.map(|store| store.key.as_str()).collect();
    let stuck = |oldest: DateTime<Utc>| Some(state.clock.now() - oldest).filter(|age| *age > STUCK);
    let first = waiting.into_iter().filter(|(store, _)| receiving.contains(store.as_str()));
    match first.min_by_key(|(_, oldest)| *oldest).and_then(|(store, oldest)| Some((store, stuck(oldest)?))) {
        Some((store, age)) => Err(format!("a delivery of {store} waits for {} min", age.num_minutes())),
        None => Ok(()),
    }
}

fn disk(state: &State) -> Result<(), String> {
    match super::collectors::free(&state.store) {
        Some(free) if free < LEAST_DISK => Err(format!("only {} MiB are free", free >> 20)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Text;
    use espelho_sync_engine::plan::alarms::{Alarm, State as Overall};

    use super::*;

    fn bad(name: &str) -> Check {
        (name.to_owned(), Err("why".to_owned()))
    }

    fn good(name: &str) -> Check {
        (name.to_owned(), Ok(()))
    }

    #[test]
    fn only_what_is_wrong_is_told_unless_everything_is_asked_for() {
        assert_eq!(answer(&[good("a")], &[], false), (StatusCode::OK, "ready\n".to_owned()));
        assert_eq!(answer(&[good("a")], &[], true).1, "[+] a: ok\nready\n");
        let (status, text) = answer(&[good("a")], &["outbox".to_owned()], true);
        assert_eq!((status.as_u16(), text.as_str()), (200, "[!] outbox\n[+] a: ok\nready\n"));
        let (status, text) = answer(&[good("a"), bad("b")], &[], false);
        assert_eq!((status.as_u16(), text.as_str()), (503, "[-] b: why\nnot ready\n"));
        assert_eq!(answer(&[good("a"), bad("b")], &[], true).1, "[-] b: why\n[+] a: ok\nnot ready\n");
    }

    // withstands: F131
    #[test]
    fn thousands_of_stores_are_a_bounded_answer_and_what_is_wrong_stands_in_it() {
        let mut checks: Vec<Check> = (0..3_000).map(|n| good(&n.to_string())).collect();
        checks.push(bad("last"));
        let text = answer(&checks, &[], true).1;
        assert!(text.starts_with("[-] last: why\n") && text.contains("... and 2801 more\n"), "{text}");
        assert!(text.lines().count() < 210);
    }

    #[test]
    fn a_token_is_no_good_while_its_credential_has_an_alarm_that_is_no_warning() {
        let alarm = |code, store: &str| Alarm {
            code,
            severity: if store == "shared" { Severity::Warning } else { Severity::Failing },
            store: Some(StoreKey::new(store).unwrap()),
            cause: String::new(),
            count: 1,
            since: None,
            detail: String::new(),
            row: None,
            text: Text::new("x"),
        };
        let alarms = vec![
            alarm(Code::CredentialRefused, "a"),
            alarm(Code::ForeignLogin, "b"),
            alarm(Code::Failed, "c"),
            alarm(Code::CredentialRefused, "elsewhere"),
            alarm(Code::ForeignLogin, "shared"),
        ];
        let ours: HashSet<StoreKey> = ["a", "b", "c", "shared"].map(|key| StoreKey::new(key).unwrap()).into();
        let verdict = Verdict { state: Overall::Failing, alarms, unproved: Vec::new() };
        let mut checks = vec![good("token a"), good("token c"), good("token shared")];
        refuse_tokens(&mut checks, &verdict, |store| ours.contains(store));
        let refused = |name: &str, code: &str| (name.to_owned(), Err(code.to_owned()));
        assert_eq!(
            checks,
            [
                good("token c"),
                good("token shared"),
                refused("token a", "credential_refused"),
                refused("token b", "foreign_login")
            ]
        );
    }

    #[test]
    fn a_store_that_is_not_ours_or_was_never_reconciled_or_has_a_problem_is_not_ready() {
        let fine = StoreHealth {
            held_since: Some(DateTime::UNIX_EPOCH),
            last: Some((DateTime::UNIX_EPOCH, RunState::Complete)),
            ..StoreHealth::default()
        };
        let with = |last| StoreHealth { last: Some((DateTime::UNIX_EPOCH, last)), ..fine.clone() };
        for (health, was_read, is_ready) in [
            (fine.clone(), false, true),
            (with(RunState::Partial), false, true),
            (with(RunState::Failed), true, true),
            (with(RunState::Failed), false, false),
            (StoreHealth { held_since: None, ..fine.clone() }, true, false),
            (StoreHealth { last: None, ..fine.clone() }, true, false),
            (StoreHealth { problem: Some(Text::new("x")), ..fine.clone() }, true, false),
        ] {
            assert_eq!(
                of_store(&health, was_read, Locale::default()).is_ok(),
                is_ready,
                "{health:?} {was_read}"
            );
        }
    }
}
