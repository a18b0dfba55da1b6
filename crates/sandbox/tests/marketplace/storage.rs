//! The object storage: an origin of its own, signed addresses, refusals in XML, no limit.

use crate::pictures::{fetch, uploaded};
use crate::support::{Bench, Reply, unlimited};
use espelho_sandbox::{Fault, FaultRule, Options};
use reqwest::Method;

/// The signed address of a label that is done.
async fn signed(bench: &Bench) -> String {
    for order in bench.orders("status=preparing,ready_to_ship,shipped").await {
        let number = order["order_number"].as_str().unwrap();
        let Some(shipment) = bench.control().shipments().of_order("loja-1", number).into_iter().next() else {
            continue;
        };
        bench.control().shipments().block_labels("loja-1", &shipment, false);
        let path = format!("/api/v1/sellers/orders/{number}/shipment-labels/generate");
        assert_eq!(bench.post(&path, &serde_json::Value::Null).await.status, 202);
        bench.control().forward(20);
        let path = format!("/api/seller/logistics/shipments/{shipment}/labels");
        let label = bench.get(&path).await.data()["labels"][0]["id"].clone();
        let data = bench.get(&format!("{path}/{}/download", label.as_str().unwrap())).await.data();
        assert_eq!(data["expires_in"], 900);
        return data["url"].as_str().unwrap().to_owned();
    }
    panic!("no order has a shipment");
}

/// Checks the refusal of an object storage.
fn refused(reply: &Reply, status: u16, code: &str) {
    let body = String::from_utf8(reply.bytes.clone()).unwrap();
    assert_eq!(reply.status, status, "{body}");
    assert_eq!(reply.headers["content-type"], "application/xml");
    assert!(body.starts_with("<?xml") && body.contains(&format!("<Code>{code}</Code>")), "{body}");
}

// proves: SHP-032
#[tokio::test]
async fn the_storage_is_another_origin_and_takes_no_token() {
    let bench = Bench::start(unlimited()).await;
    assert_ne!(bench.sandbox.storage_origin(), bench.sandbox.base_url());
    let url = signed(&bench).await;
    assert_eq!(fetch(&bench, &url).await.status, 200);
    let image = uploaded(&bench).await;
    for url in [url.as_str(), image["original_source"].as_str().unwrap()] {
        let with_token = bench.http.get(url).bearer_auth(&bench.token).send().await.unwrap();
        refused(&Reply::read(with_token).await, 400, "InvalidArgument");
    }
}

// proves: SHP-033
#[tokio::test]
async fn a_signed_address_works_for_fifteen_minutes() {
    let bench = Bench::start(unlimited()).await;
    let url = signed(&bench).await;
    bench.control().forward(899);
    assert_eq!(fetch(&bench, &url).await.status, 200);
    bench.control().forward(1);
    refused(&fetch(&bench, &url).await, 403, "AccessDenied");
}

// proves: SHP-032
#[tokio::test]
async fn a_label_is_not_given_out_without_its_own_signature() {
    let bench = Bench::start(unlimited()).await;
    let url = signed(&bench).await;
    let (bare, query) = url.split_once('?').unwrap();
    let expires = query.split('&').find_map(|pair| pair.strip_prefix("expires=")).unwrap();
    let later = (expires.parse::<i64>().unwrap() + 60).to_string();
    let (start, last) = url.split_at(url.len() - 1);
    let other_end = format!("{start}{}", if last == "0" { "1" } else { "0" });
    refused(&fetch(&bench, bare).await, 403, "AccessDenied");
    refused(&fetch(&bench, &format!("{bare}?expires={expires}")).await, 403, "AccessDenied");
    for tampered in [url.replace(expires, &later), other_end, url.replace(".pdf", ".zpl")] {
        refused(&fetch(&bench, &tampered).await, 403, "SignatureDoesNotMatch");
    }
}

#[tokio::test]
async fn what_is_not_there_or_no_file_is_told_in_xml() {
    let bench = Bench::start(Options { products: 3, ..unlimited() }).await;
    let origin = bench.sandbox.storage_origin();
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    for path in [
        "/".to_owned(),
        "/api/products".to_owned(),
        "/_sandbox/stats".to_owned(),
        format!("/imagens/{id}/original.webp"),
        format!("/imagens/{id}/huge.webp"),
        "/imagens/x/sm.webp".to_owned(),
        "/imagens/".to_owned(),
        format!("/lojas/{id}.png"),
        format!("/lojas/{id}"),
        "/%00%ff<x>".to_owned(),
    ] {
        refused(&fetch(&bench, &format!("{origin}{path}")).await, 404, "NoSuchKey");
    }
    let url = uploaded(&bench).await["original_source"].as_str().unwrap().to_owned();
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let reply = Reply::read(bench.http.request(method, &url).send().await.unwrap()).await;
        refused(&reply, 405, "MethodNotAllowed");
    }
    let head = Reply::read(bench.http.head(&url).send().await.unwrap()).await;
    assert_eq!((head.status, head.bytes.len()), (200, 0));
    assert!(head.header("content-length").unwrap() > 0);
    // A file of the images is not reached by the path of another kind.
    let other_kind = url.replace("/imagens/", "/lojas/").replace("/original", "");
    refused(&fetch(&bench, &other_kind).await, 404, "NoSuchKey");
}

#[tokio::test]
async fn nothing_that_is_fetched_from_the_storage_is_counted() {
    let bench = Bench::start(Options { rate: Some(5), products: 3, ..Options::default() }).await;
    let image = uploaded(&bench).await;
    let before = bench.sandbox.stats().requests;
    for _ in 0..20 {
        let file = fetch(&bench, image["urls"][0]["url"].as_str().unwrap()).await;
        assert_eq!((file.status, file.headers.get("x-ratelimit-limit")), (200, None));
    }
    assert_eq!(bench.sandbox.stats().requests, before);
    assert_eq!(bench.get("/api/media").await.header("x-ratelimit-remaining"), Some(3));
}

#[tokio::test]
async fn faults_reach_the_storage_too() {
    let bench = Bench::start(Options { products: 3, ..unlimited() }).await;
    let url = uploaded(&bench).await["original_source"].as_str().unwrap().to_owned();
    let rule = |kind| FaultRule { route: "storage".to_owned(), times: Some(1), kind };
    bench.control().faults().add(rule(Fault::Html200));
    assert_eq!(fetch(&bench, &url).await.headers["content-type"], "text/html; charset=utf-8");
    bench.control().faults().add(rule(Fault::TruncateBody));
    // The break may come before the headers are read, or after.
    let broken = match bench.http.get(&url).send().await {
        Ok(response) => response.bytes().await.is_err(),
        Err(_) => true,
    };
    assert!(broken);
    assert_eq!(fetch(&bench, &url).await.headers["content-type"], "image/webp");
}

#[tokio::test]
async fn the_storage_can_be_given_an_address_and_ends_with_the_sandbox() {
    // A free port, given back at once for the storage to take.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bench = Bench::start(Options { storage: Some(free), products: 3, ..unlimited() }).await;
    assert_eq!(bench.sandbox.storage_origin(), format!("http://{free}"));
    let url = uploaded(&bench).await["original_source"].as_str().unwrap().to_owned();
    assert_eq!(fetch(&bench, &url).await.status, 200);
    bench.sandbox.stop().await;
    assert!(crate::support::client().get(&url).send().await.is_err());
}
