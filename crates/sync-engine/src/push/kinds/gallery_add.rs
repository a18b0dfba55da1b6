//! Product gallery (`gallery.add`): adds a picture by its id, or uploads a file first.

use std::time::Duration;

use espelho_api_client::resources::products::gallery::add_request;
use espelho_model::MediaId;
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use serde_json::json;

use super::super::{
    command_context::CommandContext,
    fields::FieldType,
    handler::{CommandHandler, SettleResult},
    images::{Uploaded, no_path},
    journal::ExecutionResult,
    refused::refused,
    services::Services,
};
use crate::{
    Error,
    plan::push::{
        Verdict,
        evidence::{EvidenceKind, read},
        media::{GalleryEvidence, settle_addition},
    },
};

/// `gallery.add`: a picture is read, uploaded and added.
pub(super) struct GalleryAdd;

impl CommandHandler for GalleryAdd {
    fn subject_key(&self, command: &Command) -> String {
        format!("product/{}", command.key)
    }

    fn changes_product(&self) -> bool {
        true
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[("image_id", FieldType::Other), ("path", FieldType::Other)])
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<GalleryEvidence>())
    }

    fn cost(&self) -> u32 {
        4
    }

    fn execute<'a>(
        &'a self,
        services: &'a Services<'a>,
        cx: &'a CommandContext<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Error>> {
        Box::pin(execute(services, cx))
    }

    fn settle<'a>(&'a self, services: &'a Services<'a>, effect: &'a Effect) -> BoxFuture<'a, SettleResult> {
        Box::pin(settle(services, effect))
    }
}

async fn execute(services: &Services<'_>, cx: &CommandContext<'_>) -> Result<Verdict, Error> {
    let Some(product) = services.products.by_sku(&cx.command.key).await? else {
        return services.products.unknown_sku_of_command(&cx.command.key).await;
    };
    if let Some(effect) = cx.confirmed("gallery.add") {
        services.products.refresh(&product).await?;
        let added = read::<GalleryEvidence>(effect).ok();
        return Ok(Verdict::Done(added.map(|added| json!({"image_id": added.image}))));
    }
    let uploaded = match (cx.data["image_id"].as_str(), cx.data["path"].as_str()) {
        (Some(id), _) => services.images.reupload_if_expiring(cx, id).await?,
        (None, Some(path)) => services.images.upload(cx, path).await?,
        (None, None) => return Ok(Verdict::Failed(no_path())),
    };
    let image = match uploaded {
        Uploaded::Is(id) => id,
        Uploaded::Not(verdict) => return Ok(verdict),
    };
    let result = json!({"image_id": image.as_str()});
    if is_in_gallery(services, &image, product.as_str()).await? {
        return Ok(Verdict::Done(Some(result)));
    }
    let request = add_request(&product, &image);
    let evidence = GalleryEvidence { image: image.as_str().to_owned(), product: product.as_str().to_owned() };
    match services.journal.execute_once(cx.effect(&request, &evidence), &cx.intent(), &request).await? {
        ExecutionResult::Applied(_) => Ok(Verdict::Done(Some(result))),
        ExecutionResult::Refused(error) => refused(error),
        ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
    }
}

async fn is_in_gallery(services: &Services<'_>, image: &MediaId, product: &str) -> Result<bool, Error> {
    match services.client.media().get(image).await {
        Ok(image) => {
            // The answer does not always name the product that uses the picture.
            let is_here = image.value.reference_id.as_deref().is_none_or(|own| own == product);
            Ok(image.value.in_use == Some(true) && is_here)
        }
        Err(error) if error.is_absent() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let GalleryEvidence { image, product } = read(effect)?;
    let is_there = is_in_gallery(services, &MediaId::new(image), &product).await?;
    Ok(settle_addition(is_there))
}
