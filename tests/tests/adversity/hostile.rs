//! A marketplace that lies and misbehaves: each of its answers costs one order, and nothing else.

use espelho_tests::{Installation, Kind, Reply, Shop, shop::Order, until};
use serde_json::json;

use crate::memory::peak_mib;

/// The most memory beside that of a service with usual orders.
const MOST_MIB: u64 = 96;
/// Names of orders that are no plain path segment.
const ODD_NAMES: [&str; 5] = ["../../../integration/auth", "a/b", "..", "%2e%2e", "a b?c=d#e"];

/// Returns the hostile answers; `elsewhere` is another server's address.
fn answers(elsewhere: &str) -> Vec<(&'static str, Reply)> {
    let ok = |headers: &str| format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{headers}\r\n");
    let (long, chunk) = (vec![b'a'; 1 << 20], [b"100000\r\n".as_slice(), &[b'a'; 1 << 20], b"\r\n"].concat());
    let begun = r#"{"success":true,"data":{"order_number":"x","notes":""#;
    let nested = |open: &str, close: &str| {
        let levels = open.repeat(100_000) + &close.repeat(100_000);
        Reply::text(200, "application/json", &format!(r#"{{"success":true,"data":{levels}}}"#))
    };
    let utf16: Vec<u8> = r#"{"success":true,"data":{}}"#.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let data =
        |data: &str| Reply::text(200, "application/json", &format!(r#"{{"success":true,"data":{data}}}"#));
    vec![
        ("200 MB", Reply::raw(ok("content-length: 209715200\r\n") + begun, long.clone(), 200)),
        ("endless chunks", Reply::raw(ok("transfer-encoding: chunked\r\n"), chunk, 100_000)),
        ("a wrong chunk", Reply::raw(ok("transfer-encoding: chunked\r\n") + "zz\r\n{}\r\n", "", 0)),
        (
            "no compressed text",
            Reply::raw(ok("content-encoding: gzip\r\ncontent-length: 2\r\n") + "{}", "", 0),
        ),
        ("a header of 10 MB", Reply::raw("HTTP/1.1 200 OK\r\nx-long: ", long, 10)),
        ("endless headers", Reply::raw("HTTP/1.1 200 OK\r\n", "x: y\r\n".repeat(1_000), 100_000)),
        ("endless interim answers", Reply::raw("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100), 100_000)),
        ("two lengths", Reply::raw(ok("content-length: 2\r\ncontent-length: 26\r\n") + "{}", "", 0)),
        ("a negative length", Reply::raw(ok("content-length: -1\r\n") + "{}", "", 0)),
        ("less than its length", Reply::raw(ok("content-length: 100\r\n") + begun, "", 0)),
        ("no HTTP", Reply::raw("220 mail.example ESMTP\r\n", "", 0)),
        ("nothing", Reply::raw("", "", 0)),
        ("a UTF-16 text", Reply::raw(ok(&format!("content-length: {}\r\n", utf16.len())), utf16, 1)),
        ("levels of lists", nested("[", "]")),
        ("levels of objects", nested(r#"{"a":"#, "}")),
        ("no object", data("7")),
        ("a list", data("[[],[]]")),
        ("numbers beyond all", data(r#"{"order_number":"x","totals":{"order":1e400},"items_count":-1e999}"#)),
        ("another order", data(r#"{"order_number":"P00001","status":"cancelled"}"#)),
        (
            "control characters",
            Reply::refusal(422, "\u{1b}[2J", "\u{0}\u{1b}]0;x\u{7}\u{202e}", &json!({"\u{0}": [3]})),
        ),
        ("a redirect", Reply::text(307, "text/plain", "").with("Location", format!("{elsewhere}/api/login"))),
        ("a redirect to a file", Reply::text(302, "text/plain", "").with("Location", "file:///etc/passwd")),
    ]
}

// withstands: F008, F116, F130
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_hostile_answer_costs_one_order_and_neither_memory_nor_the_token() {
    let elsewhere = Shop::open(Vec::new()).await;
    let hostile = answers(&elsewhere.base_url());
    let names: Vec<&str> = hostile.iter().map(|(name, _)| *name).collect();
    let shop = Shop::with_rule(Order::many(20), move |call| {
        let number = call.path.strip_prefix("/api/v1/sellers/orders/H-")?.parse::<usize>().ok()?;
        hostile.get(number).map(|(_, reply)| reply.clone())
    })
    .await;
    let installation = Installation::on(Kind::Sqlite).await;
    installation.write_main("[schedule]\nreconcile = \"*/5 * * * * *\"\n");
    shop.join(&installation);
    installation.run(&["migrate"]).await.expect(0);
    let service = installation.start(&["run"]);
    let mirror = installation.mirror().await;
    until("the usual orders are mirrored", async || mirror.live("orders").await == 20).await;
    let usual = peak_mib(&service);

    let numbers: Vec<String> = (0..names.len()).map(|n| format!("H-{n}")).collect();
    shop.change(|orders| orders.extend(numbers.iter().map(|number| Order::ordinary(number))));
    until("each was asked for", async || {
        numbers.iter().all(|number| shop.count(|call| call.path.ends_with(&format!("/{number}"))) > 0)
    })
    .await;
    shop.change(|orders| orders.extend(ODD_NAMES.map(Order::ordinary)));
    shop.change(|orders| orders.push(Order::ordinary("LATE")));
    until("a usual order is mirrored beside them", async || {
        mirror.try_ask("SELECT order_number FROM orders WHERE order_number = 'LATE'").await.len() == 1
    })
    .await;
    let peak = peak_mib(&service);
    assert!(peak <= usual + MOST_MIB, "{peak} MiB, {usual} MiB with usual orders");
    assert_eq!(elsewhere.count(|_| true), 0, "the token went elsewhere");
    let asked_of_login = shop.count(|call| call.method == "GET" && call.path.contains("integration/auth"));
    assert_eq!(asked_of_login, 0, "a name became a path");
    let known = mirror.try_ask("SELECT status FROM orders WHERE order_number = 'P00001'").await;
    let known = known.first().map(|row| row["status"].as_str());
    assert_eq!(known, Some("paid"), "an order was overwritten by another one's answer");
    service.terminate().await;
    let ended = service.end().await;
    assert!(!ended.stderr.contains('\u{1b}'), "control characters in the log");
    ended.expect(0);
}
