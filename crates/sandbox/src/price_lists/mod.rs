//! Price lists: named settings of a store, which hold no prices themselves ("Price list" of the document).

pub(crate) mod routes;

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    answer::{Answer, Refusal},
    call::Call,
    control::levers::Lever,
    json::Json,
    orders::vocabulary::{Word, vocabulary},
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
pub(crate) struct PriceLists(Mutex<Book>);

#[derive(Default)]
pub(crate) struct Book {
    /// How many lists were ever made: a list of one store is never one of another.
    last: u64,
    stores: HashMap<u64, Lists>,
}

impl PriceLists {
    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
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

/// The levers of this area. The API has no route that reads the lists, so that a test of a client needs one.
pub(crate) const LEVERS: &[Lever] =
    &[Lever::get("price-lists/{store}", "the price lists of a store, which no route of the API reads", read)];

fn read(call: &Call) -> Result<Answer, Refusal> {
    let store = call.world.store(call.id(0)).ok_or(Refusal::NotFound)?.id;
    let mut book = call.world.price_lists.lock();
    let Lists { enabled, lists } = book.of(store);
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("price_lists_enabled").bool(*enabled);
        json.key("price_lists").open_array();
        for list in lists {
            list.write(json);
        }
        json.close_array();
        json.close_object();
    }))
}
