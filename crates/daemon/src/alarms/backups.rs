//! What is on record about backups of the database's file.

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::{BackupRecord, BackupRun};
use espelho_sync_engine::plan::alarms::{BackupAct, BackupObservation};

/// A backup that was due while the machine was off has this long after a start: its timer makes up for it.
const MADE_UP: TimeDelta = TimeDelta::hours(1);

/// Returns the last backups of a database. A server's own tools copy one that has no file.
pub(super) fn observed(database: Option<&Path>, started_at: Option<DateTime<Utc>>) -> Vec<BackupObservation> {
    let Some(database) = database else { return Vec::new() };
    let BackupRecord { copy, verification } = BackupRecord::read(database);
    [of(BackupAct::Copy, copy, started_at), of(BackupAct::Verification, verification, started_at)].into()
}

fn of(act: BackupAct, run: BackupRun, started_at: Option<DateTime<Utc>>) -> BackupObservation {
    let made_up = started_at.map(|started_at| started_at + MADE_UP);
    BackupObservation {
        act,
        due_at: run.due_at().map(|due_at| made_up.map_or(due_at, |made_up| due_at.max(made_up))),
        succeeded_at: run.succeeded_at,
        failed: run.failure.map(|failure| (failure.since, failure.text)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_backup_that_was_due_while_nothing_ran_has_an_hour_after_the_start() {
        let at = |hour: i64| DateTime::UNIX_EPOCH + TimeDelta::hours(hour);
        for (started_at, expected) in
            [(None, 36), (Some(at(1)), 36), (Some(at(36)), 37), (Some(at(100)), 101)]
        {
            let mut run = BackupRun::default();
            run.succeeded(at(0), Some(Duration::from_secs(36 * 3_600)));
            assert_eq!(of(BackupAct::Copy, run, started_at).due_at, Some(at(expected)));
        }
        assert_eq!(of(BackupAct::Copy, BackupRun::default(), Some(at(1))).due_at, None);
        assert_eq!(observed(None, None), []);
    }
}
