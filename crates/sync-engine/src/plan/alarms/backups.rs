//! The alarms of backups: one that failed, or did not come, is missed before anybody needs it.

use espelho_model::{
    text,
    text::{Arg, Text},
};

use super::{Alarm, BackupAct, BackupObservation, Code, Observations, Severity, alarm};

/// Returns an alarm for each act that failed, or that is overdue.
pub(super) fn alarms(seen: &Observations) -> impl Iterator<Item = Alarm> {
    seen.backups.iter().filter_map(|backup| of(backup, seen))
}

fn of(backup: &BackupObservation, seen: &Observations) -> Option<Alarm> {
    let act = backup.act.as_str();
    let (since, text) = match (&backup.failed, backup.due_at) {
        (Some((since, cause)), _) => (*since, failed(act, cause)),
        (None, Some(due_at)) if due_at < seen.at => (due_at, late(act, backup)?),
        (None, _) => return None,
    };
    let alarm = alarm(Code::BackupFailed, Severity::Warning, None, Some(since), text);
    Some(Alarm { cause: act.to_owned(), ..alarm })
}

fn failed(act: &'static str, cause: &Text) -> Text {
    let step = Arg::Next(Box::new(cause.clone()));
    text!("alarm-backup-failed", act = act, cause = cause.clone(), step = step)
}

fn late(act: &'static str, backup: &BackupObservation) -> Option<Text> {
    Some(text!("alarm-backup-late", act = act, at = backup.succeeded_at?))
}

impl BackupAct {
    /// The word on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Verification => "verification",
        }
    }
}
