//! The alarms of the running service (PRODUCT contract 4). The service observes every few seconds, decides in one place
//! ([`espelho_sync_engine::plan::alarms`]), records for `v_alarms`, and shows one board on every surface.

mod backups;
mod database;
mod heartbeats;
mod observe;
mod rows;
mod shown;

use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{
    Clock, StoreKey, text,
    text::{Arg, Language, Locale},
};
use espelho_store::{AlarmRow, PeerAlarm, ServiceInstance, Store};
use espelho_sync_engine::{
    WorkSuspension,
    plan::alarms::{Code, DatabaseTrouble, Observations, Severity, State, Verdict, decide, is_held_up},
};
use tokio_util::sync::CancellationToken;

pub(crate) use heartbeats::{Beat, Heartbeats, Hour, MINUTES};
use observe::Facts;
pub(crate) use observe::offline;
pub(crate) use shown::{ShownAlarm, ShownVerdict};

use self::database::Prober;
use crate::status::{Live, ShownStores};

/// How often the service observes everything. It raises an alarm within a minute of its cause, including the delay of
/// the cause's own rule.
const EVERY: Duration = Duration::from_secs(3);
/// The shortest pause between two observations: a refused login, and an alarm that is not on record yet, wait no longer.
const SOON: Duration = Duration::from_millis(200);

/// The latest verdict with its observations, and the last hour of each store.
#[derive(Default)]
pub(crate) struct Board {
    posted: Mutex<Option<Arc<Posted>>>,
    pub(crate) heartbeats: Heartbeats,
}

/// A verdict and its observations.
pub(crate) struct Posted {
    pub(crate) seen: Observations,
    pub(crate) verdict: Verdict,
    /// The alarms that other processes on the same database have found.
    others: Arc<[PeerAlarm]>,
    /// The installation's language, in which they are recorded.
    recorded_in: Language,
}

impl Posted {
    /// Returns when the marketplace last answered for each store, as the verdict knows it.
    pub(crate) fn answers(&self) -> HashMap<&str, DateTime<Utc>> {
        self.seen.stores.iter().filter_map(|seen| Some((seen.key.as_str(), seen.answered_at?))).collect()
    }

    /// Returns the verdict of all processes in the words of a language.
    pub(crate) fn shown(&self, locale: Locale) -> ShownVerdict {
        let others = self.others.iter().map(|other| ShownAlarm::recorded(other, self.recorded_in, locale));
        ShownVerdict::of(&self.verdict, locale).with_others(others)
    }
}

impl Board {
    /// Returns the latest verdict; `None` until the first complete observation.
    pub(crate) fn latest(&self) -> Option<Arc<Posted>> {
        self.posted.lock().clone()
    }

    fn post(&self, seen: Observations, verdict: Verdict, others: Arc<[PeerAlarm]>, recorded_in: Language) {
        self.heartbeats.note(&seen, &verdict);
        *self.posted.lock() = Some(Arc::new(Posted { seen, verdict, others, recorded_in }));
    }
}

/// The start times of the alarms whose cause does not give one.
#[derive(Default)]
struct Raised(HashMap<(Code, Option<StoreKey>, String), DateTime<Utc>>);

impl Raised {
    /// Dates every alarm, and forgets alarms that are gone.
    fn date(&mut self, mut verdict: Verdict, at: DateTime<Utc>) -> Verdict {
        let mut standing = HashMap::new();
        for alarm in &mut verdict.alarms {
            let key = (alarm.code, alarm.store.clone(), alarm.cause.clone());
            let since = *alarm.since.get_or_insert(self.0.get(&key).copied().unwrap_or(at));
            standing.insert(key, since);
        }
        self.0 = standing;
        verdict
    }
}

/// When a cause that explains why a store is late was last seen.
#[derive(Default)]
struct HeldUp(HashMap<StoreKey, DateTime<Utc>>);

impl HeldUp {
    /// Notes the stores that are held up now, and tells of each when it last was.
    fn note(&mut self, seen: &mut Observations) {
        let held_up: Vec<bool> = seen.stores.iter().map(|store| is_held_up(seen, store)).collect();
        for (store, is_held_up) in seen.stores.iter_mut().zip(held_up) {
            if is_held_up {
                self.0.insert(store.key.clone(), seen.at);
            }
            store.held_up_at = self.0.get(&store.key).copied();
        }
    }
}

/// Observes and decides until the service stops.
pub(crate) struct Keeper {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shown: Arc<ShownStores>,
    pub(crate) live: Live,
    /// The name of this process among those that share the database.
    pub(crate) instance: String,
    /// The name of this machine, where others may share the database.
    pub(crate) machine: Option<String>,
    /// The language of the recorded texts.
    pub(crate) locale: Locale,
    pub(crate) board: Arc<Board>,
    /// Holds the work on all stores while the database takes no writes.
    pub(crate) suspension: WorkSuspension,
    pub(crate) stop: CancellationToken,
}

impl Keeper {
    /// Runs until the service stops, then removes this process's alarms from the record.
    pub(crate) async fn run(self) {
        self.write_words().await;
        let mut prober = Prober::new(self.store.clone(), Arc::clone(&self.clock));
        let (mut facts, mut raised) = (Facts::of(&self.instance), Raised::default());
        let mut held_up = HeldUp::default();
        let mut has_recalled = false;
        while !self.stop.is_cancelled() {
            let before = self.board.latest();
            let record = self.record(before.as_deref());
            let database = prober.probe(record).await;
            self.hold_work(database.trouble.as_ref());
            facts.refresh(&self.store, &self.clock, self.live.health.last_ended()).await;
            if !has_recalled && let Some(past) = facts.past_work(&self.shown.get(), self.clock.now()) {
                self.board.heartbeats.recall(&past);
                has_recalled = true;
            }
            let mut seen = facts.observations(&self.shown.get(), &self.live, database, self.clock.now());
            held_up.note(&mut seen);
            let verdict = of_machine(decide(&seen), self.machine.as_deref());
            let verdict = raised.date(verdict, seen.at);
            let recorded = before.as_deref().map(|before| names(&before.verdict)).unwrap_or_default();
            let is_recorded = recorded == names(&verdict);
            self.board.post(seen, verdict, facts.others(), self.locale.language);
            self.pause(if is_recorded { EVERY } else { SOON }).await;
        }
        if let Err(error) = self.store.alarms().end_service(&self.instance).await {
            tracing::debug!(%error, "cannot mark the service as stopped");
        }
    }

    /// Waits for the next observation: it comes at once when the marketplace refuses or accepts a credential anew.
    async fn pause(&self, pause: Duration) {
        let news = async {
            self.clock.sleep(SOON).await;
            self.live.store_metrics.credential_news().await;
        };
        tokio::select! {
            () = self.clock.sleep(pause) => {}
            () = news => {}
            () = self.stop.cancelled() => {}
        }
    }

    /// Asks nothing of the marketplace while its answers could not be kept.
    fn hold_work(&self, trouble: Option<&DatabaseTrouble>) {
        let refuses = trouble.is_some_and(|trouble| trouble.kind.refuses_writes());
        if !self.suspension.set_refuses_writes(refuses) {
            return;
        }
        match trouble.filter(|_| refuses) {
            Some(trouble) => tracing::error!(
                kind = ?trouble.kind,
                detail = trouble.detail,
                "the database takes no writes; nothing is read or sent until it does"
            ),
            None => tracing::info!("the database takes writes again; going on"),
        }
    }

    fn record(&self, posted: Option<&Posted>) -> (ServiceInstance, Vec<AlarmRow>) {
        let state = posted.map_or(State::Unknown, |posted| posted.verdict.state);
        let alarms = posted.map(|posted| posted.verdict.alarms.as_slice()).unwrap_or_default();
        let service = ServiceInstance {
            instance: self.instance.clone(),
            process: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.live.started_at,
            state: state.as_str().to_owned(),
        };
        (service, alarms.iter().map(|alarm| shown::row(alarm, self.locale)).collect())
    }

    /// Records the sentences that the views show when no service runs.
    async fn write_words(&self) {
        if let Err(error) = self.store.alarms().keep_service_words(self.locale).await {
            tracing::warn!(%error, "the texts of the views are not in the installation's language");
        }
    }
}

/// Returns what tells one list of alarms from another.
fn names(verdict: &Verdict) -> Vec<(Code, Option<&StoreKey>, &str, Severity)> {
    let alarms = verdict.alarms.iter();
    alarms.map(|alarm| (alarm.code, alarm.store.as_ref(), alarm.cause.as_str(), alarm.severity)).collect()
}

/// Tells the alarms about this machine from those that another one on the same database finds about itself. Their words
/// name the machine here, before any surface shows them, so that all show the same sentence.
fn of_machine(mut verdict: Verdict, machine: Option<&str>) -> Verdict {
    let Some(machine) = machine else { return verdict };
    let own = verdict.alarms.iter_mut().filter(|alarm| alarm.code.is_about_machine());
    for alarm in own {
        match alarm.code {
            // Each machine has channels of its own, of the same names.
            Code::NoticeFailed => alarm.cause = format!("{}@{machine}", alarm.cause),
            _ if alarm.cause.is_empty() => machine.clone_into(&mut alarm.cause),
            _ => (),
        }
        let (said, next) = (alarm.text.clone(), Arg::Next(Box::new(alarm.text.clone())));
        alarm.text = text!("alarm-of-machine", machine = machine, said = said, next = next);
    }
    verdict
}

#[cfg(test)]
mod tests {
    use espelho_model::symptom::Symptom;
    use espelho_sync_engine::plan::alarms::{Alarm, CredentialKind, CredentialTrouble, DatabaseKind};

    use super::{
        heartbeats::tests::{at, seen},
        *,
    };

    #[test]
    fn a_store_is_held_up_by_what_has_an_alarm_and_that_is_known_after_its_end() {
        let mut held_up = HeldUp::default();
        let mut note = |second: i64, change: &dyn Fn(&mut Observations)| {
            let mut seen = seen(second, Some(second));
            change(&mut seen);
            held_up.note(&mut seen);
            seen.stores[0].held_up_at
        };
        let locked_since = |since: i64| {
            move |seen: &mut Observations| {
                seen.database = Some(DatabaseTrouble {
                    kind: DatabaseKind::Busy,
                    since: at(since),
                    symptom: Symptom::Status(503),
                    detail: String::new(),
                    holder: None,
                });
            }
        };
        let refused = |seen: &mut Observations| {
            let (kind, place) = (CredentialKind::Refused, String::new());
            seen.stores[0].credential = Some(CredentialTrouble {
                kind,
                has_token: false,
                since: seen.at,
                place,
                refused_fields: None,
            });
        };
        assert_eq!(note(0, &|_| ()), None);
        assert_eq!(note(5, &locked_since(0)), None, "it may pass, and is no alarm yet");
        assert_eq!(note(25, &locked_since(0)), Some(at(25)));
        assert_eq!(note(60, &|_| ()), Some(at(25)), "it is over");
        assert_eq!(note(90, &refused), Some(at(90)));
    }

    #[test]
    fn what_is_about_a_machine_is_another_cause_on_each_and_names_it_on_every_surface() {
        let locale = Locale::default();
        for (code, cause, machine, expected) in [
            (Code::ClockWrong, "", Some("hub-1"), "hub-1"),
            (Code::ClockWrong, "", None, ""),
            (Code::NoticeFailed, "smtp", Some("hub-1"), "smtp@hub-1"),
            (Code::NoticeFailed, "smtp", Some("hub-2"), "smtp@hub-2"),
            (Code::NoticeFailed, "smtp", None, "smtp"),
            // One marketplace is one cause, wherever it is not reached from.
            (Code::MarketplaceUnreachable, "http://a", Some("hub-1"), "http://a"),
            (Code::Late, "", Some("hub-1"), ""),
        ] {
            let alarm = Alarm {
                code,
                severity: Severity::Warning,
                store: None,
                cause: cause.to_owned(),
                count: 1,
                since: None,
                detail: String::new(),
                row: None,
                text: text!("alarm-clock-behind", span = Arg::Seconds(90)),
            };
            let (said, next) = (alarm.text.message(locale), alarm.text.next(locale));
            let verdict = Verdict { state: State::Warning, alarms: vec![alarm], unproved: Vec::new() };
            let verdict = of_machine(verdict, machine);
            assert_eq!(verdict.alarms[0].cause, expected, "{code} {machine:?}");
            let named = machine.filter(|_| code.is_about_machine());
            let said = named.map_or_else(|| said.clone(), |machine| format!("Máquina {machine}: {said}"));
            let (shown, recorded) =
                (ShownAlarm::of(&verdict.alarms[0], locale), shown::row(&verdict.alarms[0], locale));
            assert_eq!((&shown.text, Some(&shown.next)), (&said, next.as_ref()), "{code} {machine:?}");
            assert_eq!((recorded.text, recorded.next), (shown.text, shown.next));
        }
    }
}
