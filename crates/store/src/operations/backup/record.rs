//! Records of the last backups, in files beside the database: a backup may fail because nothing can be written into the
//! database, and the service tells people about it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown},
    path::{Path, PathBuf},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{text::Text, time::past};
use rustix::{fs::OFlags, process::geteuid};
use serde::{Deserialize, Serialize};

use super::failed;
use crate::{
    Error,
    connect::{address::beside, permissions::folder_of},
};

/// A longer file is not ours.
const LONGEST: u64 = 65_536;

/// A part of a backup. Each has a file of its own, so that two that end together lose nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupAct {
    /// `espelho backup`.
    Copy,
    /// `espelho backup verify`.
    Verification,
}

/// The record of an act: its last success or failure, and its plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupRecord {
    /// The time of the last success.
    pub succeeded_at: Option<DateTime<Utc>>,
    /// The folder that it made then; `None` for a proof.
    #[serde(default)]
    pub made: Option<PathBuf>,
    /// The failure of the last run; `None` if it succeeded.
    pub failure: Option<BackupFailure>,
    /// The beginning of the first run with a plan.
    planned_at: Option<DateTime<Utc>>,
    /// The time within which the next one has to succeed, in seconds, where something starts them regularly.
    next_within_seconds: Option<u64>,
}

/// A failure of an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFailure {
    /// The first failure since the last success.
    pub since: DateTime<Utc>,
    /// The cause of the last one, and its next step.
    pub text: Text,
}

impl BackupAct {
    /// The command after `espelho`, which is its name on every surface.
    pub fn command(self) -> &'static str {
        match self {
            Self::Copy => "backup",
            Self::Verification => "backup verify",
        }
    }

    fn file(self, database: &Path) -> PathBuf {
        match self {
            Self::Copy => beside(database, "-backup.json"),
            Self::Verification => beside(database, "-backup-verify.json"),
        }
    }
}

impl BackupRecord {
    /// Reads the record of an act. One that is missing, damaged or of a user who may not write it is empty.
    #[must_use]
    pub fn read(database: &Path, act: BackupAct) -> Self {
        match read(&act.file(database), database) {
            Ok(record) => record,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(error) => {
                tracing::debug!(%error, act = act.command(), "the record of the backups cannot be read");
                Self::default()
            }
        }
    }

    /// Writes the record beside its database. A reader sees the one before, or this one.
    ///
    /// # Errors
    /// [`Error::Copy`] when the folder or the disk refuses the file.
    pub fn write(&self, database: &Path, act: BackupAct) -> Result<(), Error> {
        let file = act.file(database);
        let draft = beside(&file, &format!(".{}", std::process::id()));
        let written = write(self, &draft).and_then(|()| fs::rename(&draft, &file));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written.map_err(failed("write", &file))
    }

    /// Forgets an act: nothing is due any more, and no failure is told.
    ///
    /// # Errors
    /// [`Error::Copy`] when the folder refuses it.
    pub fn forget(database: &Path, act: BackupAct) -> Result<(), Error> {
        let file = act.file(database);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &file)(error)),
            _ => Ok(()),
        }
    }

    /// Notes that an act begins which another one follows within a time. One that never ends is missed after that time too.
    pub fn plan(&mut self, at: DateTime<Utc>, next_within: Duration) {
        self.planned_at = past(self.planned_at, at).or(Some(at));
        self.next_within_seconds = Some(next_within.as_secs());
    }

    /// Notes a success, and the folder that it made.
    pub fn succeed(&mut self, at: DateTime<Utc>, made: Option<PathBuf>) {
        (self.succeeded_at, self.made, self.failure) = (Some(at), made, None);
    }

    /// Notes a failure.
    pub fn fail(&mut self, at: DateTime<Utc>, text: Text) {
        let since = self.failure.as_ref().map_or(at, |failure| failure.since);
        self.failure = Some(BackupFailure { since: since.min(at), text });
    }

    /// Returns by when the act has to have succeeded again; `None` where nothing promises it. A success in the future was
    /// recorded by a clock that was wrong, and promises nothing.
    #[must_use]
    pub fn due_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let within = TimeDelta::from_std(Duration::from_secs(self.next_within_seconds?)).ok()?;
        let last = past(self.succeeded_at, now).max(past(self.planned_at, now));
        last.unwrap_or(now).checked_add_signed(within)
    }

    /// Tells if nothing is on record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn read(file: &Path, database: &Path) -> io::Result<BackupRecord> {
    // A member of the folder's group may put a link there, or a pipe without a writer.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let record = OpenOptions::new().read(true).custom_flags(flags).open(file)?;
    let about = record.metadata()?;
    let owners =
        [fs::metadata(folder_of(database))?.uid(), fs::metadata(database).map_or(0, |file| file.uid())];
    let is_ours = about.is_file() && (about.uid() == 0 || owners.contains(&about.uid()));
    if !is_ours {
        return Err(io::Error::other("it is another user's, or no file"));
    }
    let mut json = Vec::new();
    record.take(LONGEST).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

/// Writes a file of its own, and gives one of root's to the owner of the folder: the service has a user of its own.
fn write(record: &BackupRecord, draft: &Path) -> io::Result<()> {
    let json = serde_json::to_vec_pretty(record).map_err(io::Error::other)?;
    // One that is there is left from a kill, or is a link that somebody put there.
    let _ = fs::remove_file(draft);
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    file.write_all(&json)?;
    if geteuid().is_root() {
        let folder = fs::metadata(folder_of(draft))?;
        fchown(&file, Some(folder.uid()), Some(folder.gid()))?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use espelho_model::text;

    use super::*;

    const NIGHT: Duration = Duration::from_secs(36 * 3_600);

    fn at(hour: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_764_000_000 + hour * 3_600, 0).unwrap()
    }

    fn cause() -> Text {
        text!("copies-none", folder = "/x")
    }

    #[test]
    fn a_planned_act_is_due_from_its_last_success_or_its_first_beginning() {
        let now = at(50);
        let mut record = BackupRecord::default();
        record.succeed(at(0), None);
        assert_eq!(record.due_at(now), None, "nothing promises another");
        let mut record = BackupRecord::default();
        record.plan(at(1), NIGHT);
        record.plan(at(25), NIGHT);
        assert_eq!(record.due_at(now), Some(at(37)), "neither of the two has ended");
        record.succeed(at(26), None);
        assert_eq!(record.due_at(now), Some(at(62)));
        record.plan(at(40), NIGHT);
        record.fail(at(41), cause());
        assert_eq!(record.due_at(now), Some(at(62)), "a failure proves nothing");
        record.fail(at(42), cause());
        assert_eq!(record.failure.as_ref().map(|failure| failure.since), Some(at(41)));
        record.succeed(at(43), None);
        assert_eq!((&record.failure, record.due_at(now)), (&None, Some(at(79))));
        record.succeed(at(9_000), None);
        assert_eq!(record.due_at(now), Some(at(37)), "that clock was wrong");
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_what_others_put_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("espelho.db");
        let read = || BackupRecord::read(&database, BackupAct::Copy);
        assert!(read().is_empty());
        let mut record = BackupRecord::default();
        record.plan(at(0), NIGHT);
        record.fail(at(1), cause());
        record.write(&database, BackupAct::Copy).unwrap();
        assert_eq!(read(), record);
        assert!(BackupRecord::read(&database, BackupAct::Verification).is_empty());
        let file = BackupAct::Copy.file(&database);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
        for damaged in ["", "{", "[]", "{\"succeeded_at\":7}"] {
            fs::write(&file, damaged).unwrap();
            assert!(read().is_empty(), "{damaged}");
        }
        BackupRecord::forget(&database, BackupAct::Copy).unwrap();
        BackupRecord::forget(&database, BackupAct::Copy).unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, serde_json::to_string(&record).unwrap()).unwrap();
        symlink(&precious, &file).unwrap();
        assert!(read().is_empty(), "a link is not followed");
        let draft = beside(&file, &format!(".{}", std::process::id()));
        symlink(&precious, &draft).unwrap();
        BackupRecord::default().write(&database, BackupAct::Copy).unwrap();
        assert!(fs::read_to_string(&precious).unwrap().contains("copies-none"), "nor written through");
        assert!(record.write(&folder.path().join("none/espelho.db"), BackupAct::Copy).is_err());
    }
}
