//! Labels (`labels.generate`): made once. What is ready is never thrown away by accident, because each generation discards what was
//! there (API document, "Shipments and labels"); what is being made is looked at at the recommended pace. It is done when the files
//! are on the disk (`label_files`).

use std::time::Duration;

use chrono::TimeDelta;
use espelho_api_client::{
    Error as ApiError,
    resources::shipments::{LabelPolling, labels::generate_request},
};
use espelho_model::{
    OrderNumber,
    shipment::{LabelFormat, Shipment, ShipmentLabel},
    text,
};
use espelho_store::Effect;
use serde_json::{Value, json};

use super::{
    Pusher,
    commands::{CommandContext, doubtful},
    journal::{Acted, Evidence},
    label_files,
    stock::invalid,
    verdict::{Cause, Message, Verdict},
};

/// A generation that does not show by then cannot be told from one that never began.
const SHOWS_WITHIN: i64 = 120;
/// Times of the marketplace have whole seconds, and its clock and ours differ.
const BLUR: TimeDelta = TimeDelta::seconds(5);
/// What a command says that wants labels made again.
const REGENERATE: &str = "{\"regenerate\": true}";
/// Labels that are not ready by then have failed, as far as anybody can tell.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(120);

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
        let shipments = match self.client.order_shipments(&number).await {
            Ok(shipments) => shipments.value,
            Err(ApiError::Refused { status: 404, .. }) => return self.no_shipment(&number).await,
            Err(error) => return super::refused(error),
        };
        let open: Vec<&Shipment> =
            shipments.iter().filter(|s| s.label_generation_blocked != Some(true)).collect();
        if open.is_empty() {
            return Ok(Verdict::Failed(blocked()));
        }
        let is_ready = |shipment: &&&Shipment| {
            shipment.labels.iter().any(|label| {
                label.is_ready == Some(true)
                    && desired.as_ref().is_none_or(|format| label.format.as_ref() == Some(format))
            })
        };
        let all_ready = open.iter().filter(is_ready).count() == open.len();
        let in_the_making = open
            .iter()
            .flat_map(|s| &s.labels)
            .any(|label| matches!(label.status.as_deref(), Some("pending" | "processing")));
        let regenerate = cx.data["regenerate"] == Value::Bool(true);
        if let Some(made) = cx.confirmed("labels.generate") {
            // What was there before may still be listed for a moment.
            let is_new = |shipment: &&&Shipment| {
                shipment.labels.iter().any(|label| {
                    let is_desired =
                        desired.as_ref().is_none_or(|format| label.format.as_ref() == Some(format));
                    label.is_ready == Some(true) && is_desired && was_made_by(label, made)
                })
            };
            let all_new = open.iter().filter(is_new).count() == open.len();
            // One format that is wanted is enough; else all that are being made.
            let is_over = desired.is_some() || !in_the_making;
            return self.poll(cx, (&number, desired.as_ref()), &open, all_new && is_over).await;
        }
        if in_the_making && !regenerate {
            return self.poll(cx, (&number, desired.as_ref()), &open, all_ready && desired.is_some()).await;
        }
        if all_ready && !regenerate {
            return self.when_files_are_there(cx, (&number, desired.as_ref()), &open, result_of(&open)).await;
        }
        let would_discard =
            open.iter().any(|shipment| shipment.labels.iter().any(|label| label.is_ready == Some(true)));
        if would_discard && !regenerate && !cx.is_released {
            return Ok(Verdict::Held(would_be_discarded()));
        }
        let request = generate_request(&number);
        let all: Vec<&Shipment> = shipments.iter().collect();
        let before: Vec<&str> = ids(&all);
        let effect =
            cx.effect("labels.generate", &request, &json!({"order": number.as_str(), "labels": before}));
        match self.execute_once(effect, &cx.intent(), &request).await? {
            Acted::Applied(_) => Ok(Verdict::Sent),
            Acted::Refused(error) => super::refused(error),
            Acted::Unknown => Ok(Verdict::RetryAfter(Duration::from_secs(2))),
        }
    }

    /// Waits for labels that are being made.
    async fn poll(
        &self,
        cx: &CommandContext<'_>,
        (number, desired): (&OrderNumber, Option<&LabelFormat>),
        open: &[&Shipment],
        is_ready: bool,
    ) -> Result<Verdict, Cause> {
        if is_ready {
            return self.when_files_are_there(cx, (number, desired), open, result_of(open)).await;
        }
        let now = self.context.clock.monotonic();
        let begun = *self.state().begun.entry(cx.command.id).or_insert(now);
        let failed =
            open.iter().flat_map(|s| &s.labels).any(|label| label.status.as_deref() == Some("error"));
        if failed || now.saturating_sub(begun) > GIVEN_UP_AFTER {
            self.listener.order(number);
            return Ok(Verdict::Failed(not_made(failed)));
        }
        let mut polling = LabelPolling::default();
        let waited = now.saturating_sub(begun);
        let wait = polling.by_ref().find(|_| true).unwrap_or(Duration::from_secs(5));
        let wait = if waited < Duration::from_secs(15) { wait } else { Duration::from_secs(5) };
        Ok(Verdict::Waiting(being_made(), wait))
    }

    /// An order whose shipment does not exist yet: the marketplace makes it when the order is prepared.
    async fn no_shipment(&self, number: &OrderNumber) -> Result<Verdict, Cause> {
        match self.client.order(number).await {
            Ok(_) => Ok(Verdict::Failed(none_yet())),
            Err(error) => super::refused(error),
        }
    }

    /// Whether a generation began whose answer was lost: then the labels are others.
    pub(super) async fn evidence_of_labels(&self, effect: &Effect, known: &Value) -> Result<Evidence, Cause> {
        let number = OrderNumber::new(known["order"].as_str().unwrap_or_default());
        let before: Vec<&str> =
            known["labels"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let shipments = match self.client.order_shipments(&number).await {
            Ok(shipments) => shipments.value,
            Err(ApiError::Refused { status: 404, .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let all: Vec<&Shipment> = shipments.iter().collect();
        let now = ids(&all);
        if now != before && !now.is_empty() {
            return Ok(Evidence::Happened { answer: None, how: "the labels are others" });
        }
        let age = effect.sent_at.map(|at| (self.context.clock.now() - at).num_seconds()).unwrap_or_default();
        Ok(match age < SHOWS_WITHIN {
            true => Evidence::NotYet(Duration::from_secs(if age < 15 { 2 } else { 5 })),
            false => Evidence::Unprovable(doubtful("unprovable")),
        })
    }
}

/// Whether a label is of a generation: it was not there before, or was completed since.
fn was_made_by(label: &ShipmentLabel, generation: &Effect) -> bool {
    let known: Value =
        generation.evidence.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let mut before = known["labels"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let since = generation.sent_at.unwrap_or(generation.planned_at) - BLUR;
    !before.any(|id| id == label.id.as_str()) || label.completed_at.is_some_and(|at| at >= since)
}

fn ids<'s>(shipments: &[&'s Shipment]) -> Vec<&'s str> {
    let mut ids: Vec<&str> =
        shipments.iter().flat_map(|s| &s.labels).map(|label| label.id.as_str()).collect();
    ids.sort_unstable();
    ids
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

fn blocked() -> Message {
    Message::new("labels_blocked", text!("push-labels-blocked"))
}

fn would_be_discarded() -> Message {
    let text = text!("push-labels-would-be-discarded", regenerate = REGENERATE);
    Message::new("labels_would_be_discarded", text)
}

fn being_made() -> Message {
    Message::new("labels_being_made", text!("push-labels-being-made"))
}

fn not_made(failed: bool) -> Message {
    let text = match failed {
        true => text!("push-labels-failed", regenerate = REGENERATE),
        false => text!("push-labels-late", regenerate = REGENERATE),
    };
    Message::new("labels_not_ready", text)
}
