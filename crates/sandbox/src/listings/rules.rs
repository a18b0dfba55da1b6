//! The checks of the simulation: what keeps a well-formed listing from being ready.

use std::collections::{BTreeSet, HashSet};

use rust_decimal::Decimal;

use super::{
    body::{Feature, Form, Sheet, Variation},
    images,
};
use crate::{
    categories::{Attribute, Category, Values},
    media::Media,
    money::Milli,
    products::Catalogue,
    refusal::Refusal,
    text::fold,
};

/// Lengths of a GTIN.
const GTIN_DIGITS: [usize; 4] = [8, 12, 13, 14];

/// The only layout that is used.
const LAYOUT: &str = "markdown";

/// The most details of one answer.
const MAX_DETAILS: usize = 200;

/// The findings of the checks; the refusal has the reason of the first one.
#[derive(Debug, Default)]
struct Findings(Vec<(&'static str, String)>);

impl Findings {
    fn add(&mut self, reason: &'static str, detail: impl Into<String>) {
        if self.0.len() < MAX_DETAILS {
            self.0.push((reason, detail.into()));
        }
    }
}

/// Refuses a listing that is not ready, with everything that is wrong with it.
pub(super) fn check(form: &Form, catalogue: &Catalogue, media: &Media) -> Result<(), Refusal> {
    let mut findings = Findings::default();
    match form.category {
        Some(category) if category.is_leaf() => {
            check_features(category, &form.attributes, &mut findings);
            check_variations(category, &form.variations, &mut findings);
        }
        _ => findings.add("INVALID_CATEGORY", "Informe em category_id uma categoria final."),
    }
    check_gtin(form, &mut findings);
    check_description(form, &mut findings);
    for (at, sheet) in form.sheets.iter().enumerate() {
        check_sheet(at, sheet, &mut findings);
    }
    check_skus(&form.variations, catalogue, &mut findings);
    for id in form.image_ids().filter(|id| !is_image(media, id)) {
        findings.add("IMAGE_NOT_FOUND", format!("A imagem {id} não existe na loja."));
    }
    let Some((reason, _)) = findings.0.first() else { return Ok(()) };
    let reason = *reason;
    Err(Refusal::Business { reason, details: findings.0.into_iter().map(|(_, detail)| detail).collect() })
}

impl Form {
    /// The images of the listing, then those of its variations.
    pub(super) fn image_ids(&self) -> impl Iterator<Item = &String> {
        self.images.iter().chain(self.variations.iter().flat_map(|variation| &variation.images))
    }
}

fn is_image(media: &Media, id: &str) -> bool {
    ulid::Ulid::from_string(id).is_ok_and(|id| images::exists(media, id.0))
}

fn check_features(category: &Category, features: &[Feature], findings: &mut Findings) {
    let is_asked = |attribute: &&Attribute| attribute.is_required && !attribute.is_variant;
    for attribute in category.attributes.iter().filter(is_asked) {
        if !features.iter().any(|feature| feature.id == i64::from(attribute.id)) {
            let detail =
                format!("O atributo obrigatório {} ({}) não foi informado.", attribute.name, attribute.id);
            findings.add("REQUIRED_ATTRIBUTE_MISSING", detail);
        }
    }
    for feature in features {
        let id = feature.id;
        match category.attributes.iter().find(|attribute| i64::from(attribute.id) == id) {
            None => findings.add("INVALID_ATTRIBUTE", format!("O atributo {id} não existe na categoria.")),
            Some(attribute) if !is_valued(attribute, feature) => {
                let detail = format!("O valor do atributo {} ({id}) não é válido.", attribute.name);
                findings.add("INVALID_ATTRIBUTE", detail);
            }
            Some(_) => {}
        }
    }
}

/// One of a list by identifier or by text; otherwise a value of the attribute's type.
fn is_valued(attribute: &Attribute, feature: &Feature) -> bool {
    if let Some(value_id) = feature.value_id {
        return attribute.options().any(|(id, _)| i64::from(id) == value_id);
    }
    let Some(value) = feature.value.as_deref() else { return false };
    match attribute.values {
        Values::List(_) => is_option(attribute, value),
        Values::Text => true,
        Values::Number(_) => value.trim().parse::<Decimal>().is_ok(),
        Values::Boolean => matches!(value, "true" | "false"),
    }
}

fn is_option(attribute: &Attribute, value: &str) -> bool {
    attribute.options().any(|(_, name)| fold(name) == fold(value.trim()))
}

/// There is at least one variation. All use the same attributes of the category, among them the required ones, and no
/// two have the same values.
fn check_variations(category: &Category, variations: &[Variation], findings: &mut Findings) {
    const REASON: &str = "INVALID_VARIATIONS";
    let Some(first) = variations.first() else {
        findings.add(REASON, "Informe ao menos uma variação com seller_sku.");
        return;
    };
    let keys =
        |variation: &Variation| -> BTreeSet<i64> { variation.attributes.iter().map(|(id, _)| *id).collect() };
    let mut seen = HashSet::new();
    for (at, variation) in variations.iter().enumerate() {
        let ids = keys(variation);
        if ids.len() != variation.attributes.len() || ids != keys(first) {
            findings.add(
                REASON,
                format!("A variação {at} não usa os mesmos atributos das demais, uma vez cada."),
            );
        }
        for (id, value) in &variation.attributes {
            let mut variants = category.attributes.iter().filter(|attribute| attribute.is_variant);
            if !variants.any(|attribute| i64::from(attribute.id) == *id && is_option(attribute, value)) {
                findings.add(REASON, format!("A variação {at} tem um atributo ou valor inválido: {id}."));
            }
        }
        for attribute in category.attributes.iter().filter(|other| other.is_variant && other.is_required) {
            if !ids.contains(&i64::from(attribute.id)) {
                findings.add(REASON, format!("A variação {at} não informa {}.", attribute.name));
            }
        }
        let mut values: Vec<(i64, String)> =
            variation.attributes.iter().map(|(id, value)| (*id, fold(value.trim()))).collect();
        values.sort();
        if !seen.insert(values) {
            findings.add(REASON, format!("A variação {at} repete os valores de outra."));
        }
    }
}

/// Each SKU once, in the store, with a price and something to sell.
fn check_skus(variations: &[Variation], catalogue: &Catalogue, findings: &mut Findings) {
    let mut seen = HashSet::new();
    for (at, variation) in variations.iter().enumerate() {
        let Some(sku) = variation.seller_sku.as_deref() else {
            findings.add("INVALID_VARIATIONS", format!("A variação {at} não informa seller_sku."));
            continue;
        };
        if !seen.insert(sku) {
            findings.add("INVALID_VARIATIONS", format!("O SKU {sku} aparece em mais de uma variação."));
        }
        let Some(slot) = catalogue.slot_of_sku(sku) else {
            findings.add("SKU_NOT_FOUND", format!("O SKU {sku} não existe na loja."));
            continue;
        };
        let product = catalogue.slot(slot);
        if product.base_price().is_none_or(|price| price <= Milli(0)) {
            findings.add("SKU_WITHOUT_PRICE", format!("O SKU {sku} não tem preço ativo."));
        }
        if product.available() <= Milli(0) && !product.allow_sale_without_stock {
            findings.add("SKU_WITHOUT_STOCK", format!("O SKU {sku} não tem estoque disponível."));
        }
    }
}

fn check_gtin(form: &Form, findings: &mut Findings) {
    let Some(gtin) = &form.gtin else { return };
    let is_number = gtin.value.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || !GTIN_DIGITS.contains(&gtin.value.len()) {
        findings.add("INVALID_GTIN", "O GTIN deve ter 8, 12, 13 ou 14 dígitos.");
    }
}

fn check_description(form: &Form, findings: &mut Findings) {
    if form.layout.as_deref() != Some(LAYOUT) {
        findings.add("INVALID_DESCRIPTION", "description.layout é obrigatório e deve ser markdown.");
    }
    if form.raw_content.is_none() {
        findings.add("INVALID_DESCRIPTION", "description.raw_content é obrigatório.");
    }
}

/// Type, title, and at least one line; no two lines share their key or their place.
fn check_sheet(at: usize, sheet: &Sheet, findings: &mut Findings) {
    let mut wrong = |problem: &str| {
        findings.add("INVALID_TECHNICAL_SHEET", format!("technical_sheets.{at}: {problem}"));
    };
    if sheet.kind.is_none() || sheet.title.is_none() {
        wrong("type e title são obrigatórios.");
    }
    if sheet.items.is_empty() {
        wrong("informe ao menos um item.");
    }
    let complete = |item: &super::body::SheetItem| {
        item.key.is_some() && item.value.is_some() && item.display_order.is_some()
    };
    if !sheet.items.iter().all(complete) {
        wrong("cada item precisa de item_key, item_value e display_order.");
        return;
    }
    let keys: HashSet<_> = sheet.items.iter().map(|item| &item.key).collect();
    let places: HashSet<_> = sheet.items.iter().map(|item| item.display_order).collect();
    if keys.len() < sheet.items.len() || places.len() < sheet.items.len() {
        wrong("item_key e display_order não podem se repetir.");
    }
}
