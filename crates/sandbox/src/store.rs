//! One store: its identity, its credential, its orders and its products.

use std::{
    collections::{HashSet, VecDeque},
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::{
    auth::{Credential, Credentials, First},
    event::Event,
    labels::Labels,
    listings::Listings,
    media::Media,
    orders::state::Orders,
    people::Person,
    products::Catalogue,
    shipments::Shipments,
    store_page::StorePage,
};

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
    credentials: Mutex<Credentials>,
    /// The features that the platform switched on for the store, such as `sales_force`.
    features: Mutex<Vec<String>>,
    /// How many orders were generated since the start.
    pub(crate) orders_made: AtomicU64,
    /// Hashes of the fetches so far, to find repeats.
    fetched: Mutex<HashSet<u64>>,
    orders: RwLock<Orders>,
    catalogue: RwLock<Catalogue>,
    shipments: Mutex<Shipments>,
    /// The last events of orders and shipments.
    announced: Mutex<VecDeque<Event>>,
    /// Identifier of the store that this one is a sub-store of; 0 stands for none.
    parent: AtomicU64,
    /// Whether the platform prepares paid orders automatically.
    pub(crate) auto_preparation: AtomicBool,
    media: Mutex<Media>,
    labels: Mutex<Labels>,
    page: Mutex<StorePage>,
    listings: Mutex<Listings>,
    /// Whether the store, as a sub-store, takes its products from its parent.
    mirror_mode: AtomicBool,
}

/// The identity of a store.
pub(crate) struct Identity {
    pub(crate) id: u64,
    pub(crate) uid: u128,
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) city: String,
    pub(crate) state: String,
}

/// How many events a store keeps for [`announced_events`](crate::OrdersControl::announced_events).
const KEPT_EVENTS: usize = 1000;
/// The features of a new store.
const FEATURES: [&str; 3] = ["sales_force", "pickup", "production"];

impl Store {
    pub(crate) fn new(
        identity: Identity,
        credential: Credential,
        people: Arc<Vec<Person>>,
        orders: Orders,
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
            credentials: Mutex::new(Credentials::new(credential)),
            features: Mutex::new(FEATURES.map(String::from).to_vec()),
            orders_made: AtomicU64::new(0),
            fetched: Mutex::default(),
            orders: RwLock::new(orders),
            media: Mutex::new(Media::of(&catalogue)),
            catalogue: RwLock::new(catalogue),
            shipments: Mutex::default(),
            announced: Mutex::default(),
            parent: AtomicU64::new(0),
            auto_preparation: AtomicBool::new(false),
            labels: Mutex::default(),
            page: Mutex::default(),
            listings: Mutex::default(),
            mirror_mode: AtomicBool::new(false),
        }
    }

    /// The orders, to read. Where both are locked, orders come before products.
    pub(crate) fn orders(&self) -> RwLockReadGuard<'_, Orders> {
        self.orders.read()
    }

    pub(crate) fn orders_mut(&self) -> RwLockWriteGuard<'_, Orders> {
        self.orders.write()
    }

    /// The products, to read.
    pub(crate) fn catalogue(&self) -> RwLockReadGuard<'_, Catalogue> {
        self.catalogue.read()
    }

    pub(crate) fn catalogue_mut(&self) -> RwLockWriteGuard<'_, Catalogue> {
        self.catalogue.write()
    }

    /// The shipments. Locked after orders and products.
    pub(crate) fn shipments(&self) -> MutexGuard<'_, Shipments> {
        self.shipments.lock()
    }

    /// The images.
    pub(crate) fn media(&self) -> MutexGuard<'_, Media> {
        self.media.lock()
    }

    /// The labels of the shipments.
    pub(crate) fn labels(&self) -> MutexGuard<'_, Labels> {
        self.labels.lock()
    }

    /// The public page.
    pub(crate) fn page(&self) -> MutexGuard<'_, StorePage> {
        self.page.lock()
    }

    /// The listings that the store created. Locked after orders, products and shipments.
    pub(crate) fn listings(&self) -> MutexGuard<'_, Listings> {
        self.listings.lock()
    }

    /// Whether the store is a sub-store in mirror mode.
    pub(crate) fn mirrors_parent(&self) -> bool {
        self.mirror_mode.load(SeqCst)
    }

    pub(crate) fn mirror(&self, active: bool) {
        self.mirror_mode.store(active, SeqCst);
    }

    /// The credential that the store was made with.
    pub(crate) fn credential(&self) -> First<'_> {
        First(self.credentials())
    }

    /// Every credential, which are locked together.
    pub(crate) fn credentials(&self) -> MutexGuard<'_, Credentials> {
        self.credentials.lock()
    }

    /// The features that are switched on.
    pub(crate) fn features(&self) -> MutexGuard<'_, Vec<String>> {
        self.features.lock()
    }

    /// Notes a fetch; whether it is the first of its kind.
    pub(crate) fn first_fetch(&self, hash: u64) -> bool {
        self.fetched.lock().insert(hash)
    }

    pub(crate) fn forget_fetches(&self) {
        self.fetched.lock().clear();
    }

    /// Keeps the newest [`KEPT_EVENTS`] events.
    pub(crate) fn keep_announced(&self, events: &[Event]) {
        let mut kept = self.announced.lock();
        kept.extend(events.iter().cloned());
        let surplus = kept.len().saturating_sub(KEPT_EVENTS);
        kept.drain(..surplus);
    }

    /// The last events of orders and shipments, oldest first.
    pub(crate) fn announced(&self) -> Vec<Event> {
        self.announced.lock().iter().cloned().collect()
    }

    /// The store that this one is a sub-store of.
    pub(crate) fn parent(&self) -> Option<u64> {
        Some(self.parent.load(Relaxed)).filter(|parent| *parent != 0)
    }

    /// Makes this store a sub-store, or independent.
    pub(crate) fn set_parent(&self, parent: Option<u64>) {
        self.parent.store(parent.unwrap_or(0), Relaxed);
    }

    pub(crate) fn access(&self) -> StoreAccess {
        self.access_by(&self.credential())
    }

    /// How to reach the store by one of its credentials.
    pub(crate) fn access_by(&self, credential: &Credential) -> StoreAccess {
        StoreAccess {
            key: self.key.clone(),
            name: self.name.clone(),
            username: credential.username.clone(),
            password: credential.password.clone(),
        }
    }
}
