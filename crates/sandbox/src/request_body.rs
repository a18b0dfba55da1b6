//! The one reader of request bodies. It reads JSON fields strictly: a field of another type than the document says is
//! an error of that field.

use std::ops::RangeInclusive;

use rust_decimal::Decimal;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::{
    money::Milli,
    refusal::{FieldErrors, Refusal},
};

/// The JSON object of a body. A body that is no object has no fields: then each required field is missing.
pub(crate) fn fields(body: &[u8]) -> Map<String, Value> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The JSON object of a body; any other body is an error of `body`.
pub(crate) fn object(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    object_or(body, "O corpo da requisição deve ser um objeto JSON válido.")
}

/// The same, with the message of the error.
pub(crate) fn object_or(body: &[u8], message: &str) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        _ => Err(Refusal::Invalid(FieldErrors::one("body", message))),
    }
}

/// The body of a control request; an empty one is an object without fields.
pub(crate) fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let text = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(text)
        .map_err(|error| Refusal::Invalid(FieldErrors::one("body", error.to_string())))
}

/// One object of a body, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    fields: &'a Map<String, Value>,
    path: String,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(fields: &'a Map<String, Value>) -> Self {
        Self { fields, path: String::new() }
    }

    /// Whether a field was sent; null counts as sent.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    pub(crate) fn is_null(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(Value::is_null)
    }

    /// The field as errors name it: `variations.0.seller_sku`.
    pub(crate) fn name_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Notes every field that was not sent.
    pub(crate) fn require(&self, names: &[&str], errors: &mut FieldErrors) {
        for name in names.iter().filter(|name| !self.has(name)) {
            self.note(name, "é obrigatório", errors);
        }
    }

    /// Notes what is wrong with a field.
    pub(crate) fn note(&self, name: &str, problem: &str, errors: &mut FieldErrors) {
        let name = self.name_of(name);
        let message = format!("O campo {name} {problem}.");
        errors.add(name, message);
    }

    /// A text that is not blank and has at most `max` characters.
    pub(crate) fn text(&self, name: &str, max: usize, errors: &mut FieldErrors) -> Option<&'a str> {
        let text = self.any_text(name, max, errors)?;
        if text.trim().is_empty() {
            self.note(name, "não pode ser vazio", errors);
            return None;
        }
        Some(text)
    }

    /// A text of at most `max` characters; blank is allowed.
    pub(crate) fn any_text(&self, name: &str, max: usize, errors: &mut FieldErrors) -> Option<&'a str> {
        let problem = match self.fields.get(name)? {
            Value::String(text) if text.chars().count() > max => {
                format!("não pode ter mais de {max} caracteres")
            }
            Value::String(text) => return Some(text),
            _ => "deve ser um texto".to_owned(),
        };
        self.note(name, &problem, errors);
        None
    }

    /// Whether a field was sent with a value; a field that is missing or null is noted as required.
    pub(crate) fn require_value(&self, name: &str, errors: &mut FieldErrors) -> bool {
        let has_value = self.fields.get(name).is_some_and(|value| !value.is_null());
        if !has_value {
            self.note(name, "é obrigatório", errors);
        }
        has_value
    }

    /// A text that must be sent and must not be empty.
    pub(crate) fn required_text(&self, name: &str, errors: &mut FieldErrors) -> Option<&'a str> {
        let problem = match self.fields.get(name) {
            Some(Value::String(text)) if !text.is_empty() => return Some(text),
            None | Some(Value::Null | Value::String(_)) => "é obrigatório",
            Some(_) => "deve ser um texto",
        };
        self.note(name, problem, errors);
        None
    }

    pub(crate) fn boolean(&self, name: &str, errors: &mut FieldErrors) -> Option<bool> {
        let value = self.fields.get(name)?;
        if value.as_bool().is_none() {
            self.note(name, "deve ser verdadeiro ou falso", errors);
        }
        value.as_bool()
    }

    /// A whole number; `3.0` is one.
    pub(crate) fn whole(
        &self,
        name: &str,
        range: RangeInclusive<i64>,
        errors: &mut FieldErrors,
    ) -> Option<i64> {
        let Some(number) = self.fields.get(name)?.as_number().and_then(whole) else {
            self.note(name, "deve ser um número inteiro", errors);
            return None;
        };
        if range.contains(&number) {
            return Some(number);
        }
        self.note(name, &format!("deve estar entre {} e {}", range.start(), range.end()), errors);
        None
    }

    /// An amount of at most three decimals.
    pub(crate) fn amount(
        &self,
        name: &str,
        range: RangeInclusive<Milli>,
        errors: &mut FieldErrors,
    ) -> Option<Milli> {
        let problem = match self.fields.get(name)?.as_number().map(exact) {
            None => "deve ser um número".to_owned(),
            Some(None) => "deve ser um número com até 3 casas decimais".to_owned(),
            Some(Some(amount)) if range.contains(&amount) => return Some(amount),
            Some(Some(_)) => {
                format!("deve estar entre {} e {}", range.start().decimal(), range.end().decimal())
            }
        };
        self.note(name, &problem, errors);
        None
    }

    /// An object inside this one.
    pub(crate) fn object(&self, name: &str, errors: &mut FieldErrors) -> Option<Self> {
        match self.fields.get(name)? {
            Value::Object(fields) => Some(Self { fields, path: self.name_of(name) }),
            _ => {
                self.note(name, "deve ser um objeto", errors);
                None
            }
        }
    }

    /// A list of at most `max` objects inside this one; a longer one is not looked into.
    pub(crate) fn objects(&self, name: &str, max: usize, errors: &mut FieldErrors) -> Vec<Self> {
        let items = match self.fields.get(name) {
            None => return Vec::new(),
            Some(Value::Array(items)) if items.len() <= max => items,
            Some(Value::Array(_)) => {
                self.note(name, &format!("não pode ter mais de {max} itens"), errors);
                return Vec::new();
            }
            Some(_) => {
                self.note(name, "deve ser uma lista", errors);
                return Vec::new();
            }
        };
        let mut objects = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let place = format!("{name}.{at}");
            match item {
                Value::Object(fields) => objects.push(Self { fields, path: self.name_of(&place) }),
                _ => self.note(&place, "deve ser um objeto", errors),
            }
        }
        objects
    }

    /// A field of any type.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name)
    }
}

fn whole(number: &Number) -> Option<i64> {
    let amount = || exact(number).filter(|amount| amount.0 % 1000 == 0).map(|amount| amount.0 / 1000);
    number.as_i64().or_else(amount)
}

/// The number to the thousandth; `None` when it has more decimals than that, or is beyond any amount.
///
/// A JSON number is read as the nearest float, whose shortest text is what was written up to 15 digits. The noise that
/// arithmetic leaves behind such a digit (`1.0090000000000001`) is no fourth decimal.
fn exact(number: &Number) -> Option<Milli> {
    let text = number.to_string();
    let value = text.parse::<Decimal>().or_else(|_| Decimal::from_scientific(&text)).ok()?;
    let rounded = value.round_dp(3);
    let noise = (value - rounded).abs();
    (noise < Decimal::new(1, 9)).then(|| Milli::from_decimal(rounded)).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn amount(value: &str) -> Option<Milli> {
        exact(&value.parse().unwrap())
    }

    #[test]
    fn an_amount_is_read_to_the_thousandth_and_no_further() {
        assert_eq!(amount("19.995"), Some(Milli(19_995)));
        assert_eq!(amount("99999999.999"), Some(Milli(99_999_999_999)));
        assert_eq!(amount("1.0090000000000001"), Some(Milli(1_009)));
        assert_eq!(amount("1e3"), Some(Milli(1_000_000)));
        assert_eq!(amount("-0.0"), Some(Milli(0)));
        for refused in ["0.0001", "1e-7", "5e-324", "1e300", "1e30", "18446744073709551615"] {
            assert_eq!(amount(refused), None, "{refused}");
        }
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point() {
        let read = |text: &str| whole(&text.parse().unwrap());
        assert_eq!(
            (read("3.0"), read("3"), read("-9223372036854775808")),
            (Some(3), Some(3), Some(i64::MIN))
        );
        assert_eq!((read("3.5"), read("18446744073709551615"), read("1e300")), (None, None, None));
    }

    #[test]
    fn every_wrong_type_is_an_error_of_its_field() {
        let hostile = [json!(null), json!("1"), json!([]), json!({}), json!(true), json!(1.5)];
        for value in &hostile {
            let body = json!({"a": value});
            let reader = Reader::new(body.as_object().unwrap());
            let mut errors = FieldErrors::new();
            let read = [
                reader.text("a", 1, &mut errors).is_some(),
                reader.boolean("a", &mut errors).is_some(),
                reader.whole("a", 0..=9, &mut errors).is_some(),
                reader.amount("a", Milli(0)..=Milli(9000), &mut errors).is_some(),
                reader.object("a", &mut errors).is_some(),
            ];
            let good = read.iter().filter(|good| **good).count();
            assert_eq!(errors.as_slice().len(), read.len() - good, "{value}");
            assert!(good <= 1 && errors.as_slice().iter().all(|(field, _)| field == "a"), "{value}");
        }
    }

    #[test]
    fn a_list_that_is_too_long_is_one_error() {
        let body = json!({"a": vec![1; 1000]});
        let mut errors = FieldErrors::new();
        assert!(Reader::new(body.as_object().unwrap()).objects("a", 10, &mut errors).is_empty());
        assert_eq!(errors.as_slice().len(), 1);
    }

    #[test]
    fn errors_name_the_place_of_a_nested_field() {
        let body = json!({"a": [{"b": {"c": 1}}, 5]});
        let mut errors = FieldErrors::new();
        let items = Reader::new(body.as_object().unwrap()).objects("a", 10, &mut errors);
        items[0].object("b", &mut errors).unwrap().text("c", 9, &mut errors);
        let fields: Vec<_> = errors.as_slice().iter().map(|(field, _)| field.as_ref()).collect();
        assert_eq!(fields, ["a.1", "a.0.b.c"]);
    }
}
