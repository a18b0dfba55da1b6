//! `espelho backup` and `espelho restore`: complete backups, restored over a mirror or into an empty place.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod cut_off;
mod going_on;
mod refusals;

use std::path::{Path, PathBuf};

use espelho_tests::{Installation, Kind, Mirror, sandbox, until};
use sqlx::{AssertSqlSafe, SqlitePool, sqlite::SqliteConnectOptions};

/// Returns the path of a file beside the configuration.
fn file(installation: &Installation, name: &str) -> PathBuf {
    installation.dir().join(name)
}

/// Opens any SQLite file, as a program that knows nothing of espelho does.
async fn look_into(file: &Path) -> Mirror {
    let options = SqliteConnectOptions::new().filename(file);
    Mirror::Sqlite(SqlitePool::connect_with(options).await.unwrap())
}

async fn closed(mirror: Mirror) {
    if let Mirror::Sqlite(pool) = mirror {
        pool.close().await;
    }
}

/// Returns the rows of a query, and closes the file again.
async fn ask(file: &Path, sql: &str) -> Vec<espelho_tests::Row> {
    let mirror = look_into(file).await;
    let rows = mirror.ask(sql).await;
    closed(mirror).await;
    rows
}

async fn execute(file: &Path, sql: &str) {
    let mirror = look_into(file).await;
    match &mirror {
        Mirror::Sqlite(pool) => sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(pool).await.unwrap(),
        Mirror::Postgres(_) => unreachable!(),
    };
    closed(mirror).await;
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_of_a_mirror_at_work_is_one_moment_of_it_and_comes_back_as_it_was() {
    let sandbox = sandbox(2_500, 200).await;
    let installation = Installation::on(Kind::Sqlite).await;
    installation.join(&sandbox);
    let mut run = installation.start(&["--resync", "--json"]);
    let mirror = file(&installation, "espelho.db");
    until("rows are mirrored", async || {
        assert!(!run.has_ended(), "the run was over before a backup was made");
        mirror.exists() && {
            let mirror = look_into(&mirror).await;
            let rows = mirror.try_ask("SELECT order_number FROM orders LIMIT 1").await;
            closed(mirror).await;
            !rows.is_empty()
        }
    })
    .await;
    let mut rows = Vec::new();
    for n in 0.. {
        let backup = file(&installation, &format!("nightly/{n}"));
        let over = run.has_ended();
        let made = installation.run(&["backup", text(&backup)]).await.expect(0);
        assert_eq!(made.stdout.trim(), text(&backup));
        let copy = backup.join("espelho.db");
        assert_eq!(ask(&copy, "PRAGMA integrity_check").await[0]["integrity_check"], "ok");
        // A page's rows and their feed entries are written together, so they are copied together.
        let untold = "SELECT order_number FROM orders WHERE order_number NOT IN (SELECT key FROM changes)";
        assert_eq!(ask(&copy, untold).await, []);
        let count = "SELECT CAST((SELECT count(*) FROM orders) AS TEXT) AS rows, \
                     CAST((SELECT count(*) FROM changes WHERE entity = 'order') AS TEXT) AS told";
        let count = ask(&copy, count).await[0].clone();
        assert_eq!(count["rows"], count["told"]);
        rows.push((backup, count["rows"].parse::<u32>().unwrap()));
        if over {
            break;
        }
    }
    run.end().await.expect(0);
    let expected = installation.mirror().await.contents().await;
    assert_eq!(rows.last().unwrap().1, 2_500);
    assert!(rows.iter().any(|(_, rows)| *rows < 2_500), "no backup was made while the run was at work");
    for (backup, _) in [&rows[0], rows.last().unwrap()] {
        installation.run(&["restore", "--replace", text(backup)]).await.expect(0);
        let restored = look_into(&mirror).await;
        if backup == &rows.last().unwrap().0 {
            for (table, rows) in espelho_tests::mirror::MIRRORED.map(|table| (table, &expected[table])) {
                assert!(restored.rows(table).await.len() == rows.len(), "{table}");
            }
        }
        closed(restored).await;
        installation.resync(&[]).await.expect(0);
        let now = installation.mirror().await;
        let contents = now.contents().await;
        for table in espelho_tests::mirror::MIRRORED {
            assert!(contents[table] == expected[table], "{table} differs after {}", backup.display());
        }
        closed(now).await;
    }
}
