//! Configuration, network and database: each mistake is named.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use espelho_tests::{
    Installation, Kind, Reply, Shop, on_both_databases,
    shop::{LOGIN, Order, PASSWORD, USERNAME},
    until,
};
use serde_json::json;

use super::{has_next_step, one_shop};

on_both_databases![
    a_database_of_another_environment_is_refused,
    a_database_newer_than_the_binary_is_refused,
    two_runs_for_one_store_at_once_are_refused_by_name,
];

#[tokio::test]
async fn an_unreachable_marketplace_is_said_so_soon() {
    // Bound but not listening: connections are refused, and no other process gets the port.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let installation = Installation::on(Kind::Sqlite).await;
    installation.write_store("loja-1", &format!("http://127.0.0.1:{port}"), USERNAME, PASSWORD);
    let run = tokio::time::timeout(Duration::from_secs(30), installation.resync(&[])).await;
    let run = run.expect("it gives up within half a minute").expect(1);
    let run = run.says(&format!("No connection to 127.0.0.1:{port}"));
    has_next_step(&run, &run.store()["error"]);
    assert_eq!(run.store()["requests"], 0);
}

#[tokio::test]
async fn a_configuration_that_cannot_be_used_is_named_with_file_and_line() {
    let shop = Shop::open(Vec::new()).await;
    let production = "environment = \"production\"\nbase_url = \"https://m.test\"\n";
    let credentials = format!("[credentials]\nusername = \"{USERNAME}\"\npassword = \"{PASSWORD}\"\n");
    let sandbox = format!("environment = \"sandbox\"\nbase_url = \"{}\"\n", shop.base_url());
    let plain = production.replace("https", "http");
    let local = production.replace("m.test", "127.0.0.1");
    let placeholder = production.replace("m.test", "marketplace.example");
    let fast = format!("{production}{credentials}[limits]\nrequests_per_minute = 301\n");
    for (text, words) in [
        (format!("{plain}{credentials}"), "loja-1.toml:2: base_url"),
        (format!("{plain}{credentials}"), "https://"),
        (format!("{local}{credentials}"), "loja-1.toml:2: base_url"),
        (fast.clone(), "loja-1.toml:7: "),
        (fast, "from 1 to 300"),
        (format!("{sandbox}{credentials}[limits]\nrequests_per_minute = 0\n"), "loja-1.toml:7: "),
        (
            format!("{sandbox}{credentials}passwordfile = \"x\"\n"),
            "loja-1.toml:6: unknown key \"passwordfile\"",
        ),
        (format!("{sandbox}{credentials}passwordfile = \"x\"\n"), "did you mean \"password_file\"?"),
        (format!("{sandbox}{credentials}[guard]\ngone_max_rows = 3\n"), "did you mean \"guards\"?"),
        (format!("{sandbox}[credentials]\nusername = \"{USERNAME}\"\n"), "loja-1.toml:3: "),
        (format!("{sandbox}{credentials}[limits\n"), "loja-1.toml:6: "),
        (credentials.clone(), "base_url"),
        (format!("{placeholder}{credentials}"), "loja-1.toml:2: base_url"),
        (format!("{placeholder}{credentials}"), "https://marketplace.example"),
    ] {
        let installation = Installation::on(Kind::Sqlite).await;
        installation.write("stores/loja-1.toml", &text);
        for arguments in [&["--resync", "--json"][..], &["check"], &["run"]] {
            let run = installation.run(arguments).await.expect(2).says(words);
            assert!(!run.stderr.contains(PASSWORD), "{run}");
            if arguments.contains(&"--json") {
                assert!(run.json()["errors"][0]["error"].as_str().unwrap().contains(words), "{run}");
            }
        }
        assert!(!installation.dir().join("espelho.db").exists(), "a wrong configuration has made a database");
    }
    assert!(shop.take_calls().is_empty());
}

// withstands: F118
#[tokio::test]
async fn a_mistake_in_the_main_file_or_the_environment_is_named() {
    let shop = Shop::open(Vec::new()).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    installation.write_main("listenn = \"127.0.0.1:1\"\n");
    installation
        .run(&["check"])
        .await
        .expect(2)
        .says("espelho.toml:5: unknown key \"listenn\"; did you mean \"listen\"?");
    installation.write_main("[schedule]\nreconcile = \"às sete\"\n");
    installation.run(&["check"]).await.expect(2).says("schedule.reconcile").says("six fields");
    installation.write_main("");
    let mut command = installation.command(&["check"]);
    let output = command.env("ESPELHO__LOG__FORMAT", "xml").output().await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && stderr.contains("ESPELHO__LOG__FORMAT"), "{stderr}");
    installation.run(&["--resync", "--store", "loja-9"]).await.expect(2).says("loja-1");
    installation.run(&["--resync", "--since", "ontem"]).await.expect(2);
    installation.run(&["--store", "loja-1"]).await.expect(2).says("--resync");
    fs::remove_file(installation.dir().join("stores/loja-1.toml")).unwrap();
    installation.run(&["--resync"]).await.expect(2).says("KEY.toml");
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_is_named() {
    let shop = Shop::open(Vec::new()).await;
    let installation = one_shop(Kind::Sqlite, &shop).await;
    for (url, words) in [
        ("mysql://erp@localhost/espelho", "mysql"),
        ("sqlite:/nao/ha/esta/pasta/espelho.db", "/nao/ha/esta/pasta/espelho.db"),
    ] {
        installation.write("espelho.toml", &format!("[database]\nurl = \"{url}\"\n"));
        let run = installation.resync(&[]).await.says(words).says("Next step");
        assert!([1, 2].contains(&run.code), "{run}");
    }
    // A file that is not a database is left unchanged.
    installation.write_main("");
    installation.write("espelho.db", &"Isto não é um banco de dados. ".repeat(100));
    let run = installation.resync(&[]).await.says("Next step");
    assert!([1, 2].contains(&run.code), "{run}");
    let kept = fs::read_to_string(installation.dir().join("espelho.db")).unwrap();
    assert!(kept.starts_with("Isto não é"));
    assert!(shop.take_calls().is_empty());
}

async fn a_database_of_another_environment_is_refused(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = one_shop(kind, &shop).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.everything().await;
    let text = format!(
        "environment = \"production\"\nbase_url = \"https://m.test\"\n[credentials]\nusername = \"{USERNAME}\"\n\
         password = \"{PASSWORD}\"\n"
    );
    installation.write("stores/loja-1.toml", &text);
    let run = installation.resync(&[]).await.expect(2).says("sandbox").says("production");
    has_next_step(&run, &run.store()["error"]);
    installation.run(&["run"]).await.expect(2).says("production");
    assert_eq!(mirror.everything().await, before);
}

async fn a_database_newer_than_the_binary_is_refused(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = one_shop(kind, &shop).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    let before = mirror.everything().await;
    mirror
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             SELECT 9999, 'from the future', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1",
        )
        .await;
    shop.take_calls();
    let run =
        installation.resync(&[]).await.expect(2).says("9999").says("Install the espelho that migrated it");
    has_next_step(&run, &run.json()["errors"][0]);
    installation.run(&["run"]).await.expect(2).says("9999");
    assert!(shop.take_calls().is_empty());
    assert_eq!(mirror.everything().await, before);
}

async fn two_runs_for_one_store_at_once_are_refused_by_name(kind: Kind) {
    let shop = Shop::with_rule(Order::many(30), |call| {
        call.is_order_page(1)
            .then(|| Reply::json(200, &json!({"success": true, "data": [], "meta": {}})).held())
    })
    .await;
    let installation = one_shop(kind, &shop).await;
    let first = installation.start(&["--resync", "--json"]);
    until("the first run is under way", async || shop.count(|call| call.is_order_page(1)) == 1).await;
    let run = installation.resync(&[]).await.expect(6).says("loja-1").says(&first.id().to_string());
    has_next_step(&run, &run.store()["error"]);
    assert_eq!(run.store()["error"]["code"], "held");
    assert_eq!(shop.count(|call| call.path == LOGIN), 1, "the second run leaves the token alone");
    shop.rule(|_| None);
    shop.release();
    first.end().await.expect(0);
    installation.resync(&[]).await.expect(0);
    assert_eq!(installation.mirror().await.live("orders").await, 30);
}

#[tokio::test]
async fn a_password_file_that_others_may_read_is_refused_with_the_command_that_mends_it() {
    let shop = Shop::open(Vec::new()).await;
    let installation = Installation::on(Kind::Sqlite).await;
    let text = format!(
        "environment = \"sandbox\"\nbase_url = \"{}\"\n[credentials]\nusername = \"{USERNAME}\"\n\
         password_file = \"loja-1.password\"\n",
        shop.base_url()
    );
    installation.write("stores/loja-1.toml", &text);
    installation.write("stores/loja-1.password", PASSWORD);
    let file = installation.dir().join("stores/loja-1.password");
    installation.run(&["check"]).await.expect(0);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let command = format!("chmod 600 {}", file.display());
    for arguments in [&["check"][..], &["--resync"], &["run"]] {
        installation.run(arguments).await.expect(2).says("0644").says(&command);
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    installation.run(&["check"]).await.expect(0);
}
