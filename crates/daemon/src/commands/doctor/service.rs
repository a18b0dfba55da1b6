//! Checks the service on this machine, and shows its alarms.

use std::{io, time::Duration};

use espelho_model::{
    symptom::Symptom,
    text,
    text::{Arg, Locale, Text},
};
use espelho_store::Store;
use espelho_sync_engine::plan::alarms::{Code, decide};
use serde_json::{Value, json};

use super::{facts::Facts, finding::Finding};
use crate::{
    alarms::{self, ShownVerdict},
    commands::reading::is_of_another,
    http::NOT_RECONCILED,
    local, ports,
};

/// The alarms that a login ends.
const LOGIN_MENDS: [&str; 3] = ["credential_refused", "foreign_login", "token_expires"];
/// The number of questions to the service after a login, and the pause between them: it ends the alarms.
const LOGIN_TURNS: u32 = 10;
const LOGIN_TURN: Duration = Duration::from_secs(1);

/// The wait for the service's answers, which a slow database may delay; within doctor's limit for a check.
const ANSWER: Duration = Duration::from_secs(4);

pub(super) async fn look(facts: &Facts) -> Finding {
    let listen = facts.configuration.installation.http.listen;
    let address = listen.to_string();
    let status = format!("/status?lang={}", facts.language);
    let answers = async {
        tokio::join!(
            local::request(listen, "GET", &status, None, &facts.clock),
            local::request(listen, "GET", "/readyz", None, &facts.clock),
        )
    };
    let (answer, ready) = tokio::select! {
        answers = answers => answers,
        () = facts.clock.sleep(ANSWER) => return silent(facts, &address).await,
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            return stopped(facts, text!("doctor-service-stopped", address = address)).await;
        }
        Err(error) => {
            if let Some(taken) = ports::taken_by_other("http.listen", listen) {
                return taken_by_other(taken);
            }
            return Finding::yellow(text!(
                "doctor-service-mute",
                address = address,
                cause = local::failure(&error)
            ));
        }
    };
    let status = answer.status;
    let told = answer.text().await.ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(told) = told.filter(|told| status == 200 && told.is_object()) else {
        return Finding::red(match ports::taken_by_other("http.listen", listen) {
            Some(taken) => return taken_by_other(taken),
            None => text!("doctor-service-mute", address = address, cause = format!("HTTP {status}")),
        });
    };
    let word = |name: &str| told["service"][name].as_str();
    if is_of_another((word("installation"), word("file")), &facts.configuration, &facts.clock).await {
        return stopped(facts, text!("doctor-service-other", address = address)).await;
    }
    let readiness = match ready {
        Ok(answer) => Readiness::of(answer.status, &answer.text().await.unwrap_or_default()),
        Err(_) => Readiness::Not,
    };
    let finding = judge(readiness, &told, &address);
    let _ = facts.service.set(told);
    finding
}

/// Returns the finding that another program has the service's port.
fn taken_by_other(taken: Text) -> Finding {
    let step = Arg::Next(Box::new(taken.clone()));
    Finding::red(text!("doctor-service-taken", taken = taken, step = step))
}

/// Returns the finding that something takes the connection and answers nothing: the service hangs if it gives the database
/// no sign of life either.
async fn silent(facts: &Facts, address: &str) -> Finding {
    let lives = match facts.store() {
        Some(store) => !store.alarms().live_instances().await.is_ok_and(|live| live.is_empty()),
        None => true,
    };
    let mute = text!("doctor-service-mute", address = address, cause = Symptom::TimedOut.text());
    match lives {
        true => Finding::yellow(mute),
        false => stopped(facts, text!("doctor-service-silent", address = address)).await,
    }
}

/// Returns the finding that the installation's service does not answer here.
async fn stopped(facts: &Facts, found: Text) -> Finding {
    let Some(store) = facts.store() else { return judge_stopped(found, false, false) };
    let has_run = store.alarms().last_beat().await.is_ok_and(|beat| beat.is_some());
    // The services of a file run on this machine. One that was killed a moment ago still counts as live.
    let may_run_elsewhere =
        store.file().is_none() && !store.alarms().live_instances().await.is_ok_and(|live| live.is_empty());
    judge_stopped(found, has_run, may_run_elsewhere)
}

/// A service that has run and stopped fails, as its alarm does. Before the first start there is none that
/// should run, and on one PostgreSQL it may run on another machine.
fn judge_stopped(found: Text, has_run: bool, may_run_elsewhere: bool) -> Finding {
    match has_run && !may_run_elsewhere {
        true => Finding::red(found),
        false => Finding::yellow(found),
    }
}

/// The service's readiness, by its answer at `/readyz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readiness {
    Ready,
    /// Nothing is wrong but that stores have their first reconciliation since the start before them.
    Reconciling,
    Not,
}

impl Readiness {
    fn of(status: u16, body: &str) -> Self {
        let waits = |line: &str| line.starts_with("[-] store ") && line.ends_with(NOT_RECONCILED);
        match (status, body.strip_suffix("not ready\n")) {
            (200, _) => Self::Ready,
            (_, Some(wrong)) if !wrong.is_empty() && wrong.lines().all(waits) => Self::Reconciling,
            _ => Self::Not,
        }
    }
}

/// A service that fails says why it is not ready; one that has just started has nothing to say yet.
fn judge(readiness: Readiness, told: &Value, address: &str) -> Finding {
    let version = told["service"]["version"].as_str().unwrap_or("?");
    let mut alarms = told["alarms"].as_array().into_iter().flatten();
    let why = alarms.find(|alarm| alarm["severity"] == "failing").and_then(|alarm| alarm["text"].as_str());
    match (readiness, why) {
        (Readiness::Ready, _) => {
            Finding::green(text!("doctor-service", version = version, address = address))
        }
        (_, Some(why)) => {
            Finding::yellow(text!("doctor-service-unready", version = version, address = address, why = why))
        }
        (_, None) if reads_for_the_first_time(told) => {
            Finding::yellow(text!("doctor-service-first-reading", version = version, address = address))
        }
        // As the status has it: it works, and has its first reconciliation since the start before it.
        (Readiness::Reconciling, None) if told["state"] == "ok" => {
            Finding::green(text!("doctor-service-reconciling", version = version, address = address))
        }
        (_, None) => Finding::yellow(text!("doctor-service-not-ready", version = version, address = address)),
    }
}

/// Tells whether the service has a store whose first reading of orders has not ended: until then it is not ready.
fn reads_for_the_first_time(told: &Value) -> bool {
    let mut stores = told["stores"].as_array().into_iter().flatten();
    stores.any(|store| store["ours"] == true && store["first_reading_ended"] == false)
}

/// Returns the alarms: the service's, or those on record while none answers.
pub(super) async fn alarms(facts: &Facts) -> Vec<Finding> {
    match (facts.status(), facts.store()) {
        (None, Some(store)) => recorded_alarms(facts, store).await,
        (told, _) => alarms_told(told),
    }
}

/// Returns the alarms after a login. The service has ten seconds to see that it mends the stores' access.
pub(super) async fn alarms_after_login(facts: &Facts, mended: &[&str]) -> Vec<Finding> {
    if facts.status().is_none() {
        return alarms(facts).await;
    }
    let mut told = facts.status().cloned();
    for _ in 0..LOGIN_TURNS {
        told = status_again(facts).await.or(told);
        if !told.as_ref().is_some_and(|told| is_being_mended(told, mended)) {
            break;
        }
        facts.clock.sleep(LOGIN_TURN).await;
    }
    alarms_told(told.as_ref())
}

async fn status_again(facts: &Facts) -> Option<Value> {
    let listen = facts.configuration.installation.http.listen;
    let status = format!("/status?lang={}", facts.language);
    let answer = local::request(listen, "GET", &status, None, &facts.clock).await.ok()?;
    answer.text().await.ok().and_then(|text| serde_json::from_str(&text).ok()).filter(Value::is_object)
}

/// Tells whether an alarm stands that a login ends, of a store that has just logged in.
fn is_being_mended(told: &Value, mended: &[&str]) -> bool {
    let ends = |alarm: &Value| {
        alarm["code"].as_str().is_some_and(|code| LOGIN_MENDS.contains(&code))
            && alarm["store"].as_str().is_some_and(|store| mended.contains(&store))
    };
    told["alarms"].as_array().is_some_and(|alarms| alarms.iter().any(ends))
}

/// Returns the service's alarms as findings with the same codes. The service may have another version: fields that can
/// be read are shown.
fn alarms_told(told: Option<&Value>) -> Vec<Finding> {
    let alarms = told.and_then(|told| told["alarms"].as_array()).into_iter().flatten();
    alarms.map(|alarm| alarm_of(alarm).named("alarm", Duration::ZERO)).collect()
}

/// Returns the alarms that the database has while no service answers, but for that: the service has its own finding.
async fn recorded_alarms(facts: &Facts, store: &Store) -> Vec<Finding> {
    let configuration = &facts.configuration;
    let locale = Locale { language: facts.language, ..configuration.locale() };
    let seen = alarms::offline(store, &configuration.shown(), facts.clock.now()).await;
    // Where the database does not answer, its own check says so.
    let Ok(seen) = seen else { return Vec::new() };
    let verdict = ShownVerdict::of(&decide(&seen), locale);
    let others = verdict.alarms.into_iter().filter(|alarm| alarm.code != Code::ServiceStopped.as_str());
    alarms_told(Some(&json!({ "alarms": others.collect::<Vec<_>>() })))
}

fn alarm_of(alarm: &Value) -> Finding {
    let word = |name: &str| alarm[name].as_str().unwrap_or_default();
    let first = |names: &[&'static str]| names.iter().map(|name| word(name)).find(|word| !word.is_empty());
    let (said, cause) = (first(&["text", "pt"]).unwrap_or_default(), first(&["cause"]).unwrap_or_default());
    // The sentence of a pause has its part in the reader's language.
    let is_said = said.contains(cause) || first(&["code"]) == Some(Code::Paused.as_str());
    let said = match is_said {
        true => said.to_owned(),
        false => format!("{} ({cause})", said.trim_end_matches('.')).trim_start().to_owned(),
    };
    let next = first(&["next", "hint"]).unwrap_or("espelho status");
    let code = first(&["code"]).unwrap_or("?");
    let found = text!("doctor-alarm", code = code, said = said, next = next);
    let fails = alarm["severity"] == "failing" || alarm["failing"] == true;
    let finding = if fails { Finding::red(found) } else { Finding::yellow(found) };
    let finding = Finding { is_authentication: fails && code == "credential_refused", ..finding };
    match alarm["store"].as_str() {
        Some(store) => finding.of(store),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;
    use serde_json::json;

    use super::{super::finding::State, *};

    #[test]
    fn a_stopped_service_fails_as_its_alarm_does_once_it_has_run() {
        for (has_run, may_run_elsewhere, state) in [
            (false, false, State::Yellow),
            (false, true, State::Yellow),
            (true, true, State::Yellow),
            (true, false, State::Red),
        ] {
            let finding = judge_stopped(Text::new("x"), has_run, may_run_elsewhere);
            assert_eq!(finding.state, state, "{has_run} {may_run_elsewhere}");
        }
    }

    #[test]
    fn only_the_first_reconciliation_since_the_start_is_a_reason_to_be_not_ready_that_is_well() {
        for (status, body, expected) in [
            (200, "ready\n", Readiness::Ready),
            (503, "[-] store a: not reconciled yet\nnot ready\n", Readiness::Reconciling),
            (503, "[-] store a: not reconciled yet\n[-] store b: not ours yet\nnot ready\n", Readiness::Not),
            (503, "[-] store a: not ours yet\nnot ready\n", Readiness::Not),
            (503, "[-] database: no answer\n[-] store a: not reconciled yet\nnot ready\n", Readiness::Not),
            (503, "[-] store a: not reconciled yet\n... and 9 more\nnot ready\n", Readiness::Not),
            (503, "not ready\n", Readiness::Not),
            (503, "", Readiness::Not),
        ] {
            assert_eq!(Readiness::of(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn a_service_that_is_not_ready_says_why_and_one_that_starts_says_so_unless_its_status_is_ok() {
        let failing = json!({"alarms": [{"severity": "failing", "text": "O banco de dados não responde."}]});
        let well = json!({"state": "ok", "stores": [{"ours": true, "first_reading_ended": true}]});
        let [first, ended] =
            [false, true].map(|ended| json!({"stores": [{"ours": true, "first_reading_ended": ended}]}));
        for (readiness, told, state, expected) in [
            (Readiness::Ready, &failing, State::Green, "responde em 127.0.0.1:1"),
            (
                Readiness::Not,
                &failing,
                State::Yellow,
                "não está pronto agora: O banco de dados não responde.",
            ),
            (Readiness::Reconciling, &failing, State::Yellow, "não está pronto agora"),
            (Readiness::Not, &json!({}), State::Yellow, "ainda não está pronto"),
            (Readiness::Reconciling, &first, State::Yellow, "primeira leitura"),
            (Readiness::Reconciling, &ended, State::Yellow, "ainda não está pronto"),
            (Readiness::Reconciling, &well, State::Green, "primeira conciliação desde o início"),
            // Another machine has the store, or the database does not answer at this moment.
            (Readiness::Not, &well, State::Yellow, "ainda não está pronto"),
        ] {
            let finding = judge(readiness, told, "127.0.0.1:1");
            let said = finding.found.message(Locale::default());
            assert_eq!(finding.state, state, "{readiness:?} {told}");
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn an_alarm_that_a_login_mends_is_waited_for_in_the_stores_that_have_logged_in() {
        for (code, mended, expected) in [
            ("credential_refused", &["a"][..], true),
            ("foreign_login", &["b", "a"], true),
            ("token_expires", &["a"], true),
            ("credential_refused", &["b"], false),
            ("credential_refused", &[], false),
            ("late", &["a"], false),
        ] {
            let told = json!({"alarms": [{"code": code, "store": "a"}, {"code": "late", "store": null}]});
            assert_eq!(is_being_mended(&told, mended), expected, "{code} {mended:?}");
        }
    }

    #[test]
    fn alarms_keep_their_codes_whatever_shape_the_service_gives_them() {
        let told = json!({"alarms": [
            {"code": "late", "severity": "warning", "store": null, "count": 1, "text": "atrasado", "next": "espelho status"},
            {"code": "credential_refused", "severity": "failing", "store": "a", "text": "senha", "next": "x"},
            {"code": "run", "failing": true, "store": "a", "pt": "falhou", "en": "failed", "cause": "c", "hint": "h"},
            7,
        ]});
        let found = alarms_told(Some(&told));
        let states: Vec<_> = found.iter().map(|finding| (finding.state, finding.is_authentication)).collect();
        assert_eq!(
            states,
            [(State::Yellow, false), (State::Red, true), (State::Red, false), (State::Yellow, false)]
        );
        let said: Vec<_> = found.iter().map(|finding| finding.found.message(Locale::default())).collect();
        assert_eq!(said[..3], ["late: atrasado", "credential_refused: senha", "run: falhou (c)"]);
        assert_eq!(found[2].found.next(Locale::default()).as_deref(), Some("h"));
        assert!(alarms_told(None).is_empty() && alarms_told(Some(&json!({}))).is_empty());
    }
}
