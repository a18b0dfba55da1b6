//! Listings: simulated, created, published, and reviewed by the operators.

use crate::support::{Bench, Reply, unlimited};
use espelho_sandbox::Options;
use reqwest::Method;
use serde_json::{Value, json};

const STORE: &str = "loja-1";
const CREATE: &str = "/api/items/create";
const SIMULATE: &str = "/api/items/simulate";
/// `Moda > Roupas > Camisetas`.
const SHIRTS: u32 = 40101;

/// A product with price and stock.
async fn product(bench: &Bench, sku: &str) {
    let body = json!({"name": "Camiseta", "sku": sku, "base_unit": "un"});
    let id = bench.post("/api/products", &body).await.json()["data"]["id"].as_str().unwrap().to_owned();
    let price = json!({"min_quantity": 1, "price": if sku == "P" { 39.9 } else { 49.9 }});
    assert_eq!(bench.post(&format!("/api/products/{id}/prices"), &price).await.status, 201);
    assert!(bench.control().products().set_stock(STORE, sku, 5));
}

/// A bench with the products `P` and `M`, and a listing of both that is ready.
async fn ready() -> (Bench, Value) {
    let bench = Bench::start(unlimited()).await;
    product(&bench, "P").await;
    product(&bench, "M").await;
    let image = image(&bench).await;
    let variation = |sku: &str| {
        json!({
            "seller_sku": sku,
            "attributes": [
                {"attribute_id": 30, "attribute_name": "Cor", "value": "Preto"},
                {"attribute_id": 31, "attribute_name": "Tamanho", "value": sku},
            ],
            "images": [{"id": image}],
        })
    };
    let body = json!({
        "title": "Camiseta básica de algodão",
        "category_id": SHIRTS,
        "gtin": {"type": 13, "value": "7891234567895"},
        "attributes": [{"id": 10, "value_id": null, "value": "Acme"}, {"id": 15, "value_id": 1501, "value": null}],
        "variations": [variation("P"), variation("M")],
        "images": [{"id": image}],
        "description": {"layout": "markdown", "raw_content": "# Camiseta\n\nDe algodão."},
        "technical_sheets": [{
            "type": "table", "title": "Tecido",
            "items": [{"item_key": "Composição", "item_value": "Algodão", "display_order": 1}],
        }],
    });
    (bench, body)
}

/// An image that the store has: the thumbnail of a product.
async fn image(bench: &Bench) -> String {
    let products = bench.get("/api/products?per_page=100").await.data();
    let thumbnails =
        products.as_array().unwrap().iter().filter_map(|product| product["thumbnail"]["id"].as_str());
    thumbnails.map(str::to_owned).next().unwrap()
}

async fn created(bench: &Bench, body: &Value) -> Value {
    let reply = bench.post(CREATE, body).await;
    assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.bytes));
    reply.json()["data"].clone()
}

fn fields(reply: &Reply) -> Vec<String> {
    let errors = reply.refused(422, "VALIDATION_ERROR");
    errors.as_object().unwrap().keys().cloned().collect()
}

async fn publish(bench: &Bench, item_id: &str) -> Reply {
    bench.put(&format!("/api/items/{item_id}/publish"), &json!({})).await
}

// proves: LST-017, LST-018, LST-019
#[tokio::test]
async fn a_good_listing_is_ready_and_simulating_it_creates_nothing() {
    let (bench, body) = ready().await;
    let before = created(&bench, &body).await["item_id"].clone();
    for _ in 0..3 {
        assert_eq!(bench.post(SIMULATE, &body).await.data()["ready"], json!(true));
    }
    let after = created(&bench, &body).await["item_id"].clone();
    let number = |id: &Value| id.as_str().unwrap()[4..].parse::<u64>().unwrap();
    assert_eq!(number(&after), number(&before) + 1, "the simulations took no code");
}

// proves: LST-020, LST-021, LST-022, LST-023, LST-024, LST-025, LST-026, LST-027, LST-030, ERR-030
#[tokio::test]
async fn each_business_error_has_its_reason_and_its_details() {
    let (bench, body) = ready().await;
    let cases = [
        ("/category_id", json!(4), "INVALID_CATEGORY"),
        ("/attributes", json!([{"id": 15, "value_id": 1501}]), "REQUIRED_ATTRIBUTE_MISSING"),
        ("/attributes/0/value", json!(null), "INVALID_ATTRIBUTE"),
        ("/attributes/0/id", json!(999), "REQUIRED_ATTRIBUTE_MISSING"),
        ("/attributes/1/value_id", json!(1599), "INVALID_ATTRIBUTE"),
        ("/gtin/value", json!("123"), "INVALID_GTIN"),
        ("/gtin/value", json!("78912345678 5"), "INVALID_GTIN"),
        ("/gtin/value", json!("789123456789"), ""),
        ("/gtin/value", json!("78912345"), ""),
        ("/gtin/value", json!("17891234567892"), ""),
        ("/gtin/value", json!("7891234567"), "INVALID_GTIN"),
        ("/gtin", json!(null), ""),
        ("/description", json!({"raw_content": "Texto"}), "INVALID_DESCRIPTION"),
        ("/description/layout", json!("html"), "INVALID_DESCRIPTION"),
        ("/description", json!({"layout": "markdown"}), "INVALID_DESCRIPTION"),
        ("/description/raw_content", json!("  "), "INVALID_DESCRIPTION"),
        ("/technical_sheets/0", json!({"type": "table", "items": []}), "INVALID_TECHNICAL_SHEET"),
        ("/technical_sheets/0/items", json!([]), "INVALID_TECHNICAL_SHEET"),
        ("/technical_sheets/0/items/0", json!({"item_key": "Peso"}), "INVALID_TECHNICAL_SHEET"),
        ("/technical_sheets", json!([]), ""),
        ("/variations", json!([]), "INVALID_VARIATIONS"),
        ("/variations/1/seller_sku", json!("P"), "INVALID_VARIATIONS"),
        ("/variations/1/attributes/1/value", json!("P"), "INVALID_VARIATIONS"),
        ("/variations/1/attributes/1/value", json!("Enorme"), "INVALID_VARIATIONS"),
        ("/variations/1/attributes", json!([{"attribute_id": 30, "value": "Azul"}]), "INVALID_VARIATIONS"),
        ("/variations/1/attributes/0/attribute_id", json!(10), "INVALID_VARIATIONS"),
        ("/variations/1/seller_sku", json!("NENHUM"), "SKU_NOT_FOUND"),
        ("/images", json!([{"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}]), "IMAGE_NOT_FOUND"),
        ("/variations/0/images/0/id", json!("x"), "IMAGE_NOT_FOUND"),
    ];
    for (place, value, reason) in cases {
        let mut wrong = body.clone();
        *wrong.pointer_mut(place).unwrap() = value;
        let reply = bench.post(SIMULATE, &wrong).await;
        if reason.is_empty() {
            assert_eq!(reply.status, 200, "{place}");
            continue;
        }
        business(&reply, reason);
    }
}

/// Checks the envelope of a business error, whose `data` is no empty list.
fn business(reply: &Reply, reason: &str) {
    let body = reply.json();
    assert_eq!((reply.status, &body["code"], &body["success"]), (422, &json!(422), &json!(false)), "{body}");
    assert_eq!(body["data"]["reason"], json!(reason), "{body}");
    let details = body["data"]["details"].as_array().unwrap();
    assert!(!details.is_empty() && details.iter().all(|detail| !detail.as_str().unwrap().is_empty()));
}

// proves: LST-028, LST-029
#[tokio::test]
async fn a_sku_needs_a_price_above_zero_and_something_to_sell() {
    let (bench, body) = ready().await;
    assert!(bench.control().products().set_stock(STORE, "M", 0));
    business(&bench.post(SIMULATE, &body).await, "SKU_WITHOUT_STOCK");
    assert!(bench.control().products().set_stock(STORE, "M", 1));
    assert!(bench.control().products().reserve_stock(STORE, "M", 1));
    business(&bench.post(SIMULATE, &body).await, "SKU_WITHOUT_STOCK");
    assert!(bench.control().products().release_stock(STORE, "M", 1));
    assert!(bench.control().products().edit_price(STORE, "M", 0));
    business(&bench.post(SIMULATE, &body).await, "SKU_WITHOUT_PRICE");
    let blank = json!({"name": "Camiseta", "sku": "G", "base_unit": "un"});
    assert_eq!(bench.post("/api/products", &blank).await.status, 201);
    let mut unpriced = body.clone();
    unpriced["variations"][1]["seller_sku"] = json!("G");
    business(&bench.post(SIMULATE, &unpriced).await, "SKU_WITHOUT_PRICE");
    assert!(bench.control().products().edit_price(STORE, "M", 10));
    assert_eq!(bench.post(SIMULATE, &body).await.status, 200);
}

// proves: LST-031, LST-032, LST-033, LST-034, LST-035, LST-036, LST-037
#[tokio::test]
async fn create_and_simulate_hold_each_field_to_its_type() {
    let (bench, body) = ready().await;
    let cases = [
        ("/title", json!("ã".repeat(101)), "title"),
        ("/title", json!(" "), "title"),
        ("/title", json!(null), "title"),
        ("/category_id", json!("40101"), "category_id"),
        ("/category_id", json!(1.5), "category_id"),
        ("/category_id", json!(77), "category_id"),
        ("/gtin/type", json!("13"), "gtin.type"),
        ("/gtin/value", json!([]), "gtin.value"),
        ("/gtin", json!({"type": 13}), "gtin.value"),
        ("/gtin", json!("7891234567895"), "gtin"),
        ("/attributes", json!({}), "attributes"),
        ("/attributes/0/id", json!("10"), "attributes.0.id"),
        ("/attributes/1/value_id", json!("1501"), "attributes.1.value_id"),
        ("/attributes/0/value", json!({}), "attributes.0.value"),
        ("/variations", json!("P"), "variations"),
        ("/variations/0", json!([]), "variations.0"),
        ("/variations/0/seller_sku", json!(7), "variations.0.seller_sku"),
        ("/variations/0/attributes/0/attribute_id", json!("30"), "variations.0.attributes.0.attribute_id"),
        ("/variations/0/attributes/0/attribute_name", json!(1), "variations.0.attributes.0.attribute_name"),
        ("/variations/0/attributes/0/value", json!(null), "variations.0.attributes.0.value"),
        ("/variations/0/images/0/id", json!(1), "variations.0.images.0.id"),
        ("/images", json!(vec![json!({"id": "x"}); 101]), "images"),
        ("/images/0", json!({}), "images.0.id"),
        ("/description", json!("texto"), "description"),
        ("/description/layout", json!(1), "description.layout"),
        ("/description/raw_content", json!(null), "description.raw_content"),
        ("/technical_sheets/0/type", json!(1), "technical_sheets.0.type"),
        ("/technical_sheets/0/title", json!([]), "technical_sheets.0.title"),
        ("/technical_sheets/0/items/0/item_key", json!(1), "technical_sheets.0.items.0.item_key"),
        ("/technical_sheets/0/items/0/item_value", json!(1), "technical_sheets.0.items.0.item_value"),
        ("/technical_sheets/0/items/0/display_order", json!("1"), "technical_sheets.0.items.0.display_order"),
    ];
    for (place, value, field) in cases {
        let mut wrong = body.clone();
        *wrong.pointer_mut(place).unwrap() = value;
        for route in [CREATE, SIMULATE] {
            assert_eq!(fields(&bench.post(route, &wrong).await), [field], "{place}");
        }
    }
    assert_eq!(fields(&bench.post(CREATE, &json!({})).await), ["title"]);
    created(&bench, &json!({"title": "ã".repeat(100)})).await;
    let mut absent = body;
    absent["images"][0]["id"] = json!("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_eq!(fields(&bench.post(CREATE, &absent).await), ["images"]);
}

// proves: LST-031, LST-038, LST-039, LST-040, LST-041, LST-042
#[tokio::test]
async fn a_created_listing_is_a_draft_with_all_its_fields() {
    let (bench, body) = ready().await;
    let listing = created(&bench, &body).await;
    let (prefix, digits) = listing["item_id"].as_str().unwrap().split_once('-').unwrap();
    assert!(!prefix.is_empty() && digits.len() == 13 && digits.parse::<u64>().is_ok());
    assert_eq!(listing["title"], body["title"]);
    assert_eq!(listing["slug"], json!("camiseta-basica-de-algodao"));
    assert_eq!(listing["type"]["value"], json!("default"));
    assert_eq!(listing["status"], json!({"value": "draft", "label": "Rascunho"}));
    assert_eq!(listing["gtin"], body["gtin"]);
    assert!(listing["store"]["id"].is_u64() && listing["store"]["name"].is_string());
    assert_eq!((&listing["department"]["id"], &listing["department"]["name"]), (&json!(4), &json!("Moda")));
    assert!(listing["department"]["icon_svg"].as_str().unwrap().starts_with("<svg"));
    let category = json!({
        "id": SHIRTS, "parent_id": 401, "name": "Camisetas", "hierarchy": "Moda > Roupas > Camisetas",
    });
    assert_eq!(listing["category"], category);
    assert_eq!(listing["score"], json!(100));
    assert_eq!(listing["rejection_reason"], Value::Null);
    assert_eq!(listing["price_range"], json!({"min": 39.9, "max": 49.9}));
    assert_eq!(listing["short_description"], json!("# Camiseta De algodão."));
}

/// A hundred lists of a hundred wrong items each, thrice.
#[tokio::test]
async fn a_body_that_is_wrong_all_over_is_told_a_few_of_its_errors() {
    let (bench, _) = ready().await;
    let wrong = vec![json!(5); 100];
    let body = json!({
        "title": "Ruim",
        "variations": vec![json!({"attributes": wrong, "images": wrong}); 100],
        "technical_sheets": vec![json!({"items": wrong}); 100],
    });
    assert_eq!(fields(&bench.post(SIMULATE, &body).await).len(), 200);
    let missing = vec![json!({"id": "x"}); 100];
    let body = json!({"title": "Ruim", "variations": vec![json!({"images": missing}); 100]});
    let reply = bench.post(SIMULATE, &body).await.json();
    assert_eq!(reply["data"]["details"].as_array().unwrap().len(), 200);
}

#[tokio::test]
async fn a_draft_needs_no_more_than_a_title() {
    let bench = Bench::start(unlimited()).await;
    let listing = created(&bench, &json!({"title": "☆"})).await;
    for name in ["gtin", "department", "category", "price_range", "rejection_reason"] {
        assert!(listing[name].is_null(), "{name}");
    }
    assert_eq!(listing["slug"], json!(listing["item_id"].as_str().unwrap().to_lowercase()));
    business(&bench.post(SIMULATE, &json!({"title": "☆"})).await, "INVALID_CATEGORY");
    let mut number = json!({"title": "Com número"});
    number["gtin"] = json!({"type": 1, "value": 7_891_234_567_895_u64});
    assert_eq!(created(&bench, &number).await["gtin"]["value"], json!("7891234567895"));
}

// proves: LST-043, LST-044
#[tokio::test]
async fn a_draft_is_published_once() {
    let (bench, body) = ready().await;
    let item_id = created(&bench, &body).await["item_id"].as_str().unwrap().to_owned();
    let published = publish(&bench, &item_id).await.data();
    assert_eq!(published["status"]["value"], json!("pending_review"));
    assert_eq!(published["item_id"], json!(item_id));
    for status in ["pending_review", "active", "paused", "inactive"] {
        assert!(bench.control().listings().set_status(STORE, &item_id, status));
        assert_eq!(fields(&publish(&bench, &item_id).await), ["status"], "{status}");
    }
    assert!(bench.control().listings().set_status(STORE, &item_id, "draft"));
    assert_eq!(publish(&bench, &item_id).await.status, 200);
}

#[tokio::test]
async fn only_listings_of_the_own_store_are_published() {
    let mut bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    let item_id = created(&bench, &json!({"title": "Minha"})).await["item_id"].as_str().unwrap().to_owned();
    let of_product = bench.control().listings().active(STORE)[0]["item_id"].as_str().unwrap().to_owned();
    assert_eq!(fields(&publish(&bench, &of_product).await), ["status"], "it is active from the start");
    bench.token = bench.login_to(&bench.sandbox.stores()[1]).await;
    for foreign in [&*item_id, &*of_product, "ANU-9999999999999", "x", "%FF"] {
        publish(&bench, foreign).await.refused(404, "NOT_FOUND");
    }
}

// proves: LST-045, LST-046, LST-047
#[tokio::test]
async fn the_operators_approve_or_send_back_what_was_published() {
    let (bench, body) = ready().await;
    let control = bench.control();
    let item_id = created(&bench, &body).await["item_id"].as_str().unwrap().to_owned();
    assert!(!control.listings().approve(STORE, &item_id), "a draft is not in review");
    publish(&bench, &item_id).await.data();
    assert!(control.listings().reject(STORE, &item_id, "Imagem ilegível"));
    let listing = control.listings().get(STORE, &item_id).unwrap();
    assert_eq!(
        (&listing["status"]["value"], &listing["rejection_reason"]),
        (&json!("draft"), &json!("Imagem ilegível"))
    );
    let again = publish(&bench, &item_id).await.data();
    assert_eq!(again["rejection_reason"], json!("Imagem ilegível"), "until the next review");
    assert!(control.listings().approve(STORE, &item_id));
    let listing = control.listings().get(STORE, &item_id).unwrap();
    assert_eq!((&listing["status"]["value"], &listing["rejection_reason"]), (&json!("active"), &Value::Null));
    assert!(!control.listings().reject(STORE, &item_id, "tarde demais"));
}

// proves: LST-048
#[tokio::test]
async fn no_route_pauses_a_listing_or_makes_it_inactive() {
    let (bench, body) = ready().await;
    let item_id = created(&bench, &body).await["item_id"].as_str().unwrap().to_owned();
    for status in ["paused", "inactive"] {
        let mut asking = body.clone();
        asking["status"] = json!(status);
        assert_eq!(created(&bench, &asking).await["status"]["value"], json!("draft"));
        let reply = bench.put(&format!("/api/items/{item_id}/{status}"), &json!({})).await;
        reply.refused(404, "NOT_FOUND");
        let reply = bench.put(&format!("/api/items/{item_id}"), &json!({"status": status})).await;
        reply.refused(404, "NOT_FOUND");
    }
    let reply = bench.put(&format!("/api/items/{item_id}/publish"), &json!({"status": "paused"})).await;
    assert_eq!(reply.data()["status"]["value"], json!("pending_review"));
}

#[tokio::test]
async fn active_listings_are_those_of_products_and_the_approved_ones() {
    let (bench, body) = ready().await;
    let control = bench.control();
    let before = control.listings().active(STORE);
    let products = bench.get("/api/products?per_page=100").await.data();
    let visible = products.as_array().unwrap().iter().filter(|product| {
        product["is_available_for_sale"] == json!(true)
            && !["P", "M"].contains(&product["sku"].as_str().unwrap())
    });
    assert_eq!(before.len(), visible.count());
    let item_id = created(&bench, &body).await["item_id"].as_str().unwrap().to_owned();
    publish(&bench, &item_id).await.data();
    assert_eq!(control.listings().active(STORE), before);
    assert!(control.listings().approve(STORE, &item_id));
    let active = control.listings().active(STORE);
    let last = active.last().unwrap();
    assert_eq!((&last["item_id"], &last["lowest_price"]), (&json!(item_id), &json!(39.9)));
    assert!(last["image"].as_str().unwrap().ends_with(".webp"));
    let first = before[0]["item_id"].as_str().unwrap();
    assert!(control.listings().set_status(STORE, first, "paused"));
    assert!(control.listings().set_status(STORE, &item_id, "inactive"));
    assert_eq!(control.listings().active(STORE), before[1..]);
    assert!(!control.listings().set_status(STORE, first, "lost"));
    assert!(!control.listings().set_status(STORE, "ANU-1", "active"));
}

#[tokio::test]
async fn the_operators_work_over_http_too() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let endpoint = async |method: Method, path: &str, body: Value| {
        bench.plain(method, &format!("/_sandbox/listings/{STORE}{path}"), &body.to_string()).await
    };
    let draft = endpoint(Method::POST, "", json!({"title": "Pela porta dos fundos"})).await.data();
    let id = draft["item_id"].as_str().unwrap().to_owned();
    publish(&bench, &id).await.data();
    assert_eq!(endpoint(Method::POST, &format!("/{id}/reject"), json!({"reason": "Não"})).await.status, 200);
    let shown = endpoint(Method::GET, &format!("/{id}"), Value::Null).await.data();
    assert_eq!(shown["rejection_reason"], json!("Não"));
    assert_eq!(endpoint(Method::POST, &format!("/{id}/approve"), json!({})).await.status, 404);
    publish(&bench, &id).await.data();
    assert_eq!(endpoint(Method::POST, &format!("/{id}/approve"), json!({})).await.status, 200);
    let active = endpoint(Method::GET, "", Value::Null).await.data();
    assert!(active.as_array().unwrap().iter().any(|listing| listing["item_id"] == json!(id)));
    assert_eq!(
        endpoint(Method::POST, &format!("/{id}/status"), json!({"status": "paused"})).await.status,
        200
    );
    assert_eq!(endpoint(Method::POST, &format!("/{id}/status"), json!({"status": "lost"})).await.status, 422);
    assert_eq!(endpoint(Method::GET, "/nenhum", Value::Null).await.status, 404);
}
