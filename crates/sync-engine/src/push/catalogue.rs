//! Product gallery (`gallery.add`): adds a picture by its id, or uploads a file first.

use std::time::Duration;

use espelho_api_client::{Error as ApiError, resources::products::gallery::add_request};
use espelho_model::MediaId;
use serde_json::json;

use super::{
    Pusher,
    cause::{Cause, refused},
    commands::CommandContext,
    journal::ExecutionResult,
    media::{Uploaded, no_path},
};
use crate::plan::push::{Verdict, media::GalleryEvidence};

impl Pusher<'_> {
    pub(super) async fn add_to_gallery(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        let Some(product) = self.product_of(&cx.command.key).await? else {
            return self.unknown_sku(&cx.command.key).await;
        };
        if cx.confirmed("gallery.add").is_some() {
            self.refresh_product(&product).await?;
            return Ok(Verdict::Done(None));
        }
        let uploaded = match (cx.data["image_id"].as_str(), cx.data["path"].as_str()) {
            (Some(id), _) => self.reupload_if_expiring(cx, id).await?,
            (None, Some(path)) => self.upload(cx, path).await?,
            (None, None) => return Ok(Verdict::Failed(no_path())),
        };
        let image = match uploaded {
            Uploaded::Is(id) => id,
            Uploaded::Not(verdict) => return Ok(verdict),
        };
        let result = json!({"image_id": image.as_str()});
        if self.is_in_gallery(&image, product.as_str()).await? {
            return Ok(Verdict::Done(Some(result)));
        }
        let request = add_request(&product, &image);
        let evidence =
            GalleryEvidence { image: image.as_str().to_owned(), product: product.as_str().to_owned() };
        match self.execute_once(cx.effect(&request, &evidence), &cx.intent(), &request).await? {
            ExecutionResult::Applied(_) => Ok(Verdict::Done(Some(result))),
            ExecutionResult::Refused(error) => refused(error),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    pub(super) async fn is_in_gallery(&self, image: &MediaId, product: &str) -> Result<bool, Cause> {
        match self.client.image(image).await {
            Ok(image) => {
                // The answer does not always name the product that uses the picture.
                let is_here = image.value.reference_id.as_deref().is_none_or(|own| own == product);
                Ok(image.value.in_use == Some(true) && is_here)
            }
            Err(ApiError::Refused { status: 404, .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
