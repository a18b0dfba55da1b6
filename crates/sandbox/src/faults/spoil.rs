//! Answers that lie: another value in one place of a body, or none.
//!
//! Every value keeps its text. Only what lies on the way to the place is written anew, with sorted names.

use std::collections::BTreeMap;

use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

/// The step of a place that stands for every element of a list.
const EVERY: &str = "*";

/// A lie: another value in one place of an answer, or none.
///
/// A body that has nothing in this place stays as it is, and uses no rule up.
#[derive(Clone, Debug)]
pub struct Spoil {
    /// The place as a JSON pointer (RFC 6901) into the body, in which `*` stands for every element of a list:
    /// `/data/stock/*/quantity`.
    pub at: String,
    /// The value there; `None` takes the field out.
    pub value: Option<Value>,
    /// The order number, SKU or other identifier that the lie is about, if it is not about all: a segment of the
    /// request's path, or a field of an object on the way to the place.
    pub key: Option<String>,
}

impl Spoil {
    /// Returns the spoiled body of the answer to a request; `None` where nothing in it is meant.
    pub(super) fn applied(&self, path: &str, body: &[u8]) -> Option<Vec<u8>> {
        let body: &RawValue = serde_json::from_slice(body).ok()?;
        let steps: Vec<String> = self.at.split('/').skip(1).map(unescaped).collect();
        let is_meant = self.key.as_deref().is_none_or(|key| path.split('/').any(|part| part == key));
        let spoiled = self.lie(body, &steps, is_meant)??;
        Some(spoiled.get().as_bytes().to_vec())
    }

    /// Returns what stands in place of a value: `None` leaves it, `Some(None)` takes it out.
    fn lie(&self, value: &RawValue, steps: &[String], is_meant: bool) -> Option<Option<Box<RawValue>>> {
        let is_meant = is_meant || self.is_about(value);
        let Some((step, rest)) = steps.split_first() else {
            return is_meant.then(|| self.value.as_ref().and_then(|value| to_raw_value(value).ok()));
        };
        let spoiled = match value.get().starts_with('[') {
            true => self.in_list(value.get(), step, rest, is_meant),
            false => self.in_object(value.get(), step, rest, is_meant),
        };
        spoiled.map(Some)
    }

    fn in_list(&self, json: &str, step: &str, rest: &[String], is_meant: bool) -> Option<Box<RawValue>> {
        let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        let (mut said, mut is_spoiled) = (Vec::with_capacity(items.len()), false);
        for (at, item) in items.into_iter().enumerate() {
            let is_named = step == EVERY || step.parse::<usize>() == Ok(at);
            match is_named.then(|| self.lie(item, rest, is_meant)).flatten() {
                None => said.push(item.to_owned()),
                Some(lie) => {
                    is_spoiled = true;
                    said.extend(lie);
                }
            }
        }
        is_spoiled.then(|| to_raw_value(&said).ok()).flatten()
    }

    fn in_object(&self, json: &str, step: &str, rest: &[String], is_meant: bool) -> Option<Box<RawValue>> {
        let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(json).ok()?;
        let lie = self.lie(members.get(step)?, rest, is_meant)?;
        match lie {
            Some(value) => members.insert(step.to_owned(), value),
            None => members.remove(step),
        };
        to_raw_value(&members).ok()
    }

    /// Says whether a value is an object with the key as one of its fields.
    fn is_about(&self, value: &RawValue) -> bool {
        let Some(key) = self.key.as_deref() else { return false };
        let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(value.get());
        members.is_ok_and(|members| members.values().any(|member| member.get().trim_matches('"') == key))
    }
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BODY: &str = concat!(
        r#"{"success":true,"data":{"sku":"A","a/b":58.90,"#,
        r#""stock":[{"at":11,"quantity":7},{"at":12,"quantity":8}]}}"#
    );

    fn spoiled(at: &str, value: Option<Value>, key: Option<&str>) -> Option<Value> {
        let spoil = Spoil { at: at.to_owned(), value, key: key.map(str::to_owned) };
        let body = spoil.applied("/api/products/P-1", BODY.as_bytes())?;
        Some(serde_json::from_slice(&body).unwrap())
    }

    /// Returns the body with another SKU, amount and stock; null takes a field out.
    fn body(sku: &Value, amount: &Value, stock: &Value) -> Value {
        let mut data = json!({"sku": sku, "a/b": amount, "stock": stock});
        data.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        json!({"success": true, "data": data})
    }

    #[test]
    fn a_lie_stands_in_its_place_and_nowhere_else() {
        let (sku, amount, null) = (json!("A"), json!(58.9), Value::Null);
        let row = |at: u32, quantity: Value| json!({"at": at, "quantity": quantity});
        let stock = json!([row(11, json!(7)), row(12, json!(8))]);
        let with_stock = |stock: Value| Some(body(&sku, &amount, &stock));
        for (at, value, expected) in [
            ("/data/sku", Some(json!([1])), Some(body(&json!([1]), &amount, &stock))),
            ("/data/sku", None, Some(body(&null, &amount, &stock))),
            ("/data/a~1b", Some(json!("x")), Some(body(&sku, &json!("x"), &stock))),
            (
                "/data/stock/*/quantity",
                Some(json!(0)),
                with_stock(json!([row(11, json!(0)), row(12, json!(0))])),
            ),
            (
                "/data/stock/1/quantity",
                Some(Value::Null),
                with_stock(json!([row(11, json!(7)), row(12, Value::Null)])),
            ),
            ("/data/stock/*/quantity", None, with_stock(json!([{"at": 11}, {"at": 12}]))),
            ("/data/stock/0", None, with_stock(json!([row(12, json!(8))]))),
            ("/data/stock/*", None, with_stock(json!([]))),
            ("/data/stock", Some(json!({})), with_stock(json!({}))),
            ("", Some(json!(7)), Some(json!(7))),
            ("/data/nothing", Some(json!(1)), None),
            ("/data/sku/more", Some(json!(1)), None),
            ("/data/stock/2/quantity", Some(json!(1)), None),
            ("/data/*", Some(json!(1)), None),
            ("", None, None),
        ] {
            assert_eq!(spoiled(at, value.clone(), None), expected, "{at}: {value:?}");
        }
    }

    #[test]
    fn a_lie_about_a_key_leaves_everything_else_alone() {
        let quantities = |key| {
            let spoiled = spoiled("/data/stock/*/quantity", Some(json!(0)), Some(key))?;
            Some([0_usize, 1].map(|at| spoiled["data"]["stock"][at]["quantity"].as_i64().unwrap()))
        };
        assert_eq!(quantities("11"), Some([0, 8]), "a field of the row");
        assert_eq!(quantities("A"), Some([0, 0]), "a field of an object on the way");
        assert_eq!(quantities("P-1"), Some([0, 0]), "a segment of the path");
        assert_eq!(quantities("P-2"), None);
        let rows = spoiled("/data/stock/*", None, Some("12")).unwrap();
        assert_eq!(rows["data"]["stock"], json!([{"at": 11, "quantity": 7}]), "the row itself");
    }

    #[test]
    fn what_does_not_lie_keeps_its_text() {
        let spoil = Spoil { at: "/data/sku".to_owned(), value: Some(Value::Null), key: None };
        let body = String::from_utf8(spoil.applied("/", BODY.as_bytes()).unwrap()).unwrap();
        assert!(body.contains("58.90"), "{body}");
        assert_eq!(spoil.applied("/", br#"{"data":{"sku""#), None, "an answer that is no JSON");
    }
}
