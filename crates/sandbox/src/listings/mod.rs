//! Listings: what a store offers to buyers, from its draft over the operator's review ("Listing status" of the
//! document).
//!
//! The products that a store begins with have a listing each; the others are created through the API.

mod active;
mod body;
pub(crate) mod codes;
mod control;
mod images;
pub(crate) mod routes;
mod rules;
mod write;

use std::collections::HashMap;

pub(crate) use self::{active::active, control::ENDPOINTS};
use crate::{
    categories::Category,
    money::Milli,
    products::{Catalogue, Product},
    vocabulary::{Word, vocabulary},
};

vocabulary! {
    /// The state of a listing.
    ListingStatus {
        Draft = "draft", "Rascunho", "";
        PendingReview = "pending_review", "Em revisão", "";
        Active = "active", "Ativo", "";
        Paused = "paused", "Pausado", "";
        Inactive = "inactive", "Inativo", "";
    }
}

/// A listing that was created through the API.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    /// `<PREFIX>-<13 digits>`.
    pub(crate) item_id: String,
    pub(crate) title: String,
    pub(crate) status: ListingStatus,
    pub(crate) category: Option<&'static Category>,
    pub(crate) gtin: Option<Gtin>,
    /// The SKUs of its variations.
    pub(crate) skus: Vec<String>,
    /// The first one stands for the listing.
    pub(crate) images: Vec<u128>,
    /// The plain text of the description.
    pub(crate) description: String,
    /// The reason of the last review's rejection.
    pub(crate) rejection_reason: Option<String>,
}

/// A global trade item number.
#[derive(Clone, Debug)]
pub(crate) struct Gtin {
    pub(crate) kind: i64,
    pub(crate) value: String,
}

/// The listings of one store.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    created: Vec<Listing>,
    by_id: HashMap<String, usize>,
    /// The products' own listings that the platform has taken out of the active ones.
    seeded: HashMap<u32, ListingStatus>,
}

/// Created listings are numbered apart from those of products, which begin at 1,000,000,000,000.
const CREATED: u64 = 5_000_000_000_000;

/// The most listings that one store's numbers hold.
const PER_STORE: u64 = 1_000_000;

impl Listings {
    /// The code of the listing that is created next.
    fn next_id(&self, store: u64) -> String {
        format!("ANU-{:013}", CREATED + store * PER_STORE + self.created.len() as u64 % PER_STORE)
    }

    fn insert(&mut self, listing: Listing) {
        self.by_id.insert(listing.item_id.clone(), self.created.len());
        self.created.push(listing);
    }

    fn get(&self, item_id: &str) -> Option<&Listing> {
        self.by_id.get(item_id).map(|at| &self.created[*at])
    }

    fn get_mut(&mut self, item_id: &str) -> Option<&mut Listing> {
        self.by_id.get(item_id).map(|at| &mut self.created[*at])
    }

    /// The state of a product's own listing.
    fn of_product(&self, slot: u32) -> ListingStatus {
        self.seeded.get(&slot).copied().unwrap_or(ListingStatus::Active)
    }
}

/// A listing as a campaign sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListingView {
    pub(crate) item_id: String,
    pub(crate) title: String,
    /// Address of the thumbnail.
    pub(crate) image: Option<String>,
    /// The lowest unit price of its SKUs, wholesale tiers among them.
    pub(crate) lowest_price: Option<Milli>,
}

fn lowest_price<'a>(products: impl IntoIterator<Item = &'a Product>) -> Option<Milli> {
    products.into_iter().flat_map(|product| &product.tiers).map(|tier| tier.value).min()
}

impl Listing {
    fn view(&self, catalogue: &Catalogue) -> ListingView {
        ListingView {
            item_id: self.item_id.clone(),
            title: self.title.clone(),
            image: self.images.first().map(|id| images::thumbnail(catalogue, *id)),
            lowest_price: lowest_price(self.products(catalogue)),
        }
    }

    /// The lowest and the highest base price of its SKUs.
    fn prices(&self, catalogue: &Catalogue) -> Option<(Milli, Milli)> {
        let prices: Vec<Milli> = self.products(catalogue).filter_map(Product::base_price).collect();
        prices.iter().copied().min().zip(prices.iter().copied().max())
    }

    /// The products that its SKUs name; one that was removed since is left out.
    fn products<'a>(&'a self, catalogue: &'a Catalogue) -> impl Iterator<Item = &'a Product> {
        let slots = self.skus.iter().filter_map(|sku| catalogue.slot_of_sku(sku));
        slots.map(|slot| catalogue.slot(slot))
    }
}
