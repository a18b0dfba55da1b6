//! systemd's watchdog, fed by progress and not by a timer; and its `STATUS=` line.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicI64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::{
    Clock, StoreKey, text,
    text::{Arg, Locale, Text},
    watch::{Stalled, Watch},
};
use sd_notify::NotifyState;

use espelho_sync_engine::plan::alarms::{State, Verdict};

use crate::{
    alarms::{Board, ShownAlarm},
    health::{Health, StoreHealth},
};

/// A step that takes longer hangs: an exchange with the marketplace ends after 30 s, a connection to the database is
/// given up after 30 s, and any task that waits longer than that marks itself as waiting.
const LONGEST: Duration = Duration::from_secs(60);
/// How often progress is checked if systemd does not set a watchdog interval.
const LOOK: Duration = Duration::from_secs(10);
/// The minimum interval between two writes of the status line.
const STATUS: Duration = Duration::from_secs(5);
/// How many messages may wait for systemd.
const WAITING: usize = 32;
/// How long the last message may wait for systemd.
const LAST: Duration = Duration::from_secs(1);
/// The maximum number of characters in the status line.
const MOST: usize = 240;

/// A lane that hangs, in words for people.
pub(crate) struct Hanging(Stalled);

impl fmt::Display for Hanging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stalled { store, lane, stalled } = &self.0;
        match store {
            Some(store) => write!(f, "store {store}: ")?,
            None => write!(f, "service: ")?,
        }
        write!(f, "lane {lane} has not moved for {} s", stalled.as_secs())
    }
}

impl Hanging {
    fn text(&self) -> Text {
        let Stalled { store, lane, stalled } = &self.0;
        let seconds = Arg::Seconds(i64::try_from(stalled.as_secs()).unwrap_or(i64::MAX));
        match store {
            Some(store) => {
                text!("service-store-hangs", store = store.as_str(), lane = *lane, seconds = seconds)
            }
            None => text!("service-hangs", lane = *lane, seconds = seconds),
        }
    }
}

/// Returns the lanes that hang.
pub(crate) fn stalled(watch: &Watch) -> Vec<Hanging> {
    watch.stalled(LONGEST).into_iter().map(Hanging).collect()
}

/// Feeds systemd's watchdog while everything makes progress; logs lanes that hang.
pub(crate) async fn feed(watch: Arc<Watch>) {
    let every = sd_notify::watchdog_enabled().map_or(LOOK, |interval| interval / 2);
    let mut hung = false;
    loop {
        let hanging = stalled(&watch);
        match hanging.first() {
            None => {
                if std::mem::take(&mut hung) {
                    tracing::info!("all lanes make progress again");
                }
                tell_again(&[NotifyState::Watchdog]);
            }
            Some(worst) if !std::mem::replace(&mut hung, true) => {
                let Hanging(Stalled { store, lane, stalled }) = worst;
                tracing::error!(
                    store = store.as_ref().map(tracing::field::display),
                    lane,
                    stalled_seconds = stalled.as_secs(),
                    hanging = hanging.len(),
                    "a lane hangs; the watchdog is no longer fed"
                );
            }
            Some(_) => {}
        }
        watch.sleep(every).await;
    }
}

/// Writes the status line whenever it has changed; returns where systemd takes none.
pub(crate) async fn write_status_line(
    watch: Arc<Watch>,
    health: Arc<Health>,
    board: Arc<Board>,
    locale: Locale,
) {
    let mut said = String::new();
    while has_systemd() {
        let (posted, stalled) = (board.latest(), stalled(&watch));
        let verdict = posted.as_ref().map(|posted| &posted.verdict);
        let line = health.see_map(|stores| line(stores, &stalled, verdict, watch.now(), locale));
        if line != said && tell_again(&[NotifyState::Status(&line)]) {
            said = line;
        }
        watch.sleep(STATUS).await;
    }
}

/// Returns one line: how many stores this process holds, how late they are, what is wrong. It is well only where the
/// verdict is.
fn line(
    stores: &BTreeMap<StoreKey, StoreHealth>,
    hanging: &[Hanging],
    verdict: Option<&Verdict>,
    now: DateTime<Utc>,
    locale: Locale,
) -> String {
    let held = || stores.values().filter(|store| store.is_held());
    let mut parts = vec![text!("service-stores", held = held().count(), all = stores.len())];
    match held().map(|store| store.last.map(|(at, _)| at)).min() {
        Some(Some(at)) => {
            // By the minute: systemd keeps each line.
            parts.push(match (now - at).num_minutes() {
                ..1 => text!("service-recent"),
                minutes => text!("service-oldest", age = Arg::Seconds(minutes * 60)),
            });
        }
        Some(None) => parts.push(text!("service-first")),
        None => {}
    }
    let alarms = verdict.map_or(&[][..], |verdict| &verdict.alarms);
    let alarmed: HashSet<&StoreKey> = alarms.iter().filter_map(|alarm| alarm.store.as_ref()).collect();
    let problems = || {
        let others = stores.iter().filter(|(key, _)| !alarmed.contains(key));
        others.filter_map(|(key, store)| Some((key, store.problem.as_ref()?)))
    };
    // A hub may have thousands: one is said, the others are counted.
    let first = hanging.first().map(|lane| lane.text().message(locale));
    let first = first.or_else(|| alarms.first().map(|alarm| named(&ShownAlarm::of(alarm, locale), locale)));
    let first = first
        .or_else(|| problems().next().map(|(key, problem)| format!("{key}: {}", problem.message(locale))));
    let count = hanging.len() + alarms.len() + problems().count();
    parts.push(match first {
        None if verdict.is_some_and(|verdict| verdict.state == State::Ok) => text!("service-well"),
        None => text!("service-unproved"),
        Some(first) if count == 1 => text!("service-problem", first = first),
        Some(first) => text!("service-problems", count = count, first = first),
    });
    let parts: Vec<String> = parts.iter().map(|part| part.message(locale)).collect();
    // systemd takes one line, and texts of others may contain anything.
    parts.join("; ").chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST).collect()
}

/// Returns an alarm's store and title. The ages in its sentence would make a new line every few seconds.
fn named(alarm: &ShownAlarm, locale: Locale) -> String {
    let title = alarm.title().message(locale);
    alarm.store.as_ref().map_or_else(|| title.clone(), |store| format!("{store}: {title}"))
}

/// Tells if systemd has started the service, and listens to it.
fn has_systemd() -> bool {
    std::env::var_os("NOTIFY_SOCKET").is_some()
}

/// Notifies systemd, if it is there. Never waits, even while nobody reads systemd's socket.
pub(crate) fn tell(states: &[NotifyState<'_>]) {
    hand_over(states, None);
}

/// Notifies systemd of what comes again anyway; drops it, and returns `false`, while an earlier message still waits.
fn tell_again(states: &[NotifyState<'_>]) -> bool {
    let is_free = PENDING.load(Ordering::Relaxed) <= 0;
    if is_free {
        hand_over(states, None);
    }
    is_free
}

/// Notifies systemd as the last thing before the end: waits a moment until the message is on its way.
pub(crate) fn tell_last(states: &[NotifyState<'_>]) {
    let (sent, is_sent) = sync_channel(1);
    if hand_over(states, Some(sent)) {
        let _ = is_sent.recv_timeout(LAST);
    }
}

/// Gives a message to the thread that sends it; `false` if there is no systemd, or it hangs.
fn hand_over(states: &[NotifyState<'_>], sent: Option<SyncSender<()>>) -> bool {
    if !has_systemd() {
        return false;
    }
    let lines = states.iter().map(ToString::to_string).collect();
    let is_taken = SENDER.try_send(Message { lines, sent }).is_ok();
    match is_taken {
        true => drop(PENDING.fetch_add(1, Ordering::Relaxed)),
        false => tracing::debug!("systemd does not read its messages; one was dropped"),
    }
    is_taken
}

/// A message to systemd, and whom to tell that it is sent.
struct Message {
    lines: Vec<String>,
    sent: Option<SyncSender<()>>,
}

/// The messages that are not sent yet.
static PENDING: AtomicI64 = AtomicI64::new(0);

/// The thread that writes to systemd's socket. A socket that nobody reads blocks its writer, and the service must go
/// on.
static SENDER: LazyLock<SyncSender<Message>> = LazyLock::new(|| {
    let (sender, messages) = sync_channel::<Message>(WAITING);
    std::thread::spawn(move || {
        for Message { lines, sent } in messages {
            let states: Vec<_> = lines.iter().map(|line| NotifyState::Custom(line)).collect();
            if let Err(error) = sd_notify::notify(&states) {
                tracing::debug!(%error, "cannot notify systemd");
            }
            PENDING.fetch_sub(1, Ordering::Relaxed);
            if let Some(sent) = sent {
                let _ = sent.send(());
            }
        }
    });
    sender
});

/// Reports a reload to systemd, until the service reports ready.
pub(crate) fn tell_reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::debug!(%error, "cannot notify systemd"),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use espelho_model::{sync::RunState, text::Text};
    use espelho_sync_engine::plan::alarms::{Alarm, Code, Severity};

    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000, 0).unwrap()
    }

    fn stores(of: &[(&str, bool, Option<i64>, Option<&str>)]) -> BTreeMap<StoreKey, StoreHealth> {
        let store = |&(key, held, minutes, problem): &(&str, bool, Option<i64>, Option<&str>)| {
            let last = minutes.map(|minutes| (now() - TimeDelta::minutes(minutes), RunState::Complete));
            (
                StoreKey::new(key).unwrap(),
                StoreHealth {
                    held_since: held.then(now),
                    last,
                    problem: problem.map(|problem| Text::new(problem.to_owned())),
                    ..StoreHealth::default()
                },
            )
        };
        of.iter().map(store).collect()
    }

    #[test]
    fn the_status_line_says_whose_stores_how_late_and_what_is_wrong() {
        let check = |of: &[(&str, bool, Option<i64>, Option<&str>)], expected: &str| {
            let well = verdict(State::Ok, Vec::new());
            assert_eq!(line(&stores(of), &[], Some(&well), now(), Locale::default()), expected);
        };
        check(&[("a", false, None, None)], "0 de 1 loja nesta instância; sem erros");
        check(
            &[("a", true, None, None), ("b", true, Some(3), None)],
            "2 de 2 lojas nesta instância; primeira conciliação em andamento; sem erros",
        );
        check(
            &[("a", true, Some(0), None), ("b", true, Some(300), Some("login refused"))],
            "2 de 2 lojas nesta instância; conciliação mais antiga há 5 h; 1 problema: b: login refused",
        );
        check(
            &[("a", true, Some(7), Some("x")), ("b", false, None, Some("y"))],
            "1 de 2 lojas nesta instância; conciliação mais antiga há 7 min; 2 problemas, o primeiro: a: x",
        );
    }

    fn verdict(state: State, alarms: Vec<Alarm>) -> Verdict {
        Verdict { state, alarms, unproved: Vec::new() }
    }

    fn alarm(code: Code, store: Option<&str>) -> Alarm {
        Alarm {
            code,
            severity: Severity::Failing,
            store: store.map(|store| StoreKey::new(store).unwrap()),
            cause: String::new(),
            count: 1,
            since: Some(now()),
            detail: String::new(),
            row: None,
            text: Text::new("x"),
        }
    }

    #[test]
    fn the_status_line_is_well_only_where_the_verdict_is() {
        let refused = Some("login refused");
        let failing = |code, store| Some(verdict(State::Failing, vec![alarm(code, store)]));
        for (verdict, problem, expected) in [
            (None, None, "sem prova de que tudo vai bem"),
            (Some(verdict(State::Unknown, Vec::new())), None, "sem prova de que tudo vai bem"),
            (failing(Code::DatabaseBusy, None), None, "1 problema: banco de dados bloqueado"),
            (failing(Code::UnknownStore, None), refused, "2 problemas, o primeiro: loja desconhecida"),
            (failing(Code::CredentialRefused, Some("a")), refused, "1 problema: a: login recusado"),
        ] {
            let stores = stores(&[("a", true, Some(0), problem)]);
            let line = line(&stores, &[], verdict.as_ref(), now(), Locale::default());
            assert!(line.ends_with(expected), "{line}");
        }
    }

    #[test]
    fn the_status_line_is_one_line_names_what_hangs_and_has_an_end() {
        let store = Some(StoreKey::new("a").unwrap());
        let hanging = [Hanging(Stalled { store, lane: "sweep", stalled: Duration::from_secs(73) })];
        let line = line(
            &stores(&[("a", true, Some(1), Some(&"x\n\u{1b}".repeat(200)))]),
            &hanging,
            None,
            now(),
            Locale::default(),
        );
        assert!(line.contains("a: parado há 73 s na tarefa de leituras periódicas"), "{line}");
        assert!(!line.contains(char::is_control));
        assert_eq!(line.chars().count(), MOST.min(line.chars().count()));
    }
}
