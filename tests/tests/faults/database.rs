//! A database that another program keeps locked.

use std::{process::Stdio, time::Duration};

use espelho_tests::{Kind, Mirror, Surface};
use sqlx::{ConnectOptions as _, Connection as _, sqlite::SqliteConnectOptions};
use tokio::{io::AsyncReadExt as _, process::Command};

use crate::stage::{Setting, Stage};

/// Holds the write lock of an SQLite file until its input ends.
const HELD: &str = "ESPELHO_TEST_HOLDS";

/// Acts as another program when started as one; as a test of its own it does nothing.
#[tokio::test]
async fn a_program_that_keeps_a_file_locked() {
    let Some(file) = std::env::var_os(HELD) else { return };
    let options = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(60));
    let mut connection = options.connect().await.unwrap();
    let transaction = connection.begin_with("BEGIN IMMEDIATE").await.unwrap();
    println!("held");
    let mut rest = Vec::new();
    tokio::io::stdin().read_to_end(&mut rest).await.unwrap();
    transaction.rollback().await.unwrap();
}

// Exercises F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_program_keeps_locked_is_named_with_the_program() {
    let stage = Stage::on(Kind::Sqlite).await;
    let file = stage.installation.dir().join("espelho.db");
    let mut holder = Command::new(std::env::current_exe().unwrap());
    let itself = ["--exact", "database::a_program_that_keeps_a_file_locked", "--nocapture"];
    holder.args(itself).env(HELD, &file).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut holder = holder.spawn().unwrap();
    wait_for_line(&mut holder).await;
    // The view is in that file: it shows nothing new until the lock is released.
    let mut watch =
        stage.watch("database locked", "database_busy").beside(&["late"]).unseen_on(&[Surface::View]);
    let alarm = watch.raised().await;
    let process = holder.id().unwrap().to_string();
    let named = format!("{} {}", alarm.text("text"), alarm.text("next"));
    assert!(named.contains(&process), "{process} is named: {alarm:?}");
    // The next step: end the program, or its transaction.
    drop(holder.stdin.take());
    watch.ends();
    holder.wait().await.unwrap();
    watch.cleared().await;
}

// Exercises F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_that_another_session_keeps_locked_are_named_with_the_session() {
    let stage = Stage::on(Kind::Postgres).await;
    let Mirror::Postgres(pool) = stage.mirror().await else { unreachable!("this is PostgreSQL") };
    let mut holder = pool.acquire().await.unwrap().detach();
    let sql = "SET application_name = 'erp-de-teste'; BEGIN; LOCK TABLE erp_stock, commands IN ACCESS EXCLUSIVE MODE";
    sqlx::raw_sql(sql).execute(&mut holder).await.unwrap();
    let mut watch = stage.watch("tables locked", "database_busy").beside(&["late"]);
    let alarm = watch.raised().await;
    let named = format!("{} {}", alarm.text("text"), alarm.text("next"));
    assert!(named.contains("erp-de-teste"), "the session is named: {alarm:?}");
    sqlx::raw_sql("ROLLBACK").execute(&mut holder).await.unwrap();
    watch.ends();
    holder.close().await.unwrap();
    watch.cleared().await;
}

// Exercises F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_server_that_is_gone_is_named() {
    let setting = Setting { has_database_gateway: true, ..Setting::default() };
    let stage = Stage::with(Kind::Postgres, setting).await;
    let database = stage.database.as_ref().unwrap();
    database.cut();
    // The view is in that database, where nothing can be written.
    let mut watch = stage
        .watch("database server gone", "database_unreachable")
        .beside(&["late"])
        .unseen_on(&[Surface::View]);
    watch.raised().await;
    database.mend().await;
    watch.ends();
    watch.cleared().await;
}

// Exercises F106, F134
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_takes_no_writes_is_named_and_nothing_is_read_for_it() {
    let stage = Stage::on(Kind::Postgres).await;
    let Mirror::Postgres(pool) = stage.mirror().await else { unreachable!("this is PostgreSQL") };
    let set = async |to: &str| {
        let sql = format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = {to}', \
             current_database()); END $$"
        );
        let mut admin = pool.acquire().await.unwrap();
        sqlx::raw_sql("SET default_transaction_read_only = off").execute(&mut *admin).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut *admin).await.unwrap();
        // Sessions keep the setting that they began with.
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
            WHERE datname = current_database() AND pid <> pg_backend_pid()";
        sqlx::raw_sql(end).execute(&mut *admin).await.unwrap();
    };
    set("on").await;
    // The view is in that database, where nothing can be written.
    let mut watch = stage
        .watch("database read-only", "database_read_only")
        .beside(&["late", "not_held"])
        .unseen_on(&[Surface::View]);
    watch.raised().await;
    set("off").await;
    watch.ends();
    watch.cleared().await;
}

async fn wait_for_line(child: &mut tokio::process::Child) {
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while lines.next_line().await.unwrap().expect("it says that it holds the lock") != "held" {}
}
