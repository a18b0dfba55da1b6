//! The listings of a store: those that its products came with, and those that it created.

use super::{ListingStatus, ListingView, codes, images, lowest_price};
use crate::{products::Catalogue, store::Store};

/// The listings that buyers see, those of the first products before the created ones.
pub(crate) fn active(store: &Store) -> Vec<ListingView> {
    let catalogue = store.catalogue();
    let listings = store.listings();
    let of_products = catalogue.listed().iter().copied().filter(|slot| *slot < catalogue.seeded());
    let of_products = of_products.filter(|slot| {
        catalogue.slot(*slot).is_available_for_sale && listings.of_product(*slot) == ListingStatus::Active
    });
    let mut views: Vec<ListingView> = of_products.map(|slot| of_product(store, &catalogue, slot)).collect();
    let created = listings.created.iter().filter(|listing| listing.status == ListingStatus::Active);
    views.extend(created.map(|listing| listing.view(&catalogue)));
    views
}

fn of_product(store: &Store, catalogue: &Catalogue, slot: u32) -> ListingView {
    let product = catalogue.slot(slot);
    ListingView {
        item_id: codes::code_of(store.id, slot),
        title: product.name.to_string(),
        image: product.gallery.first().map(|id| images::thumbnail(catalogue, *id)),
        lowest_price: lowest_price([product]),
    }
}

/// The product whose own listing a code names.
pub(super) fn own_of_product(store: &Store, item_id: &str) -> Option<u32> {
    let catalogue = store.catalogue();
    let slot = codes::product_of(store.id, item_id).filter(|slot| *slot < catalogue.seeded())?;
    catalogue.is_listed(slot).then_some(slot)
}
