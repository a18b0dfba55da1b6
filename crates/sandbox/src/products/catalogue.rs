//! The products of one store.

use std::{collections::HashMap, sync::Arc};

use super::{Location, Product, events};
use crate::{event::Event, money::Milli};

/// The products of one store, in the order of their creation.
#[derive(Default)]
pub(crate) struct Catalogue {
    /// Order lines name products by position, so a removed product keeps its slot.
    slots: Vec<Product>,
    /// The slots that are listed, ascending.
    listed: Vec<u32>,
    by_id: HashMap<u128, u32>,
    by_sku: HashMap<Box<str>, u32>,
    /// How many of the slots the store began with; each of those has a listing of its own.
    seeded: u32,
    pub(crate) locations: Vec<Location>,
    store_id: u64,
    /// Where the images of the products are.
    image_origin: Arc<str>,
}

impl Catalogue {
    pub(crate) fn new(store_id: u64, products: Vec<Product>, locations: Vec<Location>) -> Self {
        let listed: Vec<u32> = (0..).take(products.len()).collect();
        let by_id = listed.iter().zip(&products).map(|(slot, product)| (product.id, *slot)).collect();
        let by_sku =
            listed.iter().zip(&products).map(|(slot, product)| (product.sku.clone(), *slot)).collect();
        let seeded = listed.len() as u32;
        let image_origin = Arc::default();
        Self { slots: products, listed, by_id, by_sku, seeded, locations, store_id, image_origin }
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

    /// A product by its identifier, to change it.
    pub(crate) fn by_id_mut(&mut self, id: u128) -> Option<&mut Product> {
        self.slots.get_mut(*self.by_id.get(&id)? as usize)
    }

    /// Whether a product shows this image.
    pub(crate) fn has_in_gallery(&self, image: u128) -> bool {
        self.slots.iter().any(|product| product.gallery.contains(&image))
    }

    /// Sets the origin of the object storage, once it is known.
    pub(crate) fn serve_images_at(&mut self, origin: Arc<str>) {
        self.image_origin = origin;
    }

    pub(crate) fn image_origin(&self) -> &str {
        &self.image_origin
    }

    /// The slots that the store began with.
    pub(crate) fn seeded(&self) -> u32 {
        self.seeded
    }

    /// Whether a slot's product has not been removed.
    pub(crate) fn is_listed(&self, slot: u32) -> bool {
        self.listed.binary_search(&slot).is_ok()
    }

    pub(crate) fn slot_of_id(&self, id: u128) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn slot_of_sku(&self, sku: &str) -> Option<u32> {
        self.by_sku.get(sku).copied()
    }

    /// A product by SKU or by identifier.
    pub(crate) fn slot_of(&self, name: &str) -> Option<u32> {
        self.slot_of_sku(name).or_else(|| self.slot_of_id(ulid::Ulid::from_string(name).ok()?.0))
    }

    /// Adds a product, whose SKU and identifier are new.
    pub(crate) fn insert(&mut self, product: Product) {
        let Ok(slot) = u32::try_from(self.slots.len()) else { return };
        self.by_id.insert(product.id, slot);
        self.by_sku.insert(product.sku.clone(), slot);
        self.slots.push(product);
        self.listed.push(slot);
    }

    /// Changes a product as a whole or, where the change is refused, not at all. Returns the outcome and the events.
    pub(crate) fn edit<T, E>(
        &mut self,
        slot: u32,
        edit: impl FnOnce(&mut Product, &[Location]) -> Result<T, E>,
    ) -> Result<(T, Vec<Event>), E> {
        let before = &mut self.slots[slot as usize];
        let mut after = before.clone();
        let outcome = edit(&mut after, &self.locations)?;
        let events = events::between(before, &after, &self.locations);
        *before = after;
        Ok((outcome, events))
    }

    /// Whether a buyer can order the product: it is visible, has a price, and has stock or needs none ("Stock rules").
    pub(crate) fn can_be_bought(&self, slot: u32) -> bool {
        let product = self.slot(slot);
        let has_price = product.base_price().is_some_and(|price| price > Milli(0));
        let has_stock = product.allow_sale_without_stock || product.available() > Milli(0);
        self.is_listed(slot) && product.is_available_for_sale && has_price && has_stock
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
}
