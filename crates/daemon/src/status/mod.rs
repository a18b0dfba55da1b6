//! The state of everything: one snapshot for `/status`, the status page and `espelho status`.
//!
//! `collect` reads it from the database, `live` adds what only the running service knows, [`crate::alarms`] gives the
//! verdict, `text` shows it on a terminal, [`crate::page`] in a browser.

mod collect;
mod columns;
mod live;
mod reading;
mod resources;
mod sweeps;
mod text;
mod wanted;

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use espelho_store::{FailureGroup, ReadSoFar, RunOnRecord, TableState};
use serde::{Deserialize, Serialize};

pub(crate) use collect::{Counted, collect};
pub(crate) use live::{Live, RateLimiters, ShownStore, ShownStores, SweepPlan};
pub(crate) use reading::WatchedReadings;
pub(crate) use resources::{count_age, counted, drift, here};
pub(crate) use sweeps::{periods as sweep_periods, rate};
pub(crate) use text::{TextStyle, holder, process, proof, show, verdict};
#[cfg(test)]
pub(crate) use wanted::tests::rows as wanted_specimen;
pub(crate) use wanted::{headings as intent_headings, long_queue, open_rows};

use crate::{
    alarms::{ShownAlarm, ShownVerdict},
    reload_state::ReloadState,
};

/// The status snapshot. Its JSON is the answer of `/status`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct StatusSnapshot {
    /// `ok`, `warning`, `failing` or `unknown`.
    pub state: String,
    /// When it was taken.
    pub at: DateTime<Utc>,
    /// The evidence for the state.
    #[serde(default)]
    pub proof: Proof,
    pub service: ServiceState,
    pub stores: Vec<StoreSnapshot>,
    /// What is wrong, the worst first.
    pub alarms: Vec<ShownAlarm>,
    /// What is not known.
    #[serde(default)]
    pub unproved: Vec<String>,
}

/// The newest evidence that things work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Proof {
    /// The marketplace answered a call.
    pub marketplace_at: Option<DateTime<Utc>>,
    /// The database took a write.
    pub database_at: Option<DateTime<Utc>>,
    /// A delivery arrived.
    pub webhook_at: Option<DateTime<Utc>>,
}

impl StatusSnapshot {
    /// Returns the snapshot of a service whose database has not answered yet.
    pub(crate) fn empty(at: DateTime<Utc>, service: ServiceState) -> Self {
        let (state, proof) = ("unknown".to_owned(), Proof::default());
        Self { state, at, proof, service, stores: Vec::new(), alarms: Vec::new(), unproved: Vec::new() }
    }

    /// Sets when the marketplace last answered for each store.
    pub(crate) fn note_answers(&mut self, answers: &HashMap<&str, DateTime<Utc>>) {
        self.stores
            .iter_mut()
            .for_each(|store| store.answered_at = answers.get(store.store.as_str()).copied());
        self.proof.marketplace_at = self.stores.iter().filter_map(|store| store.answered_at).max();
    }

    /// Adds the verdict.
    pub(crate) fn judged(mut self, verdict: ShownVerdict) -> Self {
        (self.state, self.alarms, self.unproved) = (verdict.state, verdict.alarms, verdict.unproved);
        self
    }

    /// Returns the worst state that concerns a store: `failing`, `warning` or `ok`; `unknown` if the whole is not
    /// known.
    pub(crate) fn state_of(&self, store: &StoreSnapshot) -> &str {
        let own = self.alarms.iter().filter(|alarm| alarm.concerns(&store.store));
        match own.map(ShownAlarm::is_failing).max() {
            Some(true) => "failing",
            Some(false) => "warning",
            None if self.state == "unknown" => "unknown",
            None => "ok",
        }
    }

    /// Returns the state that a person is shown beside a store's last run: until the alarms have judged a failed one,
    /// nothing proves that the store is well.
    pub(crate) fn shown_state_of(&self, store: &StoreSnapshot) -> &str {
        let has_failed = store.last_run.as_ref().is_some_and(|run| run.state == "failed");
        match self.state_of(store) {
            "ok" if has_failed => "unknown",
            state => state,
        }
    }

    /// Tells whether the marketplace accepts the token of a store no more, whatever its end.
    pub(crate) fn refuses_token_of(&self, store: &StoreSnapshot) -> bool {
        self.alarms.iter().any(|alarm| {
            matches!(alarm.code.as_str(), "credential_refused" | "foreign_login")
                && alarm.is_failing()
                && alarm.store.as_ref() == Some(&store.store)
        })
    }
}

/// The service itself.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct ServiceState {
    pub running: bool,
    pub version: String,
    /// The service's process; absent if it is not running.
    pub process: Option<u32>,
    pub started_at: Option<DateTime<Utc>>,
    /// The identity of its installation, which lies in its database; absent if it has none, or an older version
    /// answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installation: Option<String>,
    /// The file of its database; absent if that is none, or an older version answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The address of systemd's socket, at which it receives webhooks in place of `webhooks.listen`; absent if that is the
    /// same, or none is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_socket: Option<String>,
    /// The requests to read the configuration again, and what became of the last one; absent if it takes none, or an older
    /// version answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reload: Option<ReloadState>,
}

/// One store.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct StoreSnapshot {
    pub store: String,
    pub holder: Option<Holder>,
    /// Whether the answering service works on it; absent if no service was asked.
    pub ours: Option<bool>,
    pub last_run: Option<RunOnRecord>,
    pub last_success: Option<DateTime<Utc>>,
    pub tables: Vec<TableState>,
    /// When the tables' rows were counted.
    #[serde(default)]
    pub counted_at: Option<DateTime<Utc>>,
    pub failures: Vec<FailureGroup>,
    pub inbox: Inbox,
    pub token_expires_at: Option<DateTime<Utc>>,
    /// Absent if no service was asked.
    pub budget: Option<Budget>,
    /// How old the mirror may be: the age of the oldest waiting delivery, else the time since orders were last read.
    pub lag_seconds: Option<i64>,
    /// When the marketplace last answered a call for it, as the verdict knows it; absent if no service was asked.
    #[serde(default)]
    pub answered_at: Option<DateTime<Utc>>,
    /// The sweeps, and whether webhooks arrive.
    #[serde(default)]
    pub sweeps: sweeps::Sweeps,
    /// The mirrored rows, compared with the marketplace.
    #[serde(default)]
    pub resources: Vec<resources::ResourceRow>,
    /// Deliveries in a row without a signature by a known secret, since the service started.
    #[serde(default)]
    pub unverified: u64,
    /// The intents that are not done, by table; tables without any are absent.
    #[serde(default)]
    pub wanted: Vec<wanted::IntentRows>,
    /// True once the orders were read to their end. Before, an empty list of orders proves nothing.
    #[serde(default)]
    pub first_reading_ended: bool,
    /// The rows that the first reading of orders has read so far, while it has not ended.
    #[serde(default)]
    pub reading: Vec<ReadSoFar>,
}

/// The current holder of a store's lease, or the last one.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Holder {
    pub owner: String,
    pub since: DateTime<Utc>,
    /// Absent if the system does not say.
    pub held: Option<bool>,
}

/// The waiting deliveries.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Inbox {
    pub backlog: u64,
    pub oldest_age_seconds: Option<i64>,
}

/// The budget of a store's token.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Budget {
    pub per_minute: u32,
    /// Slots that are taken now.
    pub held: u32,
    /// Waiting requests, by lane.
    pub waiting: BTreeMap<String, usize>,
}

#[cfg(test)]
pub(crate) mod specimen {
    use espelho_model::sync::Counts;

    use super::*;

    pub(crate) fn at(minute: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + minute * 60, 0).unwrap()
    }

    /// Returns a healthy store, as of minute 60.
    pub(crate) fn store(key: &str) -> StoreSnapshot {
        let run = RunOnRecord {
            kind: "scheduled".into(),
            state: "complete".into(),
            started_at: at(50),
            finished_at: Some(at(51)),
            requests: 12,
            counts: Counts { seen: 300, changed: 4, gone: 0, failed: 0 },
            error: None,
        };
        let table = TableState { table: "orders".into(), live: 300, gone: 2, last_mirrored: Some(at(51)) };
        StoreSnapshot {
            store: key.into(),
            holder: Some(Holder {
                owner: "espelho run (process 7 on a)".into(),
                since: at(0),
                held: Some(true),
            }),
            ours: Some(true),
            last_run: Some(run),
            last_success: Some(at(51)),
            tables: vec![table],
            counted_at: None,
            failures: Vec::new(),
            inbox: Inbox::default(),
            token_expires_at: Some(at(60 * 24 * 20)),
            budget: Some(Budget { per_minute: 300, held: 12, waiting: [("poll".to_owned(), 3)].into() }),
            lag_seconds: Some(540),
            answered_at: Some(at(60)),
            sweeps: sweeps::Sweeps::default(),
            resources: Vec::new(),
            unverified: 0,
            wanted: Vec::new(),
            first_reading_ended: true,
            reading: Vec::new(),
        }
    }

    pub(crate) fn snapshot(stores: Vec<StoreSnapshot>) -> StatusSnapshot {
        let service = ServiceState {
            running: true,
            version: "0.1.0".into(),
            process: Some(7),
            started_at: Some(at(0)),
            installation: None,
            file: None,
            webhook_socket: None,
            reload: None,
        };
        let (state, at) = ("ok".to_owned(), at(60));
        let proof = Proof { marketplace_at: Some(at), database_at: Some(at), webhook_at: None };
        StatusSnapshot { state, at, proof, service, stores, alarms: Vec::new(), unproved: Vec::new() }
    }

    pub(crate) fn failing(store: Option<&str>, text: &str) -> ShownAlarm {
        ShownAlarm {
            code: "failed".into(),
            cause: String::new(),
            severity: "failing".into(),
            store: store.map(str::to_owned),
            count: 1,
            since: Some(at(0)),
            text: text.into(),
            next: "espelho errors".into(),
            detail: String::new(),
            row: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_whose_last_run_failed_is_not_called_well() {
        for (run, alarm, expected) in [
            ("complete", false, "ok"),
            ("partial", false, "ok"),
            ("running", false, "ok"),
            ("failed", false, "unknown"),
            ("failed", true, "failing"),
        ] {
            let mut store = specimen::store("a");
            store.last_run.as_mut().unwrap().state = run.into();
            let mut snapshot = specimen::snapshot(vec![store]);
            snapshot.alarms = alarm.then(|| specimen::failing(Some("a"), "x")).into_iter().collect();
            assert_eq!(snapshot.shown_state_of(&snapshot.stores[0]), expected, "{run}");
        }
    }

    #[test]
    fn when_the_marketplace_answered_is_what_the_verdict_knows_and_nothing_later() {
        let mut snapshot = specimen::snapshot(vec![specimen::store("a"), specimen::store("b")]);
        snapshot.note_answers(&HashMap::from([("a", specimen::at(57)), ("other", specimen::at(60))]));
        let answered: Vec<_> = snapshot.stores.iter().map(|store| store.answered_at).collect();
        assert_eq!(answered, [Some(specimen::at(57)), None]);
        assert_eq!(snapshot.proof.marketplace_at, Some(specimen::at(57)));
        snapshot.note_answers(&HashMap::new());
        assert_eq!(snapshot.proof.marketplace_at, None, "the verdict says that nobody has answered");
    }
}
