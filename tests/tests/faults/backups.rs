//! Backups that fail, and that do not come.

use espelho_tests::{Kind, on_both_databases};

use crate::stage::Stage;

// Exercises F104, F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_cannot_be_proved_is_named_until_one_is() {
    let stage = Stage::on(Kind::Sqlite).await;
    let verify = ["backup", "verify", "--next-within", "36h"];
    stage.installation.run(&verify).await.expect(1);
    is_named_and_mended(&stage, "no backup to prove", "backup verify", || ()).await;
}

// Exercises F104, F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_planned_backup_into_a_folder_that_takes_none_is_named_and_one_by_hand_is_not() {
    let stage = Stage::on(Kind::Sqlite).await;
    let backups = stage.installation.dir().join("backups");
    std::fs::write(&backups, "no folder").unwrap();
    stage.installation.run(&["backup"]).await.expect(1);
    stage.is_well().await;
    stage.installation.run(&["backup", "--next-within", "36h"]).await.expect(1);
    let remove = || std::fs::remove_file(&backups).unwrap();
    is_named_and_mended(&stage, "no folder for backups", "backup", remove).await;
}

// Exercises F104, F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_does_not_come_is_named_until_nothing_is_due_any_more() {
    let stage = Stage::on(Kind::Sqlite).await;
    stage.installation.run(&["backup", "--next-within", "2s"]).await.expect(0);
    let mut watch = stage.watch("backups stopped", "backup_failed");
    let alarm = watch.raised().await;
    assert!(alarm.commands().contains(&vec!["backup".to_owned()]), "{alarm:?}");
    let elsewhere = stage.installation.dir().join("elsewhere").display().to_string();
    stage.types(&["backup", "--next-within", "0h", &elsewhere]).await;
    watch.ends();
    watch.cleared().await;
}

on_both_databases![a_backup_by_hand_promises_no_other,];

// Exercises F104, F134
async fn a_backup_by_hand_promises_no_other(kind: Kind) {
    let stage = Stage::on(kind).await;
    let code = if kind == Kind::Sqlite { 0 } else { 2 };
    stage.installation.run(&["backup"]).await.expect(code);
    let records = std::fs::read_dir(stage.installation.dir()).unwrap().flatten();
    let names: Vec<_> = records.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|name| name.contains("backup.json")), "{names:?}");
    stage.is_well().await;
}

/// Waits for the alarm about this act, mends the cause, and runs every command that the alarm's next step prints.
async fn is_named_and_mended(stage: &Stage, fault: &'static str, act: &str, mend: impl FnOnce()) {
    let mut watch = stage.watch(fault, "backup_failed");
    let alarm = watch.raised().await;
    assert_eq!(alarm.text("cause"), act, "{alarm:?}");
    mend();
    for command in alarm.commands() {
        stage.types(&command.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    watch.ends();
    watch.cleared().await;
}
