//! Checks the service on this machine, and shows its alarms.

use std::time::Duration;

use espelho_model::{text, text::Locale};
use espelho_store::Store;
use espelho_sync_engine::plan::alarms::{Code, decide};
use serde_json::{Value, json};

use super::{facts::Facts, finding::Finding};
use crate::{
    alarms::{self, ShownVerdict},
    local,
};

pub(super) async fn look(facts: &Facts) -> Finding {
    let listen = facts.configuration.installation.http.listen;
    let address = listen.to_string();
    let status = format!("/status?lang={}", facts.language);
    // A slow database may delay both answers.
    let (answer, ready) = tokio::join!(
        local::request(listen, "GET", &status, None, &facts.clock),
        local::request(listen, "GET", "/readyz", None, &facts.clock),
    );
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            let stopped = text!("doctor-service-stopped", address = address);
            let is_missed = match facts.store() {
                Some(store) => is_missed(store).await,
                None => false,
            };
            return if is_missed { Finding::red(stopped) } else { Finding::yellow(stopped) };
        }
        Err(error) => {
            return Finding::yellow(text!(
                "doctor-service-mute",
                address = address,
                cause = error.to_string()
            ));
        }
    };
    let status = answer.status;
    let told = answer.text().await.ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(told) = told.filter(|told| status == 200 && told.is_object()) else {
        let cause = format!("HTTP {status}");
        return Finding::yellow(text!("doctor-service-mute", address = address, cause = cause));
    };
    let finding = judge(ready.is_ok_and(|answer| answer.status == 200), &told, &address);
    let _ = facts.service.set(told);
    finding
}

/// True where the service has run and runs nowhere now. Before the first start there is none that should, and on one
/// PostgreSQL it may run on another machine.
async fn is_missed(store: &Store) -> bool {
    let has_run = store.alarms().last_beat().await.is_ok_and(|beat| beat.is_some());
    has_run && store.alarms().live_instances().await.is_ok_and(|live| live.is_empty())
}

fn judge(is_ready: bool, told: &Value, address: &str) -> Finding {
    let version = told["service"]["version"].as_str().unwrap_or("?");
    match is_ready {
        true => Finding::green(text!("doctor-service", version = version, address = address)),
        false => Finding::yellow(text!("doctor-service-not-ready", version = version, address = address)),
    }
}

/// Returns the service's alarms as findings with the same codes. The service may have another version: fields that can
/// be read are shown.
pub(super) fn alarms_told(told: Option<&Value>) -> Vec<Finding> {
    let alarms = told.and_then(|told| told["alarms"].as_array()).into_iter().flatten();
    alarms.map(|alarm| alarm_of(alarm).named("alarm", Duration::ZERO)).collect()
}

/// Returns the alarms that the database has while no service answers, but for that: the service has its own finding.
pub(super) async fn recorded_alarms(facts: &Facts, store: &Store) -> Vec<Finding> {
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
    let said =
        [first(&["text", "pt"]), first(&["cause"])].into_iter().flatten().collect::<Vec<_>>().join(": ");
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
        assert_eq!(said[..3], ["late: atrasado", "credential_refused: senha", "run: falhou: c"]);
        assert_eq!(found[2].found.next(Locale::default()).as_deref(), Some("h"));
        assert!(alarms_told(None).is_empty() && alarms_told(Some(&json!({}))).is_empty());
    }
}
