//! Walks the members of an object once, so that no byte of an answer is read for its envelope and again for its content.

use std::borrow::Cow;

use serde::{Deserialize, de::Error as _};
use serde_json::value::RawValue;

/// The rest of an object whose members before it have been read.
pub(super) struct Members<'a> {
    rest: &'a str,
    is_first: bool,
}

impl<'a> Members<'a> {
    /// Begins with the first member; `None` if the text is no object.
    pub(super) fn of(json: &'a str) -> Option<Self> {
        let rest = json.trim_ascii_start().strip_prefix('{')?;
        Some(Self { rest, is_first: true })
    }

    /// Reads the next member's name, and leaves its value to be read; `None` behind the last member.
    ///
    /// # Errors
    /// When the text is no JSON.
    pub(super) fn name(&mut self) -> Result<Option<Cow<'a, str>>, serde_json::Error> {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.as_bytes().first() {
            Some(b'}') => {
                self.rest = &self.rest[1..];
                return Ok(None);
            }
            Some(b',') if !self.is_first => self.rest = &self.rest[1..],
            Some(b'"') if self.is_first => (),
            Some(_) => return Err(broken("expected `,` or `}`")),
            None => return Err(broken("the text ends too early")),
        }
        self.is_first = false;
        self.rest = self.rest.trim_ascii_start();
        let Name(name) = self.value()?;
        let value = self.rest.trim_ascii_start().strip_prefix(':').ok_or_else(|| broken("expected `:`"))?;
        self.rest = value.trim_ascii_start();
        Ok(Some(name))
    }

    /// Reads the value of the member whose name was read.
    ///
    /// # Errors
    /// When it is no JSON, or not a `T`.
    pub(super) fn value<T: Deserialize<'a>>(&mut self) -> Result<T, serde_json::Error> {
        self.value_and_text().map(|(value, _)| value)
    }

    /// Reads it and returns its text too.
    ///
    /// # Errors
    /// When it is no JSON, or not a `T`.
    pub(super) fn value_and_text<T: Deserialize<'a>>(&mut self) -> Result<(T, &'a str), serde_json::Error> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter();
        let value = values.next().unwrap_or_else(|| Err(broken("the text ends too early")))?;
        let (text, rest) = self.rest.split_at(values.byte_offset());
        self.rest = rest;
        Ok((value, text))
    }

    /// Returns what begins at the member's value.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }
}

/// Returns a member of an object that a parser has accepted; of two with one name the first.
pub(crate) fn member<'a>(json: &'a RawValue, wanted: &str) -> Option<&'a RawValue> {
    let mut members = Members::of(json.get())?;
    while let Some(name) = members.name().ok()? {
        let value = members.value::<&RawValue>().ok()?;
        if name == wanted {
            return Some(value).filter(|value| value.get() != "null");
        }
    }
    None
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

fn broken(problem: &str) -> serde_json::Error {
    serde_json::Error::custom(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_one_after_the_other_with_their_text() {
        let mut members = Members::of(" { \"a\" : 1 , \"b\\n\":[2, 3],\"c\":{} } ").unwrap();
        assert_eq!(members.name().unwrap().as_deref(), Some("a"));
        assert_eq!(members.value::<u8>().unwrap(), 1);
        assert_eq!(members.name().unwrap().as_deref(), Some("b\n"));
        assert_eq!(members.value_and_text::<Vec<u8>>().unwrap(), (vec![2, 3], "[2, 3]"));
        assert_eq!(members.name().unwrap().as_deref(), Some("c"));
        assert_eq!(members.value::<&RawValue>().unwrap().get(), "{}");
        assert_eq!(members.name().unwrap(), None);
        assert_eq!(members.rest(), " ");
        assert!(Members::of("[1]").is_none());
    }

    #[test]
    fn a_text_that_is_no_object_is_an_error_wherever_it_breaks() {
        let all = |json| -> Result<usize, serde_json::Error> {
            let mut members = Members::of(json).unwrap();
            let mut count = 0;
            while members.name()?.is_some() {
                members.value::<&RawValue>()?;
                count += 1;
            }
            Ok(count)
        };
        let whole = r#"{"a":1,"b":"x","c":{"d":[true]}}"#;
        assert_eq!(all(whole).unwrap(), 3);
        for cut in 1..whole.len() {
            assert!(all(&whole[..cut]).is_err(), "{}", &whole[..cut]);
        }
        for broken in ["{,}", "{\"a\":1,}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "{\"a\":}"] {
            assert!(all(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_member_is_found_by_its_name() {
        let json = RawValue::from_string(r#"{"a":{"id":1},"id":2,"none":null}"#.to_owned()).unwrap();
        assert_eq!(member(&json, "id").unwrap().get(), "2");
        assert!(member(&json, "none").is_none() && member(&json, "absent").is_none());
    }
}
