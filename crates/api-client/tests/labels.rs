//! Labels from generation to the file, which is fetched without the token.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod support;

use espelho_api_client::{Class, Documented, Error, SignedUrl};
use espelho_model::{LabelId, OrderNumber, ShipmentId, shipment::LabelFormat};

use support::{Bench, answer, bench, header, http, json, open};

async fn bench_with_file(answers: Vec<Vec<u8>>) -> (Bench, SignedUrl) {
    let bench = bench(answers).await;
    let url = SignedUrl::parse(&format!("{}/bucket/l.pdf?X-Signature=segredo", bench.base_url)).unwrap();
    (bench, url)
}

// proves: SHP-001, SHP-023, SHP-024, SHP-028, SHP-029, SHP-031, SHP-032
#[tokio::test]
async fn a_label_is_made_seen_and_fetched_and_only_the_marketplace_sees_the_token() {
    let bench = bench(vec![
        answer("202 Accepted", r#"{"success":true,"data":{"queued_shipments":["01S"],"total":1}}"#),
        json(r#"{"success":true,"data":{"shipments":[{"id":"01S","labels_ready":0,"labels_total":1}]}}"#),
        json(r#"{"success":true,"data":{"shipment_id":"01S","labels":[{"id":"01L","format":"a4","status":"completed","is_ready":true}],"formats_pending":[]}}"#),
    ])
    .await;
    let (order, shipment, label) = (OrderNumber::new("1"), ShipmentId::new("01S"), LabelId::new("01L"));
    let url = format!("{}/bucket/l.pdf?X-Signature=segredo", bench.base_url);
    bench.script.answers.lock().unwrap().extend([
        json(&format!(
            r#"{{"success":true,"data":{{"label_id":"01L","format":"a4","url":"{url}","expires_in":900}}}}"#
        )),
        http("200 OK", "Content-Type: application/pdf\r\n", "%PDF-1.7"),
    ]);

    let queued = bench.client.shipments().generate_labels(&order).await.unwrap().value;
    assert_eq!((queued.shipments, queued.total), (vec![shipment.clone()], Some(1)));
    assert_eq!(bench.client.shipments().of_order(&order).await.unwrap().value[0].labels_total, Some(1));
    let labels = bench.client.shipments().labels(&shipment).await.unwrap().value;
    assert_eq!((labels.labels[0].is_ready, labels.formats_pending), (Some(true), Vec::new()));
    let file = bench.client.shipments().label_file(&shipment, &label).await.unwrap();
    assert_eq!((file.format, file.expires_in_seconds), (Some(LabelFormat::A4), Some(900)));
    let before = bench.client.stats().requests;
    let fetched = bench.client.signed_files().fetch(&file.url).await.unwrap();
    assert_eq!(fetched.bytes, b"%PDF-1.7");
    assert_eq!(fetched.content_type.as_deref(), Some("application/pdf"));

    assert_eq!(bench.client.stats().requests, before, "it is not the token's budget that pays");
    let requests = bench.script.requests.lock().unwrap().clone();
    let bearers: Vec<_> = requests.iter().map(|request| header(request, "authorization").is_some()).collect();
    assert_eq!(bearers, [true, true, true, true, false]);
    assert!(requests[4].starts_with("GET /bucket/l.pdf?X-Signature=segredo "), "{}", requests[4]);
    assert!(
        !requests[4].contains("sk_live_") && header(&requests[4], "accept") == Some("*/*"),
        "{}",
        requests[4]
    );
}

// proves: SHP-034, ERR-017
#[tokio::test]
async fn a_label_that_is_still_made_says_so() {
    let unready = r#"{"success":false,"code":422,"message_code":"UNPROCESSABLE_ENTITY","description":"Em processamento","data":[],"errors":[],"meta":[]}"#;
    let bench = bench(vec![answer("422 Unprocessable Entity", unready)]).await;
    let error =
        bench.client.shipments().label_file(&ShipmentId::new("01S"), &LabelId::new("01L")).await.unwrap_err();
    assert_eq!((error.kind(), bench.sent()), (Some(Documented::LabelNotReady), 1));
}

// proves: SHP-002, ERR-007
#[tokio::test]
async fn an_order_without_shipments_is_a_404() {
    let absent = r#"{"success":false,"code":404,"message_code":"NOT_FOUND","description":"Recurso não encontrado","data":[],"errors":[],"meta":[]}"#;
    let bench = bench(vec![answer("404 Not Found", absent)]).await;
    let error = bench.client.shipments().of_order(&OrderNumber::new("1")).await.unwrap_err();
    assert_eq!((error.kind(), error.class()), (Some(Documented::NotFound), Class::Permanent));
}

#[tokio::test]
async fn the_making_of_labels_is_never_repeated_by_itself() {
    let bench = bench(vec![http("504 Gateway Timeout", "", "")]).await;
    let error = bench.client.shipments().generate_labels(&OrderNumber::new("1")).await.unwrap_err();
    assert_eq!((error.class(), bench.sent()), (Class::Ambiguous, 1));
}

// proves: SHP-033
// withstands: F126
#[tokio::test]
async fn an_address_that_has_expired_is_not_asked_again_and_not_shown() {
    let expired = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>";
    let (bench, url) =
        bench_with_file(vec![http("403 Forbidden", "Content-Type: application/xml\r\n", expired)]).await;
    let error = bench.client.signed_files().fetch(&url).await.unwrap_err();
    assert!(matches!(error, Error::AddressExpired { status: 403, .. }), "{error}");
    assert_eq!(
        (bench.sent(), error.class(), error.code().as_str()),
        (1, Class::Permanent, "address_expired")
    );
    assert!(!format!("{error} {error:?}").contains("segredo"), "{error:?}");
}

#[tokio::test]
async fn a_storage_that_fails_is_asked_again() {
    let faults = vec![http("503 Slow Down", "", ""), Vec::new(), http("200 OK", "", "ok")];
    let (bench, url) = bench_with_file(faults).await;
    assert_eq!(bench.client.signed_files().fetch(&url).await.unwrap().bytes, b"ok");
    assert_eq!(bench.sent(), 3);
}

// withstands: F123
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (bench, url) = bench_with_file(vec![http("302 Found", "Location: /elsewhere\r\n", "")]).await;
    let error = bench.client.signed_files().fetch(&url).await.unwrap_err();
    assert!(matches!(error, Error::FileRefused { status: 302, .. }), "{error}");
    assert_eq!(bench.sent(), 1);
}

#[tokio::test]
async fn a_file_without_end_is_cut_off() {
    let huge = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}CUT", 64 << 20, " ".repeat(40 << 20));
    let (bench, url) = bench_with_file(vec![huge.into_bytes()]).await;
    let error = bench.client.signed_files().fetch(&url).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit_mib: 32, .. }), "{error}");
    assert!(!format!("{error}").contains("segredo"), "{error}");
}

// withstands: F123
#[tokio::test]
async fn in_production_a_plain_address_is_refused_before_a_connection() {
    let (bench, url) = bench_with_file(Vec::new()).await;
    let production = open("https://marketplace.example", &bench.clock, &bench.memory).await;
    let error = production.signed_files().fetch(&url).await.unwrap_err();
    assert!(matches!(error, Error::AddressRefused { objection: "is not https", .. }), "{error}");
    let near = SignedUrl::parse(&url.expose().replace("http:", "https:")).unwrap();
    let error = production.signed_files().fetch(&near).await.unwrap_err();
    assert!(matches!(error, Error::AddressRefused { objection: "is not public", .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("segredo"), "{error:?}");
    assert_eq!(bench.sent(), 0);
}

#[tokio::test]
async fn a_storage_that_is_not_there_is_unreachable_and_its_address_not_shown() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let bench = bench(Vec::new()).await;
    let url = SignedUrl::parse(&format!("http://{free}/l.pdf?X-Signature=segredo")).unwrap();
    let error = bench.client.signed_files().fetch(&url).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("segredo"), "{error:?}");
}
