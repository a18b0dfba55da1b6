//! What can go wrong with the database.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use espelho_model::{
    StoreKey, text,
    text::{Arg, Language, Locale, Text},
};
use tokio::sync::watch;

/// Statements of this process that have failed, by the database's code: SQLite and PostgreSQL have a few dozen each.
static COUNTED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Whether a disk refused to synchronise (SQLite: IOERR_FSYNC, IOERR_DIR_FSYNC).
static DISK_GAVE_UP: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// Why the mirror could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address names no database that we know.
    #[error("database.url {url:?} cannot be used: {why}")]
    Address {
        /// The address, without its password.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// No connection.
    #[error("the database at {url} cannot be opened")]
    Connect {
        /// The address, without its password.
        url: String,
        /// The cause.
        source: sqlx::Error,
    },
    /// The file lies on a disk of another machine.
    #[error("the database at {url} lies on a network file system ({kind})")]
    Network {
        /// The address, without its password.
        url: String,
        /// Which one.
        kind: &'static str,
    },
    /// The SQLite in this binary can damage what it keeps.
    #[error("this binary was built with SQLite {found}, which can damage its own log")]
    OldLibrary {
        /// Its version.
        found: String,
    },
    /// The file is no longer what was written.
    #[error("the database file {file} is damaged: {what}")]
    Damaged {
        /// The file.
        file: String,
        /// What the database says.
        what: String,
    },
    /// The backup is no longer what was written.
    #[error("the backup {path} is damaged: {what}")]
    DamagedBackup {
        /// Its folder.
        path: String,
        /// What the database says.
        what: String,
    },
    /// A newer espelho has migrated this database.
    #[error("the database has schema version {found}, which this version of espelho does not know")]
    Newer {
        /// The version found.
        found: i64,
    },
    /// Nobody has made this database yet.
    #[error("there is no database at {url}")]
    Missing {
        /// The address, without its password.
        url: String,
    },
    /// It is that of an earlier espelho, and whoever opened it may not migrate it.
    #[error("the database has schema version {found}, and this version of espelho reads {wanted}")]
    Older {
        /// The version found.
        found: i64,
        /// The version wanted.
        wanted: i64,
    },
    /// A migration failed.
    #[error("the database cannot be migrated")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// A statement failed.
    #[error("the database refused to {operation}")]
    Statement {
        /// What was to be done.
        operation: &'static str,
        /// The cause.
        source: sqlx::Error,
    },
    /// A statement and its arguments do not fit: a defect of espelho, found before SQLite would bind NULLs.
    #[error("a statement takes {expected} arguments and was given {given}: {sql}")]
    Arity {
        /// Arguments the statement takes.
        expected: usize,
        /// Arguments it was given.
        given: usize,
        /// The statement.
        sql: String,
    },
    /// A row that our own code cannot have written.
    #[error("column {column} of a stored row cannot be read: {why}")]
    Corrupt {
        /// Position of the column in the statement.
        column: usize,
        /// What is wrong with it.
        why: String,
    },
    /// The database mirrors another environment or marketplace for this store.
    #[error("the database holds store {store} of {kept}, and the configuration says {configured}")]
    OtherStore {
        /// The store.
        store: StoreKey,
        /// What the database was filled from.
        kept: String,
        /// What the configuration names now.
        configured: String,
    },
    /// The webhook has another address than the configured one.
    #[error(
        "the webhook of store {store} was registered at {registered}, and webhook.public_url says {configured}"
    )]
    WebhookElsewhere {
        /// The store.
        store: StoreKey,
        /// The address that a login of ours gave it.
        registered: String,
        /// The address that the next login would give it.
        configured: String,
    },
    /// Another instance works on the store.
    #[error("store {store} is held by {owner}, since {since}")]
    Held {
        /// The store.
        store: StoreKey,
        /// Who holds it.
        owner: String,
        /// Since when.
        since: String,
    },
    /// The lease was taken over by another instance; nothing more may be written.
    #[error("the lease of store {store} was lost to another instance")]
    LeaseLost {
        /// The store.
        store: StoreKey,
    },
    /// The lock file beside the database could not be used.
    #[error("the lock file {path} cannot be used")]
    LockFile {
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A backup could not be written or put back.
    #[error("cannot {action} {path}")]
    Copy {
        /// What was to be done.
        action: &'static str,
        /// With what.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// Somebody else's file is where tokens and secrets are kept.
    #[error("{path} belongs to another user, who could read the tokens and secrets that are written to it")]
    Foreign {
        /// The file.
        path: String,
    },
    /// There is something already where a backup should go.
    #[error("there is already something at {path}")]
    BackupExists {
        /// Where.
        path: String,
    },
    /// What should be put back is no backup.
    #[error("{path} is no backup: {why}")]
    NoBackup {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// A mirror is where a backup should be put back.
    #[error("there is a mirror at {path} already")]
    Occupied {
        /// The file.
        path: String,
    },
    /// Somebody has open what should be replaced.
    #[error("{path} is in use by another process of espelho")]
    InUse {
        /// The file.
        path: String,
    },
    /// A backup is being put in the place of the database.
    #[error("the database {path} is being restored")]
    Restoring {
        /// The file.
        path: String,
    },
}

impl Error {
    /// A statement failed; it is counted by the database's own code.
    pub(crate) fn statement(operation: &'static str, source: sqlx::Error) -> Self {
        let code = match &source {
            sqlx::Error::Database(refusal) => refusal.code().map(Cow::into_owned),
            sqlx::Error::PoolTimedOut => Some("pool_timed_out".to_owned()),
            _ => None,
        };
        if code.as_deref().is_some_and(|code| ["1034", "1290"].contains(&code)) {
            DISK_GAVE_UP.send_replace(true);
        }
        let mut counted = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.entry(code.unwrap_or_else(|| "connection".to_owned())).or_default() += 1;
        Self::Statement { operation, source }
    }

    /// Ends once the disk of a SQLite file refused to synchronise. Nobody knows then what is on it, also if the next attempt
    /// seems to go well: only a new process, which reads the file anew, may go on.
    pub async fn disk_gave_up() {
        // The sender is never dropped.
        let _ = DISK_GAVE_UP.subscribe().wait_for(|gave_up| *gave_up).await;
    }

    /// How many statements of this process have failed, by the database's code.
    pub fn counted() -> BTreeMap<String, u64> {
        COUNTED.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the database refused what a row says, rather than failing: a value out of its range, nested too
    /// deeply, too large. Without that row the others can be written.
    pub fn concerns_a_row(&self) -> bool {
        let Self::Statement { source: sqlx::Error::Database(refusal), .. } = self else { return false };
        let code = refusal.code().unwrap_or_default();
        // PostgreSQL: data exception, integrity, program limit. SQLite: TOOBIG, CONSTRAINT, MISMATCH.
        ["22", "23", "54"].iter().any(|class| code.len() == 5 && code.starts_with(class))
            || ["18", "19", "20"].contains(&&*code)
    }

    /// The words for people: the cause, and the next step.
    pub fn text(&self) -> Text {
        match self {
            Self::Address { url, why } => text!("database-address", url = url, why = why),
            Self::Connect { url, source } => {
                text!("database-connect", url = url, cause = source.to_string())
            }
            Self::Network { url, kind } => text!("database-network", url = url, kind = *kind),
            Self::OldLibrary { found } => text!("database-old-library", found = found),
            Self::Damaged { file, what } => text!("database-damaged", file = file, what = what),
            Self::DamagedBackup { path, what } => {
                text!("database-damaged-backup", path = path, what = what)
            }
            Self::Newer { found } => text!("database-newer", found = *found),
            Self::Missing { url } => text!("database-missing", url = url),
            Self::Older { found, wanted } => {
                text!("database-older", found = *found, wanted = *wanted)
            }
            Self::Migrate(source) => text!("database-migrate", cause = source.to_string()),
            Self::Statement { source, .. } => {
                text!("database-statement", kind = kind_of(source), cause = source.to_string())
            }
            Self::Arity { .. } | Self::Corrupt { .. } => {
                text!("database-defect", what = self.to_string())
            }
            Self::OtherStore { store, kept, configured } => {
                text!("database-other-store", store = store.as_str(), kept = kept, configured = configured)
            }
            Self::WebhookElsewhere { store, registered, configured } => {
                text!(
                    "database-webhook-elsewhere",
                    store = store.as_str(),
                    registered = registered,
                    configured = configured
                )
            }
            Self::Held { store, owner, since } => {
                text!("database-held", store = store.as_str(), owner = owner, since = instant(since))
            }
            Self::LeaseLost { store } => text!("database-lease-lost", store = store.as_str()),
            Self::LockFile { path, source } => {
                text!("database-lock-file", path = path, cause = source.to_string())
            }
            Self::Foreign { path, .. } => text!("place-foreign", path = path),
            Self::Copy { path, source, .. } => {
                text!("database-copy", path = path, cause = source.to_string())
            }
            Self::BackupExists { path } => text!("database-backup-exists", path = path),
            Self::NoBackup { path, why } => text!("database-no-backup", path = path, why = why),
            Self::Occupied { path } => text!("database-occupied", path = path),
            Self::InUse { path } => text!("database-in-use", path = path),
            Self::Restoring { path } => text!("database-restoring", path = path),
        }
    }

    /// The next step in English, for logs.
    pub fn hint(&self) -> String {
        self.text().next(Locale::of(Language::English)).unwrap_or_default()
    }
}

/// A time that people read in their own zone; where it is none, as it stands.
fn instant(since: &str) -> Arg {
    chrono::DateTime::parse_from_rfc3339(since).map_or_else(|_| since.into(), |at| at.to_utc().into())
}

/// The word by which the catalogue of texts chooses what to say of a refusal.
fn kind_of(source: &sqlx::Error) -> &'static str {
    if matches!(source, sqlx::Error::PoolTimedOut) {
        return "busy";
    }
    let sqlx::Error::Database(refusal) = source else { return "other" };
    match refusal.code().as_deref() {
        // SQLite: FULL; PostgreSQL: disk_full.
        Some("13" | "53100") => "full",
        // SQLite: BUSY, LOCKED and theirs; PostgreSQL: lock_not_available.
        Some("5" | "6" | "261" | "262" | "517" | "518" | "773" | "55P03") => "busy",
        // SQLite: READONLY and its own; PostgreSQL: read_only_sql_transaction.
        Some("8" | "264" | "520" | "776" | "1032" | "1288" | "1544" | "25006") => "read-only",
        _ => "other",
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
