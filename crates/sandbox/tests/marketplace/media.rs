//! The media routes: uploads, their files in the object storage, listing, deletion, clean-up.

use crate::pictures::{fetch, form, gif, picture, png_that_claims, upload, uploaded};
use crate::support::{Bench, unlimited};
use espelho_sandbox::{ListShape, Options};
use image::ImageFormat;
use serde_json::{Value, json};

const HOUR: u32 = 3600;

/// The uploads of a listing, without the pictures that generated products came with.
async fn listed(bench: &Bench, query: &str) -> Vec<String> {
    let rows = bench.get(&format!("/api/media?per_page=100&{query}")).await.data();
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

fn id(image: &Value) -> &str {
    image["id"].as_str().unwrap()
}

/// A world without images of its own.
fn bare() -> Options {
    Options { products: 0, orders: 0, ..unlimited() }
}

// proves: MED-001, MED-002, MED-006, MED-008, MED-009, MED-010, MED-011, MED-012, MED-013, MED-026
#[tokio::test]
async fn an_upload_answers_with_the_whole_media_object() {
    let bench = Bench::start(bare()).await;
    let image = uploaded(&bench).await;
    assert!(ulid::Ulid::from_string(id(&image)).is_ok());
    let urls = image["urls"].as_array().unwrap();
    let sizes: Vec<_> = urls.iter().map(|url| (&url["name"], &url["size"])).collect();
    let expected = [
        ("thumbnail", "135x135"),
        ("sm", "200x200"),
        ("md", "400x400"),
        ("lg", "800x800"),
        ("xl", "1600x1600"),
    ];
    assert_eq!(sizes.len(), expected.len());
    for ((name, size), (expected_name, expected_size)) in sizes.into_iter().zip(expected) {
        assert_eq!((name, size), (&json!(expected_name), &json!(expected_size)));
    }
    assert_eq!(image["in_use"], json!(false));
    assert_eq!((&image["reference_id"], &image["reference_model"]), (&Value::Null, &Value::Null));
    assert_eq!(image["created_at"], json!("2026-04-01T12:00:30-03:00"));
    assert_eq!(image["updated_at"], image["created_at"]);
    assert_eq!(image.as_object().unwrap().len(), 8);
}

// proves: MED-003, MED-005, MED-007
#[tokio::test]
async fn every_accepted_format_becomes_webp_in_every_size_at_once() {
    let bench = Bench::start(bare()).await;
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
        let reply = upload(&bench, "/api/media/upload", &picture(format, 60, 30)).await;
        assert_eq!(reply.status, 201, "{format:?}");
        let image = &reply.json()["data"];
        let original = fetch(&bench, image["original_source"].as_str().unwrap()).await;
        assert_eq!(
            (original.status, &original.headers["content-type"]),
            (200, &"image/webp".parse().unwrap())
        );
        assert_eq!(crate::pictures::size(&original.bytes, ImageFormat::WebP), (60, 30));
        for url in image["urls"].as_array().unwrap() {
            let file = fetch(&bench, url["url"].as_str().unwrap()).await;
            let (width, height) = crate::pictures::size(&file.bytes, ImageFormat::WebP);
            assert_eq!(url["size"], json!(format!("{width}x{height}")), "{format:?}");
            assert_eq!(file.headers["content-type"], "image/webp");
        }
    }
}

// proves: MED-001, MED-003
#[tokio::test]
async fn an_upload_that_is_no_accepted_image_is_refused_by_field() {
    let bench = Bench::start(bare()).await;
    let damaged = picture(ImageFormat::Png, 60, 30)[..80].to_vec();
    for file in
        [gif(), b"GIF89a".to_vec(), b"<svg/>".to_vec(), Vec::new(), damaged, png_that_claims(60_000, 60_000)]
    {
        let errors = upload(&bench, "/api/media/upload", &file).await.refused(422, "VALIDATION_ERROR");
        assert_eq!(errors.as_object().unwrap().keys().collect::<Vec<_>>(), ["image"]);
    }
    let png = picture(ImageFormat::Png, 1, 1);
    let no_file = [
        ("multipart/form-data; boundary=X", form("photo", &png)),
        ("multipart/form-data", form("image", &png)),
        ("image/png", png.clone()),
        ("application/json", b"{\"image\": \"x\"}".to_vec()),
        ("multipart/form-data; boundary=X", Vec::new()),
        (
            "multipart/form-data; boundary=X",
            b"--X\r\nContent-Disposition: form-data; name=\"image\"; fi".to_vec(),
        ),
        ("multipart/form-data; boundary=\u{ff}", form("image", &png)),
    ];
    for (content_type, body) in no_file {
        let reply = crate::pictures::send(&bench, "/api/media/upload", content_type, body).await;
        reply.refused(422, "VALIDATION_ERROR")["image"].as_array().unwrap();
    }
    assert_eq!(listed(&bench, "").await, Vec::<String>::new());
}

// proves: MED-004
#[tokio::test]
async fn an_upload_has_two_megabytes_at_most() {
    let bench = Bench::start(bare()).await;
    // What follows the end of a PNG belongs to nobody.
    let mut file = picture(ImageFormat::Png, 4, 4);
    file.resize(2 << 20, 0);
    assert_eq!(upload(&bench, "/api/media/upload", &file).await.status, 201);
    file.push(0);
    upload(&bench, "/api/media/upload", &file).await.refused(422, "VALIDATION_ERROR")["image"]
        .as_array()
        .unwrap();
}

// proves: MED-014, MED-021, MED-022, MED-023, ERR-008
#[tokio::test]
async fn an_image_is_found_by_its_own_store_only() {
    let bench = Bench::start(Options { stores: 2, ..bare() }).await;
    let image = uploaded(&bench).await;
    let path = format!("/api/media/{}", id(&image));
    assert_eq!(bench.get(&path).await.data(), image);
    assert_eq!(listed(&bench, "").await, [id(&image)]);
    for absent in ["x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "%00", "null"] {
        bench.get(&format!("/api/media/{absent}")).await.refused(404, "NOT_FOUND");
        bench.delete(&format!("/api/media/{absent}")).await.refused(404, "NOT_FOUND");
    }
    let other = bench.login_to(&bench.sandbox.stores()[1]).await;
    let other = Bench { token: other, ..bench };
    other.get(&path).await.refused(404, "NOT_FOUND");
    other.delete(&path).await.refused(404, "NOT_FOUND");
    assert_eq!(listed(&other, "").await, Vec::<String>::new());
}

// proves: MED-015, MED-016, MED-017
#[tokio::test]
async fn images_are_filtered_by_what_uses_them() {
    let bench = Bench::start(bare()).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(id(&uploaded(&bench).await).to_owned());
    }
    for (image, model, reference) in [(0, "product", "P1"), (1, "publication", "P1"), (2, "store", "7")] {
        assert!(bench.control().media().link("loja-1", &ids[image], model, reference));
    }
    let mut by_model = Vec::new();
    for model in ["product", "publication", "store"] {
        by_model.extend(listed(&bench, &format!("filter[reference_model]={model}")).await);
    }
    assert_eq!(by_model, ids[..3]);
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for (query, expected) in [
        ("filter%5Breference_id%5D=7", &ids[2..3]),
        ("filter[reference_id]=P1&sort=created_at&filter[reference_model]=publication", &ids[1..2]),
        ("filter[in_use]=false", &ids[3..]),
        ("filter[reference_id]=P2", &[]),
        ("filter[in_use]=false&filter[reference_model]=store", &[]),
    ] {
        assert_eq!(listed(&bench, query).await, expected, "{query}");
    }
    assert_eq!(listed(&bench, "filter[in_use]=true").await.len(), 3);
}

// proves: MED-018
#[tokio::test]
async fn images_are_sorted_by_creation_or_change_both_ways() {
    let bench = Bench::start(bare()).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        bench.hands.forward(60);
        ids.push(id(&uploaded(&bench).await).to_owned());
    }
    bench.hands.forward(60);
    assert!(bench.control().media().link("loja-1", &ids[0], "store", "1"));
    let places = |order: [usize; 3]| order.map(|at| ids[at].clone());
    assert_eq!(listed(&bench, "").await, places([2, 1, 0]), "newest first where nothing is asked for");
    assert_eq!(listed(&bench, "sort=created_at").await, places([0, 1, 2]));
    assert_eq!(listed(&bench, "sort=-created_at").await, places([2, 1, 0]));
    assert_eq!(listed(&bench, "sort=updated_at").await, places([1, 2, 0]));
    assert_eq!(listed(&bench, "sort=-updated_at").await, places([0, 2, 1]));
}

// proves: MED-019, MED-020
#[tokio::test]
async fn pages_have_fifteen_images_unless_one_to_a_hundred_are_asked_for() {
    // The products of this world come with more than a hundred pictures.
    let bench = Bench::start(Options { products: 130, ..bare() }).await;
    let rows = |reply: crate::support::Reply| reply.data().as_array().unwrap().len();
    assert_eq!(rows(bench.get("/api/media").await), 15);
    assert_eq!(rows(bench.get("/api/media?per_page=1").await), 1);
    assert_eq!(rows(bench.get("/api/media?per_page=100").await), 100);
    let (first, second) = (listed(&bench, "").await, listed(&bench, "page=2").await);
    assert!(!second.is_empty() && first.iter().all(|id| !second.contains(id)));
    assert_eq!(listed(&bench, "page=99").await, Vec::<String>::new());
    let total = bench.get("/api/media").await.json()["meta"]["total"].as_u64().unwrap();
    assert_eq!(total as usize, first.len() + second.len());
}

// proves: MED-016, MED-017, MED-018, MED-020
#[tokio::test]
async fn a_listing_with_a_bad_parameter_names_it() {
    let bench = Bench::start(bare()).await;
    for (query, field) in [
        ("per_page=0", "per_page"),
        ("per_page=101", "per_page"),
        ("per_page=-1", "per_page"),
        ("per_page=many", "per_page"),
        ("page=0", "page"),
        ("sort=name", "sort"),
        ("sort=--created_at", "sort"),
        ("filter[reference_model]=order", "filter.reference_model"),
        ("filter[in_use]=1", "filter.in_use"),
    ] {
        let errors = bench.get(&format!("/api/media?{query}")).await.refused(422, "VALIDATION_ERROR");
        assert_eq!(errors.as_object().unwrap().keys().collect::<Vec<_>>(), [field], "{query}");
    }
    assert_eq!(bench.get("/api/media?filter[colour]=red&filter[]=x&filter=").await.status, 200);
}

#[tokio::test]
async fn the_paginated_envelope_repeats_the_filters() {
    let bench = Bench::start(Options { list_shape: ListShape::Envelope, ..bare() }).await;
    let image = uploaded(&bench).await;
    let data = bench.get("/api/media?filter[in_use]=false").await.data();
    assert_eq!(data["data"], json!([image]));
    assert_eq!(data["meta"]["filters"], json!({"in_use": "false"}));
    assert_eq!(data["meta"]["pagination"]["records"], json!({"from": 1, "to": 1, "records": 1}));
}

// proves: MED-024, MED-025, MED-028, ERR-010
#[tokio::test]
async fn an_image_is_deleted_with_its_files_unless_it_is_in_use() {
    let bench = Bench::start(bare()).await;
    let image = uploaded(&bench).await;
    let (path, url) = (format!("/api/media/{}", id(&image)), image["urls"][0]["url"].as_str().unwrap());
    assert!(bench.control().media().link("loja-1", id(&image), "publication", "ANU-1"));
    bench.delete(&path).await.refused(409, "CONFLICT");
    assert_eq!(bench.get(&path).await.data()["in_use"], json!(true));
    assert!(bench.control().media().unlink("loja-1", id(&image)));
    assert_eq!(fetch(&bench, url).await.status, 200);
    let gone = bench.delete(&path).await;
    assert_eq!((gone.status, gone.bytes.len()), (204, 0));
    bench.get(&path).await.refused(404, "NOT_FOUND");
    bench.delete(&path).await.refused(404, "NOT_FOUND");
    assert_eq!(fetch(&bench, url).await.status, 404);
}

// proves: MED-029
#[tokio::test]
async fn an_image_that_nothing_uses_is_gone_after_three_days() {
    let bench = Bench::start(bare()).await;
    let (loose, used) = (uploaded(&bench).await, uploaded(&bench).await);
    assert!(bench.control().media().link("loja-1", id(&used), "store", "1"));
    bench.control().forward(71 * HOUR);
    assert_eq!(listed(&bench, "").await.len(), 2);
    // An image that was in use meanwhile is loose from its unlinking on.
    assert!(bench.control().media().unlink("loja-1", id(&used)));
    bench.control().forward(HOUR);
    assert_eq!(listed(&bench, "").await, [id(&used)]);
    assert_eq!(fetch(&bench, loose["original_source"].as_str().unwrap()).await.status, 404);
    bench.control().forward(71 * HOUR);
    assert_eq!(listed(&bench, "").await, Vec::<String>::new());
}

#[tokio::test]
async fn what_is_linked_by_hand_has_to_be_there() {
    let bench = Bench::start(bare()).await;
    let (control, image) = (bench.control(), uploaded(&bench).await);
    assert!(!control.media().link("nobody", id(&image), "store", "1"));
    assert!(!control.media().link("loja-1", "x", "store", "1"));
    assert!(!control.media().link("loja-1", id(&image), "order", "1"));
    assert!(!control.media().unlink("loja-1", id(&image)), "it is loose");
    assert!(control.media().link("loja-1", id(&image), "store", "1"));
    assert!(!control.media().link("loja-1", id(&image), "store", "2"), "it is in use");
}
