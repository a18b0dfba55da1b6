//! The inputs of a store whose work ended in a panic, or with the process, and the words for those that are set aside.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use espelho_model::{
    StoreKey,
    containment::Panicked,
    sync::Resource,
    text,
    text::{Locale, Text},
};
use espelho_store::{
    Error as StoreError, Failure, InFlight, LeftOver, PANICKED, POISONED, Quarantined, Store,
};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    Problem, Trouble,
    plan::{
        quarantine::{BadEnd, after_bad_end},
        refresh_request::Entity,
    },
    report::failure,
};

/// The resource of parts of the service that panicked, in `sync_failures`.
pub const SERVICE: &str = "service";

/// A kind of input. The words are those of `sync_failures` and `quarantine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A delivery, by the fingerprint of its body.
    Delivery,
    /// An order.
    Order,
    /// A product.
    Product,
    /// A page of a listing.
    Page,
    /// A sweep.
    Sweep,
    /// A label's file.
    Label,
    /// An effect that no row waits for.
    Effect,
    /// A level of the ERP.
    Stock,
    /// The prices of a product.
    Price,
    /// A command.
    Command,
}

impl Input {
    const ALL: [Self; 10] = [
        Self::Delivery,
        Self::Order,
        Self::Product,
        Self::Page,
        Self::Sweep,
        Self::Label,
        Self::Effect,
        Self::Stock,
        Self::Price,
        Self::Command,
    ];

    /// Returns the input of a word.
    fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|input| input.as_str() == word)
    }

    /// Returns the word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delivery => "webhooks",
            Self::Order => "orders",
            Self::Product => "products",
            Self::Page => "pages",
            Self::Sweep => "sweeps",
            Self::Label => "shipment_label",
            Self::Effect => "effects",
            Self::Stock => "stock",
            Self::Price => "price",
            Self::Command => "command",
        }
    }

    /// Returns the word of `espelho errors` and `espelho retry`.
    pub(crate) fn entity(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Product => "product",
            other => other.as_str(),
        }
    }

    /// Returns the input of an entity that is refreshed.
    pub(crate) fn of_entity(entity: &Entity) -> Self {
        match entity {
            Entity::Order(_) => Self::Order,
            Entity::Product(_) => Self::Product,
        }
    }

    /// Returns the input whose detail a pass over a resource reads.
    pub(crate) fn of_resource(resource: Resource) -> Self {
        match resource {
            Resource::Products => Self::Product,
            Resource::Orders => Self::Order,
        }
    }
}

/// The end of an attempt.
#[derive(Debug)]
pub(crate) enum Attempt<T> {
    /// The work ended by itself.
    Ended(T),
    /// It panicked, and is tried once more.
    Panicked(Panicked),
    /// It is set aside: it was not begun, or has just panicked for the last time.
    SetAside(Poison),
}

/// Why an input is set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Poison {
    /// The place in the code; `None` where the process ended without a word.
    pub(crate) place: Option<String>,
}

/// The inputs of a store whose work ended badly.
pub struct Quarantine {
    pub(crate) in_flight: Arc<InFlight>,
    entries: Mutex<HashMap<(Input, String), Quarantined>>,
    /// The inputs that `sync_failures` shows already.
    shown: Mutex<HashSet<(Input, String)>>,
}

impl Quarantine {
    /// Reads the inputs of a store whose work ended badly.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn load(store: &Store, key: &StoreKey, in_flight: Arc<InFlight>) -> Result<Self, StoreError> {
        let entries = store.quarantine().of_store(key).await?;
        let named = |entry: Quarantined| Some(((Input::named(&entry.work)?, entry.key.clone()), entry));
        let entries = Mutex::new(entries.into_iter().filter_map(named).collect());
        Ok(Self { in_flight, entries, shown: Mutex::default() })
    }

    pub(crate) fn entry(&self, input: Input, key: &str) -> Option<Quarantined> {
        let entries = self.entries.lock();
        // Almost always empty.
        (!entries.is_empty()).then(|| entries.get(&(input, key.to_owned())).cloned())?
    }

    pub(crate) fn keep(&self, input: Input, key: &str, entry: Option<Quarantined>) {
        let name = (input, key.to_owned());
        match entry {
            Some(entry) => self.entries.lock().insert(name, entry),
            None => {
                self.shown().remove(&name);
                self.entries.lock().remove(&name)
            }
        };
    }

    pub(crate) fn shown(&self) -> MutexGuard<'_, HashSet<(Input, String)>> {
        self.shown.lock()
    }
}

/// Counts the attempts during which processes ended, and sets aside what ended too many of them.
///
/// # Errors
/// When the database does not answer.
pub async fn count_left_overs(store: &Store, inputs: &[LeftOver]) -> Result<(), StoreError> {
    for LeftOver { store: key, work, key: name, isolation, has_aborted } in inputs {
        let known = store.quarantine().find(key, work, name).await?;
        let attempts = known.as_ref().map_or(0, |known| known.attempts);
        let end = match has_aborted {
            true => BadEnd::Abort(*isolation),
            false => BadEnd::Kill(*isolation),
        };
        let (attempts, is_set_aside) = after_bad_end(attempts, end);
        tracing::warn!(store = %key, work, key = name, attempts, is_set_aside, "a process ended while it worked on this");
        let (store_key, work, key) = (key.clone(), work.clone(), name.clone());
        let entry = Quarantined { store: store_key, work, key, attempts, place: None, is_set_aside };
        store.quarantine().put(&entry).await?;
    }
    Ok(())
}

impl Poison {
    /// Returns the cause and the next step; `row` is the input as the command line takes it.
    pub(crate) fn text(&self) -> Text {
        match &self.place {
            Some(place) => text!("run-poisoned", place = place),
            None => text!("run-poisoned-process"),
        }
    }

    /// Returns the cause and the next step for an input.
    pub(crate) fn text_of(&self, input: Input, key: &str, store: &str) -> Text {
        self.text().with("row", format!("{} {key} --store {store}", input.entity()))
    }

    /// Returns the row of `sync_failures` of an input.
    pub(crate) fn failure(&self, input: Input, key: &str, store: &str, locale: Locale) -> Failure {
        failure(key.to_owned(), POISONED.to_owned(), self.text_of(input, key, store), locale)
    }

    /// Returns the problem of work that is not done because of it.
    pub(crate) fn problem(&self, input: Input, key: &str, store: &str) -> Problem {
        Problem::of(Trouble::Failure, POISONED, self.text_of(input, key, store))
    }
}

/// Returns the problem of work that has panicked and is tried once more.
pub fn panicked_problem(panicked: &Panicked, store: &StoreKey) -> Problem {
    let row = format!("{SERVICE} {} --store {store}", panicked.place);
    let text = text!("run-part-panicked", place = panicked.place.as_str(), row = row);
    Problem::of(Trouble::Failure, PANICKED, text)
}
