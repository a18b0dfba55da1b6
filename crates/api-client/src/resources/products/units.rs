//! The units in which products are sold (API document, "Products, prices, stock").

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::value::RawValue;

use crate::{
    ApiRequest, Error,
    resources::{Read, handles::ProductsApi},
    wire::{
        envelope::BodyError,
        fields::{FieldReader, object},
    },
};

const ROUTE: &str = "/api/global/enums/product/units";

/// A unit of the marketplace: one of the document's nine, or a later addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The value of `base_unit`.
    pub value: String,
    /// Its name in Brazilian Portuguese.
    pub label: Option<String>,
}

impl ProductsApi<'_> {
    /// Reads the units. Their route needs the token, like every route but the login and the one that the document
    /// calls public.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn units(self) -> Result<Read<Vec<Unit>>, Error> {
        self.requests.read_as(&ApiRequest::get(ROUTE, &[]), read_units).await
    }
}

/// Reads a list of words or of `{value, label}`, bare or as the only list of an object; or an object from word to
/// label.
fn read_units(read: &mut FieldReader, payload: &str) -> Result<Vec<Unit>, BodyError> {
    if payload.starts_with('[') {
        let rows: Vec<&RawValue> = serde_json::from_str(payload)?;
        return Ok(rows.into_iter().filter_map(|row| read_unit(read, row)).collect());
    }
    let members: BTreeMap<Cow<'_, str>, &RawValue> = object(payload)?;
    match members.values().find(|value| value.get().starts_with('[')) {
        Some(list) => read_units(read, list.get()),
        None => Ok(members
            .into_iter()
            .map(|(word, label)| Unit { value: word.into_owned(), label: read.text("units", Some(label)) })
            .collect()),
    }
}

fn read_unit(read: &mut FieldReader, row: &RawValue) -> Option<Unit> {
    let (value, label) = read.labelled("units[]", Some(row));
    if value.is_none() {
        read.give_up("units[].value");
    }
    Some(Unit { value: value?, label })
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;
    use crate::resources::answer::read_single;

    fn read(payload: &str) -> Read<Vec<Unit>> {
        read_single(payload, FixedOffset::east_opt(0).unwrap(), read_units).unwrap()
    }

    // proves: PRD-001
    #[test]
    fn units_are_read_in_whatever_form_they_come() {
        let unit =
            |value: &str, label: Option<&str>| Unit { value: value.into(), label: label.map(Into::into) };
        let labelled = vec![unit("cx", Some("Caixa")), unit("un", Some("Unidade"))];
        for payload in [
            r#"[{"value":"cx","label":"Caixa"},{"value":"un","label":"Unidade"}]"#,
            r#"{"units":[{"value":"cx","label":"Caixa"},{"value":"un","label":"Unidade"}]}"#,
            r#"{"cx":"Caixa","un":"Unidade"}"#,
        ] {
            assert_eq!(read(payload), Read { value: labelled.clone(), unreadable: vec![] }, "{payload}");
        }
        assert_eq!(read(r#"["cx","un"]"#).value, [unit("cx", None), unit("un", None)]);
    }

    #[test]
    fn a_unit_without_a_value_is_named_and_left_out() {
        let Read { value, unreadable } = read(r#"[{"label":"Caixa"},"un"]"#);
        assert_eq!((value.len(), unreadable), (1, vec!["units[].value"]));
    }
}
