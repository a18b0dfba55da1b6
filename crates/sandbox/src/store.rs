//! One store: its identity, its credential, its orders and its products.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic::AtomicU64,
    },
};

use crate::{auth::Credential, orders::book::Book, products::Catalogue};

/// How to reach a store through the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreAccess {
    /// The store's name in [`crate::Control`] and on the command line.
    pub key: String,
    /// The name that buyers see.
    pub name: String,
    /// The credential's username, `<store_slug>@<8 characters>`.
    pub username: String,
    /// The credential's password, 20 characters.
    pub password: String,
}

/// A buyer.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) uid: u128,
    pub(crate) name: Box<str>,
    /// The name as a search compares it.
    pub(crate) folded: Box<str>,
    pub(crate) city: Arc<str>,
    pub(crate) state: Arc<str>,
}

impl Person {
    /// The position that a customer identifier stands for: identifiers count from 1.
    pub(crate) fn position(id: &str) -> Option<u32> {
        id.parse::<u32>().ok()?.checked_sub(1)
    }
}

/// One store.
pub(crate) struct Store {
    pub(crate) id: u64,
    pub(crate) uid: u128,
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) city: String,
    pub(crate) state: String,
    /// Buyers, shared by all stores: a person may buy from several.
    pub(crate) people: Arc<Vec<Person>>,
    pub(crate) credential: Mutex<Credential>,
    /// How many orders were generated on demand.
    pub(crate) born: AtomicU64,
    /// Hashes of what was fetched, to tell repeats.
    fetched: Mutex<HashSet<u64>>,
    orders: RwLock<Book>,
    catalogue: RwLock<Catalogue>,
}

/// Who a store is.
pub(crate) struct Identity {
    pub(crate) id: u64,
    pub(crate) uid: u128,
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) city: String,
    pub(crate) state: String,
}

/// Digits of a listing code that name the product; the rest names the store.
const PRODUCTS_PER_STORE: u64 = 1_000_000;

impl Store {
    pub(crate) fn new(
        identity: Identity,
        credential: Credential,
        people: Arc<Vec<Person>>,
        book: Book,
        catalogue: Catalogue,
    ) -> Self {
        let Identity { id, uid, key, name, city, state } = identity;
        Self {
            id,
            uid,
            key,
            name,
            city,
            state,
            people,
            credential: Mutex::new(credential),
            born: AtomicU64::new(0),
            fetched: Mutex::default(),
            orders: RwLock::new(book),
            catalogue: RwLock::new(catalogue),
        }
    }

    /// The orders, to read. Where both are locked, orders come before products.
    pub(crate) fn orders(&self) -> RwLockReadGuard<'_, Book> {
        self.orders.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn orders_mut(&self) -> RwLockWriteGuard<'_, Book> {
        self.orders.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The products, to read.
    pub(crate) fn catalogue(&self) -> RwLockReadGuard<'_, Catalogue> {
        self.catalogue.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn catalogue_mut(&self) -> RwLockWriteGuard<'_, Catalogue> {
        self.catalogue.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn credential(&self) -> MutexGuard<'_, Credential> {
        self.credential.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a fetch; whether it is the first of its kind.
    pub(crate) fn first_fetch(&self, hash: u64) -> bool {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).insert(hash)
    }

    pub(crate) fn forget_fetches(&self) {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The listing code (`item_id`) of a product: prefix and 13 digits.
    pub(crate) fn listing_code(&self, product: u32) -> String {
        format!("ANU-{:013}", 1_000_000_000_000 + self.id * PRODUCTS_PER_STORE + u64::from(product))
    }

    /// The product of a listing code, if it is one of this store.
    pub(crate) fn product_of_listing(&self, code: &str) -> Option<u32> {
        let digits = code.strip_prefix("ANU-").filter(|digits| digits.len() == 13)?;
        let number = digits.parse::<u64>().ok()?.checked_sub(1_000_000_000_000)?;
        let product = u32::try_from(number % PRODUCTS_PER_STORE).ok()?;
        (number / PRODUCTS_PER_STORE == self.id).then_some(product)
    }

    pub(crate) fn access(&self) -> StoreAccess {
        let credential = self.credential();
        StoreAccess {
            key: self.key.clone(),
            name: self.name.clone(),
            username: credential.username.clone(),
            password: credential.password.clone(),
        }
    }
}
