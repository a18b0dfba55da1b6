//! Images.

use espelho_model::{media::MediaImage, sync::Counts};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{Error, mirror::MirrorWriter};

pub(crate) static IMAGES: Table = Table::new(
    "media_images",
    "media_image",
    Scope::Store,
    "id",
    &["original_source", "in_use", "reference_id", "reference_model", "created_at", "updated_at"],
);

impl MirrorWriter<'_, '_> {
    /// Mirrors images (API document, "Media image"). The addresses of their sizes are in `raw`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn write_media_images(&mut self, images: Vec<MediaImage>) -> Result<Counts, Error> {
        let records = images.into_iter().map(record).collect();
        self.page.tables().write_rows(&IMAGES, None, records).await
    }
}

pub(super) fn record(image: MediaImage) -> Record {
    let values = [
        image.original_source.into(),
        image.in_use.into(),
        image.reference_id.into(),
        image.reference_model.into(),
        image.created_at.into(),
        image.updated_at.into(),
    ];
    Record::new(image.id.into_string(), values, image.raw)
}
