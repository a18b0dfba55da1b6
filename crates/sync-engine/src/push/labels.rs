//! Labels (`labels.generate`): has them generated and waits for their files (`label_files`). `plan::push::labels`
//! decides.

use std::time::Duration;

use espelho_api_client::{
    Error as ApiError,
    resources::shipments::{LabelPolling, labels::generate_request},
};
use espelho_model::{
    OrderNumber,
    shipment::{LabelFormat, Shipment},
    text,
};
use serde_json::{Value, json};

use super::{
    Pusher,
    cause::{Cause, refused},
    commands::CommandContext,
    journal::ExecutionResult,
    label_files,
};
use crate::plan::push::{
    Message, Verdict, invalid,
    labels::{Action, Asked, LabelsEvidence, decide, ids, open, wait},
};

impl Pusher<'_> {
    pub(super) async fn generate_labels(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
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
        if let Some(format) = desired.as_ref().filter(|format| !self.fetches(format)) {
            return Ok(Verdict::Failed(label_files::format_off(format)));
        }
        let shipments = match self.shipments_of(&number).await {
            Ok(Some(shipments)) => shipments,
            Ok(None) => return self.no_shipment(&number).await,
            Err(Cause::Api(error)) => return refused(error),
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
                self.when_files_are_there(cx, (&number, desired.as_ref()), &open, result_of(&open)).await
            }
            Action::Poll => Ok(self.poll(cx, &number, &shipments)),
            Action::Generate => {
                let request = generate_request(&number);
                let evidence = LabelsEvidence { order: number.as_str().to_owned(), labels: ids(&shipments) };
                match self.execute_once(cx.effect(&request, &evidence), &cx.intent(), &request).await? {
                    ExecutionResult::Applied(_) => Ok(Verdict::Sent),
                    ExecutionResult::Refused(error) => refused(error),
                    ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::from_secs(2))),
                }
            }
        }
    }

    /// Waits for labels that are being generated.
    fn poll(&self, cx: &CommandContext<'_>, number: &OrderNumber, shipments: &[Shipment]) -> Verdict {
        let now = self.context.clock.monotonic();
        let begun = *self.state().begun.entry(cx.command.id).or_insert(now);
        let first_poll = LabelPolling::default().next().unwrap_or(Duration::from_secs(5));
        let verdict = wait(shipments, now.saturating_sub(begun), first_poll);
        if matches!(verdict, Verdict::Failed(_)) {
            self.listener.order(number);
        }
        verdict
    }

    /// Returns an order's shipments; `None` where it has none yet.
    pub(super) async fn shipments_of(&self, number: &OrderNumber) -> Result<Option<Vec<Shipment>>, Cause> {
        match self.client.order_shipments(number).await {
            Ok(shipments) => Ok(Some(shipments.value)),
            Err(ApiError::Refused { status: 404, .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Answers for an order without a shipment: the marketplace creates the shipment when the order is prepared.
    async fn no_shipment(&self, number: &OrderNumber) -> Result<Verdict, Cause> {
        match self.client.order(number).await {
            Ok(_) => Ok(Verdict::Failed(none_yet())),
            Err(error) => refused(error),
        }
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
