//! Pictures (`media.upload`): uploads a file, unless the marketplace has it.

use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use serde_json::json;

use super::super::{
    command_context::CommandContext,
    fields::FieldType,
    handler::{CommandHandler, SettleResult},
    images::{Uploaded, no_path},
    services::Services,
};
use crate::{
    Error,
    plan::push::{
        Verdict,
        evidence::{EvidenceKind, read},
        media::{UploadEvidence, settle_upload},
    },
};

/// `media.upload`. The key of its effect is the fingerprint of the file.
pub(super) struct MediaUpload;

impl CommandHandler for MediaUpload {
    fn subject_key(&self, command: &Command) -> String {
        format!("command/{}", command.id)
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[("path", FieldType::Other)])
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<UploadEvidence>())
    }

    fn cost(&self) -> u32 {
        2
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
    let Some(path) = cx.data["path"].as_str() else {
        return Ok(Verdict::Failed(no_path()));
    };
    Ok(match services.images.upload(cx, path).await? {
        Uploaded::Is(id) => Verdict::Done(Some(json!({"image_id": id.as_str()}))),
        Uploaded::Not(verdict) => verdict,
    })
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let evidence: UploadEvidence = read(effect)?;
    Ok(settle_upload(&evidence, &services.images.newest().await?))
}
