//! The orders of one store, with the sorted views that make a deep page as cheap as the first.

use std::{
    cmp::Ordering,
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

use super::{Order, replica::Lag};

/// A column that the listing sorts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    CreatedAt,
    UpdatedAt,
    Number,
    Total,
}

/// A sort order of the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sort {
    pub(crate) column: Column,
    pub(crate) descending: bool,
}

impl Sort {
    /// Newest first.
    pub(crate) const DEFAULT: Self = Self { column: Column::CreatedAt, descending: true };

    const ALL: [Self; 8] = {
        let (up, down) = (false, true);
        [
            Self { column: Column::CreatedAt, descending: up },
            Self { column: Column::CreatedAt, descending: down },
            Self { column: Column::UpdatedAt, descending: up },
            Self { column: Column::UpdatedAt, descending: down },
            Self { column: Column::Number, descending: up },
            Self { column: Column::Number, descending: down },
            Self { column: Column::Total, descending: up },
            Self { column: Column::Total, descending: down },
        ]
    };

    /// Reads `created_at`, `-total_order` and so on.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (descending, name) = match text.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, text),
        };
        let column = match name {
            "created_at" => Column::CreatedAt,
            "updated_at" => Column::UpdatedAt,
            "order_number" => Column::Number,
            "total_order" => Column::Total,
            _ => return None,
        };
        Some(Self { column, descending })
    }

    fn slot(self) -> usize {
        self.column as usize * 2 + usize::from(self.descending)
    }

    /// Ties stand by order number in the same direction, so that a listing has one order only and the newest is first.
    fn compare(self, a: &Order, b: &Order) -> Ordering {
        let by_column = match self.column {
            Column::CreatedAt => a.created_at.cmp(&b.created_at),
            Column::UpdatedAt => a.updated_at.cmp(&b.updated_at),
            Column::Number => a.number.cmp(&b.number),
            Column::Total => a.total().cmp(&b.total()),
        };
        let whole = by_column.then_with(|| a.number.cmp(&b.number));
        if self.descending { whole.reverse() } else { whole }
    }
}

/// A filtered view: the key of its filter, and the slots that pass.
type Selection = (Box<str>, Arc<Vec<u32>>);

/// How many filtered views a store keeps.
const SELECTIONS: usize = 4;

/// The orders of one store.
#[derive(Default)]
pub(crate) struct Orders {
    /// A removed order keeps its slot; `by_number` has the orders that exist.
    slots: Vec<Order>,
    by_number: HashMap<Box<str>, u32>,
    /// The last filtered views, by their query: a client that walks the pages of a filter repeats the query.
    selections: Mutex<Vec<Selection>>,
    /// One view for each sort: built on first use, and kept up to date afterwards.
    views: [OnceLock<Vec<u32>>; 8],
    /// The replica that reading routes show, where it is behind.
    lag: Option<Lag>,
}

impl Orders {
    pub(super) fn lag(&self) -> Option<&Lag> {
        self.lag.as_ref()
    }

    pub(super) fn set_lag(&mut self, lag: Option<Lag>) {
        self.lag = lag;
    }

    /// Keeps an order as it is, for a replica that is behind.
    fn remember(&mut self, number: &str) {
        if self.lag.is_some() {
            let was = self.get(number).cloned();
            self.lag.iter_mut().for_each(|lag| lag.keep(number, was.clone()));
        }
    }

    pub(crate) fn new(orders: Vec<Order>) -> Self {
        let by_number = (0..).zip(&orders).map(|(slot, order)| (order.number.clone(), slot)).collect();
        Self { slots: orders, by_number, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.by_number.len()
    }

    pub(crate) fn get(&self, number: &str) -> Option<&Order> {
        self.by_number.get(number).map(|slot| &self.slots[*slot as usize])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Order> {
        self.by_number.values().map(|slot| &self.slots[*slot as usize])
    }

    /// The order in a slot of a view.
    pub(crate) fn slot(&self, slot: u32) -> &Order {
        &self.slots[slot as usize]
    }

    /// Every order, sorted.
    pub(crate) fn view(&self, sort: Sort) -> &[u32] {
        self.views[sort.slot()].get_or_init(|| {
            let mut view: Vec<u32> = self.by_number.values().copied().collect();
            view.sort_unstable_by(|a, b| sort.compare(self.slot(*a), self.slot(*b)));
            view
        })
    }

    /// The orders that pass a filter, sorted; kept under a key until an order changes.
    pub(crate) fn selection(&self, key: &str, select: impl FnOnce() -> Vec<u32>) -> Arc<Vec<u32>> {
        let mut selections = self.selections.lock();
        if let Some((_, selection)) = selections.iter().find(|(other, _)| **other == *key) {
            return Arc::clone(selection);
        }
        let selection = Arc::new(select());
        selections.truncate(SELECTIONS - 1);
        selections.insert(0, (key.into(), Arc::clone(&selection)));
        selection
    }

    /// Adds an order, in place of one with the same number.
    pub(crate) fn insert(&mut self, order: Order) {
        self.remember(&order.number);
        self.take_out(&order.number);
        let Ok(slot) = u32::try_from(self.slots.len()) else { return };
        self.by_number.insert(order.number.clone(), slot);
        self.slots.push(order);
        self.enlist(slot);
    }

    /// Whether there was such an order.
    pub(crate) fn remove(&mut self, number: &str) -> bool {
        self.remember(number);
        self.take_out(number)
    }

    fn take_out(&mut self, number: &str) -> bool {
        let Some(slot) = self.by_number.remove(number) else { return false };
        self.delist(slot);
        true
    }

    /// Changes an order in place; whether there is such an order.
    pub(crate) fn edit(&mut self, number: &str, edit: impl FnOnce(&mut Order)) -> bool {
        let Some(slot) = self.by_number.get(number).copied() else { return false };
        self.remember(number);
        self.delist(slot);
        edit(&mut self.slots[slot as usize]);
        self.enlist(slot);
        true
    }

    fn delist(&mut self, slot: u32) {
        self.forget_selections();
        for view in self.views.iter_mut().filter_map(OnceLock::get_mut) {
            view.retain(|other| *other != slot);
        }
    }

    fn forget_selections(&mut self) {
        self.selections.get_mut().clear();
    }

    fn enlist(&mut self, slot: u32) {
        self.forget_selections();
        let slots = &self.slots;
        let order = &slots[slot as usize];
        for sort in Sort::ALL {
            if let Some(view) = self.views[sort.slot()].get_mut() {
                let at = view.partition_point(|other| sort.compare(&slots[*other as usize], order).is_lt());
                view.insert(at, slot);
            }
        }
    }
}
