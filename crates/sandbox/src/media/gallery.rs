//! The gallery of a product: up to 6 images, the first of them its thumbnail ("Products, prices, stock" of the document).

use serde_json::Value;
use ulid::Ulid;

use super::Model;
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    query::FieldErrors,
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
    // The document counts media among what is told by 404 when it is absent or another store's.
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
    let message = match call.fields().get("image_id") {
        None | Some(Value::Null) => "O campo image_id é obrigatório.",
        Some(Value::String(text)) if text.is_empty() => "O campo image_id é obrigatório.",
        Some(Value::String(text)) => match Ulid::from_string(text) {
            Ok(id) => return Ok(id.0),
            Err(_) => "O campo image_id deve ser o identificador de uma imagem.",
        },
        Some(_) => "O campo image_id deve ser um texto.",
    };
    Err(Refusal::Invalid(FieldErrors::one("image_id", message)))
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
    world.sweep_image_later(store, image);
    true
}
