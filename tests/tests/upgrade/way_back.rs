//! The backup that is made before a migration, and the way back to it.

use std::path::{Path, PathBuf};

use espelho_tests::{Installation, Kind, Mirror, until};
use sqlx::{SqlitePool, sqlite::SqliteConnectOptions};

use super::older::{self, ORDERS, VERSION, kept, versions};

fn backups(installation: &Installation) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(installation.dir().join("backups")).into_iter().flatten().flatten();
    folder.map(|entry| entry.path()).collect()
}

async fn ask(file: &Path, sql: &str) -> Vec<espelho_tests::Row> {
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(file)).await.unwrap();
    let mirror = Mirror::Sqlite(pool);
    let rows = mirror.ask(sql).await;
    older::closed(mirror).await;
    rows
}

// withstands: F108
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_backup_of_before_a_migration_is_of_the_old_version_and_comes_back_with_every_row() {
    let installation = older::installation(Kind::Sqlite).await;
    let migrated = installation.run(&["migrate", "--json"]).await.expect(0).json();
    let made = backups(&installation);
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!(migrated["backup"], made[0].display().to_string());
    let copy = made[0].join("espelho.db");
    let version = "SELECT CAST(max(version) AS TEXT) AS version FROM _sqlx_migrations";
    assert_eq!(ask(&copy, version).await[0]["version"], VERSION.to_string());
    assert_eq!(ask(&copy, "SELECT order_number FROM orders").await.len(), ORDERS);
    let (expected, all) = (kept(&installation).await, versions(&installation).await);
    // The new version has changed rows meanwhile.
    let mirror = installation.mirror().await;
    mirror.execute("DELETE FROM order_items").await;
    mirror.execute("UPDATE orders SET status = 'cancelled'").await;
    older::closed(mirror).await;
    let path = made[0].display().to_string();
    installation.run(&["restore", "--replace", &path]).await.expect(0);
    assert_eq!(versions(&installation).await, all, "this version restores it, and migrates it");
    let mut restored = kept(&installation).await;
    // A command that was open in the backup may have been carried out since.
    assert_eq!(restored.remove("commands").map(|rows| rows.len()), expected.get("commands").map(Vec::len));
    for (table, rows) in &restored {
        assert!(rows == &expected[table], "{table} differs");
    }
    installation.run(&["migrate"]).await.expect(0);
    assert_eq!(backups(&installation).len(), 1, "nothing is pending any more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_backup_is_made_where_somebody_says_so_or_nothing_would_be_lost() {
    let installation = older::installation(Kind::Sqlite).await;
    installation.run(&["migrate", "--no-backup"]).await.expect(0);
    assert_eq!(backups(&installation), Vec::<PathBuf>::new());
    let configured = older::installation(Kind::Sqlite).await;
    let file = configured.dir().join("espelho.toml");
    let main = std::fs::read_to_string(file).unwrap();
    let main = main.replacen("[database]\n", "[database]\nbackup_before_migration = false\n", 1);
    configured.write("espelho.toml", &main);
    configured.run(&["migrate"]).await.expect(0);
    assert_eq!(backups(&configured), Vec::<PathBuf>::new());
    let new = older::empty(Kind::Sqlite).await;
    new.run(&["migrate"]).await.expect(0);
    assert_eq!(backups(&new), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_of_a_new_version_makes_the_backup_before_it_migrates() {
    let installation = older::installation(Kind::Sqlite).await;
    let mut service = installation.start(&["run"]);
    until("it has migrated", async || {
        assert!(!service.has_ended(), "the service has ended");
        versions(&installation).await.last() > Some(&VERSION) && backups(&installation).len() == 1
    })
    .await;
    service.terminate().await;
    service.end().await.says("made a backup before the migration");
    assert!(backups(&installation)[0].join("espelho.db-inbox").exists());
}
