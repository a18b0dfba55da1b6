//! The product routes.

use std::ops::Deref;

use super::{Catalogue, Product, Unit};
use crate::{
    answer::{Answer, Refusal},
    json::Json,
    listing::Frame,
    options::Options,
    query::{self, FieldErrors, Page},
    store::Store,
};

const DEFAULT_PER_PAGE: usize = 15;
const MAX_PER_PAGE: usize = 100;

/// GET the listing.
pub(crate) fn list(store: &Store, options: &Options, query: &str) -> Result<Answer, Refusal> {
    let mut page = page(query).map_err(Refusal::Invalid)?;
    if options.ignore_page {
        page.number = 1;
    }
    let catalogue = store.catalogue();
    let listed = catalogue.listed();
    let frame = Frame {
        shape: options.list_shape,
        numbers_as_strings: options.numbers_as_strings,
        page,
        total: listed.len(),
        search: None,
        filters: &[],
    };
    Ok(frame.answer(|json| {
        for slot in &listed[page.range(listed.len())] {
            catalogue.slot(*slot).write(json);
        }
    }))
}

fn page(query: &str) -> Result<Page, FieldErrors> {
    let mut errors = FieldErrors::new();
    let mut page = Page { number: 1, size: DEFAULT_PER_PAGE };
    for (name, value) in query::pairs(query) {
        match &*name {
            "page" => {
                page.number = query::whole("page", &value, usize::MAX, &mut errors).unwrap_or(page.number);
            }
            "per_page" => {
                page.size = query::whole("per_page", &value, MAX_PER_PAGE, &mut errors).unwrap_or(page.size);
            }
            _ => {}
        }
    }
    if errors.is_empty() { Ok(page) } else { Err(errors) }
}

/// GET `{product, prices, stock}`.
pub(crate) fn show(store: &Store, options: &Options, id: &str) -> Result<Answer, Refusal> {
    with(store, options, id, |json, product, catalogue| {
        json.open_object();
        json.key("product");
        product.write(json);
        json.key("prices");
        product.write_tiers(json);
        json.key("stock");
        product.write_stocks(json, catalogue);
        json.close_object();
    })
}

/// GET the price tiers.
pub(crate) fn prices(store: &Store, options: &Options, id: &str) -> Result<Answer, Refusal> {
    with(store, options, id, |json, product, _| product.write_tiers(json))
}

/// GET the stock.
pub(crate) fn stock(store: &Store, options: &Options, id: &str) -> Result<Answer, Refusal> {
    with(store, options, id, |json, product, catalogue| product.write_stock(json, catalogue))
}

fn with(
    store: &Store,
    options: &Options,
    id: &str,
    data: impl FnOnce(&mut Json, &Product, &Catalogue),
) -> Result<Answer, Refusal> {
    let catalogue = store.catalogue();
    let id = ulid::Ulid::from_string(id).map_err(|_| Refusal::NotFound)?;
    let product = catalogue.by_id(id.0).ok_or(Refusal::NotFound)?;
    Ok(Answer::success(options.numbers_as_strings, |json| data(json, product, catalogue.deref())))
}

/// GET the units.
pub(crate) fn unit_enum() -> Answer {
    Answer::success(false, |json| crate::orders::write_words(json, Unit::ALL))
}
