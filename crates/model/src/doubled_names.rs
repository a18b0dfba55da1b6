//! Finds a name that an object has twice. A parser keeps one of the two values and says nothing of the other.

use std::{collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Returns the first name that an object anywhere in a JSON text has twice; `None` also for text that is no JSON.
pub fn doubled_name(json: &str) -> Option<String> {
    let mut found = None;
    // An error ends the search: that of a text that is no JSON, or ours where a name was found.
    let _ = Search(&mut found).deserialize(&mut serde_json::Deserializer::from_str(json));
    found
}

/// Reads one value, and notes a name that one of its objects has twice.
struct Search<'s>(&'s mut Option<String>);

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(Search(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            if names.contains(&name) {
                *self.0 = Some(name);
                return Err(A::Error::custom("a name is there twice"));
            }
            names.insert(name);
            fields.next_value_seed(Search(&mut *self.0))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_an_object_has_twice_is_found_wherever_it_is() {
        for (json, expected) in [
            (r#"{"status":"a","status":"b"}"#, Some("status")),
            (r#"{"status":"a","status":"a"}"#, Some("status")),
            (r#"{"status":"a","st\u0061tus":"b"}"#, Some("status")),
            (r#"{"a":{"b":1,"c":[{"d":1,"d":2}]}}"#, Some("d")),
            (r#"[{"a":1},{"a":1,"b":null,"a":2}]"#, Some("a")),
            (r#"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}"#, None),
            (r#"{"a":1,"A":2,"":3}"#, None),
            (r#"{"a":-1,"b":1.5e3,"c":true,"d":null,"e":"x","f":18446744073709551615}"#, None),
            (r#"[]"#, None),
            (r#""a""#, None),
            (r#"{"a":1,"a":"#, Some("a")),
            (r#"{"a":1,"#, None),
            ("", None),
        ] {
            assert_eq!(doubled_name(json).as_deref(), expected, "{json}");
        }
    }
}
