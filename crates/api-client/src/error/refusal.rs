//! The error envelope: `{success, code, message_code, description, data, errors, meta}` (API document, "Errors").

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::words::presentable;

/// The document's codes are shorter.
const LONGEST_CODE: usize = 64;

/// The error envelope of the document, read leniently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// True if `success` is `false`: the marketplace's own envelope, whatever its code. A proxy has none.
    pub is_enveloped: bool,
    /// `message_code`, empty if absent.
    pub message_code: String,
    /// `description`, in Brazilian Portuguese.
    pub description: String,
    /// `errors`, flattened: strings unchanged, fields as `field: text`.
    pub errors: Vec<String>,
    /// `errors` by field, if it was sent as an object. A nested field is named `outer.inner`.
    pub fields: BTreeMap<String, Vec<String>>,
    /// `data.reason`: why a listing is not ready. Empty if absent.
    pub reason: String,
    /// `data.details`, flattened like `errors`.
    pub details: Vec<String>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    success: Value,
    #[serde(default)]
    message_code: Value,
    #[serde(default)]
    description: Value,
    /// The name that many servers use for it.
    #[serde(default)]
    message: Value,
    #[serde(borrow, default)]
    errors: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl Refusal {
    /// Reads the error envelope. Any other body gives an empty refusal.
    pub(crate) fn parse(body: &[u8]) -> Self {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(body) else { return Self::default() };
        let errors = value_of(envelope.errors);
        let data = value_of(envelope.data);
        let mut fields = BTreeMap::new();
        if let Value::Object(named) = &errors {
            collect_fields("", named, &mut fields);
        }
        Self {
            is_enveloped: envelope.success == Value::Bool(false),
            message_code: text(&envelope.message_code),
            description: text(if envelope.description.is_null() {
                &envelope.message
            } else {
                &envelope.description
            }),
            errors: flatten(&errors),
            fields,
            reason: data.get("reason").map(text).unwrap_or_default(),
            details: data.get("details").map(flatten).unwrap_or_default(),
        }
    }

    /// Returns whether the body said nothing in the fields of the error envelope.
    pub(crate) fn is_silent(&self) -> bool {
        *self == Self { is_enveloped: self.is_enveloped, ..Self::default() }
    }

    /// Returns whether the refusal is about this field or parameter.
    pub fn names(&self, field: &str) -> bool {
        let about = |text: &String| {
            text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == field)
        };
        self.errors.iter().any(about) || about(&self.description)
    }

    /// Returns the server's sentences, unchanged and without its code, which is shown separately.
    pub fn for_people(&self) -> String {
        let parts =
            [&self.description].into_iter().chain(&self.errors).chain([&self.reason]).chain(&self.details);
        let parts: Vec<&str> = parts.map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join("; ")
    }

    /// Returns the server's code, if it has the form of one. A sentence in its place may name a person.
    pub(crate) fn code(&self) -> Option<&str> {
        let in_code = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let code = self.message_code.as_str();
        let is_code = code.starts_with(|c: char| c.is_ascii_alphabetic()) && code.chars().all(in_code);
        (is_code && code.len() <= LONGEST_CODE).then_some(code)
    }

    /// Returns the server's code, formatted to follow a status.
    pub(super) fn after_status(&self) -> String {
        self.code().map(|code| format!(": {code}")).unwrap_or_default()
    }
}

/// Flattens a value: the strings of a list unchanged, the members of an object as `field: text`, a single string as
/// itself.
fn flatten(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Object(named) => {
            let mut fields = BTreeMap::new();
            collect_fields("", named, &mut fields);
            let texts = |(field, texts): (String, Vec<String>)| {
                texts.into_iter().map(move |text| format!("{field}: {text}"))
            };
            fields.into_iter().flat_map(texts).collect()
        }
        lone => vec![plain(lone)],
    }
}

fn collect_fields(within: &str, named: &Map<String, Value>, fields: &mut BTreeMap<String, Vec<String>>) {
    for (name, value) in named {
        let name = presentable(name);
        let name = if within.is_empty() { name } else { format!("{within}.{name}") };
        match value {
            Value::Object(inner) => collect_fields(&name, inner, fields),
            Value::Array(list) => fields.entry(name).or_default().extend(list.iter().map(plain)),
            other => fields.entry(name).or_default().push(plain(other)),
        }
    }
}

fn text(value: &Value) -> String {
    if value.is_null() { String::new() } else { plain(value) }
}

fn plain(value: &Value) -> String {
    presentable(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn value_of(json: Option<&RawValue>) -> Value {
    json.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    // proves: ENV-016, ENV-018, ENV-019, ENV-021, ENV-022
    #[test]
    fn both_forms_of_errors_are_read_into_words() {
        let list = Refusal::parse(br#"{"success":false,"code":403,"message_code":"FORBIDDEN","description":"Sem permiss\u00e3o","data":[],"errors":["store_products_read"],"meta":[]}"#);
        assert_eq!(list.code(), Some("FORBIDDEN"));
        assert_eq!(list.for_people(), "Sem permissão; store_products_read");
        let fields = Refusal::parse(br#"{"errors":{"limit":["muito alto","outro"]}}"#);
        assert_eq!(fields.errors, ["limit: muito alto", "limit: outro"]);
        assert!(fields.names("limit") && !fields.names("sort"));
        assert!(Refusal::parse(b"<html>").is_silent());
    }

    #[test]
    fn a_field_of_another_kind_does_not_hide_the_others() {
        let refusal = Refusal::parse(
            br#"{"message_code":422,"message":"um","description":"outro","errors":{"sku":["repetido"]}}"#,
        );
        assert_eq!((refusal.code(), refusal.for_people().as_str()), (None, "outro; sku: repetido"));
        assert_eq!(Refusal::parse(br#"{"message":"um","message_code":null}"#).for_people(), "um");
    }

    #[test]
    fn errors_by_field_are_kept_by_field_however_deep_they_lie() {
        let refusal = Refusal::parse(
            br#"{"errors":{"data":{"reason":["curto"]},"data.materials":"vazio","status":["imposs\u00edvel"]}}"#,
        );
        assert_eq!(refusal.fields["data.reason"], ["curto"]);
        assert_eq!(refusal.fields["data.materials"], ["vazio"]);
        assert_eq!(refusal.fields["status"], ["impossível"]);
    }

    #[test]
    fn reason_and_details_are_read_from_data_in_any_form() {
        let check = |details: &str, expected: &[&str]| {
            let body = format!(r#"{{"data":{{"reason":"gtin_invalid","details":{details}}}}}"#);
            let refusal = Refusal::parse(body.as_bytes());
            assert_eq!(
                (refusal.reason.as_str(), refusal.details),
                ("gtin_invalid", list(expected)),
                "{details}"
            );
        };
        check(r#"["GTIN com 9 d\u00edgitos"]"#, &["GTIN com 9 dígitos"]);
        check(r#"{"gtin":["9 d\u00edgitos"]}"#, &["gtin: 9 dígitos"]);
        check(r#""texto""#, &["texto"]);
        check("null", &[]);
        assert_eq!(Refusal::parse(br#"{"data":[]}"#), Refusal::default());
    }

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }
}
