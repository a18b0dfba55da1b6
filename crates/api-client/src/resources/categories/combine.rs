//! Combining attribute values into variations (API document, "Listings (items) and categories").

use espelho_model::{CategoryId, RawJson, text};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};

use super::super::{Read, answer::raw};
use crate::{
    ApiRequest, Error, Invalid,
    resources::handles::CategoriesApi,
    wire::{
        envelope::BodyError,
        fields::{FieldReader, object},
        shape,
    },
};

const ROUTE: &str = "/api/categories/{id}/combine-attributes";

/// The id of an attribute or of a value, sent in the form in which it was read: the document does not state the form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AttributeId {
    /// A number.
    Number(i64),
    /// Text.
    Text(String),
}

impl std::fmt::Display for AttributeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Attributes with their chosen values, to be combined with each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    attributes: Vec<(AttributeId, Vec<AttributeId>)>,
    primary: Option<AttributeId>,
}

#[derive(Serialize)]
struct CombinationBody<'a> {
    attributes: Ordered<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    primary_attribute_id: Option<&'a AttributeId>,
}

/// An object whose members keep their order: the first attribute is the primary one unless another is named.
struct Ordered<'a>(&'a [(AttributeId, Vec<AttributeId>)]);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (attribute, values) in self.0 {
            map.serialize_entry(&attribute.to_string(), values)?;
        }
        map.end()
    }
}

impl Combination {
    /// Takes attributes with their chosen values, and the primary one if it is not the first.
    ///
    /// # Errors
    /// When there is no attribute, an attribute is repeated or has no value (then no combination would remain), or
    /// the primary one is not among them.
    pub fn new(
        attributes: Vec<(AttributeId, Vec<AttributeId>)>,
        primary: Option<AttributeId>,
    ) -> Result<Self, Invalid> {
        if attributes.is_empty() {
            return Err(Invalid::Missing { field: "attributes" });
        }
        for (at, (attribute, values)) in attributes.iter().enumerate() {
            if values.is_empty() {
                return Err(Invalid::value("attributes", attribute, text!("value-rule-attribute-value")));
            }
            let name = attribute.to_string();
            if attributes.iter().take(at).any(|(earlier, _)| earlier.to_string() == name) {
                return Err(Invalid::value("attributes", attribute, text!("value-rule-attribute-once")));
            }
        }
        match primary.as_ref().filter(|primary| !attributes.iter().any(|(id, _)| id == *primary)) {
            Some(other) => {
                Err(Invalid::value("primary_attribute_id", other, text!("value-rule-attribute-primary")))
            }
            None => Ok(Self { attributes, primary }),
        }
    }

    /// Builds the request.
    pub fn request(&self, category: CategoryId) -> ApiRequest {
        let body = CombinationBody {
            attributes: Ordered(&self.attributes),
            primary_attribute_id: self.primary.as_ref(),
        };
        ApiRequest::post(ROUTE, &[&category.to_string()]).json(&body)
    }
}

/// The combinations that the marketplace returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Combinations {
    /// The combinations, each as received: the document does not show their fields.
    pub combinations: Vec<RawJson>,
    /// `primary_attribute` as received.
    pub primary_attribute: Option<RawJson>,
    /// The answer as received.
    pub raw: RawJson,
}

impl CategoriesApi<'_> {
    /// Combines attribute values. The call changes nothing, but is sent as a write and so only once.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn combine_attributes(
        self,
        category: CategoryId,
        combination: &Combination,
    ) -> Result<Read<Combinations>, Error> {
        self.requests.read_as(&combination.request(category), read_combinations).await
    }
}

shape! { CombinationsWire { combinations, primary_attribute } }

fn read_combinations(read: &mut FieldReader, payload: &str) -> Result<Combinations, BodyError> {
    let wire: CombinationsWire<'_> = object(payload)?;
    let rows = read.list("combinations", wire.combinations);
    Ok(Combinations {
        combinations: rows.into_iter().map(|row| RawJson::new(row.get())).collect(),
        primary_attribute: raw(wire.primary_attribute),
        raw: RawJson::new(payload),
    })
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;
    use crate::{resources::answer::read_single, wire::outward::sent};

    fn number(id: i64) -> AttributeId {
        AttributeId::Number(id)
    }

    fn text(id: &str) -> AttributeId {
        AttributeId::Text(id.into())
    }

    // proves: LST-012, LST-013
    #[test]
    fn attributes_keep_their_order_and_their_values_their_form() {
        let attributes = vec![(number(20), vec![number(2), text("Azul")]), (number(3), vec![text("G")])];
        let first = Combination::new(attributes.clone(), None).unwrap();
        assert_eq!(
            sent(&first.request(CategoryId::new(12))),
            r#"POST /api/categories/12/combine-attributes {"attributes":{"20":[2,"Azul"],"3":["G"]}}"#
        );
        let second = Combination::new(attributes, Some(number(3))).unwrap();
        assert!(sent(&second.request(CategoryId::new(12))).ends_with(r#","primary_attribute_id":3}"#));
    }

    #[test]
    fn what_leaves_no_combination_is_refused() {
        let new = Combination::new;
        assert_eq!(new(vec![], None), Err(Invalid::Missing { field: "attributes" }));
        assert!(new(vec![(number(1), vec![])], None).is_err());
        assert!(new(vec![(number(1), vec![number(1)]), (text("1"), vec![number(2)])], None).is_err());
        assert!(new(vec![(number(1), vec![number(1)])], Some(number(2))).is_err());
    }

    // proves: LST-016
    #[test]
    fn combinations_are_kept_as_they_come_with_the_primary_attribute() {
        let payload =
            r#"{"combinations":[{"20":2,"3":"G"},{"20":"Azul","3":"G"}],"primary_attribute":{"id":20}}"#;
        let read = read_single(payload, FixedOffset::east_opt(0).unwrap(), read_combinations).unwrap().value;
        assert_eq!(
            read.combinations.iter().map(RawJson::as_str).collect::<Vec<_>>(),
            [r#"{"20":2,"3":"G"}"#, r#"{"20":"Azul","3":"G"}"#]
        );
        assert_eq!(read.primary_attribute.unwrap().as_str(), r#"{"id":20}"#);
    }
}
