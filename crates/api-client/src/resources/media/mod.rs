//! Images of the store (API document, "Media"). The marketplace removes an unreferenced image after about 72 hours.

mod image;

use espelho_model::{
    MediaId, RawJson,
    media::{ImageVariation, MediaImage},
    text,
};
use serde_json::value::RawValue;

pub use self::image::{ImageType, PageImage, ProductImage};
use super::{
    Read,
    answer::{Written, unwrapped},
    paging::with_parameters,
};
use crate::{
    ApiRequest, Error, Invalid, RowPage,
    resources::handles::MediaApi,
    wire::{
        envelope::BodyError,
        fields::{FieldReader, object},
        shape,
    },
};

const UPLOAD: &str = "/api/media/upload";
const LIST: &str = "/api/media";
const ONE: &str = "/api/media/{file_hash}";

/// The kind of resource that an image belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the document's own words")]
pub enum ReferenceModel {
    Product,
    Publication,
    Store,
}

impl ReferenceModel {
    /// Returns the document's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Publication => "publication",
            Self::Store => "store",
        }
    }
}

/// The sort order of the images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MediaSort {
    OldestFirst,
    NewestFirst,
    LeastRecentlyChangedFirst,
    MostRecentlyChangedFirst,
}

impl MediaSort {
    fn parameter(self) -> &'static str {
        match self {
            Self::OldestFirst => "created_at",
            Self::NewestFirst => "-created_at",
            Self::LeastRecentlyChangedFirst => "updated_at",
            Self::MostRecentlyChangedFirst => "-updated_at",
        }
    }
}

/// Rows on a page of images: 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaPerPage(u32);

impl MediaPerPage {
    /// Takes the number.
    ///
    /// # Errors
    /// When it is not 1 to 100.
    pub fn new(rows: u32) -> Result<Self, Invalid> {
        match rows {
            1..=100 => Ok(Self(rows)),
            _ => Err(Invalid::value("per_page", rows, text!("value-rule-per-page"))),
        }
    }
}

/// A query for images. `None` leaves a parameter to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediaQuery {
    /// `filter[reference_id]`: the resource that the images belong to.
    pub reference_id: Option<String>,
    /// `filter[reference_model]`: the kind of resource that the images belong to.
    pub reference_model: Option<ReferenceModel>,
    /// `filter[in_use]`: whether something refers to the image.
    pub in_use: Option<bool>,
    /// `sort`.
    pub sort: Option<MediaSort>,
    /// `per_page`, 15 by default.
    pub per_page: Option<MediaPerPage>,
    /// The page, from 1. The document names no parameter for it; `page` is sent for every page but the first.
    pub page: Option<u64>,
}

impl MediaQuery {
    /// Builds the request.
    pub fn request(&self) -> ApiRequest {
        let parameters = [
            ("filter[reference_id]", self.reference_id.clone()),
            ("filter[reference_model]", self.reference_model.map(|model| model.as_str().to_owned())),
            ("filter[in_use]", self.in_use.map(|in_use| in_use.to_string())),
            ("sort", self.sort.map(|sort| sort.parameter().to_owned())),
            ("per_page", self.per_page.map(|rows| rows.0.to_string())),
            ("page", self.page.filter(|page| *page > 1).map(|page| page.to_string())),
        ];
        with_parameters(ApiRequest::get(LIST, &[]), parameters)
    }
}

/// Builds the upload request.
pub fn upload_request(image: &ProductImage) -> ApiRequest {
    ApiRequest::post(UPLOAD, &[]).file(image.file())
}

/// Builds the delete request.
pub fn delete_request(image: &MediaId) -> ApiRequest {
    ApiRequest::delete(ONE, &[image.as_str()])
}

impl MediaApi<'_> {
    /// Uploads an image. It stays unreferenced until something refers to it.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn upload(self, image: &ProductImage) -> Result<Written<MediaImage>, Error> {
        self.requests.write_as(&upload_request(image), image_of).await
    }

    /// Reads a page of the store's images.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn list(self, query: &MediaQuery) -> Result<RowPage<MediaImage>, Error> {
        self.requests.fetch_rows(&query.request(), |read, row| image_of(read, row.get())).await
    }

    /// Reads one image.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn get(self, id: &MediaId) -> Result<Read<MediaImage>, Error> {
        let request = ApiRequest::get(ONE, &[id.as_str()]);
        self.requests.read_as(&request, |read, payload| read_image(read, payload, id)).await
    }

    /// Deletes an image.
    ///
    /// # Errors
    /// As every call; while something refers to the image, a refusal with 409.
    pub async fn delete(self, id: &MediaId) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&delete_request(id)).await
    }
}

shape! { ImageWire {
    image, media, id, original_source, urls, in_use, reference_id, reference_model, created_at, updated_at,
} }
shape! { VariationWire { name, size, url } }

fn read_image(read: &mut FieldReader, payload: &str, asked: &MediaId) -> Result<MediaImage, BodyError> {
    let image = image_of(read, payload).ok_or_else(|| BodyError::shape("an image without id"))?;
    match image.id == *asked {
        true => Ok(image),
        false => Err(BodyError::shape(format!("asked for image {asked}, was given {}", image.id))),
    }
}

fn image_of(read: &mut FieldReader, json: &str) -> Option<MediaImage> {
    let outer: ImageWire<'_> = object(json).ok()?;
    let own = unwrapped(json, outer.id, outer.image.or(outer.media));
    let wire: ImageWire<'_> = object(own).ok()?;
    let variations = read.list("urls", wire.urls);
    Some(MediaImage {
        id: MediaId::new(read.id("id", wire.id)?),
        original_source: read.text("original_source", wire.original_source),
        urls: variations.into_iter().filter_map(|row| read_variation(read, row)).collect(),
        in_use: read.boolean("in_use", wire.in_use),
        reference_id: read.text("reference_id", wire.reference_id),
        reference_model: read.text("reference_model", wire.reference_model),
        created_at: read.time("created_at", wire.created_at),
        updated_at: read.time("updated_at", wire.updated_at),
        raw: RawJson::new(own),
    })
}

/// Reads one size of an image. A product's thumbnail has the same form.
pub(crate) fn read_variation(read: &mut FieldReader, row: &RawValue) -> Option<ImageVariation> {
    let wire: VariationWire<'_> = read.nested("urls[]", Some(row))?;
    Some(ImageVariation {
        name: read.text("urls[].name", wire.name),
        size: read.text("urls[].size", wire.size),
        url: read.text("urls[].url", wire.url),
    })
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        resources::answer::read_single,
        wire::{outward::sent, rows},
    };

    const ID: &str = "01J9Z3K5T7V9X1B3D5F7H9K1M3";

    fn utc() -> FixedOffset {
        FixedOffset::east_opt(0).unwrap()
    }

    fn image() -> Value {
        let sizes = [("thumbnail", 135), ("sm", 200), ("md", 400), ("lg", 800), ("xl", 1600)];
        let urls = sizes.map(|(name, side)| {
            json!({"name": name, "size": format!("{side}x{side}"), "url": format!("https://m.example/{name}.webp")})
        });
        json!({"id": ID, "original_source": "https://m.example/o.webp", "urls": urls, "in_use": true,
            "reference_id": "P1", "reference_model": "product", "created_at": "2026-11-20T12:00:00Z",
            "updated_at": "2026-11-20T12:00:01Z"})
    }

    fn read(payload: &Value) -> Result<Read<MediaImage>, BodyError> {
        read_single(&payload.to_string(), utc(), |read, json| read_image(read, json, &MediaId::new(ID)))
    }

    // proves: MED-014, MED-015, MED-016, MED-017, MED-018, MED-019, MED-020
    #[test]
    fn images_are_filtered_sorted_and_paged_by_the_documented_parameters() {
        assert_eq!(sent(&MediaQuery::default().request()), "GET /api/media");
        let query = MediaQuery {
            reference_id: Some("P1".into()),
            reference_model: Some(ReferenceModel::Publication),
            in_use: Some(false),
            sort: Some(MediaSort::NewestFirst),
            per_page: Some(MediaPerPage::new(100).unwrap()),
            page: Some(2),
        };
        assert_eq!(
            sent(&query.request()),
            "GET /api/media?filter%5Breference_id%5D=P1&filter%5Breference_model%5D=publication\
             &filter%5Bin_use%5D=false&sort=-created_at&per_page=100&page=2"
        );
        let sorts = [
            MediaSort::OldestFirst,
            MediaSort::LeastRecentlyChangedFirst,
            MediaSort::MostRecentlyChangedFirst,
        ];
        assert_eq!(sorts.map(MediaSort::parameter), ["created_at", "updated_at", "-updated_at"]);
        let models = [ReferenceModel::Product, ReferenceModel::Store];
        assert_eq!(models.map(ReferenceModel::as_str), ["product", "store"]);
        for rows in [0, 101] {
            assert!(MediaPerPage::new(rows).is_err(), "{rows}");
        }
    }

    // proves: MED-006, MED-021, MED-024
    #[test]
    fn an_image_is_read_and_deleted_by_its_id() {
        let id = MediaId::new(ID);
        assert_eq!(sent(&delete_request(&id)), format!("DELETE /api/media/{ID}"));
        assert_eq!(
            sent(&delete_request(&MediaId::new("../page/logo"))),
            "DELETE /api/media/..%2Fpage%2Flogo"
        );
    }

    // proves: MED-006, MED-007, MED-008, MED-009, MED-010, MED-011, MED-012, MED-013
    #[test]
    fn an_image_is_read_with_its_five_sizes_and_what_refers_to_it() {
        for payload in [image(), json!({"image": image()}), json!({"media": image()})] {
            let Read { value, unreadable } = read(&payload).unwrap();
            assert_eq!(unreadable, Vec::<&str>::new());
            assert_eq!(value.original_source.as_deref(), Some("https://m.example/o.webp"));
            let sizes: Vec<_> =
                value.urls.iter().map(|u| (u.name.as_deref().unwrap(), u.size.as_deref().unwrap())).collect();
            let documented = [
                ("thumbnail", "135x135"),
                ("sm", "200x200"),
                ("md", "400x400"),
                ("lg", "800x800"),
                ("xl", "1600x1600"),
            ];
            assert_eq!(sizes, documented);
            assert_eq!(value.urls[4].url.as_deref(), Some("https://m.example/xl.webp"));
            assert_eq!((value.in_use, value.reference_id.as_deref()), (Some(true), Some("P1")));
            assert_eq!(value.reference_model.as_deref(), Some("product"));
            assert!(value.created_at.is_some() && value.updated_at > value.created_at);
        }
    }

    // proves: MED-011, MED-012
    #[test]
    fn a_loose_image_belongs_to_nothing() {
        let mut loose = image();
        loose["in_use"] = json!(false);
        loose["reference_id"] = Value::Null;
        loose["reference_model"] = Value::Null;
        let value = read(&loose).unwrap().value;
        assert_eq!((value.in_use, value.reference_id, value.reference_model), (Some(false), None, None));
    }

    #[test]
    fn another_image_is_no_answer_and_a_listing_counts_what_it_cannot_name() {
        let mut other = image();
        other["id"] = json!("01J9Z3K5T7V9X1B3D5F7H9K1M4");
        assert!(read(&other).is_err());
        let body = json!({"data": [image(), {"in_use": true}]}).to_string();
        let page = rows::parse(body.as_bytes(), utc(), |read, row| image_of(read, row.get())).unwrap();
        assert_eq!((page.rows.len(), page.rows_without_id), (1, 1));
    }
}
