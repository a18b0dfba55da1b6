//! The media routes.

use hyper::body::Bytes;
use image::ImageFormat;
use ulid::Ulid;

use super::{
    Image, Model, Sort,
    form::{self, Accepted},
    gallery, retention,
};
use crate::{
    answer::Answer,
    call::Call,
    paged_list::PagedList,
    query::{self, Page},
    refusal::{FieldErrors, Refusal},
    route::{Access, Route},
    storage::Object,
};

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[
    Route::post("/api/media/upload", upload).slow(),
    Route::get("/api/media", list),
    Route::get("/api/media/{file_hash}", show),
    Route::delete("/api/media/{file_hash}", remove),
    Route::post("/api/products/{id}/gallery", gallery::add)
        .access(Access::StrictAbility("store_products_write")),
];

/// "Media upload" of the document's limits.
const ACCEPTED: Accepted = Accepted {
    formats: &[ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP],
    names: "jpeg, png, webp",
    most: 2 << 20,
};

const DEFAULT_PER_PAGE: usize = 15;
const MAX_PER_PAGE: usize = 100;

/// POST an image.
fn upload(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let (_, bytes) = form::image(&call.content_type, &call.body, &ACCEPTED)?;
    let image = store.media().add(call.options().seed, store.id, call.world.clock.millis());
    // A slice would keep the whole form alive.
    call.world.storage.put(image.id, Object::Upload(Bytes::copy_from_slice(&bytes)));
    retention::remove_later(&call.world, store, image.id);
    Ok(answer(call, &image).with_status(201))
}

/// GET one image.
fn show(call: &Call) -> Result<Answer, Refusal> {
    let media = call.store()?.media();
    let image = media.get(id(call)?).ok_or(Refusal::NotFound)?;
    Ok(answer(call, image))
}

/// DELETE an image that nothing uses.
fn remove(call: &Call) -> Result<Answer, Refusal> {
    let (mut media, id) = (call.store()?.media(), id(call)?);
    if media.get(id).is_none() {
        return Err(Refusal::NotFound);
    }
    if !media.remove_loose(id) {
        return Err(Refusal::Conflict("A imagem está em uso e não pode ser removida.".to_owned()));
    }
    call.world.storage.remove(id);
    Ok(Answer::no_content())
}

fn id(call: &Call) -> Result<u128, Refusal> {
    Ulid::from_string(call.id(0)).map(|id| id.0).map_err(|_| Refusal::NotFound)
}

fn answer(call: &Call, image: &Image) -> Answer {
    Answer::success(false, |json| image.write(json, call.world.storage.origin()))
}

/// GET the listing.
fn list(call: &Call) -> Result<Answer, Refusal> {
    let (options, mut asked) = (call.options(), parse(&call.query)?);
    if options.ignore_page {
        asked.page.number = 1;
    }
    if options.ignore_sort {
        asked.sort = Sort::DEFAULT;
    }
    let media = call.store()?.media();
    let images = media.sorted(|image| asked.passes(image), asked.sort);
    let paged = PagedList {
        shape: options.list_shape,
        numbers_as_strings: options.numbers_as_strings,
        page: asked.page,
        total: images.len(),
        search: None,
        filters: &asked.received,
    };
    Ok(paged.answer(|json| {
        for image in &images[asked.page.range(images.len())] {
            image.write(json, call.world.storage.origin());
        }
    }))
}

/// The query of a listing.
struct Asked {
    page: Page,
    sort: Sort,
    reference: Option<String>,
    model: Option<Model>,
    in_use: Option<bool>,
    received: Vec<(String, String)>,
}

impl Asked {
    fn passes(&self, image: &Image) -> bool {
        let (model, reference) = match &image.used_by {
            Some((model, reference)) => (Some(*model), Some(&**reference)),
            None => (None, None),
        };
        self.in_use.is_none_or(|wanted| wanted == image.used_by.is_some())
            && self.model.is_none_or(|wanted| model == Some(wanted))
            && self.reference.as_deref().is_none_or(|wanted| reference == Some(wanted))
    }

    /// Takes a filter by its name within the brackets; one that the document does not name is passed over.
    fn filter(&mut self, name: &str, value: &str, errors: &mut FieldErrors) {
        match name {
            "reference_id" => self.reference = Some(value.to_owned()),
            "reference_model" => match Model::parse(value) {
                Some(model) => self.model = Some(model),
                None => {
                    let known: Vec<&str> = Model::ALL.iter().map(|model| model.wire()).collect();
                    let message =
                        format!("O filtro reference_model deve ser um destes: {}.", known.join(", "));
                    errors.add("filter.reference_model", message);
                }
            },
            "in_use" => match value {
                "true" => self.in_use = Some(true),
                "false" => self.in_use = Some(false),
                _ => errors.add("filter.in_use", "O filtro in_use deve ser true ou false."),
            },
            _ => return,
        }
        self.received.push((name.to_owned(), value.to_owned()));
    }
}

fn parse(query: &str) -> Result<Asked, Refusal> {
    let mut errors = FieldErrors::new();
    let mut asked = Asked {
        page: Page { number: 1, size: DEFAULT_PER_PAGE },
        sort: Sort::DEFAULT,
        reference: None,
        model: None,
        in_use: None,
        received: Vec::new(),
    };
    for (name, value) in query::pairs(query) {
        if let Some(filter) = name.strip_prefix("filter[").and_then(|rest| rest.strip_suffix(']')) {
            asked.filter(filter, &value, &mut errors);
            continue;
        }
        let page = &mut asked.page;
        match &*name {
            "page" => {
                page.number = query::whole("page", &value, usize::MAX, &mut errors).unwrap_or(page.number);
            }
            "per_page" => {
                page.size = query::whole("per_page", &value, MAX_PER_PAGE, &mut errors).unwrap_or(page.size);
            }
            "sort" => match Sort::parse(&value) {
                Some(sort) => asked.sort = sort,
                None => errors.add("sort", "O campo sort selecionado é inválido."),
            },
            _ => {}
        }
    }
    errors.or(asked)
}
