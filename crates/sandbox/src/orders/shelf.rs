//! What an order's lines mean for the shelf: goods are reserved, go out, or are let go.

use super::{Line, Order, announce::Told, vocabulary::StockStatus};
use crate::{
    money::Milli,
    products::{Catalogue, News},
    store::Store,
};

/// What one move does to the shelf.
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

/// Moves the goods of lines that changed; `None` stands for a line that is new. The events of the balances come back.
pub(super) fn move_goods(store: &Store, order: &Order, changed: &[(usize, Option<StockStatus>)]) -> Told {
    let mut told = Told::new();
    let mut catalogue = store.catalogue_mut();
    for (at, old) in changed {
        let line = order.lines[*at];
        let Some(effect) = effect(*old, line.stock) else { continue };
        told.extend(move_line(&mut catalogue, line, effect).into_iter().map(|news| (news.event, news.data)));
    }
    told
}

fn move_line(catalogue: &mut Catalogue, line: Line, effect: Effect) -> Vec<News> {
    // A product that was taken away has no shelf any more.
    if !catalogue.is_listed(line.product) {
        return Vec::new();
    }
    let quantity = Milli::whole(i64::from(line.quantity));
    match effect {
        // Who sells without stock has fewer goods to reserve than were bought.
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
    fn the_shelf_reserves_dispatches_and_releases() {
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
