//! Creating and changing products.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::{Catalogue, Dimensions, Location, Product, Unit};
use crate::{
    announce::send,
    answer::Answer,
    call::Call,
    money::Milli,
    random::Random,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
    store::Store,
};

/// Prices that a tier can have.
pub(super) const PRICES: RangeInclusive<Milli> = Milli(0)..=Milli(99_999_999_999);

/// Centimetres or kilograms ("Limits").
const DIMENSIONS: RangeInclusive<Milli> = Milli(1)..=Milli(99_999_999);

const MAX_NAME: usize = 255;
const MAX_SKU: usize = 50;

/// Sets the identifiers of created products apart from every other draw.
const CREATED: u64 = 0x5C_0001;

/// POST a product.
pub(super) fn create(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    if store.mirrors_parent() {
        return Err(Refusal::Rule(
            "SUBSTORE_CANNOT_CREATE_SKU",
            "Uma sub-loja em modo espelho não pode criar produtos.".to_owned(),
        ));
    }
    let body = request_body::object(&call.body)?;
    let (reader, mut errors) = (Reader::new(&body), FieldErrors::new());
    reader.require(&["name", "sku", "base_unit"], &mut errors);
    let sku = reader.text("sku", MAX_SKU, &mut errors).unwrap_or_default();
    let changes = Changes::read(&body, &mut errors);
    let mut catalogue = store.catalogue_mut();
    if catalogue.slot_of_sku(sku).is_some() {
        reader.note("sku", "já está em uso nesta loja", &mut errors);
    }
    errors.or(())?;
    let id = identifier(call, store, catalogue.slots());
    let mut product = blank(id, sku);
    changes.apply(&mut product).map_err(Refusal::Invalid)?;
    catalogue.insert(product);
    Ok(written(call, &catalogue, id)?.with_status(201))
}

/// PUT a product: what is not sent stays, and `sku` always does.
pub(super) fn update(call: &Call) -> Result<Answer, Refusal> {
    let body = request_body::object(&call.body)?;
    let mut errors = FieldErrors::new();
    let changes = Changes::read(&body, &mut errors);
    let id = alter(call, |product, _| {
        errors.or(())?;
        changes.apply(product).map_err(Refusal::Invalid)?;
        Ok(product.id)
    })?;
    written(call, &call.store()?.catalogue(), id)
}

/// Changes the product of the path as a whole or not at all, then announces the events.
pub(super) fn alter<T>(
    call: &Call,
    edit: impl FnOnce(&mut Product, &[Location]) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let store = call.store()?;
    let id = ulid::Ulid::from_string(call.id(0)).map_err(|_| Refusal::NotFound)?;
    let (outcome, events) = {
        let mut catalogue = store.catalogue_mut();
        let slot = catalogue.slot_of_id(id.0).ok_or(Refusal::NotFound)?;
        catalogue.edit(slot, edit)?
    };
    send(&call.world, store, events);
    Ok(outcome)
}

/// The fields of a product that were sent. Read-only fields are ignored, so that a client can send back what it read.
struct Changes {
    name: Option<Box<str>>,
    unit: Option<Unit>,
    is_wholesale: Option<bool>,
    is_available_for_sale: Option<bool>,
    is_industrializable: Option<bool>,
    allow_sale_without_stock: Option<bool>,
    auto_wholesale_pricing: Option<bool>,
    dimensions: Option<Option<Dimensions>>,
}

impl Changes {
    fn read(body: &Map<String, Value>, errors: &mut FieldErrors) -> Self {
        let reader = Reader::new(body);
        Self {
            name: reader.text("name", MAX_NAME, errors).map(Into::into),
            unit: word(&reader, "base_unit", Unit::parse, errors),
            is_wholesale: word(&reader, "price_type", is_wholesale, errors),
            is_available_for_sale: reader.boolean("is_available_for_sale", errors),
            is_industrializable: reader.boolean("is_industrializable", errors),
            allow_sale_without_stock: reader.boolean("allow_sale_without_stock", errors),
            auto_wholesale_pricing: reader.boolean("auto_wholesale_pricing", errors),
            dimensions: dimensions(&reader, errors),
        }
    }

    fn apply(self, product: &mut Product) -> Result<(), FieldErrors> {
        let set = |flag: &mut bool, sent: Option<bool>| *flag = sent.unwrap_or(*flag);
        set(&mut product.is_available_for_sale, self.is_available_for_sale);
        set(&mut product.is_industrializable, self.is_industrializable);
        set(&mut product.allow_sale_without_stock, self.allow_sale_without_stock);
        if let Some(name) = self.name {
            product.name = name;
        }
        product.unit = self.unit.unwrap_or(product.unit);
        product.dimensions = self.dimensions.unwrap_or(product.dimensions);
        product.set_pricing(
            self.is_wholesale.unwrap_or(product.is_wholesale),
            self.auto_wholesale_pricing.unwrap_or(product.auto_wholesale_pricing),
        )
    }
}

fn is_wholesale(text: &str) -> Option<bool> {
    match text {
        "default" => Some(false),
        "wholesale" => Some(true),
        _ => None,
    }
}

/// A field with a fixed list of values.
fn word<T>(
    reader: &Reader<'_>,
    name: &str,
    parse: impl FnOnce(&str) -> Option<T>,
    errors: &mut FieldErrors,
) -> Option<T> {
    let word = parse(reader.text(name, MAX_NAME, errors)?);
    if word.is_none() {
        reader.note(name, "tem um valor desconhecido", errors);
    }
    word
}

/// All four measures, or null.
fn dimensions(reader: &Reader<'_>, errors: &mut FieldErrors) -> Option<Option<Dimensions>> {
    if reader.is_null("dimensions") {
        return Some(None);
    }
    let measures = reader.object("dimensions", errors)?;
    measures.require(&["height", "width", "length", "weight"], errors);
    let mut measure = |name| measures.amount(name, DIMENSIONS, errors);
    let (height, width) = (measure("height"), measure("width"));
    let (length, weight) = (measure("length"), measure("weight"));
    Some(Some(Dimensions { height: height?, width: width?, length: length?, weight: weight? }))
}

fn written(call: &Call, catalogue: &Catalogue, id: u128) -> Result<Answer, Refusal> {
    let product = catalogue.by_id(id).ok_or(Refusal::NotFound)?;
    Ok(Answer::success(call.options().numbers_as_strings, |json| product.write(json, catalogue)))
}

/// A ULID of now.
fn identifier(call: &Call, store: &Store, slot: usize) -> u128 {
    let mut random = Random::of(&[call.options().seed, store.id, slot as u64, CREATED]);
    let millis = u128::try_from(call.world.clock.millis()).unwrap_or_default();
    let tail = u128::from(random.number()) << 16 | u128::from(random.number() & 0xFFFF);
    (millis & 0xFFFF_FFFF_FFFF) << 80 | tail
}

/// A product of which only the identity is known.
fn blank(id: u128, sku: &str) -> Product {
    Product {
        id,
        sku: sku.into(),
        name: Box::default(),
        unit: Unit::Un,
        is_available_for_sale: true,
        is_industrializable: false,
        allow_sale_without_stock: false,
        auto_wholesale_pricing: false,
        dimensions: None,
        is_wholesale: false,
        tiers: Vec::new(),
        stock: Vec::new(),
        gallery: Vec::new(),
    }
}
