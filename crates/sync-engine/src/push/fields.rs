//! The fields of a command's data: one that is not known, or that has another type, is refused by its name. Ignored, it
//! would be an intent that nobody carries out; misread, it would be another one.

use espelho_model::{text, text::Text};
use serde_json::Value;

/// What the value of a field may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldType {
    /// A text.
    Text,
    /// A text, or `null`, which clears it.
    TextOrNull,
    /// `true` or `false`.
    Flag,
    /// `true` or `false`; `null` is as good as no field.
    FlagOrNull,
    /// A whole number of 0 or more, or text that is one.
    Whole,
    /// Read, and refused in its own words, elsewhere.
    Other,
}

impl FieldType {
    fn takes(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::TextOrNull => value.is_string() || value.is_null(),
            Self::Flag => value.is_boolean(),
            Self::FlagOrNull => value.is_boolean() || value.is_null(),
            Self::Whole => whole(value).is_some(),
            Self::Other => true,
        }
    }
}

/// Checks that each field of a command's data is known and has its type.
pub(crate) fn check_fields(data: &Value, known: &[(&str, FieldType)]) -> Result<(), Text> {
    let Some(fields) = data.as_object() else { return Err(text!("value-not-object")) };
    for (name, value) in fields {
        let Some((_, own)) = known.iter().find(|(known, _)| known == name) else {
            let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            if known.is_empty() {
                return Err(text!("value-no-fields", field = name));
            }
            return Err(text!("value-unknown-field-of", field = name, known = known.join(", ")));
        };
        if !own.takes(value) {
            return Err(text!("value-does-not-fit", field = name, value = value.to_string()));
        }
    }
    Ok(())
}

/// Reads a whole number of 0 or more, from a number or from text.
pub(crate) fn whole(value: &Value) -> Option<u32> {
    let text = value.as_str().and_then(|text| text.trim().parse().ok());
    text.or_else(|| value.as_u64().and_then(|number| u32::try_from(number).ok()))
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;
    use serde_json::json;

    use super::*;

    const KNOWN: [(&str, FieldType); 6] = [
        ("name", FieldType::Text),
        ("text", FieldType::TextOrNull),
        ("on", FieldType::Flag),
        ("may", FieldType::FlagOrNull),
        ("position", FieldType::Whole),
        ("own", FieldType::Other),
    ];

    #[test]
    fn a_field_that_is_known_and_has_its_type_is_taken() {
        for data in [
            json!({}),
            json!({"name": "", "text": "x", "on": true, "position": 0, "own": [1]}),
            json!({"text": null}),
            json!({"may": null}),
            json!({"on": false, "may": true}),
            json!({"position": " 7 "}),
            json!({"position": 4_294_967_295_u32}),
            json!({"own": null}),
        ] {
            assert!(check_fields(&data, &KNOWN).is_ok(), "{data}");
        }
    }

    #[test]
    fn a_field_that_is_not_known_or_has_another_type_is_refused_by_its_name() {
        for (data, field) in [
            (json!({"nome": "x"}), "nome"),
            (json!({"Name": "x"}), "Name"),
            (json!({"name": "x", "zz": null}), "zz"),
            (json!({"name": null}), "name"),
            (json!({"name": 5}), "name"),
            (json!({"text": 5}), "text"),
            (json!({"text": ["x"]}), "text"),
            (json!({"text": {"pt": "x"}}), "text"),
            (json!({"text": false}), "text"),
            (json!({"on": "true"}), "on"),
            (json!({"on": 1}), "on"),
            (json!({"on": null}), "on"),
            (json!({"may": "sim"}), "may"),
            (json!({"position": -1}), "position"),
            (json!({"position": 1.5}), "position"),
            (json!({"position": "um"}), "position"),
            (json!({"position": 4_294_967_296_u64}), "position"),
            (json!({"position": null}), "position"),
        ] {
            let refused = check_fields(&data, &KNOWN).unwrap_err().message(Locale::default());
            assert!(refused.contains(field), "{data}: {refused}");
        }
        let refused = check_fields(&json!({"x": 1}), &[]).unwrap_err().message(Locale::default());
        assert!(refused.contains('x'), "{refused}");
        for data in [json!(null), json!([]), json!("x"), json!(7)] {
            assert!(check_fields(&data, &KNOWN).is_err(), "{data}");
        }
    }
}
