//! The store page routes.

use hyper::body::Bytes;
use image::ImageFormat;
use serde_json::Value;

use super::{Picture, PictureSlot, StorePage, rating};
use crate::{
    answer::Answer,
    call::Call,
    media::form::{self, Accepted},
    random::Random,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
    route::{Access, Route},
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
    Answer::success(false, |json| page.write(json, (store.id, &store.name), &call.world.storage))
}

/// PUT the texts: what was not sent stays, null clears.
fn write(call: &Call) -> Result<Answer, Refusal> {
    let fields = request_body::object_or(&call.body, "O corpo deve ser um objeto JSON.")?;
    let (fields, mut errors) = (Reader::new(&fields), FieldErrors::new());
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
fn text_of(fields: &Reader<'_>, name: &str, most: Option<usize>, errors: &mut FieldErrors) -> Option<String> {
    match fields.value(name)? {
        Value::Null => return Some(String::new()),
        Value::String(text) => match most {
            Some(most) if text.chars().count() > most => {
                fields.note(name, &format!("não pode ser superior a {most} caracteres"), errors);
            }
            _ => return Some(text.clone()),
        },
        _ => fields.note(name, "deve ser um texto", errors),
    }
    None
}

/// The new date of a field, none within for null; none where it stays as it is.
fn date_of(fields: &Reader<'_>, name: &str, errors: &mut FieldErrors) -> Option<Option<String>> {
    match fields.value(name)? {
        Value::Null => return Some(None),
        Value::String(date) if text::is_date(date) => return Some(Some(date.clone())),
        _ => fields.note(name, "deve ser uma data no formato AAAA-MM-DD", errors),
    }
    None
}

fn set_logo(call: &Call) -> Result<Answer, Refusal> {
    set(call, PictureSlot::Logo)
}

fn set_background(call: &Call) -> Result<Answer, Refusal> {
    set(call, PictureSlot::Background)
}

fn clear_logo(call: &Call) -> Result<Answer, Refusal> {
    clear(call, PictureSlot::Logo)
}

fn clear_background(call: &Call) -> Result<Answer, Refusal> {
    clear(call, PictureSlot::Background)
}

/// POST a picture in the place of the earlier one.
fn set(call: &Call, slot: PictureSlot) -> Result<Answer, Refusal> {
    let (format, bytes) = form::image(&call.content_type, &call.body, &ACCEPTED)?;
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
    if let Some(earlier) = page.slot(slot).replace(Picture { id, extension }) {
        call.world.storage.remove(earlier.id);
    }
    Ok(answer(call, store, &page))
}

/// DELETE a picture; there need not be one.
fn clear(call: &Call, slot: PictureSlot) -> Result<Answer, Refusal> {
    if let Some(earlier) = call.store()?.page().slot(slot).take() {
        call.world.storage.remove(earlier.id);
    }
    Ok(Answer::no_content())
}
