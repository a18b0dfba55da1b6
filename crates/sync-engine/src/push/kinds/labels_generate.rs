//! Labels (`labels.generate`): has them generated and waits for their files (`label_files`). `plan::push::labels`
//! decides.

use std::time::Duration;

use espelho_api_client::{
    ApiRequest,
    resources::shipments::{LabelPolling, labels::generate_request},
};
use espelho_model::{
    OrderNumber, ProductId,
    shipment::{LabelFormat, Shipment},
    text,
};
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::super::{
    command_context::CommandContext,
    fields::FieldType,
    handler::{CommandHandler, SettleResult},
    journal::ExecutionResult,
    label_files::{fetches, format_off, when_files_are_there},
    refused::refused,
    services::Services,
};
use crate::{
    Error,
    plan::push::{
        Message, Verdict,
        evidence::{EvidenceKind, read},
        invalid,
        labels::{self, Action, Asked, LabelsEvidence, decide, ids, open, wait},
    },
};

/// The fields of a command.
const FIELDS: [(&str, FieldType); 2] = [("format", FieldType::Other), ("regenerate", FieldType::FlagOrNull)];

/// `labels.generate`. Labels are polled until they are generated.
pub(super) struct LabelsGenerate;

impl CommandHandler for LabelsGenerate {
    fn subject_key(&self, command: &Command) -> String {
        format!("order/{}", command.key)
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&FIELDS)
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<LabelsEvidence>())
    }

    fn cost(&self) -> u32 {
        4
    }

    fn planned_request(&self, command: &Command, _: &Value, _: Option<&ProductId>) -> Option<ApiRequest> {
        Some(generate_request(&OrderNumber::new(command.key.clone())))
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
    let number = OrderNumber::new(cx.command.key.clone());
    let desired = match cx.data.get("format").map(|format| format.as_str()) {
        None => None,
        Some(Some(format)) => Some(LabelFormat::new(format)),
        Some(None) if cx.data["format"].is_null() => None,
        Some(None) => {
            let format = cx.data["format"].to_string();
            return Ok(Verdict::Failed(invalid(text!("value-label-format", value = format))));
        }
    };
    if let Some(LabelFormat::Other(word)) = &desired {
        return Ok(Verdict::Failed(invalid(text!("value-label-format", value = word))));
    }
    if let Some(format) = desired.as_ref().filter(|format| !fetches(services, format)) {
        return Ok(Verdict::Failed(format_off(format)));
    }
    let shipments = match shipments_of(services, &number).await {
        Ok(Some(shipments)) => shipments,
        Ok(None) => return no_shipment(services, &number).await,
        Err(Error::Api(error)) => return refused(error),
        Err(cause) => return Err(cause),
    };
    let asked = Asked {
        format: desired.as_ref(),
        regenerate: cx.data["regenerate"] == Value::Bool(true),
        is_released: cx.is_released,
    };
    match decide(asked, &shipments, cx.confirmed("labels.generate")) {
        Action::Answer(verdict) => Ok(verdict),
        Action::AwaitFiles => {
            let open = open(&shipments);
            when_files_are_there(services, cx, (&number, desired.as_ref()), &open, result_of(&open)).await
        }
        Action::Poll => Ok(poll(services, cx, &number, &shipments)),
        Action::Generate => {
            let request = generate_request(&number);
            let evidence = LabelsEvidence { order: number.as_str().to_owned(), labels: ids(&shipments) };
            match services
                .journal
                .execute_once(cx.effect(&request, &evidence), &cx.intent(), &request)
                .await?
            {
                ExecutionResult::Applied(_) => Ok(Verdict::Sent),
                ExecutionResult::Refused(error) => refused(error),
                ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::from_secs(2))),
            }
        }
    }
}

/// Waits for labels that are being generated.
fn poll(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    number: &OrderNumber,
    shipments: &[Shipment],
) -> Verdict {
    let polled_for = services.labels.polled_for(cx.command.id, services.context.clock.monotonic());
    let first_poll = LabelPolling::default().next().unwrap_or(Duration::from_secs(5));
    let verdict = wait(shipments, polled_for, first_poll);
    if matches!(verdict, Verdict::Failed(_)) {
        services.listener.order(number);
    }
    verdict
}

/// Returns an order's shipments; `None` where it has none yet.
async fn shipments_of(services: &Services<'_>, number: &OrderNumber) -> Result<Option<Vec<Shipment>>, Error> {
    match services.client.shipments().of_order(number).await {
        Ok(shipments) => Ok(Some(shipments.value)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Answers for an order without a shipment: the marketplace creates the shipment when the order is prepared.
async fn no_shipment(services: &Services<'_>, number: &OrderNumber) -> Result<Verdict, Error> {
    match services.client.orders().get(number).await {
        Ok(_) => Ok(Verdict::Failed(none_yet())),
        Err(error) => refused(error),
    }
}

fn result_of(shipments: &[&Shipment]) -> Value {
    let labels = shipments.iter().flat_map(|s| s.labels.iter().map(|label| json!({
        "shipment_id": s.id.as_str(), "label_id": label.id.as_str(), "format": label.format.as_ref().map(ToString::to_string),
        "is_ready": label.is_ready,
    })));
    json!({"labels": labels.collect::<Vec<_>>()})
}

fn none_yet() -> Message {
    Message::new("no_shipment", text!("push-no-shipment"))
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let evidence: LabelsEvidence = read(effect)?;
    let shipments = shipments_of(services, &OrderNumber::new(&evidence.order)).await?.unwrap_or_default();
    let sent_for = effect.sent_at.map(|at| services.context.clock.now() - at).unwrap_or_default();
    Ok(labels::settle(&evidence, &ids(&shipments), sent_for))
}
