//! The images that listings name.

use crate::{
    media::{self, Model},
    products::Catalogue,
    store::Store,
};

/// Whether a store has an image.
pub(crate) fn exists(store: &Store, id: u128) -> bool {
    store.media().get(id).is_some()
}

/// Notes that an image is used by a listing, which keeps it from being deleted. One that a product shows already stays the
/// product's.
pub(crate) fn link(store: &Store, id: u128, item_id: &str, now: i64) {
    store.media().link(id, Model::Publication, item_id, now);
}

/// The address of an image in its smallest size.
pub(crate) fn thumbnail(catalogue: &Catalogue, id: u128) -> String {
    media::address(catalogue.image_origin(), id, "thumbnail")
}
