//! Backups.

use espelho_model::text;

use super::*;

#[test]
fn a_backup_that_failed_or_did_not_come_is_an_alarm_until_one_succeeds() {
    let full = || text!("alarm-disk-full", mebibytes = 0);
    for (succeeded, failed, due, expected) in [
        (None, None, None, None),
        (Some(3_600), None, None, None),
        (Some(3_600), None, Some(-60), None),
        (Some(3_600), None, Some(60), Some(("alarm-backup-late", 60))),
        (Some(3_600), Some(30), Some(60), Some(("alarm-backup-failed", 30))),
        (None, Some(30), None, Some(("alarm-backup-failed", 30))),
    ] {
        for act in [BackupAct::Copy, BackupAct::Verification] {
            let backup = BackupObservation {
                act,
                succeeded_at: succeeded.map(ago),
                failed: failed.map(|seconds| (ago(seconds), full())),
                due_at: due.map(ago),
            };
            let verdict = decide(&Observations { backups: vec![backup], ..seen(vec![store("a")]) });
            let told: Vec<_> = verdict
                .alarms
                .iter()
                .map(|alarm| {
                    assert_eq!((alarm.code, alarm.severity), (Code::BackupFailed, Severity::Warning));
                    (alarm.text.id(), alarm.cause.as_str(), alarm.since)
                })
                .collect();
            let expected = expected.map(|(text, since)| (text, act.as_str(), Some(ago(since))));
            assert_eq!(told, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
