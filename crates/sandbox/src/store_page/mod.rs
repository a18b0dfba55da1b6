//! The public page of a store, in BETA ("Store page and rating" of the document).

mod rating;
pub(crate) mod routes;

use ulid::Ulid;

use crate::{
    json::Json,
    session,
    storage::{STORES, Storage},
    store::Store,
};

/// What a store tells of itself.
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
enum Place {
    Logo,
    Background,
}

impl StorePage {
    fn place(&mut self, place: Place) -> &mut Option<Picture> {
        match place {
            Place::Logo => &mut self.logo,
            Place::Background => &mut self.background,
        }
    }

    fn write(&self, json: &mut Json, store: &Store, storage: &Storage) {
        json.open_object();
        json.key("store").open_object();
        json.key("id").id(store.id);
        json.key("name").text(&store.name);
        json.key("code").raw_text(&session::code(store));
        json.close_object();
        session::write_company(json.key("company"), store);
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
