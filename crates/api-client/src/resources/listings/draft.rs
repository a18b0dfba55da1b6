//! A listing to simulate and create (API document, "Listings (items) and categories"). Only the title is known to be
//! required; the simulation says what else a category requires.
//!
//! A draft is deserialized from the same JSON that is sent, under the same rules, so an intent contains the
//! document's body.

use espelho_model::{CategoryId, MediaId, Sku, text};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::categories::AttributeId;
use crate::{ApiRequest, Invalid, Text};

const SIMULATE: &str = "/api/items/simulate";
const CREATE: &str = "/api/items/create";

/// A listing's title: at most 100 characters.
pub type ListingTitle = Text<100>;

/// A draft of a listing. The same body is simulated and created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct ListingDraft {
    pub title: ListingTitle,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "category_number")]
    pub category_id: Option<CategoryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gtin: Option<Gtin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<DraftAttribute>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<DraftVariation>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "image_ids")]
    pub images: Vec<MediaId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub technical_sheets: Vec<TechnicalSheet>,
}

/// A trade item number of 8, 12, 13 or 14 digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "GtinBody")]
pub struct Gtin {
    /// A number whose meaning the document does not give.
    #[serde(rename = "type")]
    kind: i64,
    value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GtinBody {
    #[serde(rename = "type")]
    kind: i64,
    value: String,
}

/// An attribute of the listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct DraftAttribute {
    pub id: AttributeId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_id: Option<AttributeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// One variation that the listing offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct DraftVariation {
    #[serde(with = "sku_text")]
    pub seller_sku: Sku,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<VariationAttribute>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "image_ids")]
    pub images: Vec<MediaId>,
}

/// An attribute that distinguishes a variation from the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct VariationAttribute {
    pub attribute_id: AttributeId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute_name: Option<String>,
    pub value: String,
}

/// The description, in Markdown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "DescriptionBody")]
pub struct Description {
    layout: Layout,
    raw_content: String,
}

/// The layouts that the document names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Layout {
    Markdown,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescriptionBody {
    layout: Layout,
    raw_content: String,
}

/// A technical sheet: a table of facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct TechnicalSheet {
    #[serde(rename = "type")]
    pub sheet_type: String,
    pub title: String,
    pub items: Vec<SheetItem>,
}

/// One fact of a technical sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct SheetItem {
    pub item_key: String,
    pub item_value: String,
    pub display_order: u32,
}

impl Gtin {
    /// Takes the number.
    ///
    /// # Errors
    /// When it does not have 8, 12, 13 or 14 digits and nothing else.
    pub fn new(kind: i64, digits: impl Into<String>) -> Result<Self, Invalid> {
        let value = digits.into();
        match matches!(value.len(), 8 | 12 | 13 | 14) && value.bytes().all(|b| b.is_ascii_digit()) {
            true => Ok(Self { kind, value }),
            false => Err(Invalid::value("gtin.value", value, text!("value-rule-gtin"))),
        }
    }
}

impl Description {
    /// Takes Markdown, the one layout that the document names.
    ///
    /// # Errors
    /// When it is blank.
    pub fn markdown(raw_content: impl Into<String>) -> Result<Self, Invalid> {
        let raw_content = raw_content.into();
        match raw_content.trim().is_empty() {
            true => Err(Invalid::Missing { field: "description.raw_content" }),
            false => Ok(Self { layout: Layout::Markdown, raw_content }),
        }
    }
}

impl TryFrom<GtinBody> for Gtin {
    type Error = Invalid;

    fn try_from(GtinBody { kind, value }: GtinBody) -> Result<Self, Invalid> {
        Self::new(kind, value)
    }
}

impl TryFrom<DescriptionBody> for Description {
    type Error = Invalid;

    fn try_from(
        DescriptionBody { layout: Layout::Markdown, raw_content }: DescriptionBody,
    ) -> Result<Self, Invalid> {
        Self::markdown(raw_content)
    }
}

impl ListingDraft {
    /// Creates a draft with only a title.
    pub fn new(title: ListingTitle) -> Self {
        Self {
            title,
            category_id: None,
            gtin: None,
            attributes: Vec::new(),
            variations: Vec::new(),
            images: Vec::new(),
            description: None,
            technical_sheets: Vec::new(),
        }
    }

    /// Builds the request that simulates the draft.
    pub fn simulate_request(&self) -> ApiRequest {
        ApiRequest::post(SIMULATE, &[]).json(self)
    }

    /// Builds the request that creates the listing.
    pub fn create_request(&self) -> ApiRequest {
        ApiRequest::post(CREATE, &[]).json(self)
    }
}

/// `images[{id}]`.
mod image_ids {
    use super::{Deserialize, Deserializer, MediaId, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct ImageId {
        id: String,
    }

    pub(super) fn serialize<S: Serializer>(images: &[MediaId], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(images.iter().map(|image| ImageId { id: image.as_str().to_owned() }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<MediaId>, D::Error> {
        let images = Vec::<ImageId>::deserialize(deserializer)?;
        Ok(images.into_iter().map(|image| MediaId::new(image.id)).collect())
    }
}

/// `category_id`, an integer.
mod category_number {
    use super::{CategoryId, Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        id: &Option<CategoryId>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        id.map(CategoryId::as_i64).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<CategoryId>, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map(CategoryId::new))
    }
}

/// `seller_sku`, a text that is not blank.
mod sku_text {
    use super::{Deserialize, Deserializer, Serializer, Sku};
    use serde::de::Error as _;

    pub(super) fn serialize<S: Serializer>(sku: &Sku, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(sku.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Sku, D::Error> {
        match String::deserialize(deserializer)? {
            empty if empty.trim().is_empty() => Err(D::Error::custom("seller_sku is missing")),
            sku => Ok(Sku::new(sku)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::wire::outward::sent;

    fn full() -> ListingDraft {
        let image = || MediaId::new("01J9Z3K5T7V9X1B3D5F7H9K1M3");
        ListingDraft {
            category_id: Some(CategoryId::new(12)),
            gtin: Some(Gtin::new(1, "7891000315507").unwrap()),
            attributes: vec![
                DraftAttribute {
                    id: AttributeId::Number(1),
                    value_id: Some(AttributeId::Number(9)),
                    value: None,
                },
                DraftAttribute {
                    id: AttributeId::Text("b".into()),
                    value_id: None,
                    value: Some("Marca".into()),
                },
            ],
            variations: vec![DraftVariation {
                seller_sku: Sku::new("007"),
                attributes: vec![VariationAttribute {
                    attribute_id: AttributeId::Number(1),
                    attribute_name: Some("Cor".into()),
                    value: "Azul".into(),
                }],
                images: vec![image()],
            }],
            images: vec![image()],
            description: Some(Description::markdown("# Caneca").unwrap()),
            technical_sheets: vec![TechnicalSheet {
                sheet_type: "table".into(),
                title: "Ficha".into(),
                items: vec![SheetItem {
                    item_key: "Volume".into(),
                    item_value: "300 ml".into(),
                    display_order: 1,
                }],
            }],
            ..ListingDraft::new(ListingTitle::new("title", "Caneca azul").unwrap())
        }
    }

    // proves: LST-033, LST-034, LST-035, LST-036, LST-037
    #[test]
    fn a_draft_carries_each_documented_field_in_its_place() {
        let draft = full();
        let image = json!([{"id": "01J9Z3K5T7V9X1B3D5F7H9K1M3"}]);
        let expected = json!({
            "title": "Caneca azul",
            "category_id": 12,
            "gtin": {"type": 1, "value": "7891000315507"},
            "attributes": [{"id": 1, "value_id": 9}, {"id": "b", "value": "Marca"}],
            "variations": [{
                "seller_sku": "007",
                "attributes": [{"attribute_id": 1, "attribute_name": "Cor", "value": "Azul"}],
                "images": image,
            }],
            "images": image,
            "description": {"layout": "markdown", "raw_content": "# Caneca"},
            "technical_sheets": [{"type": "table", "title": "Ficha",
                "items": [{"item_key": "Volume", "item_value": "300 ml", "display_order": 1}]}],
        });
        assert_eq!(draft.create_request().json_body(), Some(expected));
        assert_eq!(draft.create_request().describe(), "POST /api/items/create");
    }

    // proves: LST-017
    #[test]
    fn what_is_simulated_is_what_is_created() {
        let draft = full();
        let body = |request: &ApiRequest| {
            sent(request).split_once(' ').unwrap().1.split_once(' ').unwrap().1.to_owned()
        };
        assert_eq!(body(&draft.simulate_request()), body(&draft.create_request()));
        assert_eq!(draft.simulate_request().describe(), "POST /api/items/simulate");
    }

    // proves: LST-032
    #[test]
    fn a_title_is_all_that_is_needed_and_has_at_most_100_characters() {
        let bare = ListingDraft::new(ListingTitle::new("title", "ç".repeat(100)).unwrap());
        let expected = format!(r#"POST /api/items/create {{"title":"{}"}}"#, "ç".repeat(100));
        assert_eq!(sent(&bare.create_request()), expected);
        assert!(ListingTitle::new("title", "ç".repeat(101)).is_err());
        assert!(ListingTitle::new("title", "").is_err());
        assert_eq!(Description::markdown("\n"), Err(Invalid::Missing { field: "description.raw_content" }));
    }

    #[test]
    fn a_draft_is_read_from_the_body_that_it_is_sent_as_and_under_the_same_rules() {
        let body = serde_json::to_string(&full()).unwrap();
        assert_eq!(serde_json::from_str::<ListingDraft>(&body).unwrap(), full());
        let bare = ListingDraft::new(ListingTitle::new("title", "A").unwrap());
        assert_eq!(
            serde_json::from_str::<ListingDraft>(r#"{"title":"A","category_id":null}"#).unwrap(),
            bare
        );
        for (wrong, word) in [
            (r#"{}"#.to_owned(), "title"),
            (format!(r#"{{"title":"{}"}}"#, "x".repeat(101)), "101 characters"),
            (r#"{"title":"A","titel":"B"}"#.into(), "titel"),
            (r#"{"title":"A","gtin":{"type":1,"value":"123"}}"#.into(), "8, 12, 13 or 14 digits"),
            (r#"{"title":"A","description":{"layout":"html","raw_content":"x"}}"#.into(), "markdown"),
            (r#"{"title":"A","description":{"layout":"markdown","raw_content":" "}}"#.into(), "raw_content"),
            (r#"{"title":"A","variations":[{"seller_sku":""}]}"#.into(), "seller_sku"),
            (r#"{"title":"A","images":["M1"]}"#.into(), "ImageId"),
        ] {
            let error = serde_json::from_str::<ListingDraft>(&wrong).unwrap_err().to_string();
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }

    proptest! {
        // proves: LST-033
        #[test]
        fn a_gtin_has_8_12_13_or_14_digits(text in "[0-9]{0,16}|[0-9a-z ]{13}") {
            let is_good = text.bytes().all(|b| b.is_ascii_digit()) && [8, 12, 13, 14].contains(&text.len());
            prop_assert_eq!(Gtin::new(1, text).is_ok(), is_good);
        }
    }
}
