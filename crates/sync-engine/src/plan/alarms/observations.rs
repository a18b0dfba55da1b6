//! Plain data: what was observed, with the time of each observation.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, pause::Pause, symptom::Symptom, text::Text};
use espelho_store::{BackupAct, Subresource};

use super::Severity;
use crate::plan::unreported_changes::LostDeliveries;

/// Everything that [`decide`](super::decide) reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    /// The time of the decision.
    pub at: DateTime<Utc>,
    /// The service.
    pub service: ServiceObservation,
    /// When the database last accepted a write; `None` where nothing was written.
    pub written_at: Option<DateTime<Utc>>,
    /// The database's current trouble.
    pub database: Option<DatabaseTrouble>,
    /// The objects of the schema that differ from what the migrations made, by kind and name.
    pub schema_defects: Arc<[String]>,
    /// Free bytes on the database's disk, where it is this machine's.
    pub free_bytes: Option<u64>,
    /// The database's file; `None` on a server.
    pub database_file: Option<String>,
    /// The configuration that the last reload refused; `None` if it accepted one.
    pub refused_configuration: Option<RefusedConfiguration>,
    /// The stores of the configuration.
    pub stores: Vec<StoreObservation>,
    /// Rows of stores that are not in the configuration.
    pub strangers: Option<Rows>,
    /// The channels by which people hear of alarms, and that fail.
    pub channels: Vec<ChannelTrouble>,
    /// The last backups of the database's file, and their proofs.
    pub backups: Vec<BackupObservation>,
}

/// The last runs of one act, as they are on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupObservation {
    /// The part that they are about.
    pub act: BackupAct,
    /// The time of the last success.
    pub succeeded_at: Option<DateTime<Utc>>,
    /// The first failure since, and the cause of the last one.
    pub failed: Option<(DateTime<Utc>, Text)>,
    /// The time by which it has to have succeeded again; `None` where nothing promises it.
    pub due_at: Option<DateTime<Utc>>,
}

/// A configuration that a reload refused: the service works with the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedConfiguration {
    /// The first refusal since a configuration was accepted.
    pub since: DateTime<Utc>,
    /// The number of its mistakes.
    pub mistakes: u64,
    /// The first of them, with its file and line.
    pub first: Text,
    /// The place where they are looked for again.
    pub found_in: FoundIn,
}

/// The place of the mistakes of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundIn {
    /// Its files: `espelho check` finds them again.
    Files,
    /// Its files, which nobody has asked the service to read: it works, and its next start would fail.
    UnreadFiles,
    /// The settings of the database server, which `espelho doctor` asks.
    Database,
}

/// A channel of messages that fails, from the first failure after the last message that went out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelTrouble {
    /// Its name: `webhook`, `smtp` or `exec`.
    pub channel: String,
    /// The first failure.
    pub since: DateTime<Utc>,
    /// The failure, for people.
    pub symptom: Symptom,
    /// The other side's answer.
    pub detail: String,
}

/// Whether the service runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceObservation {
    /// It answers, or it is the process that asks.
    Running,
    /// It has given no sign of life since then; `None`: never.
    Silent(Option<DateTime<Utc>>),
}

/// Trouble with the database, from the first failure after the last successful write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseTrouble {
    /// Its kind.
    pub kind: DatabaseKind,
    /// The first failure.
    pub since: DateTime<Utc>,
    /// The failure, for people.
    pub symptom: Symptom,
    /// The database's own message; the file, where its file is in trouble.
    pub detail: String,
    /// The program that holds the lock, where it can be found.
    pub holder: Option<DatabaseHolder>,
}

/// The program that holds a lock of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseHolder {
    /// A process on this machine that writes to the SQLite file: its name and number.
    Process(String, u32),
    /// A session on a PostgreSQL server.
    Session {
        /// The number of its process on the server.
        id: String,
        /// The user of the database.
        user: String,
        /// The name that its program gives; may be empty.
        application: String,
        /// The table that it locks.
        table: String,
    },
}

/// The kinds of trouble with a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind {
    /// The disk is full.
    Full,
    /// Another program holds a lock.
    Busy,
    /// No answer.
    Unreachable,
    /// It answers, and accepts no write.
    ReadOnly,
    /// Its file was deleted, or another file has its name.
    Replaced,
}

impl DatabaseKind {
    /// Tells whether no write lasts: then nothing is asked of the marketplace either.
    pub fn refuses_writes(self) -> bool {
        self != Self::Busy
    }

    /// Tells whether it stays until somebody acts; a lock or a lost connection may go away by itself.
    pub(super) fn lasts(self) -> bool {
        matches!(self, Self::Full | Self::ReadOnly | Self::Replaced)
    }
}

/// A store of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreObservation {
    /// Its key.
    pub key: StoreKey,
    /// The marketplace's address: stores of one address share a cause.
    pub base_url: String,
    /// The process that works on it.
    pub owner: Owner,
    /// When the marketplace last answered usefully.
    pub answered_at: Option<DateTime<Utc>>,
    /// The marketplace's current trouble.
    pub contact: Option<ContactTrouble>,
    /// The routes that fail while others work.
    pub failing_routes: Option<ContactTrouble>,
    /// The fields of which the marketplace sends values that cannot be read, those with the most first.
    pub unreadable: Vec<UnreadableValues>,
    /// The credential's current trouble.
    pub credential: Option<CredentialTrouble>,
    /// True while no login has shown what the configured password is worth: the token is from another one.
    pub is_password_unproved: bool,
    /// A password file that cannot be read any more; the next start of the service would fail.
    pub unreadable_password: Option<UnreadablePassword>,
    /// Abilities that the marketplace named as missing when it refused reads, which are repeated.
    pub missing_scopes: Vec<String>,
    /// Abilities that it named when it refused writes.
    pub refused_writes: Option<RefusedWrites>,
    /// By how many seconds the marketplace's clock is ahead of this machine's.
    pub ahead_seconds: Option<i64>,
    /// The webhook; `None` where none is configured.
    pub webhook: Option<WebhookObservation>,
    /// The token's end.
    pub token_expires_at: Option<DateTime<Utc>>,
    /// Rows in a state that needs attention.
    pub rows: Vec<Rows>,
    /// Waiting deliveries: how many, and since when the oldest waits.
    pub inbox: Option<(u64, DateTime<Utc>)>,
    /// ERP rows that were never checked: how many, and since when the oldest waits.
    pub unseen: Option<(u64, DateTime<Utc>)>,
    /// The sweeps.
    pub sweeps: Vec<SweepObservation>,
    /// Counts of the marketplace that the mirror has not reached, although sweeps have looked for the rows.
    pub behind: Vec<UnreachedCount>,
    /// The open differences of the last audits, by resource.
    pub differing: Vec<OpenDifferences>,
    /// When the last complete reconciliation ended.
    pub complete_at: Option<DateTime<Utc>>,
    /// Why the last reconciliation failed, where it did.
    pub run_problem: Option<Text>,
    /// Deadlines that are past, or within a day.
    pub deadlines: Vec<Deadlines>,
    /// Orders at the fiscal gate: how many wait, and how many a usual day brings.
    pub fiscal: Option<(u64, u64)>,
    /// Pauses that last, or ended lately.
    pub pauses: Vec<Pause>,
    /// When a cause with an alarm of its own last held the store up: for a moment longer it is not called late.
    pub held_up_at: Option<DateTime<Utc>>,
}

/// The two addresses of a webhook that goes to another one than it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherAddress {
    /// The one that the marketplace delivers to.
    pub registered: String,
    /// The one of the configuration.
    pub configured: String,
}

/// The process that works on a store.
#[derive(Clone, Debug, PartialEq)]
pub enum Owner {
    /// This process, since then.
    Here(DateTime<Utc>),
    /// Another live process.
    Elsewhere,
    /// No process, and the reason, where it is known.
    Nobody(Option<Text>),
}

/// Trouble with the marketplace, from the first failure after the last useful answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactTrouble {
    /// Its kind.
    pub kind: ContactKind,
    /// The first failure.
    pub since: DateTime<Utc>,
    /// The failure, for people.
    pub symptom: Symptom,
    /// A short detail: the status, or the connection's error.
    pub detail: String,
    /// The routes that fail while others work, with their methods; empty if no route works.
    pub routes: Vec<String>,
}

/// A field of which some values cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableValues {
    /// The field, as `totals.shipping`.
    pub field: String,
    /// The route of its answers, with the method first.
    pub route: String,
    /// How many values.
    pub values: u64,
    /// When the first of them was read.
    pub since: DateTime<Utc>,
}

/// The kinds of trouble with a marketplace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactKind {
    /// No connection, or no answer in time.
    Unreachable,
    /// 5xx, or an answer that cannot be read.
    Errors,
    /// 429 although the limit was kept.
    Throttled,
}

/// Trouble with the credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialTrouble {
    /// Its kind.
    pub kind: CredentialKind,
    /// True if a token of ours works all the same.
    pub has_token: bool,
    /// Since when.
    pub since: DateTime<Utc>,
    /// Where the password stands: the file, or the section of the store's file.
    pub place: String,
    /// The fields of the login that the marketplace refuses (422), or `none` where it names none.
    pub refused_fields: Option<String>,
}

/// A password file that cannot be read any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadablePassword {
    /// Its first moment.
    pub since: DateTime<Utc>,
    /// Why it cannot be read.
    pub why: Text,
    /// The file.
    pub place: String,
}

impl CredentialTrouble {
    /// Returns how bad it is: with a token that works, work goes on.
    pub fn severity(&self) -> Severity {
        if self.has_token { Severity::Warning } else { Severity::Failing }
    }
}

/// The kinds of trouble with a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// The marketplace refuses it.
    Refused,
    /// Another program uses it.
    Foreign,
}

/// The abilities that only refused writes have shown to be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedWrites {
    /// Their names.
    pub scopes: Vec<String>,
    /// The last refusal.
    pub last: DateTime<Utc>,
}

/// A store's webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookObservation {
    /// When the last delivery was received.
    pub heard_at: Option<DateTime<Utc>>,
    /// Evidence of missing deliveries, where there is any.
    pub silence: Option<WebhookSilence>,
    /// Evidence that some are lost while others arrive.
    pub lost: Option<LostDeliveries>,
    /// True if the last start left open whether deliveries arrive, and none has come since.
    pub is_open: bool,
    /// The address at which it was registered, where that is not the configured one.
    pub elsewhere: Option<OtherAddress>,
    /// Deliveries in a row whose signature matches no known secret.
    pub unverified: u64,
}

/// Evidence that deliveries do not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSilence {
    /// Since when.
    pub since: DateTime<Utc>,
    /// Changes that a sweep found and no delivery reported.
    pub missed: u64,
    /// The configured address.
    pub address: String,
}

/// Rows of one store in one state, for one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The state.
    pub state: RowState,
    /// The error code.
    pub code: String,
    /// How many.
    pub count: u64,
    /// Since when the oldest of them.
    pub since: Option<DateTime<Utc>>,
    /// One of them, as the command line takes it: `stock CAN-01/3`.
    pub example: String,
    /// The text of that row.
    pub words: Text,
}

/// Row states that need attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowState {
    /// It failed, or could not be mirrored.
    Failed,
    /// It is done, and its note needs attention.
    Noted,
    /// A guard holds it.
    Held,
    /// Nothing proves its outcome.
    Doubtful,
    /// It waits for something that it names.
    Waiting,
}

/// A sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepObservation {
    /// Its name in `sweeps.kind`.
    pub kind: &'static str,
    /// Seconds between two of them, as the budget allows.
    pub every_seconds: i64,
    /// When its readings were last answered and written.
    pub succeeded_at: Option<DateTime<Utc>>,
    /// True if the last one failed.
    pub has_failed: bool,
}

/// A count of the marketplace that the mirror has not reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreachedCount {
    /// The resource, as in `remote_counts.kind`.
    pub kind: String,
    /// Rows of the marketplace.
    pub remote: u64,
    /// Rows of the mirror at that time.
    pub local: u64,
    /// Since when.
    pub since: DateTime<Utc>,
}

/// Rows that an audit found to differ, and that the mirror has not written or read again since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDifferences {
    /// The resource, by its name in reports.
    pub resource: String,
    /// The parts of orders that they are in, as far as the audit named them.
    pub parts: Vec<Subresource>,
    /// The number of these rows.
    pub rows: u64,
    /// The number of rows that the audit compared.
    pub compared: u64,
    /// When it began.
    pub at: DateTime<Utc>,
}

/// Deadlines of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// The kind, as in `v_deadlines.kind`.
    pub kind: String,
    /// How many are past.
    pub past: u64,
    /// How many end within a day.
    pub near: u64,
    /// The first of them: key and time.
    pub first: (String, DateTime<Utc>),
}
