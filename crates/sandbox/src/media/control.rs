//! Images behind the API's back: the acts of the portal and of the platform.

use serde::Deserialize;
use ulid::Ulid;

use super::{Model, gallery, retention};
use crate::{
    answer::Answer,
    call::Call,
    control::{
        endpoint::{ControlEndpoint, body, control, done},
        handles::MediaControl,
    },
    refusal::Refusal,
};

impl MediaControl<'_> {
    /// Takes an image out of the gallery of a product, named by SKU or identifier.
    ///
    /// The next image becomes the thumbnail; the removed one is loose again.
    pub fn remove_from_gallery(self, store: &str, product: &str, image: &str) -> bool {
        let (Some(store), Ok(image)) = (self.world().store(store), Ulid::from_string(image)) else {
            return false;
        };
        gallery::take_out(self.world(), store, product, image.0)
    }

    /// Links a loose image to a `product`, `publication` or `store`.
    pub fn link(self, store: &str, image: &str, model: &str, reference: &str) -> bool {
        let (Some(store), Ok(image)) = (self.world().store(store), Ulid::from_string(image)) else {
            return false;
        };
        let now = self.world().clock.seconds();
        Model::parse(model).is_some_and(|model| store.media().link(image.0, model, reference, now))
    }

    /// Makes an image loose again that was linked with [`link`](Self::link).
    pub fn unlink(self, store: &str, image: &str) -> bool {
        let (Some(store), Ok(image)) = (self.world().store(store), Ulid::from_string(image)) else {
            return false;
        };
        // An image of a gallery leaves it by the gallery's own control endpoint, which knows the product.
        if store.catalogue().has_in_gallery(image.0) {
            return false;
        }
        let unlinked = store.media().unlink(image.0, self.world().clock.seconds());
        if unlinked {
            retention::remove_later(self.world(), store, image.0);
        }
        unlinked
    }
}

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::delete(
        "gallery/{store}/{product}/{image}",
        "takes an image out of a product's gallery; no body",
        remove_from_gallery,
    ),
    ControlEndpoint::post(
        "media/{store}/{image}/link",
        r#"has something use a loose image: {"reference_model": "publication", "reference_id": "ANU-1000001000001"}"#,
        link,
    ),
    ControlEndpoint::post(
        "media/{store}/{image}/unlink",
        "makes a linked image loose again; no body",
        unlink,
    ),
];

#[derive(Deserialize)]
struct Link {
    reference_model: String,
    reference_id: String,
}

fn remove_from_gallery(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).media().remove_from_gallery(call.id(0), call.id(1), call.id(2)))
}

fn link(call: &Call) -> Result<Answer, Refusal> {
    let Link { reference_model, reference_id } = body(call)?;
    done(control(call).media().link(call.id(0), call.id(1), &reference_model, &reference_id))
}

fn unlink(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).media().unlink(call.id(0), call.id(1)))
}
