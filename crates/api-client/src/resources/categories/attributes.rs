//! The attributes of a category (API document, "Listings (items) and categories").

use std::{borrow::Cow, collections::BTreeMap};

use espelho_model::{CategoryId, RawJson, listing::CategoryAttribute};
use serde_json::value::RawValue;

use super::super::{Read, paging::with_parameters};
use crate::{
    ApiRequest, Error,
    resources::handles::CategoriesApi,
    wire::{
        envelope::BodyError,
        fields::{FieldReader, object},
        shape,
    },
};

const ROUTE: &str = "/api/categories/{id}/attributes";

/// How deep attributes are searched: the answer, its sections, their lists.
const DEEPEST: usize = 4;

/// A restriction to one kind of attribute. The marketplace refuses both at once, so they are one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Only {
    Features,
    Variations,
}

/// A query for a category's attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttributeQuery {
    /// `matrix`: grouped by section.
    pub matrix: bool,
    /// `only_features` or `only_variations`; `None` for all.
    pub only: Option<Only>,
}

/// The attributes of a category.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes {
    /// The attributes, section by section.
    pub attributes: Vec<CategoryAttribute>,
    /// How many attributes had no readable id.
    pub rows_without_id: usize,
    /// The answer as received.
    pub raw: RawJson,
}

impl AttributeQuery {
    /// Builds the request.
    pub fn request(&self, category: CategoryId) -> ApiRequest {
        let flag = |wanted: bool, value: &str| wanted.then(|| value.to_owned());
        let parameters = [
            ("matrix", flag(self.matrix, "true")),
            ("only_features", flag(self.only == Some(Only::Features), "1")),
            ("only_variations", flag(self.only == Some(Only::Variations), "1")),
        ];
        with_parameters(ApiRequest::get(ROUTE, &[&category.to_string()]), parameters)
    }
}

impl CategoriesApi<'_> {
    /// Reads the attributes of a category.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn attributes(
        self,
        category: CategoryId,
        query: &AttributeQuery,
    ) -> Result<Read<Attributes>, Error> {
        self.requests.read_as(&query.request(category), read_attributes).await
    }
}

shape! { AttributeWire { id, attribute_id, name, is_required, is_variant, is_combinable, section } }
shape! { SectionWire { section, title, label, attributes, items, data } }

fn read_attributes(read: &mut FieldReader, payload: &str) -> Result<Attributes, BodyError> {
    let whole: &RawValue = serde_json::from_str(payload)?;
    let mut found = Attributes { attributes: Vec::new(), rows_without_id: 0, raw: RawJson::new(payload) };
    collect(read, whole, None, DEEPEST, &mut found);
    Ok(found)
}

/// Finds attributes at any position: in a list, in sections that hold lists, or in an object from section to list.
/// The document says that they may be grouped, but not how.
fn collect(
    read: &mut FieldReader,
    value: &RawValue,
    section: Option<&str>,
    depth: usize,
    found: &mut Attributes,
) {
    if depth == 0 {
        return;
    }
    if value.get().starts_with('[') {
        for row in read.list("attributes", Some(value)) {
            collect(read, row, section, depth - 1, found);
        }
        return;
    }
    let wire: AttributeWire<'_> = read.nested("attributes[]", Some(value)).unwrap_or_default();
    let section_wire: SectionWire<'_> = object(value.get()).unwrap_or_default();
    let inner = section_wire.attributes.or(section_wire.items).or(section_wire.data);
    match (wire.id.or(wire.attribute_id), inner.filter(|list| list.get().starts_with('['))) {
        // An object with the flags is an attribute, and its lists are values.
        (Some(id), _) if wire.has_flags() => {
            found.attributes.push(read_attribute(read, value, &wire, id, section));
        }
        (None, _) if wire.has_flags() => found.rows_without_id += 1,
        (_, Some(list)) => {
            let name = section_wire.section.or(section_wire.title).or(section_wire.label).or(wire.name);
            let own = read.labelled("section", name).0;
            collect(read, list, own.as_deref().or(section), depth - 1, found);
        }
        (Some(id), None) => found.attributes.push(read_attribute(read, value, &wire, id, section)),
        (None, None) => collect_sections(read, value, depth, found),
    }
}

impl AttributeWire<'_> {
    fn has_flags(&self) -> bool {
        self.is_required.or(self.is_variant).or(self.is_combinable).is_some()
    }
}

/// Reads an object from section to list of attributes.
fn collect_sections(read: &mut FieldReader, value: &RawValue, depth: usize, found: &mut Attributes) {
    let sections: BTreeMap<Cow<'_, str>, &RawValue> = object(value.get()).unwrap_or_default();
    let before = found.attributes.len();
    for (name, inner) in sections.into_iter().filter(|(_, inner)| inner.get().starts_with('[')) {
        collect(read, inner, Some(&name), depth - 1, found);
    }
    if found.attributes.len() == before && value.get() != "{}" {
        found.rows_without_id += 1;
    }
}

fn read_attribute(
    read: &mut FieldReader,
    value: &RawValue,
    wire: &AttributeWire<'_>,
    id: &RawValue,
    section: Option<&str>,
) -> CategoryAttribute {
    // Outside of a matrix no section surrounds an attribute, so it may name its own.
    let own = read.labelled("attributes[].section", wire.section).0;
    CategoryAttribute {
        id: RawJson::new(id.get()),
        name: read.text("attributes[].name", wire.name),
        is_required: read.boolean("attributes[].is_required", wire.is_required),
        is_variant: read.boolean("attributes[].is_variant", wire.is_variant),
        is_combinable: read.boolean("attributes[].is_combinable", wire.is_combinable),
        section: section.map(str::to_owned).or(own),
        raw: RawJson::new(value.get()),
    }
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;
    use crate::{resources::answer::read_single, wire::outward::sent};

    fn read(payload: &str) -> Read<Attributes> {
        read_single(payload, FixedOffset::east_opt(0).unwrap(), read_attributes).unwrap()
    }

    // proves: LST-006, LST-007, LST-008, LST-009, ERR-025
    #[test]
    fn attributes_are_asked_for_whole_or_in_part_and_never_in_both_parts() {
        let request = |matrix, only| sent(&AttributeQuery { matrix, only }.request(CategoryId::new(12)));
        assert_eq!(request(false, None), "GET /api/categories/12/attributes");
        assert_eq!(
            request(true, Some(Only::Features)),
            "GET /api/categories/12/attributes?matrix=true&only_features=1"
        );
        assert_eq!(
            request(false, Some(Only::Variations)),
            "GET /api/categories/12/attributes?only_variations=1"
        );
    }

    // proves: LST-007, LST-011
    #[test]
    fn attributes_are_found_in_a_list_and_in_sections_of_either_form() {
        let color = r#"{"id":1,"name":"Cor","is_required":true,"is_variant":true,"is_combinable":1,"values":[{"id":9,"name":"Azul"}]}"#;
        let brand =
            r#"{"id":"b","name":"Marca","is_required":false,"is_variant":false,"is_combinable":false}"#;
        for (payload, sections) in [
            (format!("[{color},{brand}]"), [None, None]),
            (format!(r#"{{"attributes":[{color},{brand}]}}"#), [None, None]),
            (
                format!(
                    r#"[{{"section":"Variação","attributes":[{color}]}},{{"name":"Ficha","attributes":[{brand}]}}]"#
                ),
                [Some("Variação"), Some("Ficha")],
            ),
            (format!(r#"{{"A variação":[{color}],"Ficha":[{brand}]}}"#), [Some("A variação"), Some("Ficha")]),
        ] {
            let Read { value, unreadable } = read(&payload);
            assert_eq!((unreadable, value.rows_without_id), (vec![], 0), "{payload}");
            let [first, second] = value.attributes.as_slice() else { panic!("{value:?}") };
            assert_eq!([first, second].map(|a| a.section.as_deref()), sections, "{payload}");
            assert_eq!([first, second].map(|a| a.id.as_str()), ["1", "\"b\""]);
            assert_eq!([first, second].map(|a| a.name.as_deref()), [Some("Cor"), Some("Marca")]);
            let flags = (first.is_required, first.is_variant, first.is_combinable);
            assert_eq!(flags, (Some(true), Some(true), Some(true)));
            assert_eq!(second.is_required, Some(false));
            assert_eq!(first.raw.as_str(), color);
        }
    }

    #[test]
    fn an_attribute_outside_of_sections_may_say_itself_where_it_belongs() {
        let payload = r#"[{"id":1,"is_variant":true,"section":"Variação"},{"id":2,"section":{"value":"b","label":"B"}}]"#;
        let Read { value, unreadable } = read(payload);
        let sections: Vec<_> = value.attributes.iter().map(|one| one.section.as_deref()).collect();
        assert_eq!((sections, unreadable), (vec![Some("Variação"), Some("b")], vec![]));
    }

    #[test]
    fn the_values_of_an_attribute_are_not_taken_for_attributes() {
        let values = r#"[{"id":9,"name":"Azul"},{"id":10,"name":"Verde"}]"#;
        for name in ["values", "items", "data", "attributes"] {
            let payload = format!(r#"[{{"id":1,"name":"Cor","is_required":true,"{name}":{values}}}]"#);
            let found = read(&payload).value;
            assert_eq!((found.attributes.len(), found.attributes[0].id.as_str()), (1, "1"), "{name}");
            let rows_without_id = read(&payload.replace(r#""id":1,"#, "")).value;
            assert_eq!((rows_without_id.attributes.len(), rows_without_id.rows_without_id), (0, 1), "{name}");
        }
    }

    #[test]
    fn what_is_no_attribute_is_counted_and_depth_has_an_end() {
        assert_eq!(read(r#"[{"name":"?"},{"id":1}]"#).value.rows_without_id, 1);
        assert!(read("{}").value.attributes.is_empty());
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(read(&deep).value.attributes.is_empty());
    }
}
