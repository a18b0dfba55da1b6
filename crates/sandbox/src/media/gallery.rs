//! The gallery of a product: up to 6 images, the first of them its thumbnail ("Products, prices, stock" of the
//! document).

use ulid::Ulid;

use super::{Model, retention};
use crate::{
    answer::Answer,
    call::Call,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
    store::Store,
    world::World,
};

/// "Gallery" of the document's limits.
const MOST: usize = 6;

/// POST an image to the end of a product's gallery.
pub(crate) fn add(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let mut catalogue = store.catalogue_mut();
    let id = Ulid::from_string(call.id(0)).map_err(|_| Refusal::NotFound)?;
    let product = catalogue.by_id_mut(id.0).ok_or(Refusal::NotFound)?;
    let image = image_id(call)?;
    let mut media = store.media();
    // The document lists media among the resources that answer 404 when they are absent or another store's.
    let known = media.get(image).ok_or(Refusal::NotFound)?;
    if known.used_by.is_some() {
        return Err(Refusal::Conflict("A imagem já está em uso.".to_owned()));
    }
    if product.gallery.len() >= MOST {
        let message = "A galeria do produto aceita no máximo 6 imagens.";
        return Err(Refusal::Invalid(FieldErrors::one("image_id", message)));
    }
    media.link(image, Model::Product, &id.to_string(), call.now());
    product.gallery.push(image);
    let origin = call.world.storage.origin();
    let answer = Answer::success(false, |json| {
        json.open_object();
        json.key("product_id").ulid(id.0);
        json.key("images").open_array();
        for image in product.gallery.iter().filter_map(|id| media.get(*id)) {
            image.write(json, origin);
        }
        json.close_array();
        json.close_object();
    });
    Ok(answer.with_status(201))
}

/// The image that the body names.
fn image_id(call: &Call) -> Result<u128, Refusal> {
    let fields = request_body::fields(&call.body);
    let (reader, mut errors) = (Reader::new(&fields), FieldErrors::new());
    let text = reader.required_text("image_id", &mut errors);
    let id = text.and_then(|text| Ulid::from_string(text).ok());
    if text.is_some() && id.is_none() {
        reader.note("image_id", "deve ser o identificador de uma imagem", &mut errors);
    }
    errors.or(id.unwrap_or_default().0)
}

/// Takes an image out of a product's gallery: the next takes its place, and the image is loose again.
pub(super) fn take_out(world: &World, store: &Store, product: &str, image: u128) -> bool {
    let taken = {
        let mut catalogue = store.catalogue_mut();
        let Some(slot) = catalogue.slot_of(product) else { return false };
        catalogue.edit(slot, |product, _| {
            let at = product.gallery.iter().position(|other| *other == image).ok_or(())?;
            Ok::<_, ()>(product.gallery.remove(at))
        })
    };
    if taken.is_err() {
        return false;
    }
    store.media().unlink(image, world.clock.seconds());
    retention::remove_later(world, store, image);
    true
}
