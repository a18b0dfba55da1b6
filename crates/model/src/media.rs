//! Images of the store, as the mirror stores them (API document, "Media image").

use chrono::{DateTime, Utc};

use crate::{MediaId, RawJson};

/// The `reference_model` values of the document.
pub const REFERENCE_MODELS: [&str; 3] = ["product", "publication", "store"];

/// One image. It is unreferenced until something refers to it; unreferenced images are removed after about 72 hours.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; times in UTC")]
pub struct MediaImage {
    pub id: MediaId,
    /// The address of the original, converted to WebP.
    pub original_source: Option<String>,
    pub urls: Vec<ImageVariation>,
    pub in_use: Option<bool>,
    pub reference_id: Option<String>,
    pub reference_model: Option<String>,
    pub created_at: Option<DateTime<Utc>>,
    pub updated_at: Option<DateTime<Utc>>,
    /// The image as received.
    pub raw: RawJson,
}

/// The image in one of its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageVariation {
    /// `thumbnail`, `sm`, `md`, `lg` or `xl`.
    pub name: Option<String>,
    /// Width and height in pixels, such as `135x135`.
    pub size: Option<String>,
    /// The address.
    pub url: Option<String>,
}
