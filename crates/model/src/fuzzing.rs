//! Entry points of the fuzz targets (`tests/fuzz`), and of the test that replays their inputs. Nothing else uses them.

use serde::de::IgnoredAny;

use crate::person::{Identifier, Person};

/// Reads a text as an object that tells of a person, and as what an operator types to name one.
///
/// # Panics
/// When the object without the person is no JSON, or still tells of the person.
pub fn person(text: &str) {
    let person = Person::of(text);
    std::hint::black_box((Identifier::of_text(text), person.is_named_in(text)));
    let redacted = person.redact("", text);
    assert!(serde_json::from_str::<IgnoredAny>(&redacted).is_ok(), "no JSON is left: {redacted:?}");
    assert!(!person.is_in("", &redacted), "the person is still in {redacted:?}");
}
