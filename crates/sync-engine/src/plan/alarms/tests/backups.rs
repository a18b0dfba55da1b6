//! Backups.

use espelho_model::text;
use espelho_store::BackupAct;

use super::*;

/// Seconds since an act last succeeded, since it failed, and since it was due.
type Ended = (Option<i64>, Option<i64>, Option<i64>);

fn told((copy, verification): (Ended, Ended)) -> Vec<(String, String, Option<DateTime<Utc>>)> {
    let observed = |act, (succeeded, failed, due): Ended| BackupObservation {
        act,
        succeeded_at: succeeded.map(ago),
        failed: failed.map(|seconds| (ago(seconds), text!("alarm-disk-full", mebibytes = 0))),
        due_at: due.map(ago),
    };
    let backups = vec![observed(BackupAct::Copy, copy), observed(BackupAct::Verification, verification)];
    let verdict = decide(&Observations { backups, ..seen(vec![store("a")]) });
    let alarms = verdict.alarms.into_iter();
    alarms
        .map(|alarm| {
            assert_eq!((alarm.code, alarm.severity), (Code::BackupFailed, Severity::Warning));
            (alarm.text.id().to_owned(), alarm.cause, alarm.since)
        })
        .collect()
}

#[test]
fn a_backup_that_failed_or_did_not_come_is_an_alarm_until_one_succeeds() {
    const WELL: Ended = (Some(3_600), None, Some(-60));
    const LATE: Ended = (Some(3_600), None, Some(60));
    const FAILED: Ended = (Some(3_600), Some(30), Some(60));
    let late = |cause: &'static str| ("alarm-backup-late", cause, Some(60));
    let failed = |cause: &'static str| ("alarm-backup-failed", cause, Some(30));
    for (copy, verification, expected) in [
        ((None, None, None), (None, None, None), vec![]),
        ((Some(3_600), None, None), (None, None, None), vec![]),
        (WELL, WELL, vec![]),
        (LATE, WELL, vec![late("backup")]),
        (WELL, LATE, vec![late("backup verify")]),
        (FAILED, WELL, vec![failed("backup")]),
        (WELL, FAILED, vec![failed("backup verify")]),
        // Without a copy there is none to prove; a proof that failed is another cause.
        (LATE, LATE, vec![late("backup")]),
        (FAILED, LATE, vec![failed("backup")]),
        (FAILED, FAILED, vec![failed("backup"), failed("backup verify")]),
        ((None, Some(30), None), WELL, vec![failed("backup")]),
        ((None, None, Some(60)), WELL, vec![("alarm-backup-never", "backup", Some(60))]),
        // The clock was ahead when it failed.
        ((None, Some(-7_200), None), WELL, vec![("alarm-backup-failed", "backup", None)]),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(text, cause, since)| (text.to_owned(), cause.to_owned(), since.map(ago)))
            .collect();
        assert_eq!(told((copy, verification)), expected);
    }
}
