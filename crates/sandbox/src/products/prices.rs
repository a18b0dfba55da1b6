//! Writing price tiers: POST, PUT and DELETE.

use serde_json::{Map, Value};

use super::{
    Product,
    edit::{PRICES, alter},
    tiers::{MEASURES, TierChange},
};
use crate::{
    answer::Answer,
    call::Call,
    money::Milli,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
};

/// The largest quantity that a tier may begin at.
const MAX_QUANTITY: i64 = 1_000_000;

/// Measures are bounded where they count; where they have no effect, any number will do.
const ANY: Milli = Milli(1_000_000_000_000);

/// POST a tier.
pub(super) fn add(call: &Call) -> Result<Answer, Refusal> {
    let body = request_body::object(&call.body)?;
    let mut errors = FieldErrors::new();
    let reader = Reader::new(&body);
    reader.require(&["min_quantity"], &mut errors);
    let min_quantity = reader.whole("min_quantity", 1..=MAX_QUANTITY, &mut errors);
    let change = tier_change(&body, &mut errors);
    let min_quantity = errors.or(min_quantity)?.and_then(|number| u32::try_from(number).ok()).unwrap_or(1);
    let answer = alter(call, |product, _| {
        product.add_tier(min_quantity, &change).map_err(Refusal::Invalid)?;
        tier(call, product, min_quantity)
    })?;
    Ok(answer.with_status(201))
}

/// PUT a tier.
pub(super) fn change(call: &Call) -> Result<Answer, Refusal> {
    let mut errors = FieldErrors::new();
    let body = request_body::object(&call.body)?;
    let change = tier_change(&body, &mut errors);
    alter(call, |product, _| {
        let at = position(call, product)?;
        errors.or(())?;
        product.change_tier(at, &change).map_err(Refusal::Invalid)?;
        tier(call, product, product.tiers[at].min_quantity)
    })
}

/// DELETE a tier.
pub(super) fn remove(call: &Call) -> Result<Answer, Refusal> {
    alter(call, |product, _| {
        let at = position(call, product)?;
        product.remove_tier(at).map_err(Refusal::Invalid)
    })?;
    Ok(Answer::no_content())
}

/// The tier that the path names by its `min_quantity`.
fn position(call: &Call, product: &Product) -> Result<usize, Refusal> {
    let min_quantity = call.id(1).parse::<u32>().ok();
    product.tiers.iter().position(|tier| Some(tier.min_quantity) == min_quantity).ok_or(Refusal::NotFound)
}

fn tier(call: &Call, product: &Product, min_quantity: u32) -> Result<Answer, Refusal> {
    let tier = product.tiers.iter().find(|tier| tier.min_quantity == min_quantity);
    let tier = tier.ok_or(Refusal::NotFound)?;
    Ok(Answer::success(call.options().numbers_as_strings, |json| tier.write(json)))
}

fn tier_change(body: &Map<String, Value>, errors: &mut FieldErrors) -> TierChange {
    let reader = Reader::new(body);
    let mut nullable = |name: &str| match reader.value(name)? {
        Value::Null => Some(None),
        _ => reader.amount(name, Milli(-ANY.0)..=ANY, errors).map(Some),
    };
    let package = MEASURES.map(&mut nullable);
    let discount = nullable("discount_percent");
    TierChange { price: reader.amount("price", PRICES, errors), discount, package }
}
