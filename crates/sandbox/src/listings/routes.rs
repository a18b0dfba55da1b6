//! The listing routes.

use super::{
    Listing, ListingStatus,
    active::own_of_product,
    body::{self, Form},
    images, rules,
};
use crate::{
    answer::Answer,
    call::Call,
    refusal::{FieldErrors, Refusal},
    route::{Access, Route},
    store::Store,
};

const WRITE: Access = Access::StrictAbility("store_products_write");

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[
    Route::post("/api/items/simulate", simulate).access(WRITE),
    Route::post("/api/items/create", create).access(WRITE),
    Route::put("/api/items/{id}/publish", publish).access(WRITE),
];

/// POST simulate: says whether a listing is ready, and creates nothing.
fn simulate(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let form = body::read(&call.body)?;
    rules::check(&form, &store.catalogue(), &store.media())?;
    Ok(Answer::value(&serde_json::json!({"ready": true, "details": []})))
}

/// POST create: a draft, which may be incomplete but names no image that does not exist.
fn create(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let form = body::read(&call.body)?;
    let images = known_images(store, &form)?;
    let listing = {
        let mut listings = store.listings();
        let listing = drafted(form, &images, listings.next_id(store.id));
        listings.insert(listing.clone());
        listing
    };
    for image in images {
        images::link(&mut store.media(), image, &listing.item_id, call.now());
    }
    Ok(written(call, store, &listing).with_status(201))
}

/// PUT publish: hands a draft to the operators.
fn publish(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let of_product = own_of_product(store, call.id(0));
    let listing = {
        let mut listings = store.listings();
        let status = match (listings.get(call.id(0)), of_product) {
            (Some(listing), _) => listing.status,
            (None, Some(slot)) => listings.of_product(slot),
            (None, None) => return Err(Refusal::NotFound),
        };
        let listing = listings.get_mut(call.id(0)).filter(|listing| listing.status == ListingStatus::Draft);
        let Some(listing) = listing else {
            let message = format!("Transição impossível de {} para pending_review.", status.wire());
            return Err(Refusal::Invalid(FieldErrors::one("status", message)));
        };
        listing.status = ListingStatus::PendingReview;
        listing.clone()
    };
    Ok(written(call, store, &listing))
}

fn known_images(store: &Store, form: &Form) -> Result<Vec<u128>, Refusal> {
    let mut errors = FieldErrors::new();
    let mut images = Vec::new();
    for id in form.image_ids() {
        match ulid::Ulid::from_string(id).ok().filter(|id| images::exists(&store.media(), id.0)) {
            Some(id) => images.push(id.0),
            None => {
                errors.add("images", "Uma das imagens não existe na loja.");
                break;
            }
        }
    }
    errors.or(images)
}

fn drafted(form: Form, images: &[u128], item_id: String) -> Listing {
    let skus = form.variations.into_iter().filter_map(|variation| variation.seller_sku);
    Listing {
        item_id,
        title: form.title,
        status: ListingStatus::Draft,
        category: form.category,
        gtin: form.gtin,
        skus: skus.collect(),
        images: images.to_vec(),
        description: form.raw_content.unwrap_or_default(),
        rejection_reason: None,
    }
}

fn written(call: &Call, store: &Store, listing: &Listing) -> Answer {
    let catalogue = store.catalogue();
    Answer::success(call.options().numbers_as_strings, |json| {
        listing.write(json, (store.id, &store.name), &catalogue);
    })
}
