//! The service under systemd: its notifications, its reload, its end, and its behaviour when descriptors run out.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::{net::SocketAddr, time::Duration};

use espelho_tests::{
    Installation, Kind, Outcome, Reply, Running, Shop, on_both_databases, pages,
    shop::{LOGIN, ORDERS, Order, PASSWORD, USERNAME},
    signals, truth, until,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UnixDatagram},
};

on_both_databases![
    systemd_is_told_of_the_start_of_progress_of_reloads_and_of_the_end,
    a_reload_adds_removes_and_changes_stores_and_the_others_do_not_notice,
];

/// systemd's end of the notification socket.
struct Manager(UnixDatagram);

impl Manager {
    fn start(installation: &Installation) -> (Self, Running) {
        let path = installation.dir().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        let mut command = installation.command(&["run"]);
        command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "500000");
        (Self(socket), Running::of(command))
    }

    /// Waits for a message that begins with these words.
    async fn hears(&self, words: &str) -> String {
        let mut buffer = [0; 4096];
        let hearing = async {
            loop {
                let read = self.0.recv(&mut buffer).await.unwrap();
                let message = std::str::from_utf8(&buffer[..read]).unwrap();
                if message.starts_with(words) {
                    return message.to_owned();
                }
            }
        };
        let heard = tokio::time::timeout(Duration::from_secs(120), hearing).await;
        heard.unwrap_or_else(|_| panic!("systemd was never told {words}"))
    }

    async fn reloads(&self, service: &Running) {
        signals::send(service.id(), "HUP");
        let told = self.hears("RELOADING=1").await;
        let since = told.lines().find_map(|line| line.strip_prefix("MONOTONIC_USEC=")).unwrap();
        assert!(since.parse::<u64>().unwrap() > 0, "{told}");
        self.hears("READY=1").await;
    }
}

async fn systemd_is_told_of_the_start_of_progress_of_reloads_and_of_the_end(kind: Kind) {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    let (manager, service) = Manager::start(&installation);
    manager.hears("READY=1").await;
    // The status is sent at most every few seconds, so that the first one may come before the lease is confirmed.
    let said = "STATUS=1 de 1 loja nesta instância; conciliação mais antiga há menos de 1 min; sem erros";
    assert_eq!(manager.hears(said).await.trim_end(), said);
    for _ in 0..3 {
        manager.hears("WATCHDOG=1").await;
    }
    manager.reloads(&service).await;
    service.terminate().await;
    let last = manager.hears("STOPPING=1").await;
    assert!(last.contains("STATUS=parando"), "{last}");
    service.end().await.expect(0);
}

/// Returns the stores that a service shows.
async fn shown(base: &str) -> Vec<String> {
    let (_, text) = truth::get(&format!("{base}/status")).await;
    let picture: Value = serde_json::from_str(&text).unwrap();
    let stores = picture["stores"].as_array().unwrap();
    stores.iter().map(|store| store["store"].as_str().unwrap().to_owned()).collect()
}

/// Waits until a service has the alarm of a refused configuration, or has it no more.
async fn until_refused(base: &str, expected: bool) {
    until("the service says whether its configuration was refused", async || {
        let (_, text) = truth::get(&format!("{base}/status")).await;
        text.contains("\"configuration_refused\"") == expected
    })
    .await;
}

async fn a_reload_adds_removes_and_changes_stores_and_the_others_do_not_notice(kind: Kind) {
    let (first, second) = (Shop::open(Order::many(5)).await, Shop::open(Order::many(4)).await);
    let installation = Installation::on(kind).await;
    let base = installation.write_main_with_known_port();
    first.join(&installation);
    let (manager, mut service) = Manager::start(&installation);
    pages::ready(&mut service, &base).await;
    let reads = || {
        first.count(|call| {
            call.path == LOGIN
                || call.is_order_page(1) && call.query.get("sort").is_some_and(|sort| sort == "created_at")
        })
    };
    let before = reads();

    installation.write_store("loja-2", &second.base_url(), USERNAME, PASSWORD);
    for arguments in [&["status", "--json"][..], &["status", "--json", "--store", "loja-2"]] {
        let told = installation.run(arguments).await.expect(3).json();
        let mut alarms = told["alarms"].as_array().unwrap().iter();
        let is_unknown = |alarm: &Value| alarm["code"] == "not_held" && alarm["store"] == "loja-2";
        assert!(alarms.any(is_unknown) && told["service"]["running"] == json!(true), "{told}");
    }
    manager.reloads(&service).await;
    pages::ready(&mut service, &base).await;
    until("both stores are shown", async || shown(&base).await == ["loja-1", "loja-2"]).await;
    let mirror = installation.mirror().await;
    until("loja-2 is mirrored", async || mirror.rows("orders").await.len() == 9).await;
    assert_eq!(reads(), before, "loja-1 was begun anew");

    installation.write("stores/loja-3.toml", "environment = \"sandbox\"\nbase_ulr = \"x\"\n");
    installation.write("stores/loja-2.toml", "");
    manager.reloads(&service).await;
    assert_eq!(shown(&base).await, ["loja-1", "loja-2"], "a broken configuration changes nothing");
    assert_eq!(reads(), before);
    until_refused(&base, true).await;
    let told = installation.run(&["status", "--json"]).await.expect(2).says("loja-3.toml:2").json();
    assert_eq!((&told["stores"][1]["store"], &told["service"]["running"]), (&json!("loja-2"), &json!(true)));
    assert!(told["errors"].to_string().contains("loja-3.toml:2"), "{told}");
    let main = std::fs::read_to_string(installation.dir().join("espelho.toml")).unwrap();
    installation.write("espelho.toml", &format!("{main}\n[htpp]\n"));
    for command in ["status", "doctor"] {
        let told = installation.run(&[command]).await.expect(2).says("htpp");
        assert!(told.stderr.contains(base.trim_start_matches("http://")), "{told}");
        assert!(told.stdout.contains("loja-2"), "the service goes on: {told}");
    }
    installation.write("espelho.toml", &main);

    for gone in ["stores/loja-2.toml", "stores/loja-3.toml"] {
        std::fs::remove_file(installation.dir().join(gone)).unwrap();
    }
    let pace = "[guards]\ngone_max_rows = 7\n";
    installation.write_store_with("loja-1", &first.base_url(), USERNAME, PASSWORD, pace);
    manager.reloads(&service).await;
    until("loja-2 is no longer shown", async || shown(&base).await == ["loja-1"]).await;
    until_refused(&base, false).await;
    until("loja-1 is begun anew", async || reads() > before).await;
    assert_eq!(first.count(|call| call.path == LOGIN), 1, "its token is still good");
    let beside = installation.beside();
    beside.write_store("loja-2", &second.base_url(), USERNAME, PASSWORD);
    until("the lease of loja-2 is released", async || beside.resync(&[]).await.code == 0).await;
    assert_eq!(mirror.rows("orders").await.len(), 9, "nothing is deleted");
    assert!(!service.has_ended());
    let ended = pages::stopped(service).await;
    ended.says("loja-3.toml:2").says("base_url").says("refused").says("loja-2.toml");
}

/// A socket that nobody reads takes ten messages and blocks the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_goes_on_though_systemd_does_not_read_what_it_is_told() {
    let (first, second) = (Shop::open(Order::many(3)).await, Shop::open(Order::many(2)).await);
    let installation = Installation::on(Kind::Sqlite).await;
    let base = installation.write_main_with_known_port();
    first.join(&installation);
    let path = installation.dir().join("notify");
    let _unread = UnixDatagram::bind(&path).unwrap();
    let mut command = installation.command(&["run"]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "20000");
    let mut service = Running::of(command);
    pages::ready(&mut service, &base).await;
    let mirror = installation.mirror().await;
    until("loja-1 is mirrored", async || mirror.rows("orders").await.len() == 3).await;
    installation.write_store("loja-2", &second.base_url(), USERNAME, PASSWORD);
    for _ in 0..12 {
        signals::send(service.id(), "HUP");
        until("it answers", async || !shown(&base).await.is_empty()).await;
    }
    until("loja-2 is mirrored", async || mirror.rows("orders").await.len() == 5).await;
    pages::stopped(service).await;
}

/// Stops a service while the marketplace is silent; the next start continues.
async fn stopped_in_silence(held: impl Fn(&espelho_tests::Call) -> bool + Send + Sync + Clone + 'static) {
    let rule = held.clone();
    let shop = Shop::with_rule(Order::many(300), move |call| {
        rule(call).then(|| Reply::refusal(503, "", "", &json!([])).held())
    })
    .await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    let service = installation.start(&["run"]);
    until("the marketplace is asked", async || shop.count(&held) > 0).await;
    service.terminate().await;
    service.end().await.expect(0);
    shop.rule(|_| None);
    shop.release();
    installation.resync(&[]).await.expect(0);
    assert_eq!(installation.mirror().await.live("orders").await, 300);
}

// withstands: F115
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_ends_well_though_the_marketplace_answers_neither_logins_nor_pages_nor_orders() {
    tokio::join!(
        stopped_in_silence(|call| call.path == LOGIN),
        stopped_in_silence(|call| call.is_order_page(2)),
        stopped_in_silence(espelho_tests::Call::is_order),
    );
}

#[tokio::test]
async fn a_second_signal_ends_a_service_that_waits_at_once() {
    let shop = Shop::with_rule(Vec::new(), |call| {
        (call.path == LOGIN).then(|| Reply::refusal(503, "", "", &json!([])).held())
    })
    .await;
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    for (first, second) in [("TERM", "TERM"), ("INT", "TERM")] {
        let (manager, service) = Manager::start(&installation);
        manager.hears("READY=1").await;
        until("the marketplace is asked", async || !shop.take_calls().is_empty()).await;
        signals::send(service.id(), first);
        manager.hears("STOPPING=1").await;
        signals::send(service.id(), second);
        service.end().await.expect(130);
        std::fs::remove_file(installation.dir().join("notify")).unwrap();
    }
}

/// Returns a port that was free a moment ago.
fn free_port() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn limit_descriptors(service: &Running, soft: u64) {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
    let process = i32::try_from(service.id()).ok().and_then(Pid::from_raw);
    // The service has raised its own limit to the maximum, which is what the tests have too.
    let limit = Rlimit { current: Some(soft), maximum: getrlimit(Resource::Nofile).maximum };
    prlimit(process, Resource::Nofile, limit).unwrap();
}

#[tokio::test]
async fn pages_and_receiver_go_on_after_descriptors_have_run_out() {
    let shop = Shop::open(Order::many(3)).await;
    let installation = Installation::on(Kind::Sqlite).await;
    let (http, webhooks) = (free_port(), free_port());
    let database = installation.dir().join("espelho.db");
    installation.write(
        "espelho.toml",
        &format!(
            "[database]\nurl = \"sqlite:{}\"\n[http]\nlisten = \"{http}\"\n[webhooks]\nlisten = \"{webhooks}\"\n",
            database.display()
        ),
    );
    installation.write("secret", "whsec_0123456789");
    let webhook =
        "[webhook]\npublic_url = \"http://127.0.0.1:1/webhooks/loja-1\"\nsecret_file = \"secret\"\n";
    installation.write_store_with("loja-1", &shop.base_url(), USERNAME, PASSWORD, webhook);
    let mut service = installation.start(&["run"]);
    let base = format!("http://{http}");
    pages::ready(&mut service, &base).await;

    // Each of them tries again every 100 ms, and can accept none.
    limit_descriptors(&service, 3);
    for address in [http, webhooks].repeat(2) {
        let mut waiting = TcpStream::connect(address).await.unwrap();
        waiting.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let answer = tokio::time::timeout(Duration::from_millis(500), waiting.read_u8()).await;
        assert!(answer.is_err(), "there are no descriptors left, and still {address} answers: {answer:?}");
    }
    limit_descriptors(&service, 1_024);
    until("the pages are back", async || truth::get(&format!("{base}/livez")).await.0 == 200).await;
    assert_eq!(
        truth::get(&format!("http://{webhooks}/webhooks/loja-1")).await.0,
        405,
        "the receiver is back"
    );
    let Outcome { stderr, .. } = pages::stopped(service).await;
    let complaints = stderr.matches("cannot be accepted").count();
    assert_eq!(complaints, 1, "one complaint a minute in\n{stderr}");
}

// withstands: F128
#[tokio::test]
async fn a_log_in_json_has_one_object_a_line_whatever_the_marketplace_says() {
    let shop = Shop::with_rule(Vec::new(), |call| {
        let nasty = "primeira\nsegunda\r\u{1b}[31mvermelha\u{0}";
        (call.path == ORDERS).then(|| Reply::refusal(403, "forbidden", nasty, &json!([nasty])))
    })
    .await;
    let installation = Installation::on(Kind::Sqlite).await;
    installation.write_main("[log]\nformat = \"json\"\n");
    shop.join(&installation);
    let (manager, service) = Manager::start(&installation);
    let status = manager.hears("STATUS=1 de 1 loja nesta instância; conciliação").await;
    assert_eq!(status.trim_end().lines().count(), 1, "{status}");
    service.terminate().await;
    let ended = service.end().await.expect(0);
    // The refusal is told, and not in the marketplace's words.
    assert!(ended.stderr.contains("403") && !ended.stderr.contains("vermelha"), "{ended}");
    for line in ended.stderr.lines() {
        let object: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let is_named = |name: &str| object[name].is_string();
        assert!(["ts", "level", "target", "msg"].into_iter().all(is_named), "{line}");
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}
