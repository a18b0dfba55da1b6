//! The rules of stock: how the seller moves it, and how the orders of buyers do.

use std::convert::Infallible;

use super::{Catalogue, Product, StockEntry};
use crate::{event::Event, money::Milli, refusal::FieldErrors};

/// The most that a location can hold.
pub(super) const MAX_QUANTITY: Milli = Milli(999_999_999_999);

/// The three ways in which the seller's route applies a quantity.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move {
    Set,
    Increment,
    Decrement,
}

impl Product {
    /// Sets or moves what a location holds, within its limits ("Stock rules").
    pub(super) fn move_stock(&mut self, location: u32, step: Move, by: Milli) -> Result<(), FieldErrors> {
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

    /// The entry of a location; entries stand in the order of the locations.
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

/// What orders do to stock. The caller announces the events once the catalogue is unlocked.
impl Catalogue {
    /// Reserves goods for an order, from the first locations that have any; `None` when there are too few in all.
    pub(crate) fn reserve(&mut self, slot: u32, quantity: Milli) -> Option<Vec<Event>> {
        let reserved = self.edit(slot, |product, _| {
            let left = product.spread(quantity, StockEntry::available, |entry, part| entry.reserved += part);
            if left > Milli(0) { Err(()) } else { Ok(()) }
        });
        reserved.ok().map(|((), events)| events)
    }

    /// Takes reserved goods out of the physical stock, at dispatch.
    pub(crate) fn commit(&mut self, slot: u32, quantity: Milli) -> Vec<Event> {
        self.end_reservation(slot, quantity, |entry, part| {
            entry.reserved = entry.reserved - part;
            // The seller may have set the stock below what was reserved.
            entry.quantity = (entry.quantity - part).max(Milli(0));
        })
    }

    /// Gives reserved goods back, at a cancellation.
    pub(crate) fn release(&mut self, slot: u32, quantity: Milli) -> Vec<Event> {
        self.end_reservation(slot, quantity, |entry, part| entry.reserved = entry.reserved - part)
    }

    fn end_reservation(
        &mut self,
        slot: u32,
        quantity: Milli,
        end: impl Fn(&mut StockEntry, Milli),
    ) -> Vec<Event> {
        let ended = self.edit(slot, |product, _| {
            product.spread(quantity, |entry| entry.reserved, end);
            Ok::<_, Infallible>(())
        });
        ended.map_or_else(|never| match never {}, |((), events)| events)
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
