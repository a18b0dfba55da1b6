//! An object as received, stored beside the columns derived from it.

use std::borrow::Cow;

use crate::ContentHash;

/// JSON text of one object, exactly as the marketplace sent it with one exception. PostgreSQL's `jsonb` cannot hold
/// some escapes (U+0000 or half of a surrogate pair); their backslash is doubled, so that they show as the text
/// `\u0000` instead of being lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson {
    text: String,
    escaped: bool,
}

impl RawJson {
    /// Stores JSON text that a parser has already accepted.
    pub fn new(json: &str) -> Self {
        let (text, escaped) = match storable(json) {
            Cow::Borrowed(same) => (same.to_owned(), false),
            Cow::Owned(changed) => (changed, true),
        };
        Self { text, escaped }
    }

    /// Returns the text to store.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text without copying it.
    pub fn into_string(self) -> String {
        self.text
    }

    /// Returns whether an escape was changed to make the text storable.
    pub fn was_escaped(&self) -> bool {
        self.escaped
    }

    /// Returns the fingerprint of the text.
    pub fn content_hash(&self) -> ContentHash {
        ContentHash::of(self.text.as_bytes())
    }
}

/// Doubles the backslash of every Unicode escape that a database text cannot hold. Borrows the text if there is
/// none.
pub fn storable(json: &str) -> Cow<'_, str> {
    if !json.contains("\\u") {
        return Cow::Borrowed(json);
    }
    let bytes = json.as_bytes();
    let mut result = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = json[at..].find('\\') {
        let backslash = at + found;
        let step = escape_length(bytes, backslash);
        if !step.storable {
            result.push_str(&json[copied..backslash]);
            result.push('\\');
            copied = backslash;
        }
        at = backslash + step.length;
        if at >= json.len() {
            break;
        }
    }
    if copied == 0 && result.is_empty() {
        return Cow::Borrowed(json);
    }
    result.push_str(&json[copied..]);
    Cow::Owned(result)
}

struct Escape {
    length: usize,
    storable: bool,
}

/// Measures the escape that begins with the backslash at `at`.
fn escape_length(bytes: &[u8], at: usize) -> Escape {
    let Some(unit) = code_unit(bytes, at) else {
        // `\n`, `\\` and the like are two ASCII characters. Anything else is not valid JSON anyway, and a step of one
        // stays on a character boundary.
        let length = if bytes.get(at + 1).is_some_and(u8::is_ascii) { 2 } else { 1 };
        return Escape { length, storable: true };
    };
    match unit {
        0 => Escape { length: 6, storable: false },
        0xD800..=0xDBFF => match code_unit(bytes, at + 6) {
            Some(0xDC00..=0xDFFF) => Escape { length: 12, storable: true },
            _ => Escape { length: 6, storable: false },
        },
        0xDC00..=0xDFFF => Escape { length: 6, storable: false },
        _ => Escape { length: 6, storable: true },
    }
}

/// Returns the code unit of the Unicode escape (`\u` and four digits) at `at`, if there is one.
fn code_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // withstands: F078
    #[test]
    fn only_escapes_that_no_database_holds_are_changed() {
        let check = |input: &str, expected: &str| assert_eq!(storable(input), expected, "{input}");
        check(r#"{"a":"plain"}"#, r#"{"a":"plain"}"#);
        check(r#"{"a":"x\u0000y"}"#, r#"{"a":"x\\u0000y"}"#);
        check(r#""\u0000\u0000""#, r#""\\u0000\\u0000""#);
        check(r#""\ud83d\ude00""#, r#""\ud83d\ude00""#);
        check(r#""\ud83d.""#, r#""\\ud83d.""#);
        check(r#""\ude00""#, r#""\\ude00""#);
        check(r#""a\\u0000""#, r#""a\\u0000""#);
        check(r#""\u00e7\n\"""#, r#""\u00e7\n\"""#);
    }

    // withstands: F078
    #[test]
    fn raw_says_when_it_had_to_change_something() {
        assert!(!RawJson::new(r#"{"a":"\u00e7"}"#).was_escaped());
        assert!(RawJson::new(r#"{"a":"\u0000"}"#).was_escaped());
    }

    proptest! {
        #[test]
        fn stored_text_parses_and_is_stable(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let once = storable(&json).into_owned();
            let read: String = serde_json::from_str(&once).unwrap();
            prop_assert!(!read.contains('\0'));
            prop_assert_eq!(storable(&once).into_owned(), once);
        }

        #[test]
        fn no_text_makes_it_panic(text in r#"(\\|u|0|d|8|é|"){0,30}"#) {
            let _ = storable(&text);
        }
    }
}
