//! Price lists: settings, creation and change ("Price list" of the document).

use crate::support::{Bench, unlimited};
use espelho_sandbox::Options;
use reqwest::Method;
use serde_json::{Value, json};

const LISTS: &str = "/api/seller/price-lists";
const SETTINGS: &str = "/api/seller/price-lists/settings";

async fn create(bench: &Bench, name: &str, mode: &str) -> Value {
    let reply = bench.post(LISTS, &json!({"name": name, "mode": mode})).await;
    assert_eq!(reply.status, 201);
    reply.json()["data"].clone()
}

async fn update(bench: &Bench, list: &Value, change: Value) -> Value {
    bench.put(&format!("{LISTS}/{}", list["id"]), &change).await.data()
}

// proves: PRL-004, PRL-009, PRL-010
#[tokio::test]
async fn a_list_is_created_active_and_behind_the_others() {
    let bench = Bench::start(unlimited()).await;
    for position in 0..3 {
        let body = json!({"name": "Atacado", "mode": "manual", "position": 77, "is_active": false});
        let reply = bench.post(LISTS, &body).await;
        assert_eq!(reply.status, 201);
        let list = reply.json()["data"].clone();
        assert!(list["id"].is_u64());
        assert_eq!((&list["position"], &list["is_active"]), (&json!(position), &json!(true)));
        assert_eq!((&list["name"], &list["mode"]), (&json!("Atacado"), &json!("manual")));
    }
}

// proves: PRL-005, PRL-006, PRL-007, PRL-008, ENV-022
#[tokio::test]
async fn name_and_mode_are_checked_by_field() {
    let bench = Bench::start(unlimited()).await;
    let (long, longest) = ("ã".repeat(121), "ã".repeat(120));
    for (body, fields) in [
        (json!({}), vec!["mode", "name"]),
        (json!([]), vec!["mode", "name"]),
        (json!({"name": "x"}), vec!["mode"]),
        (json!({"mode": "auto"}), vec!["name"]),
        (json!({"name": null, "mode": null}), vec!["mode", "name"]),
        (json!({"name": " ", "mode": "auto"}), vec!["name"]),
        (json!({"name": long, "mode": "auto"}), vec!["name"]),
        (json!({"name": 7, "mode": 7}), vec!["mode", "name"]),
        (json!({"name": "x", "mode": "automatic"}), vec!["mode"]),
        (json!({"name": "x", "mode": "Manual"}), vec!["mode"]),
    ] {
        let errors = bench.post(LISTS, &body).await.refused(422, "VALIDATION_ERROR");
        let mut named: Vec<_> = errors.as_object().unwrap().keys().map(String::as_str).collect();
        named.sort_unstable();
        assert_eq!(named, fields, "{body}");
    }
    assert_eq!(create(&bench, &longest, "auto").await["name"], json!(longest));
    let broken =
        bench.http.post(bench.url(LISTS)).bearer_auth(&bench.token).body("{broken").send().await.unwrap();
    assert_eq!(broken.status(), 422);
}

// proves: PRL-011, PRL-012, PRL-013, PRL-015
#[tokio::test]
async fn a_change_touches_only_what_was_sent() {
    let bench = Bench::start(unlimited()).await;
    let mut list = create(&bench, "Varejo", "manual").await;
    for (field, value) in [
        ("name", json!("Atacado")),
        ("mode", json!("auto")),
        ("position", json!(0)),
        ("position", json!(41)),
        ("is_active", json!(false)),
        ("is_active", json!(true)),
        ("mode", json!("manual")),
    ] {
        bench.hands.forward(1);
        let updated = update(&bench, &list, json!({field: value})).await;
        list[field] = value;
        list["updated_at"] = updated["updated_at"].clone();
        assert_eq!(updated, list);
    }
    assert_eq!(update(&bench, &list, json!({"id": 99, "unknown": 1})).await, list);
}

// proves: PRL-006, PRL-008, PRL-012
#[tokio::test]
async fn a_change_that_breaks_a_rule_changes_nothing() {
    let bench = Bench::start(unlimited()).await;
    let list = create(&bench, "Varejo", "manual").await;
    let path = format!("{LISTS}/{}", list["id"]);
    for (field, value) in [
        ("name", json!("x".repeat(121))),
        ("name", json!("")),
        ("name", json!(null)),
        ("mode", json!("odd")),
        ("mode", json!(null)),
        ("position", json!(-1)),
        ("position", json!(1.5)),
        ("position", json!("1")),
        ("position", json!(null)),
        ("position", json!(u64::MAX)),
        ("is_active", json!("true")),
        ("is_active", json!(1)),
        ("is_active", json!(null)),
    ] {
        let mut change = json!({"name": "Novo"});
        change[field] = value;
        let errors = bench.put(&path, &change).await.refused(422, "VALIDATION_ERROR");
        assert!(errors[field][0].is_string(), "{change}: {errors}");
    }
    for body in [json!([]), json!("x"), json!(null)] {
        bench.put(&path, &body).await.refused(422, "VALIDATION_ERROR");
    }
    assert_eq!(update(&bench, &list, json!({})).await, list);
}

// proves: PRL-001, PRL-002
#[tokio::test]
async fn the_switch_takes_a_boolean_and_must_be_there() {
    let bench = Bench::start(unlimited()).await;
    for enabled in [true, false] {
        let data = bench.put(SETTINGS, &json!({"price_lists_enabled": enabled})).await.data();
        assert_eq!(data, json!({"price_lists_enabled": enabled}));
    }
    for odd in [json!(null), json!("true"), json!(1), json!([])] {
        let body = json!({"price_lists_enabled": odd});
        let errors = bench.put(SETTINGS, &body).await.refused(422, "VALIDATION_ERROR");
        assert!(errors["price_lists_enabled"][0].is_string());
    }
    bench.put(SETTINGS, &json!({})).await.refused(422, "VALIDATION_ERROR");
}

// proves: PRL-003
#[tokio::test]
async fn switching_price_lists_off_keeps_them() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let list = create(&bench, "Varejo", "manual").await;
    for enabled in [false, true] {
        bench.put(SETTINGS, &json!({"price_lists_enabled": enabled})).await.data();
        assert_eq!(update(&bench, &list, json!({})).await, list);
        let kept = bench.pull(Method::GET, "price-lists/loja-1", &json!({})).await.data();
        assert_eq!(kept, json!({"price_lists_enabled": enabled, "price_lists": [list]}));
    }
}

// proves: PRL-014
#[tokio::test]
async fn a_list_that_is_absent_or_of_another_store_is_not_found() {
    let mut bench = Bench::start(Options { stores: 2, ..unlimited() }).await;
    let list = create(&bench, "Varejo", "manual").await;
    bench.token = bench.login_to(&bench.sandbox.stores()[1]).await;
    let own = create(&bench, "Deles", "auto").await;
    assert_ne!(own["id"], list["id"]);
    for id in
        [list["id"].to_string(), "999".to_owned(), "x".to_owned(), "-1".to_owned(), format!("0{}", own["id"])]
    {
        let reply = bench.put(&format!("{LISTS}/{id}"), &json!({"name": "Nosso"})).await;
        assert_eq!(reply.refused(404, "NOT_FOUND"), json!([]), "{id}");
    }
}

// proves: PRL-016
#[tokio::test]
async fn a_store_without_the_feature_is_told_which_one_it_lacks() {
    let bench = Bench::start(Options { control: true, ..unlimited() }).await;
    let list = create(&bench, "Varejo", "manual").await;
    let switch = |on: bool| json!({"feature": "sales_force", "on": on});
    bench.pull(Method::POST, "features/loja-1", &switch(false)).await.data();
    let session = bench.get("/api/stores/auth/session").await.data();
    assert!(!session["features"].as_array().unwrap().contains(&json!("sales_force")));
    let path = format!("{LISTS}/{}", list["id"]);
    for reply in [
        bench.post(LISTS, &json!({})).await,
        bench.put(&path, &json!({})).await,
        bench.put(SETTINGS, &json!({})).await,
    ] {
        assert_eq!(reply.refused(403, "FORBIDDEN"), json!(["sales_force"]));
    }
    bench.pull(Method::POST, "features/loja-1", &switch(true)).await.data();
    assert_eq!(update(&bench, &list, json!({})).await, list);
    bench.pull(Method::POST, "features/loja-9", &switch(true)).await.refused(404, "NOT_FOUND");
}

// proves: AUT-037, PRL-017
#[tokio::test]
async fn changing_price_lists_wants_the_writing_ability() {
    let bench = Bench::start(unlimited()).await;
    bench.control().credentials().set_abilities("loja-1", &["store_products_read"]);
    for reply in [
        bench.post(LISTS, &json!({})).await,
        bench.put(&format!("{LISTS}/1"), &json!({})).await,
        bench.put(SETTINGS, &json!({})).await,
    ] {
        assert_eq!(reply.refused(403, "FORBIDDEN"), json!(["store_products_write"]));
    }
    bench.control().credentials().set_abilities("loja-1", &["store_products_write"]);
    create(&bench, "Varejo", "manual").await;
}

#[tokio::test]
async fn routes_that_the_document_does_not_show_are_not_served() {
    let bench = Bench::start(unlimited()).await;
    let list = create(&bench, "Varejo", "manual").await;
    let path = format!("{LISTS}/{}", list["id"]);
    bench.get(LISTS).await.refused(405, "METHOD_NOT_ALLOWED");
    bench.get(&path).await.refused(405, "METHOD_NOT_ALLOWED");
    bench.delete(&path).await.refused(405, "METHOD_NOT_ALLOWED");
    bench.get(SETTINGS).await.refused(405, "METHOD_NOT_ALLOWED");
}
