//! Creating and changing products.

use crate::support::{Bench, Reply, unlimited};
use espelho_sandbox::Options;
use serde_json::{Value, json};

const PRODUCTS: &str = "/api/products";

/// The least that a product needs.
fn plain(sku: &str) -> Value {
    json!({"name": "Camiseta", "sku": sku, "base_unit": "un"})
}

fn with(mut body: Value, fields: &Value) -> Value {
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

/// Creates a product; its path and what the route answered.
async fn created(bench: &Bench, body: &Value) -> (String, Value) {
    let reply = bench.post(PRODUCTS, body).await;
    assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.bytes));
    let product = reply.json()["data"].clone();
    (format!("{PRODUCTS}/{}", product["id"].as_str().unwrap()), product)
}

async fn product(bench: &Bench, path: &str) -> Value {
    bench.get(path).await.data()["product"].clone()
}

/// The fields that a validation error names.
fn fields(reply: &Reply) -> Vec<String> {
    let errors = reply.refused(422, "VALIDATION_ERROR");
    errors.as_object().unwrap().keys().cloned().collect()
}

// proves: PRD-002, PRD-003, PRD-004, PRD-007, PRD-014, PRD-015, PRD-017, ENV-001, ENV-002
#[tokio::test]
async fn a_created_product_has_every_field_that_was_sent_and_is_listed() {
    let bench = Bench::start(unlimited()).await;
    let sent = json!({
        "name": "Camiseta básica", "sku": "CAM-1", "base_unit": "pc", "price_type": "wholesale",
        "is_available_for_sale": false, "is_industrializable": true, "allow_sale_without_stock": true,
        "auto_wholesale_pricing": true,
        "dimensions": {"height": 2.5, "width": 30, "length": 40.125, "weight": 0.001},
    });
    let (path, answered) = created(&bench, &sent).await;
    let read = product(&bench, &path).await;
    assert_eq!(read, answered);
    for (name, value) in sent.as_object().unwrap() {
        let same = name == "dimensions" || read[name] == *value;
        assert!(same, "{name}: {}", read[name]);
    }
    let measures =
        ["height", "width", "length", "weight"].map(|name| read["dimensions"][name].as_f64().unwrap());
    assert_eq!(measures, [2.5, 30.0, 40.125, 0.001]);
    assert_eq!(read["id"].as_str().unwrap().len(), 26);
    assert_eq!(
        (&read["quantity"], &read["available_quantity"], &read["price"]),
        (&json!(0), &json!(0), &Value::Null)
    );
    let listed = bench.get("/api/products?per_page=100").await.data();
    assert_eq!(listed.as_array().unwrap().last().unwrap(), &read);
    let detail = bench.get(&path).await.data();
    assert_eq!((&detail["prices"], &detail["stock"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn fields_that_are_not_sent_have_plain_values_and_read_only_ones_are_ignored() {
    let bench = Bench::start(unlimited()).await;
    let body = with(
        plain("A"),
        &json!({"id": "x", "quantity": 9, "price": 5, "thumbnail": null, "dimensions": null}),
    );
    let (_, product) = created(&bench, &body).await;
    assert_eq!(product["price_type"], json!("default"));
    let flags = [
        "is_available_for_sale",
        "is_industrializable",
        "allow_sale_without_stock",
        "auto_wholesale_pricing",
    ];
    assert_eq!(
        flags.map(|flag| product[flag].clone()),
        [json!(true), json!(false), json!(false), json!(false)]
    );
    assert_eq!(
        (&product["quantity"], &product["price"], &product["dimensions"]),
        (&json!(0), &Value::Null, &Value::Null)
    );
}

// proves: PRD-008, PRD-009, PRD-012, PRD-013, PRD-014, PRD-015, PRD-016, ENV-022
#[tokio::test]
async fn each_field_is_held_to_its_type_and_limit() {
    let bench = Bench::start(unlimited()).await;
    let (path, before) = created(&bench, &plain("ORIGINAL")).await;
    let sizes =
        |height: Value| json!({"dimensions": {"height": height, "width": 1, "length": 1, "weight": 1}});
    let cases = [
        (json!({"name": "ã".repeat(256)}), "name"),
        (json!({"name": "  "}), "name"),
        (json!({"name": null}), "name"),
        (json!({"name": 5}), "name"),
        (json!({"base_unit": "dz"}), "base_unit"),
        (json!({"base_unit": ["un"]}), "base_unit"),
        (json!({"price_type": "retail"}), "price_type"),
        (json!({"is_available_for_sale": 1}), "is_available_for_sale"),
        (json!({"is_industrializable": "true"}), "is_industrializable"),
        (json!({"allow_sale_without_stock": null}), "allow_sale_without_stock"),
        (json!({"auto_wholesale_pricing": []}), "auto_wholesale_pricing"),
        (json!({"dimensions": [1, 2, 3, 4]}), "dimensions"),
        (json!({"dimensions": {"height": 1, "width": 1, "length": 1}}), "dimensions.weight"),
        (sizes(json!(0)), "dimensions.height"),
        (sizes(json!(0.0009)), "dimensions.height"),
        (sizes(json!(-1)), "dimensions.height"),
        (sizes(json!("1")), "dimensions.height"),
        (sizes(json!(1e300)), "dimensions.height"),
    ];
    for (wrong, field) in cases {
        let reply = bench.post(PRODUCTS, &with(plain("NEW"), &wrong)).await;
        assert_eq!(fields(&reply), [field], "{wrong}");
        assert_eq!(fields(&bench.put(&path, &wrong).await), [field], "{wrong}");
    }
    for sku in [json!("S".repeat(51)), json!(""), json!(7)] {
        assert_eq!(fields(&bench.post(PRODUCTS, &with(plain("NEW"), &json!({"sku": sku}))).await), ["sku"]);
    }
    assert_eq!(fields(&bench.post(PRODUCTS, &json!({})).await), ["base_unit", "name", "sku"]);
    assert_eq!(product(&bench, &path).await, before);
    let longest = with(plain(&"S".repeat(50)), &json!({"name": "ã".repeat(255)}));
    created(&bench, &with(longest, &sizes(json!(0.001)))).await;
    for unit in ["un", "pc", "cx", "pct", "kg", "lt", "mt", "m2", "m3"] {
        assert_eq!(bench.put(&path, &json!({"base_unit": unit})).await.data()["base_unit"], json!(unit));
    }
}

// proves: PRD-010
#[tokio::test]
async fn a_sku_is_unique_within_its_store_but_not_across_stores() {
    let mut bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    created(&bench, &plain("CAM-1")).await;
    assert_eq!(fields(&bench.post(PRODUCTS, &plain("CAM-1")).await), ["sku"]);
    let (_, lower_case) = created(&bench, &plain("cam-1")).await;
    assert_eq!(lower_case["sku"], json!("cam-1"));
    bench.token = bench.login_to(&bench.sandbox.stores()[1]).await;
    created(&bench, &plain("CAM-1")).await;
}

// proves: PRD-006, PRD-011
#[tokio::test]
async fn a_change_touches_what_was_sent_and_never_the_sku() {
    let bench = Bench::start(unlimited()).await;
    let body =
        with(plain("CAM-1"), &json!({"dimensions": {"height": 1, "width": 2, "length": 3, "weight": 4}}));
    let (path, mut expected) = created(&bench, &body).await;
    assert_eq!(bench.put(&path, &json!({})).await.data(), expected);
    for change in [
        json!({"name": "Camiseta nova"}),
        json!({"is_available_for_sale": false, "allow_sale_without_stock": true}),
        json!({"dimensions": null}),
        json!({"price_type": "wholesale"}),
    ] {
        let sent = with(change.clone(), &json!({"sku": "OUTRO", "id": "x", "quantity": 3}));
        expected.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        assert_eq!(bench.put(&path, &sent).await.data(), expected);
        assert_eq!(product(&bench, &path).await, expected);
    }
    for ignored in [json!(null), json!(5), json!("S".repeat(99))] {
        assert_eq!(bench.put(&path, &json!({"sku": ignored})).await.data(), expected);
    }
    let read = bench.get(&path).await.data()["product"].clone();
    assert_eq!(bench.put(&path, &read).await.data(), read, "a product can be sent back as it came");
}

// proves: PRC-014
#[tokio::test]
async fn wholesale_becomes_default_only_after_the_extra_tiers_are_gone() {
    let bench = Bench::start(unlimited()).await;
    let (path, _) = created(&bench, &with(plain("A"), &json!({"price_type": "wholesale"}))).await;
    let prices = format!("{path}/prices");
    let tier = json!({
        "min_quantity": 10, "price": 9,
        "package_weight": 1, "package_height": 1, "package_width": 1, "package_length": 1,
    });
    assert_eq!(bench.post(&prices, &json!({"min_quantity": 1, "price": 10})).await.status, 201);
    assert_eq!(bench.post(&prices, &tier).await.status, 201);
    assert_eq!(fields(&bench.put(&path, &json!({"price_type": "default"})).await), ["price_type"]);
    assert_eq!(bench.delete(&format!("{prices}/10")).await.status, 204);
    assert_eq!(
        bench.put(&path, &json!({"price_type": "default"})).await.data()["price_type"],
        json!("default")
    );
}

// proves: PRD-020, ERR-016
#[tokio::test]
async fn a_sub_store_in_mirror_mode_creates_no_products() {
    let bench = Bench::start(unlimited()).await;
    assert!(bench.control().products().set_mirror_mode("loja-1", true));
    bench.post(PRODUCTS, &plain("A")).await.refused(422, "SUBSTORE_CANNOT_CREATE_SKU");
    bench.post(PRODUCTS, &json!({})).await.refused(422, "SUBSTORE_CANNOT_CREATE_SKU");
    assert!(bench.control().products().set_mirror_mode("loja-1", false));
    created(&bench, &plain("A")).await;
    assert!(!bench.control().products().set_mirror_mode("loja-9", true));
}

// proves: PRD-005, ERR-002
#[tokio::test]
async fn products_of_other_stores_and_calls_without_a_token_are_refused() {
    let mut bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    let (path, _) = created(&bench, &plain("A")).await;
    bench.token = bench.login_to(&bench.sandbox.stores()[1]).await;
    bench.get(&path).await.refused(404, "NOT_FOUND");
    bench.put(&path, &json!({"name": "Roubado"})).await.refused(404, "NOT_FOUND");
    bench.put("/api/products/%FF", &json!({})).await.refused(404, "NOT_FOUND");
    bench.token.clear();
    bench.post(PRODUCTS, &plain("B")).await.refused(401, "UNAUTHORIZED");
    bench.put(&path, &json!({})).await.refused(401, "UNAUTHORIZED");
}

#[tokio::test]
async fn writes_need_their_ability_where_scopes_are_strict() {
    let bench = Bench::start(Options { strict_scopes: true, ..unlimited() }).await;
    assert!(bench.control().credentials().set_abilities("loja-1", &["store_products_read"]));
    let errors = bench.post(PRODUCTS, &plain("A")).await.refused(403, "FORBIDDEN");
    assert_eq!(errors, json!(["store_products_write"]));
}

/// Bodies that are no JSON objects, whatever route they are sent to.
#[tokio::test]
async fn what_is_no_json_object_is_refused_by_every_writing_route() {
    let bench = Bench::start(unlimited()).await;
    let (path, _) = created(&bench, &plain("A")).await;
    let deep = "[".repeat(100_000);
    let bodies: [&[u8]; 8] =
        [b"", b"null", b"[]", b"\"x\"", b"{\"name\": \"\xFF\"}", b"{", b"{\"a\": 1e400}", deep.as_bytes()];
    let item = "/api/items/create";
    let routes = [
        ("POST", PRODUCTS.to_owned()),
        ("PUT", path.clone()),
        ("POST", format!("{path}/prices")),
        ("PUT", format!("{path}/prices/1")),
        ("POST", format!("{path}/stock")),
        ("POST", "/api/categories/10101/combine-attributes".to_owned()),
        ("POST", item.to_owned()),
        ("POST", "/api/items/simulate".to_owned()),
    ];
    for (method, route) in routes {
        for body in bodies {
            let request =
                bench.http.request(method.parse().unwrap(), bench.url(&route)).bearer_auth(&bench.token);
            let reply = Reply::read(request.body(body.to_vec()).send().await.unwrap()).await;
            assert_eq!(fields(&reply), ["body"], "{method} {route}");
        }
    }
}
