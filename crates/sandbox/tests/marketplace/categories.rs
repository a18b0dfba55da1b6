//! The category routes.

use std::collections::HashSet;

use crate::support::{Bench, Reply, unlimited};
use serde_json::{Value, json};

/// Every path of the tree that is no leaf's, and every leaf, by browsing level by level.
async fn leaves(bench: &Bench) -> Vec<Value> {
    let (mut leaves, mut todo) = (Vec::new(), vec!["/api/categories/browse".to_owned()]);
    while let Some(path) = todo.pop() {
        for place in list(&bench.get(&path).await) {
            if place["is_leaf"] == json!(true) {
                leaves.push(place);
            } else {
                todo.push(format!("/api/categories/browse?parent_id={}", place["id"]));
            }
        }
    }
    leaves
}

async fn leaf(bench: &Bench, name: &str) -> u64 {
    let found = bench.get(&format!("/api/categories/search?search={name}")).await;
    list(&found)[0]["id"].as_u64().unwrap()
}

fn list(reply: &Reply) -> Vec<Value> {
    reply.data().as_array().unwrap().clone()
}

fn fields(reply: &Reply) -> Vec<String> {
    let errors = reply.refused(422, "VALIDATION_ERROR");
    errors.as_object().unwrap().keys().cloned().collect()
}

fn named(attributes: &Value, name: &str) -> Value {
    let found = attributes.as_array().unwrap().iter().find(|attribute| attribute["name"] == json!(name));
    found.unwrap().clone()
}

// proves: LST-001
#[tokio::test]
async fn a_search_needs_its_text() {
    let bench = Bench::start(unlimited()).await;
    for query in ["", "?search=", "?search=%20", "?departament_id=1"] {
        assert_eq!(fields(&bench.get(&format!("/api/categories/search{query}")).await), ["search"]);
    }
    for wrong in ["0", "x", "-1", "99999999999"] {
        let path = format!("/api/categories/search?search=a&departament_id={wrong}");
        assert_eq!(fields(&bench.get(&path).await), ["departament_id"], "{wrong}");
    }
}

// proves: LST-002, LST-003
#[tokio::test]
async fn a_search_finds_leaves_alone_and_within_a_department_if_asked() {
    let bench = Bench::start(unlimited()).await;
    let found = list(&bench.get("/api/categories/search?search=A").await);
    assert!(found.len() > 10 && found.iter().all(|place| place["is_leaf"] == json!(true)));
    let departments: HashSet<u64> =
        found.iter().map(|place| place["departament_id"].as_u64().unwrap()).collect();
    assert!(departments.len() > 1);
    for department in departments {
        let path = format!("/api/categories/search?search=A&departament_id={department}");
        let within = list(&bench.get(&path).await);
        let expected: Vec<Value> =
            found.iter().filter(|place| place["departament_id"] == json!(department)).cloned().collect();
        assert_eq!(within, expected);
    }
    // `Celulares` is a category above leaves: its own name finds what is below it.
    let below = list(&bench.get("/api/categories/search?search=celulares").await);
    assert!(below.iter().all(|place| place["name"] != json!("Celulares")) && !below.is_empty());
    let accents = list(&bench.get("/api/categories/search?search=T%C3%8ANIS").await);
    assert_eq!(accents[0]["name"], json!("Tênis"));
    assert!(list(&bench.get("/api/categories/search?search=zzz").await).is_empty());
}

// proves: LST-004, LST-005
#[tokio::test]
async fn browsing_walks_from_the_departments_to_the_leaves() {
    let bench = Bench::start(unlimited()).await;
    let departments = list(&bench.get("/api/categories/departaments").await);
    assert_eq!(departments.len(), 8);
    for department in &departments {
        assert!(department["icon_svg"].as_str().unwrap().starts_with("<svg"));
        let id = department["id"].as_u64().unwrap();
        let by_department = list(&bench.get(&format!("/api/categories/browse?departament_id={id}")).await);
        let by_parent = list(&bench.get(&format!("/api/categories/browse?parent_id={id}")).await);
        assert_eq!(by_department, by_parent);
        assert!(!by_parent.is_empty() && by_parent.iter().all(|place| place["parent_id"] == json!(id)));
    }
    let top = list(&bench.get("/api/categories/browse").await);
    assert!(top.iter().all(|place| place["parent_id"].is_null()));
    assert_eq!(top.len(), departments.len());
    let leaves = leaves(&bench).await;
    assert!(leaves.len() >= 40);
    for leaf in leaves {
        assert_eq!(leaf["hierarchy"].as_str().unwrap().matches(" > ").count(), 2, "{leaf}");
    }
    bench.get("/api/categories/browse?parent_id=77").await.refused(404, "NOT_FOUND");
}

// proves: LST-006, LST-011
#[tokio::test]
async fn every_leaf_has_attributes_with_flags_and_values() {
    let bench = Bench::start(unlimited()).await;
    for leaf in leaves(&bench).await {
        let path = format!("/api/categories/{}/attributes", leaf["id"]);
        let attributes = list(&bench.get(&path).await);
        assert!(attributes.iter().any(|attribute| attribute["is_required"] == json!(true)), "{leaf}");
        for attribute in attributes {
            assert!(
                ["is_required", "is_variant", "is_combinable"]
                    .iter()
                    .all(|flag| attribute[*flag].is_boolean())
            );
            let values = &attribute["value_definition"];
            let is_list = values["type"] == json!("list");
            assert_eq!(is_list, !values["values"].as_array().unwrap().is_empty());
        }
    }
    for absent in ["77", "x", "-1", "99999999999999999999"] {
        bench.get(&format!("/api/categories/{absent}/attributes")).await.refused(404, "NOT_FOUND");
    }
    assert!(list(&bench.get("/api/categories/1/attributes").await).is_empty(), "a department has none");
}

// proves: LST-007, LST-008, LST-009
#[tokio::test]
async fn attributes_are_grouped_by_section_or_narrowed_to_features_or_variations() {
    let bench = Bench::start(unlimited()).await;
    let path = format!("/api/categories/{}/attributes", leaf(&bench, "camisetas").await);
    let all = list(&bench.get(&path).await);
    let features = list(&bench.get(&format!("{path}?only_features=1")).await);
    let variations = list(&bench.get(&format!("{path}?only_variations=1&only_features=0")).await);
    assert!(features.iter().all(|attribute| attribute["is_variant"] == json!(false)));
    assert!(variations.iter().all(|attribute| attribute["is_variant"] == json!(true)));
    assert_eq!(features.len() + variations.len(), all.len());
    assert!(!features.is_empty() && !variations.is_empty());
    let matrix = list(&bench.get(&format!("{path}?matrix=true")).await);
    assert!(matrix.len() > 1);
    let mut grouped = 0;
    for section in &matrix {
        let attributes = section["attributes"].as_array().unwrap();
        assert!(attributes.iter().all(|attribute| attribute["section"] == section["section"]));
        grouped += attributes.len();
    }
    assert_eq!(grouped, all.len());
    let one = list(&bench.get(&format!("{path}?matrix=1&only_variations=true")).await);
    assert_eq!((one.len(), &one[0]["section"]), (1, &json!("Variações")));
    assert_eq!(fields(&bench.get(&format!("{path}?matrix=perhaps")).await), ["matrix"]);
}

// proves: LST-010, ERR-025
#[tokio::test]
async fn features_alone_and_variations_alone_exclude_each_other() {
    let bench = Bench::start(unlimited()).await;
    let path = format!("/api/categories/{}/attributes", leaf(&bench, "camisetas").await);
    let reply = bench.get(&format!("{path}?only_features=1&only_variations=1")).await;
    assert_eq!(fields(&reply), ["only_features"]);
}

// proves: LST-012, LST-015, LST-016
#[tokio::test]
async fn combining_pairs_every_value_with_every_other() {
    let bench = Bench::start(unlimited()).await;
    let id = leaf(&bench, "camisetas").await;
    let attributes = bench.get(&format!("/api/categories/{id}/attributes")).await.data();
    let (color, size) = (named(&attributes, "Cor"), named(&attributes, "Tamanho"));
    let large = &size["value_definition"]["values"][3];
    let body = format!(
        r#"{{"attributes": {{"{}": ["Preto", "azul"], "{}": ["P", "M", {}]}}}}"#,
        color["id"], size["id"], large["id"]
    );
    let data = combined(&bench, id, &body).await.data();
    assert_eq!(data["primary_attribute"], json!({"id": color["id"], "name": "Cor"}));
    let expected: Vec<[&str; 2]> =
        ["Preto", "Azul"].iter().flat_map(|color| ["P", "M", "G"].map(|size| [*color, size])).collect();
    assert_eq!(values(&data), expected);
    let first = &data["combinations"][0]["attributes"][0];
    assert_eq!((&first["attribute_id"], &first["attribute_name"]), (&color["id"], &json!("Cor")));
}

// proves: LST-013, LST-014
#[tokio::test]
async fn the_primary_attribute_is_the_first_sent_unless_it_is_named() {
    let bench = Bench::start(unlimited()).await;
    let id = leaf(&bench, "camisetas").await;
    let attributes = bench.get(&format!("/api/categories/{id}/attributes")).await.data();
    let (color, size) =
        (named(&attributes, "Cor")["id"].clone(), named(&attributes, "Tamanho")["id"].clone());
    let size_first = format!(r#""attributes": {{"{size}": ["P", "M"], "{color}": ["Preto", "Azul"]}}"#);
    let data = combined(&bench, id, &format!("{{{size_first}}}")).await.data();
    assert_eq!(data["primary_attribute"]["id"], size);
    assert_eq!(values(&data)[..2], [["P", "Preto"], ["P", "Azul"]]);
    let named = format!(r#"{{{size_first}, "primary_attribute_id": {color}}}"#);
    let data = combined(&bench, id, &named).await.data();
    assert_eq!(data["primary_attribute"]["id"], color);
    assert_eq!(values(&data)[..2], [["Preto", "P"], ["Preto", "M"]]);
}

async fn combined(bench: &Bench, category: u64, body: &str) -> Reply {
    let url = bench.url(&format!("/api/categories/{category}/combine-attributes"));
    let request = bench.http.post(url).bearer_auth(&bench.token).body(body.to_owned());
    Reply::read(request.send().await.unwrap()).await
}

fn values(data: &Value) -> Vec<[&str; 2]> {
    let combinations = data["combinations"].as_array().unwrap().iter();
    combinations.map(|one| [0, 1].map(|at| one["attributes"][at]["value"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn what_cannot_be_combined_is_named() {
    let bench = Bench::start(unlimited()).await;
    let shoes = leaf(&bench, "sandalias").await;
    let attributes = bench.get(&format!("/api/categories/{shoes}/attributes")).await.data();
    let id = |name: &str| named(&attributes, name)["id"].as_u64().unwrap();
    let (color, size, brand) = (id("Cor"), id("Numeração"), id("Marca"));
    let of = |attributes: Value| json!({"attributes": attributes});
    let all = |name: &str| -> Vec<Value> {
        let values = named(&attributes, name)["value_definition"]["values"].as_array().unwrap().clone();
        values.into_iter().map(|value| value["id"].clone()).collect()
    };
    let cases = [
        (json!({}), "attributes".to_owned()),
        (of(json!([])), "attributes".into()),
        (of(json!({})), "attributes".into()),
        (of(json!({"x": ["Preto"]})), "attributes.x".into()),
        (of(json!({"999": ["Preto"]})), "attributes.999".into()),
        (of(json!({brand.to_string(): ["Acme"]})), format!("attributes.{brand}")),
        (of(json!({color.to_string(): []})), format!("attributes.{color}")),
        (of(json!({color.to_string(): "Preto"})), format!("attributes.{color}")),
        (of(json!({color.to_string(): ["Ultravioleta"]})), format!("attributes.{color}")),
        (of(json!({color.to_string(): [1]})), format!("attributes.{color}")),
        (of(json!({color.to_string(): [null]})), format!("attributes.{color}")),
        (of(json!({color.to_string(): ["Preto", "PRETO"]})), format!("attributes.{color}")),
        (of(json!({color.to_string(): all("Cor"), size.to_string(): all("Numeração")})), "attributes".into()),
        (
            json!({"attributes": {color.to_string(): ["Preto"]}, "primary_attribute_id": size}),
            "primary_attribute_id".into(),
        ),
        (
            json!({"attributes": {color.to_string(): ["Preto"]}, "primary_attribute_id": "30"}),
            "primary_attribute_id".into(),
        ),
    ];
    for (body, field) in cases {
        assert_eq!(fields(&combined(&bench, shoes, &body.to_string()).await), [field], "{body}");
    }
    let twice = format!(r#"{{"attributes": {{"{color}": ["Preto"], "{color}": ["Azul"]}}}}"#);
    assert_eq!(fields(&combined(&bench, shoes, &twice).await), [format!("attributes.{color}")]);
    combined(&bench, 77, "{}").await.refused(404, "NOT_FOUND");
    let books = leaf(&bench, "romances").await;
    let body = of(json!({color.to_string(): ["Preto"]})).to_string();
    assert_eq!(combined(&bench, books, &body).await.status, 422, "books have nothing to combine");
}
