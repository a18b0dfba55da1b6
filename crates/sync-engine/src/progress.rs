//! Telling whoever waits how far a run is.

use espelho_model::{StoreKey, sync::Resource};

/// Hears how a run gets on. Calls are frequent and must return at once.
pub trait Progress: Send + Sync {
    /// A resource's pass is about to begin, or to go on after `resumed` rows.
    fn begin(&self, store: &StoreKey, resource: Resource, resumed: u64);
    /// `done` rows of the resource are dealt with, of `total` if the server said how many there are.
    fn advance(&self, store: &StoreKey, resource: Resource, done: u64, total: Option<u64>);
    /// The pass ended.
    fn end(&self, store: &StoreKey, resource: Resource);
}

/// Nobody is watching.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &StoreKey, _: Resource, _: u64) {}
    fn advance(&self, _: &StoreKey, _: Resource, _: u64, _: Option<u64>) {}
    fn end(&self, _: &StoreKey, _: Resource) {}
}
