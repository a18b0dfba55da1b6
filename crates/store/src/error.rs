//! Errors of the database layer.

use parking_lot::Mutex;
use std::{borrow::Cow, collections::BTreeMap, io::ErrorKind, path::Path, sync::LazyLock};

use espelho_model::{
    StoreKey, program,
    program::quoted,
    symptom::Symptom,
    text,
    text::{Arg, Language, Locale, Text},
};
use tokio::sync::watch;

/// The defect of an address that names no known kind of database.
pub(crate) const UNKNOWN_SCHEME: &str = "its scheme is not sqlite or postgres";
/// Failed statements of this process, by the database's code. SQLite and PostgreSQL have a few dozen codes each.
static COUNTED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Whether a disk has refused an fsync (SQLite: IOERR_FSYNC, IOERR_DIR_FSYNC).
static DISK_GAVE_UP: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address names no known database.
    #[error("database.url {url:?} cannot be used: {why}")]
    Address {
        /// The address, without its password.
        url: String,
        /// The defect of the address.
        why: String,
    },
    /// The connection failed.
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
        /// The kind of network file system.
        kind: &'static str,
    },
    /// The SQLite library in this binary can damage its files.
    #[error("this binary was built with SQLite {found}, which can damage its own log")]
    OldLibrary {
        /// Its version.
        found: String,
    },
    /// The file is damaged.
    #[error("the database file {file} is damaged: {what}")]
    Damaged {
        /// The file.
        file: String,
        /// The database's own words.
        what: String,
    },
    /// The backup is damaged.
    #[error("the backup {path} is damaged: {what}")]
    DamagedBackup {
        /// Its folder.
        path: String,
        /// The database's own words.
        what: String,
    },
    /// A newer espelho has migrated this database.
    #[error("the database has schema version {found}, which this version of espelho does not know")]
    Newer {
        /// The version found.
        found: i64,
    },
    /// There is no database at this address.
    #[error("there is no database at {url}")]
    Missing {
        /// The address, without its password.
        url: String,
    },
    /// The mirror's file was deleted or moved; what it left is still there.
    #[error("the database file {file} was deleted or moved")]
    Vanished {
        /// The file.
        file: String,
        /// The newest copy that a service saved when it lost its file.
        saved: Option<String>,
    },
    /// An earlier espelho made this database, and this process must not migrate it.
    #[error("the database has schema version {found}, and this version of espelho reads {wanted}")]
    Older {
        /// The version found.
        found: i64,
        /// The version required.
        wanted: i64,
    },
    /// A migration failed.
    #[error("the database cannot be migrated")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// A statement failed.
    #[error("the database refused to {operation}")]
    Statement {
        /// The operation.
        operation: &'static str,
        /// The cause.
        source: sqlx::Error,
    },
    /// The number of arguments does not fit the statement: a defect of espelho. Without this check SQLite would bind
    /// NULLs.
    #[error("a statement takes {expected} arguments and was given {given}: {sql}")]
    Arity {
        /// Arguments the statement takes.
        expected: usize,
        /// Arguments given.
        given: usize,
        /// The statement.
        sql: String,
    },
    /// A row that espelho cannot have written.
    #[error("column {column} of a stored row cannot be read: {why}")]
    Corrupt {
        /// Position of the column in the statement.
        column: usize,
        /// The defect of the value.
        why: String,
    },
    /// The database mirrors another environment or marketplace for this store.
    #[error("the database holds store {store} of {kept}, and the configuration says {configured}")]
    OtherStore {
        /// The store.
        store: StoreKey,
        /// The environment that filled the database.
        kept: String,
        /// The environment in the configuration.
        configured: String,
    },
    /// The webhook points to another address than the configured one.
    #[error(
        "the webhook of store {store} was registered at {registered}, and webhook.public_url says {configured}"
    )]
    WebhookElsewhere {
        /// The store.
        store: StoreKey,
        /// The address that our last login registered.
        registered: String,
        /// The address that the next login would register.
        configured: String,
    },
    /// Another instance holds the store.
    #[error("store {store} is held by {owner}, since {since}")]
    Held {
        /// The store.
        store: StoreKey,
        /// The holder of the lease.
        owner: String,
        /// Since when.
        since: String,
    },
    /// Another instance has taken the lease over; this one must not write any more.
    #[error("the lease of store {store} was lost to another instance")]
    LeaseLost {
        /// The store.
        store: StoreKey,
    },
    /// The lock file beside the database is unusable.
    #[error("the lock file {path} cannot be used")]
    LockFile {
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A backup or a restore failed.
    #[error("cannot {action} {path}")]
    Copy {
        /// The step.
        action: &'static str,
        /// The path that the step worked on.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A file of another user stands where tokens and secrets belong.
    #[error("{path} belongs to another user, who could read the tokens and secrets that are written to it")]
    Foreign {
        /// The file.
        path: String,
    },
    /// The backup's folder exists already.
    #[error("there is already something at {path}")]
    BackupExists {
        /// The path.
        path: String,
    },
    /// The path to restore from is not a backup.
    #[error("{path} is no backup: the file {name} is {defect}")]
    NoBackup {
        /// The path.
        path: String,
        /// The file that a backup has.
        name: &'static str,
        /// Its defect: `missing`, or `foreign` for a file that espelho did not write.
        defect: &'static str,
    },
    /// A mirror exists where the backup should be restored.
    #[error("there is a mirror at {path} already")]
    Occupied {
        /// The file.
        path: String,
    },
    /// Another process has the file open that the operation would replace.
    #[error("{path} is in use by another process")]
    InUse {
        /// The file.
        path: String,
    },
    /// A restore is replacing the database.
    #[error("the database {path} is being restored")]
    Restoring {
        /// The file.
        path: String,
    },
    /// The disk has too little room for a copy.
    #[error("{path} has {free} free bytes, and {needed} are needed")]
    NoRoom {
        /// The folder.
        path: String,
        /// The bytes needed.
        needed: u64,
        /// The free bytes.
        free: u64,
    },
    /// A server's database cannot be copied.
    #[error("the database at {url} cannot be copied: {obstacle}")]
    NoCopy {
        /// The address, without its password.
        url: String,
        /// The obstacle.
        obstacle: CopyObstacle,
    },
}

/// The obstacle to a copy of a server's database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CopyObstacle {
    /// The role may not create databases.
    #[error("the role {role} may not create databases")]
    Role {
        /// The role.
        role: String,
    },
    /// Others are connected, so only the server's programs can copy it, and they are not installed.
    #[error("others are connected, and pg_dump and pg_restore are not installed")]
    Programs,
    /// A program failed.
    #[error("{cause}")]
    Dump {
        /// Its own words.
        cause: String,
    },
}

impl Error {
    /// Makes the error of a failed statement and counts it by the database's code.
    pub(crate) fn statement(operation: &'static str, source: sqlx::Error) -> Self {
        let code = match &source {
            sqlx::Error::Database(refusal) => refusal.code().map(Cow::into_owned),
            sqlx::Error::PoolTimedOut => Some("pool_timed_out".to_owned()),
            _ => None,
        };
        if code.as_deref().is_some_and(|code| ["1034", "1290"].contains(&code)) {
            DISK_GAVE_UP.send_replace(true);
        }
        let mut counted = COUNTED.lock();
        *counted.entry(code.unwrap_or_else(|| "connection".to_owned())).or_default() += 1;
        Self::Statement { operation, source }
    }

    /// Resolves once the disk of a SQLite file has refused an fsync. The content of the disk is then unknown, even
    /// if the next attempt seems to succeed. Only a new process, which reads the file again, may continue.
    pub async fn disk_gave_up() {
        // The sender is never dropped.
        let _ = DISK_GAVE_UP.subscribe().wait_for(|gave_up| *gave_up).await;
    }

    /// The failed statements of this process, by the database's code.
    pub fn counted() -> BTreeMap<String, u64> {
        COUNTED.lock().clone()
    }

    /// Tells if this process has closed its connections, as it does when it stops.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Statement { source: sqlx::Error::PoolClosed, .. })
    }

    /// Whether the database refused the row's content: a value out of range, nested too deeply, too large. The other
    /// rows can be written without it.
    pub fn concerns_a_row(&self) -> bool {
        let Self::Statement { source: sqlx::Error::Database(refusal), .. } = self else { return false };
        let code = refusal.code().unwrap_or_default();
        if code.len() == 5 {
            // PostgreSQL: data exception, integrity, program limit.
            return ["22", "23", "54"].iter().any(|class| code.starts_with(class));
        }
        // SQLite: TOOBIG, CONSTRAINT, MISMATCH. An extended code has the primary one in its lowest byte.
        code.parse::<u32>().is_ok_and(|code| matches!(code & 0xFF, 18..=20))
    }

    /// Cause and next step, for people.
    pub fn text(&self) -> Text {
        match self {
            Self::Address { url, why } if why == UNKNOWN_SCHEME => {
                text!("database-address-scheme", url = url)
            }
            Self::Address { url, why } => text!("database-address", url = url, why = why),
            Self::Connect { url, source } if is_unknown_database(source) => {
                text!("database-unknown", url = url, name = database_in(url))
            }
            Self::Connect { url, source: sqlx::Error::Io(error) }
                if error.kind() == ErrorKind::ReadOnlyFilesystem =>
            {
                let folder =
                    url.trim_start_matches("sqlite:").rsplit_once('/').map_or(".", |(folder, _)| folder);
                text!("database-read-only-folder", url = url, folder = folder)
            }
            Self::Connect { url, source } => match self.symptom() {
                refusal @ Symptom::Database(..) => {
                    let (detail, step) = (refusal.text(), Arg::Next(Box::new(refusal.text())));
                    text!("database-connect-refused", url = url, detail = detail, step = step)
                }
                _ => text!("database-connect", url = url, cause = own_words(source)),
            },
            Self::Network { url, kind } => text!("database-network", url = url, kind = *kind),
            Self::OldLibrary { found } => text!("database-old-library", found = found),
            Self::Damaged { file, what } => text!("database-damaged", file = file, what = what),
            Self::DamagedBackup { path, what } => {
                text!("database-damaged-backup", path = path, what = what)
            }
            Self::Newer { found } => text!("database-newer", found = found.to_string()),
            Self::Missing { url } => text!("database-missing", url = url),
            Self::Vanished { file, saved: Some(copy) } => {
                text!("database-vanished-saved", file = file, copy = copy)
            }
            Self::Vanished { file, saved: None } => text!("database-vanished", file = file),
            Self::Older { found, wanted } => {
                text!("database-older", found = found.to_string(), wanted = wanted.to_string())
            }
            Self::Migrate(source) => text!("database-migrate", cause = source.to_string()),
            Self::Statement { source: sqlx::Error::PoolTimedOut, .. } => text!("database-no-connection"),
            Self::Statement { source, .. } => match self.symptom() {
                refusal @ Symptom::Database(..) => {
                    let (detail, step) = (refusal.text(), Arg::Next(Box::new(refusal.text())));
                    text!("database-refused", detail = detail, step = step)
                }
                _ => text!("database-statement", cause = source.to_string()),
            },
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
            Self::Foreign { path, .. } => text!("place-foreign", path = path, command = program::typed()),
            Self::Copy { path, source, .. } => copy_text(path, source),
            Self::BackupExists { path } => text!("database-backup-exists", path = path),
            Self::NoBackup { path, name, defect } => {
                text!("database-no-backup", path = path, name = *name, defect = *defect)
            }
            Self::Occupied { path } => text!("database-occupied", path = path),
            Self::InUse { path } => text!("database-in-use", path = path),
            Self::Restoring { path } => text!("database-restoring", path = path),
            Self::NoRoom { path, needed, free } => {
                let [needed, free] = [needed, free].map(|bytes| Arg::Quantity((bytes >> 20).into()));
                text!("database-no-room", path = path, needed = needed, free = free)
            }
            Self::NoCopy { obstacle, .. } => match obstacle {
                CopyObstacle::Role { role } => text!("rehearsal-no-right", role = role),
                CopyObstacle::Programs => text!("rehearsal-no-programs"),
                CopyObstacle::Dump { cause } => text!("rehearsal-dump-failed", cause = cause),
            },
        }
    }

    /// The next step in English, for logs.
    pub fn hint(&self) -> String {
        self.text().next(Locale::of(Language::English)).unwrap_or_default()
    }
}

/// A time in the reader's own zone; any other text unchanged.
fn instant(since: &str) -> Arg {
    chrono::DateTime::parse_from_rfc3339(since).map_or_else(|_| since.into(), |at| at.to_utc().into())
}

/// Tells whether the PostgreSQL server has no database of this name (`invalid_catalog_name`).
fn is_unknown_database(source: &sqlx::Error) -> bool {
    let refusal = source.as_database_error();
    refusal.and_then(sqlx::error::DatabaseError::code).is_some_and(|code| code == "3D000")
}

/// Returns the database's own message, without the place in its source that a server may add.
fn own_words(source: &sqlx::Error) -> String {
    source.as_database_error().map_or_else(|| source.to_string(), |refusal| refusal.message().to_owned())
}

/// Returns the name of the database in an address.
fn database_in(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the message about a file of a copy that the system refuses, with the step that its reason asks for.
fn copy_text(path: &str, source: &std::io::Error) -> Text {
    let place = Path::new(path);
    let is_file = || std::fs::symlink_metadata(place).is_ok_and(|about| about.is_file());
    match source.kind() {
        ErrorKind::PermissionDenied => {
            let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = quoted(&folder.unwrap_or(Path::new(".")).display().to_string());
            text!("database-copy-denied", path = path, folder = folder)
        }
        ErrorKind::AlreadyExists if is_file() => {
            text!("database-copy-in-the-way", path = path, quoted = quoted(path))
        }
        _ => text!("database-copy", path = path, cause = source.to_string()),
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
