//! Labels: generation by the clock, the label-only route, and the signed download.

use std::collections::BTreeSet;

use crate::pictures::fetch;
use crate::support::{Bench, Reply, unlimited};
use espelho_sandbox::Options;
use serde_json::{Value, json};

const STORE: &str = "loja-1";
const FORMATS: [&str; 4] = ["a4", "zebra", "thermal", "zebra_pdf"];

/// An order of one of these statuses with that many shipments, none of them blocked; its number and theirs.
async fn order_with(bench: &Bench, statuses: &str, count: usize) -> (String, Vec<String>) {
    for order in bench.orders(&format!("status={statuses}")).await {
        let number = order["order_number"].as_str().unwrap();
        let shipments = bench.control().shipments().of_order(STORE, number);
        if shipments.len() == count {
            for shipment in &shipments {
                assert!(bench.control().shipments().block_labels(STORE, shipment, false));
            }
            return (number.to_owned(), shipments);
        }
    }
    panic!("no order has {count} shipments");
}

async fn parcel(bench: &Bench) -> (String, String) {
    let (number, mut shipments) = order_with(bench, "preparing,ready_to_ship,shipped", 1).await;
    (number, shipments.remove(0))
}

async fn generate(bench: &Bench, number: &str) -> Reply {
    let path = format!("/api/v1/sellers/orders/{number}/shipment-labels/generate");
    let request = bench.http.post(bench.url(&path)).bearer_auth(&bench.token);
    Reply::read(request.send().await.unwrap()).await
}

async fn labels(bench: &Bench, shipment: &str) -> Value {
    bench.get(&format!("/api/seller/logistics/shipments/{shipment}/labels")).await.data()
}

async fn download(bench: &Bench, shipment: &str, label: &Value) -> Reply {
    let label = label["id"].as_str().unwrap();
    bench.get(&format!("/api/seller/logistics/shipments/{shipment}/labels/{label}/download")).await
}

/// Generates the labels of a parcel and waits until they are done.
async fn done(bench: &Bench) -> (String, String, Value) {
    let (number, shipment) = parcel(bench).await;
    assert_eq!(generate(bench, &number).await.status, 202);
    bench.control().forward(20);
    let labels = labels(bench, &shipment).await;
    (number, shipment, labels)
}

fn of_format<'a>(labels: &'a Value, format: &str) -> &'a Value {
    labels["labels"].as_array().unwrap().iter().find(|label| label["format"] == json!(format)).unwrap()
}

fn is_within(file: &[u8], text: &str) -> bool {
    file.windows(text.len()).any(|window| window == text.as_bytes())
}

// proves: SHP-013, SHP-023, SHP-024, SHP-025
#[tokio::test]
async fn generation_queues_every_shipment_that_is_not_blocked() {
    let bench = Bench::start(Options { orders: 1000, ..unlimited() }).await;
    let (number, shipments) = order_with(&bench, "preparing,ready_to_ship,shipped", 2).await;
    let reply = generate(&bench, &number).await;
    assert_eq!(reply.status, 202);
    assert_eq!(reply.json()["data"], json!({"queued_shipments": shipments, "total": 2}));
    bench.control().forward(20);
    let before = labels(&bench, &shipments[0]).await;
    assert!(bench.control().shipments().block_labels(STORE, &shipments[0], true));
    let reply = generate(&bench, &number).await;
    assert_eq!(reply.json()["data"], json!({"queued_shipments": [shipments[1]], "total": 1}));
    assert_eq!(labels(&bench, &shipments[0]).await, before, "a blocked shipment keeps what it has");
    assert!(bench.control().shipments().block_labels(STORE, &shipments[1], true));
    let reply = generate(&bench, &number).await;
    assert_eq!((reply.status, &reply.json()["data"]["total"]), (202, &json!(0)));
}

// proves: SHP-015, SHP-016, SHP-017, SHP-018, SHP-019, SHP-027, SHP-028, SHP-029, SHP-030
#[tokio::test]
async fn a_label_is_pending_then_processing_then_completed() {
    let bench = Bench::start(unlimited()).await;
    let (number, shipment) = parcel(&bench).await;
    let none = labels(&bench, &shipment).await;
    assert_eq!((&none["labels"], &none["formats_pending"]), (&json!([]), &json!([])));
    generate(&bench, &number).await;
    let mut seen: Vec<Vec<String>> = vec![Vec::new(); FORMATS.len()];
    for _ in 0..=40 {
        let found = labels(&bench, &shipment).await;
        assert_eq!(found["shipment_id"], json!(shipment));
        check_shape(&found);
        for (label, seen) in found["labels"].as_array().unwrap().iter().zip(&mut seen) {
            seen.push(label["status"].as_str().unwrap().to_owned());
        }
        bench.hands.forward_millis(500);
    }
    for statuses in &mut seen {
        statuses.dedup();
        assert_eq!(statuses[..], ["pending", "processing", "completed"]);
    }
}

/// What holds of the label-only route at any time.
fn check_shape(found: &Value) {
    let labels = found["labels"].as_array().unwrap();
    assert_eq!(labels.iter().map(|label| label["format"].as_str().unwrap()).collect::<Vec<_>>(), FORMATS);
    let is_ready = |label: &&Value| label["is_ready"] == json!(true);
    let pending: Vec<_> =
        labels.iter().filter(|label| !is_ready(label)).map(|label| &label["format"]).collect();
    assert_eq!(found["formats_pending"], json!(pending));
    assert_eq!(found["labels_ready"], json!(labels.iter().filter(is_ready).count()));
    assert_eq!(found["labels_total"], json!(4));
    for label in labels {
        assert_eq!(is_ready(&label), label["status"] == json!("completed"));
        assert_eq!(is_ready(&label), label["completed_at"].is_string());
        let fields: BTreeSet<&str> = label.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = [
            "id",
            "format",
            "format_label",
            "status",
            "status_label",
            "is_ready",
            "completed_at",
            "source",
            "source_label",
        ];
        assert_eq!(fields, BTreeSet::from(expected));
        for text in ["id", "format_label", "status_label", "source", "source_label"] {
            assert!(!label[text].as_str().unwrap().is_empty());
        }
    }
}

// proves: LIM-007
#[tokio::test]
async fn a_shipment_takes_five_to_twenty_seconds() {
    let bench = Bench::start(unlimited()).await;
    let mut took = BTreeSet::new();
    let (number, shipment) = parcel(&bench).await;
    for _ in 0..30 {
        generate(&bench, &number).await;
        let mut seconds = 0;
        while labels(&bench, &shipment).await["formats_pending"] != json!([]) {
            bench.control().forward(1);
            seconds += 1;
        }
        took.insert(seconds);
    }
    assert!(took.iter().all(|seconds| (5..=20).contains(seconds)), "{took:?}");
    assert!(took.len() > 5, "{took:?}");
}

// proves: SHP-026
#[tokio::test]
async fn generating_again_throws_the_earlier_labels_away() {
    let bench = Bench::start(unlimited()).await;
    let (number, shipment, earlier) = done(&bench).await;
    let url = download(&bench, &shipment, &earlier["labels"][0]).await.data()["url"].clone();
    assert_eq!(fetch(&bench, url.as_str().unwrap()).await.status, 200);
    generate(&bench, &number).await;
    let later = labels(&bench, &shipment).await;
    assert_eq!((later["labels"].as_array().unwrap().len(), &later["labels_ready"]), (4, &json!(0)));
    for label in earlier["labels"].as_array().unwrap() {
        assert!(later["labels"].as_array().unwrap().iter().all(|other| other["id"] != label["id"]));
        download(&bench, &shipment, label).await.refused(404, "NOT_FOUND");
    }
    assert_eq!(fetch(&bench, url.as_str().unwrap()).await.status, 404);
    // The jobs of thrown-away labels must not touch the new ones.
    bench.control().forward(4);
    generate(&bench, &number).await;
    bench.control().forward(4);
    assert_ne!(labels(&bench, &shipment).await["labels_ready"], json!(4));
}

// proves: SHP-034, ERR-017
#[tokio::test]
async fn a_label_that_is_not_ready_cannot_be_downloaded() {
    let bench = Bench::start(unlimited()).await;
    let (number, shipment) = parcel(&bench).await;
    generate(&bench, &number).await;
    for _ in 0..2 {
        let found = labels(&bench, &shipment).await;
        let last = of_format(&found, "zebra_pdf");
        let reply = download(&bench, &shipment, last).await;
        reply.refused(422, "UNPROCESSABLE_ENTITY");
        assert_eq!(reply.json()["description"], json!("Em processamento"));
        bench.control().forward(4);
    }
}

#[tokio::test]
async fn labels_in_the_making_can_fail() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let (number, shipment) = parcel(&bench).await;
    let endpoint = format!("/_sandbox/labels/{STORE}/{shipment}/fail");
    assert!(!bench.control().labels().fail(STORE, &shipment), "there are none");
    generate(&bench, &number).await;
    bench.post(&endpoint, &json!({})).await.data();
    bench.post(&endpoint, &json!({})).await.refused(404, "NOT_FOUND");
    bench.control().forward(60);
    let failed = labels(&bench, &shipment).await;
    assert_eq!((&failed["formats_pending"], &failed["labels_ready"]), (&json!([]), &json!(0)));
    for label in failed["labels"].as_array().unwrap() {
        assert_eq!((&label["status"], &label["is_ready"]), (&json!("error"), &json!(false)));
        assert!(label["completed_at"].is_null());
        download(&bench, &shipment, label).await.refused(422, "UNPROCESSABLE_ENTITY");
    }
    generate(&bench, &number).await;
    bench.control().forward(20);
    assert_eq!(labels(&bench, &shipment).await["labels_ready"], json!(4), "another generation works");
    assert!(!bench.control().labels().fail(STORE, &shipment), "they are done");
}

// proves: SHP-007, SHP-020, SHP-021, SHP-022, SHP-031
#[tokio::test]
async fn every_format_is_a_real_file_with_order_and_recipient() {
    let bench = Bench::start(unlimited()).await;
    let (number, shipment, found) = done(&bench).await;
    let order = bench.order(&number).await;
    let recipient = order["customer"]["name"].as_str().unwrap();
    for (format, content_type, start, end) in [
        ("a4", "application/pdf", "%PDF-", "%%EOF\n"),
        ("zebra_pdf", "application/pdf", "%PDF-", "%%EOF\n"),
        ("zebra", "text/plain; charset=utf-8", "^XA", "^XZ\n"),
        ("thermal", "text/html; charset=utf-8", "<!DOCTYPE html>", "</html>\n"),
    ] {
        let label = of_format(&found, format);
        assert!(label.get("tracking_code").is_none());
        let data = download(&bench, &shipment, label).await.data();
        assert_eq!((&data["label_id"], &data["format"]), (&label["id"], &json!(format)));
        let file = fetch(&bench, data["url"].as_str().unwrap()).await;
        assert_eq!((file.status, &file.headers["content-type"]), (200, &content_type.parse().unwrap()));
        assert!(file.bytes.starts_with(start.as_bytes()) && file.bytes.ends_with(end.as_bytes()), "{format}");
        assert!(is_within(&file.bytes, &format!("Pedido: {number}")));
        // A PDF of this kind holds accented letters as single bytes.
        let name = if content_type == "application/pdf" {
            recipient.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
        } else {
            recipient.as_bytes().to_vec()
        };
        assert!(file.bytes.windows(name.len()).any(|window| window == name), "{format}: {recipient}");
    }
}

// proves: SHP-014
#[tokio::test]
async fn a_pickup_is_labelled_by_its_own_template() {
    let bench = Bench::start(unlimited()).await;
    for (statuses, is_pickup) in [("ready_for_pickup", true), ("ready_to_ship,shipped", false)] {
        let (number, shipments) = order_with(&bench, statuses, 1).await;
        generate(&bench, &number).await;
        bench.control().forward(20);
        let found = labels(&bench, &shipments[0]).await;
        for format in FORMATS {
            let data = download(&bench, &shipments[0], of_format(&found, format)).await.data();
            let file = fetch(&bench, data["url"].as_str().unwrap()).await;
            assert_eq!(is_within(&file.bytes, "pickup-default"), is_pickup, "{format}");
        }
    }
}

// proves: ERR-007, ERR-009
#[tokio::test]
async fn what_is_absent_or_anothers_is_not_found() {
    let bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    let (number, shipment, found) = done(&bench).await;
    let label = found["labels"][0].clone();
    generate(&bench, "nobody").await.refused(404, "NOT_FOUND");
    let unpaid = bench.orders("status=waiting_payment").await.remove(0);
    generate(&bench, unpaid["order_number"].as_str().unwrap()).await.refused(404, "NOT_FOUND");
    for path in ["x/labels", "01ARZ3NDEKTSV4RRFFQ69G5FAV/labels", "x/labels/y/download"] {
        bench.get(&format!("/api/seller/logistics/shipments/{path}")).await.refused(404, "NOT_FOUND");
    }
    for other in [json!("x"), json!("01ARZ3NDEKTSV4RRFFQ69G5FAV")] {
        download(&bench, &shipment, &json!({"id": other})).await.refused(404, "NOT_FOUND");
    }
    let token = bench.login_to(&bench.sandbox.stores()[1]).await;
    let other = Bench { token, ..bench };
    generate(&other, &number).await.refused(404, "NOT_FOUND");
    other.get(&format!("/api/seller/logistics/shipments/{shipment}/labels")).await.refused(404, "NOT_FOUND");
    download(&other, &shipment, &label).await.refused(404, "NOT_FOUND");
}
