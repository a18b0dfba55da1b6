//! Moving stock: by the seller's route, and by the orders of buyers.

use std::convert::Infallible;

use super::{Catalogue, Location, Product, StockEntry, edit::alter, news::News, routes};
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    fields::{self, Reader},
    money::Milli,
    query::FieldErrors,
};

/// The most that a location can hold.
pub(super) const MAX_QUANTITY: Milli = Milli(999_999_999_999);

/// What the seller's route does with a quantity.
#[derive(Clone, Copy, Debug)]
enum Move {
    Set,
    Increment,
    Decrement,
}

/// POST a movement ("Stock rules").
pub(super) fn set(call: &Call) -> Result<Answer, Refusal> {
    let body = fields::object(call)?;
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
    routes::show_stock(call)
}

fn position(locations: &[Location], id: Option<i64>) -> Option<u32> {
    let id = u64::try_from(id?).ok()?;
    (0..).zip(locations).find(|(_, location)| location.id == id).map(|(at, _)| at)
}

impl Product {
    fn move_stock(&mut self, location: u32, step: Move, by: Milli) -> Result<(), FieldErrors> {
        let quantity = &mut self.entry_mut(location).quantity;
        let after = match step {
            Move::Set => by,
            Move::Increment => *quantity + by,
            Move::Decrement => *quantity - by,
        };
        let problem = if after < Milli(0) {
            "O estoque do local não pode ficar negativo."
        } else if after > MAX_QUANTITY {
            "O estoque do local ficaria acima do máximo."
        } else {
            *quantity = after;
            return Ok(());
        };
        Err(FieldErrors::one("quantity", problem))
    }

    /// What a location holds; entries stand in the order of the locations.
    fn entry_mut(&mut self, location: u32) -> &mut StockEntry {
        let at = self.stock.partition_point(|entry| entry.location < location);
        if self.stock.get(at).is_none_or(|entry| entry.location != location) {
            self.stock.insert(at, StockEntry { location, quantity: Milli(0), reserved: Milli(0) });
        }
        &mut self.stock[at]
    }
}

impl StockEntry {
    pub(super) fn available(self) -> Milli {
        self.quantity - self.reserved
    }
}

/// What orders do to stock; what there is to tell is for the caller to send once the catalogue is unlocked.
impl Catalogue {
    /// Reserves goods for an order, from the first locations that have any; `None` when there are too few in all.
    pub(crate) fn reserve(&mut self, slot: u32, quantity: Milli) -> Option<Vec<News>> {
        let reserved = self.edit(slot, |product, _| {
            let left = product.spread(quantity, StockEntry::available, |entry, part| entry.reserved += part);
            if left > Milli(0) { Err(()) } else { Ok(()) }
        });
        reserved.ok().map(|((), news)| news)
    }

    /// Takes reserved goods out of the physical stock, at dispatch.
    pub(crate) fn commit(&mut self, slot: u32, quantity: Milli) -> Vec<News> {
        self.end_reservation(slot, quantity, |entry, part| {
            entry.reserved = entry.reserved - part;
            // The seller may have set the stock below what was reserved.
            entry.quantity = (entry.quantity - part).max(Milli(0));
        })
    }

    /// Gives reserved goods back, at a cancellation.
    pub(crate) fn release(&mut self, slot: u32, quantity: Milli) -> Vec<News> {
        self.end_reservation(slot, quantity, |entry, part| entry.reserved = entry.reserved - part)
    }

    fn end_reservation(
        &mut self,
        slot: u32,
        quantity: Milli,
        end: impl Fn(&mut StockEntry, Milli),
    ) -> Vec<News> {
        let ended = self.edit(slot, |product, _| {
            product.spread(quantity, |entry| entry.reserved, end);
            Ok::<_, Infallible>(())
        });
        ended.map_or_else(|never| match never {}, |((), news)| news)
    }
}

impl Product {
    /// Does something with a quantity, location by location, up to what each has of it; what is left over.
    fn spread(
        &mut self,
        quantity: Milli,
        of: impl Fn(StockEntry) -> Milli,
        take: impl Fn(&mut StockEntry, Milli),
    ) -> Milli {
        let mut left = quantity;
        for entry in &mut self.stock {
            let part = of(*entry).min(left).max(Milli(0));
            take(entry, part);
            left = left - part;
        }
        left
    }
}
