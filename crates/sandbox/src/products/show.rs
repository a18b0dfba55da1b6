//! GET one product, its prices, or its stock.

use std::ops::Deref;

use super::{Catalogue, Product};
use crate::{answer::Answer, call::Call, json::Json, refusal::Refusal};

/// GET `{product, prices, stock}`.
pub(super) fn show(call: &Call) -> Result<Answer, Refusal> {
    with(call, |json, product, catalogue| {
        json.open_object();
        json.key("product");
        product.write(json, catalogue);
        json.key("prices");
        product.write_tiers(json);
        json.key("stock");
        product.write_stocks(json, catalogue);
        json.close_object();
    })
}

/// GET the price tiers.
pub(super) fn show_prices(call: &Call) -> Result<Answer, Refusal> {
    with(call, |json, product, _| product.write_tiers(json))
}

/// GET the stock.
pub(super) fn show_stock(call: &Call) -> Result<Answer, Refusal> {
    with(call, |json, product, catalogue| product.write_stock(json, catalogue))
}

fn with(call: &Call, data: impl FnOnce(&mut Json, &Product, &Catalogue)) -> Result<Answer, Refusal> {
    let (store, options) = (call.store()?, call.options());
    let catalogue = store.catalogue();
    let id = ulid::Ulid::from_string(call.id(0)).map_err(|_| Refusal::NotFound)?;
    let product = catalogue.by_id(id.0).ok_or(Refusal::NotFound)?;
    Ok(Answer::success(options.numbers_as_strings, |json| data(json, product, catalogue.deref())))
}
