//! Backups that fail, and that do not come.

use espelho_tests::Kind;

use crate::stage::Stage;

// Exercises F104, F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_cannot_be_proved_is_named_until_one_is() {
    let stage = Stage::on(Kind::Sqlite).await;
    let verify = ["backup", "verify", "--next-within", "36h"];
    stage.installation.run(&verify).await.expect(1);
    let mut watch = stage.watch("no backup to prove", "backup_failed");
    let alarm = watch.raised().await;
    assert_eq!(alarm.text("cause"), "verification", "{alarm:?}");
    let printed = alarm.commands();
    assert_eq!(printed, [vec!["backup"], vec!["backup", "verify"]], "{alarm:?}");
    for command in printed {
        stage.types(&command.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    watch.ends();
    watch.cleared().await;
}

// Exercises F104, F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_into_a_folder_that_takes_none_is_named_and_one_elsewhere_is_a_person_s_own() {
    let stage = Stage::on(Kind::Sqlite).await;
    let backups = stage.installation.dir().join("backups");
    std::fs::write(&backups, "no folder").unwrap();
    stage.installation.run(&["backup", "/proc/none"]).await.expect(1);
    stage.is_well().await;
    stage.installation.run(&["backup"]).await.expect(1);
    let mut watch = stage.watch("no folder for backups", "backup_failed");
    let alarm = watch.raised().await;
    assert_eq!(alarm.text("cause"), "copy", "{alarm:?}");
    std::fs::remove_file(&backups).unwrap();
    stage.types_printed(&alarm, "backup").await;
    watch.ends();
    watch.cleared().await;
}
