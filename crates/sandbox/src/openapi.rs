//! The machine-readable description of what the sandbox serves, merged from the files that each area writes.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The shared schemas, then the areas.
const PARTS: &[&str] = &[
    include_str!("../openapi/shared.json"),
    include_str!("../openapi/auth.json"),
    include_str!("../openapi/session.json"),
    include_str!("../openapi/webhooks.json"),
    include_str!("../openapi/campaigns.json"),
    include_str!("../openapi/price_lists.json"),
    include_str!("../openapi/enums.json"),
    include_str!("../openapi/orders_read.json"),
    include_str!("../openapi/orders_schemas.json"),
    include_str!("../openapi/orders_overview.json"),
    include_str!("../openapi/orders_views.json"),
    include_str!("../openapi/orders_write.json"),
    include_str!("../openapi/shipments.json"),
    include_str!("../openapi/labels.json"),
    include_str!("../openapi/media.json"),
    include_str!("../openapi/store_page.json"),
    include_str!("../openapi/products.json"),
    include_str!("../openapi/prices.json"),
    include_str!("../openapi/stock.json"),
    include_str!("../openapi/categories.json"),
    include_str!("../openapi/listings.json"),
];

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let mut document = Map::new();
    for part in PARTS {
        if let Ok(Value::Object(part)) = serde_json::from_str(part) {
            merge(&mut document, part);
        }
    }
    let mut document = Value::Object(document);
    allow_empty_values(&mut document);
    document.to_string()
});

/// Says of each query parameter that an empty one counts as absent, as `query::pairs` reads it.
fn allow_empty_values(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("in").is_some_and(|place| place == "query") {
                fields.insert("allowEmptyValue".to_owned(), true.into());
            }
            fields.values_mut().for_each(allow_empty_values);
        }
        Value::Array(items) => items.iter_mut().for_each(allow_empty_values),
        _ => {}
    }
}

/// The OpenAPI 3.1 document that `/openapi.json` serves.
pub fn openapi() -> &'static str {
    &DOCUMENT
}

/// Objects grow together, field by field: two areas may describe methods of the same path.
fn merge(into: &mut Map<String, Value>, part: Map<String, Value>) {
    for (name, value) in part {
        match (into.get_mut(&name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (_, value) => {
                into.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::{PARTS, openapi};
    use crate::route::Route;

    fn document() -> Value {
        serde_json::from_str(openapi()).unwrap()
    }

    #[test]
    fn every_part_is_json_and_no_two_describe_the_same() {
        let (mut operations, mut schemas) = (BTreeSet::new(), BTreeSet::new());
        for part in PARTS {
            let part: Value = serde_json::from_str(part).unwrap();
            for (path, methods) in part["paths"].as_object().into_iter().flatten() {
                for method in methods.as_object().unwrap().keys() {
                    assert!(operations.insert(format!("{method} {path}")), "{method} {path}");
                }
            }
            for name in part["components"]["schemas"].as_object().into_iter().flatten() {
                assert!(schemas.insert(name.0.clone()), "{}", name.0);
            }
        }
    }

    #[test]
    fn the_description_has_every_route_and_nothing_else() {
        let document = document();
        let described: BTreeSet<String> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| methods.as_object().unwrap().keys().map(move |method| (path, method)))
            .map(|(path, method)| format!("{} {path}", method.to_uppercase()))
            .collect();
        let served: BTreeSet<String> = crate::route_table::all().iter().map(Route::template).collect();
        assert_eq!(described, served);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let mut references = Vec::new();
        collect(&document, &mut references);
        assert!(references.len() > 100);
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    fn collect<'a>(value: &'a Value, references: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                references.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| collect(value, references));
            }
            Value::Array(items) => items.iter().for_each(|value| collect(value, references)),
            _ => {}
        }
    }

    /// Generators of clients leave out what holds an array of nobody knows what.
    #[test]
    fn every_array_says_what_it_holds() {
        fn arrays(value: &Value) -> Vec<&Value> {
            let own = (value["type"] == "array").then_some(value);
            let children: Vec<&Value> = match value {
                Value::Object(fields) => fields.values().collect(),
                Value::Array(items) => items.iter().collect(),
                _ => Vec::new(),
            };
            own.into_iter().chain(children.into_iter().flat_map(arrays)).collect()
        }
        let document = document();
        let arrays = arrays(&document);
        assert!(arrays.len() > 50, "{}", arrays.len());
        for array in arrays {
            assert!(array.get("items").is_some(), "{array}");
        }
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_and_says_what_it_answers() {
        let document = document();
        let mut names = BTreeSet::new();
        for operation in document["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|path| path.as_object().unwrap().values())
        {
            assert!(names.insert(operation["operationId"].as_str().unwrap()), "{operation}");
            assert!(operation["tags"].as_array().unwrap().len() == 1 && operation["summary"].is_string());
            let answers = operation["responses"].as_object().unwrap();
            assert!(answers.keys().any(|status| status.starts_with('2')), "{operation}");
            let is_public = operation["security"] == serde_json::json!([]);
            assert_eq!(answers.contains_key("401"), !is_public || operation["operationId"] == "login");
        }
    }
}
