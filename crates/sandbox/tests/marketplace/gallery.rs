//! The gallery of a product, and the pictures that generated products come with.

use crate::pictures::{fetch, uploaded};
use crate::support::{Bench, unlimited};
use espelho_sandbox::Options;
use image::ImageFormat;
use serde_json::{Value, json};

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A product without a picture.
async fn bare_product(bench: &Bench) -> String {
    let rows = bench.get("/api/products?per_page=100").await.data();
    let bare = rows.as_array().unwrap().iter().find(|row| row["thumbnail"].is_null()).unwrap();
    text(&bare["id"])
}

async fn thumbnail(bench: &Bench, product: &str) -> Value {
    bench.get(&format!("/api/products/{product}")).await.data()["product"]["thumbnail"].clone()
}

async fn add(bench: &Bench, product: &str, image: &Value) -> crate::support::Reply {
    bench.post(&format!("/api/products/{product}/gallery"), &json!({"image_id": image})).await
}

// proves: PRD-021, PRD-023, MED-006, MED-027
#[tokio::test]
async fn the_first_image_of_a_gallery_is_the_thumbnail_and_in_use() {
    let bench = Bench::start(unlimited()).await;
    let product = bare_product(&bench).await;
    let (first, second) = (uploaded(&bench).await, uploaded(&bench).await);
    bench.hands.forward(60);
    let reply = add(&bench, &product, &first["id"]).await;
    assert_eq!(reply.status, 201);
    assert_eq!(add(&bench, &product, &second["id"]).await.status, 201);
    let found = thumbnail(&bench, &product).await;
    assert_eq!((&found["id"], &found["resources"]), (&first["id"], &first["urls"]));
    let image = bench.get(&format!("/api/media/{}", text(&first["id"]))).await.data();
    assert_eq!(reply.json()["data"], json!({"product_id": product, "images": [image]}));
    assert_eq!((&image["in_use"], &image["reference_model"]), (&json!(true), &json!("product")));
    assert_eq!(image["reference_id"], json!(product));
    assert_ne!(image["updated_at"], image["created_at"]);
}

// proves: PRD-022
#[tokio::test]
async fn a_seventh_image_is_refused_and_stays_loose() {
    let bench = Bench::start(unlimited()).await;
    let product = bare_product(&bench).await;
    for _ in 0..6 {
        assert_eq!(add(&bench, &product, &uploaded(&bench).await["id"]).await.status, 201);
    }
    let seventh = uploaded(&bench).await;
    let errors = add(&bench, &product, &seventh["id"]).await.refused(422, "VALIDATION_ERROR");
    assert!(errors["image_id"].is_array());
    let seventh = bench.get(&format!("/api/media/{}", text(&seventh["id"]))).await.data();
    assert_eq!(seventh["in_use"], json!(false));
}

// proves: PRD-024, MED-028
#[tokio::test]
async fn the_next_image_takes_the_place_of_a_removed_thumbnail() {
    let bench = Bench::start(unlimited()).await;
    let product = bare_product(&bench).await;
    let mut images = Vec::new();
    for _ in 0..3 {
        let image = uploaded(&bench).await;
        assert_eq!(add(&bench, &product, &image["id"]).await.status, 201);
        images.push(text(&image["id"]));
    }
    let path = format!("/api/media/{}", images[0]);
    bench.delete(&path).await.refused(409, "CONFLICT");
    assert!(!bench.control().media().unlink("loja-1", &images[0]), "a gallery's image leaves by the gallery");
    assert!(bench.control().media().remove_from_gallery("loja-1", &product, &images[0]));
    assert!(!bench.control().media().remove_from_gallery("loja-1", &product, &images[0]));
    assert_eq!(thumbnail(&bench, &product).await["id"], json!(images[1]));
    assert_eq!(bench.get(&path).await.data()["in_use"], json!(false));
    assert_eq!(bench.delete(&path).await.status, 204);
    for image in &images[1..] {
        assert!(bench.control().media().remove_from_gallery("loja-1", &product, image));
    }
    assert_eq!(thumbnail(&bench, &product).await, Value::Null);
}

// proves: ERR-010
#[tokio::test]
async fn an_image_in_use_cannot_be_linked_again() {
    let bench = Bench::start(unlimited()).await;
    let (product, image) = (bare_product(&bench).await, uploaded(&bench).await);
    assert_eq!(add(&bench, &product, &image["id"]).await.status, 201);
    add(&bench, &product, &image["id"]).await.refused(409, "CONFLICT");
}

// proves: ERR-008
#[tokio::test]
async fn what_is_no_image_of_the_store_is_not_found() {
    let bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    let product = bare_product(&bench).await;
    let token = bench.login_to(&bench.sandbox.stores()[1]).await;
    let other = Bench { token, ..bench };
    let foreign = uploaded(&other).await;
    let bench = Bench { token: other.login().await, ..other };
    for image in [json!(null), json!(""), json!(7), json!(["x"]), json!({}), json!("x")] {
        let errors = add(&bench, &product, &image).await.refused(422, "VALIDATION_ERROR");
        assert!(errors["image_id"].is_array(), "{image}");
    }
    for image in [&foreign["id"], &json!("01ARZ3NDEKTSV4RRFFQ69G5FAV")] {
        add(&bench, &product, image).await.refused(404, "NOT_FOUND");
    }
    for body in [json!(null), json!([]), json!("x")] {
        let path = format!("/api/products/{product}/gallery");
        bench.post(&path, &body).await.refused(422, "VALIDATION_ERROR");
    }
    for absent in ["x", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        add(&bench, absent, &foreign["id"]).await.refused(404, "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_generated_product_comes_with_a_picture_that_can_be_fetched() {
    let bench = Bench::start(unlimited()).await;
    let rows = bench.get("/api/products?per_page=100").await.data();
    let shown = rows.as_array().unwrap().iter().find(|row| !row["thumbnail"].is_null()).unwrap();
    for resource in shown["thumbnail"]["resources"].as_array().unwrap() {
        let file = fetch(&bench, resource["url"].as_str().unwrap()).await;
        let (width, height) = crate::pictures::size(&file.bytes, ImageFormat::WebP);
        assert_eq!(resource["size"], json!(format!("{width}x{height}")));
    }
    let image = text(&shown["thumbnail"]["id"]);
    let media = bench.get(&format!("/api/media/{image}")).await.data();
    assert_eq!((&media["in_use"], &media["reference_id"]), (&json!(true), &shown["id"]));
    let original = media["original_source"].as_str().unwrap();
    assert_eq!(fetch(&bench, original).await.status, 200);
    // Loose and deleted, it is gone like any other.
    assert!(bench.control().media().remove_from_gallery("loja-1", &text(&shown["sku"]), &image));
    assert_eq!(bench.delete(&format!("/api/media/{image}")).await.status, 204);
    assert_eq!(fetch(&bench, original).await.status, 404);
}

#[tokio::test]
async fn a_gallery_is_written_with_the_writing_ability_where_scopes_are_strict() {
    let bench = Bench::start(Options { strict_scopes: true, ..unlimited() }).await;
    let (product, image) = (bare_product(&bench).await, uploaded(&bench).await);
    assert!(bench.control().credentials().set_abilities("loja-1", &["store_products_read"]));
    let errors = add(&bench, &product, &image["id"]).await.refused(403, "FORBIDDEN");
    assert_eq!(errors, json!(["store_products_write"]));
}

#[tokio::test]
async fn the_levers_do_over_http_what_control_does_in_process() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let (product, image) = (bare_product(&bench).await, uploaded(&bench).await);
    let (id, media) = (text(&image["id"]), format!("/api/media/{}", text(&image["id"])));
    let link = json!({"reference_model": "publication", "reference_id": "ANU-1"});
    bench.post(&format!("/_sandbox/media/loja-1/{id}/link"), &link).await.data();
    assert_eq!(bench.get(&media).await.data()["reference_id"], json!("ANU-1"));
    bench.post(&format!("/_sandbox/media/loja-1/{id}/link"), &link).await.refused(404, "NOT_FOUND");
    bench
        .post(&format!("/_sandbox/media/loja-1/{id}/link"), &json!([]))
        .await
        .refused(422, "VALIDATION_ERROR");
    bench.post(&format!("/_sandbox/media/loja-1/{id}/unlink"), &json!({})).await.data();
    assert_eq!(add(&bench, &product, &image["id"]).await.status, 201);
    let endpoint = format!("/_sandbox/gallery/loja-1/{product}/{id}");
    bench.delete(&endpoint).await.data();
    bench.delete(&endpoint).await.refused(404, "NOT_FOUND");
    assert_eq!(thumbnail(&bench, &product).await, Value::Null);
}
