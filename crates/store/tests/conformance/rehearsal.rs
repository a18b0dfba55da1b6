//! The rehearsal of an upgrade: what it says, that it changes nothing, and that nothing of its copy is left.

use std::{
    collections::BTreeMap,
    future::{Future, pending, ready},
    io::ErrorKind,
    path::{Path, PathBuf},
    str::FromStr as _,
    time::Duration,
};

use espelho_model::clock::SystemClock;
use espelho_store::{
    ChangeKind, CopyObstacle, CopyWay, Error, MigrationState, ObjectKind, Part, Rehearsal, Stops, Store,
    rehearse,
};
use espelho_test_database::server::{run_on, server};
use sqlx::{ConnectOptions as _, Connection as _, postgres::PgConnectOptions};

use crate::{
    migration::{TEXT_AMOUNTS, rows},
    tables::Tables,
    world::{Older, up_to},
};

async fn rehearsed(url: &str, stop: impl Future<Output = ()>) -> Result<Option<Rehearsal>, Error> {
    rehearse(url, SystemClock::shared(), &|_, _, _| {}, stop).await
}

async fn whole(url: &str) -> Rehearsal {
    rehearsed(url, pending()).await.unwrap().unwrap()
}

/// The versions above one, in the order in which they are run.
async fn above(version: i64, folders: &[&str]) -> Vec<i64> {
    let mut versions = Vec::new();
    for folder in folders {
        let all = up_to(i64::MAX, folder).await;
        versions.extend(all.iter().map(|migration| migration.version).filter(|other| *other > version));
    }
    versions
}

/// The content of each file in the folder of a database, without the lock, which is empty.
fn files(url: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let file = Store::file_named_by(url).unwrap();
    let mut all = BTreeMap::new();
    let mut folders = vec![file.parent().unwrap().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.display().to_string().ends_with("-open.lock") {
                match std::fs::read(&path) {
                    Ok(content) => drop(all.insert(path, content)),
                    // The log of a connection that closes at this moment on a thread of its own.
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Err(error) => panic!("{}: {error}", path.display()),
                }
            }
        }
    }
    all
}

/// A server's database in words: its schema, its version, its rows, and the copies of it that are there.
async fn words(url: &str) -> Vec<Vec<Option<String>>> {
    let tables = Tables::open(url).await;
    let mut words = tables.definitions().await;
    words.extend(tables.texts("SELECT CAST(version AS TEXT) FROM _sqlx_migrations ORDER BY version").await);
    words.extend(tables.texts("SELECT CAST(orders AS TEXT) FROM orders ORDER BY order_number").await);
    words.extend(copies(&tables).await);
    tables.close().await;
    words
}

/// Waits until the server has ended every session of a database: a closed one ends a moment later there.
async fn alone(url: &str) {
    let name = PgConnectOptions::from_str(url).unwrap();
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'";
    let mut session = server().connect().await.unwrap();
    for _ in 0..1000 {
        let open = sqlx::query_scalar::<_, i64>(sql).bind(name.get_database()).fetch_one(&mut session);
        if open.await.unwrap() == 0 {
            return session.close().await.unwrap();
        }
        SystemClock::shared().sleep(Duration::from_millis(10)).await;
    }
    panic!("a session of {url} does not end");
}

async fn copies(tables: &Tables) -> Vec<Vec<Option<String>>> {
    let ours = "SELECT CAST(datname AS TEXT) FROM pg_database WHERE datname = 'espelho_rehearsal_' || \
        (SELECT CAST(oid AS TEXT) FROM pg_database WHERE datname = current_database())";
    tables.texts(ours).await
}

fn rows_of(rehearsal: &Rehearsal, part: Part, table: &str) -> (Option<u64>, Option<u64>) {
    let rows = rehearsal.tables.iter().find(|rows| (rows.part, rows.table.as_str()) == (part, table));
    let rows = rows.unwrap_or_else(|| panic!("no {table} in {:?}", rehearsal.tables));
    (rows.before, rows.after)
}

fn change(rehearsal: &Rehearsal, version: i64, kind: ObjectKind, name: &str) -> Option<ChangeKind> {
    let migration = rehearsal.migrations.iter().find(|migration| migration.version == version).unwrap();
    let change = migration.changes.iter().find(|change| (change.kind, change.name.as_str()) == (kind, name));
    change.map(|change| change.change)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rehearsal_says_what_each_migration_does_and_leaves_the_files_as_they_are_on_sqlite() {
    let older = Older::on_sqlite(TEXT_AMOUNTS, &rows()).await;
    let before = files(&older.url);
    let rehearsal = whole(&older.url).await;
    assert!(files(&older.url) == before, "the files have changed, or others are there");
    let versions: Vec<i64> = rehearsal.migrations.iter().map(|migration| migration.version).collect();
    assert_eq!(versions, above(TEXT_AMOUNTS, &["sqlite/inbox", "sqlite"]).await);
    assert!(rehearsal.migrations.iter().all(|migration| migration.state == MigrationState::Done));
    assert_eq!(rehearsal.copy.unwrap().way, CopyWay::Backup);
    assert_eq!(change(&rehearsal, 16, ObjectKind::Table, "orders"), Some(ChangeKind::Changed));
    assert_eq!(change(&rehearsal, 17, ObjectKind::View, "v_alarms"), Some(ChangeKind::Added));
    assert_eq!(change(&rehearsal, 31, ObjectKind::Table, "tokens"), Some(ChangeKind::Dropped));
    assert_eq!(change(&rehearsal, 16, ObjectKind::Table, "leases"), None);
    for migration in &rehearsal.migrations {
        assert_eq!(migration.locks.len(), 1, "{migration:?}");
        assert_eq!((migration.locks[0].table.as_str(), migration.locks[0].stops), ("*", Stops::Writers));
    }
    assert_eq!(rows_of(&rehearsal, Part::Mirror, "orders"), (Some(3), Some(3)));
    assert_eq!(rows_of(&rehearsal, Part::Mirror, "tokens"), (Some(0), None));
    assert_eq!(rows_of(&rehearsal, Part::Mirror, "our_orders"), (Some(0), Some(0)));
    assert_eq!(rows_of(&rehearsal, Part::Inbox, "tokens"), (None, Some(0)));
    assert_eq!(rehearsal.with_fewer_rows().count(), 0);
    let url = older.url.clone();
    let world = older.open().await;
    let after = whole(&url).await;
    assert!(after.copy.is_none() && after.migrations.is_empty(), "nothing is pending any more");
    drop(world);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rehearsal_says_what_each_migration_does_and_leaves_the_database_as_it_is_on_postgres() {
    let older = Older::on_postgres(TEXT_AMOUNTS, &rows()).await;
    let before = words(&older.url).await;
    alone(&older.url).await;
    let rehearsal = whole(&older.url).await;
    assert_eq!(words(&older.url).await, before);
    let versions: Vec<i64> = rehearsal.migrations.iter().map(|migration| migration.version).collect();
    assert_eq!(versions, above(TEXT_AMOUNTS, &["postgres"]).await);
    assert!(rehearsal.migrations.iter().all(|migration| migration.state == MigrationState::Done));
    assert_eq!(rehearsal.copy.unwrap().way, CopyWay::Template);
    assert_eq!(change(&rehearsal, 16, ObjectKind::Table, "orders"), Some(ChangeKind::Changed));
    assert_eq!(change(&rehearsal, 17, ObjectKind::View, "v_alarms"), Some(ChangeKind::Added));
    let locks = |version: i64| -> Vec<(&str, Stops)> {
        let migration = rehearsal.migrations.iter().find(|migration| migration.version == version).unwrap();
        migration.locks.iter().map(|lock| (lock.table.as_str(), lock.stops)).collect()
    };
    assert!(locks(16).contains(&("orders", Stops::Everyone)), "a new column: {:?}", locks(16));
    assert!(!locks(17).iter().any(|(table, _)| *table == "alarms"), "nobody knows it yet: {:?}", locks(17));
    assert_eq!(rows_of(&rehearsal, Part::Database, "orders"), (Some(3), Some(3)));
    assert_eq!(rehearsal.with_fewer_rows().count(), 0);
    let url = older.url.clone();
    let world = older.open().await;
    let after = whole(&url).await;
    assert!(after.copy.is_none() && after.migrations.is_empty(), "nothing is pending any more");
    drop(world);
}

/// A table of the ERP's that has the name of a view to come.
fn in_the_way() -> Vec<String> {
    let mut rows = rows();
    rows.push("CREATE TABLE v_alarms (code TEXT)".to_owned());
    rows
}

fn assert_failed_at_17(rehearsal: &Rehearsal) {
    let failed = rehearsal.failed().unwrap();
    assert_eq!((failed.version, failed.state), (17, MigrationState::Failed));
    let cause = format!("{:?}", failed.error);
    assert!(cause.contains("v_alarms"), "{cause}");
    let (mut done, mut not_run) = (0, 0);
    for migration in &rehearsal.migrations {
        match migration.state {
            MigrationState::Done => done += 1,
            MigrationState::NotRun => not_run += 1,
            MigrationState::Failed => {}
        }
    }
    assert!(done >= 1 && not_run >= 10, "{done} done, {not_run} not run");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_migration_that_fails_on_the_copy_is_named_and_the_rest_is_not_run_on_sqlite() {
    let older = Older::on_sqlite(TEXT_AMOUNTS, &in_the_way()).await;
    let before = files(&older.url);
    assert_failed_at_17(&whole(&older.url).await);
    assert!(files(&older.url) == before, "the files have changed, or others are there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_migration_that_fails_on_the_copy_is_named_and_the_rest_is_not_run_on_postgres() {
    let older = Older::on_postgres(TEXT_AMOUNTS, &in_the_way()).await;
    let before = words(&older.url).await;
    assert_failed_at_17(&whole(&older.url).await);
    assert_eq!(words(&older.url).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rehearsal_that_is_stopped_leaves_nothing_behind() {
    let older = Older::on_sqlite(TEXT_AMOUNTS, &rows()).await;
    let before: Vec<PathBuf> = files(&older.url).into_keys().collect();
    assert!(rehearsed(&older.url, ready(())).await.unwrap().is_none());
    let stays = |path: &PathBuf| !path.display().to_string().contains("-rehearsal");
    let after: Vec<PathBuf> = files(&older.url).into_keys().collect();
    assert!(after.iter().all(stays) && before.iter().all(|path| after.contains(path)), "{after:?}");
    let older = Older::on_postgres(TEXT_AMOUNTS, &rows()).await;
    let before = words(&older.url).await;
    assert!(rehearsed(&older.url, ready(())).await.unwrap().is_none());
    assert_eq!(words(&older.url).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_rehearsal_has_left_is_cleared_away_by_the_next_one() {
    let older = Older::on_sqlite(TEXT_AMOUNTS, &rows()).await;
    let before = files(&older.url);
    let left = PathBuf::from(format!("{}-rehearsal", Store::file_named_by(&older.url).unwrap().display()));
    std::fs::create_dir_all(left.join("copy")).unwrap();
    std::fs::write(left.join("copy").join("espelho.db"), "half of it").unwrap();
    assert!(whole(&older.url).await.failed().is_none());
    assert!(files(&older.url) == before && !left.exists());
    let older = Older::on_postgres(TEXT_AMOUNTS, &rows()).await;
    let before = words(&older.url).await;
    let tables = Tables::open(&older.url).await;
    let name = "SELECT 'espelho_rehearsal_' || CAST(oid AS TEXT) FROM pg_database WHERE datname = current_database()";
    let name = tables.list(name).await.remove(0);
    tables.close().await;
    run_on(&server(), format!("CREATE DATABASE {name} TEMPLATE template0")).await;
    assert!(whole(&older.url).await.failed().is_none());
    assert_eq!(words(&older.url).await, before);
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_others_use_is_copied_by_the_servers_own_programs() {
    let older = Older::on_postgres(TEXT_AMOUNTS, &rows()).await;
    let before = words(&older.url).await;
    let other = Tables::open(&older.url).await;
    assert_eq!(other.count("orders").await, 3);
    match rehearsed(&older.url, pending()).await {
        Ok(rehearsal) => {
            let rehearsal = rehearsal.unwrap();
            assert_eq!(rehearsal.copy.unwrap().way, CopyWay::Dump);
            assert_eq!(rows_of(&rehearsal, Part::Database, "orders"), (Some(3), Some(3)));
            assert!(rehearsal.failed().is_none(), "{rehearsal:?}");
        }
        Err(error) => {
            assert!(!is_installed("pg_dump"), "{error}");
            assert!(matches!(error, Error::NoCopy { obstacle: CopyObstacle::Programs, .. }), "{error}");
        }
    }
    other.close().await;
    assert_eq!(words(&older.url).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_that_may_not_create_databases_is_told_so() {
    let older = Older::on_postgres(TEXT_AMOUNTS, &rows()).await;
    let role = format!("espelho_rehearses_{}", std::process::id());
    run_on(&server(), format!("CREATE ROLE {role} LOGIN NOCREATEDB")).await;
    let options: PgConnectOptions = older.url.parse().unwrap();
    let mut owner = options.clone().connect().await.unwrap();
    let grant = format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(grant)).execute(&mut owner).await.unwrap();
    owner.close().await.unwrap();
    let url = options.username(&role).to_url_lossy().to_string();
    let refused = rehearsed(&url, pending()).await;
    let tables = Tables::open(&older.url).await;
    tables.execute(&format!("DROP OWNED BY {role}")).await;
    tables.execute(&format!("DROP ROLE {role}")).await;
    assert_eq!(copies(&tables).await, Vec::<Vec<Option<String>>>::new());
    tables.close().await;
    match refused {
        Err(Error::NoCopy { obstacle: CopyObstacle::Role { role: named }, .. }) => assert_eq!(named, role),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_a_mirror_with_rows_is_migrated_it_is_copied_beside_it_and_one_without_is_not() {
    let clock = SystemClock::shared;
    let quiet = |_: &'static str, _: u64, _: u64| {};
    let older = Older::on_sqlite(TEXT_AMOUNTS, &rows()).await;
    let (store, backup) = Store::open_after_backup(&older.url, clock(), &quiet).await.unwrap();
    store.close().await;
    let backup = backup.unwrap();
    let newest = above(0, &["sqlite/inbox", "sqlite"]).await.into_iter().max().unwrap();
    let name = backup.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("espelho-") && name.ends_with(&format!("-before-{newest:04}")), "{name}");
    let copy = Tables::open(&format!("sqlite:{}", backup.join("espelho.db").display())).await;
    assert_eq!(copy.list("SELECT CAST(max(version) AS TEXT) FROM _sqlx_migrations").await, ["15"]);
    assert_eq!(copy.count("orders").await, 3);
    copy.close().await;
    let (store, again) = Store::open_after_backup(&older.url, clock(), &quiet).await.unwrap();
    store.close().await;
    assert_eq!(again, None, "nothing is pending any more");
    let empty = Older::on_sqlite(TEXT_AMOUNTS, &[]).await;
    let (store, none) = Store::open_after_backup(&empty.url, clock(), &quiet).await.unwrap();
    store.close().await;
    assert_eq!(none, None, "there is nothing to lose");
    assert!(!Path::new(&Store::file_named_by(&empty.url).unwrap()).with_file_name("backups").exists());
}
