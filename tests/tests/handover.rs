//! `--resync` beside a running service: the service performs the run, and the command reports its progress.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use espelho_tests::{
    Call, Installation, Kind, Reply, Running, Shop, on_both_databases,
    pages::{answer, ready, stopped},
    shop::{ORDERS, Order},
    until,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

on_both_databases![
    a_resync_beside_a_service_is_done_by_it,
    a_run_goes_on_when_who_asked_for_it_goes_away,
    a_service_that_stops_sends_away_whoever_waits,
];

/// Returns a shop, and a service that has mirrored it and sweeps for no change: a run must find each by itself.
async fn serving(kind: Kind, orders: usize) -> (Installation, Shop, Running, String) {
    let shop = Shop::open(Order::many(orders)).await;
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    let schedule = "[schedule]\nnew_orders = 86400\nopen_orders = 86400\n";
    let base = installation.write_main_with_known_port_and(schedule);
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    (installation, shop, service, base)
}

fn is_second_order(call: &Call) -> bool {
    call.path == format!("{ORDERS}/P00002")
}

/// Requests a run that stops at its second order until the shop releases it.
async fn held_run(installation: &Installation, shop: &Shop) -> Running {
    shop.take_calls();
    shop.rule(|call| is_second_order(call).then(|| Reply::success(&Order::ordinary("P00002").detail).held()));
    let run = installation.start(&["--resync", "--json", "--deep", "--only", "orders"]);
    until("the run is under way", async || shop.count(is_second_order) > 0).await;
    run
}

async fn a_run_goes_on_when_who_asked_for_it_goes_away(kind: Kind) {
    let (installation, shop, service, _) = serving(kind, 3).await;
    let run = held_run(&installation, &shop).await;
    run.terminate().await;
    run.end().await.expect(1).says("the service that holds the store goes on with the run");
    shop.release();
    let mirror = installation.mirror().await;
    until("the run is complete", async || {
        let runs =
            mirror.ask("SELECT state FROM sync_runs WHERE kind = 'resync' AND state = 'complete'").await;
        runs.len() == 1
    })
    .await;
    stopped(service).await;
}

async fn a_service_that_stops_sends_away_whoever_waits(kind: Kind) {
    let (installation, shop, service, base) = serving(kind, 3).await;
    let first = held_run(&installation, &shop).await;
    let ask = r#"{"store":"loja-1"}"#;
    let head = "POST /resync HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let mut second = TcpStream::connect(base.trim_start_matches("http://")).await.unwrap();
    let request = format!("{head}Content-Length: {}\r\n\r\n{ask}", ask.len());
    second.write_all(request.as_bytes()).await.unwrap();
    let mut begun = [0; 12];
    second.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.0 200");
    service.terminate().await;
    let mut told = String::new();
    second.read_to_string(&mut told).await.unwrap();
    assert!(!told.contains("report"), "{told}");
    shop.release();
    let ended = first.end().await;
    assert!([0, 3].contains(&ended.code), "a run under way is told to its end\n{ended}");
    service.end().await.expect(0);
}

async fn a_resync_beside_a_service_is_done_by_it(kind: Kind) {
    let (installation, shop, service, base) = serving(kind, 5).await;
    shop.change(|orders| orders.push(Order::ordinary("P00006")));
    let run = installation.resync(&["--only", "orders"]).await.expect(0);
    // A sweep of the service's start may have been at the new order first: what is shown is that the run looked.
    assert_eq!(run.count("orders", "seen"), 6);
    assert!(run.store()["resources"]["products"].is_null(), "{run}");
    assert_eq!(run.store()["logins"], json!(0), "it is done with the service's token");
    assert!(!run.stderr.contains("error"), "{run}");
    let mirror = installation.mirror().await;
    assert_eq!(mirror.live("orders").await, 6);
    let runs = mirror.ask("SELECT kind || ' ' || state AS run FROM sync_runs ORDER BY id").await;
    assert!(runs.iter().any(|row| row["run"] == "resync complete"), "{runs:?}");

    shop.rule(|call| {
        let refused = || Reply::refusal(404, "ORDER_NOT_FOUND", "no such order", &json!([]));
        (call.path == format!("{ORDERS}/P00002")).then(refused)
    });
    let partial = installation.resync(&["--deep"]).await.expect(3);
    assert_eq!(partial.resource("orders")["failures"][0]["key"], json!("P00002"));

    // A command that cannot find the service is refused as before, and sends nothing to the marketplace.
    shop.take_calls();
    let elsewhere = installation.beside();
    shop.join(&elsewhere);
    elsewhere.resync(&[]).await.expect(6).says(&service.id().to_string());
    assert_eq!(shop.count(|call| call.process != Some(service.id())), 0, "only the service goes on");
    refuses_what_a_browser_could_send(&base).await;
    stopped(service).await;
}

async fn refuses_what_a_browser_could_send(base: &str) {
    let body = r#"{"store":"loja-1"}"#;
    let post = async |headers: &str, body: &str| {
        let length = body.len();
        let head =
            format!("POST /resync HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n");
        let answer = answer(base, &format!("{head}{body}")).await;
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let json = "Content-Type: application/json\r\n";
    assert_eq!(post("Content-Type: text/plain\r\n", body).await, "415");
    assert_eq!(post("", body).await, "415");
    assert_eq!(post(&format!("{json}Origin: http://localhost\r\n"), body).await, "403");
    assert_eq!(post(&format!("{json}Sec-Fetch-Site: cross-site\r\n"), body).await, "403");
    assert_eq!(post(json, r#"{"store":"loja-9"}"#).await, "409");
    assert_eq!(post(json, r#"{"store":"loja-1","only":["ordes"]}"#).await, "400");
    assert_eq!(post(json, "nonsense").await, "400");
}
