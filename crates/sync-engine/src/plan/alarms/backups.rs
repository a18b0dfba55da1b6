//! The alarms of backups: one that failed, or did not come, is missed before anybody needs it.

use espelho_model::{
    text,
    text::{Arg, Text},
    time::past,
};
use espelho_store::BackupAct;

use super::{Alarm, BackupObservation, Code, Observations, Severity, alarm};

/// Returns an alarm for each act that failed, or that is overdue. Copies that are missing explain why none is proved.
pub(super) fn alarms(seen: &Observations) -> impl Iterator<Item = Alarm> {
    let lacks_copy = seen.backups.iter().any(|other| other.act == BackupAct::Copy && is_wrong(other, seen));
    let explained = move |backup: &BackupObservation| {
        lacks_copy && backup.act == BackupAct::Verification && backup.failed.is_none()
    };
    let told = seen.backups.iter().filter(move |backup| is_wrong(backup, seen) && !explained(backup));
    told.map(|backup| of(backup, seen))
}

fn is_wrong(backup: &BackupObservation, seen: &Observations) -> bool {
    backup.failed.is_some() || backup.due_at.is_some_and(|due_at| due_at < seen.at)
}

fn of(backup: &BackupObservation, seen: &Observations) -> Alarm {
    let part = match backup.act {
        BackupAct::Copy => "copy",
        BackupAct::Verification => "verification",
    };
    let (since, text) = match &backup.failed {
        Some((since, cause)) => (past(Some(*since), seen.at), failed(part, cause)),
        None => (backup.due_at, late(part, backup)),
    };
    let alarm = alarm(Code::BackupFailed, Severity::Warning, None, since, text);
    Alarm { cause: backup.act.command().to_owned(), ..alarm }
}

fn failed(part: &'static str, cause: &Text) -> Text {
    let step = Arg::Next(Box::new(cause.clone()));
    text!("alarm-backup-failed", part = part, cause = cause.clone(), step = step)
}

fn late(part: &'static str, backup: &BackupObservation) -> Text {
    match backup.succeeded_at {
        Some(at) => text!("alarm-backup-late", part = part, at = at),
        None => text!("alarm-backup-never", part = part),
    }
}
