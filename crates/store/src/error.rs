//! What can go wrong with the database.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use espelho_model::StoreKey;
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

    /// What to do about it, in one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Address { .. } => {
                "write database.url as \"sqlite:espelho.db\" or \"postgres://user@host/db\""
            }
            Self::Connect { .. } => {
                "check that the path is writable or the server runs, and that user, password and database exist"
            }
            Self::Network { .. } => {
                "put the database on a local disk, or use PostgreSQL: locks do not hold over a network"
            }
            Self::OldLibrary { .. } => "install a binary that was built with SQLite 3.51.3 or later",
            Self::Damaged { .. } => {
                "put a backup in its place, or move it away and start again: the mirror is read again from the \
                 marketplace, deliveries, tokens and secrets are in the file beside it"
            }
            Self::DamagedBackup { .. } => "take another backup; the database is untouched",
            Self::Newer { .. } => {
                "install the espelho that migrated it, or a later one; a database is never migrated back"
            }
            Self::Missing { .. } => {
                "start the service or run `espelho migrate`, which create it; check database.url"
            }
            Self::Older { .. } => "start the service of this version or run `espelho migrate`",
            Self::Migrate(_) => "see the database's own message; nothing of the failed migration was kept",
            Self::Statement { .. } => "see the database's own message; check disk space and permissions",
            Self::Arity { .. } | Self::Corrupt { .. } => "this is a defect: report it with this message",
            Self::OtherStore { .. } => {
                "use one database for each environment, or correct environment and base_url in the store's file"
            }
            Self::WebhookElsewhere { .. } => {
                "a credential has one webhook: if another installation receives there, make a credential for this one; to \
                 move the webhook here, run `espelho webhook move KEY`; or write the old address again"
            }
            Self::Held { .. } => "wait until it ends, or stop it, then run again",
            Self::LeaseLost { .. } => "let only one instance work on a store",
            Self::LockFile { .. } => {
                "check that the directory of the database is writable and on a local disk"
            }
            Self::Foreign { .. } => {
                "run as the service's user (sudo -u espelho espelho …); if that does, find out who made the file, and move it away"
            }
            Self::Copy { .. } => "see the cause; what was there before is untouched, so run it again",
            Self::BackupExists { .. } => "name a folder that does not exist yet",
            Self::NoBackup { .. } => "name a folder that `espelho backup` has made",
            Self::Occupied { .. } => {
                "give --replace to put the backup in its place; the files that are there are kept beside it"
            }
            Self::InUse { .. } => "stop the service and whatever else reads the database, then run again",
            Self::Restoring { .. } => "wait until the restore has ended, then start again",
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
