//! Lists inside an answer whose position or keys the document leaves open.

use std::collections::{BTreeMap, HashSet};

use serde_json::value::RawValue;

use super::{
    envelope::BodyError,
    fields::{Field, object},
};

/// The greatest depth of a list below a payload: `data.events.data[]`.
const DEEPEST: usize = 3;

/// Returns the rows of a payload: the payload itself if it is a list, otherwise the list under the first of `names`
/// in it. `data` always counts as a name, because a listing may be paginated. A named list that is null is empty: a
/// field that does not apply is null (API document, "Order").
pub(crate) fn rows<'a>(json: &'a str, names: &[&str]) -> Result<Vec<&'a RawValue>, BodyError> {
    find(json, names, DEEPEST)?.ok_or_else(|| {
        let name = names.first().unwrap_or(&"data");
        BodyError::shape(format!("no list of {name} in the answer"))
    })
}

fn find<'a>(json: &'a str, names: &[&str], depth: usize) -> Result<Option<Vec<&'a RawValue>>, BodyError> {
    if json.trim_start().starts_with('[') {
        return Ok(Some(serde_json::from_str(json)?));
    }
    let members: BTreeMap<String, Field<'a>> = object(json)?;
    let inner = names.iter().chain([&"data"]).find_map(|&name| members.get(name).copied().flatten());
    let is_null = || names.iter().any(|&name| members.get(name).is_some_and(Option::is_none));
    match inner {
        None if is_null() => Ok(Some(Vec::new())),
        Some(inner) if depth > 0 && inner.get().starts_with(['[', '{']) => {
            find(inner.get(), names, depth - 1)
        }
        _ => Ok(None),
    }
}

/// Returns the object that has one of `members`: the payload, or the object under `wrapper` or `data` in it. An object
/// without any of them is not understood: to read it as an empty one would take away what the mirror has.
pub(crate) fn object_with<'a>(json: &'a str, members: &[&str], wrapper: &str) -> Result<&'a str, BodyError> {
    let mut at = json;
    for _ in 0..DEEPEST {
        let own: BTreeMap<String, Field<'a>> = object(at)?;
        if members.iter().any(|&name| own.contains_key(name)) {
            return Ok(at);
        }
        let inner = [wrapper, "data"].iter().find_map(|&name| own.get(name).copied().flatten());
        match inner.map(RawValue::get) {
            Some(inner) if inner.starts_with('{') => at = inner,
            _ => break,
        }
    }
    Err(BodyError::shape(format!("no {} in the answer", members.join(", "))))
}

/// Returns the first of `names` in an object, ignoring null members.
pub(crate) fn member<'a>(json: &'a str, names: &[&str]) -> Field<'a> {
    let members: BTreeMap<String, Field<'a>> = object(json).ok()?;
    names.iter().find_map(|&name| members.get(name).copied().flatten())
}

/// Makes the keys of one list's rows unique, because a table accepts each key once.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    taken: HashSet<String>,
}

impl Keys {
    /// Returns the row's own key. A row without a key gets its position (`#1`), because nothing else distinguishes it
    /// from its neighbours. A repeated key gets a number appended.
    pub(crate) fn give(&mut self, own: Option<String>) -> String {
        let wanted = own.unwrap_or_else(|| format!("#{}", self.taken.len() + 1));
        let numbered = (2..).map(|nth: usize| format!("{wanted}-{nth}"));
        let key = std::iter::once(wanted.clone()).chain(numbered).find(|key| !self.taken.contains(key));
        let key = key.unwrap_or(wanted);
        self.taken.insert(key.clone());
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_found_bare_under_its_name_and_inside_a_pagination() {
        for json in [
            r#"[{"id":1}]"#,
            r#"{"events":[{"id":1}]}"#,
            r#"{"events":{"data":[{"id":1}],"meta":{}}}"#,
            r#"{"data":[{"id":1}],"meta":{}}"#,
            r#"{"timeline":null,"events":[{"id":1}]}"#,
        ] {
            let found = rows(json, &["timeline", "events"]).unwrap_or_else(|e| panic!("{json}: {e:?}"));
            assert_eq!(found.iter().map(|row| row.get()).collect::<Vec<_>>(), [r#"{"id":1}"#], "{json}");
        }
        for json in [r#"{"events":null}"#, r#"{"timeline":null,"meta":{}}"#] {
            let found = rows(json, &["timeline", "events"]).unwrap_or_else(|e| panic!("{json}: {e:?}"));
            assert!(found.is_empty(), "{json}");
        }
        for json in [r#"{"others":[]}"#, r#"{"events":3}"#, "{}", "3"] {
            assert!(rows(json, &["events"]).is_err(), "{json}");
        }
    }

    #[test]
    fn an_object_is_found_by_its_members_or_is_not_understood() {
        for json in [r#"{"b":null}"#, r#"{"thing":{"b":null}}"#, r#"{"data":{"thing":{"b":null}}}"#] {
            let found = object_with(json, &["a", "b"], "thing").unwrap_or_else(|e| panic!("{json}: {e:?}"));
            assert_eq!(found, r#"{"b":null}"#);
        }
        for json in ["{}", r#"{"thing":null}"#, r#"{"thing":[]}"#, r#"{"other":{"b":1}}"#, "[]", "3"] {
            assert!(object_with(json, &["a", "b"], "thing").is_err(), "{json}");
        }
    }

    #[test]
    fn keys_of_one_list_always_differ() {
        let mut keys = Keys::default();
        let given: Vec<_> = [Some("a"), None, Some("a"), Some("#2"), Some("a")]
            .map(|own| keys.give(own.map(str::to_owned)))
            .into();
        assert_eq!(given, ["a", "#2", "a-2", "#2-2", "a-3"]);
    }

    #[test]
    fn a_member_that_is_null_is_no_member() {
        let json = r#"{"splits":null,"revenue_splits":[1]}"#;
        assert_eq!(member(json, &["splits", "revenue_splits"]).map(RawValue::get), Some("[1]"));
        assert!(member("[]", &["splits"]).is_none());
    }
}
