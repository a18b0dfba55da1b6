//! Observations of the last backups, from the records beside the database's file.

use std::path::Path;

use chrono::{DateTime, Utc};
use espelho_store::{BackupAct, BackupRecord};
use espelho_sync_engine::plan::alarms::BackupObservation;

/// Returns the last backups of a database. A server's own tools copy one that has no file.
pub(super) fn observed(database: Option<&Path>, now: DateTime<Utc>) -> Vec<BackupObservation> {
    let Some(database) = database else { return Vec::new() };
    let of = |act| {
        let record = BackupRecord::read(database, act);
        BackupObservation {
            act,
            due_at: record.due_at(now),
            succeeded_at: record.succeeded_at,
            failed: record.failure.map(|failure| (failure.since, failure.text)),
        }
    };
    [BackupAct::Copy, BackupAct::Verification].map(of).into()
}
