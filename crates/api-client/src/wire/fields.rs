//! Reads scalars in any form: numbers as numbers or strings, booleans as words or digits.

use chrono::{DateTime, FixedOffset, NaiveDate, Utc};
use espelho_model::{money::parse_decimal, raw::storable, time::parse_timestamp};
use rust_decimal::Decimal;
use serde::{
    Deserialize,
    de::{Error as _, Unexpected},
};
use serde_json::value::RawValue;

/// The longest id. No identifier of the document comes near it (a SKU has 50 characters), and every index accepts it.
const LONGEST_ID: usize = 255;

/// Reads a JSON object. A derived `Deserialize` alone would also accept a list, element by element in the order of
/// its fields.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, serde_json::Error> {
    match is_object(json) {
        true => serde_json::from_str(json),
        false => Err(serde_json::Error::invalid_type(Unexpected::Other("something else"), &"an object")),
    }
}

/// The same where any other value is usual: writes no error text for it.
pub(crate) fn optional_object<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    is_object(json).then(|| serde_json::from_str(json).ok())?
}

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{')
}

/// One optional value of an object, unread.
pub type Field<'a> = Option<&'a RawValue>;

/// Reads the fields of one object and records the unreadable ones.
///
/// An unreadable field becomes `None` (its text stays in `raw`) and its name is recorded, so that a change of the
/// API's shape is visible but does not block the row.
#[derive(Debug)]
pub struct FieldReader {
    naive: FixedOffset,
    unreadable: Vec<&'static str>,
}

shape! { LabelledWire { value, label } }

impl FieldReader {
    /// Creates a reader that reads timestamps without an offset in `naive`.
    pub fn new(naive: FixedOffset) -> Self {
        Self { naive, unreadable: Vec::new() }
    }

    /// Returns the fields that were present but unreadable.
    pub fn into_unreadable(self) -> Vec<&'static str> {
        self.unreadable
    }

    /// Records a field that the caller could not read.
    pub(crate) fn give_up(&mut self, name: &'static str) {
        self.unreadable.push(name);
    }

    /// Reads text. A number or boolean gives its own digits or word (ids come in both forms).
    pub fn text(&mut self, name: &'static str, field: Field<'_>) -> Option<String> {
        self.read(name, field, |json| match json.as_bytes().first() {
            Some(b'"') => unquote(json),
            Some(b'{' | b'[') => None,
            _ => Some(json.to_owned()),
        })
    }

    /// Reads text that can be a key: not empty, and short enough for any index.
    pub fn id(&mut self, name: &'static str, field: Field<'_>) -> Option<String> {
        let text = self.text(name, field)?;
        if text.is_empty() || text.len() > LONGEST_ID {
            self.unreadable.push(name);
            return None;
        }
        Some(text)
    }

    /// Reads an exact decimal.
    pub fn decimal(&mut self, name: &'static str, field: Field<'_>) -> Option<Decimal> {
        self.read_number(name, field, parse_decimal)
    }

    /// Reads a whole number: `3`, `3.0` or `"3"`.
    pub fn integer(&mut self, name: &'static str, field: Field<'_>) -> Option<i64> {
        self.read_number(name, field, |text| {
            let number = parse_decimal(text)?;
            number.is_integer().then(|| i64::try_from(number).ok())?
        })
    }

    /// Reads a boolean, also as `0`, `1` or a quoted word.
    pub fn boolean(&mut self, name: &'static str, field: Field<'_>) -> Option<bool> {
        self.read_number(name, field, |text| match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        })
    }

    /// Reads a date-time.
    pub fn time(&mut self, name: &'static str, field: Field<'_>) -> Option<DateTime<Utc>> {
        let naive = self.naive;
        self.read_number(name, field, |text| parse_timestamp(text, naive))
    }

    /// Reads a day, and ignores a time behind it.
    pub(crate) fn date(&mut self, name: &'static str, field: Field<'_>) -> Option<NaiveDate> {
        self.read_number(name, field, |text| text.get(..10)?.parse().ok())
    }

    /// Reads a word and its label: `{value, label}`, which is how the API writes some enums, or the bare word.
    pub(crate) fn labelled(
        &mut self,
        name: &'static str,
        field: Field<'_>,
    ) -> (Option<String>, Option<String>) {
        if !field.is_some_and(|raw| raw.get().starts_with('{')) {
            return (self.text(name, field), None);
        }
        let wire: LabelledWire<'_> = self.nested(name, field).unwrap_or_default();
        (self.text(name, wire.value), self.text(name, wire.label))
    }

    /// Reads a nested object. A value of another type is unreadable, except an empty list: some servers write it for
    /// "no object" (this API's own error envelope does).
    pub fn nested<'a, T: Deserialize<'a>>(&mut self, name: &'static str, field: Field<'a>) -> Option<T> {
        let field = field.filter(|raw| raw.get() != "[]");
        self.read(name, field, optional_object)
    }

    /// Reads a nested list, with its elements unread.
    pub fn list<'a>(&mut self, name: &'static str, field: Field<'a>) -> Vec<&'a RawValue> {
        self.read(name, field, |json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// Reads a value with or without quotes; an empty string is no value.
    fn read_number<T>(
        &mut self,
        name: &'static str,
        field: Field<'_>,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        if field.is_some_and(|raw| raw.get() == "\"\"") {
            return None;
        }
        self.read(name, field, |json| {
            read(json.strip_prefix('"').and_then(|j| j.strip_suffix('"')).unwrap_or(json))
        })
    }

    fn read<'a, T>(
        &mut self,
        name: &'static str,
        field: Field<'a>,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Option<T> {
        let value = read(field?.get());
        if value.is_none() {
            self.unreadable.push(name);
        }
        value
    }
}

fn unquote(json: &str) -> Option<String> {
    // Text without an escape stands there as it is: a parser has accepted it.
    if !json.contains('\\') {
        return Some(json.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    serde_json::from_str(&storable(json)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    fn reader() -> FieldReader {
        FieldReader::new(FixedOffset::east_opt(0).unwrap())
    }

    // withstands: F071
    #[test]
    fn a_number_is_read_from_its_own_text_in_either_form() {
        for json in ["19.90", "\"19.90\"", "1990e-2"] {
            let mut reader = reader();
            assert_eq!(
                reader.decimal("v", Some(&raw(json))).map(|d| d.normalize().to_string()),
                Some("19.9".into()),
                "{json}"
            );
            assert!(reader.into_unreadable().is_empty());
        }
        assert_eq!(reader().integer("v", Some(&raw("\"3.0\""))), Some(3));
        assert_eq!(reader().boolean("v", Some(&raw("1"))), Some(true));
        assert_eq!(reader().text("v", Some(&raw("123456789012345678901234567890"))).unwrap().len(), 30);
    }

    #[test]
    fn text_that_databases_refuse_becomes_text_that_they_hold() {
        assert_eq!(reader().text("v", Some(&raw(r#""a\u0000b""#))).unwrap(), "a\\u0000b");
        assert_eq!(reader().text("v", Some(&raw(r#""\ud800x""#))).unwrap(), "\\ud800x");
    }

    #[test]
    fn a_key_is_neither_empty_nor_longer_than_an_index_takes() {
        let mut reader = reader();
        assert_eq!(reader.id("a", Some(&raw("12345"))), Some("12345".into()));
        assert_eq!(reader.id("b", Some(&raw("\"\""))), None);
        assert_eq!(reader.id("c", Some(&raw(&format!("\"{}\"", "x".repeat(256))))), None);
        assert_eq!(reader.into_unreadable(), ["b", "c"]);
    }

    #[test]
    fn a_list_is_never_taken_for_an_object() {
        #[derive(Debug, PartialEq, Default, Deserialize)]
        #[serde(default)]
        struct Pair {
            a: i64,
            b: i64,
        }
        assert!(object::<Pair>("[1, 2]").is_err());
        let mut reader = reader();
        assert_eq!(reader.nested::<Pair>("pair", Some(&raw("[1,2]"))), None);
        assert_eq!(reader.nested::<Pair>("empty", Some(&raw("[]"))), None);
        assert_eq!(reader.nested("good", Some(&raw(r#"{"a":1}"#))), Some(Pair { a: 1, b: 0 }));
        assert_eq!(reader.into_unreadable(), ["pair"]);
    }

    #[test]
    fn an_enum_is_read_with_or_without_its_label() {
        let mut reader = reader();
        let mut read = |json: &str| reader.labelled("status", Some(&raw(json)));
        let both = (Some("active".to_owned()), Some("Ativo".to_owned()));
        assert_eq!(read(r#"{"value":"active","label":"Ativo"}"#), both);
        assert_eq!(read("\"active\""), (Some("active".into()), None));
        assert_eq!(read("[1]"), (None, None));
        assert_eq!(reader.labelled("absent", None), (None, None));
        assert_eq!(reader.into_unreadable(), ["status"]);
    }

    #[test]
    fn a_day_is_read_with_or_without_a_time() {
        let mut reader = reader();
        let day = NaiveDate::from_ymd_opt(1998, 3, 7);
        assert_eq!(reader.date("d", Some(&raw("\"1998-03-07\""))), day);
        assert_eq!(reader.date("d", Some(&raw("\"1998-03-07T00:00:00Z\""))), day);
        assert_eq!(reader.date("empty", Some(&raw("\"\""))), None);
        assert_eq!(reader.date("d", Some(&raw("\"07/03/1998\""))), None);
        assert_eq!(reader.into_unreadable(), ["d"]);
    }

    #[test]
    fn what_cannot_be_read_is_named_and_absence_is_not() {
        let mut reader = reader();
        assert_eq!(reader.decimal("absent", None), None);
        assert_eq!(reader.decimal("empty", Some(&raw("\"\""))), None);
        assert_eq!(reader.decimal("price", Some(&raw("\"1.234,56\""))), None);
        assert_eq!(reader.integer("count", Some(&raw("1.5"))), None);
        assert_eq!(reader.text("name", Some(&raw("{}"))), None);
        assert_eq!(reader.time("at", Some(&raw("\"ontem\""))), None);
        assert_eq!(reader.into_unreadable(), ["price", "count", "name", "at"]);
    }
}
