//! Checks that the database accepts writes by writing the service's own heartbeat, and that its files are still those
//! that are open.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use espelho_model::{Clock, symptom::Symptom};
use espelho_store::{AlarmRow, DatabaseTrouble as Kind, Error, ServiceInstance, Store, TableBlocker};
use espelho_sync_engine::plan::alarms::{DatabaseHolder, DatabaseKind, DatabaseTrouble};
use tokio::task::JoinHandle;

/// The interval of the prober's writes while all is well. In trouble, after any failed statement, and with other alarms to
/// record, it tries at each observation.
const EVERY: Duration = Duration::from_secs(12);
/// A write that takes longer waits for another program's lock.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(4);

/// The result of one write.
struct Outcome {
    begun: DateTime<Utc>,
    result: Result<Option<TableBlocker>, Error>,
}

/// Tries writes, one at a time, each in its own task: a database that hangs must not delay the alarm decision.
pub(super) struct Prober {
    store: Store,
    clock: Arc<dyn Clock>,
    under_way: Option<(JoinHandle<Outcome>, DateTime<Utc>, Duration)>,
    tried_at: Option<Duration>,
    /// The statements that had failed before the last attempt.
    failures: u64,
    /// The alarms of the last attempt: other ones are written at once, so that every surface has the same.
    recorded: Vec<AlarmName>,
    state: DatabaseState,
}

/// The name of an alarm: its store, code, cause and severity.
type AlarmName = (Option<String>, String, String, String);

/// The known state of the database.
#[derive(Clone, Debug, Default)]
pub(super) struct DatabaseState {
    /// When the database last accepted a write.
    pub(super) written_at: Option<DateTime<Utc>>,
    /// Its current trouble.
    pub(super) trouble: Option<DatabaseTrouble>,
}

impl Prober {
    pub(super) fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        let (recorded, state) = (Vec::new(), DatabaseState::default());
        Self { store, clock, under_way: None, tried_at: None, failures: 0, recorded, state }
    }

    /// Writes if a write is due, waits at most `ANSWER_TIMEOUT` for it, and returns the known state.
    pub(super) async fn probe(&mut self, record: (ServiceInstance, Vec<AlarmRow>)) -> DatabaseState {
        let now = self.clock.monotonic();
        let named = names(&record.1);
        let is_due = self.tried_at.is_none_or(|then| now - then >= EVERY)
            || self.state.trouble.is_some()
            // A statement has failed elsewhere.
            || self.failures != failures()
            || self.recorded != named;
        if self.under_way.is_none() && is_due {
            (self.tried_at, self.failures, self.recorded) = (Some(now), failures(), named);
            let begun = self.clock.now();
            let (store, clock) = (self.store.clone(), Arc::clone(&self.clock));
            let write = async move { Outcome { begun: clock.now(), result: write(&store, record).await } };
            self.under_way = Some((tokio::spawn(write), begun, now));
        }
        if let Some((mut task, begun, since)) = self.under_way.take() {
            let ended = tokio::select! {
                ended = &mut task => Some(ended),
                () = self.clock.sleep(ANSWER_TIMEOUT) => None,
            };
            match ended {
                Some(Ok(outcome)) => self.note(outcome),
                // A panic in the driver ends the service by itself.
                Some(Err(_)) => {}
                None => {
                    self.note_waiting(begun);
                    self.under_way = Some((task, begun, since));
                }
            }
        }
        self.note_files();
        self.state.clone()
    }

    /// Notes files that take writes and lose them, or will take none after the next opening.
    fn note_files(&mut self) {
        let Some(trouble) = self.store.file_trouble() else { return };
        let kind = match trouble.loses_writes() {
            true => DatabaseKind::Replaced,
            false => DatabaseKind::ReadOnly,
        };
        let file = trouble.path().display().to_string();
        self.begin(kind, self.clock.now(), (Symptom::File(file.clone()), file), None);
    }

    fn note(&mut self, outcome: Outcome) {
        let Outcome { begun, result } = outcome;
        match result {
            Ok(None) => self.state = DatabaseState { written_at: Some(self.clock.now()), trouble: None },
            Ok(Some(blocker)) => {
                self.state.written_at = Some(self.clock.now());
                self.begin(
                    DatabaseKind::Busy,
                    begun,
                    (Symptom::TimedOut, "table lock".to_owned()),
                    Some(holder(blocker)),
                );
            }
            Err(error) => {
                let kind = kind_of(&error);
                let holder = (kind == DatabaseKind::Busy).then(|| self.writer()).flatten();
                self.begin(kind, begun, (error.symptom(), innermost(&error)), holder);
            }
        }
    }

    /// Notes that a write hangs: another program holds a lock, or the server does not answer.
    fn note_waiting(&mut self, begun: DateTime<Utc>) {
        let holder = self.writer();
        let kind = match self.store.leases().is_shared() {
            true => DatabaseKind::Unreachable,
            false => DatabaseKind::Busy,
        };
        self.begin(kind, begun, (Symptom::TimedOut, "no answer".to_owned()), holder);
    }

    /// Returns the other program that writes to the SQLite file at this moment.
    fn writer(&self) -> Option<DatabaseHolder> {
        let writer =
            self.store.leases().database_writer().filter(|writer| writer.id != std::process::id())?;
        Some(DatabaseHolder::Process(writer.command.unwrap_or_default(), writer.id))
    }

    /// Sets the current trouble, and keeps the time of its first failure.
    fn begin(
        &mut self,
        kind: DatabaseKind,
        at: DateTime<Utc>,
        (symptom, detail): (Symptom, String),
        holder: Option<DatabaseHolder>,
    ) {
        let since = self.state.trouble.as_ref().map_or(at, |trouble| trouble.since);
        let holder = holder.or_else(|| self.state.trouble.take().and_then(|trouble| trouble.holder));
        self.state.trouble = Some(DatabaseTrouble { kind, since, symptom, detail, holder });
    }
}

/// Writes to both files, and returns a program that keeps a table locked.
async fn write(
    store: &Store,
    (service, alarms): (ServiceInstance, Vec<AlarmRow>),
) -> Result<Option<TableBlocker>, Error> {
    store.alarms().beat(&service, &alarms).await?;
    store.diagnostics().prove_write().await?;
    store.leases().table_blocker().await
}

fn names(alarms: &[AlarmRow]) -> Vec<AlarmName> {
    let name = |alarm: &AlarmRow| {
        (alarm.store.clone(), alarm.code.clone(), alarm.cause.clone(), alarm.severity.clone())
    };
    alarms.iter().map(name).collect()
}

fn holder(blocker: TableBlocker) -> DatabaseHolder {
    let TableBlocker { session, user, application, table } = blocker;
    DatabaseHolder::Session { id: session, user, application, table }
}

fn kind_of(error: &Error) -> DatabaseKind {
    match error.trouble() {
        Kind::Full => DatabaseKind::Full,
        Kind::Busy => DatabaseKind::Busy,
        Kind::ReadOnly => DatabaseKind::ReadOnly,
        Kind::Unreachable => DatabaseKind::Unreachable,
    }
}

/// The number of statements that failed in this process.
fn failures() -> u64 {
    Error::counted().values().sum()
}

fn innermost(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
