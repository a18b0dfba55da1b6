//! The images that listings name.

use crate::{
    media::{self, Media, Model},
    products::Catalogue,
};

/// Whether a store has an image.
pub(crate) fn exists(media: &Media, id: u128) -> bool {
    media.get(id).is_some()
}

/// Notes that a listing uses an image, which then cannot be deleted. An image that a product shows already stays the
/// product's.
pub(crate) fn link(media: &mut Media, id: u128, item_id: &str, now: i64) {
    media.link(id, Model::Publication, item_id, now);
}

/// The address of an image in its smallest size.
pub(crate) fn thumbnail(catalogue: &Catalogue, id: u128) -> String {
    media::address(catalogue.image_origin(), id, "thumbnail")
}
