//! POST a movement of stock.

use super::{
    Location,
    edit::alter,
    show,
    stock::{MAX_QUANTITY, Move},
};
use crate::{
    answer::Answer,
    call::Call,
    money::Milli,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
};

/// POST a movement ("Stock rules").
pub(super) fn set(call: &Call) -> Result<Answer, Refusal> {
    let body = request_body::object(&call.body)?;
    let (reader, mut errors) = (Reader::new(&body), FieldErrors::new());
    let increment = reader.boolean("increment", &mut errors).unwrap_or(false);
    let decrement = reader.boolean("decrement", &mut errors).unwrap_or(false);
    if increment && decrement {
        return Err(Refusal::BadRequest("Informe increment ou decrement, não ambos.".to_owned()));
    }
    reader.require(&["location_id", "quantity"], &mut errors);
    let location = reader.whole("location_id", 1..=i64::MAX, &mut errors);
    let quantity = reader.amount("quantity", Milli(0)..=MAX_QUANTITY, &mut errors);
    let (location, quantity) = errors.or((location, quantity.unwrap_or_default()))?;
    let step = match (increment, decrement) {
        (true, _) => Move::Increment,
        (_, true) => Move::Decrement,
        _ => Move::Set,
    };
    alter(call, |product, locations| {
        let location = position(locations, location).ok_or_else(|| {
            Refusal::Invalid(FieldErrors::one("location_id", "O local de estoque não existe nesta loja."))
        })?;
        product.move_stock(location, step, quantity).map_err(Refusal::Invalid)
    })?;
    show::show_stock(call)
}

fn position(locations: &[Location], id: Option<i64>) -> Option<u32> {
    let id = u64::try_from(id?).ok()?;
    (0..).zip(locations).find(|(_, location)| location.id == id).map(|(at, _)| at)
}
