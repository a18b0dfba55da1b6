//! `espelho run`, and the commands around it.

use std::{
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use espelho_tests::{
    Installation, Kind, Outcome, Reply, Running, Shop, on_both_databases, sandbox,
    shop::{ORDERS, Order, PASSWORD, USERNAME},
    signals, truth, until,
};
use serde_json::{Value, json};

on_both_databases![
    a_service_becomes_ready_with_its_first_reconciliation_and_ends_on_sigterm,
    a_second_service_for_the_same_store_ends_with_6_or_stands_by,
    a_service_works_on_the_stores_that_nobody_else_holds,
];

/// Returns the address on which a process listens. The service was configured with a free port.
fn listening(process: u32) -> Option<SocketAddr> {
    let sockets = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    let inodes: Vec<String> = sockets
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
    table.lines().skip(1).find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let (address, state, inode) = (columns.get(1)?, columns.get(3)?, columns.get(9)?);
        let is_ours = *state == "0A" && inodes.iter().any(|known| known == inode);
        let port = u16::from_str_radix(address.split(':').nth(1)?, 16).ok()?;
        is_ours.then(|| SocketAddr::from(([127, 0, 0, 1], port)))
    })
}

/// Waits until a service answers; returns its address.
async fn alive(service: &mut Running) -> String {
    let mut base = None;
    until("the service lives", async || {
        assert!(!service.has_ended(), "the service has ended");
        base = listening(service.id()).map(|address| format!("http://{address}"));
        base.is_some()
    })
    .await;
    let base = base.unwrap_or_default();
    assert_eq!(truth::get(&format!("{base}/livez")).await, (200, "ok\n".to_owned()));
    base
}

async fn ready(base: &str) {
    let address = format!("{base}/readyz");
    until("the service is ready", async || truth::get(&address).await.0 == 200).await;
}

async fn stopped(service: Running) -> Outcome {
    service.terminate().await;
    service.end().await.expect(0)
}

async fn a_service_becomes_ready_with_its_first_reconciliation_and_ends_on_sigterm(kind: Kind) {
    let shop = Shop::with_rule(Order::many(30), |call| {
        let held = || Reply::json(200, &json!({"success": true, "data": [], "meta": {}})).held();
        (call.path == espelho_tests::shop::PRODUCTS).then(held)
    })
    .await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    let mut service = installation.start(&["run"]);
    let base = alive(&mut service).await;
    until("it waits for the products", async || {
        shop.count(|call| call.path == espelho_tests::shop::PRODUCTS) > 0
    })
    .await;
    let (status, text) = truth::get(&format!("{base}/readyz")).await;
    assert_eq!(status, 503, "{text}");
    assert!(text.contains("store loja-1: not reconciled yet"), "{text}");
    shop.release();
    ready(&base).await;
    let (_, text) = truth::get(&format!("{base}/readyz?verbose")).await;
    assert!(text.contains("database: ok") && text.contains("store loja-1: ok"), "{text}");
    let (status, metrics) = truth::get(&format!("{base}/metrics")).await;
    assert_eq!(status, 200);
    for name in [
        "espelho_build_info",
        "espelho_api_requests_total",
        "espelho_rows_changed_total",
        "espelho_logins_total",
    ] {
        assert!(metrics.contains(name), "no {name} in\n{metrics}");
    }
    assert!(metrics.contains("espelho_rows_changed_total{store=\"loja-1\",kind=\"orders\"} 30"), "{metrics}");
    assert_eq!(installation.mirror().await.live("orders").await, 30);
    stopped(service).await;
    installation.resync(&[]).await.expect(0);
}

async fn a_second_service_for_the_same_store_ends_with_6_or_stands_by(kind: Kind) {
    let sandbox = sandbox(10, 5).await;
    let installation = Installation::on(kind).await;
    installation.join(&sandbox);
    let mut first = installation.start(&["run"]);
    ready(&alive(&mut first).await).await;
    let id = first.id().to_string();
    // On a shared database it stands by instead.
    if kind == Kind::Sqlite {
        installation.run(&["run"]).await.expect(6).says("loja-1").says(&id);
    } else {
        let mut second = installation.start(&["run"]);
        let (status, text) = truth::get(&format!("{}/readyz", alive(&mut second).await)).await;
        assert!(status == 503 && text.contains("store loja-1: ") && text.contains(&id), "{text}");
        stopped(second).await;
    }
    stopped(first).await;
    let mut next = installation.start(&["run"]);
    ready(&alive(&mut next).await).await;
    stopped(next).await;
}

async fn a_service_works_on_the_stores_that_nobody_else_holds(kind: Kind) {
    let shop = Shop::open(Order::many(10)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    let mut first = installation.start(&["run"]);
    ready(&alive(&mut first).await).await;
    let other = Shop::open(Order::many(4)).await;
    let both = installation.beside();
    shop.join(&both);
    let (username, password) = (USERNAME, PASSWORD);
    both.write_store("loja-2", &other.base_url(), username, password);
    // Repeated, because whether a service shows its stores must not depend on which of its tasks is faster.
    for times in 1..=5 {
        let mut second = both.start(&["run"]);
        let base = alive(&mut second).await;
        let mirror = installation.mirror().await;
        until("loja-2 is mirrored", async || {
            assert!(!second.has_ended(), "the service has ended though loja-2 is free");
            let sql = "SELECT state FROM sync_runs WHERE store = 'loja-2' AND state = 'complete'";
            mirror.ask(sql).await.len() == times
        })
        .await;
        let (status, text) = truth::get(&format!("{base}/readyz")).await;
        assert_eq!(status, 503, "{text}");
        assert!(text.contains("store loja-1: ") && !text.contains("loja-2"), "{text}");
        stopped(second).await;
    }
    stopped(first).await;
}

#[tokio::test]
async fn a_service_reconciles_on_its_schedule() {
    let shop = Shop::open(Order::many(5)).await;
    let installation = Installation::on(Kind::Sqlite).await;
    installation.write_main("[schedule]\nreconcile = \"* * * * * *\"\n");
    shop.join(&installation);
    let mut service = installation.start(&["run"]);
    ready(&alive(&mut service).await).await;
    shop.change(|orders| orders.push(Order::ordinary("P99999")));
    let mirror = installation.mirror().await;
    until("the new order is mirrored", async || mirror.rows("orders").await.len() == 6).await;
    stopped(service).await;
}

#[tokio::test]
async fn a_service_that_is_stopped_within_a_pass_ends_cleanly_and_the_next_run_resumes() {
    // Of all orders: the pass over the open ones comes first.
    let is_page_2 = |call: &espelho_tests::Call| call.is_order_page(2) && !call.query.contains_key("status");
    let shop = Shop::with_rule(Order::many(300), move |call| {
        is_page_2(call).then(|| Reply::refusal(503, "", "", &json!([])).held())
    })
    .await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    let service = installation.start(&["run"]);
    until("page 2 is asked for", async || shop.count(is_page_2) > 0).await;
    service.terminate().await;
    shop.rule(|_| None);
    shop.release();
    service.end().await.expect(0);
    shop.take_calls();
    installation.resync(&[]).await.expect(0);
    assert_eq!(shop.count(|call| call.is_order_page(1)), 0, "page 1 was mirrored before the stop");
    assert_eq!(installation.mirror().await.live("orders").await, 300);
}

#[tokio::test]
async fn a_demonstration_needs_no_configuration_and_prints_counts_and_three_queries() {
    let nowhere = Installation::on(Kind::Sqlite).await;
    let folder = nowhere.dir().join("demo");
    let arguments =
        ["demo", "--once", "--orders", "120", "--products", "30", "--dir", folder.to_str().unwrap()];
    let shown = nowhere.run(&arguments).await.expect(0);
    for words in ["120 orders (loja-1)", "30 products (loja-1)", "order_items", "product_stock", "espelho.db"]
    {
        assert!(shown.stdout.contains(words), "no {words:?} in\n{shown}");
    }
    assert_eq!(shown.stdout.matches("\nSELECT ").count(), 3, "{shown}");
    assert!(!shown.stdout.contains("(nada)"), "a query without an answer shows nothing\n{shown}");
    assert!(folder.join("espelho.db").exists());
    assert!(!folder.join("stores").exists() && shown.stderr.contains("espelho.db"), "{shown}");
    // Once more with its own temporary folder, with output for programs.
    let told = nowhere.run(&["demo", "--once", "--json"]).await.expect(0);
    let report = told.json();
    assert_eq!(report["state"], "complete");
    assert_eq!(told.count("orders", "seen"), 300);
    let database = Path::new(report["database"].as_str().unwrap());
    assert!(database.exists() && !database.with_file_name("stores").exists());
}

/// Returns the demonstration's folder among the temporary files, once its configuration is written, and the address
/// of its page.
fn demonstration(temporary: &Path) -> Option<(PathBuf, String)> {
    let folders =
        std::fs::read_dir(temporary).expect("it is there").map(|entry| entry.expect("it is there").path());
    let folder = folders.into_iter().find(|path| path.to_string_lossy().contains("espelho-demo-"))?;
    let text = std::fs::read_to_string(folder.join("espelho.toml")).ok()?;
    let listen = text.split("listen = \"").nth(1)?.split('"').next()?.to_owned();
    folder.join("stores/loja-1.toml").exists().then_some((folder, listen))
}

#[tokio::test]
async fn a_demonstration_names_its_page_and_leaves_nothing_behind() {
    let nowhere = Installation::on(Kind::Sqlite).await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for signal in ["INT", "TERM"] {
        let demo = nowhere.start(&["demo", "--orders", "20", "--products", "5"]);
        let mut found = None;
        until("it is configured", async || {
            found = demonstration(nowhere.dir());
            found.is_some()
        })
        .await;
        let (folder, listen) = found.unwrap();
        assert_eq!((mode(&folder), mode(&folder.join("stores/loja-1.toml"))), (0o700, 0o600));
        let page = format!("http://{listen}/");
        until("its page answers", async || {
            tokio::net::TcpStream::connect(&listen).await.is_ok() && truth::get(&page).await.0 == 200
        })
        .await;
        let mut status = tokio::process::Command::new(espelho_tests::installation::binary());
        let seen = status.arg("--config").arg(&folder).args(["status", "--json"]).output().await.unwrap();
        assert!(String::from_utf8_lossy(&seen.stdout).contains("loja-1"), "{seen:?}");
        signals::send(demo.id(), signal);
        demo.end().await.expect(0).says(&page).says("--config").says(&folder.display().to_string());
        assert!(!folder.exists(), "the folder is left behind");
    }
}

#[tokio::test]
async fn a_second_service_is_told_who_has_the_port() {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    let base = installation.write_main_with_known_port();
    let mut first = installation.start(&["run"]);
    espelho_tests::pages::ready(&mut first, &base).await;
    let process = format!("process {}", first.id());
    let version = format!("version {}", env!("CARGO_PKG_VERSION"));
    let second = installation.run(&["run", "--json"]).await.expect(6);
    let second = second.says("http.listen").says(&process).says(&version).says("espelho status");
    assert_eq!(second.json()["errors"][0]["code"], "port_refused", "{second}");
    // A service with other stores reports a neighbour, not another instance of itself.
    let other = Installation::on(Kind::Sqlite).await;
    other.write_store("loja-2", &shop.base_url(), USERNAME, PASSWORD);
    let url = format!("sqlite:{}", other.dir().join("espelho.db").display());
    let listen = base.trim_start_matches("http://");
    other.write("espelho.toml", &format!("[database]\nurl = \"{url}\"\n[http]\nlisten = \"{listen}\"\n"));
    other.run(&["run"]).await.expect(1).says(&process);
    assert!(!other.dir().join("espelho.db").exists(), "no database was made");
    stopped(first).await;

    // Any other program: this test.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let webhook = "[webhook]\npublic_url = \"http://127.0.0.1:1/webhooks/loja-2\"\n";
    other.write_store_with("loja-2", &shop.base_url(), USERNAME, PASSWORD, webhook);
    let listen = taken.local_addr().unwrap();
    other.write_main(&format!("[webhooks]\nlisten = \"{listen}\"\n"));
    let process = format!("process {}", std::process::id());
    other.run(&["run"]).await.expect(1).says("webhooks.listen").says(&listen.to_string()).says(&process);
}

#[tokio::test]
async fn a_sandbox_says_where_it_is_in_one_object_and_serves() {
    let nowhere = Installation::on(Kind::Sqlite).await;
    let mut running = nowhere.start(&["sandbox", "--listen", "127.0.0.1:0", "--orders", "30", "--json"]);
    let line = running.line().await.unwrap();
    let object: Value = serde_json::from_str(&line).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let store = &object["stores"][0];
    let base_url = text(&object["base_url"]);
    assert_eq!(truth::get(&format!("{base_url}{ORDERS}")).await.0, 401, "it serves, and asks for a token");
    nowhere.write_store("loja", &base_url, &text(&store["username"]), &text(&store["password"]));
    let run = nowhere.resync(&["--only", "orders"]).await.expect(0);
    assert_eq!(run.count("orders", "changed"), 30);
    let ended = stopped(running).await;
    assert_eq!(ended.stdout, "", "nothing but the object");
}

#[tokio::test]
async fn a_sandbox_whose_port_is_taken_says_in_the_readers_language_by_whom() {
    let nowhere = Installation::on(Kind::Sqlite).await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let process = format!("processo {}", std::process::id());
    let refused = nowhere.run_in_portuguese(&["sandbox", "--listen", &listen, "--json"]).await.expect(1);
    let refused = refused.says(&listen).says(&process).says("Escolha outra porta: --listen 127.0.0.1:0");
    assert_eq!(refused.json()["errors"][0]["code"], "port_refused", "{refused}");
}

#[tokio::test]
async fn small_commands_do_what_they_say() {
    let shop = Shop::open(Vec::new()).await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    let check = installation.run(&["check"]).await.expect(0);
    assert!(check.stdout.contains("loja-1"), "{check}");
    let check = installation.run(&["check", "--json"]).await.expect(0);
    assert_eq!(check.json(), json!({"state": "complete", "stores": ["loja-1"]}));
    assert!(shop.take_calls().is_empty(), "check asks nobody");
    for shell in ["bash", "zsh", "fish"] {
        let completions = installation.run(&["completions", shell]).await.expect(0);
        assert!(completions.stdout.contains("resync"), "{completions}");
    }
    let version = installation.run(&["--version"]).await.expect(0);
    assert!(version.stdout.starts_with("espelho "), "{version}");
    assert!(installation.run(&["--help"]).await.expect(0).stdout.contains("Exit codes:"));
    assert_eq!(installation.run(&["migrate", "--json"]).await.expect(0).json()["state"], "complete");
    installation.run(&["migrate"]).await.expect(0);
    assert!(installation.mirror().await.rows("orders").await.is_empty());
}
