//! What is wrong, and what to do about it. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Alarm, Health, Picture, StorePicture, sweeps,
    wanted::is_wanted,
    words::{ago, count, span, state},
};

/// Without a complete run for so long, a store is late whatever its schedule is.
const LATE: TimeDelta = TimeDelta::hours(25);
/// A delivery that waits longer is stuck.
const STUCK_SECONDS: i64 = 300;
/// A token is renewed long before that.
const TOKEN: TimeDelta = TimeDelta::hours(24);

/// Fills in the alarms and the state that follows from them.
pub(super) fn judge(picture: &mut Picture) {
    let mut alarms = Vec::new();
    if !picture.service.running {
        alarms.push(Alarm {
            store: None,
            code: "service_stopped".into(),
            failing: false,
            pt: "o serviço não está em execução".into(),
            en: "the service is not running".into(),
            cause: None,
            hint: "systemctl start espelho".into(),
        });
    }
    for store in &picture.stores {
        of_store(store, picture.at, picture.service.running, &mut alarms);
    }
    // What fails comes first, and stays in the order of the stores.
    alarms.sort_by_key(|alarm| !alarm.failing);
    let failing = alarms.iter().any(|alarm| alarm.failing);
    picture.state = if failing { Health::Failing } else { Health::Ok };
    picture.alarms = alarms;
}

fn of_store(store: &StorePicture, at: DateTime<Utc>, running: bool, alarms: &mut Vec<Alarm>) {
    let not_held = running && store.ours == Some(false);
    alarms.extend(if not_held { unheld(store) } else { unwell(store, at) });
    alarms.extend(sweeps::alarms(store, at));
    alarms.extend(store.failures.iter().map(|failures| {
        let (entity, rows) = (&failures.entity, failures.rows);
        let (here, there) = match is_wanted(entity) {
            true => ("do ERP com problema", "of the ERP in trouble"),
            false => ("sem espelhar", "not mirrored"),
        };
        let pt = format!("{} {here} ({entity})", count(rows, "registro", "registros"));
        let en = format!("{} {there} ({entity})", count(rows, "row", "rows"));
        alarm(store, &failures.code, (pt, en), Some(&failures.error), &failures.hint)
    }));
    if let Some(age) = store.inbox.oldest_age_seconds.filter(|age| *age > STUCK_SECONDS) {
        let (backlog, age) = (store.inbox.backlog, span(age));
        let pt = format!("{} à espera, há {age}", count(backlog, "webhook", "webhooks"));
        let en = format!("{} waiting, the oldest for {age}", count(backlog, "webhook", "webhooks"));
        let hint = "see that the service runs and holds the store: espelho status";
        alarms.push(alarm(store, "inbox_late", (pt, en), None, hint));
    }
    if let Some(end) = store.token_expires_at.filter(|end| running && *end - at < TOKEN) {
        let left = (end - at).num_seconds();
        let words = match left > 0 {
            true => {
                (format!("o token vence em {}", span(left)), format!("the token expires in {}", span(left)))
            }
            false => ("o token venceu".into(), "the token has expired".into()),
        };
        let hint = "see why no login succeeds: journalctl -u espelho; check the credential";
        alarms.push(alarm(store, "token_expires", words, None, hint));
    }
}

fn alarm(
    store: &StorePicture,
    code: &str,
    (pt, en): (String, String),
    cause: Option<&str>,
    hint: &str,
) -> Alarm {
    let (cause, hint) = (cause.map(str::to_owned), hint.to_owned());
    Alarm { store: Some(store.store.clone()), code: code.into(), failing: true, pt, en, cause, hint }
}

/// A store that the answering service does not work on. That another instance does is how several share the stores.
fn unheld(store: &StorePicture) -> Option<Alarm> {
    if store.holder.as_ref().is_some_and(|holder| holder.held == Some(true)) {
        return None;
    }
    let words = ("o serviço não cuida da loja".into(), "the service does not work on the store".into());
    let hint = "correct the cause; the service takes the store by itself then";
    Some(alarm(store, "not_held", words, store.problem.as_deref(), hint))
}

/// What is wrong with a store's runs: what the service says itself, else what the record says.
fn unwell(store: &StorePicture, at: DateTime<Utc>) -> Option<Alarm> {
    let resync = format!("espelho --resync --store {}", store.store);
    if let Some(problem) = store.problem.as_ref().filter(|_| store.foreign_login) {
        let words = (
            "outro programa usa a credencial da loja; os webhooks continuam".into(),
            "another program uses the store's credential; webhooks go on".into(),
        );
        let (cause, hint) = apart(problem);
        return Some(alarm(store, "foreign_login", words, Some(cause), hint.unwrap_or(&resync)));
    }
    if let Some(problem) = &store.problem {
        let words = ("a última sincronização não terminou bem".into(), "the last run did not go well".into());
        let (cause, hint) = apart(problem);
        return Some(alarm(store, "run", words, Some(cause), hint.unwrap_or(&resync)));
    }
    let Some(run) = &store.last_run else {
        let words = ("nunca sincronizada".into(), "never reconciled".into());
        return Some(alarm(store, "never", words, None, &resync));
    };
    if run.state == "running" && store.holder.as_ref().is_none_or(|holder| holder.held == Some(false)) {
        let when = ago(at, run.started_at);
        let words = (
            format!("a última sincronização, de {when}, foi interrompida"),
            format!("the last run, begun {when}, was cut off"),
        );
        return Some(alarm(store, "run", words, None, &resync));
    }
    // Rows that fail are told one by one.
    let told_by_rows = run.state == "partial" && run.error.is_none() && !store.failures.is_empty();
    if !told_by_rows && !matches!(run.state.as_str(), "complete" | "running") {
        let when = ago(at, run.finished_at.unwrap_or(run.started_at));
        let words = (
            format!("última sincronização: {}, {when}", state(&run.state)),
            format!("last run: {}, {when}", run.state),
        );
        let (cause, hint) = run.error.as_deref().map(apart).unzip();
        return Some(alarm(store, "run", words, cause, hint.flatten().unwrap_or(&resync)));
    }
    late(store, at, &run.state, &resync)
}

fn late(store: &StorePicture, at: DateTime<Utc>, state: &str, resync: &str) -> Option<Alarm> {
    let since = match store.last_success {
        Some(success) if at - success <= LATE => return None,
        Some(success) => ago(at, success),
        // The first run may take hours.
        None if state != "complete" => return None,
        None => "nunca / never".to_owned(),
    };
    let words = (format!("sem sincronização completa: {since}"), format!("no complete run: {since}"));
    Some(alarm(store, "late", words, None, resync))
}

/// A cause and its next step, which runs put behind the last semicolon.
fn apart(told: &str) -> (&str, Option<&str>) {
    told.rsplit_once("; ").map_or((told, None), |(cause, hint)| (cause, Some(hint)))
}

#[cfg(test)]
mod tests {
    use crate::status::{Failures, Health, specimen};

    fn codes(change: impl FnOnce(&mut super::StorePicture)) -> Vec<String> {
        let mut store = specimen::store("a");
        change(&mut store);
        let picture = specimen::picture(vec![store]);
        assert_eq!(picture.state == Health::Failing, picture.alarms.iter().any(|a| a.failing));
        picture.alarms.into_iter().map(|alarm| alarm.code).collect()
    }

    #[test]
    fn a_store_that_is_well_raises_nothing() {
        assert_eq!(codes(|_| ()), [""; 0]);
    }

    // withstands: F088
    #[test]
    fn what_fails_is_named_by_its_code() {
        assert_eq!(codes(|s| (s.last_run, s.last_success) = (None, None)), ["never"]);
        assert_eq!(codes(|s| s.last_run.as_mut().unwrap().state = "failed".into()), ["run"]);
        let running = |held| {
            move |s: &mut super::StorePicture| {
                s.last_run.as_mut().unwrap().state = "running".into();
                s.holder.as_mut().unwrap().held = Some(held);
            }
        };
        assert_eq!(codes(running(false)), ["run"], "whoever did it was killed");
        assert_eq!(codes(running(true)), [""; 0]);
        assert_eq!(codes(|s| s.problem = Some("no answer; wait".into())), ["run"]);
        let foreign = |s: &mut super::StorePicture| {
            (s.problem, s.foreign_login) = (Some("ended again; make another".into()), true);
        };
        assert_eq!(codes(foreign), ["foreign_login"]);
        assert_eq!(codes(|s| s.inbox.oldest_age_seconds = Some(301)), ["inbox_late"]);
        assert_eq!(codes(|s| s.inbox.oldest_age_seconds = Some(20)), [""; 0]);
        assert_eq!(codes(|s| s.token_expires_at = Some(specimen::at(61))), ["token_expires"]);
        assert_eq!(codes(|s| s.last_success = Some(specimen::at(-26 * 60))), ["late"]);
        let unheld = |held| {
            move |s: &mut super::StorePicture| {
                (s.ours, s.holder.as_mut().unwrap().held) = (Some(false), Some(held));
            }
        };
        assert_eq!(codes(unheld(false)), ["not_held"]);
        assert_eq!(codes(unheld(true)), [""; 0], "another instance works on it");
    }

    #[test]
    fn rows_that_fail_are_told_with_their_own_next_step_and_not_twice() {
        let mut store = specimen::store("a");
        store.last_run.as_mut().unwrap().state = "partial".into();
        store.failures = vec![Failures {
            entity: "order".into(),
            code: "http_500".into(),
            rows: 1,
            error: "the marketplace answered 500".into(),
            hint: "wait".into(),
        }];
        let picture = specimen::picture(vec![store]);
        let [alarm] = &picture.alarms[..] else { panic!("{:?}", picture.alarms) };
        assert_eq!((alarm.code.as_str(), alarm.hint.as_str()), ("http_500", "wait"));
        assert_eq!(alarm.pt, "1 registro sem espelhar (order)");
        assert_eq!(alarm.en, "1 row not mirrored (order)");
    }

    #[test]
    fn the_next_step_of_a_run_is_taken_out_of_its_cause() {
        let mut store = specimen::store("a");
        store.problem = Some("no answer; really none; wait a little".into());
        let alarm = specimen::picture(vec![store]).alarms.remove(0);
        assert_eq!(alarm.cause.as_deref(), Some("no answer; really none"));
        assert_eq!(alarm.hint, "wait a little");
    }

    #[test]
    fn a_stopped_service_is_said_and_is_no_failure_by_itself() {
        let mut picture = specimen::picture(vec![specimen::store("a")]);
        picture.service.running = false;
        super::judge(&mut picture);
        assert_eq!(picture.state, Health::Ok);
        assert_eq!(picture.alarms[0].code, "service_stopped");
    }
}
