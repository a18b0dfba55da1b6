//! Price lists: named settings of a store, which hold no prices themselves ("Price list" of the document).

pub(crate) mod control_endpoints;
pub(crate) mod routes;

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};

use crate::{
    json::Json,
    vocabulary::{Word, vocabulary},
};

vocabulary! {
    /// How the prices of a list are informed later.
    Mode {
        Manual = "manual", "Manual", "";
        Auto = "auto", "Automático", "";
    }
}

/// A price list.
#[derive(Clone, Debug)]
pub(crate) struct PriceList {
    id: u64,
    name: String,
    mode: Mode,
    position: u64,
    is_active: bool,
    created_at: i64,
    updated_at: i64,
}

/// The price lists of one store.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// Whether the store uses them at all; switching them off keeps them.
    enabled: bool,
    lists: Vec<PriceList>,
}

/// The price lists of every store, by its identifier.
#[derive(Default)]
pub(crate) struct PriceLists(Mutex<PriceListState>);

#[derive(Default)]
pub(crate) struct PriceListState {
    /// How many lists were ever made: a list of one store is never one of another.
    last: u64,
    stores: HashMap<u64, Lists>,
}

impl PriceLists {
    fn lock(&self) -> MutexGuard<'_, PriceListState> {
        self.0.lock()
    }
}

impl PriceListState {
    fn of(&mut self, store: u64) -> &mut Lists {
        self.stores.entry(store).or_default()
    }
}

impl PriceList {
    fn write(&self, json: &mut Json) {
        json.open_object();
        json.key("id").id(self.id);
        json.key("name").text(&self.name);
        json.key("mode").raw_text(self.mode.wire());
        json.key("position").id(self.position);
        json.key("is_active").bool(self.is_active);
        json.key("created_at").time(self.created_at);
        json.key("updated_at").time(self.updated_at);
        json.close_object();
    }
}
