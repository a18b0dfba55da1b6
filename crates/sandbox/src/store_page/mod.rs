//! The public page of a store, in BETA ("Store page and rating" of the document).

mod rating;
pub(crate) mod routes;

use ulid::Ulid;

use crate::{
    company,
    json::Json,
    storage::{STORES, Storage},
};

/// The public page of a store.
#[derive(Default)]
pub(crate) struct StorePage {
    short_description: String,
    description: String,
    full_description: String,
    /// `2026-01-31`.
    foundation_date: Option<String>,
    logo: Option<Picture>,
    background: Option<Picture>,
    /// How many pictures were ever uploaded: the next one's identifier is drawn from it.
    uploads: u64,
}

/// An uploaded picture. Its bytes are in the object storage, as they came.
#[derive(Clone, Copy)]
struct Picture {
    id: u128,
    extension: &'static str,
}

/// Which picture of the page.
#[derive(Clone, Copy)]
enum PictureSlot {
    Logo,
    Background,
}

impl StorePage {
    fn slot(&mut self, slot: PictureSlot) -> &mut Option<Picture> {
        match slot {
            PictureSlot::Logo => &mut self.logo,
            PictureSlot::Background => &mut self.background,
        }
    }

    /// Writes the page of a store, by the identifier and the name of the store.
    fn write(&self, json: &mut Json, (store, name): (u64, &str), storage: &Storage) {
        json.open_object();
        json.key("store").open_object();
        json.key("id").id(store);
        json.key("name").text(name);
        json.key("code").raw_text(&company::code(store));
        json.close_object();
        company::write_company(json.key("company"), store, name);
        json.key("short_description").text(&self.short_description);
        json.key("description").text(&self.description);
        json.key("full_description").text(&self.full_description);
        json.key("foundation_date").optional_text(self.foundation_date.as_deref());
        let address = |Picture { id, extension }: Picture| {
            format!("{}{STORES}{}.{extension}", storage.origin(), Ulid(id))
        };
        json.key("logo_url").optional_text(self.logo.map(address).as_deref());
        json.key("background_url").optional_text(self.background.map(address).as_deref());
        json.close_object();
    }
}
