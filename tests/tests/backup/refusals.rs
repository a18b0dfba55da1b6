//! Refused commands, and that they change nothing.

use std::fs;

use espelho_tests::{Installation, Kind, Shop, pages::ready, pages::stopped, shop::Order};
use serde_json::json;

use super::{ask, execute, file, look_into, text};

async fn backed_up() -> (Installation, Shop, std::path::PathBuf) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    installation.resync(&[]).await.expect(0);
    let backup = file(&installation, "backup");
    installation.run(&["backup", text(&backup)]).await.expect(0);
    (installation, shop, backup)
}

#[tokio::test]
async fn a_backup_overwrites_nothing_and_needs_a_mirror() {
    let (installation, _shop, backup) = backed_up().await;
    let before = fs::read(backup.join("espelho.db")).unwrap();
    let refused = installation.run(&["backup", text(&backup), "--json"]).await.expect(2);
    assert_eq!(refused.json()["state"], json!("failed"));
    refused.says("already something").says("does not exist yet");
    assert!(fs::read(backup.join("espelho.db")).unwrap() == before);

    let made = installation.run(&["backup", "--json"]).await.expect(0).json();
    let path = made["path"].as_str().unwrap();
    assert!(path.contains("/backups/espelho-2") && fs::metadata(path).unwrap().is_dir(), "{path}");
    let nothing = Installation::on(Kind::Sqlite).await;
    nothing.write_store("loja-1", "http://127.0.0.1:1", "u", "p");
    nothing.run(&["backup"]).await.expect(1).says("There is no database");
    assert!(!file(&nothing, "espelho.db").exists(), "looking makes nothing");
}

#[tokio::test]
async fn a_backup_that_is_found_damaged_is_no_green_one_until_there_is_another() {
    let (installation, _shop, _backup) = backed_up().await;
    let backups = async || {
        let told = installation.run(&["doctor", "--json"]).await.json();
        let of = told["findings"].as_array().expect("a list").iter().find(|found| found["check"] == "backup");
        of.expect("a finding")["state"].clone()
    };
    let made = installation.run(&["backup", "--json"]).await.expect(0).json();
    let copy = std::path::Path::new(made["path"].as_str().unwrap()).join("espelho.db");
    assert_eq!(backups().await, json!("green"));
    let whole = fs::read(&copy).unwrap();
    fs::write(&copy, &whole[..whole.len() / 2]).unwrap();
    installation.run(&["backup", "verify"]).await.expect(1);
    assert_eq!(backups().await, json!("yellow"));
    fs::write(&copy, &whole).unwrap();
    installation.run(&["backup", "verify"]).await.expect(0);
    assert_eq!(backups().await, json!("green"), "a proof takes the mark away");
    fs::write(&copy, &whole[..whole.len() / 2]).unwrap();
    installation.run(&["backup", "verify"]).await.expect(1);
    installation.run(&["backup"]).await.expect(0);
    assert_eq!(backups().await, json!("green"));
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_on_the_machine_may_read_a_backup() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_installation, _shop, backup) = backed_up().await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&backup), 0o700);
    for name in ["espelho.db", "espelho.db-inbox"] {
        assert_eq!(mode(&backup.join(name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_server_has_tools_of_its_own() {
    let installation = Installation::on(Kind::Sqlite).await;
    let url = "postgres://erp:s3gredo@db.example/mirror";
    installation.write("espelho.toml", &format!("[database]\nurl = \"{url}\"\n"));
    installation.write_store("loja-1", "http://127.0.0.1:1", "u", "p");
    for (arguments, words) in
        [(&["backup"][..], "pg_dump --format=custom"), (&["restore", "x"], "pg_restore")]
    {
        let refused = installation.run(arguments).await.expect(2).says(words).says("db.example/mirror");
        assert!(!refused.stderr.contains("s3gredo"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mirror_that_anybody_uses_is_not_replaced() {
    let (installation, _shop, backup) = backed_up().await;
    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    let restore = ["restore", "--replace", text(&backup)];
    installation.run(&restore).await.expect(6).says("in use").says("Stop the service");
    stopped(service).await;

    let feed = installation.start(&["feed", "--follow"]);
    let mirror = file(&installation, "espelho.db");
    espelho_tests::until("the reader has it open", async || file(&installation, "espelho.db-wal").exists())
        .await;
    installation.run(&restore).await.expect(6).says("in use");
    feed.kill().await;

    let erp = look_into(&mirror).await;
    erp.ask("SELECT order_number FROM orders").await;
    installation.run(&restore).await.expect(6).says("in use");
    super::closed(erp).await;
    installation.run(&restore).await.expect(0);
}

#[tokio::test]
async fn a_mirror_is_replaced_only_where_that_is_asked_for() {
    let (installation, shop, backup) = backed_up().await;
    shop.change(|orders| orders.push(Order::ordinary("P00004")));
    installation.resync(&[]).await.expect(0);
    let refused = installation.run(&["restore", text(&backup)]).await.expect(5);
    refused.says("There is a mirror").says("--replace");
    let orders = "SELECT order_number FROM orders";
    let mirror = file(&installation, "espelho.db");
    assert_eq!(ask(&mirror, orders).await.len(), 4);

    let done = installation.run(&["restore", "--replace", text(&backup), "--json"]).await.expect(0).json();
    assert_eq!(ask(&mirror, orders).await.len(), 3);
    // The previous mirror is kept in the form of a backup, so that the restore can be undone.
    let kept = done["kept"].as_str().unwrap();
    installation.run(&["restore", "--replace", kept]).await.expect(0);
    assert_eq!(ask(&mirror, orders).await.len(), 4);

    let empty = Installation::on(Kind::Sqlite).await;
    shop.join(&empty);
    let done = empty.run(&["restore", text(&backup), "--json"]).await.expect(0).json();
    assert!(done["kept"].is_null(), "{done}");
    assert_eq!(ask(&file(&empty, "espelho.db"), orders).await.len(), 3);
    empty.resync(&[]).await.expect(0);
    assert_eq!(ask(&file(&empty, "espelho.db"), orders).await.len(), 4);
}

#[tokio::test]
async fn what_is_no_sound_backup_of_a_known_version_changes_nothing() {
    let (installation, _shop, backup) = backed_up().await;
    let mirror = file(&installation, "espelho.db");
    let spoiled = |name: &str| {
        let spoiled = file(&installation, name);
        fs::create_dir(&spoiled).unwrap();
        for name in ["espelho.db", "espelho.db-inbox"] {
            fs::copy(backup.join(name), spoiled.join(name)).unwrap();
        }
        spoiled
    };
    let half = spoiled("half");
    fs::remove_file(half.join("espelho.db-inbox")).unwrap();
    let newer = spoiled("newer");
    execute(
        &newer.join("espelho.db"),
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'of the future', 1, x'00', 0)",
    )
    .await;
    let damaged = spoiled("damaged");
    let path = damaged.join("espelho.db");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].iter_mut().for_each(|byte| *byte ^= 0x5A);
    fs::write(&path, bytes).unwrap();
    let headless = spoiled("headless");
    let path = headless.join("espelho.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[..100].fill(0x5A);
    fs::write(&path, bytes).unwrap();
    let foreign = spoiled("foreign");
    fs::remove_file(foreign.join("espelho.db")).unwrap();
    execute_new(&foreign.join("espelho.db")).await;

    let before = ask(&mirror, "SELECT raw FROM orders").await;
    for (from, code, words) in [
        (file(&installation, "nowhere"), 2, "is no backup"),
        (half, 2, "the file espelho.db-inbox is missing"),
        (newer, 2, "schema version 9999"),
        (damaged, 1, "is damaged"),
        (headless.clone(), 1, "The backup"),
        (headless, 1, "is damaged: “error returned from database: (code: 26)"),
        (foreign, 2, "espelho.db in it is not one of espelho's"),
    ] {
        installation.run(&["restore", "--replace", text(&from)]).await.expect(code).says(words);
        assert_eq!(ask(&mirror, "SELECT raw FROM orders").await, before, "{}", from.display());
    }
    installation.resync(&[]).await.expect(0);
}

async fn execute_new(path: &std::path::Path) {
    fs::File::create(path).unwrap();
    execute(path, "CREATE TABLE clientes (nome TEXT)").await;
}
