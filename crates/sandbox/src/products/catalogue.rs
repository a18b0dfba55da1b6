//! The products of one store.

use std::collections::HashMap;

use super::{Location, Product};

/// The products of one store, in the order of their creation.
#[derive(Default)]
pub(crate) struct Catalogue {
    /// Order lines name products by position, so a removed product keeps its slot.
    slots: Vec<Product>,
    /// The slots that are listed, ascending.
    listed: Vec<u32>,
    by_id: HashMap<u128, u32>,
    by_sku: HashMap<Box<str>, u32>,
    pub(crate) locations: Vec<Location>,
    store_id: u64,
}

impl Catalogue {
    pub(crate) fn new(store_id: u64, products: Vec<Product>, locations: Vec<Location>) -> Self {
        let listed: Vec<u32> = (0..).take(products.len()).collect();
        let by_id = listed.iter().zip(&products).map(|(slot, product)| (product.id, *slot)).collect();
        let by_sku =
            listed.iter().zip(&products).map(|(slot, product)| (product.sku.clone(), *slot)).collect();
        Self { slots: products, listed, by_id, by_sku, locations, store_id }
    }

    /// The product in a slot, removed or not.
    pub(crate) fn slot(&self, slot: u32) -> &Product {
        &self.slots[slot as usize]
    }

    /// How many slots there are, those of removed products included.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn listed(&self) -> &[u32] {
        &self.listed
    }

    pub(crate) fn store_id(&self) -> u64 {
        self.store_id
    }

    pub(crate) fn by_id(&self, id: u128) -> Option<&Product> {
        self.by_id.get(&id).map(|slot| self.slot(*slot))
    }

    /// A product by SKU or by identifier, to change it.
    pub(crate) fn find_mut(&mut self, name: &str) -> Option<&mut Product> {
        let slot = self.slot_of(name)?;
        self.slots.get_mut(slot as usize)
    }

    /// Takes a product out of the listing and off its routes; whether it was there.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let Some(slot) = self.slot_of(name) else { return false };
        let product = &self.slots[slot as usize];
        self.by_id.remove(&product.id);
        self.by_sku.remove(&product.sku);
        self.listed.retain(|other| *other != slot);
        true
    }

    fn slot_of(&self, name: &str) -> Option<u32> {
        let by_id = || self.by_id.get(&ulid::Ulid::from_string(name).ok()?.0);
        self.by_sku.get(name).or_else(by_id).copied()
    }
}
