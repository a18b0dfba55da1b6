//! How the last backups ended, in a file beside the database: a backup may fail because nothing can be written into the
//! database, and the service tells people about it.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::text::Text;
use serde::{Deserialize, Serialize};

use super::failed;
use crate::{
    Error,
    connect::{
        address::beside,
        permissions::{create_private, hand_over},
    },
};

/// The file's name follows the database's.
const SUFFIX: &str = "-backups.json";
/// A longer file is not ours.
const LONGEST: u64 = 65_536;

/// How the last backup ended, and the last proof that one can be restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupRecord {
    /// The last copy.
    #[serde(default)]
    pub copy: BackupRun,
    /// The last restore into a place of its own.
    #[serde(default)]
    pub verification: BackupRun,
}

/// How the last run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupRun {
    /// When one last succeeded.
    pub succeeded_at: Option<DateTime<Utc>>,
    /// Why the last one failed; `None` if it succeeded.
    pub failure: Option<BackupFailure>,
    /// The time within which the next one has to succeed, in seconds, where something starts them regularly.
    pub next_within_seconds: Option<u64>,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFailure {
    /// The first failure since the last success.
    pub since: DateTime<Utc>,
    /// The stable code of the last one.
    pub code: String,
    /// Its cause and the next step.
    pub text: Text,
}

impl BackupRecord {
    /// Reads the record of a database. None that can be read is an empty one.
    #[must_use]
    pub fn read(database: &Path) -> Self {
        match read(&place(database)) {
            Ok(record) => record,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(error) => {
                tracing::debug!(%error, "the record of the backups cannot be read");
                Self::default()
            }
        }
    }

    /// Writes the record beside its database. A reader sees the one before, or this one.
    ///
    /// # Errors
    /// [`Error::Copy`] when the folder or the disk refuses the file.
    pub fn write(&self, database: &Path) -> Result<(), Error> {
        let place = place(database);
        let draft = beside(&place, &format!(".{}", std::process::id()));
        let json = serde_json::to_vec_pretty(self).map_err(io::Error::other);
        let written = json.and_then(|json| {
            create_private(&draft)?;
            fs::write(&draft, json)?;
            hand_over(&draft)?;
            fs::rename(&draft, &place)
        });
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written.map_err(failed("write", &place))
    }
}

impl BackupRun {
    /// Notes a success. A span that is given replaces the one before; a run by hand gives none, and changes no plan.
    pub fn succeeded(&mut self, at: DateTime<Utc>, next_within: Option<Duration>) {
        self.plan(next_within);
        (self.succeeded_at, self.failure) = (Some(at), None);
    }

    /// Notes a failure.
    pub fn failed(&mut self, at: DateTime<Utc>, code: &str, text: Text, next_within: Option<Duration>) {
        self.plan(next_within);
        let since = self.failure.as_ref().map_or(at, |failure| failure.since);
        self.failure = Some(BackupFailure { since, code: code.to_owned(), text });
    }

    /// Returns when the next one has to have succeeded; `None` where nothing promises one.
    #[must_use]
    pub fn due_at(&self) -> Option<DateTime<Utc>> {
        let within = Duration::from_secs(self.next_within_seconds.filter(|seconds| *seconds > 0)?);
        self.succeeded_at?.checked_add_signed(chrono::TimeDelta::from_std(within).ok()?)
    }

    fn plan(&mut self, next_within: Option<Duration>) {
        self.next_within_seconds = next_within.map(|span| span.as_secs()).or(self.next_within_seconds);
    }
}

fn place(database: &Path) -> PathBuf {
    beside(database, SUFFIX)
}

fn read(place: &Path) -> io::Result<BackupRecord> {
    let mut json = Vec::new();
    fs::File::open(place)?.take(LONGEST).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use espelho_model::text;

    use super::*;

    const NIGHT: Duration = Duration::from_secs(36 * 3_600);

    fn at(hour: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_764_000_000 + hour * 3_600, 0).unwrap()
    }

    #[test]
    fn a_run_by_hand_changes_no_plan_and_a_success_ends_the_failures_before() {
        let mut run = BackupRun::default();
        run.succeeded(at(0), None);
        assert_eq!(run.due_at(), None, "nothing promises another");
        run.succeeded(at(1), Some(NIGHT));
        assert_eq!(run.due_at(), Some(at(37)));
        for hour in [2, 3] {
            run.failed(at(hour), "disk_full", text!("copies-none", folder = "/x"), Some(NIGHT));
        }
        assert_eq!(run.failure.as_ref().map(|failure| failure.since), Some(at(2)));
        assert_eq!(run.due_at(), Some(at(37)), "a failure proves nothing");
        run.succeeded(at(4), None);
        assert_eq!((run.failure.clone(), run.due_at()), (None, Some(at(40))));
        run.succeeded(at(5), Some(Duration::ZERO));
        assert_eq!(run.due_at(), None, "the plan is over");
        run.succeeded(at(6), Some(Duration::MAX));
        assert_eq!(run.due_at(), None);
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_a_damaged_one_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("espelho.db");
        assert_eq!(BackupRecord::read(&database), BackupRecord::default());
        let mut record = BackupRecord::default();
        record.copy.failed(at(1), "disk_full", text!("copies-none", folder = "/x"), Some(NIGHT));
        record.verification.succeeded(at(2), None);
        record.write(&database).unwrap();
        assert_eq!(BackupRecord::read(&database), record);
        let file = fs::metadata(place(&database)).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
        for damaged in ["", "{", "[]", "{\"copy\":{\"succeeded_at\":7}}"] {
            fs::write(place(&database), damaged).unwrap();
            assert_eq!(BackupRecord::read(&database), BackupRecord::default(), "{damaged}");
        }
        assert!(record.write(&folder.path().join("none/espelho.db")).is_err());
    }
}
