//! What the lines of an order do to the inventory: they reserve goods, dispatch them, or release them.

use super::{Line, Order, vocabulary::StockStatus};
use crate::{event::Event, money::Milli, products::Catalogue};

/// The effect of one changed line on the inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Reserve,
    /// The goods go, and the reservation with them.
    Dispatch,
    Release,
}

fn effect(old: Option<StockStatus>, new: StockStatus) -> Option<Effect> {
    use StockStatus::{Committed, Reserved, SoldReserved};
    let holds = |stock: StockStatus| matches!(stock, Reserved | SoldReserved);
    match (old, new) {
        (Some(old), Committed) if holds(old) => Some(Effect::Dispatch),
        (Some(old), new) if holds(old) && !holds(new) => Some(Effect::Release),
        (Some(old), new) if !holds(old) && holds(new) => Some(Effect::Reserve),
        (None, new) if holds(new) => Some(Effect::Reserve),
        _ => None,
    }
}

/// Moves the goods of lines that changed, and returns the events of the balances. `None` stands for a line that is new.
pub(super) fn move_goods(
    catalogue: &mut Catalogue,
    order: &Order,
    changed: &[(usize, Option<StockStatus>)],
) -> Vec<Event> {
    let mut events = Vec::new();
    for (at, old) in changed {
        let line = order.lines[*at];
        if let Some(effect) = effect(*old, line.stock) {
            events.extend(move_line(catalogue, line, effect));
        }
    }
    events
}

fn move_line(catalogue: &mut Catalogue, line: Line, effect: Effect) -> Vec<Event> {
    // A product that was removed has no inventory any more.
    if !catalogue.is_listed(line.product) {
        return Vec::new();
    }
    let quantity = Milli::whole(i64::from(line.quantity));
    match effect {
        // A store that sells without stock has fewer goods to reserve than were bought.
        Effect::Reserve => {
            let there = catalogue.slot(line.product).available().max(Milli(0));
            catalogue.reserve(line.product, quantity.min(there)).unwrap_or_default()
        }
        Effect::Dispatch => catalogue.commit(line.product, quantity),
        Effect::Release => catalogue.release(line.product, quantity),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inventory_reserves_dispatches_and_releases() {
        use StockStatus::{AwaitingRestock, Committed, Released, Reserved, SoldReserved};
        assert_eq!(effect(None, Reserved), Some(Effect::Reserve));
        assert_eq!(effect(None, AwaitingRestock), None);
        assert_eq!(effect(Some(Reserved), SoldReserved), None);
        assert_eq!(effect(Some(SoldReserved), Committed), Some(Effect::Dispatch));
        assert_eq!(effect(Some(SoldReserved), Released), Some(Effect::Release));
        assert_eq!(effect(Some(SoldReserved), AwaitingRestock), Some(Effect::Release));
        assert_eq!(effect(Some(AwaitingRestock), SoldReserved), Some(Effect::Reserve));
        assert_eq!(effect(Some(AwaitingRestock), Committed), None);
    }
}
