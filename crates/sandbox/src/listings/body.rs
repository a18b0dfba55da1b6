//! The body of create and simulate: the form first, which both refuse in the same way.

use serde_json::Value;

use super::Gtin;
use crate::{
    categories,
    categories::Category,
    refusal::{FieldErrors, Refusal},
    request_body,
    request_body::Reader,
};

const MAX_TITLE: usize = 100;
/// Longer than any text of the document, so that a text without a limit has one all the same.
const MAX_TEXT: usize = 50_000;
const MAX_ITEMS: usize = 100;

/// A body whose fields have the documented types. The checks of the simulation report what is missing.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) title: String,
    pub(super) category: Option<&'static Category>,
    pub(super) gtin: Option<Gtin>,
    pub(super) attributes: Vec<Feature>,
    pub(super) variations: Vec<Variation>,
    pub(super) images: Vec<String>,
    pub(super) layout: Option<String>,
    pub(super) raw_content: Option<String>,
    pub(super) sheets: Vec<Sheet>,
}

/// An attribute of the listing: an option of a list, or a free value.
#[derive(Debug)]
pub(super) struct Feature {
    pub(super) id: i64,
    pub(super) value_id: Option<i64>,
    pub(super) value: Option<String>,
}

/// One of the goods of a listing.
#[derive(Debug)]
pub(super) struct Variation {
    pub(super) seller_sku: Option<String>,
    /// Attribute and value.
    pub(super) attributes: Vec<(i64, String)>,
    pub(super) images: Vec<String>,
}

/// A technical sheet.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) kind: Option<String>,
    pub(super) title: Option<String>,
    pub(super) items: Vec<SheetItem>,
}

/// A line of a technical sheet.
#[derive(Debug)]
pub(super) struct SheetItem {
    pub(super) key: Option<String>,
    pub(super) value: Option<String>,
    pub(super) display_order: Option<i64>,
}

/// Reads the body, or says by field what is not of its type.
pub(super) fn read(body: &[u8]) -> Result<Form, Refusal> {
    let body = request_body::object(body)?;
    let (reader, mut errors) = (Reader::new(&body), FieldErrors::new());
    reader.require(&["title"], &mut errors);
    let description = optional_object(&reader, "description", &mut errors);
    let mut described = |name: &str| description.as_ref().and_then(|fields| text(fields, name, &mut errors));
    let (layout, raw_content) = (described("layout"), described("raw_content"));
    let form = Form {
        title: reader.text("title", MAX_TITLE, &mut errors).unwrap_or_default().to_owned(),
        category: category(&reader, &mut errors),
        gtin: gtin(&reader, &mut errors),
        attributes: features(&reader, &mut errors),
        variations: variations(&reader, &mut errors),
        images: images(&reader, &mut errors),
        layout,
        raw_content,
        sheets: sheets(&reader, &mut errors),
    };
    errors.or(form)
}

fn category(reader: &Reader<'_>, errors: &mut FieldErrors) -> Option<&'static Category> {
    let id = reader.whole("category_id", 1..=i64::from(u32::MAX), errors)?;
    let category = u32::try_from(id).ok().and_then(categories::find);
    if category.is_none() {
        reader.note("category_id", "não é uma categoria existente", errors);
    }
    category
}

/// The largest GTIN that is written as a number.
const MAX_GTIN: u64 = 99_999_999_999_999;

/// The value is text or a whole number; how many digits it has is a matter of the checks.
fn gtin(reader: &Reader<'_>, errors: &mut FieldErrors) -> Option<Gtin> {
    let fields = optional_object(reader, "gtin", errors)?;
    fields.require(&["type", "value"], errors);
    let kind = fields.whole("type", 0..=i64::from(i32::MAX), errors);
    let value = match fields.value("value") {
        Some(Value::Number(number)) if number.as_u64().is_some_and(|number| number <= MAX_GTIN) => {
            Some(number.to_string())
        }
        _ => fields.any_text("value", MAX_TEXT, errors).map(str::to_owned),
    };
    Some(Gtin { kind: kind?, value: value? })
}

fn features(reader: &Reader<'_>, errors: &mut FieldErrors) -> Vec<Feature> {
    let features = reader.objects("attributes", MAX_ITEMS, errors);
    let read = features.iter().map(|fields| {
        fields.require(&["id"], errors);
        let id = fields.whole("id", 1..=i64::from(u32::MAX), errors).unwrap_or_default();
        let value_id = if fields.is_null("value_id") {
            None
        } else {
            fields.whole("value_id", 1..=i64::from(u32::MAX), errors)
        };
        let value = match fields.value("value") {
            Some(Value::Null) => None,
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Some(value.to_string()),
            _ => text(fields, "value", errors),
        };
        Feature { id, value_id, value }
    });
    read.collect()
}

fn variations(reader: &Reader<'_>, errors: &mut FieldErrors) -> Vec<Variation> {
    let variations = reader.objects("variations", MAX_ITEMS, errors);
    let read = variations.iter().map(|fields| Variation {
        seller_sku: text(fields, "seller_sku", errors),
        attributes: variation_attributes(fields, errors),
        images: images(fields, errors),
    });
    read.collect()
}

fn variation_attributes(reader: &Reader<'_>, errors: &mut FieldErrors) -> Vec<(i64, String)> {
    let attributes = reader.objects("attributes", MAX_ITEMS, errors);
    let read = attributes.iter().map(|fields| {
        fields.require(&["attribute_id", "value"], errors);
        text(fields, "attribute_name", errors);
        let id = fields.whole("attribute_id", 1..=i64::from(u32::MAX), errors);
        (id.unwrap_or_default(), text(fields, "value", errors).unwrap_or_default())
    });
    read.collect()
}

fn images(reader: &Reader<'_>, errors: &mut FieldErrors) -> Vec<String> {
    let images = reader.objects("images", MAX_ITEMS, errors);
    let read = images.iter().filter_map(|fields| {
        fields.require(&["id"], errors);
        fields.any_text("id", MAX_TEXT, errors).map(str::to_owned)
    });
    read.collect()
}

fn sheets(reader: &Reader<'_>, errors: &mut FieldErrors) -> Vec<Sheet> {
    let sheets = reader.objects("technical_sheets", MAX_ITEMS, errors);
    let read = sheets.iter().map(|fields| Sheet {
        kind: text(fields, "type", errors),
        title: text(fields, "title", errors),
        items: sheet_items(fields, errors),
    });
    read.collect()
}

fn sheet_items(reader: &Reader<'_>, errors: &mut FieldErrors) -> Vec<SheetItem> {
    let items = reader.objects("items", MAX_ITEMS, errors);
    let read = items.iter().map(|fields| SheetItem {
        key: text(fields, "item_key", errors),
        value: text(fields, "item_value", errors),
        display_order: fields.whole("display_order", 0..=i64::from(i32::MAX), errors),
    });
    read.collect()
}

/// A text. A blank one counts as missing, which the checks report.
fn text(reader: &Reader<'_>, name: &str, errors: &mut FieldErrors) -> Option<String> {
    let text = reader.any_text(name, MAX_TEXT, errors);
    text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// An object that may be null.
fn optional_object<'a>(reader: &Reader<'a>, name: &str, errors: &mut FieldErrors) -> Option<Reader<'a>> {
    if reader.is_null(name) { None } else { reader.object(name, errors) }
}
