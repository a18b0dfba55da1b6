//! The store page and the rating, closed as documented and opened for those who build against the BETA.

use crate::pictures::{fetch, picture, png_that_claims, upload};
use crate::support::{Bench, unlimited};
use espelho_sandbox::Options;
use image::ImageFormat;
use reqwest::Method;
use serde_json::{Value, json};

const PAGE: &str = "/api/stores/page";

fn open() -> Options {
    Options { store_page: true, ..unlimited() }
}

async fn page(bench: &Bench) -> Value {
    bench.get(PAGE).await.data()
}

// proves: PAG-019, ERR-005
#[tokio::test]
async fn integration_tokens_are_forbidden_everything_while_the_beta_is_closed() {
    let bench = Bench::start(unlimited()).await;
    for (method, path) in [
        (Method::GET, PAGE),
        (Method::PUT, PAGE),
        (Method::POST, "/api/stores/page/logo"),
        (Method::DELETE, "/api/stores/page/logo"),
        (Method::POST, "/api/stores/page/background"),
        (Method::DELETE, "/api/stores/page/background"),
        (Method::GET, "/api/stores/rating"),
        (Method::GET, "/api/stores/rating/history"),
    ] {
        let errors = bench.send(method.clone(), path, &json!({})).await.refused(403, "FORBIDDEN");
        assert!(!errors.as_array().unwrap().is_empty(), "{method} {path}");
        bench.plain(method, path, "").await.refused(401, "UNAUTHORIZED");
    }
}

// proves: PAG-001
#[tokio::test]
async fn the_page_tells_store_company_texts_and_addresses() {
    let bench = Bench::start(open()).await;
    let session = bench.get("/api/stores/auth/session").await.data();
    let found = page(&bench).await;
    assert_eq!(found["company"], session["company"]);
    let store = json!({"id": session["id"], "name": session["name"], "code": session["code"]});
    let expected = json!({
        "store": store, "company": session["company"], "short_description": "", "description": "",
        "full_description": "", "foundation_date": null, "logo_url": null, "background_url": null,
    });
    assert_eq!(found, expected);
}

// proves: PAG-002, PAG-003, PAG-004, PAG-005, PAG-006, PAG-007, PAG-008
#[tokio::test]
async fn what_is_not_sent_stays_and_null_clears() {
    let bench = Bench::start(open()).await;
    let (short, plain, full) = ("é".repeat(255), "ã".repeat(500), "ç".repeat(100_000));
    let all = json!({
        "short_description": short, "description": plain, "full_description": full,
        "foundation_date": "1998-02-28", "unknown": 1,
    });
    let written = bench.put(PAGE, &all).await.data();
    for field in ["short_description", "description", "full_description", "foundation_date"] {
        assert_eq!(written[field], all[field]);
        assert_eq!(page(&bench).await[field], all[field]);
    }
    assert_eq!(bench.put(PAGE, &json!({})).await.data(), written);
    let cleared = bench.put(PAGE, &json!({"description": null, "foundation_date": null})).await.data();
    assert_eq!((&cleared["description"], &cleared["foundation_date"]), (&json!(""), &Value::Null));
    assert_eq!(cleared["short_description"], written["short_description"]);
    let cleared = bench.put(PAGE, &json!({"short_description": null, "full_description": null})).await.data();
    assert_eq!((&cleared["short_description"], &cleared["full_description"]), (&json!(""), &json!("")));
}

// proves: PAG-002, PAG-003, PAG-004, PAG-005
#[tokio::test]
async fn a_field_of_the_wrong_kind_or_length_changes_nothing() {
    let bench = Bench::start(open()).await;
    let before = bench.put(PAGE, &json!({"description": "antes"})).await.data();
    for (field, value) in [
        ("short_description", json!("é".repeat(256))),
        ("description", json!("x".repeat(501))),
        ("full_description", json!(7)),
        ("description", json!(["x"])),
        ("short_description", json!({})),
        ("foundation_date", json!(true)),
        ("foundation_date", json!("1998-02-30")),
        ("foundation_date", json!("1998-2-3")),
        ("foundation_date", json!("03/02/1998")),
        ("foundation_date", json!("+998-02-03")),
        ("foundation_date", json!("1998-02-03T00:00:00Z")),
        ("foundation_date", json!("")),
    ] {
        let body = json!({"description": "depois", field: value});
        let errors = bench.put(PAGE, &body).await.refused(422, "VALIDATION_ERROR");
        assert_eq!(errors.as_object().unwrap().keys().collect::<Vec<_>>(), [field], "{value}");
    }
    for body in [json!(null), json!([]), json!("x"), json!(1)] {
        bench.put(PAGE, &body).await.refused(422, "VALIDATION_ERROR");
    }
    assert_eq!(page(&bench).await, before);
}

// proves: PAG-009, PAG-010, PAG-011, PAG-012, PAG-013, PAG-015
#[tokio::test]
async fn logo_and_background_are_uploaded_replaced_and_removed() {
    let bench = Bench::start(open()).await;
    for (path, field) in
        [("/api/stores/page/logo", "logo_url"), ("/api/stores/page/background", "background_url")]
    {
        let mut earlier: Option<String> = None;
        for (format, content_type) in [
            (ImageFormat::Jpeg, "image/jpeg"),
            (ImageFormat::Png, "image/png"),
            (ImageFormat::Gif, "image/gif"),
            (ImageFormat::WebP, "image/webp"),
        ] {
            let file = picture(format, 20, 10);
            let answered = upload(&bench, path, &file).await.data();
            assert_eq!(answered, page(&bench).await);
            let url = answered[field].as_str().unwrap();
            let served = fetch(&bench, url).await;
            assert_eq!(
                (&served.headers["content-type"], &served.bytes),
                (&content_type.parse().unwrap(), &file)
            );
            if let Some(earlier) = earlier.replace(url.to_owned()) {
                assert_eq!(fetch(&bench, &earlier).await.status, 404);
            }
        }
        for _ in 0..2 {
            assert_eq!(bench.delete(path).await.status, 204, "also where there is none");
            assert_eq!(page(&bench).await[field], Value::Null);
        }
        assert_eq!(fetch(&bench, &earlier.unwrap()).await.status, 404);
    }
}

// proves: PAG-013, PAG-014
#[tokio::test]
async fn a_picture_of_the_page_has_five_megabytes_at_most_and_can_be_read() {
    let bench = Bench::start(open()).await;
    let path = "/api/stores/page/logo";
    let mut file = picture(ImageFormat::Png, 4, 4);
    file.resize(5 << 20, 0);
    assert_eq!(upload(&bench, path, &file).await.status, 200);
    let before = page(&bench).await;
    file.push(0);
    for file in [file, b"<svg/>".to_vec(), b"GIF89a".to_vec(), png_that_claims(9_000, 9_000)] {
        let errors = upload(&bench, path, &file).await.refused(422, "VALIDATION_ERROR");
        assert!(errors["image"].is_array());
    }
    assert_eq!(page(&bench).await, before, "the earlier file stays");
}

// proves: PAG-016, PAG-018
#[tokio::test]
async fn the_rating_is_made_of_delivered_orders() {
    let bench = Bench::start(open()).await;
    let delivered = bench.orders("status=delivered,completed").await;
    let rating = bench.get("/api/stores/rating").await.data();
    let total = rating["total"].as_u64().unwrap();
    assert!(total > 0 && total <= delivered.len() as u64);
    let counts: Vec<u64> = ["1", "2", "3", "4", "5"]
        .iter()
        .map(|stars| rating["distribution"][stars].as_u64().unwrap())
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), total);
    let sum: u64 = (1..).zip(&counts).map(|(stars, count): (u64, &u64)| stars * count).sum();
    assert!((rating["average"].as_f64().unwrap() - sum as f64 / total as f64).abs() < 0.01);
    for order in &delivered {
        let number = order["order_number"].as_str().unwrap();
        assert!(bench.control().orders().set_status("loja-1", number, "shipped"));
    }
    let none = bench.get("/api/stores/rating").await.data();
    assert_eq!((&none["total"], &none["average"]), (&json!(0), &Value::Null));
    assert_eq!(bench.get("/api/stores/rating/history").await.data(), json!([]));
}

// proves: PAG-017
#[tokio::test]
async fn the_history_divides_the_rating_among_months() {
    let bench = Bench::start(open()).await;
    let total = bench.get("/api/stores/rating").await.data()["total"].as_u64().unwrap();
    let history = bench.get("/api/stores/rating/history").await.data();
    let months = history.as_array().unwrap();
    assert!(months.len() > 1);
    assert_eq!(months.iter().map(|month| month["total"].as_u64().unwrap()).sum::<u64>(), total);
    let names: Vec<&str> = months.iter().map(|month| month["month"].as_str().unwrap()).collect();
    assert!(names.is_sorted_by(|newer, older| newer > older), "{names:?}");
    assert!(months.iter().all(|month| (1.0..=5.0).contains(&month["average"].as_f64().unwrap())));
    for order in bench.orders("status=delivered,completed").await {
        let notes = format!("/api/v1/sellers/orders/{}/notes", order["order_number"].as_str().unwrap());
        bench.put(&notes, &json!({"notes": "nota antiga"})).await.data();
    }
    assert_eq!(bench.get("/api/stores/rating/history").await.data(), history, "a note rates nothing anew");
}
