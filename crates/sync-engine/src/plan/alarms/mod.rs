//! Alarms (PRODUCT contract 4): turn observations into the one list that every surface shows. Pure.
//!
//! [`decide`] is the only place that raises an alarm or calls a state `ok`. An alarm stands for one cause, however many
//! rows or stores it hits: a marketplace that is down explains why its stores are late, so no `late` is raised beside
//! it.

mod abilities;
mod backups;
mod database;
mod differences;
mod observations;
mod paused;
mod rows;
mod rules;

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{StoreKey, text::Text, time::is_future};

pub use observations::{
    BackupObservation, ChannelTrouble, ContactKind, ContactTrouble, CredentialKind, CredentialTrouble,
    DatabaseHolder, DatabaseKind, DatabaseTrouble, Deadlines, FoundIn, Observations, OpenDifferences,
    OtherAddress, Owner, RefusedConfiguration, RefusedWrites, RowState, Rows, ServiceObservation,
    StoreObservation, SweepObservation, UnreachedCount, UnreadablePassword, UnreadableValues,
    WebhookObservation, WebhookSilence,
};
#[cfg(test)]
pub(in crate::plan) use rules::LASTS;
pub(crate) use rules::PROVES;
pub use rules::{MARKETPLACE_SEVERITY, decide, is_held_up};

/// Declares the codes with their words, once.
macro_rules! codes {
    ($($(#[$doc:meta])+ $name:ident = $word:literal),+ $(,)?) => {
        /// What an alarm is about. Contract 4 has the words; they are the same in every language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($(#[$doc])+ $name),+
        }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The word on every surface.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word),+
                }
            }
        }
    };
}

codes! {
    /// The service should run and does not.
    ServiceStopped = "service_stopped",
    /// The disk of the database is full.
    DiskFull = "disk_full",
    /// Another program keeps the database, or a table of it, locked.
    DatabaseBusy = "database_busy",
    /// The database does not answer.
    DatabaseUnreachable = "database_unreachable",
    /// The database answers, and accepts no write.
    DatabaseReadOnly = "database_read_only",
    /// The database's file was deleted, or another file has its name.
    DatabaseReplaced = "database_replaced",
    /// A table, trigger, view or index of the database is missing, disabled or another one.
    SchemaChanged = "schema_changed",
    /// This machine's clock differs from the marketplace's.
    ClockWrong = "clock_wrong",
    /// The service refused the configuration at its last reload, and works with the one before.
    ConfigurationRefused = "configuration_refused",
    /// No connection to the marketplace.
    MarketplaceUnreachable = "marketplace_unreachable",
    /// The marketplace answers with 5xx, or with something unreadable.
    MarketplaceErrors = "marketplace_errors",
    /// The marketplace refuses requests (429) although they keep to the limit.
    Throttled = "throttled",
    /// Values of the marketplace's answers cannot be read; their columns are NULL.
    UnreadableValues = "unreadable_values",
    /// An audit found rows that differ from the marketplace, and the mirror has not corrected them.
    MirrorDiffers = "mirror_differs",
    /// The marketplace refuses the store's username or password.
    CredentialRefused = "credential_refused",
    /// Another program logs in with the store's credential.
    ForeignLogin = "foreign_login",
    /// The credential lacks an ability.
    ScopeMissing = "scope_missing",
    /// Sweeps find changes that no delivery reported.
    WebhooksMissing = "webhooks_missing",
    /// The webhook points to another address than the configured one.
    WebhookElsewhere = "webhook_elsewhere",
    /// Deliveries have signatures that match no known secret.
    WebhooksUnverified = "webhooks_unverified",
    /// The service runs and does not work on a store.
    NotHeld = "not_held",
    /// The last complete reconciliation failed, for a cause of its own.
    RunFailed = "run_failed",
    /// The store's password file cannot be read any more: the service works on, and could not start again.
    PasswordUnreadable = "password_unreadable",
    /// The token ends soon, and no login has renewed it.
    TokenExpires = "token_expires",
    /// The ERP wrote rows for a store that is not in the configuration.
    UnknownStore = "unknown_store",
    /// Rows that failed.
    Failed = "failed",
    /// Rows that a guard holds.
    Held = "held",
    /// Rows that were sent and whose outcome nothing proves.
    Doubtful = "doubtful",
    /// Rows that wait for longer than an hour.
    Waiting = "waiting",
    /// Work that is behind its promise.
    Late = "late",
    /// A dispatch or fiscal deadline is near, or past.
    Deadline = "deadline",
    /// More orders wait for an invoice than a usual day brings.
    FiscalGate = "fiscal_gate",
    /// An operator has paused work.
    Paused = "paused",
    /// Messages about alarms do not go out by a channel.
    NoticeFailed = "notice_failed",
    /// A backup, or the proof that one can be restored, failed or did not come.
    BackupFailed = "backup_failed",
}

impl Code {
    /// Returns the code of a word; `None` for one that only another version knows.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == word)
    }

    /// Tells whether its words are about one machine: its clock, its disk, its network, its files. Where several
    /// machines share a database, readers elsewhere must be told which one.
    pub fn is_about_machine(self) -> bool {
        matches!(
            self,
            Self::DiskFull
                | Self::DatabaseBusy
                | Self::DatabaseUnreachable
                | Self::DatabaseReadOnly
                | Self::DatabaseReplaced
                | Self::ClockWrong
                | Self::ConfigurationRefused
                | Self::PasswordUnreadable
                | Self::MarketplaceUnreachable
                | Self::NoticeFailed
                | Self::BackupFailed
        )
    }

    /// Tells whether its cause is the address of a marketplace.
    pub fn is_about_marketplace(self) -> bool {
        matches!(self, Self::MarketplaceUnreachable | Self::MarketplaceErrors | Self::Throttled)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The severity of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something needs a person, but work goes on.
    Warning,
    /// Something does not work.
    Failing,
}

impl Severity {
    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Warning, Self::Failing].into_iter().find(|severity| severity.as_str() == word)
    }

    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Failing => "failing",
        }
    }
}

/// One cause that needs a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    /// Its code.
    pub code: Code,
    /// Its severity.
    pub severity: Severity,
    /// The store; `None` where it concerns several, or all.
    pub store: Option<StoreKey>,
    /// The cause within the code, such as an error code or an address; empty where the code says all.
    pub cause: String,
    /// How many rows or stores it hits.
    pub count: u64,
    /// Since when.
    pub since: Option<DateTime<Utc>>,
    /// The words of a library or of the other side, unchanged, for programs; the sentence is in the reader's language.
    pub detail: String,
    /// The row, where it is about a single one, as the command line takes it: `stock CAN-01/3`.
    pub row: Option<String>,
    /// The sentence and its next step.
    pub text: Text,
}

/// Returns an alarm about one thing without a row of its own.
fn alarm(
    code: Code,
    severity: Severity,
    store: Option<&StoreKey>,
    since: Option<DateTime<Utc>>,
    text: Text,
) -> Alarm {
    let (store, cause, detail) = (store.cloned(), String::new(), String::new());
    Alarm { code, severity, store, cause, count: 1, since, detail, row: None, text }
}

/// Tells whether trouble has lasted for a time. What began in the future began before the clock was set back.
fn lasts(at: DateTime<Utc>, since: DateTime<Utc>, span: TimeDelta) -> bool {
    is_future(since, at) || at - since >= span
}

/// The overall state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Everything has fresh proof.
    Ok,
    /// Nothing is known to be wrong, but something has no fresh proof.
    Unknown,
    /// The worst alarm is a warning.
    Warning,
    /// Something does not work.
    Failing,
}

impl State {
    /// All states, the best first.
    pub const ALL: [Self; 4] = [Self::Ok, Self::Unknown, Self::Warning, Self::Failing];

    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Warning => "warning",
            Self::Failing => "failing",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// The decision: the state, the alarms, and what has no proof yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The overall state.
    pub state: State,
    /// The alarms, the worst first.
    pub alarms: Vec<Alarm>,
    /// Sentences on what is not known.
    pub unproved: Vec<Text>,
}

#[cfg(test)]
mod tests;
