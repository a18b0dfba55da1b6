//! Every answer held to the published description: an undescribed status or a body of another shape fails the test.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use jsonschema::Validator;
use parking_lot::Mutex;
use serde_json::{Value, json};

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(espelho_sandbox::openapi()).unwrap());

static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Checks an answer. Paths that are no part of the API are described nowhere.
pub(crate) fn check(method: &str, path: &str, status: u16, body: &[u8]) {
    let path = path.split('?').next().unwrap();
    let Some((template, operation)) = operation(method, path) else { return };
    let name = format!("{method} {template} {status}");
    let shown = String::from_utf8_lossy(body);
    let answer = &operation["responses"][status.to_string()];
    assert!(!answer.is_null(), "{name} is not described: {shown}");
    let answer = resolved(answer);
    let schema = &answer["content"]["application/json"]["schema"];
    if schema.is_null() {
        assert!(body.is_empty(), "{name} has a body: {shown}");
        return;
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_else(|error| panic!("{name}: {error}: {shown}"));
    let errors: Vec<String> = validator(&name, schema)
        .iter_errors(&body)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name} is described otherwise: {errors:#?}");
}

/// Compiles every schema of the description, those of requests too; how many there are.
pub(crate) fn compile_all() -> usize {
    let schemas = DOCUMENT["components"]["schemas"].as_object().unwrap();
    let operations = DOCUMENT["paths"].as_object().unwrap().iter().flat_map(|(path, methods)| {
        methods
            .as_object()
            .unwrap()
            .iter()
            .map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    let mut count = 0;
    for (name, schema) in schemas {
        validator(&format!("schema {name}"), schema);
        count += 1;
    }
    for (name, operation) in operations {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let body = &operation["requestBody"]["content"]["application/json"];
        for part in parameters.map(resolved).chain([body]).filter(|part| !part["schema"].is_null()) {
            validator(&format!("request {name} {}", part["name"]), &part["schema"]);
            count += 1;
        }
    }
    count
}

/// The described operation that a request is, the path with the fewest identifiers first.
fn operation(method: &str, path: &str) -> Option<(&'static str, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let matching = paths.iter().filter(|(template, _)| matches(template, path));
    let (template, methods) = matching.min_by_key(|(template, _)| template.matches('{').count())?;
    Some((template, methods.get(method.to_lowercase())?))
}

fn matches(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    let same = |(part, given): (&&str, &&str)| part.starts_with('{') || part == given;
    template.len() == path.len() && template.iter().zip(&path).all(same)
}

fn resolved(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(reference) => DOCUMENT.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
        None => value,
    }
}

fn validator(name: &str, schema: &Value) -> Arc<Validator> {
    let mut validators = VALIDATORS.lock();
    let validator = validators.entry(name.to_owned()).or_insert_with(|| {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "allOf": [schema],
            "components": DOCUMENT["components"],
        });
        Arc::new(jsonschema::options().should_validate_formats(true).build(&schema).unwrap())
    });
    Arc::clone(validator)
}
