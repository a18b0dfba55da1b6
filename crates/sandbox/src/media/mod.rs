//! Media: the images of a store ("Media image" of the document).

pub(crate) mod control;
pub(crate) mod drawing;
pub(crate) mod form;
pub(crate) mod gallery;
pub(crate) mod picture;
mod retention;
pub(crate) mod routes;

use std::{cmp::Reverse, collections::HashMap};

use ulid::Ulid;

use crate::{
    json::Json,
    products::Catalogue,
    random::Random,
    storage::IMAGES,
    vocabulary::{Word, vocabulary},
};

/// The variations of an image, and the side of the square that each is.
pub(crate) const VARIATIONS: [(&str, u32); 5] =
    [("thumbnail", 135), ("sm", 200), ("md", 400), ("lg", 800), ("xl", 1600)];

/// Keeps the identifiers of uploads apart from everything else that is drawn from a seed.
const TAG: u64 = 0x1A6E;

vocabulary! {
    /// The kinds of thing that an image can belong to.
    Model {
        Product = "product", "Produto", "";
        Publication = "publication", "Anúncio", "";
        Store = "store", "Loja", "";
    }
}

/// An image. Its bytes are in the object storage.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    /// A ULID.
    pub(crate) id: u128,
    /// The kind and the identifier of the thing that uses it.
    pub(crate) used_by: Option<(Model, Box<str>)>,
    pub(crate) created_at: i64,
    /// Also when it was linked or unlinked last.
    pub(crate) updated_at: i64,
}

/// The images of one store.
#[derive(Default)]
pub(crate) struct Media {
    images: HashMap<u128, Image>,
    uploads: u64,
}

impl Media {
    /// The images that the products of a generated or loaded store came with.
    pub(crate) fn of(catalogue: &Catalogue) -> Self {
        let mut media = Self::default();
        for product in catalogue.listed().iter().map(|slot| catalogue.slot(*slot)) {
            for id in &product.gallery {
                // The first 48 bits of a ULID are its milliseconds.
                let born = i64::try_from(id >> 80).unwrap_or_default() / 1000;
                let used_by = Some((Model::Product, Ulid(product.id).to_string().into()));
                media.images.insert(*id, Image { id: *id, used_by, created_at: born, updated_at: born });
            }
        }
        media
    }

    pub(crate) fn get(&self, id: u128) -> Option<&Image> {
        self.images.get(&id)
    }

    /// Adds a loose image; its new identifier is dated `millis`.
    pub(crate) fn add(&mut self, seed: u64, store: u64, millis: i64) -> Image {
        self.uploads += 1;
        let mut random = Random::of(&[seed, store, self.uploads, TAG]);
        let tail = u128::from(random.number()) << 16 | u128::from(random.number() & 0xFFFF);
        let id = u128::from(millis.unsigned_abs() & 0xFFFF_FFFF_FFFF) << 80 | tail;
        let now = millis.div_euclid(1000);
        let image = Image { id, used_by: None, created_at: now, updated_at: now };
        self.images.insert(id, image.clone());
        image
    }

    /// Lets something use an image; false where it is absent or in use already.
    pub(crate) fn link(&mut self, id: u128, model: Model, reference: &str, now: i64) -> bool {
        let Some(image) = self.images.get_mut(&id).filter(|image| image.used_by.is_none()) else {
            return false;
        };
        image.used_by = Some((model, reference.into()));
        image.updated_at = now;
        true
    }

    /// Makes an image loose again; false where it is absent or loose already.
    pub(crate) fn unlink(&mut self, id: u128, now: i64) -> bool {
        let Some(image) = self.images.get_mut(&id).filter(|image| image.used_by.is_some()) else {
            return false;
        };
        image.used_by = None;
        image.updated_at = now;
        true
    }

    /// Removes an image that nothing uses; false where there is none.
    fn remove_loose(&mut self, id: u128) -> bool {
        let is_loose = self.get(id).is_some_and(|image| image.used_by.is_none());
        is_loose && self.images.remove(&id).is_some()
    }

    /// The images that pass a filter, by an instant of theirs; ties stand by identifier.
    fn sorted(&self, passes: impl Fn(&Image) -> bool, sort: Sort) -> Vec<&Image> {
        let mut images: Vec<&Image> = self.images.values().filter(|image| passes(image)).collect();
        match sort.descending {
            true => images.sort_unstable_by_key(|image| Reverse((sort.at(image), image.id))),
            false => images.sort_unstable_by_key(|image| (sort.at(image), image.id)),
        }
        images
    }
}

/// A sort order of the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sort {
    by_update: bool,
    descending: bool,
}

impl Sort {
    /// Newest first.
    const DEFAULT: Self = Self { by_update: false, descending: true };

    fn parse(text: &str) -> Option<Self> {
        let (descending, name) = match text.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, text),
        };
        let by_update = match name {
            "created_at" => false,
            "updated_at" => true,
            _ => return None,
        };
        Some(Self { by_update, descending })
    }

    fn at(self, image: &Image) -> i64 {
        if self.by_update { image.updated_at } else { image.created_at }
    }
}

impl Image {
    pub(crate) fn write(&self, json: &mut Json, origin: &str) {
        json.open_object();
        json.key("id").ulid(self.id);
        json.key("original_source");
        write_url(json, origin, self.id, "original");
        json.key("urls");
        write_variations(json, origin, self.id);
        json.key("in_use").bool(self.used_by.is_some());
        let (model, reference) = match &self.used_by {
            Some((model, reference)) => (Some(model.wire()), Some(&**reference)),
            None => (None, None),
        };
        json.key("reference_id").optional_text(reference);
        json.key("reference_model").optional_text(model);
        json.key("created_at").time(self.created_at);
        json.key("updated_at").time(self.updated_at);
        json.close_object();
    }
}

/// Every variation with `name`, `size` and `url`.
pub(crate) fn write_variations(json: &mut Json, origin: &str, id: u128) {
    json.open_array();
    for (name, side) in VARIATIONS {
        json.open_object();
        json.key("name").raw_text(name);
        json.key("size").raw_text(&format!("{side}x{side}"));
        json.key("url");
        write_url(json, origin, id, name);
        json.close_object();
    }
    json.close_array();
}

/// The address of a variation, or of the original.
pub(crate) fn write_url(json: &mut Json, origin: &str, id: u128, name: &str) {
    json.raw_text(&address(origin, id, name));
}

/// The same as text.
pub(crate) fn address(origin: &str, id: u128, name: &str) -> String {
    format!("{origin}{IMAGES}{}/{name}.webp", Ulid(id))
}

/// The side of a variation's square.
pub(crate) fn size_of(variation: &str) -> Option<u32> {
    VARIATIONS.iter().find(|(name, _)| *name == variation).map(|(_, side)| *side)
}
