//! The way of a command that is one request and needs no reading before it.

use std::time::Duration;

use espelho_api_client::{ApiRequest, Invalid};
use espelho_store::NewEffect;
use serde_json::json;

use super::super::{
    command_context::{CommandContext, id_in},
    journal::ExecutionResult,
    refused::refused,
    services::Services,
};
use crate::{
    Error,
    plan::push::{Verdict, invalid},
};

/// Sends a request, unless it is confirmed. Returns the marketplace's answer, or the verdict where there is none.
pub(super) async fn send_once(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    kind: &'static str,
    evidence: Option<String>,
    request: Result<ApiRequest, Invalid>,
) -> Result<Result<String, Verdict>, Error> {
    if let Some(effect) = cx.confirmed(kind) {
        return Ok(Ok(effect.answer.clone().unwrap_or_default()));
    }
    let request = match request {
        Ok(request) => request,
        Err(error) => return Ok(Err(Verdict::Failed(invalid(error.text())))),
    };
    let effect = NewEffect { evidence, ..cx.effect_without_evidence(kind, &request) };
    match services.journal.execute_once(effect, &cx.intent(), &request).await? {
        ExecutionResult::Applied(answer) => Ok(Ok(answer.as_str().to_owned())),
        ExecutionResult::Refused(error) => refused(error).map(Err),
        ExecutionResult::Unknown => Ok(Err(Verdict::RetryAfter(Duration::ZERO))),
    }
}

/// Completes a command with the id in an answer, where it has one.
pub(super) fn done(answer: &str) -> Verdict {
    Verdict::Done(id_in(answer).map(|id| json!({"id": id})))
}
