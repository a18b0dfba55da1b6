//! The store page routes.

use hyper::body::Bytes;
use image::ImageFormat;
use serde_json::{Map, Value};

use super::{Picture, Place, StorePage, rating};
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    media::form::{self, Accepted},
    query::FieldErrors,
    route::{Access, Route},
    seed::random::Random,
    storage::Object,
    text,
};

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[
    Route::get("/api/stores/page", show).access(Access::Beta),
    Route::put("/api/stores/page", write).access(Access::Beta),
    Route::post("/api/stores/page/logo", set_logo).access(Access::Beta).slow(),
    Route::delete("/api/stores/page/logo", clear_logo).access(Access::Beta),
    Route::post("/api/stores/page/background", set_background).access(Access::Beta).slow(),
    Route::delete("/api/stores/page/background", clear_background).access(Access::Beta),
    Route::get("/api/stores/rating", rating::summary).access(Access::Beta),
    Route::get("/api/stores/rating/history", rating::history).access(Access::Beta),
];

/// "Logo and background upload" of the document's limits. Its `jpg` is `jpeg` by another name.
const ACCEPTED: Accepted = Accepted {
    formats: &[ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP],
    names: "jpeg, png, jpg, gif, webp",
    most: 5 << 20,
};

/// Keeps the identifiers of uploads apart from everything else that is drawn from a seed.
const TAG: u64 = 0x1060;

/// GET the page.
fn show(call: &Call) -> Result<Answer, Refusal> {
    let (store, page) = (call.store()?, call.store()?.page());
    Ok(answer(call, store, &page))
}

fn answer(call: &Call, store: &crate::store::Store, page: &StorePage) -> Answer {
    Answer::success(false, |json| page.write(json, store, &call.world.storage))
}

/// PUT the texts: what was not sent stays, null clears.
fn write(call: &Call) -> Result<Answer, Refusal> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(&call.body) else {
        return Err(Refusal::Invalid(FieldErrors::one("body", "O corpo deve ser um objeto JSON.")));
    };
    let mut errors = FieldErrors::new();
    let short = text_of(&fields, "short_description", Some(255), &mut errors);
    let description = text_of(&fields, "description", Some(500), &mut errors);
    let full = text_of(&fields, "full_description", None, &mut errors);
    let founded = date_of(&fields, "foundation_date", &mut errors);
    errors.or(())?;
    let store = call.store()?;
    let mut page = store.page();
    let StorePage { short_description, description: plain, full_description, foundation_date, .. } =
        &mut *page;
    for (target, text) in [(short_description, short), (plain, description), (full_description, full)] {
        if let Some(text) = text {
            *target = text;
        }
    }
    if let Some(date) = founded {
        *foundation_date = date;
    }
    Ok(answer(call, store, &page))
}

/// The new text of a field, empty for null; none where it stays as it is.
fn text_of(
    fields: &Map<String, Value>,
    name: &'static str,
    most: Option<usize>,
    errors: &mut FieldErrors,
) -> Option<String> {
    match fields.get(name)? {
        Value::Null => return Some(String::new()),
        Value::String(text) => match most {
            Some(most) if text.chars().count() > most => {
                errors.add(name, format!("O campo {name} não pode ser superior a {most} caracteres."));
            }
            _ => return Some(text.clone()),
        },
        _ => errors.add(name, format!("O campo {name} deve ser um texto.")),
    }
    None
}

/// The new date of a field, none within for null; none where it stays as it is.
fn date_of(
    fields: &Map<String, Value>,
    name: &'static str,
    errors: &mut FieldErrors,
) -> Option<Option<String>> {
    match fields.get(name)? {
        Value::Null => return Some(None),
        Value::String(date) if text::is_date(date) => return Some(Some(date.clone())),
        _ => errors.add(name, format!("O campo {name} deve ser uma data no formato AAAA-MM-DD.")),
    }
    None
}

fn set_logo(call: &Call) -> Result<Answer, Refusal> {
    set(call, Place::Logo)
}

fn set_background(call: &Call) -> Result<Answer, Refusal> {
    set(call, Place::Background)
}

fn clear_logo(call: &Call) -> Result<Answer, Refusal> {
    clear(call, Place::Logo)
}

fn clear_background(call: &Call) -> Result<Answer, Refusal> {
    clear(call, Place::Background)
}

/// POST a picture in the place of the earlier one.
fn set(call: &Call, place: Place) -> Result<Answer, Refusal> {
    let (format, bytes) = form::image(call, &ACCEPTED)?;
    let (extension, content_type) = match format {
        ImageFormat::Jpeg => ("jpg", "image/jpeg"),
        ImageFormat::Gif => ("gif", "image/gif"),
        ImageFormat::WebP => ("webp", "image/webp"),
        _ => ("png", "image/png"),
    };
    let store = call.store()?;
    let mut page = store.page();
    page.uploads += 1;
    let id = Random::of(&[call.options().seed, store.id, page.uploads, TAG]).ulid();
    let file = Object::File { content_type, bytes: Bytes::copy_from_slice(&bytes) };
    call.world.storage.put(id, file);
    if let Some(earlier) = page.place(place).replace(Picture { id, extension }) {
        call.world.storage.remove(earlier.id);
    }
    Ok(answer(call, store, &page))
}

/// DELETE a picture; there need not be one.
fn clear(call: &Call, place: Place) -> Result<Answer, Refusal> {
    if let Some(earlier) = call.store()?.page().place(place).take() {
        call.world.storage.remove(earlier.id);
    }
    Ok(Answer::no_content())
}
