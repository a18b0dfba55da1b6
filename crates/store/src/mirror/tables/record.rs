//! A row to mirror, with the fingerprint that tells "changed" from "unchanged".

use espelho_model::{ContentHash, RawJson, person::Person, time::fixed_width};

use crate::driver::Value;

/// A row to mirror.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) id: String,
    /// In the order of the table's columns.
    pub(super) values: Vec<Value>,
    pub(super) hash: ContentHash,
    pub(super) raw: RawJson,
}

impl Record {
    /// A row that counts as changed when any of its columns changes: also a column that a newer version parses
    /// better from the same object.
    pub(super) fn new<const N: usize>(id: impl Into<String>, values: [Value; N], raw: RawJson) -> Self {
        let mut said = raw.as_str().as_bytes().to_vec();
        values.iter().for_each(|value| append_to(&mut said, value));
        Self { id: id.into(), values: values.into(), hash: ContentHash::of(&said), raw }
    }

    /// A row that counts as changed when the object changes. Its columns may differ from delivery to delivery.
    pub(super) fn of_object<const N: usize>(id: impl Into<String>, values: [Value; N], raw: RawJson) -> Self {
        Self { id: id.into(), values: values.into(), hash: raw.content_hash(), raw }
    }

    /// The same row without the person of its order. Its fingerprint stays that of what was received, so that the next
    /// read finds it unchanged.
    pub(super) fn without_person(mut self, columns: &[&str]) -> Self {
        let person = Person::of(self.raw.as_str());
        for (column, value) in columns.iter().zip(&mut self.values) {
            match value {
                Value::Text(text) if text.as_ref().is_some_and(|text| person.takes(column, text)) => {
                    *text = None;
                }
                Value::Json(Some(json)) => *json = person.redact(column, json),
                _ => (),
            }
        }
        self.raw = RawJson::new(&person.redact("", self.raw.as_str()));
        self
    }

    /// The same row under a parent. Under another parent it counts as changed.
    pub(super) fn under(mut self, parent: &str) -> Self {
        self.hash = ContentHash::of(&[&self.hash.as_i64().to_le_bytes(), parent.as_bytes()].concat());
        self
    }
}

/// Appends a value to the text of the fingerprint.
fn append_to(said: &mut Vec<u8>, value: &Value) {
    let text = match value {
        Value::Text(text) | Value::Json(text) => text.clone(),
        Value::Key(text) => Some(String::from(&**text)),
        Value::Int(number) => number.map(|n| n.to_string()),
        Value::Bool(truth) => truth.map(|t| t.to_string()),
        Value::Decimal(number) => number.map(|n| n.to_string()),
        Value::Time(instant) => instant.map(fixed_width),
        Value::Bytes(bytes) => Some(format!("{bytes:?}")),
    };
    // The separators tell NULL from an empty text.
    said.push(if text.is_some() { 0x1e } else { 0x1f });
    said.extend(text.unwrap_or_default().into_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash<const N: usize>(values: [Value; N], raw: &str) -> ContentHash {
        Record::new("1", values, RawJson::new(raw)).hash
    }

    #[test]
    fn every_value_and_the_object_count() {
        let both = |a: Option<&str>, b: Option<&str>| {
            hash([a.map(str::to_owned).into(), b.map(str::to_owned).into()], "{}")
        };
        let different = [
            both(Some("a"), Some("b")),
            both(Some("ab"), None),
            both(None, Some("ab")),
            both(Some(""), None),
            both(None, Some("")),
            both(None, None),
            hash([Value::Text(None), Value::Text(None)], "{ }"),
            hash([Value::Bool(Some(true)), Value::Int(Some(1))], "{}"),
        ];
        for (n, one) in different.iter().enumerate() {
            assert!(different.iter().skip(n + 1).all(|other| other != one), "{n}");
        }
        assert_eq!(both(Some("a"), Some("b")), both(Some("a"), Some("b")));
    }

    #[test]
    fn a_row_that_has_moved_to_another_parent_is_changed() {
        let under = |parent: &str| Record::new("1", ["a".into()], RawJson::new("{}")).under(parent).hash;
        assert_eq!(under("N-1"), under("N-1"));
        assert_ne!(under("N-1"), under("N-2"));
    }

    #[test]
    fn what_differs_with_every_delivery_does_not_count_in_a_row_of_its_object() {
        let of = |said: &str| Record::of_object("1", [said.into()], RawJson::new("{}")).hash;
        assert_eq!(of("today"), of("tomorrow"));
    }
}
